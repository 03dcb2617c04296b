//! The interface between trees and the writers of formats.
//!
//! Each format is written in one pass over any [`Tree`]: values of a render, owned data, and documents that contain
//! literal spellings ([`TreeNode::Spelled`]) and tags ([`TreeNode::Tagged`]).

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter::Copied;
use std::slice::Iter;

use super::{InView, MapEntries};
use crate::{Data, Extended, Map, Text, Value, Writing};
use dropforge_base::stdlib::timestamps::utc_text;

/// A reference to a node of a writable tree.
pub trait Tree<'t>: Copy {
    /// The items of a list.
    type Items: ExactSizeIterator<Item = Self> + Clone;
    /// The entries of a map in output order.
    type Entries: ExactSizeIterator<Item = (Key<'t>, Self)> + Clone;

    /// Returns the kind of the node and its content.
    fn node(self) -> TreeNode<'t, Self>;

    /// Returns the content of the most common kinds of nodes. This shortcut covers most nodes.
    #[inline(always)]
    fn common(self) -> Common<'t, Self> {
        Common::Other
    }

    /// Returns the keys and the values of a map, if they are stored apart.
    ///
    /// # Errors
    /// The entries themselves, if they are not stored that way.
    #[inline(always)]
    fn split(entries: Self::Entries) -> Result<(&'t [Text<'t>], Self::Items), Self::Entries> {
        Err(entries)
    }

    /// Returns `true` if the entries may have keys other than text.
    #[inline(always)]
    fn has_other_keys(entries: &Self::Entries) -> bool {
        let _ = entries;
        false
    }
}

/// The kind of a node and its content.
#[derive(Debug, Clone)]
pub enum TreeNode<'t, T: Tree<'t>> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An integer above `i64::MAX`.
    Uint(u64),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Text(Text<'t>),
    /// Owned text.
    Made(String),
    /// Bytes, written as base64 text.
    Bytes(&'t [u8]),
    /// Text that may not be UTF-8.
    Octets(&'t [u8]),
    /// A point in time, in seconds and nanoseconds since 1970, written by RFC 3339.
    Time(i64, u32),
    /// A finite number in a spelling that is portable across formats and parsers
    /// ([`keeps_spelling`](crate::yaml::keeps_spelling)).
    Spelled(&'t str),
    /// A finite number in an owned portable spelling.
    Digits(String),
    /// A node with a tag (`!name`), for formats that have tags.
    Tagged(&'t str, T),
    /// A list.
    List(T::Items),
    /// A map.
    Map(T::Entries),
    /// A value that documents cannot hold, with the name of its kind.
    Refused(&'static str),
}

/// The content of a node of one of the most common kinds.
#[derive(Debug)]
pub enum Common<'t, T: Tree<'t>> {
    /// Text.
    Text(&'t Text<'t>),
    /// A signed integer.
    Int(i64),
    /// A list.
    List(T::Items),
    /// A map.
    Map(T::Entries),
    /// Any node: see [`Tree::node`].
    Other,
}

/// The key of an entry. Formats with only text keys write its text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Key<'t> {
    /// Text.
    Text(Text<'t>),
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An integer above `i64::MAX`.
    Uint(u64),
    /// A 64-bit float.
    Float(f64),
}

impl<'t> Key<'t> {
    /// Returns the key for `value`; null for values that cannot be keys.
    #[inline]
    pub fn of(value: Value<'t>) -> Self {
        match value {
            Value::Str(text) => Key::Text(*text),
            Value::Bool(b) => Key::Bool(b),
            Value::Int(n) => Key::Int(n),
            Value::Uint(n) => Key::Uint(n),
            Value::Float(n) => Key::Float(n),
            _ => Key::Null,
        }
    }

    /// Returns the text of the key, for formats with only text keys.
    pub fn to_text(self) -> Cow<'t, str> {
        match self {
            Key::Text(text) => Cow::Borrowed(text.as_str()),
            Key::Null => Cow::Borrowed("null"),
            Key::Bool(b) => Cow::Borrowed(if b { "true" } else { "false" }),
            Key::Int(n) => Cow::Owned(n.to_string()),
            Key::Uint(n) => Cow::Owned(n.to_string()),
            Key::Float(n) => match non_finite(n) {
                Some(name) => Cow::Borrowed(name),
                None => Cow::Owned(zmij::Buffer::new().format_finite(n).to_owned()),
            },
        }
    }
}

/// Returns the name of a non-finite float, for formats without such numbers.
pub(crate) fn non_finite(n: f64) -> Option<&'static str> {
    match n {
        n if n.is_finite() => None,
        n if n.is_nan() => Some("NaN"),
        n if n > 0.0 => Some("Infinity"),
        _ => Some("-Infinity"),
    }
}

/// Returns the text of the first duplicate key.
#[cold]
pub fn duplicate<'t, T: Tree<'t>>(entries: T::Entries) -> Option<String> {
    let mut seen = HashSet::with_capacity(entries.len());
    entries.map(|(key, _)| key.to_text()).find(|text| !seen.insert(text.clone())).map(Cow::into_owned)
}

impl<'v> Tree<'v> for Value<'v> {
    type Items = Copied<Iter<'v, Value<'v>>>;
    type Entries = MapEntries<'v>;

    #[inline(always)]
    fn node(self) -> TreeNode<'v, Self> {
        view(self, false)
    }

    #[inline(always)]
    fn common(self) -> Common<'v, Self> {
        match self {
            Value::Str(text) => Common::Text(text),
            Value::Int(n) => Common::Int(n),
            Value::List(list) => Common::List(list.items().iter().copied()),
            Value::Map(map) => Common::Map(MapEntries::of(map, false)),
            _ => Common::Other,
        }
    }

    #[inline(always)]
    fn split(entries: MapEntries<'v>) -> Result<(&'v [Text<'v>], Self::Items), MapEntries<'v>> {
        match entries {
            MapEntries::Inserted(keys, values) => Ok((keys.as_slice(), values.copied())),
            others => Err(others),
        }
    }

    #[inline(always)]
    fn has_other_keys(entries: &MapEntries<'v>) -> bool {
        entries.has_other_keys()
    }
}

/// Returns the node of a value, optionally with map entries in key order.
#[inline(always)]
fn view<'v>(value: Value<'v>, sorted: bool) -> TreeNode<'v, Value<'v>> {
    match value {
        Value::Undefined | Value::Null => TreeNode::Null,
        Value::Bool(b) => TreeNode::Bool(b),
        Value::Int(n) => TreeNode::Int(n),
        Value::Uint(n) => TreeNode::Uint(n),
        Value::Float(n) => TreeNode::Float(n),
        Value::Str(text) => TreeNode::Text(*text),
        Value::List(list) => TreeNode::List(list.items().iter().copied()),
        Value::Map(map) => TreeNode::Map(MapEntries::of(map, sorted)),
        Value::Extended(extension) => extended(extension.kind(), sorted),
    }
}

/// Returns the node of a rare value: numbers in full, elements without types and marks, other values as text. Unknown
/// values and absent optionals are null.
#[cold]
fn extended<'v>(kind: &'v Extended<'v>, sorted: bool) -> TreeNode<'v, Value<'v>> {
    match kind {
        Extended::Number(number) if number.is_finite() => TreeNode::Digits(number.to_text()),
        Extended::Marked(value, _) | Extended::Typed(_, value) | Extended::Optional(value) => view(*value, sorted),
        Extended::Sized(number) => view(number.plain(), sorted),
        Extended::Entries(entries) if sorted => TreeNode::Map(MapEntries::Listed(entries.by_text().into_iter())),
        Extended::Entries(entries) => TreeNode::Map(MapEntries::keyed(entries)),
        Extended::Bytes(bytes) => TreeNode::Bytes(bytes),
        Extended::Written(_, Writing::Spelled(text)) => TreeNode::Spelled(text),
        Extended::Written(value, Writing::Tagged(tag, _)) => TreeNode::Tagged(tag, *value),
        Extended::Written(value, Writing::Number) => view(*value, sorted),
        kind => kind.plain_text().map_or(TreeNode::Null, |text| TreeNode::Made(text.into_owned())),
    }
}

/// Returns the node of a value as network services exchange it: maps in key order, bytes as text, durations as numbers.
/// Other values that are not plain data are refused.
pub fn plain<'v>(value: Value<'v>) -> TreeNode<'v, Value<'v>> {
    let Some(kind) = value.extended() else { return view(value, true) };
    match kind {
        Extended::Sized(number) => plain(number.plain()),
        Extended::Bytes(bytes) => TreeNode::Octets(bytes),
        Extended::Typed(_, elements) => match plain(*elements) {
            TreeNode::Octets(bytes) => TreeNode::Bytes(bytes),
            TreeNode::Text(text) => TreeNode::Bytes(text.as_str().as_bytes()),
            elements => elements,
        },
        Extended::Written(inner, _) | Extended::Optional(inner) | Extended::Marked(inner, _) => plain(*inner),
        Extended::Number(number) => number.to_f64().map_or(TreeNode::Null, TreeNode::Float),
        Extended::Duration(nanos) => TreeNode::Int(*nanos),
        Extended::Timestamp { seconds, nanos } => TreeNode::Time(*seconds, *nanos),
        Extended::Null(_) | Extended::Unknown(_) => TreeNode::Null,
        kind => TreeNode::Refused(kind.name()),
    }
}

/// Returns the text of a point in time, by RFC 3339.
pub(crate) fn time_text(seconds: i64, nanos: u32) -> String {
    utc_text(seconds, nanos).unwrap_or_default()
}

/// Returns the reason that a value of this kind is not written.
pub(crate) fn not_plain(kind: &str) -> String {
    format!("a {kind} is not plain data")
}

/// A way of looking at values, which hides what only a language knows.
pub trait View<'v>: Copy {
    /// Returns the node of a value. Text and integers are never anything else.
    fn node(self, value: Value<'v>) -> TreeNode<'v, Value<'v>>;

    /// Returns the entries of a map, if that takes no more than a look at it.
    fn entries(self, map: &'v Map<'v>) -> Option<MapEntries<'v>>;
}

/// The view of values whose maps are written in key order.
#[derive(Debug, Clone, Copy)]
pub struct ByKey;

impl<'v> View<'v> for ByKey {
    #[inline(always)]
    fn node(self, value: Value<'v>) -> TreeNode<'v, Value<'v>> {
        view(value, true)
    }

    #[inline(always)]
    fn entries(self, map: &'v Map<'v>) -> Option<MapEntries<'v>> {
        Some(MapEntries::of(map, true))
    }
}

impl<'v, F: Fn(Value<'v>) -> TreeNode<'v, Value<'v>>> View<'v> for &F {
    fn node(self, value: Value<'v>) -> TreeNode<'v, Value<'v>> {
        self(value)
    }

    fn entries(self, _: &'v Map<'v>) -> Option<MapEntries<'v>> {
        None
    }
}

/// A value in a view.
#[derive(Debug, Clone, Copy)]
pub struct Viewed<'v, V>(pub Value<'v>, pub V);

impl<'v, V: View<'v>> Tree<'v> for Viewed<'v, V> {
    type Items = InView<Copied<Iter<'v, Value<'v>>>, V>;
    type Entries = InView<MapEntries<'v>, V>;

    #[inline(always)]
    fn node(self) -> TreeNode<'v, Self> {
        let view = self.1;
        match view.node(self.0) {
            TreeNode::Null => TreeNode::Null,
            TreeNode::Bool(b) => TreeNode::Bool(b),
            TreeNode::Int(n) => TreeNode::Int(n),
            TreeNode::Uint(n) => TreeNode::Uint(n),
            TreeNode::Float(n) => TreeNode::Float(n),
            TreeNode::Text(text) => TreeNode::Text(text),
            TreeNode::Made(text) => TreeNode::Made(text),
            TreeNode::Bytes(bytes) => TreeNode::Bytes(bytes),
            TreeNode::Octets(bytes) => TreeNode::Octets(bytes),
            TreeNode::Time(seconds, nanos) => TreeNode::Time(seconds, nanos),
            TreeNode::Spelled(text) => TreeNode::Spelled(text),
            TreeNode::Digits(text) => TreeNode::Digits(text),
            TreeNode::Tagged(tag, value) => TreeNode::Tagged(tag, Viewed(value, view)),
            TreeNode::List(items) => TreeNode::List(InView(items, view)),
            TreeNode::Map(entries) => TreeNode::Map(InView(entries, view)),
            TreeNode::Refused(kind) => TreeNode::Refused(kind),
        }
    }

    #[inline(always)]
    fn common(self) -> Common<'v, Self> {
        match self.0 {
            Value::Str(text) => Common::Text(text),
            Value::Int(n) => Common::Int(n),
            Value::List(list) => Common::List(InView(list.items().iter().copied(), self.1)),
            Value::Map(map) => {
                self.1.entries(map).map_or(Common::Other, |entries| Common::Map(InView(entries, self.1)))
            }
            _ => Common::Other,
        }
    }

    #[inline(always)]
    fn has_other_keys(entries: &Self::Entries) -> bool {
        entries.0.has_other_keys()
    }
}

impl<'t> Tree<'t> for &'t Data {
    type Items = Iter<'t, Data>;
    type Entries = std::iter::Map<indexmap::map::Iter<'t, String, Data>, fn((&'t String, &'t Data)) -> (Key<'t>, Self)>;

    fn node(self) -> TreeNode<'t, Self> {
        match self {
            Data::Null => TreeNode::Null,
            Data::Bool(b) => TreeNode::Bool(*b),
            Data::Int(n) => TreeNode::Int(*n),
            Data::Uint(n) => TreeNode::Uint(*n),
            Data::Float(n) => TreeNode::Float(*n),
            Data::Number(text) => TreeNode::Spelled(text),
            Data::Str(text) => TreeNode::Text(Text::new(text)),
            Data::List(items) => TreeNode::List(items.iter()),
            Data::Map(map) => TreeNode::Map(map.iter().map(entry as fn(_) -> _)),
        }
    }
}

fn entry<'t>((key, value): (&'t String, &'t Data)) -> (Key<'t>, &'t Data) {
    (Key::Text(Text::new(key)), value)
}
