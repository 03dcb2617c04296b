//! `for` expressions: conditions, keys and results.

use indexmap::IndexMap;

use crate::evaluation::{
    has_errors, is_iterable, loop_value, mark_union, note_error, note_index, note_marks, note_unanswered, ok_or_note,
};
use crate::values::convert;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::{Cx, Note, Noted, Subject};
use dropforge_value::{Type, Value};

/// Returns `true` if a loop can iterate over values of the type of a value, known or not.
pub(super) fn for_ready<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[collection] = args else { return Err(cx.arity()) };
    Ok(Value::Bool(is_iterable(cx, collection, Subject::Part(0))))
}

/// Checks the value of a condition that was evaluated once with unknown loop variables. Over an unknown collection, the
/// loop ends here.
pub(super) fn for_rehearsal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[condition, Value::Int(from), collection] = args else { return Err(cx.arity()) };
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
    let checked = fits && !failed;
    if checked && !collection.is_known() {
        note_marks(cx, collection);
        note_marks(cx, condition);
    }
    if checked && collection.is_known() {
        return Ok(Value::Bool(true));
    }
    note_unanswered(cx);
    Ok(Value::Bool(false))
}

/// Converts a key to a string. The value is undefined if the key is unknown or does not convert.
pub(super) fn for_key<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[given] = args else { return Err(cx.arity()) };
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
