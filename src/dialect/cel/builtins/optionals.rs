//! Optional values.

use super::{arguments, items, text};
use crate::diagnostics::Result;
use crate::dialect::cel::values::errors::{bad_argument, no_such_overload};
use crate::dialect::cel::values::{access, as_optional, optional};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `optional`.
    pub static TABLE:
    "optional.of": "An optional of a value." ["optional.of(1).value()" => "1"] {
        "optional_of" (V) -> (optional V) = of;
    }
    "optional.none": "An optional of nothing." ["optional.none().hasValue()" => "false"] {
        "optional_none" () -> (optional V) = none;
    }
    "optional.ofNonZeroValue": "An optional of a value, or of nothing where it is its type's zero: null, false, 0, empty."
        ["optional.ofNonZeroValue('').hasValue()" => "false", "optional.ofNonZeroValue('a').value()" => "'a'"] {
        "optional_ofNonZeroValue" (V) -> (optional V) = of_non_zero;
    }
    "optional.unwrap": "What the optionals of a list hold, without those that hold nothing."
        ["optional.unwrap([optional.of(1), optional.none()])" => "[1]"] {
        "optional_unwrap" ((list (optional V))) -> (list V) = unwrap;
    }
    "unwrapOpt": "What the optionals of a list hold, without those that hold nothing."
        ["[optional.of(1), optional.none()].unwrapOpt()" => "[1]"] {
        "optional_unwrapOpt" member ((list (optional V))) -> (list V) = unwrap;
    }
    "hasValue": "Whether an optional holds something." ["optional.of(1).hasValue()" => "true"] {
        "optional_hasValue" member ((optional V)) -> Bool = has_value;
    }
    "value": "What an optional holds." ["optional.of(1).value()" => "1", "optional.none().value()" => "E0403"] {
        "optional_value" member ((optional V)) -> V = value;
    }
    "or": "The first of two optionals that holds something." ["optional.none().or(optional.of(1)).value()" => "1"] {
        "optional_or_optional" member ((optional V), (optional V)) -> (optional V) = or;
    }
    "orValue": "What an optional holds, or else this value." ["optional.none().orValue(1)" => "1"] {
        "optional_orValue_value" member ((optional V), V) -> V = or_value;
    }
    "first": "An optional of the first element." ["[1, 2].first().value()" => "1", "[].first().hasValue()" => "false"] {
        "list_first" member ((list V)) -> (optional V) = first;
    }
    "last": "An optional of the last element." ["[1, 2].last().value()" => "2"] {
        "list_last" member ((list V)) -> (optional V) = last;
    }
    "_?._": "An optional of a field." ["{'a': 1}.?a.value()" => "1", "{'a': 1}.?b.hasValue()" => "false"] {
        "select_optional_field" (Dyn, String) -> (optional V) = select;
    }
    "_[?_]": "An optional of an element or entry." ["[1][?0].value()" => "1", "[1][?1].hasValue()" => "false", "{1: 'a'}[?1].value()" => "'a'"] {
        "list_optindex_optional_int" ((list V), Int) -> (optional V) = index;
        "optional_list_optindex_optional_int" ((optional (list V)), Int) -> (optional V) = index;
        "map_optindex_optional_value" ((map K V), K) -> (optional V) = index;
        "optional_map_optindex_optional_value" ((optional (map K V)), K) -> (optional V) = index;
    }
    "_[_]": "The element of what an optional holds, as an optional." ["optional.of([1])[0].value()" => "1"] {
        "optional_list_index_int" ((optional (list V)), Int) -> (optional V) = index;
        "optional_map_index_value" ((optional (map K V)), K) -> (optional V) = index;
    }
}

fn of<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    optional::of(cx, value)
}

fn none<'v>(cx: &Cx<'v>, _given: &[Value<'v>]) -> Result<Value<'v>> {
    optional::none(cx)
}

fn of_non_zero<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    if access::is_zero(value) { optional::none(cx) } else { optional::of(cx, value) }
}

fn unwrap<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    cx.charge(size_of_val(items(list)))?;
    let mut held = Vec::new();
    for item in items(list) {
        match as_optional(*item) {
            Some(Value::Undefined) => {}
            Some(value) => held.push(value),
            None => return Err(no_such_overload("optional.unwrap", false, &[*item])),
        }
    }
    cx.list(&held)
}

fn has_value<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    Ok(Value::Bool(as_optional(value).is_some_and(|held| !held.is_undefined())))
}

fn value<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    as_optional(value).filter(|held| !held.is_undefined()).ok_or_else(|| {
        bad_argument("optional.none() dereference").with_help("ask `hasValue()` first, or use `orValue(…)`")
    })
}

fn or<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    Ok(if matches!(as_optional(a), Some(Value::Undefined)) { b } else { a })
}

fn or_value<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    Ok(as_optional(a).filter(|held| !held.is_undefined()).unwrap_or(b))
}

fn first<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    optional::of(cx, items(list).first().copied().unwrap_or_default())
}

fn last<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    optional::of(cx, items(list).last().copied().unwrap_or_default())
}

fn select<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, field] = arguments(cx, given)?;
    optional::select(cx, value, text(field))
}

fn index<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, at] = arguments(cx, given)?;
    optional::index(cx, value, at)
}
