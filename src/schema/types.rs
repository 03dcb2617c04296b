//! The types of JSON Schema and the types of values; exact comparison of numbers.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use dropforge_base::diagnostics::with_article;
use dropforge_base::stdlib::bignum::BigNum;
use dropforge_value::{Data, Entries, Extended, Map, Type, Value};

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

/// A precision in bits that holds every number exactly.
const FULL: u16 = 512;

/// The precision of quotients. The bits beyond absorb the rounding of decimal fractions.
const QUOTIENT: u16 = 300;

/// A number of a schema or a value.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// An integer in the range of `i64` or `u64`.
    Whole(i128),
    /// A 64-bit float.
    Float(f64),
    /// Any other number.
    Big(BigNum),
}

impl Number {
    pub(super) fn of_data(data: &Data) -> Option<Number> {
        match data {
            Data::Int(n) => Some(Number::Whole(i128::from(*n))),
            Data::Uint(n) => Some(Number::Whole(i128::from(*n))),
            Data::Float(n) => Some(Number::Float(*n)),
            Data::Number(text) => BigNum::parse(text).map(Number::Big),
            _ => None,
        }
    }

    pub(super) fn of_value(value: Value<'_>) -> Option<Number> {
        match (value, value.extended()) {
            (Value::Int(n), _) => Some(Number::Whole(i128::from(n))),
            (Value::Uint(n), _) => Some(Number::Whole(i128::from(n))),
            (Value::Float(n), _) => Some(Number::Float(n)),
            (_, Some(Extended::Number(n))) => Some(Number::Big(*n)),
            _ => None,
        }
    }

    /// Returns the number as data, if necessary as the nearest float.
    pub(super) fn to_data(self) -> Data {
        match self {
            Number::Whole(n) => {
                i64::try_from(n).map_or_else(|_| Data::Uint(u64::try_from(n).unwrap_or(u64::MAX)), Data::Int)
            }
            Number::Float(n) => Data::Float(n),
            Number::Big(n) => Data::number(&n.to_text()).unwrap_or_default(),
        }
    }

    /// Compares two numbers exactly. `None` if one is NaN.
    pub(super) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            _ => Some(self.big()?.compare(&other.big()?)),
        }
    }

    pub(super) fn is_positive(self) -> bool {
        self.compare(Number::Whole(0)).is_some_and(Ordering::is_gt)
    }

    /// Returns `true` if the number is an integral multiple of `factor`, as both are written in decimal.
    pub(super) fn is_multiple_of(self, factor: Number) -> bool {
        if let (Number::Whole(number), Number::Whole(factor)) = (self, factor) {
            return factor != 0 && number % factor == 0;
        }
        let decimal = |number: Number| match number {
            Number::Float(n) => BigNum::of_shortest_text(n),
            number => number.big(),
        };
        let quotient = decimal(self).zip(decimal(factor)).and_then(|(number, factor)| number.div(&factor));
        quotient.is_some_and(|quotient| quotient.with_precision(QUOTIENT).is_whole())
    }

    fn big(self) -> Option<BigNum> {
        match self {
            Number::Big(n) => Some(n),
            Number::Float(n) => BigNum::of_f64(n),
            Number::Whole(n) => match u64::try_from(n) {
                Ok(n) => Some(BigNum::of_uint(n, FULL)),
                Err(_) => Some(BigNum::of_int(i64::try_from(n).ok()?, FULL)),
            },
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other).is_some_and(Ordering::is_eq)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(n) => n.fmt(f),
            Number::Float(n) => n.fmt(f),
            Number::Big(n) => f.write_str(&n.to_text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::*;

    #[test]
    fn numbers_compare_exactly() {
        let whole = |n: i128| Number::Whole(n);
        let big = |text: &str| Number::Big(BigNum::parse(text).expect(text));
        for (a, b, wanted) in [
            (whole(i128::from(u64::MAX)), Number::Float(18_446_744_073_709_551_616.0), Some(Less)),
            (Number::Float(9_007_199_254_740_992.0), whole(9_007_199_254_740_993), Some(Less)),
            (Number::Float(0.5), whole(0), Some(Greater)),
            (Number::Float(-0.5), whole(0), Some(Less)),
            (Number::Float(-0.0), whole(0), Some(Equal)),
            (Number::Float(f64::INFINITY), whole(1), Some(Greater)),
            (Number::Float(-1e300), whole(i128::from(i64::MIN)), Some(Less)),
            (Number::Float(f64::NAN), whole(1), None),
            (big("0.1"), Number::Float(0.1), Some(Less)),
            (big("18446744073709551616"), whole(i128::from(u64::MAX)), Some(Greater)),
            (big("-2.50"), Number::Float(-2.5), Some(Equal)),
            (big("1e400"), Number::Float(f64::NAN), None),
        ] {
            assert_eq!(a.compare(b), wanted, "{a:?} {b:?}");
            assert_eq!(b.compare(a), wanted.map(Ordering::reverse), "{b:?} {a:?}");
        }
    }

    #[test]
    fn multiples_are_those_of_decimals() {
        let float = |n: f64| Number::Float(n);
        for (number, factor, wanted) in [
            (float(0.3), float(0.1), true),
            (float(1.1), float(0.01), true),
            (float(0.35), float(0.1), false),
            (Number::Whole(7), float(3.5), true),
            (Number::Whole(7), Number::Whole(2), false),
            (float(1e308), float(0.5), true),
            (float(1e-7), float(1e-8), true),
            (float(4.5), Number::Whole(1), false),
        ] {
            assert_eq!(number.is_multiple_of(factor), wanted, "{number} {factor}");
        }
    }

    #[test]
    fn numbers_are_data_again() {
        for data in [Data::Int(i64::MIN), Data::Uint(u64::MAX), Data::Int(0), Data::Float(0.5)] {
            assert_eq!(Number::of_data(&data).map(Number::to_data), Some(data));
        }
    }
}
