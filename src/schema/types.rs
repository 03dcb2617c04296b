//! The types that schemas know, and which of them a value is of.

use super::Types;
use crate::value::{Data, Entries, Extended, Map, Type, Value};

impl Types {
    /// The names of the types, each of which is one bit, lowest first.
    pub const NAMES: [&'static str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    /// `null`
    pub const NULL: Types = Types(1);
    /// `boolean`
    pub const BOOLEAN: Types = Types(2);
    /// `integer`: also a float without a fraction.
    pub const INTEGER: Types = Types(4);
    /// `number`
    pub const NUMBER: Types = Types(8);
    /// `string`
    pub const STRING: Types = Types(16);
    /// `array`
    pub const ARRAY: Types = Types(32);
    /// `object`
    pub const OBJECT: Types = Types(64);

    /// The type called `name`.
    pub fn named(name: &str) -> Option<Types> {
        Self::NAMES.iter().position(|known| *known == name).map(|at| Types(1 << at))
    }

    /// These and those.
    pub const fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// Whether one of `other` is among them.
    pub const fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether nothing is said of the type.
    pub const fn is_any(self) -> bool {
        self.0 == 0
    }

    /// The names of the types.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().enumerate().filter(move |(at, _)| self.0 & (1 << at) != 0).map(|(_, name)| name)
    }

    /// The names of the types in a sentence: `null or a string`.
    pub fn sentence(self) -> String {
        self.names().map(with_article).collect::<Vec<_>>().join(" or ")
    }

    /// Every type that a value is of; what JSON has no type for (bytes, a moment) is of none.
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

    /// Every type that a value is of.
    pub fn of_data(data: &Data) -> Types {
        match data {
            Data::Null => Types::NULL,
            Data::Bool(_) => Types::BOOLEAN,
            Data::Int(_) | Data::Uint(_) => Types::INTEGER.or(Types::NUMBER),
            Data::Float(n) => Types::of_float(*n),
            Data::Str(_) => Types::STRING,
            Data::List(_) => Types::ARRAY,
            Data::Map(_) => Types::OBJECT,
        }
    }

    /// Every type that a float is of.
    fn of_float(n: f64) -> Types {
        if n.is_finite() && n.fract() == 0.0 { Types::INTEGER.or(Types::NUMBER) } else { Types::NUMBER }
    }
}

/// What a value is, in a sentence: `an array`.
pub(super) fn with_article(name: &str) -> String {
    match name.as_bytes().first() {
        _ if matches!(name, "null" | "bytes") => name.to_owned(),
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

/// A value without what a schema does not look at: how it is written, its marks, the type of its elements. `None` where
/// it is not known yet.
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
    /// With keys that are not all text; these have no schema of their own.
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

    /// Whether there is a property of this name.
    pub fn has(self, name: &str) -> bool {
        match self {
            Fields::Map(map) => map.get(name).is_some(),
            Fields::Entries(entries) => entries.keys().iter().any(|key| key.as_str() == Some(name)),
        }
    }

    /// Calls `each` with every key and value.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn each<E>(self, mut each: impl FnMut(Field<'_>, Value<'v>) -> Result<(), E>) -> Result<(), E> {
        match self {
            Fields::Map(map) => map.iter().try_for_each(|(name, value)| each(Field::Named(name), value)),
            Fields::Entries(entries) => entries.iter().try_for_each(|(key, value)| match key {
                Value::Str(name) => each(Field::Named(name.as_str()), value),
                Value::Int(n) => each(Field::Other(&n.to_string()), value),
                Value::Uint(n) => each(Field::Other(&n.to_string()), value),
                Value::Bool(truth) => each(Field::Other(if truth { "true" } else { "false" }), value),
                _ => Ok(()),
            }),
        }
    }
}

/// The key of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field<'f> {
    /// Text.
    Named(&'f str),
    /// Anything else, as text.
    Other(&'f str),
}
