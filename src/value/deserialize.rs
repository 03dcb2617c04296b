//! Reads any deserializer directly into an arena, borrowing text where possible.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Value;
use super::input_builder::{InputBuilder, OpenMap};
use super::outline::Place;
use crate::visit_scalars;

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
