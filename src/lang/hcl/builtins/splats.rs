//! Splats.

use super::intrinsics::paid_type;
use crate::evaluation::{as_faulty, has_errors, is_faulty, note_index};
use crate::values::shallow_type;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::{Cx, Subject};
use dropforge_value::{Refinement, Type, Value};

/// Returns `true` if a splat iterates over values of this type. Any other value is its only item.
fn is_sequence(ty: &Type<'_>) -> bool {
    matches!(ty, Type::Tuple(_) | Type::List(_) | Type::Set(_))
}

/// Returns the items of a splat for its first pass, and nothing for the second one. The items of an unknown collection
/// are unknown.
pub(super) fn splat_source<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[source, Value::Int(from)] = args else { return Err(cx.arity()) };
    cx.list(&[items(cx, source, from)?, Value::Undefined])
}

fn items<'v>(cx: &Cx<'v>, source: Value<'v>, from: i64) -> Result<Value<'v>> {
    let plain = source.unmarked().0;
    let ty = shallow_type(cx, plain);
    if has_errors(cx, from, i64::MAX) || ty == Type::Dynamic {
        return cx.list(&[]);
    }
    if source.is_null() {
        if is_sequence(&ty) {
            let error = Diagnostic::new(Code::NotIterable, "Splat of null value")
                .with_detail("A null list, set or tuple has no elements");
            cx.note_error(error, Subject::Part(0));
        }
        return cx.list(&[]);
    }
    match (is_sequence(&ty), plain.elements()) {
        (true, Some(elements)) => cx.list(elements),
        (true, None) => unknown_items(cx, plain),
        (false, _) => cx.list(&[source]),
    }
}

/// Returns an unknown value for each type that the items of a splat can have.
fn unknown_items<'v>(cx: &Cx<'v>, source: Value<'v>) -> Result<Value<'v>> {
    let types = match paid_type(cx, source)? {
        Type::List(element) | Type::Set(element) => vec![*element],
        Type::Tuple(elements) => elements.to_vec(),
        ty => vec![ty],
    };
    let unknown: Vec<_> = types.into_iter().map(|ty| cx.arena().unknown(ty)).collect();
    cx.list(&unknown)
}

/// Returns the items of the second pass: unknown ones if an item failed or a collection has none, otherwise none.
pub(super) fn splat_types<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[source, Value::Int(from), Value::Int(items_from)] = args else { return Err(cx.arity()) };
    let plain = source.unmarked().0;
    let empty = plain.elements().is_some_and(<[_]>::is_empty) && !matches!(plain, Value::List(_));
    let failed = has_errors(cx, items_from, i64::MAX);
    let is_final = !plain.is_known() && (is_sequence(&shallow_type(cx, plain)) || may_be_null(plain));
    if is_final || !(empty || failed) || source.is_null() || has_errors(cx, from, items_from) {
        return cx.list(&[]);
    }
    unknown_items(cx, plain)
}

fn may_be_null(value: Value<'_>) -> bool {
    value.as_unknown().is_some_and(|unknown| !unknown.refinement.not_null)
}

/// Returns the value of a splat from the results of its two passes, of which the second began with note `second`. The
/// errors of the second pass count only if the first one had none.
pub(super) fn splat<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(made), Value::List(passes), source, Value::Int(from), Value::Int(items_from), Value::Int(second)] =
        args
    else {
        return Err(cx.arity());
    };
    let (plain, own) = source.unmarked();
    let (ty, arena) = (shallow_type(cx, plain), cx.arena());
    if has_errors(cx, from, items_from) {
        return Ok(arena.faulty(Type::Dynamic));
    }
    if ty == Type::Dynamic && !source.is_null() {
        return Ok(arena.marked(arena.unknown(Type::Dynamic), own));
    }
    if has_errors(cx, items_from, second) {
        cx.notes().take(note_index(second));
    }
    let failed = has_errors(cx, items_from, i64::MAX);
    let items = passes.items().first().and_then(Value::elements).map_or(0, <[_]>::len);
    let (made, probes) = made.items().split_at(items.min(made.items().len()));
    let result = match (is_sequence(&ty), plain.is_known()) {
        (true, false) => unknown_result(cx, plain, &ty, made)?,
        (false, false) if may_be_null(plain) => arena.unknown(Type::Dynamic),
        _ if probes.is_empty() => return Ok(arena.marked(known_result(cx, &ty, made)?, own)),
        _ if failed && !made.is_empty() => arena.unknown(result_type(cx, &ty, probes)?),
        _ => arena.typed(result_type(cx, &ty, probes)?, cx.list(&[])?),
    };
    Ok(arena.marked(if failed { as_faulty(cx, result) } else { result }, own))
}

/// Returns the type of a splat over a value of type `ty` with these results.
fn result_type<'v>(cx: &Cx<'v>, ty: &Type<'v>, made: &[Value<'v>]) -> Result<Type<'v>> {
    Ok(match made.first() {
        Some(first) if matches!(ty, Type::List(_) | Type::Set(_)) => cx.arena().list_type(paid_type(cx, *first)?),
        _ => paid_type(cx, cx.list(made)?)?,
    })
}

/// Returns the value of a splat over an unknown collection.
fn unknown_result<'v>(cx: &Cx<'v>, plain: Value<'v>, ty: &Type<'v>, made: &[Value<'v>]) -> Result<Value<'v>> {
    let known = plain.as_unknown().map_or(Refinement::NONE, |unknown| unknown.refinement);
    let Refinement { len_least, len_most, .. } = known;
    let refinement = match ty {
        Type::Tuple(_) => Refinement::NOT_NULL,
        _ => Refinement { len_least, len_most, ..Refinement::NOT_NULL },
    };
    Ok(cx.arena().refined(result_type(cx, ty, made)?, refinement))
}

/// Returns the value of a splat whose results all count.
fn known_result<'v>(cx: &Cx<'v>, ty: &Type<'v>, made: &[Value<'v>]) -> Result<Value<'v>> {
    if !matches!(ty, Type::List(_) | Type::Set(_)) {
        return cx.list(made);
    }
    let mut common = Type::Dynamic;
    for value in made {
        let own = paid_type(cx, *value)?;
        if common != Type::Dynamic && own != Type::Dynamic && own != common {
            let error = Diagnostic::new(Code::TypeMismatch, "Invalid nested splat expressions")
                .with_detail("The elements of the list have different types")
                .with_help("use a `for` expression, which makes a tuple");
            cx.note_error(error, Subject::Part(0));
            return Ok(cx.arena().faulty(Type::Dynamic));
        }
        if common == Type::Dynamic {
            common = own;
        }
    }
    let elements: Vec<_> = made.iter().map(|value| element_of_type(cx, *value, common)).collect();
    Ok(cx.arena().typed(cx.arena().list_type(common), cx.list(&elements)?))
}

/// Returns a value as an element of a list: one of unknown type gets the type of the others.
fn element_of_type<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'v>) -> Value<'v> {
    let (plain, marks) = value.unmarked();
    let typed = match plain {
        Value::Null => cx.arena().null(ty),
        _ if shallow_type(cx, plain) != Type::Dynamic => return value,
        _ if is_faulty(plain) => cx.arena().faulty(ty),
        _ => cx.arena().unknown(ty),
    };
    cx.arena().marked(typed, marks)
}
