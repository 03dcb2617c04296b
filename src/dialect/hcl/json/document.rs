//! A JSON document with the places of everything in it.

use std::sync::Arc;

use super::parser::Found;
use crate::dialect::hcl::syntax::tree::{Run, Str};
use crate::text::{Source, Span};

/// Names a [`Node`] of a [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsonId(pub(in crate::dialect::hcl) u32);

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Json {
    /// Nothing that could be read; an error was reported there.
    Invalid,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, by its digits.
    Number(Str),
    /// A string, with its escapes read; not normalised.
    String(Str),
    /// An array: entries of [`Document::items`].
    Array(Run),
    /// An object: entries of [`Document::properties`].
    Object(Run),
}

/// A value and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub json: Json,
    /// Its place, with its quotes or brackets. For an invalid value the token it begins with.
    pub span: Span,
}

impl Node {
    /// Where it begins: the opening bracket of an array or object, the whole of any other value.
    pub fn start(self) -> Span {
        match self.json {
            Json::Array(_) | Json::Object(_) => self.open(),
            _ => self.span,
        }
    }

    /// The opening bracket.
    pub fn open(self) -> Span {
        Span::new(self.span.start, self.span.end.min(self.span.start.saturating_add(1)))
    }

    /// The closing bracket.
    pub fn close(self) -> Span {
        Span::new(self.span.start.max(self.span.end.saturating_sub(1)), self.span.end)
    }
}

/// A property of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property {
    /// Its name, with its escapes read; not normalised.
    pub name: Str,
    /// Where the name stands, with its quotes.
    pub name_span: Span,
    /// The string that it is, as a value: where the property is one of an object constructor, a template.
    pub key: JsonId,
    /// Its value.
    pub value: JsonId,
}

/// A parsed document. It owns everything it holds, and drops without recursion.
#[derive(Debug, Clone)]
pub struct Document {
    source: Arc<Source>,
    found: Found,
    root: JsonId,
}

impl Document {
    pub(super) fn new(source: &Arc<Source>, found: Found, root: JsonId) -> Self {
        Self { source: source.clone(), found, root }
    }

    /// The source it was read from.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The value that the document is.
    pub fn root(&self) -> JsonId {
        self.root
    }

    /// A text of the document.
    pub fn str(&self, text: Str) -> &str {
        let within = if text.pooled { self.found.pool.as_str() } else { self.source.text() };
        within.get(text.start as usize..text.end as usize).unwrap_or("")
    }

    /// A value.
    pub fn node(&self, id: JsonId) -> Node {
        self.found.node(id)
    }

    /// All values, names among them, each behind what it holds.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (JsonId, Node)> + '_ {
        (0..).map(JsonId).zip(self.found.nodes.iter().copied())
    }

    /// The properties of all objects.
    pub(super) fn all_properties(&self) -> &[Property] {
        &self.found.properties
    }

    /// A string, and where it stands; nothing where the value is none.
    pub fn string(&self, id: JsonId) -> Option<(&str, Span)> {
        match self.node(id) {
            Node { json: Json::String(text), span } => Some((self.str(text), span)),
            _ => None,
        }
    }

    /// The values of an array.
    pub fn items(&self, run: Run) -> &[JsonId] {
        self.found.items.get(run.range()).unwrap_or(&[])
    }

    /// The properties of an object.
    pub fn properties(&self, run: Run) -> &[Property] {
        self.found.properties.get(run.range()).unwrap_or(&[])
    }
}
