//! Reading YAML. No other module of charts knows the reader.

use std::sync::Arc;

use crate::error::GO_MESSAGE;
use dropforge_base::diagnostics::{Code, Diagnostic, with_reason};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::marshal::Numbers;
use dropforge_value::yaml::{self, libyaml};
use dropforge_value::{Arena, Data, DataMap, Value};

type Errors = Vec<Box<Diagnostic>>;

/// Returns the documents of a YAML file. All numbers are floats.
///
/// # Errors
/// The first error of the file, with its line.
pub(super) fn documents(source: &Arc<Source>) -> std::result::Result<Vec<Data>, Errors> {
    let arena = Arena::new();
    let documents =
        libyaml::read_all(&arena, source.text(), Numbers::Floats, DEPTH).map_err(|why| unreadable(source, &why))?;
    Ok(documents.iter().map(Value::to_data).collect())
}

/// All numbers are floats; nesting is bounded as in every reader.
const DEPTH: usize = 128;

/// The help for a tab that indents.
pub(super) const NO_TABS: &str = "indent with spaces, not with tabs";

/// Returns the error of a text that is not YAML, in the words of Helm's reader, at its line.
fn unreadable(source: &Arc<Source>, why: &str) -> Errors {
    let plain = why.strip_prefix("yaml: ").unwrap_or(why);
    let line = plain.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    let (number, what) = match line.and_then(|(number, what)| Some((number.parse::<usize>().ok()?, what))) {
        Some(found) => found,
        None => (1, plain),
    };
    let go = format!("error converting YAML to JSON: {why}");
    if let Some(error) = in_plain_words(source) {
        return vec![error.with_field(GO_MESSAGE, go)];
    }
    let message = format!("cannot parse `{}` as YAML: {what}", source.name());
    let mut error =
        Diagnostic::new(Code::InputSyntax, message).caused_by(what).at(source, line_span(source.text(), number), "");
    let is_tab =
        |line: &str| line.get(..line.len() - line.trim_start().len()).is_some_and(|indent| indent.contains('\t'));
    if what == libyaml::NO_TOKEN && source.text().lines().skip(number.saturating_sub(1)).take(2).any(is_tab) {
        error = error.with_help(NO_TABS);
    }
    vec![with_reason(error).with_field(GO_MESSAGE, go)]
}

/// Returns the error that the exact reader has for a text, which names the mistake and the fix. `None` if it accepts the text.
pub(super) fn in_plain_words(source: &Arc<Source>) -> Option<Box<Diagnostic>> {
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    let errors = yaml::read(source, &limits).err()?;
    errors.into_iter().find(|error| error.code == Code::InputSyntax)
}

/// Returns the span of a line, without white space around it.
fn line_span(text: &str, number: usize) -> Span {
    let start: usize = text.split_inclusive('\n').take(number.saturating_sub(1)).map(str::len).sum();
    let line = text.get(start..).unwrap_or("").lines().next().unwrap_or("");
    let indent = line.len() - line.trim_start().len();
    Span::of(start + indent..start + indent + line.trim().len())
}

/// Returns the first document of a rendered text.
///
/// # Errors
/// The errors of [`documents`].
pub(super) fn head(source: &Arc<Source>) -> std::result::Result<Data, Errors> {
    first(source.text()).map_err(|why| unreadable(source, &why))
}

/// Returns the first document of a text.
///
/// # Errors
/// The reader's message.
pub(super) fn first(text: &str) -> std::result::Result<Data, String> {
    let arena = Arena::new();
    Ok(libyaml::read(&arena, text, Numbers::Floats, DEPTH)?.to_data())
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
    let mut values = DataMap::default();
    for document in documents(source)? {
        match document.try_into_map() {
            Ok(map) if values.is_empty() => values = map,
            Ok(map) => overlay(&mut values, map),
            Err(Data::Null) => {}
            Err(other) => return Err(vec![not_a_map(source, &other)]),
        }
    }
    Ok(values)
}

/// Puts `over` over `base`: maps merge, any other value replaces the old one. A null is a value like any other.
pub fn overlay(base: &mut DataMap, over: DataMap) {
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
    let help = "write `key: value`, without `- ` before it";
    let go = format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
        json_kind(found)
    );
    Diagnostic::new(Code::InputStructure, message)
        .at(source, Span::default(), "")
        .with_help(help)
        .with_field(GO_MESSAGE, go)
}

/// Returns the name of a value's kind in Go's JSON messages.
pub(super) fn json_kind(data: &Data) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "bool",
        Data::Int(_) | Data::Uint(_) | Data::Float(_) | Data::Number(_) => "number",
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
        Data::Number(text) => *data = text.parse().map_or(Data::Null, Data::Float),
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
