//! Reads and writes YAML.
//!
//! [`read`] parses a source into documents of [`Node`]s by the YAML 1.2 core schema (`yes`, `no`, `on` and `off` are
//! text, `012` is twelve, dates are text). A node has a span, so that diagnostics can point at it; [`Node::to_data`]
//! returns the plain value. Duplicate keys, unknown tags and non-scalar keys are errors. Aliases and merge keys are
//! copies, counted and bounded.
//!
//! [`to_string`] and [`write()`] print a [`Data`] so that no YAML 1.1 or 1.2 parser misreads a text:
//! whatever is not safe unquoted is quoted. They and [`write_documents`](super::write_documents) share one notation of
//! scalars.
//!
//! ```
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::value::yaml;
//! let source = Source::new("in.yaml", "a: [1, no, 0x10]\nb: {c: ~}\n");
//! let data = yaml::read_data(&source, &Limits::default()).unwrap();
//! assert_eq!(yaml::to_string(&data), "a:\n  - 1\n  - \"no\"\n  - 16\nb:\n  c: null\n");
//! ```

mod kyaml;
#[doc(hidden)]
pub mod libyaml;
mod places;
#[cfg(feature = "yaml")]
mod reader;
mod scalar;
mod write;

use std::sync::Arc;

use crate::{Data, DataMap};
use dropforge_base::stdlib::paths::names;
use dropforge_base::text::Span;

pub(super) use kyaml::Kyaml;
pub use places::Places;
#[cfg(feature = "yaml")]
pub use reader::*;
pub use scalar::keeps_spelling;
pub(super) use scalar::{is_own_name, is_tag, is_word};
pub(super) use write::{Yaml, quoted};
pub use write::{in_quotes, to_string, write};

/// The notation of a scalar in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Unquoted.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// The kind of a node and its content.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `~`, or an empty scalar.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits `i64`.
    Int(i64),
    /// An integer above `i64::MAX` that fits `u64`.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// Text, stored in [`Node::text`].
    Str,
    /// A list.
    List(Arc<Vec<Node>>),
    /// A map in document order.
    Map(Arc<Vec<Entry>>),
}

/// An entry of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as text: numbers and booleans in canonical spelling, `null` for an empty key.
    pub name: Arc<str>,
    /// The key as a node, with its span, kind and spelling.
    pub key: Node,
    /// The value.
    pub value: Node,
}

/// A node of a YAML document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The span in bytes: a scalar with its quotes, a block scalar from its first character, an alias at its own
    /// position, a collection at its start.
    pub span: Span,
    /// The kind and the content.
    pub kind: Kind,
    /// The notation of a scalar; [`Style::Plain`] for collections.
    pub style: Style,
    /// The text of a scalar after unquoting, unescaping and folding; the spelling of a number. Empty for collections.
    pub text: Arc<str>,
    /// An unknown tag as written, or `!!str` of a scalar that has it, if [`Tags::Kept`] was requested;
    /// any tag with [`Tags::Raw`]. It is rare, so it takes one pointer.
    pub tag: Option<Arc<String>>,
    /// The number of nodes in this tree with aliases expanded, plus one for every 64 bytes of text.
    weight: u32,
    /// The nesting depth of collections in this tree, at most [`MAX_HEIGHT`](builder::MAX_HEIGHT).
    height: u16,
}

/// The tag of text.
const TEXT: &str = "!!str";

impl Node {
    /// Returns `true` for a scalar that has the tag of text.
    pub fn is_marked_text(&self) -> bool {
        self.tag.as_deref().is_some_and(|tag| tag == TEXT)
    }

    /// Returns the number of nodes in this tree with aliases expanded, or some more if it has long texts.
    pub fn weight(&self) -> usize {
        self.weight as usize
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        matches!(self.kind, Kind::Str).then_some(&*self.text)
    }

    /// Returns the items of a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the entry `name` of a map.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| &*entry.name == name)
    }

    /// Returns the value under `name` of a map.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// Returns the node at a JSON pointer.
    pub fn at_pointer(&self, pointer: &str) -> Option<&Node> {
        names(pointer).try_fold(self, |node, name| match node.as_list() {
            Some(items) => items.get(name.parse::<usize>().ok()?),
            None => node.get(&name),
        })
    }

    /// Returns the kind of the node, for messages.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "boolean",
            Kind::Int(_) | Kind::Uint(_) => "integer",
            Kind::Float(_) => "number",
            Kind::Str => "string",
            Kind::List(_) => "list",
            Kind::Map(_) => "map",
        }
    }

    /// Returns the value with aliases expanded.
    pub fn to_data(&self) -> Data {
        match &self.kind {
            Kind::Null => Data::Null,
            Kind::Bool(b) => Data::Bool(*b),
            Kind::Int(n) => Data::Int(*n),
            Kind::Uint(n) => Data::uint(*n),
            Kind::Float(n) => scalar::in_full(&self.text).unwrap_or(Data::Float(*n)),
            Kind::Str => Data::Str(self.text.as_ref().to_owned()),
            Kind::List(items) => Data::List(items.iter().map(Node::to_data).collect()),
            Kind::Map(entries) => {
                let pair = |entry: &Entry| (entry.name.as_ref().to_owned(), entry.value.to_data());
                Data::Map(entries.iter().map(pair).collect::<DataMap>())
            }
        }
    }
}
