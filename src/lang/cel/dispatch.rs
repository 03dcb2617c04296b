//! Dispatch of calls: the overload of a function that takes the arguments.

use super::values::errors::no_such_overload;
use super::values::{type_name, written};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Builtin, Cx, Overload, Params, Ty};
use dropforge_value::{Extended, Value};

/// Calls `function`. The first argument is the receiver if the call is `member`.
///
/// # Errors
/// No overload takes the arguments, the error of its body, or a limit of the render.
#[inline]
pub fn call<'v>(cx: &Cx<'v>, function: &Builtin, member: bool, given: &[Value<'v>]) -> Result<Value<'v>> {
    match overload(function, member, given) {
        Some(overload) => (overload.body)(cx, given),
        None => Err(no_such_overload(&function.name, member, given)),
    }
}

/// Calls `function` with arguments of which some have a notation.
///
/// # Errors
/// The errors of [`call`].
#[cold]
pub(crate) fn call_plain<'v>(cx: &Cx<'v>, function: &Builtin, member: bool, given: &[Value<'v>]) -> Result<Value<'v>> {
    let plain = given.iter().map(|value| written::plain(cx, *value)).collect::<Result<Vec<_>>>()?;
    if overload(function, member, &plain).is_none()
        && let Some(floats) = written::with_floats(cx, given)?
        && overload(function, member, &floats).is_some()
    {
        return call(cx, function, member, &floats);
    }
    call(cx, function, member, &plain)
}

/// Returns the first overload of `function` that takes the arguments; if there is none, the first one that takes
/// collections with other elements, whose body then rejects them.
#[inline]
pub fn overload<'f>(function: &'f Builtin, member: bool, given: &[Value<'_>]) -> Option<&'f Overload> {
    let Params::Overloaded(overloads) = &function.params else { return None };
    let matching = overloads.iter().find(|overload| takes(overload, member, given, is_of));
    matching.or_else(|| by_kinds(overloads, member, given))
}

/// Returns the first overload that takes collections, whatever their elements.
#[cold]
fn by_kinds<'f>(overloads: &'f [Overload], member: bool, given: &[Value<'_>]) -> Option<&'f Overload> {
    overloads.iter().find(|overload| takes(overload, member, given, is_of_kind))
}

/// Returns `true` if `overload` takes arguments, each by `is_of`.
#[inline(always)]
fn takes(overload: &Overload, member: bool, given: &[Value<'_>], is_of: impl Fn(Value<'_>, &Ty) -> bool) -> bool {
    let params = overload.params;
    overload.member == member
        && params.len() == given.len()
        && params.iter().zip(given).all(|(param, value)| is_of(*value, param))
}

/// Returns `true` if a value has type `ty`, whatever the elements of a collection.
fn is_of_kind(value: Value<'_>, ty: &Ty) -> bool {
    match ty {
        Ty::List(_) => is_of(value, &Ty::List(&Ty::Dyn)),
        Ty::Map(..) => is_of(value, &Ty::Map(&Ty::Dyn, &Ty::Dyn)),
        Ty::Optional(_) => is_of(value, &Ty::Optional(&Ty::Dyn)),
        ty => is_of(value, ty),
    }
}

/// Returns `true` if a value has type `ty`. Only the first element of a collection is examined.
#[inline(always)]
pub fn is_of(value: Value<'_>, ty: &Ty) -> bool {
    match (ty, value) {
        (Ty::Dyn | Ty::Param(_), _)
        | (Ty::Null, Value::Null)
        | (Ty::Bool, Value::Bool(_))
        | (Ty::Int, Value::Int(_))
        | (Ty::Uint, Value::Uint(_))
        | (Ty::Double, Value::Float(_))
        | (Ty::String, Value::Str(_)) => true,
        (Ty::Null | Ty::Bool | Ty::Int | Ty::Uint | Ty::Double | Ty::String, _)
        | (_, Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) | Value::Str(_)) => false,
        _ => is_of_composite(value, ty),
    }
}

/// The slow path of [`is_of`]: composite and extended types.
#[inline(never)]
fn is_of_composite(value: Value<'_>, ty: &Ty) -> bool {
    let first = |values: &[Value<'_>], ty: &Ty| values.first().is_none_or(|value| is_of(*value, ty));
    match (ty, value, value.extended()) {
        (Ty::Bytes, _, Some(Extended::Bytes(_)))
        | (Ty::Timestamp, _, Some(Extended::Timestamp { .. }))
        | (Ty::Duration, _, Some(Extended::Duration(_)))
        | (Ty::Type(_), _, Some(Extended::Named(_))) => true,
        (Ty::List(element), Value::List(list), _) => first(list.items(), element),
        (Ty::Map(key, element), Value::Map(map), _) => {
            map.is_empty() || (matches!(key, Ty::Dyn | Ty::Param(_) | Ty::String) && first(map.values(), element))
        }
        (Ty::Map(key, element), _, Some(Extended::Entries(entries))) => {
            first(entries.keys(), key) && first(entries.values(), element)
        }
        (Ty::Optional(held), _, Some(Extended::Optional(value))) => value.is_undefined() || is_of(*value, held),
        (Ty::Opaque(name), _, Some(Extended::Capsule(_))) => type_name(value) == *name,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::{EXTENSIONS, STANDARD};
    use dropforge_machine::bytecode::ImportKind;
    use dropforge_machine::function::Registry;
    use dropforge_value::{Arena, Entries};

    fn chosen(function: &str, member: bool, given: &[Value<'_>]) -> Option<&'static str> {
        let registry = Registry::of(&[STANDARD, EXTENSIONS].concat());
        overload(registry.get(ImportKind::Function, function).unwrap(), member, given).map(|overload| overload.id)
    }

    #[test]
    fn what_the_arguments_are_decides() {
        let arena = Arena::new();
        let list = |items: &[Value<'_>]| -> Value<'_> {
            arena.list(
                &items
                    .iter()
                    .map(|item| match item {
                        Value::Int(n) => Value::Int(*n),
                        Value::Uint(n) => Value::Uint(*n),
                        _ => Value::Null,
                    })
                    .collect::<Vec<_>>(),
            )
        };
        let entries = arena.entries(Entries::new(&arena, &[Value::Int(1)], &[Value::Null]).unwrap());
        assert_eq!(chosen("_+_", false, &[Value::Int(1), Value::Int(1)]), Some("add_int64"));
        assert_eq!(chosen("_+_", false, &[Value::Uint(1), Value::Uint(1)]), Some("add_uint64"));
        assert_eq!(chosen("_+_", false, &[Value::Int(1), Value::Uint(1)]), None);
        assert_eq!(chosen("_+_", true, &[Value::Int(1), Value::Int(1)]), None);
        assert_eq!(chosen("size", false, &[entries]), Some("size_map"));
        assert_eq!(chosen("size", true, &[arena.map(&[])]), Some("map_size"));
        assert_eq!(chosen("sort", true, &[list(&[Value::Uint(1), Value::Int(2)])]), Some("list_uint_sort"));
        assert_eq!(chosen("sort", true, &[list(&[])]), Some("list_int_sort"));
        assert_eq!(chosen("size", false, &[]), None);
    }

    #[test]
    fn elements_that_do_not_fit_are_left_to_the_body() {
        let arena = Arena::new();
        let nulls = arena.list(&[Value::Null]);
        assert_eq!(chosen("sort", true, &[nulls]), Some("list_int_sort"));
        assert_eq!(chosen("flatten", true, &[arena.list(&[Value::Int(1)])]), Some("list_flatten"));
        let held = arena.extended(Extended::Optional(Value::Int(1)));
        assert_eq!(chosen("_[_]", false, &[held, Value::Int(0)]), Some("optional_list_index_int"));
        assert_eq!(chosen("flatten", true, &[Value::Null]), None);
    }
}
