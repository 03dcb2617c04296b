//! The deserializer of values, and access to the items of lists and the entries of maps.

use serde::de::value::{MapAccessDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::{Coerce, Misfit};
use crate::output::{Key, MapEntries};
use crate::{Extended, Step, Type, Value};
use dropforge_base::stdlib::bignum::BigNum;

/// A deserializer of a value by the rules of a language.
#[derive(Clone, Copy)]
pub struct ValueDeserializer<'v, C> {
    pub(super) value: Value<'v>,
    pub(super) language: C,
}

/// The result of a deserialization.
type Made<'v, V, C> = Result<V, <C as Coerce<'v>>::Error>;

impl<'v, C: Coerce<'v>> ValueDeserializer<'v, C> {
    /// Returns a deserializer of `value` by the rules of `language`.
    pub fn new(value: Value<'v>, language: C) -> Self {
        Self { value, language }
    }

    /// Returns a deserializer of another value in the same language.
    fn of(self, value: Value<'v>) -> Self {
        Self { value, ..self }
    }

    /// Converts the value to type `ty`.
    fn coerced(self, ty: Type<'static>) -> Result<Self, C::Error> {
        self.language.coerce(self.value, ty).map(|value| self.of(value))
    }

    /// Deserializes a marked value; errors do not reveal it.
    fn marked<T>(self, value: Value<'v>, work: impl FnOnce(Self) -> Made<'v, T, C>) -> Made<'v, T, C> {
        work(self.of(value)).map_err(Misfit::withheld)
    }

    fn items<V: Visitor<'v>>(self, items: &'v [Value<'v>], visitor: V) -> Made<'v, V::Value, C> {
        let mut access = ItemAccess::new(items, self.language);
        let made = visitor.visit_seq(&mut access)?;
        match access.left() {
            0 => Ok(made),
            left => {
                let wanted = format!("a list of {}", items.len() - left);
                Err(C::Error::custom(format_args!("expected {wanted}, found {} items", items.len())))
            }
        }
    }

    /// Returns the entries of a map.
    fn entries(self) -> Option<MapEntries<'v>> {
        match self.value {
            Value::Map(map) => Some(MapEntries::of(map, C::SORTED)),
            value => match value.extended()? {
                Extended::Entries(entries) => Some(MapEntries::keyed(entries)),
                Extended::Typed(_, value) | Extended::Written(value, _) | Extended::Optional(value) => {
                    self.of(*value).entries()
                }
                _ => None,
            },
        }
    }

    fn map<V: Visitor<'v>>(self, entries: MapEntries<'v>, visitor: V) -> Made<'v, V::Value, C> {
        visitor.visit_map(EntryAccess::new(entries, self.language))
    }

    fn extended<V: Visitor<'v>>(self, extended: &'v Extended<'v>, visitor: V) -> Made<'v, V::Value, C> {
        use serde::Deserializer as _;
        match extended {
            Extended::Null(_) => visitor.visit_unit(),
            Extended::Marked(value, _) => self.marked(*value, |inner| inner.deserialize_any(visitor)),
            Extended::Typed(_, value) | Extended::Optional(value) | Extended::Written(value, _) => {
                self.of(*value).deserialize_any(visitor)
            }
            Extended::Number(number) => visit_number(number, visitor),
            Extended::Sized(number) => self.of(number.plain()).deserialize_any(visitor),
            Extended::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Extended::Entries(entries) => self.map(MapEntries::keyed(entries), visitor),
            Extended::Named(name) => visitor.visit_borrowed_str(name),
            Extended::Unknown(_) => Err(C::Error::custom("the value is not known")),
            other => match other.plain_text() {
                Some(text) => visitor.visit_string(text.into_owned()),
                None => Err(C::Error::custom(format_args!("a {} is not a value of any Rust type", other.name()))),
            },
        }
    }

    /// Visits bytes as a sequence.
    fn bytes<V: Visitor<'v>>(bytes: &'v [u8], visitor: V) -> Made<'v, V::Value, C> {
        let mut items = SeqDeserializer::new(bytes.iter().copied());
        let made = visitor.visit_seq(&mut items)?;
        items.end().map(|()| made)
    }

    /// Returns the seconds and nanoseconds of a duration or timestamp, if `name` and `fields` are those of the standard
    /// library's type.
    fn time(self, name: &str, fields: &[&str]) -> Option<Result<(u64, u32), C::Error>> {
        const SECOND: i64 = 1_000_000_000;
        let (seconds, nanos) = match (name, fields, self.value.extended()?) {
            ("Duration", ["secs", "nanos"], Extended::Duration(nanos)) => {
                (nanos.div_euclid(SECOND), nanos.rem_euclid(SECOND))
            }
            ("SystemTime", ["secs_since_epoch", "nanos_since_epoch"], Extended::Timestamp { seconds, nanos }) => {
                (*seconds, i64::from(*nanos))
            }
            _ => return None,
        };
        let parts = u64::try_from(seconds).ok().zip(u32::try_from(nanos).ok());
        Some(parts.ok_or_else(|| C::Error::custom(format_args!("expected a {name}, found a negative one"))))
    }
}

/// Visits a number as the narrowest type that holds it.
fn visit_number<'v, V: Visitor<'v>, E: de::Error>(number: &BigNum, visitor: V) -> Result<V::Value, E> {
    let text = number.to_text();
    let float = number.to_f64().filter(|float| float.is_finite() || !number.is_finite());
    match (text.parse::<i64>(), text.parse::<u64>(), float) {
        (Ok(n), ..) => visitor.visit_i64(n),
        (_, Ok(n), _) => visitor.visit_u64(n),
        (.., Some(n)) => visitor.visit_f64(n),
        _ => Err(E::custom("the number is too large")),
    }
}

/// Methods for booleans, numbers and text.
macro_rules! scalars {
    ($($ty:expr => $($method:ident)*;)*) => {
        $($(fn $method<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            match self.value.extended() {
                Some(Extended::Marked(inner, _)) => self.marked(*inner, |inner| inner.$method(visitor)),
                _ => self.coerced($ty)?.deserialize_any(visitor),
            }
        })*)*
    };
}

/// Methods for sequences.
macro_rules! sequences {
    ($($method:ident($($arg:ident: $ty:ty),*);)*) => {
        $(fn $method<V: Visitor<'v>>(self, $($arg: $ty,)* visitor: V) -> Result<V::Value, Self::Error> {
            match self.value.extended() {
                Some(Extended::Bytes(bytes)) => Self::bytes(bytes, visitor),
                Some(Extended::Optional(held)) => self.of(*held).$method($($arg,)* visitor),
                Some(Extended::Marked(inner, _)) => self.marked(*inner, |inner| inner.$method($($arg,)* visitor)),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'v, C: Coerce<'v>> de::Deserializer<'v> for ValueDeserializer<'v, C> {
    type Error = C::Error;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.value {
            Value::Undefined | Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(truth),
            Value::Int(n) => visitor.visit_i64(n),
            Value::Uint(n) => visitor.visit_u64(n),
            Value::Float(n) => visitor.visit_f64(n),
            Value::Str(text) => visitor.visit_borrowed_str(text.as_str()),
            Value::List(list) => self.items(list.items(), visitor),
            Value::Map(map) => self.map(MapEntries::of(map, C::SORTED), visitor),
            Value::Extended(extension) => self.extended(extension.kind(), visitor),
        }
    }

    scalars! {
        Type::Bool => deserialize_bool;
        Type::Number =>
            deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
            deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64;
        Type::String => deserialize_char deserialize_str deserialize_string;
    }

    sequences! {
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
    }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match (self.value, self.value.extended()) {
            (Value::Undefined | Value::Null, _) | (_, Some(Extended::Null(_))) => visitor.visit_none(),
            (_, Some(Extended::Optional(Value::Undefined))) => visitor.visit_none(),
            (_, Some(Extended::Optional(held))) => visitor.visit_some(self.of(*held)),
            (_, Some(Extended::Marked(inner, _))) => self.marked(*inner, |inner| inner.deserialize_option(visitor)),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'v>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'v>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match (self.time(name, fields), self.value.extended()) {
            (Some(time), _) => {
                let (seconds, nanos) = time?;
                visitor.visit_seq(SeqDeserializer::new([seconds, u64::from(nanos)].into_iter()))
            }
            (None, Some(Extended::Optional(held))) => self.of(*held).deserialize_struct(name, fields, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    /// Deserializes an enum: a unit variant is its name, any other variant a map from its name to its content.
    fn deserialize_enum<V: Visitor<'v>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        if let Some(Extended::Marked(inner, _)) = self.value.extended() {
            return self.marked(*inner, |inner| inner.deserialize_enum(name, variants, visitor));
        }
        if let Some(entries) = self.entries() {
            return match entries.len() {
                1 => visitor.visit_enum(MapAccessDeserializer::new(EntryAccess::new(entries, self.language))),
                len => Err(C::Error::custom(format_args!("expected a variant and its value, found a map of {len}"))),
            };
        }
        match self.coerced(Type::String)?.value.as_str() {
            Some(text) => {
                let text: StrDeserializer<'_, C::Error> = text.into_deserializer();
                visitor.visit_enum(text)
            }
            None => Err(C::Error::custom(format_args!("expected a variant, found {}", self.value.kind()))),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! { <V: Visitor<'v>> bytes byte_buf unit unit_struct map identifier }
}

impl<'v, C: Coerce<'v>> IntoDeserializer<'v, C::Error> for ValueDeserializer<'v, C> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Access to the items of a list.
struct ItemAccess<'v, C> {
    items: &'v [Value<'v>],
    at: usize,
    language: C,
}

impl<'v, C: Coerce<'v>> ItemAccess<'v, C> {
    pub fn new(items: &'v [Value<'v>], language: C) -> Self {
        Self { items, at: 0, language }
    }

    /// Returns the number of items not yet requested.
    pub fn left(&self) -> usize {
        self.items.len() - self.at
    }
}

impl<'v, C: Coerce<'v>> SeqAccess<'v> for &mut ItemAccess<'v, C> {
    type Error = C::Error;

    fn next_element_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Result<Option<T::Value>, C::Error> {
        let Some(item) = self.items.get(self.at) else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        let item = seed.deserialize(ValueDeserializer::new(*item, self.language));
        item.map(Some).map_err(|error| error.within(Step::Index(at)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left())
    }
}

/// Access to the entries of a map.
struct EntryAccess<'v, C> {
    entries: MapEntries<'v>,
    /// The entry whose key was returned last.
    last: Option<(Key<'v>, Value<'v>)>,
    language: C,
}

impl<'v, C: Coerce<'v>> EntryAccess<'v, C> {
    pub fn new(entries: MapEntries<'v>, language: C) -> Self {
        Self { entries, last: None, language }
    }

    /// Prepends the last key to the path of an error.
    fn here(&self, error: C::Error) -> C::Error {
        match &self.last {
            Some((key, _)) => error.within(Step::Key(key.to_text().into_owned())),
            None => error,
        }
    }
}

impl<'v, C: Coerce<'v>> MapAccess<'v> for EntryAccess<'v, C> {
    type Error = C::Error;

    fn next_key_seed<K: DeserializeSeed<'v>>(&mut self, seed: K) -> Result<Option<K::Value>, C::Error> {
        self.last = self.entries.next();
        let Some((key, _)) = self.last else { return Ok(None) };
        seed.deserialize(KeyDeserializer { key, error: std::marker::PhantomData }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'v>>(&mut self, seed: V) -> Result<V::Value, C::Error> {
        let value = self.last.map(|(_, value)| value).unwrap_or_default();
        seed.deserialize(ValueDeserializer::new(value, self.language)).map_err(|error| self.here(error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A deserializer of keys.
struct KeyDeserializer<'v, E> {
    key: Key<'v>,
    error: std::marker::PhantomData<E>,
}

impl<'v, E: de::Error> KeyDeserializer<'v, E> {
    /// Visits the key as text.
    fn text<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, E> {
        match self.key {
            Key::Text(text) => visitor.visit_borrowed_str(text.as_str()),
            key => visitor.visit_string(key.to_text().into_owned()),
        }
    }
}

/// Methods for text types.
macro_rules! texts {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, E> { self.text(visitor) })*
    };
}

impl<'v, E: de::Error> de::Deserializer<'v> for KeyDeserializer<'v, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, E> {
        match self.key {
            Key::Text(text) => visitor.visit_borrowed_str(text.as_str()),
            Key::Null => visitor.visit_unit(),
            Key::Bool(truth) => visitor.visit_bool(truth),
            Key::Int(n) => visitor.visit_i64(n),
            Key::Uint(n) => visitor.visit_u64(n),
            Key::Float(n) => visitor.visit_f64(n),
        }
    }

    // Names of fields and variants are text: a number must not select a field by its index.
    texts! { deserialize_str deserialize_string deserialize_char deserialize_identifier }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'v>>(self, _: &'static str, visitor: V) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'v>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        let text = self.key.to_text();
        let text: StrDeserializer<'_, E> = text.as_ref().into_deserializer();
        visitor.visit_enum(text)
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'v>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct ignored_any
    }
}
