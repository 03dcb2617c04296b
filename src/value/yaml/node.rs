//! A node of a YAML document and its place in the file.
//!
//! Nodes share their contents: a clone of a list costs a reference count, so an alias costs nothing until
//! somebody unfolds it into [`Data`], and how much that can be is bounded while reading ([`super::read`]).

use std::sync::Arc;

use crate::text::Span;
use crate::value::{Data, DataMap};

/// How a scalar is written in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
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

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that fits `i64`.
    Int(i64),
    /// A whole number above `i64::MAX` that fits `u64`.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// Text; it is [`Node::text`].
    Str,
    /// A list.
    List(Arc<Vec<Node>>),
    /// A map in document order.
    Map(Arc<Vec<Entry>>),
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as text: a number or boolean in its canonical spelling, `null` for an empty key.
    pub name: Arc<str>,
    /// The key as a node: its place, kind and spelling.
    pub key: Node,
    /// The value.
    pub value: Node,
}

/// A node of a YAML document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The place in bytes: a scalar with its quotes, a block scalar from its first character of text, an
    /// alias where the alias stands, a collection at its beginning.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
    /// How a scalar is written; [`Style::Plain`] for collections.
    pub style: Style,
    /// A scalar's text after quotes, escapes and folding; for a number its spelling. Empty for collections.
    pub text: Arc<str>,
    /// A tag that is not of the core schema, as it is written, where such tags are kept.
    pub tag: Option<Arc<str>>,
    /// Nodes in this tree, aliases unfolded, and one for each 64 bytes of text.
    pub(super) weight: u64,
    /// Levels of collections in this tree.
    pub(super) height: usize,
}

impl Node {
    /// The text, where this is text.
    pub fn as_str(&self) -> Option<&str> {
        matches!(self.kind, Kind::Str).then_some(&*self.text)
    }

    /// The items, where this is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, where this is a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry called `name`, where this is a map that has it.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| &*entry.name == name)
    }

    /// The value under `name`, where this is a map that has it.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// What it is, as a user says it.
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

    /// The value with its aliases unfolded.
    pub fn to_data(&self) -> Data {
        match &self.kind {
            Kind::Null => Data::Null,
            Kind::Bool(b) => Data::Bool(*b),
            Kind::Int(n) => Data::Int(*n),
            Kind::Uint(n) => Data::uint(*n),
            Kind::Float(n) => Data::Float(*n),
            Kind::Str => Data::Str(self.text.as_ref().to_owned()),
            Kind::List(items) => Data::List(items.iter().map(Node::to_data).collect()),
            Kind::Map(entries) => {
                let pair = |entry: &Entry| (entry.name.as_ref().to_owned(), entry.value.to_data());
                Data::Map(entries.iter().map(pair).collect::<DataMap>())
            }
        }
    }
}
