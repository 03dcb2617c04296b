//! Helpers of the collection functions: checks of arguments, elements, and marks of results.

use crate::dialect::hcl::values::sets::is_set;
use crate::dialect::hcl::values::types::{name, shallow_type, type_of};
use crate::dialect::hcl::values::{Outcome, is_wholly_known, number_of};
use crate::function::Cx;
use crate::value::{Extended, Type, Value};

/// Returns `true` if `value`, which may be unknown, is a list or tuple.
pub(super) fn is_sequence<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    matches!(shallow_type(cx, value), Type::List(_) | Type::Tuple(_))
}

/// Returns `true` if `value`, which may be unknown, is a list, tuple or set.
pub(super) fn has_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    is_sequence(cx, value) || is_set(value)
}

/// Returns the name of the type of `value`, for messages.
pub(super) fn type_name<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    Ok(name(&type_of(cx, value)?))
}

/// Returns `value` as a 64-bit integer.
pub(super) fn to_i64(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(n) => Some(n),
        value => number_of(value)?.to_i64(),
    }
}

/// The message for an index or a size that is not a 64-bit integer.
pub(super) const WHOLE: &str = "a whole number of 64 bits is required";

/// Returns the elements of a known list, set or tuple.
pub(super) fn items<'v>(value: Value<'v>) -> &'v [Value<'v>] {
    value.elements().unwrap_or(&[])
}

/// Adds the outer marks of each of `from` to `value`.
pub(super) fn marked_as<'v>(cx: &Cx<'v>, value: Value<'v>, from: &[Value<'v>]) -> Value<'v> {
    from.iter().fold(value, |value, from| cx.arena().marked(value, from.unmarked().1))
}

/// Returns the element type of a list, set or map type, or the dynamic type.
pub(super) fn element_of<'v>(ty: &Type<'v>) -> Type<'v> {
    ty.element().copied().unwrap_or(Type::Dynamic)
}

/// Returns the element type of a known list, and `None` for any other value.
pub(super) fn type_of_list<'v>(value: Value<'v>) -> Option<Type<'v>> {
    match value.unmarked().0.extended() {
        Some(Extended::Typed(Type::List(element), _)) => Some(**element),
        _ => None,
    }
}

/// Returns `true` if the length of a list, set or tuple is known. Unknown elements of a set may turn out to be equal.
pub(super) fn length_is_known<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<bool> {
    match value.elements() {
        None => Ok(false),
        Some(items) => Ok(!is_set(value) || items.len() == 1 || is_wholly_known(cx, value)?),
    }
}

/// Returns `true` if `value` is known to be true.
pub(super) fn is_true(value: Value<'_>) -> bool {
    matches!(value.unmarked().0, Value::Bool(true))
}
