//! Intrinsics: operations of the language that only lowering calls.
//!
//! Errors are notes. An intrinsic that reads the errors of its operands, or drops those of an operand that does not
//! count, gets the numbers of notes before its operands were evaluated.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::conditionals::conditional;
use super::loops::{for_groups, for_key, for_object, for_ready, for_rehearsal, for_tuple};
use super::splats::{splat, splat_source, splat_types};
use crate::evaluation::{
    as_faulty, contains_faulty, has_errors, interpolated, is_faulty, literal_number, mark_union, note_error, ok_or_note,
};
use crate::values::json::{Json, decode_type};
use crate::values::{convert, traverse, types};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::builtins;
use dropforge_machine::function::{Cx, Subject, fitting};
use dropforge_value::{Capsule, CapsuleContent, Extended, Type, Value};

builtins! {
    /// The intrinsics.
    pub(super) static INTRINSICS:
    intrinsic "dynamic" () = dynamic, "Returns an unknown value." [];
    intrinsic "number" (digits: Str) = number, "Returns the number of a literal." [];
    intrinsic "type" (json: Str) = type_of_json, "Returns the type of a type argument." [];
    intrinsic "ambiguous key" () = ambiguous_key, "Fails because of a key with steps." [];
    intrinsic "conditional" (from: Int, condition: Any, then_from: Int, then: Any, otherwise_from: Int, otherwise: Any) = conditional, "Selects one of two results." [];
    intrinsic "object" (entries: List) = object, "Makes an object of alternating keys and values." [];
    intrinsic "json object" (entries: List) = json_object, "Makes an object of the JSON syntax of alternating names and values." [];
    intrinsic "next step" (value: Any, key: Any) = next_step, "Returns an element, unless a step before it failed." [];
    intrinsic "failing" (value: Any, from: Int) = failing, "Returns an operand, or an unknown value if errors were noted." [];
    intrinsic "operand" (from: Int, value: Any) = operand, "Returns an operand, or an unknown value if errors were noted." [];
    intrinsic "part" (from: Int, value: Any) = part, "Returns a part of a template, or nothing if errors were noted." [];
    intrinsic "joined" (texts: Any) = joined, "Joins the strings of a tuple." [];
    intrinsic "for ready" (collection: Any) = for_ready, "Tests if a loop can iterate over a value." [];
    intrinsic "for rehearsal" (condition: Any, from: Int, collection: Any) = for_rehearsal, "Tests if a loop with a condition can begin." [];
    intrinsic "for key" (key: Any) = for_key, "Converts a key to a string." [];
    intrinsic "for tuple" (items: List, from: Int, collection: Any) = for_tuple, "Ends a loop that makes a tuple." [];
    intrinsic "for object" (entries: List, from: Int, collection: Any) = for_object, "Ends a loop that makes an object." [];
    intrinsic "for groups" (entries: List, from: Int, collection: Any) = for_groups, "Ends a loop that makes an object of tuples." [];
    intrinsic "splat source" (source: Any, from: Int) = splat_source, "Returns the items of a splat, and nothing for a second pass." [];
    intrinsic "splat types" (source: Any, from: Int, items_from: Int) = splat_types, "Returns the items of the second pass of a splat." [];
    intrinsic "splat" (made: List, passes: List, source: Any, from: Int, items_from: Int, second: Int) = splat, "Ends a splat." [];
}

/// Returns the type of a value. Shared parts are charged each time they occur.
pub(super) fn paid_type<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Type<'v>> {
    Ok(fitting(types::type_of(cx, value))?.unwrap_or(Type::Dynamic))
}

fn dynamic<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(cx.arena().unknown(Type::Dynamic))
}

fn number<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(digits)] = args else { return Err(cx.arity()) };
    cx.charge(digits.as_str().len())?;
    Ok(literal_number(cx, digits.as_str()))
}

fn type_of_json<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(json)] = args else { return Err(cx.arity()) };
    let Ok(json) = Json::read(json.as_str(), cx.limits().value_depth) else { return Err(cx.arity()) };
    let ty = fitting(decode_type(cx, &json))?.unwrap_or(Type::Dynamic);
    let capsule = Capsule { name: "type", id: 0, content: CapsuleContent::Type(ty) };
    Ok(cx.arena().extended(Extended::Capsule(capsule)))
}

fn ambiguous_key<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    let error = Diagnostic::new(Code::UnexpectedToken, "Ambiguous attribute key")
        .with_help("use parentheses for its value, or quotes for its text");
    cx.note_error(error, Subject::Whole);
    Ok(cx.arena().faulty(Type::Dynamic))
}

fn object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list)] = args else { return Err(cx.arity()) };
    let mut entries = Vec::with_capacity(list.items().len() / 2);
    let (mut known, mut failed, mut marks) = (true, false, &[][..]);
    for (at, &[key, value]) in (0..).zip(list.items().as_chunks::<2>().0) {
        failed |= contains_faulty(cx, value)?;
        if let Value::Str(key) = key {
            entries.push((key.as_str(), value));
            continue;
        }
        let (key, own) = key.unmarked();
        marks = mark_union(cx, marks, own);
        match object_key(cx, key, at)? {
            Some(Value::Str(key)) => entries.push((key.as_str(), value)),
            Some(_) => known = false,
            None => (known, failed) = (false, true),
        }
    }
    match (known, failed) {
        (true, _) => Ok(cx.arena().marked(cx.map(&entries)?, marks)),
        (false, true) => Ok(cx.arena().faulty(Type::Dynamic)),
        (false, false) => Ok(cx.arena().unknown(Type::Dynamic)),
    }
}

/// Converts the key of the entry at `at` to a string, which may be unknown.
fn object_key<'v>(cx: &Cx<'v>, key: Value<'v>, at: u32) -> Result<Option<Value<'v>>> {
    if is_faulty(key) {
        return Ok(None);
    }
    if key.is_null() {
        note_error(cx, "Null value as key", "A key cannot be null", Subject::Part(2 * at + 1));
        return Ok(None);
    }
    let key = ok_or_note(cx, convert(cx, key, &Type::String), "Incorrect key type", Subject::Part(2 * at))?;
    Ok(key.map(|key| key.unmarked().0))
}

fn next_step<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[value, key] = args else { return Err(cx.arity()) };
    if is_faulty(value) {
        return Ok(value);
    }
    let wrong = match fitting(traverse::index(cx, value, key))? {
        Some(Ok(element)) => return Ok(element),
        Some(Err(wrong)) => wrong,
        None => return Ok(cx.arena().faulty(Type::Dynamic)),
    };
    let error = Diagnostic::new(Code::BadIndex, wrong.summary).with_detail(wrong.detail);
    cx.note_error(error, Subject::Part(0));
    Ok(cx.arena().faulty(Type::Dynamic))
}

fn failing<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[value, Value::Int(from)] = args else { return Err(cx.arity()) };
    if !has_errors(cx, from, i64::MAX) {
        return Ok(value);
    }
    if !value.is_known() {
        return Ok(as_faulty(cx, value));
    }
    let ty = paid_type(cx, value)?;
    Ok(cx.arena().marked(cx.arena().faulty(ty), value.unmarked().1))
}

fn operand<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[from, value] = args else { return Err(cx.arity()) };
    failing(cx, &[value, from])
}

fn part<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::Int(from), value] = args else { return Err(cx.arity()) };
    if !has_errors(cx, from, i64::MAX) {
        return Ok(value);
    }
    if !value.is_known() {
        return Ok(as_faulty(cx, value));
    }
    // The text does not count, but a value without text is an error of its own.
    interpolated(cx, value, Subject::Part(0))?;
    Ok(Value::Undefined)
}

/// Joins the texts that a loop in a template made. With an unknown text, so is the result, which then has the marks of
/// the loop but not those of the texts. Without a loop that ended, it has no marks at all.
fn joined<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[texts] = args else { return Err(cx.arity()) };
    let (plain, loop_marks) = texts.unmarked();
    let unknown = |failed| match failed {
        true => cx.arena().faulty(Type::String),
        false => cx.arena().unknown(Type::String),
    };
    let Value::List(list) = plain else { return Ok(unknown(is_faulty(plain))) };
    let (mut text, mut failed, mut marks) = (String::new(), false, loop_marks);
    for item in list.items() {
        let (plain, own) = item.unmarked();
        if !plain.is_known() {
            return Ok(cx.arena().marked(unknown(failed || is_faulty(plain)), loop_marks));
        }
        match interpolated(cx, plain, Subject::Part(0))?.as_ref().and_then(Value::as_str) {
            Some(piece) => {
                cx.charge(piece.len())?;
                text.push_str(piece);
            }
            None => failed = true,
        }
        marks = mark_union(cx, marks, own);
    }
    Ok(cx.arena().marked(cx.text(&text)?, marks))
}

/// Makes an object of alternating names and values. A property whose name is not a string, or a duplicate, is an error
/// and left out. If a name is unknown, so is the object. Part `n` of the call is the name of property `n`.
pub(super) fn json_object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list)] = args else { return Err(cx.arity()) };
    let pairs = list.items().as_chunks::<2>().0;
    let (mut entries, mut indexes) = (Vec::with_capacity(pairs.len()), HashMap::with_capacity(pairs.len()));
    let (mut known, mut marks) = (true, &[][..]);
    for (at, &[name, value]) in (0..).zip(pairs) {
        let Some(name) = name_string(cx, name, at)? else { continue };
        let (name, own) = name.unmarked();
        marks = mark_union(cx, marks, own);
        let Some(name) = name.as_str() else {
            known = false;
            continue;
        };
        match indexes.entry(name) {
            Entry::Occupied(first) => note_duplicate(cx, name, *first.get(), at),
            Entry::Vacant(free) => {
                free.insert(at);
                entries.push((name, value));
            }
        }
    }
    if !known {
        return Ok(cx.arena().unknown(Type::Dynamic));
    }
    Ok(cx.arena().marked(cx.map(&entries)?, marks))
}

/// Converts the name of property `at` to a string, which may be unknown. Notes an error if that fails.
fn name_string<'v>(cx: &Cx<'v>, name: Value<'v>, at: u32) -> Result<Option<Value<'v>>> {
    let summary = "Invalid object key expression";
    let text = ok_or_note(cx, convert(cx, name, &Type::String), summary, Subject::Part(at))?;
    if text.is_some_and(|text| text.unmarked().0.is_null()) {
        note_error(cx, summary, "A key cannot be null", Subject::Part(at));
        return Ok(None);
    }
    Ok(text)
}

fn note_duplicate(cx: &Cx<'_>, name: &str, first: u32, at: u32) {
    let detail = format!("`{name}` is already set by property {} of the object", first + 1);
    let error = Diagnostic::new(Code::DuplicateDefinition, "Duplicate object attribute").with_detail(detail);
    cx.note_error(error, Subject::Part(at));
}
