//! Splats.

use super::intrinsics::paid_type;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::evaluation::{has_errors, is_faulty};
use crate::dialect::hcl::values::types::shallow_type;
use crate::function::{Cx, Subject};
use crate::value::{Refinement, Type, Value};

/// Returns `true` if a splat iterates over values of this type. Any other value is its only item.
fn is_sequence(ty: &Type<'_>) -> bool {
    matches!(ty, Type::Tuple(_) | Type::List(_) | Type::Set(_))
}

/// Returns the items of a splat. The items of an unknown collection are unknown.
pub(super) fn splat_source<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[source, Value::Int(from)] = args else { return Err(cx.arity()) };
    let plain = source.unmarked().0;
    let ty = shallow_type(cx, plain);
    let nothing = || cx.list(&[]);
    if has_errors(cx, from, i64::MAX) || ty == Type::Dynamic {
        return nothing();
    }
    if source.is_null() {
        if is_sequence(&ty) {
            let error = Diagnostic::new(Code::NotIterable, "Splat of null value")
                .with_detail("A null list, set or tuple has no elements");
            cx.note_error(error, Subject::Part(0));
        }
        return nothing();
    }
    match (ty, plain.elements()) {
        (_, Some(elements)) if !elements.is_empty() => cx.list(elements),
        (Type::List(element) | Type::Set(element), _) => cx.list(&[cx.arena().unknown(*element)]),
        (Type::Tuple(_), Some(_)) => nothing(),
        (Type::Tuple(elements), None) => {
            let unknown: Vec<_> = elements.iter().map(|element| cx.arena().unknown(*element)).collect();
            cx.list(&unknown)
        }
        _ => cx.list(&[source]),
    }
}

/// Returns `true` if all values are of type `ty`.
fn are_all_of<'v>(cx: &Cx<'v>, values: &[Value<'v>], ty: &Type<'v>) -> Result<bool> {
    for value in values {
        if paid_type(cx, *value)? != *ty {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the value of a splat.
pub(super) fn splat<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[items, source, Value::Int(from), Value::Int(items_from)] = args else { return Err(cx.arity()) };
    let (plain, own) = source.unmarked();
    let (ty, arena) = (shallow_type(cx, plain), cx.arena());
    if has_errors(cx, from, items_from) {
        return Ok(arena.faulty(Type::Dynamic));
    }
    if source.is_null() {
        return Ok(if is_sequence(&ty) { arena.faulty(Type::Dynamic) } else { arena.marked(items, own) });
    }
    if ty == Type::Dynamic {
        return Ok(arena.marked(arena.unknown(Type::Dynamic), own));
    }
    let made = items.as_list().unwrap_or(&[]);
    let is_list = matches!(ty, Type::List(_) | Type::Set(_));
    let result = || match made.first() {
        Some(first) if is_list => Ok(arena.list_type(paid_type(cx, *first)?)),
        _ => paid_type(cx, items),
    };
    if is_sequence(&ty) && !plain.is_known() {
        let refinement = plain.as_unknown().map_or(Refinement::NONE, |unknown| unknown.refinement);
        let refinement = match (is_list, refinement) {
            (true, Refinement { len_least, len_most, .. }) => {
                Refinement { len_least, len_most, ..Refinement::NOT_NULL }
            }
            _ => Refinement::NOT_NULL,
        };
        return Ok(arena.marked(arena.refined(result()?, refinement), own));
    }
    let may_be_null = plain.as_unknown().is_some_and(|unknown| !unknown.refinement.not_null);
    if !is_sequence(&ty) && may_be_null {
        return Ok(arena.marked(arena.unknown(Type::Dynamic), own));
    }
    if has_errors(cx, items_from, i64::MAX) || made.iter().any(|item| is_faulty(*item)) {
        return Ok(arena.faulty(result()?));
    }
    let empty = plain.elements().is_some_and(<[_]>::is_empty);
    Ok(match result()? {
        ty @ Type::List(_) if empty => arena.marked(arena.typed(ty, cx.list(&[])?), own),
        Type::List(element) if !are_all_of(cx, made, element)? => {
            let error = Diagnostic::new(Code::TypeMismatch, "Invalid nested splat expressions")
                .with_detail("The elements of the list have different types")
                .with_help("use a `for` expression, which makes a tuple");
            cx.note_error(error, Subject::Part(0));
            arena.faulty(Type::Dynamic)
        }
        ty @ Type::List(_) => arena.marked(arena.typed(ty, items), own),
        _ => arena.marked(items, own),
    })
}
