//! Intrinsics: operations of the language that only lowering calls, such as conditionals.
//!
//! Errors are notes. An intrinsic that reads the errors of its operands, or drops those of an operand that does not
//! count, gets the numbers of notes before its operands were evaluated.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::loops::{
    for_groups, for_key, for_object, for_ready, for_rehearsal, for_tuple, splat, splat_source, splat_types,
};
use super::marked_as;
use crate::evaluation::{
    as_faulty, contains_faulty, drop_errors, has_errors, interpolated, is_faulty, literal_number, mark_union,
    note_error, note_index, ok_or_note,
};
use crate::values::json::{Json, decode_type};
use crate::values::{Refine, convert, elements, number_of, traverse, types, unify};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::{Cx, Outcome, Subject, fitting};
use dropforge_machine::functions;
use dropforge_value::{BigNum, Capsule, CapsuleContent, Extended, Refinement, Type, Value};

functions! {
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

fn dynamic<'v>(cx: &Cx<'v>) -> Value<'v> {
    cx.arena().unknown(Type::Dynamic)
}

fn number<'v>(cx: &Cx<'v>, digits: &'v str) -> Result<Value<'v>> {
    cx.charge(digits.len())?;
    Ok(literal_number(cx, digits))
}

fn type_of_json<'v>(cx: &Cx<'v>, json: &'v str) -> Result<Value<'v>> {
    let Ok(json) = Json::read(json, cx.limits().value_depth) else { return Err(cx.arity()) };
    let ty = fitting(decode_type(cx, &json))?.unwrap_or(Type::Dynamic);
    let capsule = Capsule { name: "type", id: 0, content: CapsuleContent::Type(ty) };
    Ok(cx.arena().extended(Extended::Capsule(capsule)))
}

fn ambiguous_key<'v>(cx: &Cx<'v>) -> Value<'v> {
    let error = Diagnostic::new(Code::UnexpectedToken, "Ambiguous attribute key")
        .with_help("use parentheses for its value, or quotes for its text");
    cx.note_error(error, Subject::Whole);
    cx.arena().faulty(Type::Dynamic)
}

fn object<'v>(cx: &Cx<'v>, entries: &'v [Value<'v>]) -> Result<Value<'v>> {
    let pairs = entries.as_chunks::<2>().0;
    let mut entries = Vec::with_capacity(pairs.len());
    let (mut known, mut failed, mut marks) = (true, false, &[][..]);
    for (at, &[key, value]) in (0..).zip(pairs) {
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

fn next_step<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Result<Value<'v>> {
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

fn failing<'v>(cx: &Cx<'v>, value: Value<'v>, from: i64) -> Result<Value<'v>> {
    if !has_errors(cx, from, i64::MAX) {
        return Ok(value);
    }
    if !value.is_known() {
        return Ok(as_faulty(cx, value));
    }
    let ty = paid_type(cx, value)?;
    Ok(cx.arena().marked(cx.arena().faulty(ty), value.unmarked().1))
}

fn operand<'v>(cx: &Cx<'v>, from: i64, value: Value<'v>) -> Result<Value<'v>> {
    failing(cx, value, from)
}

fn part<'v>(cx: &Cx<'v>, from: i64, value: Value<'v>) -> Result<Value<'v>> {
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
fn joined<'v>(cx: &Cx<'v>, texts: Value<'v>) -> Result<Value<'v>> {
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
fn json_object<'v>(cx: &Cx<'v>, entries: &'v [Value<'v>]) -> Result<Value<'v>> {
    let pairs = entries.as_chunks::<2>().0;
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

/// The summary of errors about the types of the results.
const INCONSISTENT: &str = "Inconsistent conditional result types";

/// Evaluates a conditional whose results are both evaluated. The errors of the other result are dropped.
pub(super) fn conditional<'v>(
    cx: &Cx<'v>,
    start: i64,
    condition: Value<'v>,
    then_from: i64,
    then: Value<'v>,
    otherwise_from: i64,
    otherwise: Value<'v>,
) -> Result<Value<'v>> {
    let from = [then_from, otherwise_from];
    if let Value::Bool(truth) = condition
        && are_of_one_primitive_type(then, otherwise)
    {
        drop_errors(cx, from, [truth, !truth]);
        return Ok(if truth { then } else { otherwise });
    }
    let Some(ty) = common_type(cx, then, otherwise)? else {
        // Not even the errors of the condition count.
        cx.notes().take(note_index(start));
        let difference = types::difference(&paid_type(cx, then)?, &paid_type(cx, otherwise)?);
        note_error(cx, INCONSISTENT, difference, Subject::Part(3));
        return Ok(cx.arena().faulty(Type::Dynamic));
    };
    if condition.is_null() {
        drop_errors(cx, from, [false, false]);
        note_error(cx, "Null condition", "The condition is null; it must be true or false", Subject::Part(0));
        return Ok(cx.arena().faulty(ty));
    }
    if !condition.is_known() {
        drop_errors(cx, from, [false, false]);
        let narrowed = fitting(narrowed(cx, ty, then.unmarked().0, otherwise.unmarked().0))?;
        let value = narrowed.unwrap_or_else(|| cx.arena().unknown(ty));
        let value = if is_faulty(condition) { as_faulty(cx, value) } else { value };
        return Ok(marked_as(cx, value, &[condition, then, otherwise]));
    }
    let truth = ok_or_note(cx, convert(cx, condition, &Type::Bool), "Incorrect condition type", Subject::Part(0))?;
    let Some(truth) = truth else {
        let last = cx.notes().take(note_index(then_from)).pop();
        cx.notes().put(last);
        return Ok(cx.arena().faulty(ty));
    };
    let truth = matches!(truth.unmarked().0, Value::Bool(true));
    drop_errors(cx, from, [truth, !truth]);
    let (chosen, part) = if truth { (then, 1) } else { (otherwise, 2) };
    Ok(match ok_or_note(cx, convert(cx, chosen, &ty), INCONSISTENT, Subject::Part(part))? {
        Some(value) => marked_as(cx, value, &[condition, then, otherwise]),
        None => marked_as(cx, cx.arena().faulty(ty), &[condition, then, otherwise]),
    })
}

fn are_of_one_primitive_type<'v>(a: Value<'v>, b: Value<'v>) -> bool {
    matches!((a, b), (Value::Str(_), Value::Str(_)) | (Value::Int(_), Value::Int(_)) | (Value::Bool(_), Value::Bool(_)))
}

/// Returns the type of a conditional with these results.
fn common_type<'v>(cx: &Cx<'v>, then: Value<'v>, otherwise: Value<'v>) -> Result<Option<Type<'v>>> {
    let both = [paid_type(cx, then)?, paid_type(cx, otherwise)?];
    Ok(match (then, otherwise) {
        (Value::Null, _) => Some(both[1]),
        (_, Value::Null) => Some(both[0]),
        _ if both.contains(&Type::Dynamic) => Some(Type::Dynamic),
        _ => fitting(unify(cx, &both, true))?.flatten().map(|unified| unified.ty),
    })
}

/// Returns an unknown value of type `ty` with the refinements that both results have.
fn narrowed<'v>(cx: &Cx<'v>, ty: Type<'v>, then: Value<'v>, otherwise: Value<'v>) -> Outcome<Value<'v>> {
    if then.is_null() && otherwise.is_null() {
        return Ok(cx.arena().null(ty));
    }
    let mut unknown = Refine::of(cx.arena().unknown(ty));
    if let [Some(a), Some(b)] = [ValueBounds::of(cx, then)?, ValueBounds::of(cx, otherwise)?] {
        if a.not_null && b.not_null {
            unknown = unknown.not_null();
        }
        if let Some((number, inclusive)) = outer(a.least, b.least, Ordering::Less) {
            unknown = unknown.at_least(cx, number, inclusive);
        }
        if let Some((number, inclusive)) = outer(a.most, b.most, Ordering::Greater) {
            unknown = unknown.at_most(cx, number, inclusive);
        }
        if let (Some(a), Some(b), true) = (a.length, b.length, a.ty == b.ty) {
            unknown = unknown.length_at_least(a.0.min(b.0)).length_at_most(a.1.max(b.1));
        }
    }
    unknown.done(cx)
}

/// A bound of a number: the number, and whether it is included.
type Bound = Option<(BigNum, bool)>;

/// Returns the less restrictive of two bounds.
fn outer(a: Bound, b: Bound, outward: Ordering) -> Bound {
    let (a, b) = (a?, b?);
    let ordering = a.0.compare(&b.0);
    Some(if ordering == outward || ordering.is_eq() && a.1 >= b.1 { a } else { b })
}

/// The bounds of a value that is not null, known or not.
struct ValueBounds<'v> {
    ty: Type<'v>,
    not_null: bool,
    least: Bound,
    most: Bound,
    /// The minimum and maximum length of a collection.
    length: Option<(u64, u64)>,
}

impl<'v> ValueBounds<'v> {
    fn of(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Option<Self>> {
        let ty = types::type_of(cx, value)?;
        if let Some(unknown) = value.as_unknown() {
            let Refinement { not_null, least, most, len_least, len_most, .. } = unknown.refinement;
            let length = ty.element().map(|_| (len_least, len_most));
            return Ok(Some(Self { ty, not_null, least: least.copied(), most: most.copied(), length }));
        }
        if value.is_null() {
            return Ok(None);
        }
        let number = number_of(value).map(|number| (number, true));
        let length = match ty.element() {
            Some(_) => number_of(elements::length(cx, value)?).and_then(|n| n.to_u64()),
            None => None,
        };
        let length = length.map(|length| (length, length));
        Ok(Some(Self { ty, not_null: true, least: number, most: number, length }))
    }
}
