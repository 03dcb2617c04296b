//! Access to the fields of JSON rows.

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
