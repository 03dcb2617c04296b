//! Merged maps.

use crate::values::errors::no_such_overload;
use crate::values::maps::{entry, is_map, map, pairs};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library of merged maps.
    pub static TABLE:
    "merge": "Merges two maps. For a key of both, the value of the second map wins." ["{'a': 1, 'b': 1}.merge({'b': 2, 'c': 3})" => "{'a': 1, 'b': 2, 'c': 3}"]
        fn "map_merge" member ((map K Dyn), (map K Dyn)) -> (map K Dyn) = merge;
    "deepMerge": "Merges two maps, and the maps under a key of both. Otherwise the value of the second map wins."
        ["{'a': {'x': 1, 'y': [1]}}.deepMerge({'a': {'y': [2]}})" => "{'a': {'x': 1, 'y': [2]}}"]
        fn "map_deepMerge" member ((map K Dyn), (map K Dyn)) -> (map K Dyn) = deep_merge;
        fn "dyn_deepMerge" member (Dyn, Dyn) -> Dyn = deep_merge;
}

fn merge<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    merged(cx, a, b, &|_, value| Ok(value))
}

fn deep_merge<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    if is_map(a) && is_map(b) { deeply(cx, a, b) } else { Err(no_such_overload("deepMerge", true, &[a, b])) }
}

/// Merges maps recursively. The depth of values is limited.
fn deeply<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    merged(cx, a, b, &|old, new| if is_map(old) && is_map(new) { deeply(cx, old, new) } else { Ok(new) })
}

/// Merges two maps, and the two values of a key of both with `both`.
fn merged<'v>(
    cx: &Cx<'v>,
    a: Value<'v>,
    b: Value<'v>,
    both: &dyn Fn(Value<'v>, Value<'v>) -> Result<Value<'v>>,
) -> Result<Value<'v>> {
    let (mut keys, mut values) = pairs(cx, a)?.unwrap_or_default();
    for (key, value) in keys.iter().zip(&mut values) {
        if let Some(other) = entry(b, *key) {
            *value = both(*value, other)?;
        }
    }
    let (more_keys, more_values) = pairs(cx, b)?.unwrap_or_default();
    for (key, value) in more_keys.into_iter().zip(more_values) {
        if entry(a, key).is_none() {
            keys.push(key);
            values.push(value);
        }
    }
    map(cx, &keys, &values)
}
