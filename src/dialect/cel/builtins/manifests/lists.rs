//! Lists with an element changed, and lists of numbers.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::{arguments, items, number};
use crate::dialect::cel::values::errors::bad_argument;
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library of lists.
    pub static TABLE:
    "lists.setAtIndex": "A list with another element at a place." ["lists.setAtIndex([1, 2, 3], 1, 9)" => "[1, 9, 3]", "lists.setAtIndex([1], 1, 9)" => "E0403"] {
        "lists.setAtIndex_list_int_T" ((list T), Int, T) -> (list T) = set;
    }
    "lists.insertAtIndex": "A list with an element more, in front of a place or at the end."
        ["lists.insertAtIndex([1, 2], 0, 9)" => "[9, 1, 2]", "lists.insertAtIndex([1, 2], 2, 9)" => "[1, 2, 9]", "lists.insertAtIndex([1], 2, 9)" => "E0403"] {
        "lists.insertAtIndex_list_int_T" ((list T), Int, T) -> (list T) = insert;
    }
    "lists.removeAtIndex": "A list without the element at a place." ["lists.removeAtIndex([1, 2, 3], 1)" => "[1, 3]", "lists.removeAtIndex([], 0)" => "E0403"] {
        "lists.removeAtIndex_list_int" ((list T), Int) -> (list T) = remove;
    }
    "range": "The whole numbers from 0 or a first one on, up to but without a last one, by steps of 1 or another."
        ["range(3)" => "[0, 1, 2]", "range(2, 4)" => "[2, 3]", "range(5, 0, -2)" => "[5, 3, 1]", "range(1, 2, 0)" => "E0403", "range(1000000000)" => "E0604"] {
        "range_int" (Int) -> (list Int) = range;
        "range_int_int" (Int, Int) -> (list Int) = range;
        "range_int_int_int" (Int, Int, Int) -> (list Int) = range;
    }
}

/// The elements in front of a place in a list and those from there on; `most` is the last place that there is.
fn split<'v>(function: &str, list: Value<'v>, at: Value<'v>, end: bool) -> Result<(&'v [Value<'v>], &'v [Value<'v>])> {
    let (list, at) = (items(list), number(at));
    let place = usize::try_from(at).ok().filter(|place| *place < list.len() + usize::from(end));
    place.and_then(|place| list.split_at_checked(place)).ok_or_else(|| {
        let bracket = if end { ']' } else { ')' };
        bad_argument(format!("{function}: index {at} out of bounds [0, {}{bracket}", list.len()))
    })
}

/// A list of these parts.
fn joined<'v>(cx: &Cx<'v>, parts: &[&[Value<'v>]]) -> Result<Value<'v>> {
    cx.charge(parts.iter().map(|part| size_of_val(*part)).sum())?;
    cx.list(&parts.concat())
}

fn set<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, at, value] = arguments(cx, given)?;
    let (front, rest) = split("lists.setAtIndex", list, at, false)?;
    joined(cx, &[front, &[value], rest.get(1..).unwrap_or(&[])])
}

fn insert<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, at, value] = arguments(cx, given)?;
    let (front, rest) = split("lists.insertAtIndex", list, at, true)?;
    joined(cx, &[front, &[value], rest])
}

fn remove<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, at] = arguments(cx, given)?;
    let (front, rest) = split("lists.removeAtIndex", list, at, false)?;
    joined(cx, &[front, rest.get(1..).unwrap_or(&[])])
}

fn range<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (first, end, step) = match *given {
        [end] => (0, number(end), 1),
        [first, end] => (number(first), number(end), 1),
        _ => arguments(cx, given).map(|[first, end, step]| (number(first), number(end), number(step)))?,
    };
    if step == 0 {
        return Err(bad_argument("range: the step must not be 0"));
    }
    let (way, stride) = (i128::from(end) - i128::from(first), i128::from(step));
    let count = if (way > 0) == (step > 0) { (way.abs() + stride.abs() - 1) / stride.abs() } else { 0 };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    cx.charge(count.saturating_mul(size_of::<Value>()))?;
    let numbers = std::iter::successors(Some(first), |n| n.checked_add(step)).take(count).map(Value::Int);
    cx.list(&numbers.collect::<Vec<_>>())
}
