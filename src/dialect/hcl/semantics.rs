//! The rules of the language, for the machine: errors are values, and what went wrong is noted.
//!
//! What is common (whole numbers, texts, booleans, attributes of objects) is decided here; the rest of the
//! information model is in [`values`](super::values).

use super::builtins::{core, loops};
use super::call;
use super::values::convert::convert;
use super::values::refine::{Refine, safe_prefix};
use super::values::{Outcome, equality, logic, numbers, traverse, within};
use crate::bytecode::{BinaryOp, EscapeMode, Whole};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Builtin, Cx, Fault, Noted, Subject};
use crate::value::{BigNum, Extended, Map, Refinement, Type, Value};
use crate::vm::{Form, Items, Logic, Missing, Output, Semantics};

/// The rules of `hcl`.
#[derive(Debug, Clone, Copy)]
pub struct Rules;

/// Whether a value stands for one that could not be computed.
pub(super) fn faulty(value: Value<'_>) -> bool {
    matches!(value.as_unknown(), Some(unknown) if unknown.faulty)
}

/// Whether a value or anything in it stands for one that could not be computed. Only where errors were noted can it.
///
/// # Errors
/// The steps of the render are spent.
fn has_fault<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
    if cx.notes().count() == 0 {
        return Ok(false);
    }
    within::faulty(cx, value).or_else(|fault| fallen(fault).map(|()| true))
}

/// The result of an operation; where it has none, why is noted under this summary.
///
/// # Errors
/// A limit that was reached.
pub(super) fn noted<'v>(
    cx: &Cx<'v>,
    outcome: Outcome<Value<'v>>,
    summary: &str,
    subject: Subject,
) -> Result<Option<Value<'v>>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Fault::Limit(error)) => Err(error),
        Err(Fault::Wrong(wrong)) => {
            let path: String = wrong.path.iter().map(ToString::to_string).collect();
            let at = if path.is_empty() { String::new() } else { format!(" (at `{path}`)") };
            let error = Diagnostic::new(Code::TypeMismatch, summary).with_detail(format!("{}{at}", wrong.message));
            cx.note_error(error, subject);
            Ok(None)
        }
    }
}

/// A fault that can only be a limit.
pub(super) fn fallen(fault: Fault) -> Result<()> {
    match fault {
        Fault::Limit(error) => Err(error),
        Fault::Wrong(_) => Ok(()),
    }
}

/// The marks of both, sorted, each once.
pub(super) fn union<'v>(cx: &Cx<'v>, a: &'v [&'v str], b: &'v [&'v str]) -> &'v [&'v str] {
    if b.is_empty() || a == b {
        return a;
    }
    let mut all: Vec<&'v str> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    cx.arena().bump().alloc_slice_copy(&all)
}

/// The number of a literal; the parser lets no other text through.
pub(super) fn number_of<'v>(cx: &Cx<'v>, digits: &str) -> Value<'v> {
    BigNum::parse(digits).map_or_else(|| cx.arena().faulty(Type::Number), |number| cx.arena().number(number))
}

impl Semantics for Rules {
    #[cold]
    fn missing<'v>(cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        let Some(parent) = missing.parent else {
            cx.note_error(unknown_variable(cx, missing.name), Subject::Root);
            return Ok(cx.arena().faulty(Type::Dynamic));
        };
        if faulty(parent) {
            return Ok(parent);
        }
        let found = match missing.index {
            Some(index) if faulty(index) => return Ok(cx.arena().faulty(Type::Dynamic)),
            Some(index) => traverse::index(cx, parent, index),
            None => traverse::attribute(cx, parent, missing.name),
        };
        let wrong = match found {
            Err(fault) => return fallen(fault).map(|()| cx.arena().faulty(Type::Dynamic)),
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(wrong)) => wrong,
        };
        let mut error = Diagnostic::new(Code::BadIndex, wrong.kind.summary()).with_detail(wrong.detail);
        if let (None, Some(entries)) = (missing.index, parent.entries()) {
            let names = || entries.iter().map(|(name, _)| name);
            error = error.with_suggestion(missing.name, names()).with_available(names());
        }
        cx.note_error(error, missing.step.map_or(Subject::Whole, Subject::Part));
        Ok(cx.arena().faulty(Type::Dynamic))
    }

    fn present(value: Value<'_>) -> bool {
        !value.is_undefined()
    }

    fn truth<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        loops::answer(cx, value, Subject::Whole)
    }

    #[inline]
    fn binary<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => whole(cx, op, a, b),
            (Value::Str(a), Value::Str(b)) if op == BinaryOp::Eq => Ok(Value::Bool(a == b)),
            (Value::Str(a), Value::Str(b)) if op == BinaryOp::Ne => Ok(Value::Bool(a != b)),
            _ => operation(cx, op, a, b),
        }
    }

    #[cold]
    fn not<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        unary(cx, value, Type::Bool, logic::not)
    }

    fn negative<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        match value {
            Value::Int(n) if n != i64::MIN => Ok(Value::Int(-n)),
            _ => unary(cx, value, Type::Number, numbers::neg),
        }
    }

    #[cold]
    fn logic<'v>(cx: &Cx<'v>, logic: Logic, answers: [Value<'v>; 2], from: [Value<'v>; 2]) -> Result<Value<'v>> {
        core::logic(cx, logic, answers, from)
    }

    #[cold]
    fn fault<'v>(cx: &Cx<'v>, error: Box<Diagnostic>) -> Result<Value<'v>> {
        cx.note_error(error, Subject::Whole);
        Ok(cx.arena().faulty(Type::Dynamic))
    }

    fn call<'v>(cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], form: Form) -> Result<Value<'v>> {
        call::call(cx, function, given, form == Form::Spread)
    }

    #[cold]
    fn joined<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Result<Option<Value<'v>>> {
        join(cx, values, Subject::Part).map(Some)
    }

    fn attr<'v>(cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        match value {
            Value::Map(map) => map.get(key),
            Value::Extended(_) => traverse::attribute(cx, value, key).ok()?.ok(),
            _ => None,
        }
    }

    fn index<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        match (value, index) {
            (Value::List(list), Value::Int(at)) => {
                Ok(usize::try_from(at).ok().and_then(|at| list.items().get(at).copied()))
            }
            (Value::Map(map), Value::Str(key)) => Ok(map.get(key.as_str())),
            _ => match traverse::index(cx, value, index) {
                Ok(found) => Ok(found.ok()),
                Err(fault) => fallen(fault).map(|()| None),
            },
        }
    }

    fn iterate<'v>(cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>> {
        if let (Value::List(list), 1) = (value, names) {
            return Ok(Items::List(list.items()));
        }
        if !loops::iterable(cx, value, Subject::Part(0))? {
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

    #[cold]
    fn to_text<'v>(cx: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        match value {
            Value::Bool(truth) => return out.push(if truth { "true" } else { "false" }),
            Value::Str(text) => return out.push(text.as_str()),
            Value::Int(n) => return out.push(itoa::Buffer::new().format(n)),
            _ => {}
        }
        if let Some(text) = interpolated(cx, value, Subject::Whole)? {
            match text.unmarked().0 {
                Value::Str(text) => out.push(text.as_str())?,
                _ => cx.note(Noted::Unanswered),
            }
        }
        Ok(())
    }
}

/// The values of a map in the order of its keys.
fn sorted_values<'v>(cx: &Cx<'v>, map: &Map<'v>) -> Result<&'v [Value<'v>]> {
    cx.charge(size_of_val(map.values()))?;
    Ok(bumpalo::collections::Vec::from_iter_in(map.iter_sorted().map(|(_, value)| value), cx.arena().bump())
        .into_bump_slice())
}

/// The elements of a set, each as its own key.
fn pairs<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Result<&'v [[Value<'v>; 2]]> {
    cx.charge(size_of_val(items) * 2)?;
    Ok(cx.arena().bump().alloc_slice_fill_iter(items.iter().map(|item| [*item, *item])))
}

fn unknown_variable(cx: &Cx<'_>, name: &str) -> Box<Diagnostic> {
    let names: Vec<_> = cx.inputs().iter().map(|(name, _)| name).collect();
    if names.is_empty() {
        return Diagnostic::new(Code::UndefinedVariable, "Variables not allowed")
            .with_detail(format!("There are no variables here, so `{name}` is not one"));
    }
    Diagnostic::new(Code::UndefinedVariable, "Unknown variable")
        .with_detail(format!("There is no variable named `{name}`"))
        .with_suggestion(name, names.iter().copied())
        .with_available(names)
}

/// An operator on whole numbers.
#[inline]
fn whole<'v>(cx: &Cx<'v>, op: BinaryOp, a: i64, b: i64) -> Result<Value<'v>> {
    let made = match op {
        BinaryOp::Div if b != 0 => {
            a.checked_rem(b).filter(|rest| *rest == 0).and_then(|_| a.checked_div(b)).map(Whole::Number)
        }
        BinaryOp::Rem if b != 0 => a.checked_rem(b).map(Whole::Number),
        op => op.of_whole(a, b),
    };
    match made {
        Some(Whole::Number(number)) => Ok(Value::Int(number)),
        Some(Whole::Answer(truth)) => Ok(Value::Bool(truth)),
        None => operation(cx, op, Value::Int(a), Value::Int(b)),
    }
}

/// The function of an operator, the type of its operands, and that of its result.
type Operation = (for<'v> fn(&Cx<'v>, Value<'v>, Value<'v>) -> Outcome<Value<'v>>, Type<'static>, Type<'static>);

fn operation_of(op: BinaryOp) -> Option<Operation> {
    use Type::{Bool, Dynamic, Number};
    Some(match op {
        BinaryOp::Add => (numbers::add, Number, Number),
        BinaryOp::Sub => (numbers::sub, Number, Number),
        BinaryOp::Mul => (numbers::mul, Number, Number),
        BinaryOp::Div => (numbers::div, Number, Number),
        BinaryOp::Rem => (numbers::rem, Number, Number),
        BinaryOp::Eq => (equality::equals, Dynamic, Bool),
        BinaryOp::Ne => (equality::not_equal, Dynamic, Bool),
        BinaryOp::Lt => (numbers::less, Number, Bool),
        BinaryOp::Le => (numbers::less_equal, Number, Bool),
        BinaryOp::Gt => (numbers::greater, Number, Bool),
        BinaryOp::Ge => (numbers::greater_equal, Number, Bool),
        BinaryOp::In => return None,
    })
}

/// An operator on any values.
#[inline(never)]
fn operation<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    let Some((function, operand, result)) = operation_of(op) else { return Err(cx.arity()) };
    let (left, right) = (operand_of(cx, a, operand, 0)?, operand_of(cx, b, operand, 1)?);
    let (Some(left), Some(right)) = (left, right) else { return Ok(cx.arena().faulty(result)) };
    if has_fault(cx, left)? || has_fault(cx, right)? {
        let own = union(cx, left.unmarked().1, right.unmarked().1);
        return Ok(cx.arena().marked(cx.arena().faulty(result), own));
    }
    let answer = noted(cx, function(cx, left, right), "Operation failed", Subject::Whole)?;
    Ok(answer.unwrap_or_else(|| cx.arena().faulty(result)))
}

fn operand_of<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'v>, part: u32) -> Result<Option<Value<'v>>> {
    noted(cx, convert(cx, value, &ty), "Invalid operand", Subject::Part(part))
}

fn unary<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    ty: Type<'static>,
    function: for<'x> fn(&Cx<'x>, Value<'x>) -> Outcome<Value<'x>>,
) -> Result<Value<'v>> {
    // What converts to a number or a boolean has nothing in it.
    let operand = operand_of(cx, value, ty, 0)?.filter(|operand| !faulty(*operand));
    let Some(operand) = operand else { return Ok(cx.arena().faulty(ty)) };
    let answer = noted(cx, function(cx, operand), "Operation failed", Subject::Whole)?;
    Ok(answer.unwrap_or_else(|| cx.arena().faulty(ty)))
}

/// The text of an interpolated value, with its marks; what cannot be text is noted.
fn interpolated<'v>(cx: &Cx<'v>, value: Value<'v>, subject: Subject) -> Result<Option<Value<'v>>> {
    let summary = "Invalid template interpolation value";
    if value.is_null() {
        let error = Diagnostic::new(Code::TypeMismatch, summary).with_detail("The value is null, which is no text");
        cx.note_error(error, subject);
        return Ok(None);
    }
    noted(cx, convert(cx, value, &Type::String), summary, subject)
}

/// How many bytes of what an unknown text begins with are kept.
const BEGINNING: usize = 128;

/// The beginning of a text.
fn beginning(text: &str) -> &str {
    let cut = (0..=BEGINNING.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    text.get(..cut.unwrap_or(0)).unwrap_or("")
}

/// Values as one text. Where one of them is not known, the text is not, but for what it begins with; behind one that
/// is no text, nothing is added.
pub(super) fn join<'v>(cx: &Cx<'v>, values: &[Value<'v>], subject: impl Fn(u32) -> Subject) -> Result<Value<'v>> {
    let (mut text, mut known, mut failed, mut own) = (String::new(), true, false, &[][..]);
    for (at, value) in (0..).zip(values) {
        let (plain, marks_of) = value.unmarked();
        own = union(cx, own, marks_of);
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
        let unknown = Refine::of(cx.arena().unknown(Type::String)).not_null();
        match unknown.prefix(cx, &safe_prefix(beginning(&text))).and_then(|known| known.done(cx)) {
            Ok(value) => value,
            Err(fault) => return fallen(fault).map(|()| cx.arena().faulty(Type::String)),
        }
    };
    Ok(cx.arena().marked(value, own))
}
