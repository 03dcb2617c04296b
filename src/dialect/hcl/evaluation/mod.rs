//! Evaluation steps whose errors are notes.
//!
//! The functions of [`values`](super::values) fail with a fault. Those here note a fault as a diagnostic and continue
//! with a recovery value. The machine calls them through [`Rules`](super::Rules), and lowering through intrinsics.

mod iteration;

use super::values::{Refine, convert, elements, operators, safe_prefix};
use crate::bytecode::BinaryOp;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Cx, Fault, Noted, Outcome, Subject, Wrong, fitting};
use crate::stdlib::strings::prefix;
use crate::value::{BigNum, Refinement, Type, Value};
use crate::vm::Logic;

pub(super) use iteration::{condition, is_iterable, items, loop_value};

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

/// The function of a unary operator.
type Unary = for<'v> fn(&Cx<'v>, Value<'v>) -> Outcome<Value<'v>>;

/// Returns the type of the operands of an operator and the type of its result.
const fn types_of(op: BinaryOp) -> (Type<'static>, Type<'static>) {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => (Type::Number, Type::Number),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => (Type::Number, Type::Bool),
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::In => (Type::Dynamic, Type::Bool),
    }
}

/// Applies a binary operator to any values.
///
/// # Errors
/// A limit was reached.
#[inline(never)]
pub fn binary<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    let (ty, result) = types_of(op);
    let (left, right) = (operand(cx, a, ty, 0)?, operand(cx, b, ty, 1)?);
    let (Some(left), Some(right)) = (left, right) else { return Ok(cx.arena().faulty(result)) };
    if contains_faulty(cx, left)? || contains_faulty(cx, right)? {
        let marks = mark_union(cx, left.unmarked().1, right.unmarked().1);
        return Ok(cx.arena().marked(cx.arena().faulty(result), marks));
    }
    let answer = ok_or_note(cx, operators::binary(cx, left, right, op), "Operation failed", Subject::Whole)?;
    Ok(answer.unwrap_or_else(|| cx.arena().faulty(result)))
}

/// Applies a unary operator, whose operand and result are of type `ty`.
///
/// # Errors
/// A limit was reached.
pub fn unary<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'static>, function: Unary) -> Result<Value<'v>> {
    // A number or a boolean has no parts.
    let answer = match operand(cx, value, ty, 0)?.filter(|operand| !is_faulty(*operand)) {
        Some(operand) => ok_or_note(cx, function(cx, operand), "Operation failed", Subject::Whole)?,
        None => None,
    };
    Ok(answer.unwrap_or_else(|| cx.arena().faulty(ty)))
}

fn operand<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'v>, part: u32) -> Result<Option<Value<'v>>> {
    ok_or_note(cx, convert(cx, value, &ty), "Invalid operand", Subject::Part(part))
}

/// An operand: its value as a boolean without marks, and whether its evaluation had errors.
#[derive(Clone, Copy)]
struct Operand<'v> {
    value: Value<'v>,
    failed: bool,
}

impl Operand<'_> {
    /// Returns `true` if the operand is known to be `truth`. Null counts as false.
    fn is(&self, truth: bool) -> bool {
        self.value.is_known() && matches!(self.value, Value::Bool(true)) == truth
    }
}

/// Evaluates `&&` or `||` if an operand is not a plain boolean or errors were noted.
///
/// # Errors
/// A limit was reached.
pub fn logic<'v>(cx: &Cx<'v>, logic: Logic, given: [Value<'v>; 2], from: [Value<'v>; 2]) -> Result<Value<'v>> {
    let [Value::Int(left_from), Value::Int(right_from)] = from else { return Err(cx.arity()) };
    let (decides, from) = (logic.decides(), [left_from, right_from]);
    if let [Value::Bool(left), Value::Bool(right)] = given {
        drop_errors(cx, from, [left == decides || right != decides, left != decides]);
        return Ok(Value::Bool(logic.of(left, right)));
    }
    let failed = [has_errors(cx, left_from, right_from), has_errors(cx, right_from, i64::MAX)];
    let (mut operands, mut marks) = ([None; 2], &[][..]);
    for (at, part) in [(0, Subject::Part(0)), (1, Subject::Part(1))] {
        if let Some(value) = ok_or_note(cx, convert(cx, given[at], &Type::Bool), "Invalid operand", part)? {
            let (value, own) = value.unmarked();
            marks = mark_union(cx, marks, own);
            operands[at] = Some(Operand { value, failed: failed[at] });
        }
    }
    let [Some(left), Some(right)] = operands else { return Ok(cx.arena().faulty(Type::Bool)) };
    let marked = |value| Ok(cx.arena().marked(value, marks));
    let unknown = || cx.arena().refined(Type::Bool, Refinement::NOT_NULL);
    let (forced, keep) = match (left.value.is_known(), right.value.is_known()) {
        (false, false) if !left.failed => (Some(unknown()), [true, false]),
        (false, false) => (None, [true, true]),
        _ if left.is(decides) => (Some(Value::Bool(decides)), [true, false]),
        _ if right.is(decides) => (Some(Value::Bool(decides)), [false, true]),
        (false, _) if right.is(!decides) => (Some(unknown()), [true, false]),
        (_, false) if left.is(!decides) => (Some(unknown()), [false, true]),
        _ => (None, [true, true]),
    };
    drop_errors(cx, from, keep);
    if let Some(forced) = forced {
        return marked(forced);
    }
    if left.failed || right.failed {
        return marked(cx.arena().faulty(Type::Bool));
    }
    let operation = if logic == Logic::And { operators::and } else { operators::or };
    match ok_or_note(cx, operation(cx, left.value, right.value), "Operation failed", Subject::Whole)? {
        Some(value) => marked(value),
        None => Ok(cx.arena().faulty(Type::Bool)),
    }
}

/// The maximum number of bytes of an unknown string's known prefix.
const PREFIX: usize = 128;

/// Returns the number of a literal.
pub fn literal_number<'v>(cx: &Cx<'v>, digits: &str) -> Value<'v> {
    // The parser accepts nothing else.
    BigNum::parse(digits).map_or_else(|| cx.arena().faulty(Type::Number), |number| cx.arena().number(number))
}

/// Converts an interpolated value to text with its marks. A value without text is noted.
///
/// # Errors
/// A limit was reached.
pub fn interpolated<'v>(cx: &Cx<'v>, value: Value<'v>, subject: Subject) -> Result<Option<Value<'v>>> {
    let summary = "Invalid template interpolation value";
    if value.is_null() {
        note_error(cx, summary, "The value is null, which has no text", subject);
        return Ok(None);
    }
    ok_or_note(cx, convert(cx, value, &Type::String), summary, subject)
}

/// Joins values to one string. If one of them is unknown, so is the string, except for its prefix. Text after a value
/// without text is dropped.
///
/// # Errors
/// A limit was reached.
pub fn join<'v>(cx: &Cx<'v>, values: &[Value<'v>], subject: impl Fn(u32) -> Subject) -> Result<Value<'v>> {
    let (mut text, mut known, mut failed, mut marks) = (String::new(), true, false, &[][..]);
    for (at, value) in (0..).zip(values) {
        let (plain, own) = value.unmarked();
        marks = mark_union(cx, marks, own);
        if let Some(unknown) = plain.as_unknown() {
            if known && !failed {
                text.push_str(unknown.refinement.prefix);
            }
            failed |= unknown.faulty;
            known = false;
            continue;
        }
        match interpolated(cx, plain, subject(at))? {
            Some(piece) if known && !failed => {
                let piece = piece.as_str().unwrap_or("");
                cx.charge(piece.len())?;
                text.push_str(piece);
            }
            Some(_) => {}
            None => failed = true,
        }
    }
    let value = if known {
        cx.text(&text)?
    } else if failed {
        cx.arena().faulty_refined(Type::String, Refinement::NOT_NULL)
    } else {
        let prefix = safe_prefix(prefix(&text, PREFIX));
        let refined = Refine::of(cx.arena().unknown(Type::String)).not_null().prefix(cx, &prefix);
        fitting(refined.and_then(|refined| refined.done(cx)))?.unwrap_or_else(|| cx.arena().faulty(Type::String))
    };
    Ok(cx.arena().marked(value, marks))
}
