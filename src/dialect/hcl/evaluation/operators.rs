//! Unary and binary operators.

use super::{contains_faulty, is_faulty, mark_union, ok_or_note};
use crate::bytecode::BinaryOp;
use crate::diagnostics::Result;
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::{Outcome, operators};
use crate::function::{Cx, Subject};
use crate::value::{Type, Value};

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
