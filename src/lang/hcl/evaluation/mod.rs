//! Evaluation steps whose errors are notes.
//!
//! The functions of [`values`](super::values) fail with a fault. Those here note a fault as a diagnostic and continue
//! with a recovery value. The machine calls them through [`Rules`](super::Rules), and lowering through intrinsics.
//!
//! Collections and conditions of loops. A loop whose result cannot be known gets a note that says so.

use super::values::{Refine, convert, elements, number_of, operators, propagate, safe_prefix, types};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::strings::prefix;
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Cx, Fault, Noted, Outcome, Subject, Wrong, fitting};
use dropforge_machine::vm::{Items, Logic};
use dropforge_value::{BigNum, Extended, Map, Refinement, Type, Value};

/// Returns `true` if a value stands for a failed computation.
pub(crate) fn is_faulty(value: Value<'_>) -> bool {
    matches!(value.as_unknown(), Some(unknown) if unknown.faulty)
}

/// Returns an unknown value as one that stands for a failed computation, and any other as it is.
pub(crate) fn as_faulty<'v>(cx: &Cx<'v>, value: Value<'v>) -> Value<'v> {
    let (plain, marks) = value.unmarked();
    match plain.as_unknown() {
        Some(unknown) => cx.arena().marked(cx.arena().faulty_refined(unknown.ty, unknown.refinement), marks),
        None => value,
    }
}

/// Returns `true` if a value or anything in it stands for a failed computation.
///
/// # Errors
/// The steps of the render are spent.
pub(crate) fn contains_faulty<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
    // Without notes, no computation has failed.
    Ok(cx.notes().count() > 0 && fitting(elements::contains_faulty(cx, value))?.unwrap_or(true))
}

/// Returns the result of an operation. A fault of its values is noted with this summary.
///
/// # Errors
/// A limit was reached.
pub(crate) fn ok_or_note<'v>(
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

/// Notes that a value that a loop needs is not known.
pub(crate) fn note_unanswered(cx: &Cx<'_>) {
    cx.note(Noted::Unanswered);
}

/// Notes the marks of a value that a loop depends on.
pub(crate) fn note_marks<'v>(cx: &Cx<'v>, value: Value<'v>) {
    let marks = value.unmarked().1;
    if !marks.is_empty() {
        cx.note(Noted::Marks(marks));
    }
}

/// Converts a number of notes, as a program holds it, to an index.
pub(crate) fn note_index(from: i64) -> usize {
    usize::try_from(from).unwrap_or(usize::MAX)
}

/// Returns `true` if the notes from `from` up to `to` contain an error.
pub fn has_errors(cx: &Cx<'_>, from: i64, to: i64) -> bool {
    cx.notes().has_error(note_index(from), note_index(to))
}

/// Drops the notes of operands that do not count: `keep` tells for each of two operands whether its notes stay, and
/// `from` where they begin.
pub(crate) fn drop_errors(cx: &Cx<'_>, from: [i64; 2], keep: [bool; 2]) {
    if cx.notes().count() <= note_index(from[0]) || keep == [true, true] {
        return;
    }
    let of_second = cx.notes().take(note_index(from[1]));
    let of_first = cx.notes().take(note_index(from[0]));
    cx.notes().put(of_first.into_iter().filter(|_| keep[0]));
    cx.notes().put(of_second.into_iter().filter(|_| keep[1]));
}

/// Returns the marks in either list, sorted and without duplicates.
pub(crate) fn mark_union<'v>(cx: &Cx<'v>, a: &'v [&'v str], b: &'v [&'v str]) -> &'v [&'v str] {
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
    let value = ok_or_note(cx, operation(cx, left, right, op), "Operation failed", Subject::Whole)?;
    Ok(value.unwrap_or_else(|| cx.arena().faulty(result)))
}

/// Applies a binary operator to operands of its types. Arithmetic knows no more of an unknown result than that it is
/// not null, and has no remainder by or of an infinity.
fn operation<'v>(cx: &Cx<'v>, left: Value<'v>, right: Value<'v>, op: BinaryOp) -> Outcome<Value<'v>> {
    let operands = [left, right];
    if types_of(op).1 != Type::Number || operands.iter().any(|operand| operand.is_null()) {
        return operators::binary(cx, left, right, op);
    }
    if operands.iter().any(|operand| !operand.is_known()) {
        return propagate(cx, operands, |_| Ok(cx.arena().refined(Type::Number, Refinement::NOT_NULL)));
    }
    let is_infinite = |operand: &Value<'v>| number_of(operand.unmarked().0).is_some_and(|number| !number.is_finite());
    let by_zero = number_of(right.unmarked().0).is_some_and(|number| number.is_zero());
    match op {
        BinaryOp::Rem if by_zero => propagate(cx, operands, |[left, _]| Ok(left)),
        BinaryOp::Rem if operands.iter().any(is_infinite) => {
            Err(Fault::wrong("an infinity has no remainder, and no remainder is taken by one"))
        }
        _ => operators::binary(cx, left, right, op),
    }
}

/// Applies a unary operator, whose operand and result are of type `ty`. Like in the reference, an unknown result has no
/// marks.
///
/// # Errors
/// A limit was reached.
pub fn unary<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'static>, function: Unary) -> Result<Value<'v>> {
    // A number or a boolean has no parts.
    let value = match operand(cx, value, ty, 0)?.filter(|operand| !is_faulty(*operand)) {
        Some(operand) if !operand.is_known() => Some(cx.arena().refined(ty, Refinement::NOT_NULL)),
        Some(operand) => ok_or_note(cx, function(cx, operand), "Operation failed", Subject::Whole)?,
        None => None,
    };
    Ok(value.unwrap_or_else(|| cx.arena().faulty(ty)))
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
pub(crate) fn literal_number<'v>(cx: &Cx<'v>, digits: &str) -> Value<'v> {
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

/// Joins values to one string. If one of them is unknown, so is the string, except for the text before it. Text after a
/// value without text is dropped.
///
/// # Errors
/// A limit was reached.
pub fn join<'v>(cx: &Cx<'v>, values: &[Value<'v>], subject: impl Fn(u32) -> Subject) -> Result<Value<'v>> {
    let (mut text, mut known, mut failed, mut marks) = (String::new(), true, false, &[][..]);
    for (at, value) in (0..).zip(values) {
        if value.is_undefined() {
            // A part that has a value although something in it failed.
            failed = true;
            continue;
        }
        let (plain, own) = value.unmarked();
        marks = mark_union(cx, marks, own);
        if let Some(unknown) = plain.as_unknown() {
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
    let plain = without_marks(cx, value);
    if !plain.is_known() {
        note_unanswered(cx);
    }
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

/// Returns `true` if a loop can iterate over values of the type of a value, known or not. Otherwise, the reason is noted.
pub(crate) fn is_iterable<'v>(cx: &Cx<'v>, value: Value<'v>, subject: Subject) -> bool {
    let ty = types::shallow_type(cx, value);
    let not_iterable = |summary: &str, detail: String| {
        let error = Diagnostic::new(Code::NotIterable, summary).with_detail(detail);
        let is_text = matches!(ty, Type::String);
        cx.note_error(
            if is_text { error.with_help("`split(\",\", …)` makes a list of a text") } else { error },
            subject,
        );
    };
    if value.is_null() {
        not_iterable("Iteration over null value", "The collection of a `for` expression cannot be null".into());
    } else if ty.is_primitive() || matches!(ty, Type::Capsule(_)) {
        let detail = format!("A `for` expression cannot iterate over a {}", types::name(&ty));
        not_iterable("Iteration over non-iterable value", detail);
    } else if ty != Type::Dynamic {
        return true;
    }
    note_unanswered(cx);
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

/// Returns the value of a condition as a boolean, unless it is unknown. One that has none is noted, and counts as false.
///
/// # Errors
/// A limit was reached.
pub fn answer<'v>(cx: &Cx<'v>, given: Value<'v>) -> Result<Value<'v>> {
    let null = "The condition is null; it must be true or false";
    let summary = if given.is_null() { "Null condition" } else { "Incorrect condition type" };
    let value = loop_value(cx, given, &Type::Bool, [summary, null], Subject::Whole)?;
    Ok(value.unwrap_or(Value::Bool(false)))
}

/// Converts a condition or key of a loop to `ty`, without its marks, which are noted. A value that does not convert is
/// noted under a summary, with the detail beside it if the value is null.
///
/// # Errors
/// A limit was reached.
pub(crate) fn loop_value<'v>(
    cx: &Cx<'v>,
    given: Value<'v>,
    ty: &Type<'v>,
    [summary, null]: [&str; 2],
    subject: Subject,
) -> Result<Option<Value<'v>>> {
    let converted = if given.is_null() { Err(Fault::wrong(null)) } else { convert(cx, without_marks(cx, given), ty) };
    if let Err(Fault::Wrong(wrong)) = &converted {
        // An error between two such notes is dropped if the loop has another value that is not known.
        note_unanswered(cx);
        note_error(cx, summary, &*wrong.message, subject);
        note_unanswered(cx);
    }
    fitting(converted)
}

/// Returns a value without its marks, which are noted.
fn without_marks<'v>(cx: &Cx<'v>, value: Value<'v>) -> Value<'v> {
    note_marks(cx, value);
    value.unmarked().0
}
