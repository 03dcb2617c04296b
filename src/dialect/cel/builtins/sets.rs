//! Lists as sets.

use super::{arguments, items};
use crate::diagnostics::Result;
use crate::dialect::cel::values::compare::equal;
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `sets`.
    pub static TABLE:
    "sets.contains": "Whether every element of the second list is in the first."
        ["sets.contains([1, 2, 3], [2, 2])" => "true", "sets.contains([1], [1, 2])" => "false", "sets.contains([], [])" => "true"] {
        "list_sets_contains_list" ((list T), (list T)) -> Bool = contains;
    }
    "sets.equivalent": "Whether each list has every element of the other."
        ["sets.equivalent([1, 2], [2, 1, 1])" => "true", "sets.equivalent([1], [1, 2])" => "false"] {
        "list_sets_equivalent_list" ((list T), (list T)) -> Bool = equivalent;
    }
    "sets.intersects": "Whether two lists have an element in common."
        ["sets.intersects([1, 2], [2, 3])" => "true", "sets.intersects([], [])" => "false"] {
        "list_sets_intersects_list" ((list T), (list T)) -> Bool = intersects;
    }
}

fn has<'v>(cx: &Cx<'v>, list: &[Value<'v>], wanted: Value<'v>) -> Result<bool> {
    for item in list {
        if equal(cx, *item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_all<'v>(cx: &Cx<'v>, list: &[Value<'v>], wanted: &[Value<'v>]) -> Result<bool> {
    for item in wanted {
        if !has(cx, list, *item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, wanted] = arguments(cx, given)?;
    has_all(cx, items(list), items(wanted)).map(Value::Bool)
}

fn equivalent<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    Ok(Value::Bool(has_all(cx, items(a), items(b))? && has_all(cx, items(b), items(a))?))
}

fn intersects<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    for item in items(a) {
        if has(cx, items(b), *item)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
