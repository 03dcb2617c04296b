//! JSON in strings.

use std::cell::RefCell;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::cel::values::errors::bad_argument;
use crate::function::Cx;
use crate::overloads;
use crate::value::{JsonStyle, Value, visit_scalars, write_json};

overloads! {
    /// The library `json`.
    pub static TABLE:
    "json.marshal": "Encodes a value as JSON, with sorted keys." ["json.marshal({'b': [1, 1.5, null], 'a': 'x'})" => "'{\"a\":\"x\",\"b\":[1,1.5,null]}'"]
        fn "json.marshal_dyn" (Dyn) -> String = marshal;
    "json.unmarshal": "Decodes JSON. Integers have the type `int`."
        ["json.unmarshal('{\"a\": [1, 1.5]}').a" => "[1, 1.5]", "json.unmarshal('{')" => "E0403"]
        fn "json.unmarshal_string" (String) -> Dyn = unmarshal;
}

fn marshal<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<String> {
    let (mut json, mut charged) = (String::new(), 0);
    write_json(value, JsonStyle::Compact, &mut json, &mut |len| {
        cx.charge(len.saturating_sub(charged))?;
        charged = charged.max(len);
        cx.spend(1)
    })?;
    Ok(json)
}

fn unmarshal<'v>(cx: &Cx<'v>, json: &'v str) -> Result<Value<'v>> {
    cx.spend(json.len() as u64 / 8)?;
    let limit = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = JsonValue { cx, limit: &limit }.deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| {
        let failed = || bad_argument(format!("json.unmarshal failed to parse JSON: {error}"));
        limit.into_inner().unwrap_or_else(failed)
    })
}

/// Deserialises values, charging each as it is made.
#[derive(Clone, Copy)]
struct JsonValue<'a, 'v> {
    cx: &'a Cx<'v>,
    /// The limit that was reached.
    limit: &'a RefCell<Option<Box<Diagnostic>>>,
}

impl JsonValue<'_, '_> {
    /// Keeps the error of a limit, and stops the deserialiser.
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
