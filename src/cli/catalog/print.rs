//! What a command prints: JSON as it came, or a table.

use std::io::Write;
use std::sync::Arc;

use serde_json::Value as Json;

use super::door::{Answered, Made};
use crate::catalog::diagnostic;
use crate::cli::console::Console;
use crate::cli::values::stdout_error;
use crate::diagnostics::Severity;
use crate::text::Source;

/// How answers are printed.
pub(super) struct Print<'c> {
    /// As JSON.
    pub(super) json: bool,
    /// For warnings and notes.
    pub(super) console: &'c Console,
}

impl Print<'_> {
    /// Text on standard output.
    pub(super) fn text(&self, text: &str) -> Answered<()> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|error| stdout_error(&error).into())
    }

    /// An answer as JSON, if that is asked for, else this text.
    pub(super) fn answer(&self, answer: &Json, text: impl FnOnce() -> String) -> Answered<()> {
        if self.json { self.text(&format!("{answer:#}\n")) } else { self.text(&text()) }
    }

    /// Rows, by these fields of theirs.
    pub(super) fn rows(&self, rows: &Json, fields: &[&str]) -> Answered<()> {
        self.answer(rows, || table(rows.as_array().map(Vec::as_slice).unwrap_or_default(), fields))
    }

    /// What is odd about what was made, at its places in `source`.
    pub(super) fn warnings(&self, made: &Made, source: &Arc<Source>) {
        for warning in &made.warnings {
            self.console.diagnostic(&diagnostic(warning, source, Severity::Warning));
        }
        let unsaid = made.count.saturating_sub(made.warnings.len());
        if unsaid > 0 {
            self.console.warning(&format!("and {unsaid} more findings in `{}`", source.name()));
        }
    }
}

/// Rows in columns that are as wide as what stands in them.
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
        // A cell is one line, whatever a name holds.
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
