//! Lists as sets.

use crate::values::access::find;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library `sets`.
    pub static TABLE:
    "sets.contains": "Returns `true` if the first list contains every element of the second."
        ["sets.contains([1, 2, 3], [2, 2])" => "true", "sets.contains([1], [1, 2])" => "false", "sets.contains([], [])" => "true"]
        fn "list_sets_contains_list" ((list T), (list T)) -> Bool = contains;
    "sets.equivalent": "Returns `true` if each list contains every element of the other."
        ["sets.equivalent([1, 2], [2, 1, 1])" => "true", "sets.equivalent([1], [1, 2])" => "false"]
        fn "list_sets_equivalent_list" ((list T), (list T)) -> Bool = equivalent;
    "sets.intersects": "Returns `true` if the lists have an element in common."
        ["sets.intersects([1, 2], [2, 3])" => "true", "sets.intersects([], [])" => "false"]
        fn "list_sets_intersects_list" ((list T), (list T)) -> Bool = intersects;
}

/// Returns `true` if one of `items` is in `list`, or is not, as `wanted` says.
fn any<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], items: &[Value<'v>], wanted: bool) -> Result<bool> {
    for item in items {
        if find(cx, list.iter().enumerate(), *item)?.is_some() == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], items: &'v [Value<'v>]) -> Result<bool> {
    any(cx, list, items, false).map(|missing| !missing)
}

fn equivalent<'v>(cx: &Cx<'v>, a: &'v [Value<'v>], b: &'v [Value<'v>]) -> Result<bool> {
    Ok(contains(cx, a, b)? && contains(cx, b, a)?)
}

fn intersects<'v>(cx: &Cx<'v>, a: &'v [Value<'v>], b: &'v [Value<'v>]) -> Result<bool> {
    any(cx, b, a, true)
}
