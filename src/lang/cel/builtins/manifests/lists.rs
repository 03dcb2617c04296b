//! Lists with one element changed, and ranges of integers.

use crate::values::errors::bad_argument;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The functions that extend the library `lists`.
    pub static TABLE:
    "lists.setAtIndex": "Replaces the element at an index." ["lists.setAtIndex([1, 2, 3], 1, 9)" => "[1, 9, 3]", "lists.setAtIndex([1], 1, 9)" => "E0403"]
        fn "lists.setAtIndex_list_int_T" ((list T), Int, T) -> (list T) = set;
    "lists.insertAtIndex": "Inserts an element at an index or at the end."
        ["lists.insertAtIndex([1, 2], 0, 9)" => "[9, 1, 2]", "lists.insertAtIndex([1, 2], 2, 9)" => "[1, 2, 9]", "lists.insertAtIndex([1], 2, 9)" => "E0403"]
        fn "lists.insertAtIndex_list_int_T" ((list T), Int, T) -> (list T) = insert;
    "lists.removeAtIndex": "Removes the element at an index." ["lists.removeAtIndex([1, 2, 3], 1)" => "[1, 3]", "lists.removeAtIndex([], 0)" => "E0403"]
        fn "lists.removeAtIndex_list_int" ((list T), Int) -> (list T) = remove;
    "range": "Returns the integers from 0 or a start, up to, but not including, an end, by a step of 1 or another."
        ["range(3)" => "[0, 1, 2]", "range(2, 4)" => "[2, 3]", "range(5, 0, -2)" => "[5, 3, 1]", "range(1, 2, 0)" => "E0403", "range(1000000000)" => "E0604"]
        fn "range_int" (Int) -> (list Int) = range;
        fn "range_int_int" (Int, Int) -> (list Int) = range;
        fn "range_int_int_int" (Int, Int, Int) -> (list Int) = range;
}

/// Splits a list at an index; the end of the list is an index if `end` is set.
fn split<'v>(
    function: &str,
    list: &'v [Value<'v>],
    index: i64,
    end: bool,
) -> Result<(&'v [Value<'v>], &'v [Value<'v>])> {
    let at = usize::try_from(index).ok().filter(|at| *at < list.len() + usize::from(end));
    at.and_then(|at| list.split_at_checked(at)).ok_or_else(|| {
        let bracket = if end { ']' } else { ')' };
        bad_argument(format!("{function}: index {index} out of bounds [0, {}{bracket}", list.len()))
    })
}

fn joined<'v>(cx: &Cx<'v>, parts: &[&[Value<'v>]]) -> Result<Vec<Value<'v>>> {
    cx.charge(parts.iter().map(|part| size_of_val(*part)).sum())?;
    Ok(parts.concat())
}

fn set<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], index: i64, value: Value<'v>) -> Result<Vec<Value<'v>>> {
    let (front, rest) = split("lists.setAtIndex", list, index, false)?;
    joined(cx, &[front, &[value], rest.get(1..).unwrap_or(&[])])
}

fn insert<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], index: i64, value: Value<'v>) -> Result<Vec<Value<'v>>> {
    let (front, rest) = split("lists.insertAtIndex", list, index, true)?;
    joined(cx, &[front, &[value], rest])
}

fn remove<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], index: i64) -> Result<Vec<Value<'v>>> {
    let (front, rest) = split("lists.removeAtIndex", list, index, false)?;
    joined(cx, &[front, rest.get(1..).unwrap_or(&[])])
}

fn range<'v>(cx: &Cx<'v>, first: i64, end: Option<i64>, step: Option<i64>) -> Result<Vec<Value<'v>>> {
    let (first, end) = end.map_or((0, first), |end| (first, end));
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(bad_argument("range: the step must not be 0"));
    }
    let (way, stride) = (i128::from(end) - i128::from(first), i128::from(step));
    let count = if (way > 0) == (step > 0) { (way.abs() + stride.abs() - 1) / stride.abs() } else { 0 };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    cx.charge(count.saturating_mul(size_of::<Value>()))?;
    Ok(std::iter::successors(Some(first), |n| n.checked_add(step)).take(count).map(Value::Int).collect())
}
