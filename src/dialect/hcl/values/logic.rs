//! Logic on booleans: `!`, `&&`, `||`, without regard to which side is written first.

use super::marks::marked_by;
use super::refine::unknown_bool;
use super::{Fault, Outcome};
use crate::function::Cx;
use crate::value::{Type, Value};

/// The boolean that is not `a`.
///
/// # Errors
/// The operand is null or no boolean.
#[inline]
pub fn not<'v>(cx: &Cx<'v>, a: Value<'v>) -> Outcome<Value<'v>> {
    match a {
        Value::Bool(a) => Ok(Value::Bool(!a)),
        _ => {
            let (a, marks) = a.unmarked();
            let result = operand(a, 0)?.map_or_else(|| unknown_bool(cx), |a| Value::Bool(!a));
            marked_by(cx, result, marks, &[])
        }
    }
}

/// Whether both are true; false where one is false, whatever the other is.
///
/// # Errors
/// An operand is null or no boolean.
#[inline]
pub fn and<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(a && b)),
        _ => decided_by(cx, a, b, false),
    }
}

/// Whether one is true, whatever the other is.
///
/// # Errors
/// An operand is null or no boolean.
#[inline]
pub fn or<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(a || b)),
        _ => decided_by(cx, a, b, true),
    }
}

/// `decisive` where one operand is it; the opposite where both are that; else unknown.
#[cold]
fn decided_by<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, decisive: bool) -> Outcome<Value<'v>> {
    let ((a, marks), (b, others)) = (a.unmarked(), b.unmarked());
    let result = match (operand(a, 0)?, operand(b, 1)?) {
        (Some(a), _) if a == decisive => Value::Bool(decisive),
        (_, Some(b)) if b == decisive => Value::Bool(decisive),
        (Some(_), Some(_)) => Value::Bool(!decisive),
        _ => unknown_bool(cx),
    };
    marked_by(cx, result, marks, others)
}

/// A boolean; none where it is unknown.
fn operand(value: Value<'_>, at: usize) -> Outcome<Option<bool>> {
    match (value, value.as_unknown()) {
        (Value::Bool(b), _) => Ok(Some(b)),
        (_, Some(unknown)) if matches!(unknown.ty, Type::Bool | Type::Dynamic) => Ok(None),
        _ if value.is_null() => Err(Fault::argument(at, "argument must not be null")),
        _ => Err(Fault::argument(at, "a bool is required")),
    }
}
