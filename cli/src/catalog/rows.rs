//! Access to the fields of JSON rows.

use std::borrow::Cow;

use serde_json::Value as Json;

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
