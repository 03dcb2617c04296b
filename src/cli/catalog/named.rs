//! Templates, stacks and generators by what people call them.

use std::str::FromStr;

use serde_json::Value as Json;
use uuid::Uuid;

use super::door::{Answered, Door, path};
use crate::diagnostics::{Code, Diagnostic};

/// A template as it is typed: `0198…` (an id), `web`, `web@3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplateRef {
    /// By id.
    Id(Uuid),
    /// The newest version of this name.
    Newest(String),
    /// This version of this name.
    Version(String, i64),
}

impl FromStr for TemplateRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(id) = text.parse() {
            return Ok(TemplateRef::Id(id));
        }
        // Only a number behind the last `@` is a version: names may hold anything.
        match text.rsplit_once('@').map(|(name, version)| (name, version.parse())) {
            Some((name, Ok(version))) => Ok(TemplateRef::Version(name.to_owned(), version)),
            _ => Ok(TemplateRef::Newest(text.to_owned())),
        }
    }
}

/// The version that is meant, as the catalog has it.
pub(super) fn template(door: &Door, meant: &TemplateRef) -> Answered<Json> {
    match meant {
        TemplateRef::Id(id) => door.get(&format!("/templates/{id}")),
        TemplateRef::Newest(name) => door.get(&path("/templates/newest", &[("name", name)])),
        TemplateRef::Version(name, number) => {
            let all = door.get(&path("/templates", &[("name", name)]))?;
            let rows = all.as_array().map(Vec::as_slice).unwrap_or_default();
            let found = rows.iter().find(|row| row["version"].as_i64() == Some(*number));
            found.cloned().ok_or_else(|| {
                let there = rows.iter().map(|row| row["version"].to_string());
                let message = format!("there is no version {number} of `{name}`");
                Diagnostic::new(Code::CatalogRefused, message).with_available(there).into()
            })
        }
    }
}

/// The id of a stack that is named so.
pub(super) fn stack(door: &Door, meant: &str) -> Answered<String> {
    by_name(door, "/stacks", "stack", meant)
}

/// The id of a generator that is named so.
pub(super) fn generator(door: &Door, meant: &str) -> Answered<String> {
    by_name(door, "/generators", "generator", meant)
}

fn by_name(door: &Door, list: &str, what: &str, meant: &str) -> Answered<String> {
    if let Ok(id) = meant.parse::<Uuid>() {
        return Ok(id.to_string());
    }
    let all = door.get(list)?;
    let rows = all.as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |row: &Json| row["name"].as_str().unwrap_or_default().to_owned();
    match rows.iter().find(|row| name(row) == meant) {
        Some(row) => Ok(row["id"].as_str().unwrap_or_default().to_owned()),
        None => {
            let names: Vec<String> = rows.iter().map(name).collect();
            let message = format!("there is no {what} `{meant}`");
            let error = Diagnostic::new(Code::CatalogRefused, message);
            let likely = names.iter().map(String::as_str);
            Err(error.with_suggestion(meant, likely).with_available(names.clone()).into())
        }
    }
}

#[cfg(test)]
mod tests {
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
