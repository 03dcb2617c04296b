//! `for` expressions (conditions, keys and results) and splats.

use indexmap::IndexMap;

use super::intrinsics::paid_type;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::evaluation::{
    has_errors, is_faulty, is_iterable, loop_value, mark_union, note_error, note_index, note_unanswered, ok_or_note,
};
use crate::dialect::hcl::values::{convert, shallow_type};
use crate::function::{Cx, Note, Noted, Subject};
use crate::value::{Refinement, Type, Value};

/// Returns `true` if a loop can iterate over a value.
pub(super) fn for_ready<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[collection] = args else { return Err(cx.arity()) };
    Ok(Value::Bool(is_iterable(cx, collection, Subject::Part(0))))
}

/// Checks the value of a condition that was evaluated once with unknown loop variables.
pub(super) fn for_rehearsal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[condition, Value::Int(from)] = args else { return Err(cx.arity()) };
    let failed = has_errors(cx, from, i64::MAX);
    let fits = if condition.is_null() {
        note_error(cx, "Condition is null", "The condition behind `if` must be true or false", Subject::Part(0));
        false
    } else {
        ok_or_note(cx, convert(cx, condition, &Type::Bool), "Invalid 'for' condition", Subject::Part(0))?.is_some()
    };
    // Unknown answers of the rehearsal do not count.
    let notes = cx.notes().take(note_index(from));
    cx.notes().put(notes.into_iter().filter(|note| matches!(note.what, Noted::Error(..))));
    if failed || !fits {
        note_unanswered(cx);
    }
    Ok(Value::Bool(fits && !failed))
}

/// Converts a key to a string. The value is undefined if the key is unknown or does not convert.
pub(super) fn for_key<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[given] = args else { return Err(cx.arity()) };
    if let Value::Str(_) = given {
        return Ok(given);
    }
    if !given.is_known() {
        note_unanswered(cx);
        return Ok(Value::Undefined);
    }
    let messages = ["Invalid object key", "A key cannot be null"];
    Ok(loop_value(cx, given, &Type::String, messages, Subject::Part(0))?.unwrap_or(Value::Undefined))
}

/// The result of a loop's notes.
struct Findings<'v> {
    /// `true` if all conditions and keys are known.
    known: bool,
    failed: bool,
    marks: &'v [&'v str],
}

/// Takes the notes of a loop since `from`, except errors. Of several errors that made conditions and keys unknown, only
/// the first stays.
fn settle<'v>(cx: &Cx<'v>, from: i64) -> Findings<'v> {
    let mut findings = Findings { known: true, failed: false, marks: &[] };
    if cx.notes().count() <= note_index(from) {
        return findings;
    }
    let mut kept: Vec<Note<'v>> = Vec::new();
    let mut notes = cx.notes().take(note_index(from)).into_iter().peekable();
    while let Some(note) = notes.next() {
        match note.what {
            Noted::Marks(own) => findings.marks = mark_union(cx, findings.marks, own),
            Noted::Error(..) => kept.push(note),
            Noted::Unanswered => {
                let at = note.at;
                let reason = notes.next_if(|next| next.at == at && matches!(next.what, Noted::Error(..)));
                let closed = reason.is_some()
                    && notes.next_if(|next| next.at == at && matches!(next.what, Noted::Unanswered)).is_some();
                kept.extend(reason.filter(|_| !closed || findings.known));
                findings.known = false;
            }
        }
    }
    findings.failed = kept.iter().any(|note| matches!(note.what, Noted::Error(..)));
    cx.notes().put(kept);
    findings
}

impl<'v> Findings<'v> {
    /// Returns the value of the loop, or the recovery value.
    fn result(&self, cx: &Cx<'v>, value: impl FnOnce() -> Result<Value<'v>>) -> Result<Value<'v>> {
        let value = match (self.known, self.failed) {
            (true, _) => value()?,
            (false, true) => cx.arena().faulty(Type::Dynamic),
            (false, false) => cx.arena().unknown(Type::Dynamic),
        };
        Ok(cx.arena().marked(value, self.marks))
    }
}

/// Returns the tuple of a loop.
pub(super) fn for_tuple<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[items, Value::Int(from), _] = args else { return Err(cx.arity()) };
    settle(cx, from).result(cx, || Ok(items))
}

/// Returns the object of a loop. Duplicate keys are errors.
pub(super) fn for_object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list), Value::Int(from), _] = args else { return Err(cx.arity()) };
    let findings = settle(cx, from);
    let mut entries: IndexMap<&str, Value<'v>> = IndexMap::new();
    for &[key, value] in list.items().as_chunks::<2>().0 {
        let key = key.as_str().unwrap_or("");
        if entries.contains_key(key) {
            let error = Diagnostic::new(Code::DuplicateDefinition, "Duplicate object key")
                .with_detail(format!("Two elements have the key `{key}`"))
                .with_help("write `...` behind the value to gather the values of a key in a tuple");
            cx.note_error(error, Subject::Part(1));
        } else {
            entries.insert(key, value);
        }
    }
    findings.result(cx, || cx.map(&entries.into_iter().collect::<Vec<_>>()))
}

/// Returns the object of a loop that gathers the values of a key in a tuple.
pub(super) fn for_groups<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list), Value::Int(from), _] = args else { return Err(cx.arity()) };
    let mut groups: IndexMap<&str, Vec<Value<'v>>> = IndexMap::new();
    for &[key, value] in list.items().as_chunks::<2>().0 {
        groups.entry(key.as_str().unwrap_or("")).or_default().push(value);
    }
    settle(cx, from).result(cx, || {
        let entries: Result<Vec<_>> = groups.into_iter().map(|(key, values)| Ok((key, cx.list(&values)?))).collect();
        cx.map(&entries?)
    })
}

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
