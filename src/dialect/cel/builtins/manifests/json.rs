//! JSON in texts.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::cel::builtins::{arguments, text};
use crate::dialect::cel::values::errors::bad_argument;
use crate::function::Cx;
use crate::overloads;
use crate::value::{JsonStyle, Value, write_json};

overloads! {
    /// The library of JSON.
    pub static TABLE:
    "json.marshal": "A value as JSON, the keys of maps in their order." ["json.marshal({'b': [1, 1.5, null], 'a': 'x'})" => "'{\"a\":\"x\",\"b\":[1,1.5,null]}'"] {
        "json.marshal_dyn" (Dyn) -> String = marshal;
    }
    "json.unmarshal": "The value that a text of JSON says; whole numbers are of type int."
        ["json.unmarshal('{\"a\": [1, 1.5]}').a" => "[1, 1.5]", "json.unmarshal('{')" => "E0403"] {
        "json.unmarshal_string" (String) -> Dyn = unmarshal;
    }
}

fn marshal<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    let (mut json, mut charged) = (String::new(), 0);
    write_json(value, JsonStyle::Compact, &mut json, &mut |len| {
        cx.charge(len.saturating_sub(charged))?;
        charged = charged.max(len);
        cx.spend(1)
    })?;
    cx.text(&json)
}

fn unmarshal<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [json] = arguments(cx, given)?.map(text);
    cx.spend(json.len() as u64 / 8)?;
    let limit = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = Reader { cx, limit: &limit }.deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| {
        let failed = || bad_argument(format!("json.unmarshal failed to parse JSON: {error}"));
        limit.into_inner().unwrap_or_else(failed)
    })
}

/// Makes values of what is read, each paid for as it is made.
#[derive(Clone, Copy)]
struct Reader<'a, 'v> {
    cx: &'a Cx<'v>,
    /// The limit that was met.
    limit: &'a RefCell<Option<Box<Diagnostic>>>,
}

impl Reader<'_, '_> {
    /// What was made, or the end of the reading where a limit was met.
    fn kept<T, E: Error>(self, made: Result<T>) -> std::result::Result<T, E> {
        made.map_err(|error| {
            *self.limit.borrow_mut() = Some(error);
            E::custom("a limit was met")
        })
    }
}

impl<'de, 'v> DeserializeSeed<'de> for Reader<'_, 'v> {
    type Value = Value<'v>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value<'v>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'v> Visitor<'de> for Reader<'_, 'v> {
    type Value = Value<'v>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> std::result::Result<Value<'v>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> std::result::Result<Value<'v>, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E: Error>(self, n: i64) -> std::result::Result<Value<'v>, E> {
        Ok(Value::Int(n))
    }

    fn visit_u64<E: Error>(self, n: u64) -> std::result::Result<Value<'v>, E> {
        Ok(i64::try_from(n).map_or(Value::Uint(n), Value::Int))
    }

    fn visit_f64<E: Error>(self, n: f64) -> std::result::Result<Value<'v>, E> {
        Ok(Value::Float(n))
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Value<'v>, E> {
        self.kept(self.cx.text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value<'v>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.kept(self.cx.charge(size_of::<Value>()))?;
            list.push(item);
        }
        self.kept(self.cx.list(&list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Value<'v>, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.kept(self.cx.charge(key.len() + 2 * size_of::<Value>()))?;
            map.push((self.cx.arena().copy_str(&key), entries.next_value_seed(self)?));
        }
        self.kept(self.cx.map(&map))
    }
}
