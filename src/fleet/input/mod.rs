//! Parsing input files into [`Data`]: JSON, NDJSON, YAML, TOML, CSV, TSV, HCL and environment files.
//!
//! The file extension names the format. Without one (standard input) it is guessed from the text. Every error has
//! its position in the input file.

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
mod cells;
mod env;
mod format;
mod places;
mod rows;
mod sops;
pub(crate) mod toml;

#[cfg(feature = "arrow")]
pub use arrow::{Batches, batches};
pub use format::Format;
pub use places::Place;
pub use rows::CsvTypes;
pub(super) use rows::{Table, rows};
pub use sops::encrypted_at;
pub(crate) use sops::{marks, refuse_encrypted};

use std::ops::Range;
use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic, Result, at_most, joined, thousands, with_reason};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap, json_failure, yaml};

/// Parses the documents of `source`, in order. Each NDJSON line and CSV row is a document.
///
/// # Errors
/// `input.syntax` with its position; `limit.depth` for values that nest too deep; `input.encrypted`.
pub fn documents(source: &Arc<Source>, format: Format) -> Result<Vec<Data>> {
    refuse_encrypted(source, format)?;
    read(source, format).map_err(with_reason)
}

fn read(source: &Arc<Source>, format: Format) -> Result<Vec<Data>> {
    match format {
        Format::Yaml => yaml(source),
        Format::Json => json_file(source).map(|value| vec![value]),
        Format::Ndjson => lines(source).map(|range| json(source, range)).collect(),
        Format::Csv | Format::Tsv => {
            let rows = rows(source, format, CsvTypes::default(), &[])?;
            Ok(rows.into_iter().map(|(_, map)| Data::Map(map)).collect())
        }
        Format::Toml => toml::toml(source).map(|map| vec![Data::Map(map)]),
        Format::Hcl => hcl(source).map(|map| vec![Data::Map(map)]),
        Format::Env => env::env(source).map(|map| vec![Data::Map(map)]),
        Format::Parquet | Format::Arrow => Err(not_a_fleet(source)),
    }
}

/// Parses a values file, which is one map. An empty file is an empty map.
///
/// # Errors
/// Same as [`documents`], and `input.syntax` for anything but one map.
pub fn map(source: &Arc<Source>, format: Format) -> Result<DataMap> {
    let mut documents = documents(source, format)?;
    documents.retain(|document| *document != Data::Null);
    match (documents.pop().map(Data::try_into_map), documents.len()) {
        (None, _) => Ok(DataMap::default()),
        (Some(Ok(map)), 0) => Ok(map),
        (Some(Err(other)), 0) => {
            let error = invalid(source, format!("expected one map in a values file, found {}", other.kind()));
            Err(error.with_help("write `KEY: VALUE`, or another format with its extension, such as `.toml` or `.env`"))
        }
        (Some(_), more) => {
            Err(invalid(source, format!("expected one document in a values file, found {}", thousands(more + 1))))
        }
    }
}

/// Returns the error of a table in place of another file.
fn not_a_fleet(source: &Source) -> Box<Diagnostic> {
    let message = format!("cannot read `{}`: only fleets are read from Parquet and Arrow files", source.name());
    Diagnostic::new(Code::InputSyntax, message).with_help("write the file as YAML or JSON")
}

fn invalid(source: &Arc<Source>, message: String) -> Box<Diagnostic> {
    failed(source, 0..0, message)
}

/// Returns an error at `range` of an input file.
fn failed(source: &Arc<Source>, range: Range<usize>, message: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputSyntax, message).at(source, Span::of(range), "")
}

/// Returns the default limits, without a limit for the length of an input file. The expansion of YAML aliases is
/// bounded by that length.
pub(super) fn limits() -> Limits {
    Limits { source_bytes: usize::MAX, ..Limits::default() }
}

fn yaml(source: &Arc<Source>) -> Result<Vec<Data>> {
    let documents = yaml::read(source, &limits()).map_err(all_of)?;
    Ok(documents.iter().map(yaml::Node::to_data).collect())
}

fn hcl(source: &Arc<Source>) -> Result<DataMap> {
    dropforge_hcl::read_data(source, &limits()).map_err(|errors| all_of(errors.into_vec()))
}

/// Combines the errors of a file into one: the first error carries the others.
pub(super) fn all_of(errors: Vec<Box<Diagnostic>>) -> Box<Diagnostic> {
    let errors = at_most(errors, limits().diagnostics, 0);
    joined(errors).unwrap_or_else(|| Diagnostic::new(Code::InputSyntax, "invalid input"))
}

/// Returns the byte ranges of the lines that are not blank.
pub fn lines(source: &Source) -> impl Iterator<Item = Range<usize>> {
    let text = source.text();
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let ranges = ends.scan(0, |start, end| Some(std::mem::replace(start, end + 1)..end));
    ranges.filter(|range| text.get(range.clone()).is_some_and(|line| !line.trim().is_empty()))
}

/// Parses a whole file as a JSON value. Readers disagree about keys that are given twice, so they are errors.
pub(super) fn json_file(source: &Arc<Source>) -> Result<Data> {
    parsed(source, 0..source.text().len(), Data::of_json_with_unique_keys)
}

/// Parses the JSON value in `range` of `source`, usually a line of a fleet, which may be one of millions. The last of
/// the values of a key counts.
pub fn json(source: &Arc<Source>, range: Range<usize>) -> Result<Data> {
    parsed(source, range, Data::of_json)
}

fn parsed(source: &Arc<Source>, range: Range<usize>, parse: impl Fn(&str) -> serde_json::Result<Data>) -> Result<Data> {
    let text = source.text().get(range.clone()).unwrap_or("");
    let skip = if range.start == 0 && source.is_from_start() && text.starts_with('\u{feff}') { 3 } else { 0 };
    let text = text.get(skip..).unwrap_or("");
    parse(text).map_err(|error| error_at(source, range.start + skip, text, &error))
}

/// Converts an error of `text`, which is at `base`.
fn error_at(source: &Arc<Source>, base: usize, text: &str, error: &serde_json::Error) -> Box<Diagnostic> {
    let failure = json_failure(source, base, text, error);
    if failure.message.contains("recursion limit") {
        let at = failure.primary().map_or(Span::of(base..base), |label| label.span);
        return Limit::ValueDepth.error(Limits::default().value_depth as u64).at(source, at, "");
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_conflicts_are_named_in_every_format() {
        for name in ["a.yaml", "a.json", "a.ndjson", "a.toml", "a.csv", "a.hcl"] {
            let entry = if name == "a.yaml" { "b: 2" } else { "b = 2," };
            let source = Source::new(name, format!("{entry}\n<<<<<<< HEAD\n{entry}\n=======\n>>>>>>> x\n"));
            let error = documents(&source, Format::of(name, "")).unwrap_err();
            assert_eq!(error.help.as_deref(), Some("resolve the merge conflict in line 2"), "{error}");
        }
    }

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
            Ok(r#"[{"name":"a","cluster":{"env":"x,y"}},{"name":"b"}]"#)
        );
        assert_eq!(read("a.toml", "a = 1\n[b]\n").as_deref(), Ok(r#"[{"a":1,"b":{}}]"#));
        assert_eq!(read(".env", "A=1\n").as_deref(), Ok(r#"[{"A":"1"}]"#));
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
        assert_eq!(
            read("a.json", "{\n  \"a\": x\n}").unwrap_err(),
            "E0801: invalid JSON: `x` is not in quotes (a.json:2:8)"
        );
        assert_eq!(
            read("a.ndjson", "{}\n{]\n").unwrap_err(),
            "E0801: invalid JSON: key must be a string (a.ndjson:2:2)"
        );
        let twice = read("a.json", "{\n  \"b\": [{\"a\": {}, \"\\u0061\": 1}]\n}").unwrap_err();
        assert_eq!(twice, "E0805: the key `a` is given twice (a.json:2:26)");
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read("a.json", &deep).unwrap_err().starts_with("E0602"));
    }

    #[test]
    fn truncated_and_damaged_files_are_errors_or_data() {
        let samples = [
            ("a.csv", "\u{feff}name,\"a.b\",c[0],c[1].d\r\n\"x\"\"y\",é,,null\n\nz,true,1,\"\n\"\n"),
            ("a.tsv", "name\ta\\.b\tc\n1\t\"2\"\t\n"),
            ("a.toml", "a.\"b\" = [1, {c = 'é'}] # d\n[[e.f]]\ng = \"\"\"\nh\"\"\"\n[i]\nj = 1979-05-27\n"),
            (".env", "export A='é\n' # b\nC=\"\\n\\\"\"\nD = e #f\r\n"),
            ("a.hcl", "cluster \"a\" {\n  b = [\"é\", {c = 1}]\n}\n"),
        ];
        for (name, text) in samples {
            assert!(read(name, text).is_ok(), "{name}: {:?}", read(name, text));
            for (at, c) in text.char_indices() {
                let (before, behind) = (&text[..at], &text[at + c.len_utf8()..]);
                for damaged in [before.to_owned(), format!("{before}{behind}"), format!("{before}\u{0}{c}{c}{behind}")]
                {
                    drop(read(name, &damaged));
                    drop(read(name, &damaged.replace('\n', "")));
                }
            }
        }
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
        assert_eq!(map("null").unwrap(), DataMap::default());
        assert!(map("[1]").unwrap_err().contains("found list"));
    }
}
