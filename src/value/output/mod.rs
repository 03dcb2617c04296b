//! Documents to text, in the format that a user asks for.

mod buffer;
mod tree;

#[cfg(all(test, feature = "yaml"))]
mod tests;

use std::str::FromStr;

pub(super) use buffer::Buffer;
pub use tree::{Key, MapEntries, Node, Sorted, Tree};
pub(super) use tree::{non_finite, twice};

use super::json::Json;
use super::yaml::{Kyaml, Yaml};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::limits::Limit;

/// A format of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFormat {
    /// YAML that readers of YAML 1.1 and 1.2 read alike; `---` between documents.
    #[default]
    Yaml,
    /// JSON with one item a line, a document after the other.
    Json,
    /// The subset of YAML that Kubernetes calls KYAML: braces, texts in quotes, `---` above each document.
    Kyaml,
    /// JSON, each document on a line of its own.
    Ndjson,
}

impl OutputFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Yaml, Self::Json, Self::Kyaml, Self::Ndjson];

    /// The name, as it is written on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Kyaml => "kyaml",
            Self::Ndjson => "ndjson",
        }
    }

    /// The extension of files in this format.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Yaml | Self::Kyaml => "yaml",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
        }
    }

    /// Whether documents in this format may follow one another in a stream without anything between them: each is JSON.
    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

impl FromStr for OutputFormat {
    type Err = String;

    /// The format of this name.
    ///
    /// # Errors
    /// A message that names the formats.
    fn from_str(name: &str) -> std::result::Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join("`, `");
            format!("the formats are `{names}`")
        })
    }
}

/// Appends `documents` to `out`, at most `limit` bytes of them, each with a newline at its end.
///
/// Maps keep their order. JSON writes keys that are no text as text, and what is no finite number as the text
/// `Infinity`, `-Infinity` or `NaN`; tags are YAML's alone. What of `out` is written when an error comes stays.
///
/// # Errors
/// The documents are longer than `limit` ([`Code::LimitOutputBytes`]); two keys of a map are the same text where keys
/// have to be text ([`Code::DuplicateKey`]).
///
/// ```
/// use dropforge::value::{Data, OutputFormat, write_documents};
/// let documents: Vec<Data> = serde_json::from_str(r#"[{"on": [1.5, "a b"]}, "no"]"#).unwrap();
/// let text = |format| {
///     let mut out = String::new();
///     write_documents(documents.iter(), format, 1 << 20, &mut out).map(|()| out).unwrap()
/// };
/// assert_eq!(text(OutputFormat::Yaml), "\"on\":\n  - 1.5\n  - a b\n---\n\"no\"\n");
/// assert_eq!(text(OutputFormat::Ndjson), "{\"on\":[1.5,\"a b\"]}\n\"no\"\n");
/// assert_eq!(text(OutputFormat::Kyaml), "---\n{\n  \"on\": [\n    1.5,\n    \"a b\",\n  ],\n}\n---\n\"no\"\n");
/// ```
pub fn write_documents<'t, T: Tree<'t>>(
    documents: impl IntoIterator<Item = T>,
    format: OutputFormat,
    limit: usize,
    out: &mut String,
) -> Result<()> {
    Buffer::append(out, |out| documents_into(documents, format, limit, out))
}

fn documents_into<'t, T: Tree<'t>>(
    documents: impl IntoIterator<Item = T>,
    format: OutputFormat,
    limit: usize,
    out: &mut Buffer,
) -> Result<()> {
    let end = out.len().saturating_add(limit);
    let mut grow = |len: usize| if len <= end { Ok(()) } else { Err(Limit::OutputBytes.error(limit as u64)) };
    for (at, document) in documents.into_iter().enumerate() {
        let twice = match format {
            OutputFormat::Yaml => {
                out.push_str(if at > 0 { "---\n" } else { "" });
                Yaml::new(out, &mut grow).document(document)?;
                None
            }
            OutputFormat::Kyaml => Kyaml::new(out, &mut grow).document(document)?,
            OutputFormat::Json => Json::document(true, out, &mut grow).line(document)?,
            OutputFormat::Ndjson => Json::document(false, out, &mut grow).line(document)?,
        };
        if let Some(key) = twice {
            let message = format!("two keys of a map are both `{key}` where keys are text, as in {}", format.name());
            return Err(Diagnostic::new(Code::DuplicateKey, message));
        }
        grow(out.len())?;
    }
    Ok(())
}
