//! Functions that map comprehensions call.

use crate::values::maps;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library `comprehensions`. Sources cannot write the name of its function.
    pub static TABLE:
    "cel.@mapInsert": "Adds an entry, or the entries of another map, to a map. A duplicate key is an error."
        ["[1, 2].transformMap(i, v, v)" => "{0: 1, 1: 2}", "[1, 1].transformMapEntry(i, v, {v: i})" => "E0403"]
        fn "@mapInsert_map_key_value" ((map K V), K, V) -> (map K V) = insert;
        fn "@mapInsert_map_map" ((map K V), (map K V)) -> (map K V) = insert_all;
}

fn insert<'v>(cx: &Cx<'v>, map: Value<'v>, key: Value<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let (mut keys, mut values) = maps::pairs(cx, map)?.unwrap_or_default();
    keys.push(key);
    values.push(value);
    maps::map(cx, &keys, &values)
}

fn insert_all<'v>(cx: &Cx<'v>, map: Value<'v>, more: Value<'v>) -> Result<Value<'v>> {
    maps::joined(cx, &[map, more]).map(Option::unwrap_or_default)
}
