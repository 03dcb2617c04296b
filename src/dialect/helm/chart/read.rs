//! Reading YAML. No other module of charts knows the reader.

use std::sync::Arc;

use super::error::{GO_MESSAGE, Stage};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::limits::Limits;
use crate::text::{Source, Span};
use crate::value::{Data, DataMap, yaml};

type Errors = Vec<Box<Diagnostic>>;

/// Maximum number of bytes of a YAML file.
const BYTES: usize = 8 << 20;

/// Returns the documents of a YAML file. All numbers are floats.
///
/// # Errors
/// All errors of the file, with their places.
pub(super) fn documents(source: &Arc<Source>) -> std::result::Result<Vec<Data>, Errors> {
    let limits = Limits { source_bytes: BYTES, ..Limits::default() };
    let nodes = yaml::read(source, &limits)?;
    let documents: Vec<Data> = nodes.iter().map(|node| floats(node.to_data())).collect();
    if documents.iter().all(is_finite) {
        return Ok(documents);
    }
    let message = format!("`{}` has a number that is not finite", source.name());
    let go = "error converting YAML to JSON: json: unsupported value";
    Err(vec![Diagnostic::new(Code::InputSyntax, message).at(source, Span::default(), "").with_field(GO_MESSAGE, go)])
}

/// Returns `true` if JSON has all numbers in a value.
fn is_finite(data: &Data) -> bool {
    match data {
        Data::Float(n) => n.is_finite(),
        Data::List(items) => items.iter().all(is_finite),
        Data::Map(map) => map.values().all(is_finite),
        _ => true,
    }
}

/// Returns the first document of a rendered text, in which all scalars are text if it is a map.
///
/// # Errors
/// The errors of [`documents`].
pub(super) fn head(source: &Arc<Source>) -> std::result::Result<Data, Errors> {
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    let nodes = yaml::read_with(source, &limits, yaml::Tags::Raw)?;
    match nodes.first() {
        Some(node) if matches!(node.kind, yaml::Kind::Map(_)) => Ok(texts(node)),
        _ => first_document(source),
    }
}

/// Returns the value of a node of which nothing is resolved: scalars are text or null.
fn texts(node: &yaml::Node) -> Data {
    match &node.kind {
        yaml::Kind::List(items) => Data::List(items.iter().map(texts).collect()),
        yaml::Kind::Map(entries) => {
            Data::Map(entries.iter().map(|entry| (entry.name.to_string(), texts(&entry.value))).collect())
        }
        _ => {
            let is_plain = node.style == yaml::Style::Plain && node.tag.is_none();
            let is_null = is_plain && matches!(&*node.text, "" | "~" | "null" | "Null" | "NULL");
            if is_null { Data::Null } else { Data::Str(node.text.to_string()) }
        }
    }
}

/// Returns the first document of a YAML file, or null.
///
/// # Errors
/// The errors of [`documents`].
pub(super) fn first_document(source: &Arc<Source>) -> std::result::Result<Data, Errors> {
    Ok(documents(source)?.into_iter().next().unwrap_or_default())
}

/// Returns the merged maps of all documents of a file of values.
///
/// # Errors
/// The errors of [`documents`]; `input.structure` for a document that is not a map.
pub(super) fn values(source: &Arc<Source>) -> std::result::Result<DataMap, Errors> {
    let mut values = DataMap::new();
    for document in documents(source)? {
        match document.try_into_map() {
            Ok(map) => overlay(&mut values, map),
            Err(Data::Null) => {}
            Err(other) => return Err(vec![not_a_map(source, &other)]),
        }
    }
    Ok(values)
}

/// Returns the text of a file as a source called `name`.
///
/// # Errors
/// `syntax.not_utf8`.
pub(super) fn source(name: String, bytes: &[u8]) -> Result<Arc<Source>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let message = format!("`{name}` is not UTF-8 from byte {} on", error.valid_up_to());
            Err(Stage::Load.of(Diagnostic::new(Code::NotUtf8, message)))
        }
    }
}

/// Puts `over` over `base`: maps merge, any other value replaces the old one. A null is a value like any other.
pub(super) fn overlay(base: &mut DataMap, over: DataMap) {
    for (key, value) in over {
        match (base.get_mut(&key), value.try_into_map()) {
            (Some(Data::Map(below)), Ok(above)) => overlay(below, above),
            (_, value) => {
                base.insert(key, value.map_or_else(std::convert::identity, Data::Map));
            }
        }
    }
}

/// Returns the error of a document that is not a map.
fn not_a_map(source: &Arc<Source>, found: &Data) -> Box<Diagnostic> {
    let message = format!("`{}` must be a map, found {}", source.name(), found.kind());
    let go = format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
        json_kind(found)
    );
    Diagnostic::new(Code::InputStructure, message).at(source, Span::default(), "").with_field(GO_MESSAGE, go)
}

/// Returns the name of a value's kind in Go's JSON messages.
pub(super) fn json_kind(data: &Data) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "bool",
        Data::Int(_) | Data::Uint(_) | Data::Float(_) => "number",
        Data::Str(_) => "string",
        Data::List(_) => "array",
        Data::Map(_) => "object",
    }
}

fn floats(mut data: Data) -> Data {
    to_floats(&mut data);
    data
}

/// Makes floats of all integers. The recursion is bounded by the limit of readers on nesting.
pub(super) fn to_floats(data: &mut Data) {
    match data {
        Data::Int(n) => *data = Data::Float(*n as f64),
        Data::Uint(n) => *data = Data::Float(*n as f64),
        Data::List(items) => items.iter_mut().for_each(to_floats),
        Data::Map(map) => map.values_mut().for_each(to_floats),
        _ => {}
    }
}

/// Returns JSON as data. All numbers are floats.
///
/// # Errors
/// The message of the parser.
pub(super) fn json(text: &str) -> std::result::Result<Data, serde_json::Error> {
    serde_json::from_str(text).map(floats)
}
