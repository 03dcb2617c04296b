//! Errors as notes, and the values that stand for failed computations.

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::values::{Outcome, elements};
use crate::function::{Cx, Fault, Noted, Subject, Wrong, fitting};
use crate::value::Value;

/// Returns `true` if a value stands for a failed computation.
pub fn is_faulty(value: Value<'_>) -> bool {
    matches!(value.as_unknown(), Some(unknown) if unknown.faulty)
}

/// Returns `true` if a value or anything in it stands for a failed computation.
///
/// # Errors
/// The steps of the render are spent.
pub fn contains_faulty<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
    // Without notes, no computation has failed.
    Ok(cx.notes().count() > 0 && fitting(elements::contains_faulty(cx, value))?.unwrap_or(true))
}

/// Returns the result of an operation. A fault of its values is noted with this summary.
///
/// # Errors
/// A limit was reached.
pub fn ok_or_note<'v>(
    cx: &Cx<'v>,
    outcome: Outcome<Value<'v>>,
    summary: &str,
    subject: Subject,
) -> Result<Option<Value<'v>>> {
    if let Err(Fault::Wrong(wrong)) = &outcome {
        let Wrong { message, path, .. } = &**wrong;
        let path: String = path.iter().map(ToString::to_string).collect();
        let detail = if path.is_empty() { message.clone() } else { format!("{message} (at `{path}`)") };
        note_error(cx, summary, detail, subject);
    }
    fitting(outcome)
}

/// Notes a type error.
pub fn note_error(cx: &Cx<'_>, summary: &str, detail: impl Into<String>, subject: Subject) {
    cx.note_error(Diagnostic::new(Code::TypeMismatch, summary).with_detail(detail), subject);
}

/// Notes that a loop cannot know an answer it needs.
pub fn note_unanswered(cx: &Cx<'_>) {
    cx.note(Noted::Unanswered);
}

/// Converts a number of notes, as a program holds it, to an index.
pub fn note_index(from: i64) -> usize {
    usize::try_from(from).unwrap_or(usize::MAX)
}

/// Returns `true` if the notes from `from` up to `to` contain an error.
pub fn has_errors(cx: &Cx<'_>, from: i64, to: i64) -> bool {
    cx.notes().has_error(note_index(from), note_index(to))
}

/// Drops the notes of operands that do not count: `keep` tells for each of two operands whether its notes stay, and
/// `from` where they begin.
pub fn drop_errors(cx: &Cx<'_>, from: [i64; 2], keep: [bool; 2]) {
    if cx.notes().count() <= note_index(from[0]) || keep == [true, true] {
        return;
    }
    let of_second = cx.notes().take(note_index(from[1]));
    let of_first = cx.notes().take(note_index(from[0]));
    cx.notes().put(of_first.into_iter().filter(|_| keep[0]));
    cx.notes().put(of_second.into_iter().filter(|_| keep[1]));
}

/// Returns the marks in either list, sorted and without duplicates.
pub fn mark_union<'v>(cx: &Cx<'v>, a: &'v [&'v str], b: &'v [&'v str]) -> &'v [&'v str] {
    if b.is_empty() || a == b {
        return a;
    }
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    cx.arena().bump().alloc_slice_copy(&all)
}
