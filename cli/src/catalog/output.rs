//! Results of catalog commands: JSON, or text and tables.

use std::sync::Arc;

use serde_json::Value as Json;

use dropforge::diagnostics::{Severity, counted};
use dropforge::text::Source;
use dropforge_catalog::diagnostic;

use super::client::{ClientResult, Created};
use super::rows::rows;
use crate::console::Console;
use crate::output::print;

/// The output of a command.
pub(crate) struct Output<'c> {
    /// Prints results as JSON.
    pub(crate) json: bool,
    /// The console for warnings and notes.
    pub(crate) console: &'c Console,
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
            self.console.diagnostic(&diagnostic(warning, source, Severity::Warning));
        }
        let more = created.count.saturating_sub(created.warnings.len());
        if more > 0 {
            self.console.warning(&format!("{} in `{}`", counted(more, "more finding"), source.name()));
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
