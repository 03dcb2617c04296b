//! The borrowed value of a running program.

use super::{Data, Extension, Map, Text};

/// A list.
#[derive(Debug, Clone, Copy)]
pub struct List<'v> {
    items: &'v [Value<'v>],
    summary: Summary,
}

impl<'v> List<'v> {
    /// Returns a list of items.
    pub fn new(items: &'v [Value<'v>]) -> Self {
        Self::summarized(items, Summary::around(items))
    }

    /// Returns a list whose summary is already known.
    pub(super) const fn summarized(items: &'v [Value<'v>], summary: Summary) -> Self {
        Self { items, summary }
    }

    /// Returns the items.
    pub const fn items(&self) -> &'v [Value<'v>] {
        self.items
    }
}

/// Facts about a value and everything nested in it. Containers store them, so that no check walks a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Summary {
    /// Nesting depth of lists and maps: a list of scalars has depth 1.
    pub depth: u16,
    /// `true` if any nested value is marked or unknown.
    pub qualified: bool,
    /// `true` if any nested value has a notation.
    pub written: bool,
}

impl Summary {
    /// Returns the summary of a container of `values`.
    pub fn around(values: &[Value<'_>]) -> Self {
        let mut all = Self::default();
        values.iter().for_each(|value| all.add(value));
        all.held()
    }

    /// Adds one nested value. Scalars add nothing, and most values are scalars.
    #[inline(always)]
    pub fn add(&mut self, value: &Value<'_>) {
        if let Value::List(_) | Value::Map(_) | Value::Extended(_) = value {
            let one = value.summary();
            *self = Self {
                depth: self.depth.max(one.depth),
                qualified: self.qualified | one.qualified,
                written: self.written | one.written,
            };
        }
    }

    /// Returns the summary of a container whose values have this summary.
    #[inline(always)]
    pub const fn held(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }
}

/// A value of a running program.
///
/// ```
/// use dropforge::value::{Arena, Value};
/// let arena = Arena::new();
/// let list = arena.list(&[Value::Int(1), arena.text("a")]);
/// assert_eq!(list.kind(), "list");
/// assert_eq!(list.depth(), 1);
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[repr(u64)] // so that every value is moved as two words
pub enum Value<'v> {
    /// No value: an unset slot, or a missing name where a language tolerates it.
    #[default]
    Undefined,
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// An integer above `i64::MAX`. In a language with an unsigned type, any integer of that type.
    Uint(u64),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Str(&'v Text<'v>),
    /// A list.
    List(&'v List<'v>),
    /// A map with text keys.
    Map(&'v Map<'v>),
    /// A rare kind of value.
    Extended(&'v Extension<'v>),
}

const _: () = assert!(size_of::<Value<'static>>() == 16);

impl<'v> Value<'v> {
    /// Returns the integer `n`, as a [`Value::Int`] if it fits.
    pub fn uint(n: u64) -> Self {
        i64::try_from(n).map_or(Value::Uint(n), Value::Int)
    }

    /// Returns `true` for [`Value::Undefined`].
    pub const fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined)
    }

    /// Returns the text of a [`Value::Str`].
    pub const fn as_str(&self) -> Option<&'v str> {
        match self {
            Value::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the items of a [`Value::List`].
    pub const fn as_list(&self) -> Option<&'v [Value<'v>]> {
        match self {
            Value::List(list) => Some(list.items()),
            _ => None,
        }
    }

    /// Returns the map of a [`Value::Map`].
    pub const fn as_map(&self) -> Option<&'v Map<'v>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns a plain number as a float. Large integers lose their last digits.
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(n) => Some(*n as f64),
            Value::Uint(n) => Some(*n as f64),
            Value::Float(n) => Some(*n),
            _ => None,
        }
    }

    /// Nesting depth of lists and maps; 0 for a scalar.
    pub const fn depth(&self) -> u16 {
        self.summary().depth
    }

    /// Returns `true` if the value or any value nested in it is marked or unknown.
    ///
    /// ```
    /// use dropforge::value::{Arena, Type, Value};
    /// let arena = Arena::new();
    /// assert!(!arena.list(&[Value::Int(1)]).is_qualified());
    /// let unknown = arena.list(&[Value::Int(1), arena.unknown(Type::Number)]);
    /// assert!(unknown.is_qualified() && arena.map(&[("inner", unknown)]).is_qualified());
    /// assert!(arena.list(&[arena.marked(Value::Int(1), &["secret"])]).is_qualified());
    /// ```
    pub const fn is_qualified(&self) -> bool {
        self.summary().qualified
    }

    /// Returns `true` if the value or any value nested in it has a notation ([`Writing`](super::Writing)).
    ///
    /// ```
    /// use dropforge::value::{Arena, Value};
    /// let arena = Arena::new();
    /// let list = arena.list(&[arena.spelled(Value::Float(1.1), "1.10")]);
    /// assert!(list.has_notation() && !arena.list(&[Value::Float(1.1)]).has_notation());
    /// ```
    #[inline]
    pub const fn has_notation(&self) -> bool {
        self.summary().written
    }

    #[inline]
    pub(super) const fn summary(&self) -> Summary {
        match self {
            Value::List(list) => list.summary,
            Value::Map(map) => map.summary(),
            Value::Extended(extension) => extension.summary(),
            _ => Summary { depth: 0, qualified: false, written: false },
        }
    }

    /// Returns the kind of the value, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Undefined => "undefined",
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::Uint(_) => "integer",
            Value::Float(_) => "number",
            Value::Str(_) => "string",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Extended(extension) => extension.kind().name(),
        }
    }

    /// Returns the owned form; [`Value::Undefined`] becomes null.
    pub fn to_data(&self) -> Data {
        match self {
            Value::Undefined | Value::Null => Data::Null,
            Value::Bool(b) => Data::Bool(*b),
            Value::Int(n) => Data::Int(*n),
            Value::Uint(n) => Data::uint(*n),
            Value::Float(n) => Data::Float(*n),
            Value::Str(text) => Data::Str(text.as_str().to_owned()),
            Value::List(list) => Data::List(list.items().iter().map(Value::to_data).collect()),
            Value::Map(map) => Data::Map(map.iter().map(|(key, value)| (key.to_owned(), value.to_data())).collect()),
            Value::Extended(extension) => extension.to_data(),
        }
    }
}
