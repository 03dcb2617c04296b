//! Collections and conditions of loops. A loop whose result cannot be known gets a note that says so.

use super::{note_error, note_unanswered};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::values::{convert, types};
use crate::function::{Cx, Fault, Noted, Subject, fitting};
use crate::value::{Extended, Map, Type, Value};
use crate::vm::Items;

/// Returns the items of a loop with `names` variables. A value that is not iterable has none.
///
/// # Errors
/// The memory of the render is spent.
pub fn items<'v>(cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>> {
    if let (Value::List(list), 1) = (value, names) {
        return Ok(Items::List(list.items()));
    }
    if !is_iterable(cx, value, Subject::Part(0)) {
        return Ok(Items::List(&[]));
    }
    let plain = value.unmarked().0;
    Ok(match (plain.elements(), plain.entries(), plain.extended()) {
        (Some(items), ..) if names == 1 => Items::List(items),
        (None, Some(entries), _) if names == 1 => Items::List(sorted_values(cx, entries)?),
        (Some(items), _, Some(Extended::Typed(Type::Set(_), _))) => Items::Pairs(pairs(cx, items)?),
        (Some(items), ..) => Items::Indexed(items),
        (None, Some(entries), _) => Items::Sorted(entries),
        (None, None, _) => Items::List(&[]),
    })
}

/// Returns the values of a map in key order.
fn sorted_values<'v>(cx: &Cx<'v>, map: &Map<'v>) -> Result<&'v [Value<'v>]> {
    cx.charge(size_of_val(map.values()))?;
    let values = map.iter_sorted().map(|(_, value)| value);
    Ok(bumpalo::collections::Vec::from_iter_in(values, cx.arena().bump()).into_bump_slice())
}

/// Pairs each element of a set with itself, as its own key.
fn pairs<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Result<&'v [[Value<'v>; 2]]> {
    cx.charge(size_of_val(items) * 2)?;
    Ok(cx.arena().bump().alloc_slice_fill_iter(items.iter().map(|item| [*item, *item])))
}

/// Returns `true` if a loop can iterate over a value. Otherwise, the reason is noted.
pub fn is_iterable<'v>(cx: &Cx<'v>, value: Value<'v>, subject: Subject) -> bool {
    let not_iterable = |summary: &str, detail: String| {
        cx.note_error(Diagnostic::new(Code::NotIterable, summary).with_detail(detail), subject);
    };
    if value.is_null() {
        not_iterable("Iteration over null value", "The collection of a `for` expression cannot be null".into());
        note_unanswered(cx);
        return false;
    }
    let plain = without_marks(cx, value);
    if plain.elements().is_some() || plain.entries().is_some() {
        return true;
    }
    note_unanswered(cx);
    let ty = types::shallow_type(cx, plain);
    if ty.is_primitive() || matches!(ty, Type::Capsule(_)) {
        let detail = format!("A `for` expression cannot iterate over a {}", types::name(&ty));
        not_iterable("Iteration over non-iterable value", detail);
    }
    false
}

/// Returns the value of a loop's condition, or false if it has none, which is noted.
///
/// # Errors
/// A limit was reached.
pub fn condition<'v>(cx: &Cx<'v>, given: Value<'v>, subject: Subject) -> Result<bool> {
    if let Value::Bool(truth) = given {
        return Ok(truth);
    }
    let null = "The condition is null; it must be true or false";
    let Some(value) = loop_value(cx, given, &Type::Bool, ["Invalid 'for' condition", null], subject)? else {
        return Ok(false);
    };
    if !value.is_known() {
        note_unanswered(cx);
    }
    Ok(matches!(value, Value::Bool(true)))
}

/// Converts a condition or key of a loop to `ty`, without its marks, which are noted. A value that does not convert is
/// noted under a summary, with the detail beside it if the value is null.
///
/// # Errors
/// A limit was reached.
pub fn loop_value<'v>(
    cx: &Cx<'v>,
    given: Value<'v>,
    ty: &Type<'v>,
    [summary, null]: [&str; 2],
    subject: Subject,
) -> Result<Option<Value<'v>>> {
    let converted = if given.is_null() { Err(Fault::wrong(null)) } else { convert(cx, given, ty) };
    if let Err(Fault::Wrong(wrong)) = &converted {
        // An error between two such notes is dropped if the loop has another answer that is not known.
        note_unanswered(cx);
        note_error(cx, summary, &*wrong.message, subject);
        note_unanswered(cx);
    }
    Ok(fitting(converted)?.map(|value| without_marks(cx, value)))
}

/// Returns a value without its marks, which are noted.
fn without_marks<'v>(cx: &Cx<'v>, value: Value<'v>) -> Value<'v> {
    let (value, marks) = value.unmarked();
    if !marks.is_empty() {
        cx.note(Noted::Marks(marks));
    }
    value
}
