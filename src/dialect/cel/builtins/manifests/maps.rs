//! Maps put together.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::arguments;
use crate::dialect::cel::values::access::{entry, is_map, map, pairs};
use crate::dialect::cel::values::errors::no_such_overload;
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library of maps.
    pub static TABLE:
    "merge": "The entries of two maps; of a key that is in both the second's." ["{'a': 1, 'b': 1}.merge({'b': 2, 'c': 3})" => "{'a': 1, 'b': 2, 'c': 3}"] {
        "map_merge" member ((map K Dyn), (map K Dyn)) -> (map K Dyn) = merge;
    }
    "deepMerge": "The entries of two maps; of a key that is in both the two put together where both are maps, else the second's."
        ["{'a': {'x': 1, 'y': [1]}}.deepMerge({'a': {'y': [2]}})" => "{'a': {'x': 1, 'y': [2]}}"] {
        "map_deepMerge" member ((map K Dyn), (map K Dyn)) -> (map K Dyn) = deep_merge;
        "dyn_deepMerge" member (Dyn, Dyn) -> Dyn = deep_merge;
    }
}

fn merge<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    merged(cx, a, b, &|_, value| Ok(value))
}

fn deep_merge<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    if is_map(a) && is_map(b) { deeply(cx, a, b) } else { Err(no_such_overload("deepMerge", true, given)) }
}

/// Maps are no deeper than the limit.
fn deeply<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    merged(cx, a, b, &|old, new| if is_map(old) && is_map(new) { deeply(cx, old, new) } else { Ok(new) })
}

/// The entries of `a`, those that `b` has too as `both` puts them together, and the others of `b`.
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
