//! Files that SOPS encrypted. Their values are of no use to templates, so they are never read as they are.

use std::ops::Range;
use std::sync::Arc;

use super::Format;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap, yaml};

/// The entry that SOPS adds, and the member that every one has.
const ENTRY: &str = "sops";
const MAC: &str = "mac";

/// Finds the entry of SOPS in a file that it encrypted: a map `sops` with a `mac`, or the `sops_mac` of an environment file.
///
/// ```
/// use dropforge::bulk::{Format, input::encrypted_at};
/// use dropforge::text::Source;
/// let at = |text: &str| encrypted_at(&Source::new("v.yaml", text), Format::Yaml);
/// assert_eq!(at("a: ENC[x]\nsops:\n  mac: ENC[y]\n"), Some(10..14));
/// assert_eq!(at("sops: a tool\nmac: 1\n"), None);
/// ```
pub fn encrypted_at(source: &Arc<Source>, format: Format) -> Option<Range<usize>> {
    let text = source.text();
    let has = |part: &str| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
    if !has(ENTRY) || !has(MAC) {
        return None;
    }
    match format {
        Format::Yaml | Format::Json => {
            let documents = yaml::read_with(source, &super::limits(), yaml::Tags::Kept).ok()?;
            let found =
                documents.iter().find_map(|document| document.entry(ENTRY).filter(|one| has_mac(&one.value)))?;
            Some(found.key.span.range())
        }
        Format::Env => {
            let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
                *at += line.len();
                Some((*at - line.len(), line))
            });
            let (at, _) = lines.find(|(_, line)| line.starts_with("sops_mac="))?;
            Some(at..at + "sops_mac".len())
        }
        _ => None,
    }
}

fn has_mac(entry: &yaml::Node) -> bool {
    entry.get(MAC).is_some_and(|mac| mac.as_str().is_some_and(|mac| !mac.is_empty()))
}

/// Refuses a file that SOPS encrypted.
///
/// # Errors
/// `input.encrypted`.
pub(crate) fn refuse_encrypted(source: &Arc<Source>, format: Format) -> Result<()> {
    encrypted_at(source, format).map_or(Ok(()), |at| Err(encrypted(source, at)))
}

/// Returns the error of a file that SOPS encrypted.
fn encrypted(source: &Arc<Source>, at: Range<usize>) -> Box<Diagnostic> {
    let name = source.path();
    Diagnostic::new(Code::EncryptedInput, format!("`{name}` is encrypted with SOPS"))
        .at(source, Span::of(at), "the entry of SOPS")
        .with_help(format!("decrypt it with `--allow exec=sops`, or pass `<(sops -d {name})` in its place"))
}

/// Returns a schema that marks every value of a decrypted map secret.
pub(crate) fn marks(values: &DataMap) -> Data {
    let members = values.iter().map(|(key, value)| (key.clone(), mark(value))).collect();
    Data::Map(DataMap::from_iter([("properties".to_owned(), Data::Map(members))]))
}

fn mark(value: &Data) -> Data {
    match value {
        Data::Map(map) if !map.is_empty() => marks(map),
        _ => Data::Map(DataMap::from_iter([("writeOnly".to_owned(), Data::Bool(true))])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_a_code_of_authentication_are_encrypted() {
        let is = |name: &str, text: &str| {
            let format = Format::of(name, text);
            encrypted_at(&Source::new(name, text), format).map(|at| text[at].to_owned())
        };
        let entry = Some("sops".to_owned());
        assert_eq!(is("a.yaml", "a: ENC[x]\nsops:\n    kms: []\n    mac: ENC[y]\n"), entry);
        assert_eq!(is("a.yaml", "sops: {mac: 'ENC[y]'}\n---\nb: 1\n"), entry);
        assert_eq!(
            is("a.json", "{\"data\": \"ENC[x]\", \"sops\": {\"mac\": \"ENC[y]\"}}"),
            Some("\"sops\"".to_owned())
        );
        assert_eq!(is(".env", "A=ENC[x]\nsops_version=3\nsops_mac=ENC[y]\n"), Some("sops_mac".to_owned()));
        for (name, text) in [
            ("a.yaml", "sops:\n  version: 3\nmac: 1\n"),
            ("a.yaml", "a: {sops: {mac: x}}\n"),
            ("a.yaml", "sops: mac\n"),
            ("a.yaml", "sops: {mac: \"\"}\n"),
            (".env", "A=sops_mac=\n"),
            ("a.yaml", "sops: {mac: x"),
        ] {
            assert_eq!(is(name, text), None, "{name} {text}");
        }
    }

    #[test]
    fn every_value_of_a_decrypted_map_is_marked() {
        let map = |text: &str| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
        let values = map(r#"{"db": {"password": "x", "ports": [1]}, "empty": {}}"#);
        let step = |key: &str| crate::values::Step::Key(key.to_owned());
        let schema = marks(&values);
        let is_secret =
            |path: &[&str]| dropforge_schema::is_secret(&schema, &path.iter().map(|key| step(key)).collect::<Vec<_>>());
        assert!(is_secret(&["db", "password"]) && is_secret(&["db", "ports", "0"]) && is_secret(&["empty"]));
        assert!(!is_secret(&["db", "host"]) && !is_secret(&["other"]));
    }
}
