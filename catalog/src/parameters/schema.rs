//! Schemas.

use serde_json::{Value as Json, json};

use super::markers::Markers;
use crate::error::{CatalogError, Result};
use dropforge::schema::{self, Draft};
use dropforge::value::Data;

/// Maximum length of a schema in bytes.
const BYTES: usize = 256 << 10;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    pub(super) compiled: schema::Schema,
    pub(super) document: Json,
    pub(super) markers: Markers,
}

/// Memory of a node of a B-tree, which has room for 11 entries and is mostly not full.
const NODE: usize = 640;

impl Schema {
    /// The memory that it takes, in bytes. It is an estimate.
    pub(crate) fn memory(&self) -> usize {
        self.compiled.bytes() + json_memory(&self.document) + self.markers.memory()
    }

    /// The schema document.
    pub fn document(&self) -> &Json {
        &self.document
    }

    /// Parses a schema. The default draft is 7.
    ///
    /// # Errors
    /// `invalid_parameters_schema`: "Invalid JSON: …", or "Invalid JSON Schema: …" if the text is not a schema, refers to
    /// another document, has a pattern that linear-time matching does not support, or is too large.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// assert!(Schema::parse(r#"{"type": "object"}"#).is_ok());
    /// let error = Schema::parse(r#"{"pattern": "("}"#).unwrap_err();
    /// assert!(error.message.starts_with("Invalid JSON Schema: "));
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > BYTES {
            return Err(invalid_schema(&format!("longer than {BYTES} bytes")));
        }
        let document: Json = serde_json::from_str(text).map_err(|error| invalid(format!("Invalid JSON: {error}")))?;
        let data: Data = serde_json::from_str(text).map_err(|error| invalid(format!("Invalid JSON: {error}")))?;
        let compiled = schema::Schema::read(&data, draft(&document)?).map_err(|errors| first_error(&errors))?;
        let markers = Markers::of(&document);
        Ok(Self { compiled, document, markers })
    }
}

/// The memory of a JSON value. A schema nests as deep as its parser allows.
fn json_memory(value: &Json) -> usize {
    let below: usize = match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(json_memory).sum(),
        Json::Object(map) => {
            let nodes = if map.is_empty() { 0 } else { NODE * (1 + map.len() / 7) };
            nodes + map.iter().map(|(name, value)| name.len() + json_memory(value)).sum::<usize>()
        }
        _ => 0,
    };
    size_of::<Json>() + below
}

/// The draft of `$schema`, or draft 7.
fn draft(document: &Json) -> Result<Draft> {
    let Some(named) = document.get("$schema") else { return Ok(Draft::Draft7) };
    named.as_str().and_then(Draft::of_uri).ok_or_else(|| invalid_schema(&format!("unknown `$schema` {named}")))
}

/// An error for the first problem of a schema, with its JSON pointer.
fn first_error(errors: &[schema::SchemaError]) -> CatalogError {
    let Some(first) = errors.first() else { return invalid_schema("it cannot be compiled") };
    let help = first.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    let place = if first.pointer.is_empty() { String::new() } else { format!("{}: ", first.pointer) };
    invalid_schema(&format!("{place}{}{help}", first.message)).with_details(json!({ "pointer": first.pointer }))
}

fn invalid_schema(what: &str) -> CatalogError {
    invalid(format!("Invalid JSON Schema: {what}"))
}

fn invalid(message: String) -> CatalogError {
    CatalogError::invalid("invalid_parameters_schema", message)
}
