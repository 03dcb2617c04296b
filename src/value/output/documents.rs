//! Writes a stream of documents in the format that the user chose.

use std::str::FromStr;

use super::{Buffer, Sorted, Tree};
use crate::Value;
use crate::json::Json;
use crate::yaml::{Kyaml, Yaml, quoted};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limit;

/// A document format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OutputFormat {
    /// YAML that YAML 1.1 and 1.2 parsers read alike, with `---` between documents.
    #[default]
    Yaml,
    /// JSON with one item per line; documents follow one another.
    Json,
    /// KYAML, the YAML subset of Kubernetes: braces, quoted strings, `---` above each document.
    Kyaml,
    /// JSON with one document per line.
    Ndjson,
}

impl OutputFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Yaml, Self::Json, Self::Kyaml, Self::Ndjson];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Kyaml => "kyaml",
            Self::Ndjson => "ndjson",
        }
    }

    /// Returns the extension of files in this format.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Yaml | Self::Kyaml => "yaml",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
        }
    }

    /// Returns `true` if every document is JSON, so that a stream needs no separators.
    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

impl FromStr for OutputFormat {
    type Err = String;

    /// Finds the format called `name`.
    ///
    /// # Errors
    /// A message that lists the formats.
    fn from_str(name: &str) -> std::result::Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join("`, `");
            format!("the formats are `{names}`")
        })
    }
}

/// Appends `documents` to `out`, at most `limit` bytes, each ending with a newline.
///
/// Maps keep their order. JSON converts other keys to text and non-finite floats to the strings `Infinity`, `-Infinity`
/// and `NaN`; only YAML has tags. After an error `out` keeps the part already written.
///
/// # Errors
/// * [`Code::LimitOutputBytes`]: the documents are longer than `limit`.
/// * [`Code::DuplicateKey`]: the format requires text keys, and two keys of a map have the same text.
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
    Buffer::append(out, |out| documents_into(&mut documents.into_iter(), format, limit, out))
}

fn documents_into<'t, T: Tree<'t>>(
    documents: &mut dyn Iterator<Item = T>,
    format: OutputFormat,
    limit: usize,
    out: &mut Buffer,
) -> Result<()> {
    let end = out.len().saturating_add(limit);
    let mut grow = |len: usize| if len <= end { Ok(()) } else { Err(Limit::OutputBytes.error(limit as u64)) };
    for (at, document) in documents.enumerate() {
        let duplicate = match format {
            OutputFormat::Yaml => {
                out.push_str(if at > 0 { "---\n" } else { "" });
                Yaml::new(out, &mut grow).document(document)?;
                None
            }
            OutputFormat::Kyaml => Kyaml::new(out, &mut grow).document(document)?,
            OutputFormat::Json | OutputFormat::Ndjson => {
                let mut up_to_end = |len| grow(len).map(|()| end);
                Json::document(format == OutputFormat::Json, out, &mut up_to_end).line(document)?
            }
        };
        if let Some(key) = duplicate {
            let message = format!("two keys of a map are both `{key}` where keys are text, as in {}", format.name());
            return Err(Diagnostic::new(Code::DuplicateKey, message));
        }
        grow(out.len())?;
    }
    Ok(())
}

/// Appends `value` to `out` as YAML with map keys in byte order and a final newline. `grow` receives the length of `out`
/// after each node and before each long text, and may stop the writing.
pub fn write_yaml<E>(
    value: Value<'_>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    Buffer::append(out, |out| Yaml::new(out, grow).document(Sorted(value)))
}

/// Appends `text` to `out` between double quotes, escaped as every YAML parser reads it.
pub fn write_quoted(text: &str, out: &mut String) {
    Buffer::append(out, |out| quoted(text, out));
}

/// The maximum bytes that [`write_quoted`] writes for a byte of text.
pub const QUOTED: usize = 4;
