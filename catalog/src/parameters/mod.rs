//! Parameters and the JSON Schema that describes them.
//!
//! A schema without `$schema` is read as draft 7, and formats are asserted. A `$ref` stays within the document: nothing
//! is read from files or the network. Patterns run in linear time, so look-around and back-references are not
//! supported. Schemas and validation are limited in size, depth and steps.

mod secrets;
mod validate;

use serde_json::{Map, Value as Json, json};

use crate::error::{CatalogError, Result};
use dropforge::schema::{self, Draft};
use dropforge::value::Data;
use secrets::Markers;
use validate::invalid_parameters;

pub use secrets::REDACTED;
pub(crate) use secrets::{Secrets, member, redact_error};
pub use validate::{Violation, Violations};

/// Maximum length of a schema in bytes.
const BYTES: usize = 256 << 10;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    compiled: schema::Schema,
    document: Json,
    markers: Markers,
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
        let data = Data::of_json(text).map_err(|error| invalid(format!("Invalid JSON: {error}")))?;
        let compiled = schema::Schema::read(&data, draft(&document)?).map_err(|errors| first_error(&errors))?;
        let markers = Markers::of(&document);
        Ok(Self { compiled, document, markers })
    }

    /// Returns the parameters as JSON in the order of `text`, with schema defaults appended for missing properties.
    /// Defaults also apply in nested objects, from `allOf`, and through `$ref`. Existing values never change, and no
    /// object is created only to hold the default of a property.
    ///
    /// # Errors
    /// `invalid_parameters` if the text is not JSON or filling in takes too many steps.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// let schema = Schema::parse(r#"{"properties": {"n": {"default": 2}, "o": {"properties": {"m": {"default": 1}}}}}"#)?;
    /// assert_eq!(schema.with_defaults(r#"{"o": {}}"#)?, r#"{"o":{"m":1},"n":2}"#);
    /// assert_eq!(schema.with_defaults(r#"{"n": null}"#)?, r#"{"n":null}"#);
    /// # Ok::<(), dropforge_catalog::CatalogError>(())
    /// ```
    pub fn with_defaults(&self, text: &str) -> Result<String> {
        let mut parameters: Data = parse(text)?;
        self.compiled.fill(&mut parameters).map_err(|error| invalid_parameters(&[error.message], &[]))?;
        serde_json::to_string(&parameters)
            .map_err(|error| invalid_parameters(&[format!("cannot write the parameters as JSON: {error}")], &[]))
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

/// Maximum length of parameters in bytes.
pub const PARAMETERS_BYTES: usize = 4 << 20;

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

/// An error for parameters that cannot be read.
fn unreadable(message: &str) -> CatalogError {
    invalid_parameters(&[message.to_owned()], &[])
}

// Traversal of schemas for uses other than validation: defaults, secrets, declared names.

/// Follows the `$ref` of a schema within the same document.
fn resolve_ref<'s>(root: &'s Json, schema: &'s Json) -> Option<&'s Json> {
    let target = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().find_map(|key| schema.get(key)?.as_str())?;
    let pointer = target.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    root.pointer(&percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?)
}

/// The schemas that always apply together with `schema`: its `$ref` target and those in `allOf`.
fn applied<'s>(root: &'s Json, schema: &'s Json) -> Vec<&'s Json> {
    let all = schema.get("allOf").and_then(Json::as_array);
    resolve_ref(root, schema).into_iter().chain(all.into_iter().flatten()).collect()
}

/// The schemas that may apply to the same value.
pub(crate) fn possible_schemas<'s>(root: &'s Json, schema: &'s Json) -> Vec<&'s Json> {
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let ones = ["if", "then", "else", "not"].into_iter().filter_map(|key| schema.get(key));
    let maps = ["dependentSchemas", "dependencies"].into_iter().filter_map(|key| schema.get(key)?.as_object());
    let dependent = maps.flat_map(Map::values);
    applied(root, schema).into_iter().chain(lists).chain(ones).chain(dependent).collect()
}

/// The schemas for list elements: those by position, and the one for the rest.
pub(crate) fn element_schemas(schema: &Json) -> (&[Json], Option<&Json>) {
    let list = |key: &str| schema.get(key).and_then(Json::as_array).map(Vec::as_slice);
    match (list("prefixItems"), list("items")) {
        (Some(first), _) => (first, schema.get("items")),
        (None, Some(first)) => (first, schema.get("additionalItems")),
        (None, None) => (&[], schema.get("items")),
    }
}

#[cfg(test)]
mod tests;
