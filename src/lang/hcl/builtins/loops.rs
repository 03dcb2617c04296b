//! `for` expressions (conditions, keys and results) and splats.

use super::intrinsics::paid_type;
use crate::evaluation::{
    as_faulty, has_errors, is_faulty, is_iterable, loop_value, mark_union, note_error, note_index, note_marks,
    note_unanswered, ok_or_note,
};
use crate::values::{convert, shallow_type};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::{Cx, Note, Noted, Subject};
use dropforge_value::{Refinement, Type, Value};
use indexmap::IndexMap;

/// Returns `true` if a loop can iterate over values of the type of a value, known or not.
pub(super) fn for_ready<'v>(cx: &Cx<'v>, collection: Value<'v>) -> bool {
    is_iterable(cx, collection, Subject::Part(0))
}

/// Checks the value of a condition that was evaluated once with unknown loop variables. Over an unknown collection, the
/// loop ends here.
pub(super) fn for_rehearsal<'v>(cx: &Cx<'v>, condition: Value<'v>, from: i64, collection: Value<'v>) -> Result<bool> {
    let failed = has_errors(cx, from, i64::MAX);
    let fits = if condition.is_null() {
        note_error(cx, "Condition is null", "The condition after `if` must be true or false", Subject::Part(0));
        false
    } else {
        ok_or_note(cx, convert(cx, condition, &Type::Bool), "Invalid 'for' condition", Subject::Part(0))?.is_some()
    };
    // Unknown answers of the rehearsal do not count.
    let notes = cx.notes().take(note_index(from));
    cx.notes().put(notes.into_iter().filter(|note| matches!(note.what, Noted::Error(..))));
    let checked = fits && !failed;
    if checked && !collection.is_known() {
        note_marks(cx, collection);
        note_marks(cx, condition);
    }
    if checked && collection.is_known() {
        return Ok(true);
    }
    note_unanswered(cx);
    Ok(false)
}

/// Converts a key to a string. The value is undefined if the key is unknown or does not convert.
pub(super) fn for_key<'v>(cx: &Cx<'v>, given: Value<'v>) -> Result<Value<'v>> {
    if let Value::Str(_) = given {
        return Ok(given);
    }
    if !given.is_known() {
        note_marks(cx, given);
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
pub(super) fn for_tuple<'v>(cx: &Cx<'v>, items: Value<'v>, from: i64, _: Value<'v>) -> Result<Value<'v>> {
    settle(cx, from).result(cx, || Ok(items))
}

/// Returns the object of a loop. Duplicate keys are errors.
pub(super) fn for_object<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], from: i64, _: Value<'v>) -> Result<Value<'v>> {
    let findings = settle(cx, from);
    let mut entries: IndexMap<&str, Value<'v>> = IndexMap::new();
    for &[key, value] in list.as_chunks::<2>().0 {
        let key = key.as_str().unwrap_or("");
        if entries.contains_key(key) {
            let error = Diagnostic::new(Code::DuplicateDefinition, "Duplicate object key")
                .with_detail(format!("Two elements have the key `{key}`"))
                .with_help("write `...` after the value to gather the values of a key in a tuple");
            cx.note_error(error, Subject::Part(1));
        } else {
            entries.insert(key, value);
        }
    }
    findings.result(cx, || cx.map(&entries.into_iter().collect::<Vec<_>>()))
}

/// Returns the object of a loop that gathers the values of a key in a tuple.
pub(super) fn for_groups<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], from: i64, _: Value<'v>) -> Result<Value<'v>> {
    let mut groups: IndexMap<&str, Vec<Value<'v>>> = IndexMap::new();
    for &[key, value] in list.as_chunks::<2>().0 {
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

/// Returns the items of a splat for its first pass, and nothing for the second one. The items of an unknown collection
/// are unknown.
pub(super) fn splat_source<'v>(cx: &Cx<'v>, source: Value<'v>, from: i64) -> Result<Value<'v>> {
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
pub(super) fn splat_types<'v>(cx: &Cx<'v>, source: Value<'v>, from: i64, items_from: i64) -> Result<Value<'v>> {
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
pub(super) fn splat<'v>(
    cx: &Cx<'v>,
    made: &'v [Value<'v>],
    passes: &'v [Value<'v>],
    source: Value<'v>,
    from: i64,
    items_from: i64,
    second: i64,
) -> Result<Value<'v>> {
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
    let items = passes.first().and_then(Value::elements).map_or(0, <[_]>::len);
    let (made, probes) = made.split_at(items.min(made.len()));
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
