//! The operators: arithmetic and comparison of numbers, `!`, `&&` and `||`, and the dispatch of binary operators.
//!
//! Plain whole numbers have a fast path. Other operands are numbers of more digits or another precision, unknown
//! numbers (the result has the range that follows from theirs), and marked numbers (the result gets their marks).

use std::cmp::Ordering;

use super::refine::{Bounds, result_bounds};
use super::{bool_or_unknown, equals, number_of, propagate, settled};
use dropforge_base::stdlib::bignum::{FULL, MACHINE};
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{BigNum, Extension, Refinement, Type, Value};

/// Applies a binary operator to operands of its types.
///
/// # Errors
/// An operand of an operator on numbers is null or not a number, or there is no result (as in `0 / 0`).
pub fn binary<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, op: BinaryOp) -> Outcome<Value<'v>> {
    match op {
        BinaryOp::Eq => equals(cx, a, b),
        BinaryOp::Ne => not(cx, equals(cx, a, b)?),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => arithmetic(cx, a, b, op),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => compare(cx, a, b, op),
        BinaryOp::In => Err(cx.arity().into()),
    }
}

/// Negates a boolean.
///
/// # Errors
/// The operand is null or not a boolean.
#[inline]
pub fn not<'v>(cx: &Cx<'v>, a: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [a], |[a]| Ok(bool_or_unknown(cx, operand(a, 0)?.map(|a| !a))))
}

/// Returns `true` if both operands are true, and `false` if either is false.
///
/// # Errors
/// An operand is null or not a boolean.
#[inline]
pub fn and<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    decided_by(cx, a, b, false)
}

/// Returns `true` if either operand is true.
///
/// # Errors
/// An operand is null or not a boolean.
#[inline]
pub fn or<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    decided_by(cx, a, b, true)
}

/// Returns `decisive` if an operand has that value, its opposite if both have the opposite, and otherwise unknown.
fn decided_by<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, decisive: bool) -> Outcome<Value<'v>> {
    propagate(cx, [a, b], |[a, b]| {
        let result = match (operand(a, 0)?, operand(b, 1)?) {
            (Some(a), _) if a == decisive => Some(decisive),
            (_, Some(b)) if b == decisive => Some(decisive),
            (Some(_), Some(_)) => Some(!decisive),
            _ => None,
        };
        Ok(bool_or_unknown(cx, result))
    })
}

/// Returns a boolean operand, or `None` if it is unknown.
fn operand(value: Value<'_>, at: usize) -> Outcome<Option<bool>> {
    match (value, value.as_unknown()) {
        (Value::Bool(b), _) => Ok(Some(b)),
        (_, Some(unknown)) if matches!(unknown.ty, Type::Bool | Type::Dynamic) => Ok(None),
        _ if value.is_null() => Err(Fault::argument(at, "argument must not be null")),
        _ => Err(Fault::argument(at, "a bool is required")),
    }
}

/// Makes a number value.
pub fn number_value<'v>(cx: &Cx<'v>, number: BigNum) -> Outcome<Value<'v>> {
    if number.as_plain_int().is_none() {
        cx.charge(size_of::<Extension>())?;
    }
    Ok(cx.arena().number(number))
}

/// Converts a number to a string, which may be very long.
pub fn text<'v>(cx: &Cx<'v>, number: &BigNum) -> Outcome<Value<'v>> {
    cx.charge(number.text_len())?;
    Ok(cx.arena().text(&number.to_text()))
}

/// Makes a whole number with the precision of a machine integer, such as a length or an index.
pub fn machine_int<'v>(cx: &Cx<'v>, n: impl TryInto<i64>) -> Outcome<Value<'v>> {
    number_value(cx, BigNum::of_int(n.try_into().unwrap_or(i64::MAX), MACHINE))
}

/// Negates a number.
///
/// # Errors
/// The operand is null or not a number.
#[inline]
pub fn neg<'v>(cx: &Cx<'v>, a: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [a], |[a]| match NumberOperand::of(a, 0)? {
        NumberOperand::Known(n) => number_value(cx, -n),
        NumberOperand::Unknown(_) => settled(cx, Type::Number, Refinement::NOT_NULL),
    })
}

/// Returns the absolute value of a number.
///
/// # Errors
/// The operand is null or not a number.
pub fn abs<'v>(cx: &Cx<'v>, a: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [a], |[a]| match NumberOperand::of(a, 0)? {
        NumberOperand::Known(n) => number_value(cx, n.abs()),
        NumberOperand::Unknown(_) => {
            let least = Some(cx.arena().bound(BigNum::of_int(0, FULL), true));
            settled(cx, Type::Number, Refinement { least, ..Refinement::NOT_NULL })
        }
    })
}

/// An operand of arithmetic.
enum NumberOperand {
    Known(BigNum),
    /// A number in a range, or a value of unknown type.
    Unknown(Option<Bounds>),
}

impl NumberOperand {
    /// Returns operand `at` for a value without marks.
    fn of(value: Value<'_>, at: usize) -> Outcome<Self> {
        if value.is_null() {
            return Err(Fault::argument(at, "argument must not be null"));
        }
        match (value.as_unknown(), number_of(value)) {
            (_, Some(number)) => Ok(Self::Known(number)),
            (Some(unknown), _) if unknown.ty == Type::Number => {
                Ok(Self::Unknown(Some(Bounds::of(&unknown.refinement))))
            }
            (Some(unknown), _) if unknown.ty == Type::Dynamic => Ok(Self::Unknown(None)),
            _ => Err(Fault::argument(at, "a number is required")),
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        match self {
            Self::Known(number) => Some(Bounds { least: *number, most: *number }),
            Self::Unknown(bounds) => *bounds,
        }
    }

    fn is_zero(&self) -> bool {
        matches!(self, Self::Known(number) if number.is_zero())
    }
}

/// Applies an operator to plain whole numbers, if the result is one. A division must be exact. A product or quotient that
/// is zero has a sign, which no plain number has.
#[inline]
pub fn whole(op: BinaryOp, a: i64, b: i64) -> Option<Value<'static>> {
    match op {
        BinaryOp::Div if b != 0 && a.checked_rem(b) == Some(0) && (a != 0 || b > 0) => a.checked_div(b).map(Value::Int),
        BinaryOp::Rem if b != 0 => Some(Value::Int(a.wrapping_rem(b))),
        BinaryOp::Div | BinaryOp::Rem => None,
        BinaryOp::Mul if (a == 0 || b == 0) && (a < 0 || b < 0) => None,
        op => op.of_integers(a, b),
    }
}

/// Applies an arithmetic operator. The remainder has the sign of the dividend; the remainder of a division by zero is
/// the dividend.
///
/// # Errors
/// An operand is null or not a number, or there is no result.
pub fn arithmetic<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, op: BinaryOp) -> Outcome<Value<'v>> {
    if let (Value::Int(x), Value::Int(y)) = (a, b)
        && let Some(Value::Int(n)) = whole(op, x, y)
    {
        return Ok(Value::Int(n));
    }
    propagate(cx, [a, b], |[a, b]| match (NumberOperand::of(a, 0)?, NumberOperand::of(b, 1)?) {
        (NumberOperand::Known(a), NumberOperand::Known(b)) => {
            number_value(cx, calculate(op, &a, &b).ok_or_else(|| Fault::wrong(no_result(op)))?)
        }
        (a, b) if op == BinaryOp::Mul && (a.is_zero() || b.is_zero()) => Ok(Value::Int(0)),
        (a, b) => unknown_result(cx, op, &a, &b),
    })
}

fn calculate(op: BinaryOp, a: &BigNum, b: &BigNum) -> Option<BigNum> {
    match op {
        BinaryOp::Add => a.add(b),
        BinaryOp::Sub => a.sub(b),
        BinaryOp::Mul => a.mul(b),
        BinaryOp::Div => a.div(b),
        _ => a.rem(b),
    }
}

/// Explains why an operation has no result.
fn no_result(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "infinities of opposite signs have no sum",
        BinaryOp::Sub => "an infinity subtracted from itself has no value",
        BinaryOp::Mul => "zero times infinity has no value",
        BinaryOp::Div => "zero divided by zero, or infinity by infinity, has no value",
        _ => "zero and infinity have no remainder",
    }
}

fn unknown_result<'v>(cx: &Cx<'v>, op: BinaryOp, a: &NumberOperand, b: &NumberOperand) -> Outcome<Value<'v>> {
    let mut refinement = Refinement::NOT_NULL;
    if let (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Some(a), Some(b)) = (op, a.bounds(), b.bounds()) {
        cx.charge(2 * size_of::<(BigNum, bool)>())?;
        let bounds = result_bounds(&a, &b, |a, b| calculate(op, a, b));
        refinement = bounds.map_or(refinement, |bounds| bounds.refinement(cx.arena()));
    }
    settled(cx, Type::Number, refinement)
}

/// Compares two numbers by `<`, `<=`, `>` or `>=`.
///
/// # Errors
/// An operand is null or not a number.
pub fn compare<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, op: BinaryOp) -> Outcome<Value<'v>> {
    if let (Value::Int(x), Value::Int(y)) = (a, b)
        && let Some(holds) = op.of_integers(x, y)
    {
        return Ok(holds);
    }
    let wanted = if matches!(op, BinaryOp::Lt | BinaryOp::Le) { Ordering::Less } else { Ordering::Greater };
    let or_equal = matches!(op, BinaryOp::Le | BinaryOp::Ge);
    propagate(cx, [a, b], |[a, b]| {
        let holds = match (NumberOperand::of(a, 0)?, NumberOperand::of(b, 1)?) {
            (NumberOperand::Known(a), NumberOperand::Known(b)) => {
                Some(a.compare(&b) == wanted || or_equal && a.reads_as(&b))
            }
            (a, b) => {
                let holds = compare_ranges(a.bounds(), b.bounds(), wanted);
                // Numbers on the other side are not equal either. Like the reference, concludes that only if one
                // operand is known.
                let one_known = matches!(a, NumberOperand::Known(_)) || matches!(b, NumberOperand::Known(_));
                holds.filter(|holds| *holds || !or_equal || one_known)
            }
        };
        Ok(bool_or_unknown(cx, holds))
    })
}

/// Returns `true` if all numbers of one range are on the wanted side of all numbers of the other, and `false` if all
/// are on the opposite side.
fn compare_ranges(a: Option<Bounds>, b: Option<Bounds>, wanted: Ordering) -> Option<bool> {
    let (a, b) = (a?, b?);
    match () {
        () if a.most.compare(&b.least).is_lt() => Some(wanted == Ordering::Less),
        () if a.least.compare(&b.most).is_gt() => Some(wanted == Ordering::Greater),
        () => None,
    }
}
