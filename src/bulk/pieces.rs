//! Pieces of a cluster's rendered text, one for each file, and the document fields in their paths.

use super::documents::read;
use super::output_path::check_value;
use super::selector::scalar_text;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::{Data, Extended, Value, word_at};

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
    /// `true` if the text is nothing but white space, which makes no file.
    pub blank: bool,
}

/// Returns the fields of a document at dotted `paths`, as parts of a path. `name` and `namespace` are those of
/// `metadata`.
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
    let field = |path| match word_at(document, full(path)) {
        Some(word) => check_value(word, &format!("`{path}` value")).map(|()| word.to_owned()),
        None => field(Here::Data(data.get_or_insert_with(|| read(document))), path),
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

fn field(document: Here<'_>, path: &str) -> Result<String> {
    let (mut here, full) = (document, full(path));
    for key in full.split('.') {
        here = here.step(key).ok_or_else(|| missing(here, key, full))?;
    }
    let text = match here.to_data() {
        Data::Null => return Err(bad(format!("`{path}` is null"))),
        other @ (Data::List(_) | Data::Map(_)) => return Err(bad(format!("`{path}` is a {}", other.kind()))),
        scalar => scalar_text(&scalar),
    };
    check_value(&text, &format!("`{path}` value"))?;
    Ok(text)
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
