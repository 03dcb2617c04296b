//! Logic on booleans: `!`, `&&` and `||`. The order of the operands does not matter.

use super::marks::propagate;
use super::refine::bool_or_unknown;
use super::{Fault, Outcome};
use crate::function::Cx;
use crate::value::{Type, Value};

/// Negates a boolean.
///
/// # Errors
/// The operand is null or not a boolean.
#[inline]
pub fn not<'v>(cx: &Cx<'v>, a: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [a], |[a]| Ok(bool_or_unknown(cx, operand(a, 0)?.map(|a| !a))))
}

/// Returns `true` if both operands are true, and `false` if either is false.
///
/// # Errors
/// An operand is null or not a boolean.
#[inline]
pub fn and<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    decided_by(cx, a, b, false)
}

/// Returns `true` if either operand is true.
///
/// # Errors
/// An operand is null or not a boolean.
#[inline]
pub fn or<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    decided_by(cx, a, b, true)
}

/// Returns `decisive` if an operand has that value, its opposite if both have the opposite, and otherwise unknown.
fn decided_by<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, decisive: bool) -> Outcome<Value<'v>> {
    propagate(cx, [a, b], |[a, b]| {
        let result = match (operand(a, 0)?, operand(b, 1)?) {
            (Some(a), _) if a == decisive => Some(decisive),
            (_, Some(b)) if b == decisive => Some(decisive),
            (Some(_), Some(_)) => Some(!decisive),
            _ => None,
        };
        Ok(bool_or_unknown(cx, result))
    })
}

/// Returns a boolean operand, or `None` if it is unknown.
fn operand(value: Value<'_>, at: usize) -> Outcome<Option<bool>> {
    match (value, value.as_unknown()) {
        (Value::Bool(b), _) => Ok(Some(b)),
        (_, Some(unknown)) if matches!(unknown.ty, Type::Bool | Type::Dynamic) => Ok(None),
        _ if value.is_null() => Err(Fault::argument(at, "argument must not be null")),
        _ => Err(Fault::argument(at, "a bool is required")),
    }
}
