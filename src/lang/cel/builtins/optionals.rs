//! Optional values.

use crate::values::errors::{bad_argument, no_such_overload};
use crate::values::{access, as_optional, empty_optional, optional_of};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// The library `optional`.
    pub static TABLE:
    "optional.of", "Makes an optional of a value." ["optional.of(1).value()" => "1"]
        | "optional_of" (V) -> (optional V) = optional_of;
    "optional.none", "Makes an optional without a value." ["optional.none().hasValue()" => "false"]
        | "optional_none" () -> (optional V) = empty_optional;
    "optional.ofNonZeroValue", "Makes an optional of a value; without a value for the zero value of a type: null, false, 0, an empty string, list or map."
        ["optional.ofNonZeroValue('').hasValue()" => "false", "optional.ofNonZeroValue(optional.none()).hasValue()" => "true", "optional.ofNonZeroValue('a').value()" => "'a'"]
        | "optional_ofNonZeroValue" (V) -> (optional V) = of_non_zero;
    "optional.unwrap", "Returns the values of a list of optionals, without the empty ones."
        ["optional.unwrap([optional.of(1), optional.none()])" => "[1]"]
        | "optional_unwrap" ((list (optional V))) -> (list V) = unwrap;
    "unwrapOpt", "Returns the values of a list of optionals, without the empty ones."
        ["[optional.of(1), optional.none()].unwrapOpt()" => "[1]"]
        | "optional_unwrapOpt" member ((list (optional V))) -> (list V) = unwrap;
    "hasValue", "Returns `true` if an optional holds a value." ["optional.of(1).hasValue()" => "true"]
        | "optional_hasValue" member ((optional V)) -> Bool = has_value;
    "value", "Returns the value that an optional holds." ["optional.of(1).value()" => "1", "optional.none().value()" => "E0403"]
        | "optional_value" member ((optional V)) -> V = value;
    "or", "Returns the first of two optionals that holds a value." ["optional.none().or(optional.of(1)).value()" => "1", "optional.none().or(null)" => "null"]
        | "optional_or_optional" member ((optional V), (optional V)) -> (optional V) = or;
    "orValue", "Returns the value that an optional holds, or else the argument." ["optional.none().orValue(1)" => "1"]
        | "optional_orValue_value" member ((optional V), V) -> V = or_value;
    "first", "Returns an optional of the first element." ["[1, 2].first().value()" => "1", "[].first().hasValue()" => "false"]
        | "list_first" member ((list V)) -> (optional V) = first;
    "last", "Returns an optional of the last element." ["[1, 2].last().value()" => "2"]
        | "list_last" member ((list V)) -> (optional V) = last;
    "_?._", "Returns an optional of a field." ["{'a': 1}.?a.value()" => "1", "{'a': 1}.?b.hasValue()" => "false"]
        | "select_optional_field" (Dyn, String) -> (optional V) = access::select_optional;
    "_[?_]", "Returns an optional of an element or entry."
        ["[1][?0].value()" => "1", "[1][?1].hasValue()" => "false", "{1: 'a'}[?1].value()" => "'a'"]
        | "list_optindex_optional_int" ((list V), Int) -> (optional V) = access::index_optional;
        | "optional_list_optindex_optional_int" ((optional (list V)), Int) -> (optional V) = access::index_optional;
        | "map_optindex_optional_value" ((map K V), K) -> (optional V) = access::index_optional;
        | "optional_map_optindex_optional_value" ((optional (map K V)), K) -> (optional V) = access::index_optional;
    "_[_]", "Returns an optional of the element of the value that an optional holds." ["optional.of([1])[0].value()" => "1"]
        | "optional_list_index_int" ((optional (list V)), Int) -> (optional V) = access::index_optional;
        | "optional_map_index_value" ((optional (map K V)), K) -> (optional V) = access::index_optional;
}

/// Returns the value that an optional holds, if any.
fn held<'v>(optional: Value<'v>) -> Option<Value<'v>> {
    as_optional(optional).filter(|held| !held.is_undefined())
}

fn of_non_zero<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if access::is_zero(value) { empty_optional(cx) } else { optional_of(cx, value) }
}

fn unwrap<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    cx.charge(size_of_val(list))?;
    let mut values = Vec::new();
    for item in list {
        match as_optional(*item) {
            Some(Value::Undefined) => {}
            Some(value) => values.push(value),
            None => return Err(no_such_overload("optional.unwrap", false, &[*item])),
        }
    }
    Ok(values)
}

fn has_value(optional: Value<'_>) -> bool {
    held(optional).is_some()
}

fn value<'v>(optional: Value<'v>) -> Result<Value<'v>> {
    held(optional).ok_or_else(|| {
        bad_argument("optional.none() dereference").with_help("ask `hasValue()` first, or use `orValue(…)`")
    })
}

fn or<'v>(a: Value<'v>, b: Value<'v>) -> Value<'v> {
    if matches!(as_optional(a), Some(Value::Undefined)) { b } else { a }
}

fn or_value<'v>(optional: Value<'v>, otherwise: Value<'v>) -> Value<'v> {
    held(optional).unwrap_or(otherwise)
}

fn first<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Value<'v>> {
    optional_of(cx, list.first().copied().unwrap_or_default())
}

fn last<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Value<'v>> {
    optional_of(cx, list.last().copied().unwrap_or_default())
}
