//! Parsing input files into [`Data`]: JSON, NDJSON, YAML, CSV and HCL.
//!
//! The file extension names the format. Without one (standard input) it is guessed from the text. Every error has
//! its position in the input file.

use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Result, counted, thousands};
use crate::limits::Limits;
use crate::stdlib::strings::prefix;
use crate::text::{Source, Span};
use crate::value::{Data, DataMap, yaml};

/// The format of an input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// YAML, one document or several. JSON is valid YAML.
    Yaml,
    /// One JSON value.
    Json,
    /// One JSON value per line.
    Ndjson,
    /// Comma-separated values with a header. Every cell is a string.
    Csv,
    /// An HCL configuration without variables. Attributes and blocks become a map.
    Hcl,
}

impl Format {
    /// Returns the format of the file `name`, guessed from `text` if the extension is unknown.
    ///
    /// ```
    /// use dropforge::bulk::Format;
    /// assert_eq!(Format::of("clusters.csv", ""), Format::Csv);
    /// assert_eq!(Format::of("-", "{\"a\": 1}\n{\"a\": 2}\n"), Format::Ndjson);
    /// assert_eq!(Format::of("-", "- a: 1"), Format::Yaml);
    /// ```
    pub fn of(name: &str, text: &str) -> Format {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv") => Format::Csv,
            Some("ndjson" | "jsonl") => Format::Ndjson,
            Some("json") => Format::Json,
            Some("yaml" | "yml") => Format::Yaml,
            Some("hcl" | "tfvars") => Format::Hcl,
            _ => Format::guess(text),
        }
    }

    fn guess(text: &str) -> Format {
        let is_map = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok() && line.starts_with('{');
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        match (lines.next(), lines.next()) {
            (Some(first), Some(second)) if is_map(first) && is_map(second) => Format::Ndjson,
            (Some(first), _) if first.starts_with(['[', '{']) => Format::Json,
            _ => Format::Yaml,
        }
    }
}

/// Parses the documents of `source`, in order. Each NDJSON line and CSV row is a document.
///
/// # Errors
/// `input.syntax` with its position; `limit.depth` for values that nest too deep.
pub fn documents(source: &Arc<Source>, format: Format) -> Result<Vec<Data>> {
    match format {
        Format::Yaml => yaml(source),
        Format::Json => json(source, 0..source.text().len()).map(|value| vec![value]),
        Format::Ndjson => lines(source).map(|range| json(source, range)).collect(),
        Format::Csv => csv(source),
        Format::Hcl => hcl(source).map(|map| vec![Data::Map(map)]),
    }
}

/// Parses a values file, which is one map. An empty file is an empty map.
///
/// # Errors
/// Same as [`documents`], and `input.syntax` for anything but one map.
pub fn map(source: &Arc<Source>, format: Format) -> Result<DataMap> {
    let mut documents = documents(source, format)?;
    documents.retain(|document| *document != Data::Null);
    match (documents.pop(), documents.len()) {
        (None, _) => Ok(DataMap::new()),
        (Some(Data::Map(map)), 0) => Ok(map),
        (Some(other), 0) => Err(invalid(source, format!("expected one map in a values file, found {}", other.kind()))),
        (Some(_), more) => {
            Err(invalid(source, format!("expected one document in a values file, found {}", thousands(more + 1))))
        }
    }
}

fn invalid(source: &Arc<Source>, message: String) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputSyntax, message).at(source, Span::new(0, 0), "")
}

/// Returns the default limits, without a limit for the length of an input file. The expansion of YAML aliases is
/// bounded by that length.
fn limits() -> Limits {
    Limits { source_bytes: usize::MAX, ..Limits::default() }
}

fn yaml(source: &Arc<Source>) -> Result<Vec<Data>> {
    let documents = yaml::read(source, &limits()).map_err(combined)?;
    Ok(documents.iter().map(yaml::Node::to_data).collect())
}

#[cfg(feature = "hcl")]
fn hcl(source: &Arc<Source>) -> Result<DataMap> {
    crate::dialect::hcl::read_data(source, &limits()).map_err(|errors| combined(errors.into_vec()))
}

#[cfg(not(feature = "hcl"))]
fn hcl(_: &Arc<Source>) -> Result<DataMap> {
    Err(crate::engine::not_built_in(crate::engine::Dialect::Hcl))
}

/// Combines the errors of a file into one: the first error carries the others.
fn combined(errors: Vec<Box<Diagnostic>>) -> Box<Diagnostic> {
    let mut errors = errors.into_iter();
    let mut first = errors.next().unwrap_or_else(|| Diagnostic::new(Code::InputSyntax, "invalid input"));
    first.also = errors.collect();
    first
}

/// Returns the byte ranges of the lines that are not blank.
pub(super) fn lines(source: &Source) -> impl Iterator<Item = std::ops::Range<usize>> {
    let text = source.text();
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let ranges = ends.scan(0, |start, end| Some(std::mem::replace(start, end + 1)..end));
    ranges.filter(|range| text.get(range.clone()).is_some_and(|line| !line.trim().is_empty()))
}

/// Parses the JSON value in `range` of `source`.
pub(super) fn json(source: &Arc<Source>, range: std::ops::Range<usize>) -> Result<Data> {
    let text = source.text().get(range.clone()).unwrap_or("");
    let skip = if range.start == 0 && text.starts_with('\u{feff}') { 3 } else { 0 };
    let text = text.get(skip..).unwrap_or("");
    serde_json::from_str(text).map_err(|error| json_error(source, range.start + skip, text, &error))
}

/// Converts a JSON error. serde_json counts lines and columns from the start of `text`, which is at `base`.
fn json_error(source: &Arc<Source>, base: usize, text: &str, error: &serde_json::Error) -> Box<Diagnostic> {
    let before = error.line().saturating_sub(1);
    let line_start = match before {
        0 => 0,
        nth => memchr::memchr_iter(b'\n', text.as_bytes()).nth(nth - 1).map_or(0, |at| at + 1),
    };
    let at = base + (line_start + error.column().saturating_sub(1)).min(text.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    if message.starts_with("recursion limit") {
        let depth = Limits::default().value_depth as u64;
        return crate::limits::Limit::ValueDepth.error(depth).at(source, Span::of(at..at), "");
    }
    Diagnostic::new(Code::InputSyntax, format!("invalid JSON: {message}")).at(source, character(source, at), "")
}

/// Returns the span of the character at a byte, empty at the end of the file.
fn character(source: &Source, at: usize) -> Span {
    let start = prefix(source.text(), at).len();
    let found = source.text().get(start..).and_then(|rest| rest.chars().next());
    Span::of(start..start + found.map_or(0, char::len_utf8))
}

/// Parses rows into maps. A column `a.b` makes nested maps, so `cluster.name` means the same as in other formats.
fn csv(source: &Arc<Source>) -> Result<Vec<Data>> {
    let text = source.text();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| csv_error(source, &error))?.clone();
    if let Some(twice) = headers.iter().enumerate().find(|(at, name)| headers.iter().take(*at).any(|h| h == *name)) {
        return Err(invalid(source, format!("duplicate column `{}`", twice.1)));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| csv_error(source, &error))?;
        let mut row = DataMap::new();
        for (header, cell) in headers.iter().zip(&record) {
            insert(&mut row, header, cell).map_err(|conflict| invalid(source, conflict))?;
        }
        rows.push(Data::Map(row));
    }
    Ok(rows)
}

fn insert(row: &mut DataMap, header: &str, cell: &str) -> std::result::Result<(), String> {
    let mut names: Vec<&str> = header.split('.').collect();
    if names.len() > 30 || names.iter().any(|name| name.is_empty()) {
        names = vec![header];
    }
    let last = names.pop().unwrap_or(header);
    let conflict = || format!("column `{header}` conflicts with another column");
    let mut here = row;
    for name in names {
        let below = here.entry(name.to_owned()).or_insert_with(|| Data::Map(DataMap::new()));
        let Data::Map(map) = below else { return Err(conflict()) };
        here = map;
    }
    here.insert(last.to_owned(), Data::Str(cell.to_owned())).map_or(Ok(()), |_| Err(conflict()))
}

fn csv_error(source: &Arc<Source>, error: &csv::Error) -> Box<Diagnostic> {
    let at = error.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(0));
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let cells = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "cell");
            format!("expected {} as in the header, found {len}", cells(*expected_len))
        }
        _ => format!("invalid CSV: {error}"),
    };
    Diagnostic::new(Code::InputSyntax, message).at(source, character(source, at), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> std::result::Result<String, String> {
        let source = Source::new(name, text);
        documents(&source, Format::of(name, text))
            .map(|documents| serde_json::to_string(&documents).unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_formats() {
        assert_eq!(read("a.json", "\u{feff}[1]").as_deref(), Ok("[[1]]"));
        assert_eq!(read("a.ndjson", "{\"a\":1}\r\n\n {\"a\":2}").as_deref(), Ok(r#"[{"a":1},{"a":2}]"#));
        assert_eq!(
            read("a.csv", "name,cluster.env\na,\"x,y\"\nb,\n").as_deref(),
            Ok(r#"[{"name":"a","cluster":{"env":"x,y"}},{"name":"b","cluster":{"env":""}}]"#)
        );
    }

    #[test]
    fn yaml_documents_quote_ambiguous_strings() {
        let text = "a: no\nb: 012\nc: 1.10\n---\n- 2001-01-01\n---\n";
        assert_eq!(read("a.yaml", text).as_deref(), Ok(r#"[{"a":"no","b":12,"c":1.1},["2001-01-01"],null]"#));
        assert!(read("a.yaml", "a: 1\nb: 2\na: 3\nb: 4\n").unwrap_err().contains("a.yaml:3:1"));
        let laughs: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{0},*a{0}]\n", n - 1)).collect();
        assert!(read("a.yaml", &format!("a0: &a0 [x]\n{laughs}")).unwrap_err().starts_with("E06"));
    }

    #[test]
    fn errors_have_places() {
        assert_eq!(read("a.json", "{\n  \"a\": x\n}").unwrap_err(), "E0801: invalid JSON: expected value (a.json:2:8)");
        assert_eq!(
            read("a.ndjson", "{}\n{]\n").unwrap_err(),
            "E0801: invalid JSON: key must be a string (a.ndjson:2:2)"
        );
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read("a.json", &deep).unwrap_err().starts_with("E0602"));
        assert!(read("a.csv", "a,b\n1\n").unwrap_err().contains("expected 2 cells as in the header, found 1"));
        assert!(read("a.csv", "a,a\n1,2\n").unwrap_err().contains("duplicate column `a`"));
        assert!(read("a.csv", "a,a.b\n1,2\n").unwrap_err().contains("conflicts with another column"));
        assert!(read("a.csv", "a.b,a\n1,2\n").unwrap_err().contains("conflicts with another column"));
    }

    #[test]
    fn labels_end_with_the_file_and_have_whole_characters() {
        for (name, text) in
            [("a.json", ""), ("a.json", "[é]"), ("a.json", "\"é"), ("a.ndjson", "{\"a\": é}"), ("a.csv", "a,b\né")]
        {
            let source = Source::new(name, text);
            let error = documents(&source, Format::of(name, text)).unwrap_err();
            let label = error.primary().unwrap();
            assert!(text.get(label.span.range()).is_some(), "{name} {text:?}: {:?}", label.span);
        }
    }

    #[test]
    fn values_are_one_map() {
        let map = |text: &str| super::map(&Source::new("v", text), Format::Json).map_err(|error| error.message);
        assert_eq!(map("null").unwrap(), DataMap::new());
        assert!(map("[1]").unwrap_err().contains("found list"));
    }
}
