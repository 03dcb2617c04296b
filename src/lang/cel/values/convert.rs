//! Conversions between types. A value that is out of the target's range, or text that does not parse, is an error.
//!
//! Each conversion pays in steps for the length of the string or bytes that it reads. The text of a value is that of
//! `string(value)`, and that within text in templates.

use std::borrow::Cow;

use super::{arithmetic, as_bytes, bad_argument, byte_len, conversion, no_such_overload, time, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::{float_format, number_literals, timestamps};
use dropforge_machine::function::Cx;
use dropforge_value::{Capsule, CapsuleContent, Extended, Value};

/// 2^63, exact as a float.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
/// 2^64, exact as a float.
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// Spends the steps that reading a value takes.
fn pay(cx: &Cx<'_>, value: Value<'_>) -> Result<()> {
    cx.spend((byte_len(value) / 64) as u64)
}

/// `int(value)`: truncates a float, parses a string, returns the seconds of a timestamp or the nanoseconds of a duration.
///
/// # Errors
/// The value does not convert, or a limit of the render.
pub fn int<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<i64> {
    pay(cx, value)?;
    Ok(match (value, value.extended()) {
        (Value::Int(n), _) => n,
        (Value::Uint(n), _) => i64::try_from(n).map_err(|_| arithmetic("integer overflow"))?,
        // The reference excludes both ends, although -2^63 would fit.
        (Value::Float(n), _) if -TWO_TO_63 < n && n < TWO_TO_63 => n as i64,
        (Value::Float(_), _) => return Err(arithmetic("integer overflow")),
        (Value::Str(text), _) => text.as_str().parse().map_err(|_| conversion(value, "int"))?,
        (_, Some(Extended::Timestamp { seconds, .. })) => *seconds,
        (_, Some(Extended::Duration(nanos))) => *nanos,
        _ => return Err(no_such_overload("int", false, &[value])),
    })
}

/// `uint(value)`.
///
/// # Errors
/// The value does not convert, or a limit of the render.
pub fn uint<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<u64> {
    pay(cx, value)?;
    Ok(match value {
        Value::Uint(n) => n,
        Value::Int(n) => u64::try_from(n).map_err(|_| arithmetic("unsigned integer overflow"))?,
        Value::Float(n) if (0.0..TWO_TO_64).contains(&n) => n as u64,
        Value::Float(_) => return Err(arithmetic("unsigned integer overflow")),
        Value::Str(text) if text.as_str().starts_with('+') => return Err(conversion(value, "uint")),
        Value::Str(text) => text.as_str().parse().map_err(|_| conversion(value, "uint"))?,
        _ => return Err(no_such_overload("uint", false, &[value])),
    })
}

/// `double(value)`: the nearest double.
///
/// # Errors
/// The value does not convert, or a limit of the render.
pub fn double<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<f64> {
    pay(cx, value)?;
    Ok(match value {
        Value::Float(n) => n,
        Value::Int(n) => n as f64,
        Value::Uint(n) => n as f64,
        Value::Str(text) => number_literals::read(text.as_str()).ok_or_else(|| conversion(value, "double"))?,
        _ => return Err(no_such_overload("double", false, &[value])),
    })
}

/// `bool(value)`.
///
/// # Errors
/// The value does not convert, or a limit of the render.
pub fn bool<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
    pay(cx, value)?;
    match (value, value.as_str()) {
        (Value::Bool(truth), _) => Ok(truth),
        (_, Some("1" | "t" | "T" | "true" | "TRUE" | "True")) => Ok(true),
        (_, Some("0" | "f" | "F" | "false" | "FALSE" | "False")) => Ok(false),
        (_, Some(_)) => Err(conversion(value, "bool")),
        (_, None) => Err(no_such_overload("bool", false, &[value])),
    }
}

/// `bytes(value)`: the UTF-8 bytes of a string.
///
/// # Errors
/// The value does not convert, or a limit of the render.
pub fn bytes<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    pay(cx, value)?;
    match value.as_str() {
        Some(text) => cx.extended(Extended::Bytes(text.as_bytes())),
        None if as_bytes(value).is_some() => Ok(value),
        None => Err(no_such_overload("bytes", false, &[value])),
    }
}

/// `string(value)`.
///
/// # Errors
/// The value does not convert, or a limit of the render.
pub fn string<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    pay(cx, value)?;
    if value.as_str().is_some() {
        return Ok(value);
    }
    if let Some(digits) = digits(value, &mut itoa::Buffer::new()) {
        return cx.text(digits);
    }
    match plain(value)? {
        Some(Cow::Borrowed(text)) => cx.borrowed(text),
        Some(Cow::Owned(text)) => cx.text(&text),
        None => Err(no_such_overload("string", false, &[value])),
    }
}

/// `timestamp(value)`: parses a string, or converts seconds since 1970.
///
/// # Errors
/// The value does not convert, or a limit of the render.
pub fn timestamp<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    pay(cx, value)?;
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
/// The value does not convert, or a limit of the render.
pub fn duration<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    pay(cx, value)?;
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

/// Returns the text of a string, boolean, number, timestamp, duration, capsule or UTF-8 bytes; [`None`] for null, lists,
/// maps, types and optionals.
///
/// # Errors
/// Bytes that are not UTF-8.
pub fn plain<'v>(value: Value<'v>) -> Result<Option<Cow<'v, str>>> {
    let value = value.unwritten();
    Ok(Some(match (value, value.extended()) {
        (Value::Str(text), _) => Cow::Borrowed(text.as_str()),
        (Value::Bool(truth), _) => Cow::Borrowed(if truth { "true" } else { "false" }),
        (Value::Int(n), _) => Cow::Owned(n.to_string()),
        (Value::Uint(n), _) => Cow::Owned(n.to_string()),
        (Value::Float(n), _) => Cow::Owned(float_format::shortest(n)),
        (_, Some(Extended::Bytes(bytes))) => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(error) => {
                let at = error.valid_up_to();
                return Err(bad_argument(format!("invalid UTF-8 in bytes, at {at}: they cannot become a string")));
            }
        },
        (_, Some(Extended::Timestamp { seconds, nanos })) => match timestamps::utc_text(*seconds, *nanos) {
            Some(text) => Cow::Owned(text),
            None => return Ok(None),
        },
        (_, Some(Extended::Duration(nanos))) => Cow::Owned(timestamps::seconds_text(*nanos)),
        (_, Some(Extended::Capsule(Capsule { content: CapsuleContent::Text(text), .. }))) => Cow::Borrowed(*text),
        _ => return Ok(None),
    }))
}

/// Formats an integer.
pub fn digits<'b>(value: Value<'_>, buffer: &'b mut itoa::Buffer) -> Option<&'b str> {
    match value {
        Value::Int(n) => Some(buffer.format(n)),
        Value::Uint(n) => Some(buffer.format(n)),
        _ => None,
    }
}
