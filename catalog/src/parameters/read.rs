//! Schema parsing.

use serde_json::{Value as Json, json};

use super::{Schema, secrets};
use crate::refusal::{Refusal, Result};
use dropforge::schema::{self, Draft};
use dropforge::value::Data;

/// Maximum length of a schema in bytes.
const BYTES: usize = 256 << 10;

impl Schema {
    /// Parses a schema. The default draft is 7.
    ///
    /// # Errors
    /// `invalid_parameters_schema`: "Invalid JSON: …", or "Invalid JSON Schema: …" if the text is not a schema, refers to
    /// another document, has a pattern that linear-time matching does not support, or is too large.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// assert!(Schema::read(r#"{"type": "object"}"#).is_ok());
    /// let refusal = Schema::read(r#"{"pattern": "("}"#).unwrap_err();
    /// assert!(refusal.message.starts_with("Invalid JSON Schema: "));
    /// ```
    pub fn read(text: &str) -> Result<Self> {
        if text.len() > BYTES {
            return Err(unfit(&format!("longer than {BYTES} bytes")));
        }
        let document: Json = serde_json::from_str(text).map_err(|error| refusal(format!("Invalid JSON: {error}")))?;
        let data: Data = serde_json::from_str(text).map_err(|error| refusal(format!("Invalid JSON: {error}")))?;
        let compiled = schema::Schema::read(&data, draft(&document)?).map_err(|errors| of_errors(&errors))?;
        let secrets = secrets::Marks::of(&document);
        Ok(Self { compiled, document, secrets })
    }
}

/// The draft of `$schema`, or draft 7.
fn draft(document: &Json) -> Result<Draft> {
    let Some(named) = document.get("$schema") else { return Ok(Draft::Draft7) };
    named.as_str().and_then(Draft::of_uri).ok_or_else(|| unfit(&format!("unknown `$schema` {named}")))
}

/// An error for the first problem of a schema, with its JSON pointer.
fn of_errors(errors: &[schema::SchemaError]) -> Refusal {
    let Some(first) = errors.first() else { return unfit("it cannot be compiled") };
    let help = first.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    let place = if first.pointer.is_empty() { String::new() } else { format!("{}: ", first.pointer) };
    unfit(&format!("{place}{}{help}", first.message)).with(json!({ "pointer": first.pointer }))
}

fn unfit(what: &str) -> Refusal {
    refusal(format!("Invalid JSON Schema: {what}"))
}

fn refusal(message: String) -> Refusal {
    Refusal::invalid("invalid_parameters_schema", message)
}
