//! JSON in strings, read into the arena of a render.

use std::cell::RefCell;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::context::Cx;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_value::{Value, visit_scalars};

impl<'v> Cx<'v> {
    /// Reads JSON, charging for each value. The inner error is a syntax error.
    pub fn json(&self, json: &str) -> Result<serde_json::Result<Value<'v>>> {
        self.spend(json.len() as u64 / 8)?;
        let limit = RefCell::new(None);
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let read = JsonValue { cx: self, limit: &limit }.deserialize(&mut deserializer);
        let read = read.and_then(|value| deserializer.end().map(|()| value));
        limit.into_inner().map_or(Ok(read), Err)
    }
}

/// Deserializes values, charging each as it is made.
#[derive(Clone, Copy)]
struct JsonValue<'a, 'v> {
    cx: &'a Cx<'v>,
    /// The limit that was reached.
    limit: &'a RefCell<Option<Box<Diagnostic>>>,
}

impl JsonValue<'_, '_> {
    /// Keeps the error of a limit, and stops the deserializer.
    fn stop<T, E: Error>(self, made: Result<T>) -> std::result::Result<T, E> {
        made.map_err(|error| {
            *self.limit.borrow_mut() = Some(error);
            E::custom("a limit was reached")
        })
    }
}

impl<'de, 'v> DeserializeSeed<'de> for JsonValue<'_, 'v> {
    type Value = Value<'v>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value<'v>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'v> Visitor<'de> for JsonValue<'_, 'v> {
    type Value = Value<'v>;

    visit_scalars!(Value);

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Value<'v>, E> {
        self.stop(self.cx.text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value<'v>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.stop(self.cx.charge(size_of::<Value>()))?;
            list.push(item);
        }
        self.stop(self.cx.list(&list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Value<'v>, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.stop(self.cx.charge(key.len() + 2 * size_of::<Value>()))?;
            map.push((self.cx.arena().copy_str(&key), entries.next_value_seed(self)?));
        }
        self.stop(self.cx.map(&map))
    }
}
