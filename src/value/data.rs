//! The owned form of a value: what is read from input files, merged, and handed out by a render.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A map of [`Data`] that keeps the order of insertion.
pub type DataMap = IndexMap<String, Data>;

/// A value that owns everything it holds.
///
/// Integers that fit `i64` are always [`Data::Int`]; [`Data::Uint`] holds only what is larger.
///
/// ```
/// use dropforge::value::Data;
/// let data: Data = serde_json::from_str(r#"{"b": [1, 2.5], "a": null}"#).unwrap();
/// assert_eq!(data.get("b").and_then(|b| b.index(0)), Some(&Data::Int(1)));
/// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"b":[1,2.5],"a":null}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Data {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number that fits 64 bits with sign.
    Int(i64),
    /// A whole number above `i64::MAX`.
    Uint(u64),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    List(Vec<Data>),
    /// A map from text, in order of insertion.
    Map(DataMap),
}

impl Data {
    /// The whole number `n`, as [`Data::Int`] where it fits.
    pub fn uint(n: u64) -> Data {
        i64::try_from(n).map_or(Data::Uint(n), Data::Int)
    }

    /// The value under `key`, where this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Data> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// The item at `at`, where this is a list that is long enough.
    pub fn index(&self, at: usize) -> Option<&Data> {
        match self {
            Data::List(items) => items.get(at),
            _ => None,
        }
    }

    /// The value at a dotted path of map keys: `cluster.env`.
    pub fn at_path(&self, path: &str) -> Option<&Data> {
        path.split('.').try_fold(self, |value, key| value.get(key))
    }

    /// The map, where this is one.
    pub fn as_map(&self) -> Option<&DataMap> {
        match self {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The map itself, where this is one.
    pub fn into_map(self) -> Option<DataMap> {
        match self {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The text, where this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Data::Str(text) => Some(text),
            _ => None,
        }
    }

    /// What kind of value this is, as a user says it.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Null => "null",
            Data::Bool(_) => "boolean",
            Data::Int(_) | Data::Uint(_) => "integer",
            Data::Float(_) => "number",
            Data::Str(_) => "string",
            Data::List(_) => "list",
            Data::Map(_) => "map",
        }
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Data::Null => serializer.serialize_unit(),
            Data::Bool(b) => serializer.serialize_bool(*b),
            Data::Int(n) => serializer.serialize_i64(*n),
            Data::Uint(n) => serializer.serialize_u64(*n),
            Data::Float(n) => serializer.serialize_f64(*n),
            Data::Str(text) => serializer.serialize_str(text),
            Data::List(items) => serializer.collect_seq(items),
            Data::Map(map) => serializer.collect_map(map),
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, text, a list or a map with text keys")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Data::deserialize(deserializer)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Data, E> {
        Ok(Data::Bool(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Data, E> {
        Ok(Data::Int(n))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Data, E> {
        Ok(Data::uint(n))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Data, E> {
        Ok(Data::Float(n))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Str(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Data, E> {
        Ok(Data::Str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Data::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
        let mut map = DataMap::new();
        while let Some((key, value)) = access.next_entry()? {
            map.insert(key, value);
        }
        Ok(Data::Map(map))
    }
}
