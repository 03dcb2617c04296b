//! Results of catalog commands: JSON, or text and tables; references to templates, stacks and generators: an id, a name, or
//! NAME@VERSION.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;

use super::client::{Client, ClientResult, Created, path};
use crate::output::print;
use crate::stderr::Stderr;
use dropforge::diagnostics::{Code, Diagnostic, Severity, counted};
use dropforge::text::Source;
use dropforge_catalog::diagnostic;
use serde_json::Value as Json;
use uuid::Uuid;

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

/// A reference to a template: `0198…` (an id), `web`, `web@3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplateRef {
    /// An id.
    Id(Uuid),
    /// The newest version of a name.
    Newest(String),
    /// A version of a name.
    Version(String, i64),
}

impl FromStr for TemplateRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(id) = text.parse() {
            return Ok(TemplateRef::Id(id));
        }
        // Names may contain `@`, so only a number after the last one is a version.
        match text.rsplit_once('@').map(|(name, version)| (name, version.parse())) {
            Some((name, Ok(version))) => Ok(TemplateRef::Version(name.to_owned(), version)),
            _ => Ok(TemplateRef::Newest(text.to_owned())),
        }
    }
}

/// Returns the template that the catalog has for a reference.
pub(crate) fn template(client: &Client, reference: &TemplateRef) -> ClientResult<Json> {
    match reference {
        TemplateRef::Id(id) => client.row(&format!("/templates/{id}")),
        TemplateRef::Newest(name) => client.row(&path("/templates/newest", &[("name", name)])),
        TemplateRef::Version(name, number) => {
            let all = client.rows(&path("/templates", &[("name", name)]))?;
            let found = rows(&all).iter().find(|row| row["version"].as_i64() == Some(*number));
            found.cloned().ok_or_else(|| {
                let there = rows(&all).iter().map(|row| row["version"].to_string());
                let message = format!("unknown version {number} of template `{name}`");
                Diagnostic::new(Code::CatalogRefused, message).with_available(there).into()
            })
        }
    }
}

/// Returns the id of a stack.
pub(crate) fn stack(client: &Client, reference: &str) -> ClientResult<String> {
    by_name(client, "/stacks", "stack", reference)
}

/// Returns the id of a generator.
pub(crate) fn generator(client: &Client, reference: &str) -> ClientResult<String> {
    by_name(client, "/generators", "generator", reference)
}

fn by_name(client: &Client, list: &str, what: &str, reference: &str) -> ClientResult<String> {
    if let Ok(id) = reference.parse::<Uuid>() {
        return Ok(id.to_string());
    }
    let all = client.rows(list)?;
    if let Some(row) = rows(&all).iter().find(|row| text(row, "name") == reference) {
        return Ok(id(row).to_owned());
    }
    let names = rows(&all).iter().map(|row| text(row, "name"));
    let error = Diagnostic::new(Code::CatalogRefused, format!("unknown {what} `{reference}`"));
    Err(error.with_suggestion(reference, names.clone()).with_available(names).into())
}

/// Parses KEY=VALUE.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
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

#[cfg(test)]
mod references_tests {
    use super::TemplateRef;

    #[test]
    fn a_template_is_an_id_a_name_or_a_version_of_a_name() {
        let read = |text: &str| text.parse::<TemplateRef>().unwrap();
        let id = "0198c5a2-0000-7000-8000-000000000001";
        assert_eq!(read(id), TemplateRef::Id(id.parse().unwrap()));
        assert_eq!(read("web"), TemplateRef::Newest("web".into()));
        assert_eq!(read("web@3"), TemplateRef::Version("web".into(), 3));
        assert_eq!(read("a@b"), TemplateRef::Newest("a@b".into()));
        assert_eq!(read("a@b@2"), TemplateRef::Version("a@b".into(), 2));
    }
}
