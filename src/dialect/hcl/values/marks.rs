//! Marks: what the host says about a value, and every result that depends on the value says too.

use super::Outcome;
use super::elements::rebuilt;
use super::path::Step;
use super::within;
use crate::function::Cx;
use crate::value::{Extended, Value};

/// `value` with two lists of marks beside its own.
#[inline]
pub fn marked_by<'v>(cx: &Cx<'v>, value: Value<'v>, marks: &[&'v str], others: &[&'v str]) -> Outcome<Value<'v>> {
    if marks.is_empty() && others.is_empty() {
        return Ok(value);
    }
    let own = value.unmarked().1.len();
    cx.charge((own + marks.len() + others.len() + 4) * size_of::<&str>())?;
    Ok(cx.arena().marked(cx.arena().marked(value, marks), others))
}

/// Whether the value or anything in it carries marks.
///
/// # Errors
/// The steps of the render are spent: one for each value looked at.
pub fn contains_marked(cx: &Cx<'_>, value: Value<'_>) -> Outcome<bool> {
    within::any(cx, value, &|value| value.is_marked())
}

/// The value without any marks, and all marks that were on it and in it, sorted.
///
/// # Errors
/// The memory or the steps of the render are spent.
pub fn unmark_deep<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<(Value<'v>, Vec<&'v str>)> {
    let mut all = Vec::new();
    let value = unmark(cx, value, &mut Vec::new(), &mut |_, marks| all.extend_from_slice(marks))?;
    all.sort_unstable();
    all.dedup();
    Ok((value, all))
}

/// The way to a value, and the marks that it carries itself.
pub type MarkedPath<'v> = (Vec<Step<'v>>, &'v [&'v str]);

/// The value without any marks, and where which marks were: the outer ones before those within.
///
/// # Errors
/// The memory or the steps of the render are spent.
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

/// The value with marks at the places that the paths name; paths that lead nowhere are passed over.
///
/// # Errors
/// The memory or the steps of the render are spent.
pub fn mark_with_paths<'v>(cx: &Cx<'v>, value: Value<'v>, paths: &[MarkedPath<'v>]) -> Outcome<Value<'v>> {
    mark_at(cx, value, &mut Vec::new(), paths)
}

fn mark_at<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    path: &mut Vec<Step<'v>>,
    paths: &[MarkedPath<'v>],
) -> Outcome<Value<'v>> {
    let below = paths.iter().any(|(other, _)| other.len() > path.len() && super::path::has_prefix(cx, other, path));
    let (inner, own) = value.unmarked();
    let mut made = inner;
    if below && !matches!(inner.extended(), Some(Extended::Unknown(_) | Extended::Null(_))) {
        made = rebuilt(cx, inner, &mut |step, item| {
            path.push(step);
            let item = mark_at(cx, item, path, paths);
            path.pop();
            item
        })?;
    }
    made = marked_by(cx, made, own, &[])?;
    for (other, marks) in paths {
        if other.len() == path.len() && super::path::has_prefix(cx, other, path) {
            made = marked_by(cx, made, marks, &[])?;
        }
    }
    Ok(made)
}
