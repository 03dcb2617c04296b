//! Results of catalog commands: JSON, or text and tables.

use std::borrow::Cow;
use std::sync::Arc;

use super::client::{ClientResult, Created};
use crate::output::print;
use crate::stderr::Stderr;
use dropforge::diagnostics::{Severity, counted};
use dropforge::text::Source;
use dropforge_catalog::diagnostic;
use serde_json::Value as Json;

/// The output of a command.
pub(crate) struct Output<'c> {
    /// Prints results as JSON.
    pub(crate) json: bool,
    /// Prints warnings and notes.
    pub(crate) stderr: &'c Stderr,
}

impl Output<'_> {
    /// Prints a result as JSON or as the text of `text`.
    pub(crate) fn result(&self, result: &Json, text: impl FnOnce() -> String) -> ClientResult<()> {
        Ok(print(if self.json { format!("{result:#}\n") } else { text() })?)
    }

    /// Prints rows as JSON or as a table of `fields`.
    pub(crate) fn rows(&self, list: &Json, fields: &[&str]) -> ClientResult<()> {
        self.result(list, || table(rows(list), fields))
    }

    /// Prints the warnings about a created resource, with positions in `source`.
    pub(crate) fn warnings(&self, created: &Created, source: &Arc<Source>) {
        for warning in &created.warnings {
            self.stderr.diagnostic(&diagnostic(warning, source, Severity::Warning));
        }
        let more = created.count.saturating_sub(created.warnings.len());
        if more > 0 {
            self.stderr.warning(&format!("{} in `{}`", counted(more, "more finding"), source.name()));
        }
    }
}

/// Formats rows as a table.
fn table(rows: &[Json], fields: &[&str]) -> String {
    let head = fields.iter().map(|field| field.to_uppercase()).collect();
    let line = |row: &Json| fields.iter().map(|field| cell(&row[*field])).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows.iter().map(line)).collect();
    let width = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..fields.len()).map(|at| width(at).unwrap_or(0)).collect();
    let padded = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    lines.iter().map(padded).collect()
}

fn cell(value: &Json) -> String {
    match value {
        Json::Null => "-".to_owned(),
        // Names may contain line breaks.
        Json::String(text) => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        other => other.to_string(),
    }
}

/// The rows of a list, or none for anything else.
pub(crate) fn rows(list: &Json) -> &[Json] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The id of a row.
pub(crate) fn id(row: &Json) -> &str {
    text(row, "id")
}

/// A text field of a row.
pub(crate) fn text<'r>(row: &'r Json, field: &str) -> &'r str {
    row[field].as_str().unwrap_or_default()
}

/// The name and version of a template.
pub(crate) fn version_of(template: &Json) -> String {
    format!("{} version {}", text(template, "name"), template["version"])
}

/// Returns `true` if a template is a packed Helm chart.
pub(crate) fn is_chart(template: &Json) -> bool {
    text(template, "language") == "helm"
}

/// The text of a template, or a line about a packed chart.
pub(crate) fn content(template: &Json) -> Cow<'_, str> {
    match is_chart(template) {
        true => format!("packed Helm chart, SHA-256 {}\n", text(template, "checksum")).into(),
        false => text(template, "template_content").into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::table;

    #[test]
    fn columns_are_as_wide_as_what_stands_in_them() {
        let rows = [json!({"name": "web", "version": 12}), json!({"name": "a\nb", "version": null})];
        assert_eq!(table(&rows, &["name", "version"]), "NAME  VERSION\nweb   12\na b   -\n");
    }
}
