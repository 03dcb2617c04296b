//! Arithmetic, and what `+` and `-` are beyond it. Types are not mixed.

use super::errors::{arithmetic, no_such_overload};
use super::time;
use crate::diagnostics::Result;
use crate::function::Cx;
use crate::value::{Extended, Value};

/// `a + b`: the sum of numbers or times, or two texts, byte sequences or lists one behind the other.
///
/// # Errors
/// The sum does not fit, no such values are added, or a limit of the render.
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

/// `a - b`: the difference of numbers or times.
///
/// # Errors
/// The difference does not fit, or there is none of such values.
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
/// The product does not fit, or there is none of such values.
pub fn multiply<'v>(a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_mul(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a * b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(b)),
        _ => Err(no_such_overload("_*_", false, &[a, b])),
    }
}

/// `a / b`: of whole numbers cut off towards zero.
///
/// # Errors
/// A whole number is divided by zero, the quotient does not fit, or there is none of such values.
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
/// `b` is zero, the quotient does not fit, or there is none of such values.
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
/// It does not fit, or it is no number with sign.
pub fn negate<'v>(a: Value<'v>) -> Result<Value<'v>> {
    match a {
        Value::Int(a) => int(a.checked_neg()),
        Value::Float(a) => Ok(Value::Float(-a)),
        _ => Err(no_such_overload("-_", false, &[a])),
    }
}

/// A whole number with sign that fits.
pub fn int<'v>(number: Option<i64>) -> Result<Value<'v>> {
    number.map(Value::Int).ok_or_else(|| arithmetic("integer overflow"))
}

/// A whole number without sign that fits.
pub fn uint<'v>(number: Option<u64>) -> Result<Value<'v>> {
    number.map(Value::Uint).ok_or_else(|| arithmetic("unsigned integer overflow"))
}
