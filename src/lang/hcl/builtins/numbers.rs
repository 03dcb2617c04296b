//! Functions of numbers, and the operators as functions.

use std::cmp::Ordering;

use super::{functions, number};
use crate::values::{binary, machine_int, number_of, number_value, operators};
use dropforge_base::stdlib::bignum::{FULL, MACHINE};
use dropforge_base::stdlib::numbers::{logarithm, power};
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{BigNum, Value};

functions! {
    /// Number functions of the standard library and OpenTofu.
    pub(super) static NUMBERS:
    "ceil" (num: Number [dynamic]) -> Number = ceil, "Rounds up to a whole number."
        ["ceil(1.2)" => "2"];
    "floor" (num: Number [dynamic]) -> Number = floor, "Rounds down to a whole number."
        ["floor(-1.2)" => "-2"];
    "min" (... numbers: Number [dynamic]) -> Number = outermost [Ordering::Less],
        "Returns the smallest number." ["min(3, 1, 2)" => "1"];
    "max" (... numbers: Number [dynamic]) -> Number = outermost [Ordering::Greater],
        "Returns the largest number." ["max(3, 1, 2)" => "3"];
    "log" (num: Number, base: Number) -> Number = log, "Returns the logarithm of a number in a base." ["log(16, 2)" => "4"];
    "pow" (num: Number, power: Number) -> Number = pow, "Raises a number to a power." ["pow(2, 10)" => "1024"];
    "signum" (num: Number) -> Number = signum, "Returns -1, 0 or 1, the sign of a whole number."
        ["signum(-7)" => "-1"];
    "parseint" (number: Any, base: Number) -> Number = parse_int,
        "Parses a whole number in a base from 2 to 62." ["parseint(\"ff\", 16)" => "255"];
}

functions! {
    /// Number functions of the standard library.
    pub(super) static STANDARD_NUMBERS:
    "int" (num: Number [dynamic]) -> Number = int, "Removes the fraction of a number."
        ["int(-1.7)" => "-1"];
}

fn ceil<'v>(cx: &Cx<'v>, n: BigNum) -> Outcome<Value<'v>> {
    number_value(cx, n.ceil())
}

fn floor<'v>(cx: &Cx<'v>, n: BigNum) -> Outcome<Value<'v>> {
    number_value(cx, n.floor())
}

fn int<'v>(cx: &Cx<'v>, n: BigNum) -> Outcome<Value<'v>> {
    if !n.is_finite() {
        return Err(Fault::wrong("an infinity has no integer part"));
    }
    if n.is_whole() {
        return number_value(cx, n);
    }
    let whole = n.truncate();
    let precision = if whole.to_i64().is_some() { MACHINE } else { FULL };
    number_value(cx, whole.with_precision(precision))
}

/// Returns the argument that is `wanted` (less or greater) in comparison with all others.
fn outermost<'v>(cx: &Cx<'v>, args: &[Value<'v>], wanted: Ordering) -> Outcome<Value<'v>> {
    cx.spend(args.len() as u64)?;
    let mut best: Option<(BigNum, Value<'v>)> = None;
    for (at, value) in args.iter().enumerate() {
        let n = number(*value, at)?;
        if best.is_none_or(|(found, _)| n.compare(&found) == wanted) {
            best = Some((n, *value));
        }
    }
    best.map(|(_, value)| value).ok_or_else(|| Fault::wrong("at least one number is required"))
}

fn log<'v>(cx: &Cx<'v>, n: BigNum, base: BigNum) -> Outcome<Value<'v>> {
    of_float(cx, logarithm(float(n)?) / logarithm(float(base)?))
}

fn pow<'v>(cx: &Cx<'v>, n: BigNum, exponent: BigNum) -> Outcome<Value<'v>> {
    of_float(cx, power(float(n)?, float(exponent)?))
}

/// Converts a number to a 64-bit float.
fn float(n: BigNum) -> Outcome<f64> {
    match n.to_f64() {
        None => Ok(if n.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY }),
        Some(float) if float.is_finite() => Ok(float),
        Some(_) => Err(Fault::wrong("a number in the range of 64-bit floats is required")),
    }
}

fn of_float<'v>(cx: &Cx<'v>, float: f64) -> Outcome<Value<'v>> {
    number_value(cx, BigNum::of_f64(float).ok_or_else(|| Fault::wrong("the result is not a number"))?)
}

fn signum<'v>(cx: &Cx<'v>, n: i64) -> Outcome<Value<'v>> {
    machine_int(cx, n.signum())
}

fn parse_int<'v>(cx: &Cx<'v>, text: &str, base: Value<'v>) -> Outcome<Value<'v>> {
    let base = number_of(base).and_then(|base| u32::try_from(base.to_i64()?).ok());
    let Some(base) = base.filter(|base| (2..=62).contains(base)) else {
        return Err(Fault::argument(1, "a base is a whole number from 2 to 62"));
    };
    // Parsing takes quadratic time in the number of digits.
    cx.spend((text.len() as u64).saturating_mul(text.len() as u64) / 64)?;
    let parsed = BigNum::parse_whole(text, base);
    number_value(cx, parsed.ok_or_else(|| Fault::argument(0, format!("not a whole number in base {base}")))?)
}

functions! {
    /// Operators of the standard library and OpenTofu.
    pub(super) static SHARED_OPERATORS:
    "abs" (num: Number [dynamic]) -> Number = operators::abs, "Returns the absolute value of a number." ["abs(-1)" => "1"];
}

functions! {
    /// Operators of the standard library.
    pub(super) static OPERATORS:
    "not" (val: Bool [dynamic]) -> Bool = operators::not, "Negates a boolean." ["not(true)" => "false"];
    "and" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = operators::and, "Returns `true` if both operands are true."
        ["and(true, false)" => "false"];
    "or" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = operators::or, "Returns `true` if an operand is true."
        ["or(true, false)" => "true"];
    "equal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = binary [BinaryOp::Eq],
        "Returns `true` if both values have the same type and are equal." ["equal(1, 1)" => "true"];
    "notequal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = binary [BinaryOp::Ne],
        "Returns `true` if the values differ." ["notequal(1, \"1\")" => "true"];
    "absolute" (num: Number [dynamic]) -> Number = operators::abs, "Returns the absolute value of a number."
        ["absolute(-1)" => "1"];
    "add" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Add], "Adds two numbers."
        ["add(1, 2)" => "3"];
    "subtract" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Sub],
        "Subtracts the second number from the first." ["subtract(1, 2)" => "-1"];
    "multiply" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Mul], "Multiplies two numbers."
        ["multiply(2, 3)" => "6"];
    "divide" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Div],
        "Divides the first number by the second." ["divide(1, 2)" => "0.5"];
    "modulo" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Rem],
        "Returns the remainder of a division, with the sign of the dividend." ["modulo(-7, 3)" => "-1"];
    "negate" (num: Number [dynamic]) -> Number = operators::neg, "Negates a number." ["negate(1)" => "-1"];
    "lessthan" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = binary [BinaryOp::Lt],
        "Returns `true` if the first number is less than the second." ["lessthan(1, 2)" => "true"];
    "lessthanorequalto" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = binary [BinaryOp::Le],
        "Returns `true` if the first number is less than or equal to the second." ["lessthanorequalto(2, 2)" => "true"];
    "greaterthan" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = binary [BinaryOp::Gt],
        "Returns `true` if the first number is greater than the second." ["greaterthan(1, 2)" => "false"];
    "greaterthanorequalto" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = binary [BinaryOp::Ge],
        "Returns `true` if the first number is greater than or equal to the second."
        ["greaterthanorequalto(2, 2)" => "true"];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::arguments::{Arguments, FromArguments};
    use crate::test_support::with_cx;

    #[test]
    fn floats_are_those_of_the_reference() {
        with_cx(|cx| {
            for (base, exponent, wanted) in [(3, 2, "9"), (2, -2, "0.25"), (0, 2, "0")] {
                let [base, exponent] = [base, exponent].map(|n| BigNum::of_int(n, FULL));
                let value = super::pow(cx, base, exponent).unwrap();
                assert_eq!(super::number_of(value).unwrap().to_text(), wanted);
            }
            assert!(super::log(cx, BigNum::of_int(-1, FULL), BigNum::of_int(2, FULL)).is_err());
            let half = cx.arena().number(BigNum::parse("1.5").unwrap());
            assert!(i64::take(&Arguments::new(cx, &[half])).is_err());
            assert!(super::outermost(cx, &[], Ordering::Less).is_err());
        });
    }
}
