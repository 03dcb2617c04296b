//! Conversions of any value to a number.

use super::arguments::{kind_name, only, only_bytes, text_of};
use crate::values::{int64, text_bytes, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::float_parse;
use dropforge_base::stdlib::int_parse::{BadInt, in_base, with_prefix};
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

assigned! {
    /// Conversions, and names of types.
    pub(super) static CONVERSIONS:
    "int" (Any) = to_int, "Converts a value to an `int`, or 0 if it is not a number."
        [r#"{{ int "12" }} {{ int 1.9 }} {{ int "a" }}"# => "12 1 0"];
    "int64" (Any) = to_sized, "Converts a value to an `int64`, or 0 if it is not a number." [r#"{{ int64 "0x1f" }}"# => "31"];
    "float64" (Any) = to_float, "Converts a value to a `float64`, or 0 if it is not a number."
        [r#"{{ float64 "1e3" }}"# => "1000"];
    "atoi" (Str) = atoi, "Converts decimal digits to an `int`, or 0 if there is anything else."
        [r#"{{ atoi "010" }} {{ atoi "1.5" }}"# => "10 0"];
    "toDecimal" (Any) = to_decimal, "Converts octal digits to an `int64`." [r#"{{ toDecimal "0755" }}"# => "493"];
    "kindOf" (Any) = kind_of, looks Kinds, "Returns the kind of a value's type." [r#"{{ kindOf (list 1) }} {{ kindOf 1 }}"# => "slice int"];
    "kindIs" (Str, Any) = kind_is, looks Kinds, "Returns `true` if a value's type is of a kind." [r#"{{ kindIs "map" (dict) }}"# => "true"];
    "typeOf" (Any) = type_of, looks Kinds, "Returns the name of a value's type." [r#"{{ typeOf (dict) }}"# => "map[string]interface {}"];
    "typeIs" (Str, Any) = type_is, looks Kinds, "Returns `true` if a value has a type." [r#"{{ typeIs "int" 1 }}"# => "true"];
    "typeIsLike" (Str, Any) = type_is_like, looks Kinds, "Returns `true` if a value has a type or is a pointer to it."
        [r#"{{ typeIsLike "int" 1 }}"# => "true"];
}

/// Converts a value to an integer of 64 bits: numbers without their fraction, `true` to 1, text as in source code. Other
/// values are 0.
pub(super) fn to_int64(value: Value<'_>) -> i64 {
    match value {
        Value::Bool(truth) => i64::from(truth),
        Value::Int(n) => n,
        Value::Uint(n) => n.cast_signed(),
        Value::Float(n) => truncated(n),
        Value::Extended(extension) => match extension.kind() {
            // Unsigned integers keep their bits.
            Extended::Sized(n) => n.number() as i64,
            Extended::Written(inner, _) => to_int64(*inner),
            _ => 0,
        },
        _ => value.as_str().and_then(|text| with_prefix(without_zero_fraction(text)).ok()).unwrap_or(0),
    }
}

/// Converts a float to an integer. Numbers that do not fit become the smallest one.
fn truncated(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}

/// Returns a text without a fraction of zeros.
fn without_zero_fraction(text: &str) -> &str {
    let whole = text.trim_end_matches('0').strip_suffix('.');
    whole.filter(|_| text.ends_with('0')).unwrap_or(text)
}

/// Converts a value to a float, like [`to_int64`].
pub(super) fn to_float64(value: Value<'_>) -> f64 {
    match value {
        Value::Bool(truth) => f64::from(u8::from(truth)),
        Value::Extended(extension) => match extension.kind() {
            Extended::Sized(n) => n.number() as f64,
            Extended::Written(inner, _) => to_float64(*inner),
            _ => 0.0,
        },
        Value::Str(text) => float_parse::read(text.as_str()).unwrap_or(0.0),
        number => number.as_f64().unwrap_or(0.0),
    }
}

fn to_int<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Int(to_int64(only(cx, args)?)))
}

fn to_sized<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    int64(cx, to_int64(only(cx, args)?))
}

fn to_float<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Float(to_float64(only(cx, args)?)))
}

fn atoi<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let text = std::str::from_utf8(only_bytes(cx, args)?).unwrap_or("");
    Ok(Value::Int(match in_base(text, 10) {
        Ok(n) | Err(BadInt::Range(n)) => n,
        Err(BadInt::Syntax) => 0,
    }))
}

fn to_decimal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let value = only(cx, args)?;
    let text = text_of(cx, value)?;
    int64(cx, std::str::from_utf8(&text).ok().and_then(|text| in_base(text, 8).ok()).unwrap_or(0))
}

fn kind_of<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    cx.text(&kind_name(only(cx, args)?))
}

fn type_of<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    cx.text(&type_name(only(cx, args)?))
}

/// Returns `true` if `holds` for the name among the arguments and the value.
fn compared<'v>(cx: &Cx<'v>, args: &[Value<'v>], holds: impl FnOnce(&[u8], Value<'v>) -> bool) -> Result<Value<'v>> {
    let [name, value] = args else { return Err(cx.arity()) };
    text_bytes(*name).map(|name| Value::Bool(holds(name, *value))).ok_or_else(|| cx.arity())
}

fn kind_is<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    compared(cx, args, |name, value| kind_name(value).as_bytes() == name)
}

fn type_is<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    compared(cx, args, |name, value| type_name(value).as_bytes() == name)
}

fn type_is_like<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    compared(cx, args, |name, value| {
        let found = type_name(value);
        found.as_bytes() == name || found.strip_prefix('*').is_some_and(|found| found.as_bytes() == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_integers_as_in_source_code() {
        let int = |text: &str| to_int64(dropforge_value::Arena::new().text(text));
        for (text, wanted) in [
            ("12", 12),
            ("1.0", 1),
            ("10.00", 10),
            ("100", 100),
            ("0", 0),
            ("1.9", 0),
            ("1.", 0),
            (".0", 0),
            ("0x1f", 31),
            ("010", 8),
            ("1e3", 0),
            ("", 0),
        ] {
            assert_eq!(int(text), wanted, "{text}");
        }
        assert_eq!(to_int64(Value::Float(1e21)), i64::MIN);
        assert_eq!(to_int64(Value::Float(f64::NAN)), i64::MIN);
        assert_eq!(to_int64(Value::Float(-1.9)), -1);
    }
}
