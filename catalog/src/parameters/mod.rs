//! Parameters and the JSON Schema that describes them.
//!
//! A schema without `$schema` is read as draft 7, and formats are asserted. A `$ref` stays within the document: nothing
//! is read from files or the network. Patterns run in linear time, so look-around and back-references are not
//! supported. Schemas and validation are limited in size, depth and steps.

mod defaults;
pub(super) mod local;
mod read;
mod secrets;
#[cfg(test)]
mod tests;
mod violations;
mod wording;

use serde_json::Value as Json;

pub use violations::{Violation, Violations};

use super::refusal::{Refusal, Result};
use dropforge::schema;
use dropforge::value::Data;

/// Maximum length of parameters in bytes.
pub const PARAMETERS_BYTES: usize = 4 << 20;

/// Replacement for secret values.
pub const REDACTED: &str = "***";

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    compiled: schema::Schema,
    document: Json,
    secrets: secrets::Marks,
}

impl Schema {
    /// The schema document.
    pub fn document(&self) -> &Json {
        &self.document
    }
}

/// Parses parameters as JSON.
///
/// # Errors
/// `invalid_parameters` if the text is not JSON, too long, or nested deeper than 128 levels.
pub fn read(text: &str) -> Result<Json> {
    parse(text)
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    if text.len() > PARAMETERS_BYTES {
        return Err(unreadable(&format!("the parameters are longer than {PARAMETERS_BYTES} bytes")));
    }
    serde_json::from_str(text).map_err(|error| unreadable(&format!("cannot parse the parameters as JSON: {error}")))
}

/// Parses parameters as data that keeps the order of the text.
fn ordered(text: &str) -> Result<Data> {
    parse(text)
}

fn unreadable(message: &str) -> Refusal {
    violations::refusal(&[message.to_owned()], &[])
}
