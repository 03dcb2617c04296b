//! The parts of `for` expressions and splats that are more than a loop.

use super::core::{had_errors, limit, paid_type, place};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::semantics::{faulty, noted, union};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::types;
use crate::function::{Cx, Note, Noted, Subject};
use crate::value::{Extended, Refinement, Type, Unknown, Value};

/// Notes that a question has no answer.
fn unanswered(cx: &Cx<'_>) {
    cx.note(Noted::Unanswered);
}

/// Notes an error because of which a question has no answer: where another has none already, it is dropped.
fn unanswerable(cx: &Cx<'_>, summary: &str, detail: impl Into<String>, subject: Subject) {
    unanswered(cx);
    cx.note_error(Diagnostic::new(Code::TypeMismatch, summary).with_detail(detail), subject);
    cx.note(Noted::Unanswered);
}

/// Whether a loop can go over `value`; where not, why is noted.
pub(crate) fn iterable<'v>(cx: &Cx<'v>, value: Value<'v>, subject: Subject) -> Result<bool> {
    if value.is_null() {
        let error = Diagnostic::new(Code::NotIterable, "Iteration over null value")
            .with_detail("The collection of a `for` expression cannot be null");
        cx.note_error(error, subject);
        unanswered(cx);
        return Ok(false);
    }
    let (plain, own) = value.unmarked();
    if !own.is_empty() {
        cx.note(Noted::Marks(own));
    }
    let ty = match plain.extended() {
        Some(Extended::Unknown(Unknown { ty, .. })) => *ty,
        _ if plain.elements().is_some() || plain.entries().is_some() => return Ok(true),
        _ => plain.type_in(cx.arena()),
    };
    unanswered(cx);
    let could_be =
        matches!(ty, Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Tuple(_) | Type::Object(_));
    if !could_be {
        let error = Diagnostic::new(Code::NotIterable, "Iteration over non-iterable value")
            .with_detail(format!("A `for` expression cannot go over a {}", types::name(&ty)));
        cx.note_error(error, subject);
    }
    Ok(false)
}

pub(super) fn ready<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[collection] = args else { return Err(cx.arity()) };
    iterable(cx, collection, Subject::Part(0)).map(Value::Bool)
}

pub(super) fn rehearsal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[condition, Value::Int(from)] = args else { return Err(cx.arity()) };
    let failed = had_errors(cx, from, i64::MAX);
    let fits = if condition.is_null() {
        let error = Diagnostic::new(Code::TypeMismatch, "Condition is null")
            .with_detail("What is behind `if` must be true or false");
        cx.note_error(error, Subject::Part(0));
        false
    } else {
        noted(cx, convert(cx, condition, &Type::Bool), "Invalid 'for' condition", Subject::Part(0))?.is_some()
    };
    // What the rehearsal did not answer does not count.
    let notes = cx.notes().take(place(from));
    cx.notes().put(notes.into_iter().filter(|note| matches!(note.what, Noted::Error(..))));
    if failed || !fits {
        unanswered(cx);
    }
    Ok(Value::Bool(fits && !failed))
}

/// The answer of a condition. Where it has none, that is noted, and the answer is no.
pub(crate) fn answer<'v>(cx: &Cx<'v>, given: Value<'v>, subject: Subject) -> Result<bool> {
    if let Value::Bool(truth) = given {
        return Ok(truth);
    }
    if given.is_null() {
        unanswerable(cx, "Invalid 'for' condition", "The condition is null; it must be true or false", subject);
        return Ok(false);
    }
    match convert(cx, given, &Type::Bool) {
        Ok(value) => {
            let (value, own) = value.unmarked();
            if !own.is_empty() {
                cx.note(Noted::Marks(own));
            }
            if !value.is_known() {
                unanswered(cx);
            }
            Ok(matches!(value, Value::Bool(true)))
        }
        Err(fault) => {
            if let Some(why) = limit::<()>(Err(fault.clone())).map(|_| fault_text(&fault))? {
                unanswerable(cx, "Invalid 'for' condition", why, subject);
            }
            Ok(false)
        }
    }
}

fn fault_text(fault: &crate::function::Fault) -> Option<String> {
    match fault {
        crate::function::Fault::Wrong(wrong) => Some(wrong.message.clone()),
        crate::function::Fault::Limit(_) => None,
    }
}

pub(super) fn key<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[given] = args else { return Err(cx.arity()) };
    if let Value::Str(_) = given {
        return Ok(given);
    }
    let subject = Subject::Part(0);
    if given.is_null() {
        unanswerable(cx, "Invalid object key", "A key cannot be null", subject);
        return Ok(Value::Undefined);
    }
    if !given.is_known() {
        unanswered(cx);
        return Ok(Value::Undefined);
    }
    match convert(cx, given, &Type::String) {
        Ok(value) => {
            let (value, own) = value.unmarked();
            if !own.is_empty() {
                cx.note(Noted::Marks(own));
            }
            Ok(value)
        }
        Err(fault) => {
            limit::<()>(Err(fault.clone()))?;
            unanswerable(cx, "Invalid object key", fault_text(&fault).unwrap_or_default(), subject);
            Ok(Value::Undefined)
        }
    }
}

/// What a loop's notes say of its result.
struct Findings<'v> {
    /// Whether every question had an answer.
    known: bool,
    failed: bool,
    marks: &'v [&'v str],
}

/// Takes what was noted for the loop that began at place `from`: its errors stay. Of several errors because of which
/// questions had no answer only the first does.
fn settle<'v>(cx: &Cx<'v>, from: i64) -> Findings<'v> {
    let mut findings = Findings { known: true, failed: false, marks: &[] };
    if cx.notes().count() <= place(from) {
        return findings;
    }
    let mut kept: Vec<Note<'v>> = Vec::new();
    let mut notes = cx.notes().take(place(from)).into_iter().peekable();
    while let Some(note) = notes.next() {
        match note.what {
            Noted::Marks(own) => findings.marks = union(cx, findings.marks, own),
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
    /// The result of the loop, where it has one.
    fn result(&self, cx: &Cx<'v>, value: impl FnOnce() -> Result<Value<'v>>) -> Result<Value<'v>> {
        match (self.known, self.failed) {
            (true, _) => Ok(cx.arena().marked(value()?, self.marks)),
            (false, true) => Ok(cx.arena().marked(cx.arena().faulty(Type::Dynamic), self.marks)),
            (false, false) => Ok(cx.arena().marked(cx.arena().unknown(Type::Dynamic), self.marks)),
        }
    }
}

pub(super) fn tuple<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[items, Value::Int(from), _] = args else { return Err(cx.arity()) };
    settle(cx, from).result(cx, || Ok(items))
}

pub(super) fn object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list), Value::Int(from), _] = args else { return Err(cx.arity()) };
    let findings = settle(cx, from);
    let mut entries: indexmap::IndexMap<&str, Value<'v>> = indexmap::IndexMap::new();
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

pub(super) fn groups<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list), Value::Int(from), _] = args else { return Err(cx.arity()) };
    let mut groups: indexmap::IndexMap<&str, Vec<Value<'v>>> = indexmap::IndexMap::new();
    for &[key, value] in list.items().as_chunks::<2>().0 {
        groups.entry(key.as_str().unwrap_or("")).or_default().push(value);
    }
    settle(cx, from).result(cx, || {
        let entries: Result<Vec<_>> = groups.into_iter().map(|(key, values)| Ok((key, cx.list(&values)?))).collect();
        cx.map(&entries?)
    })
}

/// Whether a splat goes over the elements of a value of this type; over any other it goes as its only element.
fn is_sequence(ty: &Type<'_>) -> bool {
    matches!(ty, Type::Tuple(_) | Type::List(_) | Type::Set(_))
}

/// The type of a value, as far as a splat asks.
fn kind<'v>(cx: &Cx<'v>, value: Value<'v>) -> Type<'v> {
    match value.extended() {
        Some(Extended::Typed(ty, _) | Extended::Null(ty)) => *ty,
        Some(Extended::Unknown(unknown)) => unknown.ty,
        _ if value.as_list().is_some() => Type::Tuple(&[]),
        _ if value.as_map().is_some() => Type::Object(&[]),
        _ => value.type_in(cx.arena()),
    }
}

pub(super) fn splat_source<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[source, Value::Int(from)] = args else { return Err(cx.arity()) };
    let plain = source.unmarked().0;
    let ty = kind(cx, plain);
    let nothing = || cx.list(&[]);
    if had_errors(cx, from, i64::MAX) || ty == Type::Dynamic {
        return nothing();
    }
    if source.is_null() {
        if is_sequence(&ty) {
            let error = Diagnostic::new(Code::NotIterable, "Splat of null value")
                .with_detail("A sequence that is null has no elements");
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

/// Whether all of `values` are of type `ty`.
fn all_of<'v>(cx: &Cx<'v>, values: &[Value<'v>], ty: &Type<'v>) -> Result<bool> {
    for value in values {
        if paid_type(cx, *value)? != *ty {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn splat<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[items, source, Value::Int(from), Value::Int(items_from)] = args else { return Err(cx.arity()) };
    let (plain, own) = source.unmarked();
    let (ty, arena) = (kind(cx, plain), cx.arena());
    if had_errors(cx, from, items_from) {
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
        let (len_least, len_most) = (refinement.len_least, refinement.len_most);
        let known =
            if is_list { Refinement { len_least, len_most, ..Refinement::NOT_NULL } } else { Refinement::NOT_NULL };
        return Ok(arena.marked(arena.refined(result()?, known), own));
    }
    let may_be_null = plain.as_unknown().is_some_and(|unknown| !unknown.refinement.not_null);
    if !is_sequence(&ty) && may_be_null {
        return Ok(arena.marked(arena.unknown(Type::Dynamic), own));
    }
    if had_errors(cx, items_from, i64::MAX) || made.iter().any(|item| faulty(*item)) {
        return Ok(arena.faulty(result()?));
    }
    let empty = plain.elements().is_some_and(<[_]>::is_empty);
    Ok(match result()? {
        ty @ Type::List(_) if empty => arena.marked(arena.typed(ty, cx.list(&[])?), own),
        Type::List(element) if !all_of(cx, made, element)? => {
            let error = Diagnostic::new(Code::TypeMismatch, "Invalid nested splat expressions")
                .with_detail("The elements have different types, so they make no list")
                .with_help("a `for` expression makes a tuple of them");
            cx.note_error(error, Subject::Part(0));
            arena.faulty(Type::Dynamic)
        }
        ty @ Type::List(_) => arena.marked(arena.typed(ty, items), own),
        _ => arena.marked(items, own),
    })
}
