//! Parameters and the JSON Schema that says what they may be.
//!
//! A schema without `$schema` is read as draft 7; formats are asserted. A schema is closed in itself: a `$ref` leads to a
//! place in it, and nothing is ever read from a file or a network. Patterns run on an engine that takes linear time, so
//! they have no look-around and no back-references. Reading a schema and validating parameters are bounded in size, depth
//! and steps.

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

/// Bytes of the parameters of one instance.
pub const PARAMETERS_BYTES: usize = 4 << 20;

/// What a redacted value is shown as.
pub const REDACTED: &str = "***";

/// A schema, ready to hold parameters against.
#[derive(Debug)]
pub struct Schema {
    compiled: schema::Schema,
    document: Json,
    secrets: secrets::Marks,
}

impl Schema {
    /// The schema as it was written.
    pub fn document(&self) -> &Json {
        &self.document
    }
}

/// Parameters as JSON.
///
/// # Errors
/// `invalid_parameters` where the text is no JSON, or too long, or nests deeper than 128 levels.
pub fn read(text: &str) -> Result<Json> {
    parse(text)
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    if text.len() > PARAMETERS_BYTES {
        return Err(unreadable(&format!("the parameters are longer than {PARAMETERS_BYTES} bytes")));
    }
    serde_json::from_str(text).map_err(|error| unreadable(&format!("the parameters cannot be read: {error}")))
}

/// The same in the order of the text.
fn ordered(text: &str) -> Result<Data> {
    parse(text)
}

fn unreadable(message: &str) -> Refusal {
    violations::refusal(&[message.to_owned()], &[])
}
