//! Writes values in the supported output formats.
//!
//! Writers work on any [`Tree`]: values of a render, owned data, and documents that keep source spellings and tags.

mod buffer;
mod tree;

use std::iter::Copied;
use std::ops::Range;
use std::slice::Iter;
use std::str::FromStr;

use crate::json::{Json, JsonStyle};
use crate::yaml::{Kyaml, Yaml, quoted};
use crate::{Entries, Map, Text, Value};
pub(super) use buffer::Buffer;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, or_nearest};
use dropforge_base::limits::Limit;
pub use tree::{ByKey, Common, Key, Tree, TreeNode, View, Viewed, plain};
pub(super) use tree::{duplicate, non_finite, not_plain, time_text};

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
            let names = Self::ALL.map(Self::name);
            or_nearest(&format!("the formats are `{}`", names.join("`, `")), name, &names)
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
                let style = if format == OutputFormat::Json { JsonStyle::Pretty } else { JsonStyle::Compact };
                Json::new(style, true, out, &mut up_to_end).line(document)?
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
    Buffer::append(out, |out| Yaml::new(out, grow).document(Viewed(value, ByKey)))
}

/// Appends `text` to `out` between double quotes, escaped as every YAML parser reads it.
pub fn write_quoted(text: &str, out: &mut String) {
    Buffer::append(out, |out| quoted(text, out));
}

/// The maximum bytes that [`write_quoted`] writes for a byte of text.
pub const QUOTED: usize = 4;

/// An iterator over the entries of a map value.
#[derive(Debug, Clone)]
pub enum MapEntries<'v> {
    /// Entries in insertion order.
    Inserted(Iter<'v, Text<'v>>, Iter<'v, Value<'v>>),
    /// The remaining entries in byte order of the keys.
    Sorted(&'v Map<'v>, Range<usize>),
    /// Entries in insertion order, with keys other than text.
    Keyed(Iter<'v, Value<'v>>, Iter<'v, Value<'v>>),
    /// A prepared list of entries.
    Listed(std::vec::IntoIter<(Key<'v>, Value<'v>)>),
}

impl<'v> MapEntries<'v> {
    /// Returns the entries of a map, optionally in key order.
    #[inline]
    pub fn of(map: &'v Map<'v>, sorted: bool) -> Self {
        match sorted {
            true => Self::Sorted(map, 0..map.len()),
            false => Self::Inserted(map.shape().keys().iter(), map.values().iter()),
        }
    }

    /// Returns the entries of a map with keys other than text.
    pub fn keyed(entries: &Entries<'v>) -> Self {
        Self::Keyed(entries.keys().iter(), entries.values().iter())
    }

    /// Returns `true` if there may be keys other than text.
    const fn has_other_keys(&self) -> bool {
        matches!(self, Self::Keyed(..) | Self::Listed(_))
    }
}

impl<'v> MapEntries<'v> {
    /// Returns the next entry of a map that may have other keys.
    #[cold]
    #[inline(never)]
    fn next_rare(&mut self) -> Option<(Key<'v>, Value<'v>)> {
        match self {
            MapEntries::Keyed(keys, values) => Some((Key::of(*keys.next()?), *values.next()?)),
            MapEntries::Listed(entries) => entries.next(),
            MapEntries::Inserted(..) | MapEntries::Sorted(..) => None,
        }
    }
}

impl<'v> Iterator for MapEntries<'v> {
    type Item = (Key<'v>, Value<'v>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            MapEntries::Inserted(keys, values) => Some((Key::Text(*keys.next()?), *values.next()?)),
            MapEntries::Sorted(map, left) => {
                let (key, value) = map.sorted_entry(left.next()?)?;
                Some((Key::Text(*key), value))
            }
            MapEntries::Keyed(..) | MapEntries::Listed(_) => self.next_rare(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            MapEntries::Inserted(_, values) | MapEntries::Keyed(_, values) => values.size_hint(),
            MapEntries::Listed(entries) => entries.size_hint(),
            MapEntries::Sorted(_, left) => left.size_hint(),
        }
    }
}

impl ExactSizeIterator for MapEntries<'_> {}

/// The items of a list or the entries of a map in a view.
#[derive(Debug, Clone)]
pub struct InView<I, V>(I, V);

impl<'v, V: Copy> Iterator for InView<Copied<Iter<'v, Value<'v>>>, V> {
    type Item = Viewed<'v, V>;

    #[inline(always)]
    fn next(&mut self) -> Option<Viewed<'v, V>> {
        Some(Viewed(self.0.next()?, self.1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'v, V: Copy> Iterator for InView<MapEntries<'v>, V> {
    type Item = (Key<'v>, Viewed<'v, V>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, Viewed(value, self.1)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<I: ExactSizeIterator, V> ExactSizeIterator for InView<I, V> where Self: Iterator {}

/// The reason that a tree was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused<E> {
    /// The format cannot hold a value.
    Value(String),
    /// The caller stopped the writing.
    Stopped(E),
}

impl<E> From<E> for Refused<E> {
    fn from(error: E) -> Self {
        Refused::Stopped(error)
    }
}

#[cfg(all(test, feature = "yaml"))]
mod tests;
