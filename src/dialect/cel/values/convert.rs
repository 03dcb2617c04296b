//! Conversions from one type to another. What is out of the other type's range, or not written as one of its values
//! is, is an error.

use super::errors::{arithmetic, conversion, no_such_overload};
use super::{as_bytes, text, time, type_name};
use crate::diagnostics::Result;
use crate::function::Cx;
use crate::stdlib::float_texts;
use crate::value::{Extended, Value};

/// 2^63 and 2^64, which are floats.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// `int(value)`: of a float what is in front of the point, of a text the number it writes, of a moment its seconds, of a
/// span of time its nanoseconds.
///
/// # Errors
/// There is no such number.
pub fn int(value: Value<'_>) -> Result<Value<'_>> {
    Ok(Value::Int(match (value, value.extended()) {
        (Value::Int(n), _) => n,
        (Value::Uint(n), _) => i64::try_from(n).map_err(|_| arithmetic("integer overflow"))?,
        // Neither end is part of the range, though one is a number that fits.
        (Value::Float(n), _) if -TWO_TO_63 < n && n < TWO_TO_63 => n as i64,
        (Value::Float(_), _) => return Err(arithmetic("integer overflow")),
        (Value::Str(text), _) => text.as_str().parse().map_err(|_| conversion(value, "int"))?,
        (_, Some(Extended::Timestamp { seconds, .. })) => *seconds,
        (_, Some(Extended::Duration(nanos))) => *nanos,
        _ => return Err(no_such_overload("int", false, &[value])),
    }))
}

/// `uint(value)`.
///
/// # Errors
/// There is no such number.
pub fn uint(value: Value<'_>) -> Result<Value<'_>> {
    Ok(Value::Uint(match value {
        Value::Uint(n) => n,
        Value::Int(n) => u64::try_from(n).map_err(|_| arithmetic("unsigned integer overflow"))?,
        Value::Float(n) if (0.0..TWO_TO_64).contains(&n) => n as u64,
        Value::Float(_) => return Err(arithmetic("unsigned integer overflow")),
        Value::Str(text) if text.as_str().starts_with('+') => return Err(conversion(value, "uint")),
        Value::Str(text) => text.as_str().parse().map_err(|_| conversion(value, "uint"))?,
        _ => return Err(no_such_overload("uint", false, &[value])),
    }))
}

/// `double(value)`: the nearest one.
///
/// # Errors
/// A text that is no number, or one that is too large.
pub fn double(value: Value<'_>) -> Result<Value<'_>> {
    Ok(Value::Float(match value {
        Value::Float(n) => n,
        Value::Int(n) => n as f64,
        Value::Uint(n) => n as f64,
        Value::Str(text) => float_texts::read(text.as_str()).ok_or_else(|| conversion(value, "double"))?,
        _ => return Err(no_such_overload("double", false, &[value])),
    }))
}

/// `bool(value)`.
///
/// # Errors
/// A text that is none of those for true and false.
pub fn bool(value: Value<'_>) -> Result<Value<'_>> {
    Ok(Value::Bool(match value {
        Value::Bool(truth) => truth,
        Value::Str(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            _ => return Err(conversion(value, "bool")),
        },
        _ => return Err(no_such_overload("bool", false, &[value])),
    }))
}

/// `bytes(value)`: of a text its UTF-8 form.
///
/// # Errors
/// There are none of such a value, or a limit of the render.
pub fn bytes<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    match value.as_str() {
        Some(text) => cx.extended(Extended::Bytes(text.as_bytes())),
        None if as_bytes(value).is_some() => Ok(value),
        None => Err(no_such_overload("bytes", false, &[value])),
    }
}

/// `string(value)`.
///
/// # Errors
/// It has no text, or a limit of the render.
pub fn string<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    text::string(cx, value)
}

/// `timestamp(value)`: of a number so many seconds after the beginning of 1970.
///
/// # Errors
/// There is no such moment, or a limit of the render.
pub fn timestamp<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    match (value, value.extended()) {
        (_, Some(Extended::Timestamp { .. })) => Ok(value),
        (Value::Int(seconds), _) => time::timestamp(cx, time::nanos_of(seconds, 0)),
        (Value::Str(_), _) => time::timestamp_of_text(cx, value),
        _ => Err(no_such_overload("timestamp", false, &[value])),
    }
}

/// `duration(value)`.
///
/// # Errors
/// There is no such span, or a limit of the render.
pub fn duration<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    match (value, value.extended()) {
        (_, Some(Extended::Duration(_))) => Ok(value),
        (Value::Str(_), _) => time::duration_of_text(cx, value),
        _ => Err(no_such_overload("duration", false, &[value])),
    }
}

/// `type(value)`.
///
/// # Errors
/// A limit of the render.
pub fn type_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    cx.extended(Extended::Named(type_name(value)))
}
