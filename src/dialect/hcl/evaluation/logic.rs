//! `&&` and `||`, which evaluate both operands and drop the errors of one that does not count.

use super::{drop_errors, has_errors, mark_union, ok_or_note};
use crate::diagnostics::Result;
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::logic;
use crate::function::{Cx, Subject};
use crate::value::{Refinement, Type, Value};
use crate::vm::Logic;

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
    let operation = if logic == Logic::And { logic::and } else { logic::or };
    match ok_or_note(cx, operation(cx, left.value, right.value), "Operation failed", Subject::Whole)? {
        Some(value) => marked(value),
        None => Ok(cx.arena().faulty(Type::Bool)),
    }
}
