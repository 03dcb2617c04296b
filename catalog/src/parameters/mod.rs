//! Parameters and the JSON Schema that describes them.
//!
//! A schema without `$schema` is read as draft 7, and formats are asserted. A `$ref` stays within the document: nothing
//! is read from files or the network. Patterns run in linear time, so look-around and back-references are not
//! supported. Schemas and validation are limited in size, depth and steps.

mod secrets;

use serde_json::{Map, Value as Json, json};

use crate::error::{CatalogError, Result};
use dropforge::schema::{self, Detail, Draft, Node};
use dropforge::value::{Arena, Data, InputBuilder, Shapes};
use secrets::{Markers, redact};
use serde::Serialize;

pub use secrets::REDACTED;
pub(crate) use secrets::{Secrets, member, redact_error};

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

/// Maximum number of steps of a validation.
const STEPS: u64 = 8_000_000;

/// Maximum number of reported violations. The others are only counted.
const MAX_REPORTED: usize = 100;
/// Maximum bytes of a value in a report.
const MAX_VALUE_BYTES: usize = 256;

impl Schema {
    /// Validates `parameters`.
    ///
    /// # Errors
    /// `invalid_parameters` if validation takes too many steps.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// use serde_json::json;
    /// let schema = Schema::parse(r#"{"properties": {"n": {"maximum": 20}}}"#)?;
    /// let found = schema.violations(&json!({"n": 100}))?;
    /// assert_eq!((&*found.reported[0].pointer, &found.reported[0].limit), ("/n", &json!(20)));
    /// # Ok::<(), dropforge_catalog::CatalogError>(())
    /// ```
    pub fn violations(&self, parameters: &Json) -> Result<Violations> {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let value =
            InputBuilder::new(&arena, &shapes).serialize(parameters).map_err(|error| unreadable(&error.message))?;
        let mut left = STEPS;
        let mut spend = |steps: u64| -> Result<()> {
            left = left.checked_sub(steps).ok_or_else(too_many_steps)?;
            Ok(())
        };
        let found = self.compiled.violations(value, MAX_REPORTED, &mut spend)?;
        let secrets = self.find_secrets(parameters);
        let reported =
            found.violations.iter().map(|violation| self.violation(violation, parameters, &secrets)).collect();
        Ok(Violations { reported, omitted: found.more })
    }

    fn violation(&self, found: &schema::Violation, all: &Json, secrets: &Secrets<'_>) -> Violation {
        let value_at = all.pointer(&found.pointer).unwrap_or(&Json::Null);
        let redacted = redact(value_at, secrets);
        let text = redacted.to_string();
        let long = text.len() > MAX_VALUE_BYTES;
        let (shown, value) = if long { (cut(&text), cut(&text).into()) } else { (text, redacted) };
        // A violation by a property name shows the name.
        let (inner, shown) = match &found.detail {
            Detail::Name(inner) => (inner.as_ref(), inner.value.clone().unwrap_or_default()),
            _ => (found, shown),
        };
        let message = message(inner, self.keyword(inner), &shown, self.compiled.node(inner.node));
        let limit = match (found.keyword, &found.detail) {
            ("required", Detail::Names(names)) => names.first().cloned().unwrap_or_default().into(),
            ("anyOf" | "oneOf" | "not" | "falseSchema" | "propertyNames" | "contains", _) => Json::Null,
            _ => Some(self.keyword(found)).filter(|limit| !limit.is_object()).cloned().unwrap_or_default(),
        };
        let (pointer, keyword) = (found.pointer.clone(), found.keyword.to_owned());
        Violation { pointer, keyword, limit, value, message: cut_long(message) }
    }

    /// The value of the violated keyword in the schema.
    fn keyword(&self, found: &schema::Violation) -> &Json {
        self.document.pointer(&format!("{}/{}", found.schema, found.keyword)).unwrap_or(&Json::Null)
    }
}

fn too_many_steps() -> CatalogError {
    invalid_parameters(&["validating the parameters takes too many steps".to_owned()], &[])
}

/// Shortens a text.
fn cut(text: &str) -> String {
    format!("{}…", text.get(..text.floor_char_boundary(MAX_VALUE_BYTES)).unwrap_or_default())
}

/// Shortens a message. Names and bounds may be long.
fn cut_long(message: String) -> String {
    if message.len() > 8 * MAX_VALUE_BYTES { cut(&message) } else { message }
}

/// A schema rule that parameters violate.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Violation {
    /// JSON pointer to the value. Empty for the root.
    pub pointer: String,
    /// The violated keyword.
    pub keyword: String,
    /// The value of the keyword: bound, names, pattern.
    pub limit: Json,
    /// The violating value, shortened if long and redacted if secret.
    pub value: Json,
    /// Human-readable message.
    pub message: String,
}

/// The violations of parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Violations {
    /// Reported violations, in the order of property names.
    pub reported: Vec<Violation>,
    /// Number of violations beyond those reported.
    pub omitted: usize,
}

impl Violation {
    /// The line of Brokkr's error: the pointer, if any, and the message.
    fn line(&self) -> String {
        match &*self.pointer {
            "" => self.message.clone(),
            pointer => format!("{pointer}: {}", self.message),
        }
    }
}

impl Violations {
    /// Returns `true` if there are no violations.
    pub fn is_empty(&self) -> bool {
        self.reported.is_empty()
    }

    /// The error for these violations.
    pub fn error(&self) -> CatalogError {
        let mut lines: Vec<String> = self.reported.iter().map(Violation::line).collect();
        if self.omitted > 0 {
            lines.push(format!("and {} more", self.omitted));
        }
        invalid_parameters(&lines, &self.reported)
    }
}

/// The error `invalid_parameters`.
fn invalid_parameters(lines: &[String], violations: &[Violation]) -> CatalogError {
    CatalogError::invalid("invalid_parameters", "invalid parameters")
        .with_details(json!({ "validation_errors": lines, "violations": violations }))
}

/// Maximum number of values of an `enum` in a message.
const VALUES: usize = 3;

/// The message of a violation: `limit` is the value of the keyword, `shown` the violating value, `node` the schema.
fn message(found: &schema::Violation, limit: &Json, shown: &str, node: Option<&Node>) -> String {
    let names = match &found.detail {
        Detail::Names(names) => names.as_slice(),
        _ => &[],
    };
    match found.keyword {
        "type" => not_of_type(shown, node),
        "enum" => format!("{shown} is not one of {}", alternatives(limit)),
        "const" => format!("{limit} was expected"),
        "minimum" => format!("{shown} is less than the minimum of {limit}"),
        "maximum" => format!("{shown} is greater than the maximum of {limit}"),
        "exclusiveMinimum" => format!("{shown} is less than or equal to the minimum of {}", found.limit),
        "exclusiveMaximum" => format!("{shown} is greater than or equal to the maximum of {}", found.limit),
        "multipleOf" => format!("{shown} is not a multiple of {limit}"),
        "minLength" => format!("{shown} is shorter than {}", count(limit, ["character", "characters"])),
        "maxLength" => format!("{shown} is longer than {}", count(limit, ["character", "characters"])),
        "minItems" => format!("{shown} has less than {}", count(limit, ["item", "items"])),
        "maxItems" => format!("{shown} has more than {}", count(limit, ["item", "items"])),
        "minProperties" => format!("{shown} has less than {}", count(limit, ["property", "properties"])),
        "maxProperties" => format!("{shown} has more than {}", count(limit, ["property", "properties"])),
        "pattern" => format!("{shown} does not match {}", quoted(limit)),
        "format" => format!("{shown} is not a {}", quoted(limit)),
        "contentEncoding" => format!("{shown} is not compliant with {} content encoding", quoted(limit)),
        "contentMediaType" => format!("{shown} is not compliant with {} media type", quoted(limit)),
        "uniqueItems" => format!("{shown} has non-unique elements"),
        "contains" => format!("None of {shown} are valid under the given schema"),
        "required" => format!("{} is a required property", Json::from(names.first().map_or("", String::as_str))),
        "additionalProperties" => unexpected("Additional properties", names),
        "unevaluatedProperties" => unexpected("Unevaluated properties", names),
        "unevaluatedItems" => unexpected("Unevaluated items", names),
        "falseSchema" => format!("False schema does not allow {shown}"),
        "not" => format!("{limit} is not allowed for {shown}"),
        "oneOf" if found.detail == Detail::Several => {
            format!("{shown} is valid under more than one of the schemas listed in the 'oneOf' keyword")
        }
        keyword => format!("{shown} is not valid under any of the schemas listed in the '{keyword}' keyword"),
    }
}

fn not_of_type(shown: &str, node: Option<&Node>) -> String {
    let mut names: Vec<_> = node.map(|node| node.types.names().collect()).unwrap_or_default();
    names.sort_unstable();
    let types = if names.len() == 1 { "type" } else { "types" };
    format!("{shown} is not of {types} \"{}\"", names.join("\", \""))
}

/// `1, 2 or 3`, or `1, 2 or 8 other candidates`.
fn alternatives(limit: &Json) -> String {
    let values = limit.as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = if values.len() > VALUES { VALUES - 1 } else { values.len() };
    let mut texts: Vec<_> = values.iter().take(shown).map(Json::to_string).collect();
    if shown < values.len() {
        texts.push(format!("{} other candidates", values.len() - shown));
    }
    match texts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

fn count(limit: &Json, [one, many]: [&str; 2]) -> String {
    format!("{limit} {}", if limit.as_f64() == Some(1.0) { one } else { many })
}

fn quoted(limit: &Json) -> String {
    format!("\"{}\"", limit.as_str().unwrap_or_default())
}

fn unexpected(what: &str, names: &[String]) -> String {
    let verb = if names.len() == 1 { "was" } else { "were" };
    format!("{what} are not allowed ('{}' {verb} unexpected)", names.join("', '"))
}

#[cfg(test)]
mod tests;
