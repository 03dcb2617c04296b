//! Dispatch of the binary operators.

use super::Outcome;
use super::equality::equals;
use super::logic::not;
use super::numbers::{arithmetic, compare};
use crate::bytecode::BinaryOp;
use crate::function::Cx;
use crate::value::Value;

/// Applies a binary operator to operands of its types.
///
/// # Errors
/// An operand of an operator on numbers is null or not a number, or there is no result (as in `0 / 0`).
pub fn binary<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, op: BinaryOp) -> Outcome<Value<'v>> {
    match op {
        BinaryOp::Eq => equals(cx, a, b),
        BinaryOp::Ne => not(cx, equals(cx, a, b)?),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => arithmetic(cx, a, b, op),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => compare(cx, a, b, op),
        BinaryOp::In => Err(cx.arity().into()),
    }
}
