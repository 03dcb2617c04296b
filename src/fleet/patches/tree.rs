//! Documents and patches as trees. Each part knows where it stands, and scalars keep their notation.

use std::sync::Arc;

use dropforge_base::text::Span;
use dropforge_value::yaml::{Kind, Node, Style};
use dropforge_value::{Data, DataMap, yaml};
use toml::Spanned;
use toml::de::DeValue;

/// Where a part stands: in the document, or in a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    /// The number of the patch, from 1. 0 is the document.
    pub patch: u32,
    /// The span in its text.
    pub span: Span,
}

/// A part of a document or of a patch.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub at: At,
    pub part: Part,
    /// The tag as written.
    pub tag: Option<Arc<String>>,
}

/// The content of a part.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Scalar(Scalar),
    List(Vec<Tree>),
    Map(Vec<Entry>),
}

/// An entry of a map.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The key as text.
    pub name: Arc<str>,
    /// The key, a scalar.
    pub key: Tree,
    pub value: Tree,
}

/// A scalar with its notation.
#[derive(Debug, Clone)]
pub(crate) struct Scalar {
    pub kind: Kind,
    /// The text, or the spelling of a number.
    pub text: Arc<str>,
    /// The notation. Without one, the writer chooses.
    pub style: Option<Style>,
}

impl Tree {
    /// Converts a node of a document, or of the patch with this number.
    pub fn of_node(node: &Node, patch: u32) -> Self {
        let part = match &node.kind {
            Kind::List(items) => Part::List(items.iter().map(|item| Self::of_node(item, patch)).collect()),
            Kind::Map(entries) => Part::Map(entries.iter().map(|entry| Entry::of(entry, patch)).collect()),
            // The reader spells a null without text.
            Kind::Null if node.span.is_empty() => {
                Part::Scalar(Scalar { kind: Kind::Null, text: "".into(), style: Some(node.style) })
            }
            kind => Part::Scalar(Scalar { kind: kind.clone(), text: node.text.clone(), style: Some(node.style) }),
        };
        Self { at: At { patch, span: node.span }, part, tag: node.tag.clone() }
    }

    /// Forgets the notation of texts in double quotes: that of keys, or of everything if `all`.
    pub fn unquote(&mut self, all: bool) {
        match &mut self.part {
            Part::Scalar(scalar) if all && scalar.style == Some(Style::DoubleQuoted) => scalar.style = None,
            Part::Scalar(_) => {}
            Part::List(items) => items.iter_mut().for_each(|item| item.unquote(all)),
            Part::Map(entries) => entries.iter_mut().for_each(|entry| {
                entry.key.unquote(true);
                entry.value.unquote(all);
            }),
        }
    }

    /// Converts a value of a TOML file.
    pub fn of_toml(value: &Spanned<DeValue<'_>>, data: &Data, patch: u32) -> Self {
        let at = At { patch, span: Span::of(value.span()) };
        let part = match (value.get_ref(), data) {
            (DeValue::Array(items), Data::List(all)) => {
                Part::List(items.iter().zip(all).map(|(item, data)| Self::of_toml(item, data, patch)).collect())
            }
            (DeValue::Table(table), Data::Map(all)) => {
                let entry = |((key, value), (name, data)): ((&Spanned<_>, _), (&String, _))| Entry {
                    name: name.as_str().into(),
                    key: Self::text(name, At { patch, span: Span::of(key.span()) }),
                    value: Self::of_toml(value, data, patch),
                };
                Part::Map(table.iter().zip(all).map(entry).collect())
            }
            (_, data) => Part::Scalar(Scalar::of_data(data)),
        };
        Self { at, part, tag: None }
    }

    /// Creates a text.
    pub fn text(text: &str, at: At) -> Self {
        let scalar = Scalar { kind: Kind::Str, text: text.into(), style: None };
        Self { at, part: Part::Scalar(scalar), tag: None }
    }

    /// Creates an empty map.
    pub fn empty_map(at: At) -> Self {
        Self { at, part: Part::Map(Vec::new()), tag: None }
    }

    pub fn is_null(&self) -> bool {
        matches!(&self.part, Part::Scalar(Scalar { kind: Kind::Null, .. })) && self.tag.is_none()
    }

    /// Returns `true` for a text that is not plain.
    pub fn is_quoted(&self) -> bool {
        match &self.part {
            Part::Scalar(scalar) => scalar.kind == Kind::Str && scalar.style != Some(Style::Plain),
            _ => false,
        }
    }

    /// Returns the kind of the part, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.part {
            Part::List(_) => "list",
            Part::Map(_) => "map",
            Part::Scalar(scalar) => scalar.kind_name(),
        }
    }

    pub fn entries(&self) -> &[Entry] {
        match &self.part {
            Part::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the value under a key.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        self.entries().iter().find(|entry| &*entry.name == name).map(|entry| &entry.value)
    }

    /// Returns the text of a scalar that is not null.
    pub fn as_text(&self) -> Option<&str> {
        match &self.part {
            Part::Scalar(scalar) if !self.is_null() => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the text of the scalar under a key.
    pub fn text_at(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    /// Returns the value without notations and tags.
    pub fn to_data(&self) -> Data {
        match &self.part {
            Part::Scalar(scalar) => scalar.to_data(),
            Part::List(items) => Data::List(items.iter().map(Tree::to_data).collect()),
            Part::Map(entries) => {
                let pair = |entry: &Entry| (entry.name.to_string(), entry.value.to_data());
                Data::Map(entries.iter().map(pair).collect::<DataMap>())
            }
        }
    }

    /// Returns the number of parts, and the depth.
    pub fn size(&self) -> (usize, usize) {
        let below: Vec<(usize, usize)> = match &self.part {
            Part::Scalar(_) => return (1, 0),
            Part::List(items) => items.iter().map(Tree::size).collect(),
            Part::Map(entries) => entries.iter().map(|entry| entry.value.size()).collect(),
        };
        let (count, depth) = below.iter().fold((1, 0), |(count, depth), one| (count + one.0, depth.max(one.1)));
        (count, depth + 1)
    }

    /// Sets the value under a key of a map, at its place or behind all others.
    pub fn set(entries: &mut Vec<Entry>, name: &str, key: Tree, value: Tree) {
        match entries.iter_mut().find(|entry| &*entry.name == name) {
            Some(entry) => entry.value = value,
            None => entries.push(Entry { name: name.into(), key, value }),
        }
    }
}

impl Entry {
    fn of(entry: &yaml::Entry, patch: u32) -> Self {
        Self {
            name: entry.name.clone(),
            key: Tree::of_node(&entry.key, patch),
            value: Tree::of_node(&entry.value, patch),
        }
    }
}

impl Scalar {
    pub fn of_data(data: &Data) -> Self {
        let kind = match data {
            Data::Str(text) => return Self { kind: Kind::Str, text: text.as_str().into(), style: None },
            Data::Bool(truth) => Kind::Bool(*truth),
            Data::Int(number) => Kind::Int(*number),
            Data::Uint(number) => Kind::Uint(*number),
            Data::Float(number) => Kind::Float(*number),
            Data::Number(text) => Kind::Float(text.parse().unwrap_or_default()),
            _ => Kind::Null,
        };
        Self { kind, text: yaml::to_string(data).trim_end().into(), style: Some(Style::Plain) }
    }

    /// Returns the scalar as a text in quotes.
    pub fn quoted(&self) -> Self {
        Self { kind: Kind::Str, text: self.text.clone(), style: Some(Style::DoubleQuoted) }
    }

    fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "boolean",
            Kind::Int(_) | Kind::Uint(_) => "integer",
            Kind::Float(_) => "number",
            _ => "string",
        }
    }

    pub fn to_data(&self) -> Data {
        match self.kind {
            Kind::Null => Data::Null,
            Kind::Bool(truth) => Data::Bool(truth),
            Kind::Int(number) => Data::Int(number),
            Kind::Uint(number) => Data::uint(number),
            Kind::Float(number) => Data::number(&self.text).unwrap_or(Data::Float(number)),
            _ => Data::Str(self.text.to_string()),
        }
    }
}
