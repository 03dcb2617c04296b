//! Pieces of a cluster's rendered text, one for each file, and the document fields in their paths.

use std::ops::Range;

use super::documents::{Rank, read};
use super::output_path::check_value;
use super::pattern::{helped, split_default};
use super::view::scalar_text;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::{Data, Extended, Value, word_at};

/// The content of one file of a cluster: a whole output, or one document of it.
#[derive(Debug, Clone, Default)]
pub struct Piece {
    /// The index of the output in the plan.
    pub output: usize,
    /// The end of the piece in the cluster's text. It begins where the piece before it ends.
    pub end: usize,
    /// The number of the document in the output, from 1, or 0 for the whole output.
    pub document: usize,
    /// The fields of the document in the layout, in order.
    pub fields: Vec<String>,
    /// `true` if the text is nothing but white space, or a document of comments alone, which make no file.
    pub blank: bool,
    /// The documents that the check of the piece found, with their places in the order of installation.
    pub(super) documents: Option<Vec<(Rank, Range<usize>)>>,
}

/// Returns the pieces that make files, with their ranges in the cluster's text.
pub(super) fn with_files(pieces: &[Piece]) -> impl Iterator<Item = (&Piece, Range<usize>)> {
    let mut start = 0;
    let ranges = pieces.iter().map(move |piece| (piece, std::mem::replace(&mut start, piece.end)..piece.end));
    ranges.filter(|(piece, _)| !piece.blank)
}

/// Returns the fields of a document at dotted `paths`, as parts of a path. `name` and `namespace` are those of
/// `metadata`. A path may have a default: `namespace|none`.
///
/// # Errors
/// `plan.bad_layout` if a field is missing or not a scalar; `plan.bad_output_name` if it cannot be part of a path.
pub(super) fn fields_of<'p>(document: Value<'_>, paths: impl Iterator<Item = &'p str>) -> Result<Vec<String>> {
    paths.map(|path| field(Here::Value(document), path)).collect()
}

/// Returns the fields of a valid document in YAML or JSON, like [`fields_of`].
///
/// # Errors
/// Same as [`fields_of`].
pub(super) fn fields_of_text<'p>(document: &str, paths: impl Iterator<Item = &'p str>) -> Result<Vec<String>> {
    let mut data = None;
    let field = |placeholder: &'p str| {
        let (path, _) = split_default(placeholder);
        match word_at(document, full(path)) {
            Some(word) => part(word, path),
            None => field(Here::Data(data.get_or_insert_with(|| read(document))), placeholder),
        }
    };
    paths.map(field).collect()
}

/// Returns the path of a field without its abbreviation.
fn full(path: &str) -> &str {
    match path {
        "name" => "metadata.name",
        "namespace" => "metadata.namespace",
        path => path,
    }
}

fn field(document: Here<'_>, placeholder: &str) -> Result<String> {
    let (path, default) = split_default(placeholder);
    let (mut here, full) = (document, full(path));
    for key in full.split('.') {
        here = match (here.step(key), default) {
            (Some(inner), _) => inner,
            (None, Some(default)) => return Ok(default.to_owned()),
            (None, None) => return Err(helped(missing(here, key, full), path, "documents")),
        };
    }
    match (here.to_data(), default) {
        (value, Some(default)) if value == Data::Null || value.as_str() == Some("") => Ok(default.to_owned()),
        (Data::Null, _) => Err(helped(bad(format!("`{path}` is null")), path, "documents")),
        (other @ (Data::List(_) | Data::Map(_)), _) => Err(bad(format!("`{path}` is a {}", other.kind()))),
        (scalar, _) => part(&scalar_text(&scalar), path),
    }
}

/// Returns a field as a part of a path. Names such as `system:node`, and versions such as `apps/v1`, have a character that no
/// path has.
fn part(text: &str, path: &str) -> Result<String> {
    let text = text.replace(if path == "apiVersion" { '/' } else { ':' }, "_");
    check_value(&text, &format!("`{path}` value")).map(|()| text)
}

/// A part of a document.
#[derive(Clone, Copy)]
enum Here<'v> {
    /// Of a document that a template gives.
    Value(Value<'v>),
    /// Of a document that was read from text.
    Data(&'v Data),
}

impl Here<'_> {
    fn step(self, key: &str) -> Option<Self> {
        Some(match self {
            Self::Value(value) => Self::Value(step(value, key)?),
            Self::Data(Data::List(items)) => Self::Data(items.get(key.parse::<usize>().ok()?)?),
            Self::Data(data) => Self::Data(data.get(key)?),
        })
    }

    fn to_data(self) -> Data {
        match self {
            Self::Value(value) => value.to_data(),
            Self::Data(data) => data.clone(),
        }
    }
}

fn step<'v>(value: Value<'v>, key: &str) -> Option<Value<'v>> {
    match value {
        Value::Map(map) => map.get(key),
        Value::List(list) => list.items().get(key.parse::<usize>().ok()?).copied(),
        Value::Extended(_) => match value.extended()? {
            Extended::Written(value, _) => step(*value, key),
            Extended::Entries(entries) => {
                entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
            }
            _ => None,
        },
        _ => None,
    }
}

#[cold]
fn missing(within: Here<'_>, key: &str, path: &str) -> Box<Diagnostic> {
    let map = within.to_data().into_map().unwrap_or_default();
    bad(format!("the document has no `{path}`"))
        .with_suggestion(key, map.keys().map(String::as_str))
        .with_available(map.keys())
}

fn bad(why: String) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadLayout, format!("cannot fill in the layout: {why}"))
}

/// Adds the number of the document to the message of an error.
pub(super) fn in_document(mut error: Box<Diagnostic>, document: usize) -> Box<Diagnostic> {
    error.message = format!("document {document}: {}", error.message);
    error
}
