//! Functions of numbers that are no operators.

use std::cmp::Ordering;

use super::arguments::{answer_number, count, number, text, whole};
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::bignum::{FULL, MACHINE};
use crate::stdlib::numbers::{logarithm, power};
use crate::value::{BigNum, Value};

positional! {
    /// Functions of numbers.
    pub(super) static NUMBERS:
    "ceil" (num: Number [dynamic]) -> Number = ceil, "The nearest whole number that is not smaller."
        ["ceil(1.2)" => "2"];
    "floor" (num: Number [dynamic]) -> Number = floor, "The nearest whole number that is not larger."
        ["floor(-1.2)" => "-2"];
    "min" (... numbers: Number [dynamic]) -> Number = min, "The smallest of the numbers." ["min(3, 1, 2)" => "1"];
    "max" (... numbers: Number [dynamic]) -> Number = max, "The largest of the numbers." ["max(3, 1, 2)" => "3"];
    "log" (num: Number, base: Number) -> Number = log, "The logarithm of a number in a base." ["log(16, 2)" => "4"];
    "pow" (num: Number, power: Number) -> Number = pow, "A number raised to a power." ["pow(2, 10)" => "1024"];
    "signum" (num: Number) -> Number = signum, "-1, 0 or 1, as a whole number is below, equal to or above 0."
        ["signum(-7)" => "-1"];
    "parseint" (number: Any, base: Number) -> Number = parse_int,
        "The whole number that a text says in a base from 2 to 62." ["parseint(\"ff\", 16)" => "255"];
}

positional! {
    /// Functions of numbers that only the standard library has.
    pub(super) static STANDARD_NUMBERS:
    "int" (num: Number [dynamic]) -> Number = int, "The number without what is behind the point."
        ["int(-1.7)" => "-1"];
}

fn ceil<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer_number(cx, number(args, 0)?.ceil())
}

fn floor<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer_number(cx, number(args, 0)?.floor())
}

fn int<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let n = number(args, 0)?;
    if !n.is_finite() {
        return Err(Fault::wrong("an infinity has no whole part"));
    }
    if n.is_whole() {
        return answer_number(cx, n);
    }
    let whole = n.truncate();
    let precision = if whole.to_i64().is_some() { MACHINE } else { FULL };
    answer_number(cx, whole.with_precision(precision))
}

fn min<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    outermost(cx, args, Ordering::Less)
}

fn max<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    outermost(cx, args, Ordering::Greater)
}

/// The first argument that compares so with all others that are different.
fn outermost<'v>(cx: &Cx<'v>, args: &[Value<'v>], wanted: Ordering) -> Outcome<Value<'v>> {
    cx.spend(args.len() as u64)?;
    let mut best: Option<(BigNum, Value<'v>)> = None;
    for (at, value) in args.iter().enumerate() {
        let n = number(args, at)?;
        if best.is_none_or(|(found, _)| n.compare(&found) == wanted) {
            best = Some((n, *value));
        }
    }
    best.map(|(_, value)| value).ok_or_else(|| Fault::wrong("at least one number is required"))
}

fn log<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_float(cx, logarithm(float(args, 0)?) / logarithm(float(args, 1)?))
}

fn pow<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_float(cx, power(float(args, 0)?, float(args, 1)?))
}

/// Argument `at` as a 64-bit float.
fn float(args: &[Value<'_>], at: usize) -> Outcome<f64> {
    let n = number(args, at)?;
    match n.to_f64() {
        None => Ok(if n.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY }),
        Some(float) if float.is_finite() => Ok(float),
        Some(_) => Err(Fault::wrong("a number in the range of 64-bit floats is required")),
    }
}

fn of_float<'v>(cx: &Cx<'v>, float: f64) -> Outcome<Value<'v>> {
    let number = BigNum::of_f64(float).ok_or_else(|| Fault::wrong("the result is not a number"))?;
    answer_number(cx, number)
}

fn signum<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    count(cx, whole(args, 0)?.signum())
}

fn parse_int<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    let base = whole(args, 1).ok().and_then(|base| u32::try_from(base).ok()).filter(|base| (2..=62).contains(base));
    let Some(base) = base else {
        return Err(Fault::argument(1, "a base is a whole number from 2 to 62"));
    };
    // Time square in the digits, as far as they count.
    cx.spend((text.len() as u64).saturating_mul(text.len() as u64) / 64)?;
    let parsed = BigNum::parse_whole(text, base);
    answer_number(cx, parsed.ok_or_else(|| Fault::argument(0, format!("this is no whole number in base {base}")))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::hcl::testing::with_cx;
    use crate::value::Type;

    #[test]
    fn floats_are_those_of_the_reference() {
        with_cx(|cx| {
            for (base, exponent, wanted) in [(3, 2, "9"), (2, -2, "0.25"), (0, 2, "0")] {
                let value = super::pow(cx, &[Value::Int(base), Value::Int(exponent)]).unwrap();
                assert_eq!(super::number(&[value], 0).unwrap().to_text(), wanted);
            }
            assert!(super::log(cx, &[Value::Int(-1), Value::Int(2)]).is_err());
            assert!(super::signum(cx, &[cx.arena().number(BigNum::parse("1.5").unwrap())]).is_err());
            assert_eq!(super::min(cx, &[]).map(|v| v.type_in(cx.arena())).unwrap_or(Type::Bool), Type::Bool);
        });
    }
}
