//! Arithmetic, conversions and names of types. Integers are `int64` and wrap; arguments of any type are converted
//! first.

use super::arguments::{int, kind_name, only, only_bytes, text_of};
use crate::error::failed;
use crate::values::{int64, text_bytes, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::number_literals;
use dropforge_base::stdlib::number_literals::{BadInt, in_base, with_prefix};
use dropforge_base::stdlib::numbers::Decimal;
use dropforge_base::stdlib::numbers::power;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

assigned! {
    /// Arithmetic.
    pub(super) static MATH:
    "add" (... Any) = add, "Adds integers." [r#"{{ add 1 2 "3" }}"# => "6"];
    "add1" (Any) = |cx, args| int64(cx, to_int64(only(cx, args)?).wrapping_add(1)),
        "Adds 1 to an integer." [r#"{{ add1 1 }}"# => "2"];
    "sub" (Any, Any) = sub, "Subtracts the second integer from the first." [r#"{{ sub 5 3 }}"# => "2"];
    "mul" (Any, ... Any) = |cx, args| folded(cx, args, i64::wrapping_mul),
        "Multiplies integers." [r#"{{ mul 2 3 4 }}"# => "24"];
    "div" (Any, Any) = div, "Divides the first integer by the second and drops the fraction."
        [r#"{{ div 7 2 }}"# => "3", r#"{{ div 1 0 }}"# => "E0404"];
    "mod" (Any, Any) = modulo, "Returns the remainder of a division, with the sign of the dividend."
        [r#"{{ mod -7 3 }}"# => "-1"];
    "max" (Any, ... Any) = max, "Returns the largest integer." [r#"{{ max 1 5 3 }}"# => "5"];
    "biggest" (Any, ... Any) = max, "Returns the largest integer, like `max`." [r#"{{ biggest 1 5 3 }}"# => "5"];
    "min" (Any, ... Any) = |cx, args| folded(cx, args, i64::min),
        "Returns the smallest integer." [r#"{{ min 2 5 3 }}"# => "2"];
    "maxf" (Any, ... Any) = |cx, args| folded_floats(cx, args, f64::INFINITY, f64::max),
        "Returns the largest float." [r#"{{ maxf 1.5 3 2 }}"# => "3"];
    "minf" (Any, ... Any) = |cx, args| folded_floats(cx, args, f64::NEG_INFINITY, f64::min),
        "Returns the smallest float." [r#"{{ minf 1.5 3 2 }}"# => "1.5"];
    "addf" (... Any) = |cx, args| combined(cx, Value::Float(0.0), args, |a, b| Ok(a.plus(b))),
        "Adds floats as decimals." [r#"{{ addf 0.1 0.2 }}"# => "0.3"];
    "add1f" (Any) = |cx, args| combined(cx, only(cx, args)?, &[Value::Float(1.0)], |a, b| Ok(a.plus(b))),
        "Adds 1 to a float." [r#"{{ add1f 1.5 }}"# => "2.5"];
    "subf" (Any, ... Any) = sub_floats, "Subtracts floats from the first one, as decimals." [r#"{{ subf 0.3 0.1 }}"# => "0.2"];
    "mulf" (Any, ... Any) = mul_floats, "Multiplies floats as decimals." [r#"{{ mulf 1.5 2 2 }}"# => "6"];
    "divf" (Any, ... Any) = div_floats, "Divides the first float by the others, as decimals."
        [r#"{{ divf 10 2 4 }}"# => "1.25", r#"{{ divf 1 0 }}"# => "E0404"];
    "ceil" (Any) = |cx, args| Ok(Value::Float(to_float64(only(cx, args)?).ceil())),
        "Rounds a float up." [r#"{{ ceil 1.2 }}"# => "2"];
    "floor" (Any) = |cx, args| Ok(Value::Float(to_float64(only(cx, args)?).floor())),
        "Rounds a float down." [r#"{{ floor 1.8 }}"# => "1"];
    "round" (Any, Int, ... Float) = round,
        "Rounds a float to a number of digits behind the point: up from a fraction of 0.5, or of a third argument."
        [r#"{{ round 3.14159 3 }}"# => "3.142", r#"{{ round 2.5 0 0.4 }}"# => "3"];
}

fn add<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    int64(cx, args.iter().fold(0, |sum, value| sum.wrapping_add(to_int64(*value))))
}

/// Returns two arguments as integers.
fn two(cx: &Cx<'_>, args: &[Value<'_>]) -> Result<(i64, i64)> {
    match args {
        [a, b] => Ok((to_int64(*a), to_int64(*b))),
        _ => Err(cx.arity()),
    }
}

fn sub<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (a, b) = two(cx, args)?;
    int64(cx, a.wrapping_sub(b))
}

/// Returns a dividend and a divisor other than 0.
fn division(cx: &Cx<'_>, args: &[Value<'_>]) -> Result<(i64, i64)> {
    match two(cx, args)? {
        (_, 0) => Err(failed("runtime error: integer divide by zero")),
        pair => Ok(pair),
    }
}

fn div<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (a, b) = division(cx, args)?;
    int64(cx, a.wrapping_div(b))
}

fn modulo<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (a, b) = division(cx, args)?;
    int64(cx, a.wrapping_rem(b))
}

/// Combines all integers.
fn folded<'v>(cx: &Cx<'v>, args: &[Value<'v>], combine: impl Fn(i64, i64) -> i64) -> Result<Value<'v>> {
    let all = args.iter().map(|value| to_int64(*value));
    int64(cx, all.reduce(combine).ok_or_else(|| cx.arity())?)
}

fn max<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    folded(cx, args, i64::max)
}

/// Combines all floats. NaN wins, unless there is the infinity that no number exceeds.
fn folded_floats<'v>(cx: &Cx<'v>, args: &[Value<'v>], most: f64, combine: fn(f64, f64) -> f64) -> Result<Value<'v>> {
    let all = args.iter().map(|value| to_float64(*value));
    let larger = |a: f64, b: f64| match (a, b) {
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
    all.reduce(larger).map(Value::Float).ok_or_else(|| cx.arity())
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
) -> Result<Value<'v>> {
    let mut result = decimal(first)?;
    for other in others {
        cx.charge(usize::try_from(result.size()).unwrap_or(usize::MAX))?;
        result = combine(&result, &decimal(*other)?)?;
    }
    Ok(Value::Float(result.to_float()))
}

fn sub_floats<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [first, others @ ..] = args else { return Err(cx.arity()) };
    combined(cx, *first, others, |a, b| Ok(a.minus(b)))
}

fn mul_floats<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [first, others @ ..] = args else { return Err(cx.arity()) };
    combined(cx, *first, others, |a, b| Ok(a.times(b)))
}

fn div_floats<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [first, others @ ..] = args else { return Err(cx.arity()) };
    combined(cx, *first, others, |a, b| a.over(b).ok_or_else(|| failed("decimal division by 0")))
}

fn round<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [number, digits, from @ ..] = args else { return Err(cx.arity()) };
    let from = from.first().map_or(0.5, |from| to_float64(*from));
    let scale = power(10.0, int(cx, *digits)? as f64);
    let scaled = scale * to_float64(*number);
    let rounded = if scaled.fract() >= from { scaled.ceil() } else { scaled.floor() };
    Ok(Value::Float(rounded / scale))
}

assigned! {
    /// Conversions, and names of types.
    pub(super) static CONVERSIONS:
    "int" (Any) = |cx, args| Ok(Value::Int(to_int64(only(cx, args)?))),
        "Converts a value to an `int`, or 0 if it is not a number."
        [r#"{{ int "12" }} {{ int 1.9 }} {{ int "a" }}"# => "12 1 0"];
    "int64" (Any) = |cx, args| int64(cx, to_int64(only(cx, args)?)),
        "Converts a value to an `int64`, or 0 if it is not a number." [r#"{{ int64 "0x1f" }}"# => "31"];
    "float64" (Any) = |cx, args| Ok(Value::Float(to_float64(only(cx, args)?))),
        "Converts a value to a `float64`, or 0 if it is not a number."
        [r#"{{ float64 "1e3" }}"# => "1000"];
    "atoi" (Str) = atoi, "Converts decimal digits to an `int`, or 0 if there is anything else."
        [r#"{{ atoi "010" }} {{ atoi "1.5" }}"# => "10 0"];
    "toDecimal" (Any) = to_decimal, "Converts octal digits to an `int64`." [r#"{{ toDecimal "0755" }}"# => "493"];
    "kindOf" (Any) = |cx, args| cx.text(&kind_name(only(cx, args)?)),
        looks Kinds, "Returns the kind of a value's type." [r#"{{ kindOf (list 1) }} {{ kindOf 1 }}"# => "slice int"];
    "kindIs" (Str, Any) = |cx, args| compared(cx, args, |name, value| kind_name(value).as_bytes() == name),
        looks Kinds, "Returns `true` if a value's type is of a kind." [r#"{{ kindIs "map" (dict) }}"# => "true"];
    "typeOf" (Any) = |cx, args| cx.text(&type_name(only(cx, args)?)),
        looks Kinds, "Returns the name of a value's type." [r#"{{ typeOf (dict) }}"# => "map[string]interface {}"];
    "typeIs" (Str, Any) = |cx, args| compared(cx, args, |name, value| type_name(value).as_bytes() == name),
        looks Kinds, "Returns `true` if a value has a type." [r#"{{ typeIs "int" 1 }}"# => "true"];
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

/// Returns `true` if `holds` for the name among the arguments and the value.
fn compared<'v>(cx: &Cx<'v>, args: &[Value<'v>], holds: impl FnOnce(&[u8], Value<'v>) -> bool) -> Result<Value<'v>> {
    let [name, value] = args else { return Err(cx.arity()) };
    text_bytes(*name).map(|name| Value::Bool(holds(name, *value))).ok_or_else(|| cx.arity())
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
