//! References to templates, stacks and generators: an id, a name, or NAME@VERSION.

use std::str::FromStr;

use serde_json::Value as Json;
use uuid::Uuid;

use dropforge::diagnostics::{Code, Diagnostic};

use super::client::{Client, ClientResult, path};
use super::output::{id, rows, text};

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
