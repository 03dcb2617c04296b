//! Access to the items of lists and the entries of maps.

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::{Coerce, Misfit, Step, ValueDeserializer};
use crate::Value;
use crate::output::{Key, MapEntries};

/// Access to the items of a list.
pub(super) struct Items<'v, C> {
    items: &'v [Value<'v>],
    at: usize,
    language: C,
}

impl<'v, C: Coerce<'v>> Items<'v, C> {
    pub fn new(items: &'v [Value<'v>], language: C) -> Self {
        Self { items, at: 0, language }
    }

    /// Returns the number of items not yet requested.
    pub fn left(&self) -> usize {
        self.items.len() - self.at
    }
}

impl<'v, C: Coerce<'v>> SeqAccess<'v> for &mut Items<'v, C> {
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
pub(super) struct Entries<'v, C> {
    entries: MapEntries<'v>,
    /// The entry whose key was returned last.
    last: Option<(Key<'v>, Value<'v>)>,
    language: C,
}

impl<'v, C: Coerce<'v>> Entries<'v, C> {
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

impl<'v, C: Coerce<'v>> MapAccess<'v> for Entries<'v, C> {
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
