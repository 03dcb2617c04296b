//! JSON values and lines of them.

use std::ops::Range;
use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, json_error};

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
    parsed(source, range, |text| serde_json::from_str(text))
}

fn parsed(source: &Arc<Source>, range: Range<usize>, parse: impl Fn(&str) -> serde_json::Result<Data>) -> Result<Data> {
    let text = source.text().get(range.clone()).unwrap_or("");
    let skip = if range.start == 0 && source.is_from_start() && text.starts_with('\u{feff}') { 3 } else { 0 };
    let text = text.get(skip..).unwrap_or("");
    parse(text).map_err(|error| error_at(source, range.start + skip, text, &error))
}

/// Converts an error of `text`, which is at `base`.
fn error_at(source: &Arc<Source>, base: usize, text: &str, error: &serde_json::Error) -> Box<Diagnostic> {
    let (at, message) = json_error(text, error);
    let at = base + at;
    if message.starts_with("recursion limit") {
        let depth = Limits::default().value_depth as u64;
        return Limit::ValueDepth.error(depth).at(source, Span::of(at..at), "");
    }
    match error.is_data() {
        true => Diagnostic::new(Code::DuplicateKey, message).at(source, source.character(at), "again here"),
        false => {
            Diagnostic::new(Code::InputSyntax, format!("invalid JSON: {message}")).at(source, source.character(at), "")
        }
    }
}
