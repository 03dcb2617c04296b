//! Marks: notes of the host on a value, which spread to every result that depends on the value.

use super::access::{Step, has_prefix};
use super::elements::any;
use super::rebuilt;
use dropforge_machine::function::{Cx, Outcome};
use dropforge_value::{Extended, Value};

/// Adds marks to `value`.
#[inline]
pub fn marked_by<'v>(cx: &Cx<'v>, value: Value<'v>, marks: &[&'v str]) -> Outcome<Value<'v>> {
    if marks.is_empty() {
        return Ok(value);
    }
    cx.charge((value.unmarked().1.len() + marks.len() + 4) * size_of::<&str>())?;
    Ok(cx.arena().marked(value, marks))
}

/// Applies an operation to values without their outer marks, and puts these on the result.
#[inline]
pub fn propagate<'v, const N: usize>(
    cx: &Cx<'v>,
    values: [Value<'v>; N],
    operation: impl FnOnce([Value<'v>; N]) -> Outcome<Value<'v>>,
) -> Outcome<Value<'v>> {
    let result = operation(values.map(|value| value.unmarked().0))?;
    values.iter().try_fold(result, |result, value| marked_by(cx, result, value.unmarked().1))
}

/// Returns `true` if the value or anything in it has marks.
///
/// # Errors
/// The step limit was reached. Each visited value costs a step.
pub fn contains_marked(cx: &Cx<'_>, value: Value<'_>) -> Outcome<bool> {
    any(cx, value, &|value| value.is_marked())
}

/// Removes all marks on and in the value. Also returns these marks, sorted.
///
/// # Errors
/// The memory or step limit was reached.
pub fn unmark_deep<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<(Value<'v>, Vec<&'v str>)> {
    let mut all = Vec::new();
    let value = unmark(cx, value, &mut Vec::new(), &mut |_, marks| all.extend_from_slice(marks))?;
    all.sort_unstable();
    all.dedup();
    Ok((value, all))
}

/// The path to a value and the outer marks of that value.
pub type MarkedPath<'v> = (Vec<Step<'v>>, &'v [&'v str]);

/// Removes all marks on and in the value. Also returns the marks and their paths, outer ones first.
///
/// # Errors
/// The memory or step limit was reached.
pub fn unmark_deep_with_paths<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<(Value<'v>, Vec<MarkedPath<'v>>)> {
    let mut found = Vec::new();
    let value = unmark(cx, value, &mut Vec::new(), &mut |path, marks| found.push((path.to_vec(), marks)))?;
    Ok((value, found))
}

fn unmark<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    path: &mut Vec<Step<'v>>,
    found: &mut dyn FnMut(&[Step<'v>], &'v [&'v str]),
) -> Outcome<Value<'v>> {
    let (value, marks) = value.unmarked();
    if !marks.is_empty() {
        cx.charge(path.len() * size_of::<Step<'_>>())?;
        found(path, marks);
    }
    if !contains_marked(cx, value)? {
        return Ok(value);
    }
    rebuilt(cx, value, &mut |step, item| {
        path.push(step);
        let item = unmark(cx, item, path, found);
        path.pop();
        item
    })
}

/// Adds marks at the given paths. Paths that lead nowhere are ignored.
///
/// # Errors
/// The memory or step limit was reached.
pub fn mark_with_paths<'v>(cx: &Cx<'v>, value: Value<'v>, paths: &[MarkedPath<'v>]) -> Outcome<Value<'v>> {
    mark_at(cx, value, &mut Vec::new(), paths)
}

fn mark_at<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    path: &mut Vec<Step<'v>>,
    paths: &[MarkedPath<'v>],
) -> Outcome<Value<'v>> {
    let below = paths.iter().any(|(other, _)| other.len() > path.len() && has_prefix(cx, other, path));
    let (inner, own) = value.unmarked();
    let mut result = inner;
    if below && !matches!(inner.extended(), Some(Extended::Unknown(_) | Extended::Null(_))) {
        result = rebuilt(cx, inner, &mut |step, item| {
            path.push(step);
            let item = mark_at(cx, item, path, paths);
            path.pop();
            item
        })?;
    }
    result = marked_by(cx, result, own)?;
    for (other, marks) in paths {
        if other.len() == path.len() && has_prefix(cx, other, path) {
            result = marked_by(cx, result, marks)?;
        }
    }
    Ok(result)
}
