//! Arithmetic. Integers are `int64` and wrap; arguments of any type are converted first.

use super::arguments::{int, only};
use super::conversions::{to_float64, to_int64};
use crate::error::failed;
use crate::values::int64;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::decimal::Decimal;
use dropforge_base::stdlib::numbers::power;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

assigned! {
    /// Arithmetic.
    pub(super) static MATH:
    "add" (... Any) = add, "Adds integers." [r#"{{ add 1 2 "3" }}"# => "6"];
    "add1" (Any) = add_one, "Adds 1 to an integer." [r#"{{ add1 1 }}"# => "2"];
    "sub" (Any, Any) = sub, "Subtracts the second integer from the first." [r#"{{ sub 5 3 }}"# => "2"];
    "mul" (Any, ... Any) = mul, "Multiplies integers." [r#"{{ mul 2 3 4 }}"# => "24"];
    "div" (Any, Any) = div, "Divides the first integer by the second and drops the fraction."
        [r#"{{ div 7 2 }}"# => "3", r#"{{ div 1 0 }}"# => "E0404"];
    "mod" (Any, Any) = modulo, "Returns the remainder of a division, with the sign of the dividend."
        [r#"{{ mod -7 3 }}"# => "-1"];
    "max" (Any, ... Any) = max, "Returns the largest integer." [r#"{{ max 1 5 3 }}"# => "5"];
    "biggest" (Any, ... Any) = max, "Returns the largest integer, like `max`." [r#"{{ biggest 1 5 3 }}"# => "5"];
    "min" (Any, ... Any) = min, "Returns the smallest integer." [r#"{{ min 2 5 3 }}"# => "2"];
    "maxf" (Any, ... Any) = max_float, "Returns the largest float." [r#"{{ maxf 1.5 3 2 }}"# => "3"];
    "minf" (Any, ... Any) = min_float, "Returns the smallest float." [r#"{{ minf 1.5 3 2 }}"# => "1.5"];
    "addf" (... Any) = add_floats, "Adds floats as decimals." [r#"{{ addf 0.1 0.2 }}"# => "0.3"];
    "add1f" (Any) = add_one_float, "Adds 1 to a float." [r#"{{ add1f 1.5 }}"# => "2.5"];
    "subf" (Any, ... Any) = sub_floats, "Subtracts floats from the first one, as decimals." [r#"{{ subf 0.3 0.1 }}"# => "0.2"];
    "mulf" (Any, ... Any) = mul_floats, "Multiplies floats as decimals." [r#"{{ mulf 1.5 2 2 }}"# => "6"];
    "divf" (Any, ... Any) = div_floats, "Divides the first float by the others, as decimals."
        [r#"{{ divf 10 2 4 }}"# => "1.25", r#"{{ divf 1 0 }}"# => "E0404"];
    "ceil" (Any) = ceil, "Rounds a float up." [r#"{{ ceil 1.2 }}"# => "2"];
    "floor" (Any) = floor, "Rounds a float down." [r#"{{ floor 1.8 }}"# => "1"];
    "round" (Any, Int, ... Float) = round,
        "Rounds a float to a number of digits behind the point: up from a fraction of 0.5, or of a third argument."
        [r#"{{ round 3.14159 3 }}"# => "3.142", r#"{{ round 2.5 0 0.4 }}"# => "3"];
}

fn add<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    int64(cx, args.iter().fold(0, |sum, value| sum.wrapping_add(to_int64(*value))))
}

fn add_one<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    int64(cx, to_int64(only(cx, args)?).wrapping_add(1))
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

fn mul<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    folded(cx, args, i64::wrapping_mul)
}

fn max<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    folded(cx, args, i64::max)
}

fn min<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    folded(cx, args, i64::min)
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

fn max_float<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    folded_floats(cx, args, f64::INFINITY, f64::max)
}

fn min_float<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    folded_floats(cx, args, f64::NEG_INFINITY, f64::min)
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

fn add_floats<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    combined(cx, Value::Float(0.0), args, |a, b| Ok(a.plus(b)))
}

fn add_one_float<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    combined(cx, only(cx, args)?, &[Value::Float(1.0)], |a, b| Ok(a.plus(b)))
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

fn ceil<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Float(to_float64(only(cx, args)?).ceil()))
}

fn floor<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Float(to_float64(only(cx, args)?).floor()))
}

fn round<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [number, digits, from @ ..] = args else { return Err(cx.arity()) };
    let from = from.first().map_or(0.5, |from| to_float64(*from));
    let scale = power(10.0, int(cx, *digits)? as f64);
    let scaled = scale * to_float64(*number);
    let rounded = if scaled.fract() >= from { scaled.ceil() } else { scaled.floor() };
    Ok(Value::Float(rounded / scale))
}
