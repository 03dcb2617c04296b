//! The owned form of a value: read from input files, merged, and returned by renders. Any deserializer is read as owned
//! data, or directly into an arena, borrowing text where possible.

use std::cell::Cell;
use std::fmt;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, Serializer};
use serde_json::value::RawValue;

use super::input_builder::{InputBuilder, OpenMap};
use super::json_lexer::has_long_numbers;
use super::long_numbers::is_whole;
use super::outline::Place;
use super::{Arena, Numbers, Shapes, Value};

/// A map of [`Data`] in insertion order.
pub type DataMap = IndexMap<String, Data, DefaultHashBuilder>;

/// An owned value.
///
/// Integers that fit `i64` are always [`Data::Int`]; [`Data::Uint`] holds only larger ones. Inputs may nest 128 levels;
/// conversions refuse deeper data.
///
/// ```
/// use dropforge::value::Data;
/// let data: Data = serde_json::from_str(r#"{"b": [1, 2.5], "a": null}"#).unwrap();
/// assert_eq!(data.get("b").and_then(|b| b.index(0)), Some(&Data::Int(1)));
/// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"b":[1,2.5],"a":null}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Data {
    /// Null.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// An integer above `i64::MAX`.
    Uint(u64),
    /// A 64-bit float.
    Float(f64),
    /// A number that none of these holds, in the notation of JSON: an integer beyond 64 bits, or a fraction or power with
    /// more digits than a float.
    Number(Box<str>),
    /// Text.
    Str(String),
    /// A list.
    List(Vec<Data>),
    /// A map with text keys, in insertion order.
    Map(DataMap),
}

impl Data {
    /// Returns the integer `n`, as a [`Data::Int`] if it fits.
    pub fn uint(n: u64) -> Data {
        i64::try_from(n).map_or(Data::Uint(n), Data::Int)
    }

    /// Returns the value under `key` of a map.
    pub fn get(&self, key: &str) -> Option<&Data> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// Returns the item at index `at` of a list.
    pub fn index(&self, at: usize) -> Option<&Data> {
        match self {
            Data::List(items) => items.get(at),
            _ => None,
        }
    }

    /// Returns the value at a dotted path of map keys: `cluster.env`.
    pub fn at_path(&self, path: &str) -> Option<&Data> {
        path.split('.').try_fold(self, |value, key| value.get(key))
    }

    /// Returns the items of a list.
    pub fn as_list(&self) -> Option<&[Data]> {
        match self {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the map of a [`Data::Map`].
    pub fn as_map(&self) -> Option<&DataMap> {
        match self {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the owned map of a [`Data::Map`].
    pub fn into_map(self) -> Option<DataMap> {
        self.try_into_map().ok()
    }

    /// Returns the owned map of a [`Data::Map`], or the value if it is something else.
    ///
    /// # Errors
    /// The value itself.
    pub fn try_into_map(mut self) -> Result<DataMap, Data> {
        match &mut self {
            Data::Map(map) => Ok(std::mem::take(map)),
            _ => Err(self),
        }
    }

    /// Returns the text of a [`Data::Str`].
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Data::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Null => "null",
            Data::Bool(_) => "boolean",
            Data::Int(_) | Data::Uint(_) => "integer",
            Data::Number(text) if is_whole(text) => "integer",
            Data::Float(_) | Data::Number(_) => "number",
            Data::Str(_) => "string",
            Data::List(_) => "list",
            Data::Map(_) => "map",
        }
    }
}

impl Data {
    const fn is_container(&self) -> bool {
        matches!(self, Data::List(_) | Data::Map(_))
    }

    /// Returns `true` for a list or map that contains another one.
    fn is_nested(&self) -> bool {
        match self {
            Data::List(items) => items.iter().any(Data::is_container),
            Data::Map(map) => map.values().any(Data::is_container),
            _ => false,
        }
    }

    /// Takes the items of a list or the values of a map.
    fn take_items(&mut self) -> OwnedItems {
        match self {
            Data::List(items) => OwnedItems::List(std::mem::take(items).into_iter()),
            Data::Map(map) => OwnedItems::Map(std::mem::take(map).into_values()),
            _ => OwnedItems::List(Vec::new().into_iter()),
        }
    }
}

/// The items of a list, or the values of a map.
enum OwnedItems {
    List(std::vec::IntoIter<Data>),
    Map(indexmap::map::IntoValues<String, Data>),
}

impl Iterator for OwnedItems {
    type Item = Data;

    fn next(&mut self) -> Option<Data> {
        match self {
            OwnedItems::List(items) => items.next(),
            OwnedItems::Map(values) => values.next(),
        }
    }
}

/// Drops nested data with a stack on the heap: data made by hand may have any depth.
impl Drop for Data {
    fn drop(&mut self) {
        if !self.is_nested() {
            return;
        }
        let mut open = vec![self.take_items()];
        while let Some(items) = open.last_mut() {
            match items.next() {
                Some(mut item) if item.is_nested() => open.push(item.take_items()),
                Some(_) => {}
                None => drop(open.pop()),
            }
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
            Data::Number(text) => match text.parse::<i128>() {
                Ok(n) => serializer.serialize_i128(n),
                Err(_) => RawValue::from_string(text.to_string()).map_err(ser::Error::custom)?.serialize(serializer),
            },
            Data::Str(text) => serializer.serialize_str(text),
            Data::List(items) => serializer.collect_seq(items),
            Data::Map(map) => serializer.collect_map(map),
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor { unique_keys: false, floats: None })
    }
}

impl Data {
    /// Reads a JSON value with all digits of its numbers, which `serde_json` alone would round. The last of the values of a
    /// key counts.
    ///
    /// ```
    /// use dropforge::value::Data;
    /// let data = Data::of_json(r#"{"id": 36893488147419103232}"#).unwrap();
    /// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"id":36893488147419103232}"#);
    /// ```
    ///
    /// # Errors
    /// Errors of `serde_json`.
    pub fn of_json(text: &str) -> serde_json::Result<Self> {
        Self::read_json(text, false)
    }

    /// Works like [`Data::of_json`]. A key that is given twice in a map is a data error at its second name.
    ///
    /// # Errors
    /// Errors of `serde_json`.
    pub fn of_json_with_unique_keys(text: &str) -> serde_json::Result<Self> {
        Self::read_json(text, true)
    }

    fn read_json(text: &str, unique_keys: bool) -> serde_json::Result<Self> {
        let (mut json, floats) = (serde_json::Deserializer::from_str(text), Cell::new(false));
        let data = DataVisitor { unique_keys, floats: Some(&floats) }.deserialize(&mut json)?;
        json.end()?;
        Ok(if floats.get() && has_long_numbers(text) { in_full(text).unwrap_or(data) } else { data })
    }
}

/// Reads valid JSON with all digits of its numbers.
#[cold]
fn in_full(text: &str) -> Option<Data> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let value = InputBuilder::new(&arena, &shapes).with_numbers(Numbers::Spelled).json(text);
    value.ok().map(|value| value.to_data())
}

/// The [`Visitor`] methods for scalars, which [`Data`] and [`Value`](super::Value) share.
#[macro_export]
#[doc(hidden)]
macro_rules! visit_scalars {
    ($values:ident) => {
        $crate::visit_scalars!($values, without floats);

        fn visit_f64<E>(self, n: f64) -> std::result::Result<Self::Value, E> {
            Ok($values::Float(n))
        }
    };
    ($values:ident, without floats) => {
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("null, a boolean, a number, text, a list or a map with text keys")
        }

        fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
            Ok($values::Null)
        }

        fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
            Ok($values::Null)
        }

        fn visit_bool<E>(self, b: bool) -> std::result::Result<Self::Value, E> {
            Ok($values::Bool(b))
        }

        fn visit_i64<E>(self, n: i64) -> std::result::Result<Self::Value, E> {
            Ok($values::Int(n))
        }

        fn visit_u64<E>(self, n: u64) -> std::result::Result<Self::Value, E> {
            Ok($values::uint(n))
        }
    };
}

#[derive(Clone, Copy)]
struct DataVisitor<'f> {
    /// Refuses a key that is given twice. Otherwise the last one wins.
    unique_keys: bool,
    /// Becomes `true` for data that has floats, which may be rounded.
    floats: Option<&'f Cell<bool>>,
}

impl<'de> DeserializeSeed<'de> for DataVisitor<'_> {
    type Value = Data;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DataVisitor<'_> {
    type Value = Data;

    crate::visit_scalars!(Data, without floats);

    fn visit_f64<E>(self, n: f64) -> Result<Data, E> {
        self.floats.inspect(|floats| floats.set(true));
        Ok(Data::Float(n))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Str(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Data, E> {
        Ok(Data::Str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Data::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
        let mut map = DataMap::default();
        while let Some(key) = access.next_key::<String>()? {
            match map.entry(key) {
                Entry::Occupied(known) if self.unique_keys => {
                    return Err(de::Error::custom(format!("the key `{}` is given twice", known.key())));
                }
                Entry::Occupied(mut known) => drop(known.insert(access.next_value_seed(self)?)),
                Entry::Vacant(new) => drop(new.insert(access.next_value_seed(self)?)),
            }
        }
        Ok(Data::Map(map))
    }
}

/// Reads the value at a place.
pub(super) struct Seed<'b, 'v, 'w>(pub &'b InputBuilder<'v, 'w>, pub Place<'b, 'w>);

impl<'de: 'v, 'v, 'w: 'v> DeserializeSeed<'de> for Seed<'_, 'v, 'w> {
    type Value = Value<'v>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value<'v>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de: 'v, 'v, 'w: 'v> Visitor<'de> for Seed<'_, 'v, 'w> {
    type Value = Value<'v>;

    visit_scalars!(Value);

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value<'v>, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Value<'v>, E> {
        Ok(self.0.arena().given_text(text))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Value<'v>, E> {
        Ok(self.0.arena().text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Value<'v>, A::Error> {
        let Seed(builder, place) = self;
        let (mark, item) = (builder.open(), builder.item(place));
        while let Some(value) = access.next_element_seed(Seed(builder, item))? {
            builder.push(value);
        }
        Ok(builder.close_list(mark))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> std::result::Result<Value<'v>, A::Error> {
        let Seed(builder, place) = self;
        let mut map = builder.open_map(place, &builder.scratch());
        while let Some(place) = access.next_key_seed(KeySeed(builder, &mut map))? {
            let value = access.next_value_seed(Seed(builder, place))?;
            builder.push(value);
        }
        Ok(builder.finish_map(map, &mut builder.scratch()))
    }
}

/// Reads a map key. Returns the place of its value.
struct KeySeed<'b, 'm, 'v, 'w>(&'b InputBuilder<'v, 'w>, &'m mut OpenMap<'w>);

impl<'de: 'v, 'v, 'w: 'v> DeserializeSeed<'de> for KeySeed<'_, '_, 'v, 'w> {
    type Value = Place<'w, 'w>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de: 'v, 'v, 'w: 'v> Visitor<'de> for KeySeed<'_, '_, 'v, 'w> {
    type Value = Place<'w, 'w>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> std::result::Result<Self::Value, E> {
        Ok(self.0.enter(self.1, key, |key| key))
    }

    fn visit_str<E: Error>(self, key: &str) -> std::result::Result<Self::Value, E> {
        Ok(self.0.enter(self.1, key, |key| self.0.arena().copy_str(key)))
    }
}
