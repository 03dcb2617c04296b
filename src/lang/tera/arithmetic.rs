//! Arithmetic of the language: `i64` if both operands fit, else `u64` if both are non-negative, else floats. An
//! undefined result is NaN and propagates. The machine's rules turn it into the text `NaN` when it becomes a value.

use dropforge_machine::bytecode::BinaryOp;
use dropforge_value::Value;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Num {
    /// Fits `i64`.
    Int(i64),
    /// Above `i64::MAX`.
    Uint(u64),
    /// A float. NaN stands for an undefined result.
    Float(f64),
}

impl Num {
    pub(super) fn float(self) -> f64 {
        match self {
            Num::Int(n) => n as f64,
            Num::Uint(n) => n as f64,
            Num::Float(n) => n,
        }
    }

    fn unsigned(self) -> Option<u64> {
        match self {
            Num::Int(n) => u64::try_from(n).ok(),
            Num::Uint(n) => Some(n),
            Num::Float(_) => None,
        }
    }

    fn is_nan(self) -> bool {
        matches!(self, Num::Float(n) if n.is_nan())
    }
}

const NAN: Num = Num::Float(f64::NAN);

/// Computes `+ - * / %`. The error is the reason that there is no result.
pub(super) fn calculate(op: BinaryOp, a: Num, b: Num) -> Result<Num, &'static str> {
    if a.is_nan() || b.is_nan() {
        return Ok(NAN);
    }
    if op == BinaryOp::Div {
        return Ok(divide(a.float(), b.float()));
    }
    if let (Num::Int(a), Num::Int(b)) = (a, b) {
        return whole(op, a, b).map(Num::Int);
    }
    if let (Some(a), Some(b)) = (a.unsigned(), b.unsigned()) {
        let n = whole_unsigned(op, a, b)?;
        return Ok(i64::try_from(n).map_or(Num::Uint(n), Num::Int));
    }
    floats(op, a.float(), b.float())
}

/// Computes `+ - * /` in the common cases: integers without overflow, and floats with a finite result, for which neither
/// operand is NaN. Compares such numbers, as floats. `None` leaves it to [`calculate`] and the comparisons of all values.
#[inline(always)]
pub(super) fn calculate_common<'v>(op: BinaryOp, a: &Value<'v>, b: &Value<'v>) -> Option<Value<'v>> {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        match op {
            BinaryOp::Add => return a.checked_add(*b).map(Value::Int),
            BinaryOp::Sub => return a.checked_sub(*b).map(Value::Int),
            BinaryOp::Mul => return a.checked_mul(*b).map(Value::Int),
            BinaryOp::Rem => return None,
            _ => {}
        }
    }
    let float = |value: &Value<'v>| match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        _ => None,
    };
    common_floats(op, float(a)?, float(b)?)
}

#[inline(always)]
fn common_floats<'v>(op: BinaryOp, a: f64, b: f64) -> Option<Value<'v>> {
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        _ => return compare(op, a, b).map(Value::Bool),
    };
    let whole = result as i64;
    if op == BinaryOp::Div && whole as f64 == result && result.abs() < WHOLE {
        return Some(Value::Int(whole));
    }
    (result.is_finite() && (op != BinaryOp::Div || result.abs() < WHOLE)).then_some(Value::Float(result))
}

/// Compares two numbers. `None` for other operators, and if one of the numbers is NaN.
#[inline(always)]
pub(super) fn compare(op: BinaryOp, a: f64, b: f64) -> Option<bool> {
    let holds = match op {
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        _ => return None,
    };
    (!a.is_nan() && !b.is_nan()).then_some(holds)
}

const OUT_OF_BOUNDS: &str = "the result is out of bounds";
const BY_ZERO: &str = "the remainder of a division by zero does not exist";

fn whole(op: BinaryOp, a: i64, b: i64) -> Result<i64, &'static str> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        _ if b == 0 => return Err(BY_ZERO),
        _ => a.checked_rem(b),
    }
    .ok_or(OUT_OF_BOUNDS)
}

fn whole_unsigned(op: BinaryOp, a: u64, b: u64) -> Result<u64, &'static str> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        _ if b == 0 => return Err(BY_ZERO),
        _ => a.checked_rem(b),
    }
    .ok_or(OUT_OF_BOUNDS)
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<Num, &'static str> {
    match op {
        BinaryOp::Add => finite(a + b),
        BinaryOp::Sub => finite(a - b),
        BinaryOp::Mul => Ok(number(a * b)),
        _ => Ok(number(a % b)),
    }
}

fn finite(n: f64) -> Result<Num, &'static str> {
    if n.is_finite() { Ok(Num::Float(n)) } else { Err(OUT_OF_BOUNDS) }
}

fn number(n: f64) -> Num {
    if n.is_finite() { Num::Float(n) } else { NAN }
}

/// Floats from here on have no fraction.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Divides. A quotient without a fraction is an integer, clamped to 64 bits.
fn divide(a: f64, b: f64) -> Num {
    let quotient = a / b;
    let whole = quotient as i64;
    if whole as f64 == quotient || quotient.is_finite() && quotient.abs() >= WHOLE {
        return Num::Int(whole);
    }
    number(quotient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_result_follows_its_operands() {
        let int = Num::Int;
        let cases = [
            (BinaryOp::Div, int(7), int(2), Ok(Num::Float(3.5))),
            (BinaryOp::Div, int(8), int(2), Ok(int(4))),
            (BinaryOp::Div, Num::Uint(u64::MAX), int(2), Ok(int(i64::MAX))),
            (BinaryOp::Add, int(5), Num::Uint(u64::MAX - 9), Ok(Num::Uint(u64::MAX - 4))),
            (BinaryOp::Add, int(-5), Num::Uint(u64::MAX), Ok(Num::Float(u64::MAX as f64))),
            (BinaryOp::Sub, Num::Uint(u64::MAX), Num::Uint(u64::MAX), Ok(int(0))),
            (BinaryOp::Rem, int(-7), int(3), Ok(int(-1))),
            (BinaryOp::Rem, int(7), int(0), Err(BY_ZERO)),
            (BinaryOp::Rem, int(i64::MIN), int(-1), Err(OUT_OF_BOUNDS)),
            (BinaryOp::Mul, int(i64::MAX), int(2), Err(OUT_OF_BOUNDS)),
            (BinaryOp::Add, Num::Float(f64::MAX), Num::Float(f64::MAX), Err(OUT_OF_BOUNDS)),
        ];
        for (op, a, b, want) in cases {
            assert_eq!(calculate(op, a, b), want, "{op:?} {a:?} {b:?}");
        }
    }

    #[test]
    fn undefined_results_are_nan() {
        for (op, a, b) in [
            (BinaryOp::Div, Num::Int(1), Num::Int(0)),
            (BinaryOp::Rem, Num::Float(1.0), Num::Int(0)),
            (BinaryOp::Mul, Num::Float(f64::MAX), Num::Int(10)),
            (BinaryOp::Rem, NAN, Num::Int(0)),
        ] {
            assert!(calculate(op, a, b).is_ok_and(Num::is_nan), "{op:?} {a:?} {b:?}");
        }
    }

    #[test]
    fn common_results_are_those_of_the_general_way() {
        let ints = [0, 1, -1, 2, 3, 7, -9, 1 << 53, i64::MAX, i64::MIN].map(Num::Int);
        let floats = [0.0, -0.0, 0.5, 1.0, -3.0, 1e15, 9.1e15, 1e308, f64::INFINITY, f64::NAN].map(Num::Float);
        let all = || ints.into_iter().chain(floats);
        let value = |n| match n {
            Num::Int(n) => Value::Int(n),
            Num::Uint(n) => Value::Uint(n),
            Num::Float(n) => Value::Float(n),
        };
        let shown = |value: Value<'_>| format!("{value:?}");
        let mut common = 0;
        for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
            for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem] {
                if let Some(result) = calculate_common(op, &value(a), &value(b)) {
                    assert_eq!(calculate(op, a, b).map(|n| shown(value(n))), Ok(shown(result)), "{op:?} {a:?} {b:?}");
                    common += 1;
                }
            }
        }
        assert!(common > 700, "{common}");
    }
}
