//! Arithmetic, concatenation, and calculation with times. Operands of different number types do not mix.

use super::errors::{arithmetic, no_such_overload};
use super::time;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

/// `a + b`: adds numbers or times; concatenates strings, bytes or lists.
///
/// # Errors
/// An overflow, operands that cannot be added, or a limit of the render.
pub fn add<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
        (Value::Str(a), Value::Str(b)) => {
            let (a, b) = (a.as_str(), b.as_str());
            cx.charge(a.len() + b.len() + size_of::<Value>())?;
            Ok(cx.arena().text_with(a.len() + b.len(), |text| {
                text.push_str(a);
                text.push_str(b);
            }))
        }
        (Value::List(a), Value::List(b)) => {
            let len = a.items().len() + b.items().len();
            cx.charge(len * size_of::<Value>())?;
            cx.list(&[a.items(), b.items()].concat())
        }
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(b)),
        _ => match (a.extended(), b.extended()) {
            (Some(Extended::Bytes(a)), Some(Extended::Bytes(b))) => {
                cx.charge(a.len() + b.len())?;
                cx.bytes(&[*a, *b].concat())
            }
            (Some(Extended::Duration(a)), Some(Extended::Duration(b))) => time::duration(cx, a.checked_add(*b)),
            (Some(Extended::Duration(span)), Some(Extended::Timestamp { seconds, nanos }))
            | (Some(Extended::Timestamp { seconds, nanos }), Some(Extended::Duration(span))) => {
                time::timestamp(cx, time::nanos_of(*seconds, *nanos) + i128::from(*span))
            }
            _ => Err(no_such_overload("_+_", false, &[a, b])),
        },
    }
}

/// `a - b`: subtracts numbers or times.
///
/// # Errors
/// An overflow, or operands that cannot be subtracted.
pub fn subtract<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a - b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(b)),
        _ => match (a.extended(), b.extended()) {
            (Some(Extended::Duration(a)), Some(Extended::Duration(b))) => time::duration(cx, a.checked_sub(*b)),
            (Some(Extended::Timestamp { seconds, nanos }), Some(Extended::Duration(span))) => {
                time::timestamp(cx, time::nanos_of(*seconds, *nanos) - i128::from(*span))
            }
            (
                Some(Extended::Timestamp { seconds, nanos }),
                Some(Extended::Timestamp { seconds: other_seconds, nanos: other_nanos }),
            ) => {
                let span = time::nanos_of(*seconds, *nanos) - time::nanos_of(*other_seconds, *other_nanos);
                time::duration(cx, i64::try_from(span).ok())
            }
            _ => Err(no_such_overload("_-_", false, &[a, b])),
        },
    }
}

/// `a * b`.
///
/// # Errors
/// An overflow, or operands that cannot be multiplied.
pub fn multiply<'v>(a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_mul(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a * b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(b)),
        _ => Err(no_such_overload("_*_", false, &[a, b])),
    }
}

/// `a / b`: integer division truncates towards zero.
///
/// # Errors
/// An integer division by zero, an overflow, or operands that cannot be divided.
pub fn divide<'v>(a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(arithmetic("division by zero")),
        (Value::Int(a), Value::Int(b)) => int(a.checked_div(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a / b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(b)),
        _ => Err(no_such_overload("_/_", false, &[a, b])),
    }
}

/// `a % b`, with the sign of `a`.
///
/// # Errors
/// A zero divisor, an overflow, or operands that are not integers.
pub fn modulo<'v>(a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(arithmetic("modulus by zero")),
        (Value::Int(a), Value::Int(b)) => int(a.checked_rem(b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(b)),
        _ => Err(no_such_overload("_%_", false, &[a, b])),
    }
}

/// `-a`.
///
/// # Errors
/// An overflow, or an operand that is not a signed number.
pub fn negate<'v>(a: Value<'v>) -> Result<Value<'v>> {
    match a {
        Value::Int(a) => int(a.checked_neg()),
        Value::Float(a) => Ok(Value::Float(-a)),
        _ => Err(no_such_overload("-_", false, &[a])),
    }
}

/// Returns the result of a checked operation on integers.
fn int<'v>(number: Option<i64>) -> Result<Value<'v>> {
    number.map(Value::Int).ok_or_else(|| arithmetic("integer overflow"))
}

/// Returns the result of a checked operation on unsigned integers.
fn uint<'v>(number: Option<u64>) -> Result<Value<'v>> {
    number.map(Value::Uint).ok_or_else(|| arithmetic("unsigned integer overflow"))
}
