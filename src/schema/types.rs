//! The types of JSON Schema and the types of values.

use std::borrow::Cow;

use dropforge_base::diagnostics::with_article;
use dropforge_value::{Entries, Extended, Map, Type, Value};

/// A set of types: those that a schema allows, or those of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Types(u8);

impl Types {
    /// The names of the types, in the order of their bits.
    pub const NAMES: [&'static str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    /// `null`
    pub const NULL: Types = Types(1);
    /// `boolean`
    pub const BOOLEAN: Types = Types(2);
    /// `integer`, including floats without a fraction.
    pub const INTEGER: Types = Types(4);
    /// `number`
    pub const NUMBER: Types = Types(8);
    /// `string`
    pub const STRING: Types = Types(16);
    /// `array`
    pub const ARRAY: Types = Types(32);
    /// `object`
    pub const OBJECT: Types = Types(64);

    /// Returns the type `name`.
    pub fn named(name: &str) -> Option<Types> {
        Self::NAMES.iter().position(|known| *known == name).map(|at| Types(1 << at))
    }

    /// Returns the union of two sets.
    pub const fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// Returns `true` if the sets have a type in common.
    pub const fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns `true` if no type is specified.
    pub const fn is_any(self) -> bool {
        self.0 == 0
    }

    /// Returns the names of the types in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().enumerate().filter(move |(at, _)| self.0 & (1 << at) != 0).map(|(_, name)| name)
    }

    /// Returns the names for a sentence: `null or a string`.
    pub fn sentence(self) -> String {
        self.names().map(with_article).collect::<Vec<_>>().join(" or ")
    }

    /// All types of a value. A value without a JSON type, such as bytes or a timestamp, has none.
    pub fn of(value: Value<'_>) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            Value::Int(_) | Value::Uint(_) => Types::INTEGER.or(Types::NUMBER),
            Value::Float(n) => Types::of_float(n),
            Value::Str(_) => Types::STRING,
            Value::List(_) => Types::ARRAY,
            Value::Map(_) => Types::OBJECT,
            Value::Undefined => Types::default(),
            Value::Extended(_) => value.extended().map_or(Types::default(), Types::of_extended),
        }
    }

    fn of_extended(kind: &Extended<'_>) -> Types {
        match kind {
            Extended::Number(n) if n.is_whole() => Types::INTEGER.or(Types::NUMBER),
            Extended::Number(_) => Types::NUMBER,
            Extended::Entries(_) => Types::OBJECT,
            _ => Types::default(),
        }
    }

    /// Returns the types of `value` in draft 4, where a float is never an integer.
    pub(super) fn strict(self, value: Value<'_>) -> Types {
        if matches!(value, Value::Float(_)) { Types::NUMBER } else { self }
    }

    /// All types of a float.
    fn of_float(n: f64) -> Types {
        if n.is_finite() && n.fract() == 0.0 { Types::INTEGER.or(Types::NUMBER) } else { Types::NUMBER }
    }
}

/// Returns the value without notation, marks and element type, which schemas ignore. `None` for an unknown value.
pub(super) fn plain(mut value: Value<'_>) -> Option<Value<'_>> {
    loop {
        value = match value.extended() {
            Some(Extended::Written(of, _) | Extended::Marked(of, _)) => *of,
            Some(Extended::Typed(Type::Set(_) | Type::List(_) | Type::Map(_), of)) => *of,
            Some(Extended::Null(_)) => Value::Null,
            Some(Extended::Unknown(_)) => return None,
            _ => return Some(value),
        };
    }
}

/// The entries of an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fields<'v> {
    Map(&'v Map<'v>),
    /// With keys other than strings. Only string keys can be declared properties.
    Entries(Entries<'v>),
}

impl<'v> Fields<'v> {
    pub fn of(value: Value<'v>) -> Option<Fields<'v>> {
        match (value, value.extended()) {
            (Value::Map(map), _) => Some(Fields::Map(map)),
            (_, Some(Extended::Entries(entries))) => Some(Fields::Entries(*entries)),
            _ => None,
        }
    }

    pub fn len(self) -> usize {
        match self {
            Fields::Map(map) => map.len(),
            Fields::Entries(entries) => entries.len(),
        }
    }

    /// Returns `true` if there is a property `name`.
    pub fn has(self, name: &str) -> bool {
        match self {
            Fields::Map(map) => map.get(name).is_some(),
            Fields::Entries(entries) => entries.keys().iter().any(|key| key.as_str() == Some(name)),
        }
    }

    /// Returns the names of the properties with their values. Only the names of text keys are borrowed. Entries with null
    /// keys are skipped.
    pub fn iter(self) -> impl Iterator<Item = (Cow<'v, str>, Value<'v>)> {
        let (map, entries) = match self {
            Fields::Map(map) => (Some(map), None),
            Fields::Entries(entries) => (None, Some(entries)),
        };
        let named = map.into_iter().flat_map(Map::iter).map(|(name, value)| (Cow::Borrowed(name), value));
        let keyed = entries.into_iter().flat_map(|entries| entries.iter());
        named.chain(keyed.filter_map(|(key, value)| Some((name_of(key)?, value))))
    }
}

/// Returns the name of the property with this key. A key that is not text has a text of its own.
fn name_of(key: Value<'_>) -> Option<Cow<'_, str>> {
    Some(match key {
        Value::Str(name) => Cow::Borrowed(name.as_str()),
        Value::Int(n) => Cow::Owned(n.to_string()),
        Value::Uint(n) => Cow::Owned(n.to_string()),
        Value::Bool(truth) => Cow::Owned(truth.to_string()),
        _ => return None,
    })
}
