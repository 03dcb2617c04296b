//! Arithmetic, conversions and names of types. Integers are `int64` and wrap; arguments of any type are converted
//! first.

use super::kind_name;
use crate::error::failed;
use crate::values::{int64, strval, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::number_literals;
use dropforge_base::stdlib::number_literals::{BadInt, in_base, with_prefix};
use dropforge_base::stdlib::numbers::Decimal;
use dropforge_base::stdlib::numbers::power;
use dropforge_machine::function::{Cx, Rest};
use dropforge_machine::functions;
use dropforge_value::{Extended, Value};

functions! {
    /// Arithmetic.
    pub(super) static MATH:
    "add" [... Any] = add, "Adds integers." [r#"{{ add 1 2 "3" }}"# => "6"];
    "add1" [Any] = add1, "Adds 1 to an integer." [r#"{{ add1 1 }}"# => "2"];
    "sub" [Any, Any] = sub, "Subtracts the second integer from the first." [r#"{{ sub 5 3 }}"# => "2"];
    "mul" [Any, ... Any] = folded(i64::wrapping_mul), "Multiplies integers." [r#"{{ mul 2 3 4 }}"# => "24"];
    "div" [Any, Any] = division(i64::wrapping_div), "Divides the first integer by the second and drops the fraction."
        [r#"{{ div 7 2 }}"# => "3", r#"{{ div 1 0 }}"# => "E0404"];
    "mod" [Any, Any] = division(i64::wrapping_rem), "Returns the remainder of a division, with the sign of the dividend."
        [r#"{{ mod -7 3 }}"# => "-1"];
    "max" [Any, ... Any] = folded(i64::max), "Returns the largest integer." [r#"{{ max 1 5 3 }}"# => "5"];
    "biggest" [Any, ... Any] = folded(i64::max), "Returns the largest integer, like `max`." [r#"{{ biggest 1 5 3 }}"# => "5"];
    "min" [Any, ... Any] = folded(i64::min), "Returns the smallest integer." [r#"{{ min 2 5 3 }}"# => "2"];
    "maxf" [Any, ... Any] = folded_floats(f64::INFINITY, f64::max), "Returns the largest float." [r#"{{ maxf 1.5 3 2 }}"# => "3"];
    "minf" [Any, ... Any] = folded_floats(f64::NEG_INFINITY, f64::min), "Returns the smallest float." [r#"{{ minf 1.5 3 2 }}"# => "1.5"];
    "addf" [... Any] = add_floats, "Adds floats as decimals." [r#"{{ addf 0.1 0.2 }}"# => "0.3"];
    "add1f" [Any] = add_one, "Adds 1 to a float." [r#"{{ add1f 1.5 }}"# => "2.5"];
    "subf" [Any, ... Any] = sub_floats, "Subtracts floats from the first one, as decimals." [r#"{{ subf 0.3 0.1 }}"# => "0.2"];
    "mulf" [Any, ... Any] = mul_floats, "Multiplies floats as decimals." [r#"{{ mulf 1.5 2 2 }}"# => "6"];
    "divf" [Any, ... Any] = div_floats, "Divides the first float by the others, as decimals."
        [r#"{{ divf 10 2 4 }}"# => "1.25", r#"{{ divf 1 0 }}"# => "E0404"];
    "ceil" [Any] = |value: Value<'_>| to_float64(value).ceil(), "Rounds a float up." [r#"{{ ceil 1.2 }}"# => "2"];
    "floor" [Any] = |value: Value<'_>| to_float64(value).floor(), "Rounds a float down." [r#"{{ floor 1.8 }}"# => "1"];
    "round" [Any, Int, ... Float] = round,
        "Rounds a float to a number of digits after the decimal point: up from a fraction of 0.5, or of a third argument."
        [r#"{{ round 3.14159 3 }}"# => "3.142", r#"{{ round 2.5 0 0.4 }}"# => "3"];
}

fn add<'v>(cx: &Cx<'v>, Rest(values): Rest<'_, 'v>) -> Result<Value<'v>> {
    int64(cx, values.iter().fold(0, |sum, value| sum.wrapping_add(to_int64(*value))))
}

fn add1<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    int64(cx, to_int64(value).wrapping_add(1))
}

fn sub<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    int64(cx, to_int64(a).wrapping_sub(to_int64(b)))
}

/// Returns a body that divides by an integer other than 0.
fn division<'v>(divide: fn(i64, i64) -> i64) -> impl Fn(&Cx<'v>, Value<'v>, Value<'v>) -> Result<Value<'v>> {
    move |cx, a, b| match to_int64(b) {
        0 => Err(failed("runtime error: integer divide by zero")),
        divisor => int64(cx, divide(to_int64(a), divisor)),
    }
}

/// Returns a body that combines all integers.
fn folded<'a, 'v>(combine: fn(i64, i64) -> i64) -> impl Fn(&Cx<'v>, Value<'v>, Rest<'a, 'v>) -> Result<Value<'v>> {
    move |cx, first, Rest(others)| {
        int64(cx, others.iter().fold(to_int64(first), |all, value| combine(all, to_int64(*value))))
    }
}

/// Returns a body that combines all floats. NaN wins, unless there is the infinity that no number exceeds.
fn folded_floats<'a, 'v>(most: f64, combine: fn(f64, f64) -> f64) -> impl Fn(Value<'v>, Rest<'a, 'v>) -> f64 {
    let larger = move |a: f64, b: f64| match (a, b) {
        _ if a == most || b == most => most,
        _ if a.is_nan() || b.is_nan() => f64::NAN,
        // Zeros are equal, but not the same.
        _ if a == b => {
            if a.is_sign_negative() == most.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => combine(a, b),
    };
    move |first, Rest(others)| others.iter().map(|value| to_float64(*value)).fold(to_float64(first), larger)
}

/// Converts a value to a decimal.
fn decimal(value: Value<'_>) -> Result<Decimal> {
    let number = to_float64(value);
    let not_finite = || {
        let name = if number.is_nan() {
            "NaN"
        } else if number < 0.0 {
            "-Inf"
        } else {
            "+Inf"
        };
        failed(format!("Cannot create a Decimal from {name}"))
    };
    Decimal::of_float(number).ok_or_else(not_finite)
}

/// Combines all floats as decimals, from the first to the last.
fn combined<'v>(
    cx: &Cx<'v>,
    first: Value<'v>,
    others: &[Value<'v>],
    combine: impl Fn(&Decimal, &Decimal) -> Result<Decimal>,
) -> Result<f64> {
    let mut result = decimal(first)?;
    for other in others {
        cx.charge(usize::try_from(result.size()).unwrap_or(usize::MAX))?;
        result = combine(&result, &decimal(*other)?)?;
    }
    Ok(result.to_float())
}

fn add_floats<'v>(cx: &Cx<'v>, Rest(others): Rest<'_, 'v>) -> Result<f64> {
    combined(cx, Value::Float(0.0), others, |a, b| Ok(a.plus(b)))
}

fn add_one<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<f64> {
    combined(cx, value, &[Value::Float(1.0)], |a, b| Ok(a.plus(b)))
}

fn sub_floats<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Result<f64> {
    combined(cx, first, others, |a, b| Ok(a.minus(b)))
}

fn mul_floats<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Result<f64> {
    combined(cx, first, others, |a, b| Ok(a.times(b)))
}

fn div_floats<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Result<f64> {
    combined(cx, first, others, |a, b| a.over(b).ok_or_else(|| failed("decimal division by 0")))
}

fn round<'v>(number: Value<'v>, digits: i64, Rest(from): Rest<'_, 'v>) -> f64 {
    let from = from.first().map_or(0.5, |from| to_float64(*from));
    let scale = power(10.0, digits as f64);
    let scaled = scale * to_float64(number);
    let rounded = if scaled.fract() >= from { scaled.ceil() } else { scaled.floor() };
    rounded / scale
}

functions! {
    /// Conversions, and names of types.
    pub(super) static CONVERSIONS:
    "int" [Any] = to_int64,
        "Converts a value to an `int`, or 0 if it is not a number."
        [r#"{{ int "12" }} {{ int 1.9 }} {{ int "a" }}"# => "12 1 0"];
    "int64" [Any] = as_int64, "Converts a value to an `int64`, or 0 if it is not a number." [r#"{{ int64 "0x1f" }}"# => "31"];
    "float64" [Any] = to_float64,
        "Converts a value to a `float64`, or 0 if it is not a number."
        [r#"{{ float64 "1e3" }}"# => "1000"];
    "atoi" [Str] = atoi, "Converts decimal digits to an `int`, or 0 if there is anything else."
        [r#"{{ atoi "010" }} {{ atoi "1.5" }}"# => "10 0"];
    "toDecimal" [Any] = to_decimal, "Converts octal digits to an `int64`." [r#"{{ toDecimal "0755" }}"# => "493"];
    "kindOf" [Any] = |value: Value<'_>| kind_name(value).into_owned(), looks Kinds, "Returns the kind of a value's type." [r#"{{ kindOf (list 1) }} {{ kindOf 1 }}"# => "slice int"];
    "kindIs" [Str, Any] = |name: &[u8], value: Value<'_>| kind_name(value).as_bytes() == name,
        looks Kinds, "Returns `true` if a value's type is of a kind." [r#"{{ kindIs "map" (dict) }}"# => "true"];
    "typeOf" [Any] = |value: Value<'_>| type_name(value).into_owned(), looks Kinds, "Returns the name of a value's type." [r#"{{ typeOf (dict) }}"# => "map[string]interface {}"];
    "typeIs" [Str, Any] = |name: &[u8], value: Value<'_>| type_name(value).as_bytes() == name,
        looks Kinds, "Returns `true` if a value has a type." [r#"{{ typeIs "int" 1 }}"# => "true"];
    "typeIsLike" [Str, Any] = type_is_like, looks Kinds, "Returns `true` if a value has a type or is a pointer to it."
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
fn to_float64(value: Value<'_>) -> f64 {
    match value {
        Value::Bool(truth) => f64::from(u8::from(truth)),
        Value::Extended(extension) => match extension.kind() {
            Extended::Sized(n) => n.number() as f64,
            Extended::Written(inner, _) => to_float64(*inner),
            _ => 0.0,
        },
        Value::Str(text) => number_literals::read(text.as_str()).unwrap_or(0.0),
        number => number.as_f64().unwrap_or(0.0),
    }
}

fn as_int64<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    int64(cx, to_int64(value))
}

fn atoi(text: &[u8]) -> i64 {
    match in_base(std::str::from_utf8(text).unwrap_or(""), 10) {
        Ok(n) | Err(BadInt::Range(n)) => n,
        Err(BadInt::Syntax) => 0,
    }
}

fn to_decimal<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let text = strval(cx, value)?;
    int64(cx, std::str::from_utf8(text).ok().and_then(|text| in_base(text, 8).ok()).unwrap_or(0))
}

fn type_is_like(name: &[u8], value: Value<'_>) -> bool {
    let found = type_name(value);
    found.as_bytes() == name || found.strip_prefix('*').is_some_and(|found| found.as_bytes() == name)
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
