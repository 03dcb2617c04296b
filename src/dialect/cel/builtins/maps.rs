//! What loops that make maps call.

use super::arguments;
use crate::diagnostics::Result;
use crate::dialect::cel::values::access;
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The function of the library `comprehensions`; no source can name it.
    pub static TABLE:
    "cel.@mapInsert": "A map with an entry more, or with those of another; a key that is there is an error."
        ["[1, 2].transformMap(i, v, v)" => "{0: 1, 1: 2}", "[1, 1].transformMapEntry(i, v, {v: i})" => "E0403"] {
        "@mapInsert_map_key_value" ((map K V), K, V) -> (map K V) = insert;
        "@mapInsert_map_map" ((map K V), (map K V)) -> (map K V) = insert_all;
    }
}

fn insert<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [map, key, value] = arguments(cx, given)?;
    let (mut keys, mut values) = access::pairs(cx, map)?.unwrap_or_default();
    keys.push(key);
    values.push(value);
    access::map(cx, &keys, &values)
}

fn insert_all<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [map, more] = arguments(cx, given)?;
    let (mut keys, mut values) = access::pairs(cx, map)?.unwrap_or_default();
    let (more_keys, more_values) = access::pairs(cx, more)?.unwrap_or_default();
    keys.extend(more_keys);
    values.extend(more_values);
    access::map(cx, &keys, &values)
}
