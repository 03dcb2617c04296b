//! Arithmetic and order of numbers.
//!
//! Two plain whole numbers take the first lines of an operation. Everything else is cold: numbers of more digits or
//! another precision, what is unknown (the result has the range that the operands' ranges give), marks (the result
//! has those of both), and what is no number.

use std::cmp::Ordering;

use super::marks::marked_by;
use super::ranges::{self, Bounds};
use super::refine::{settled, unknown_bool};
use super::{Fault, Outcome};
use crate::function::Cx;
use crate::stdlib::bignum::FULL;
use crate::value::{BigNum, Extended, Extension, Refinement, Type, Value};

/// The number that a value is, where it is a known number without marks. One that comes from the inputs as a float is
/// the number that its shortest text says.
pub fn number_of(value: Value<'_>) -> Option<BigNum> {
    match value {
        Value::Int(n) => Some(BigNum::of_int(n, FULL)),
        Value::Uint(n) => Some(BigNum::of_uint(n, FULL)),
        Value::Float(n) => BigNum::of_shortest_text(n),
        Value::Extended(extension) => match extension.kind() {
            Extended::Number(number) => Some(*number),
            _ => None,
        },
        _ => None,
    }
}

/// A number that is paid for.
pub fn number<'v>(cx: &Cx<'v>, number: BigNum) -> Outcome<Value<'v>> {
    if number.as_plain_int().is_none() {
        cx.charge(size_of::<Extension>())?;
    }
    Ok(cx.arena().number(number))
}

/// The text of a number, which may be very long and is paid for before it is made.
pub fn text<'v>(cx: &Cx<'v>, number: &BigNum) -> Outcome<Value<'v>> {
    cx.charge(number.text_len())?;
    Ok(cx.arena().text(&number.to_text()))
}

/// A whole number of the precision of a machine's integers, as a length or the index of an element is.
pub fn machine_int<'v>(cx: &Cx<'v>, n: usize) -> Outcome<Value<'v>> {
    number(cx, BigNum::of_uint(n as u64, crate::stdlib::bignum::MACHINE))
}

/// The sum.
///
/// # Errors
/// An operand is null or no number; the operands are infinities of two signs.
#[inline]
pub fn add<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    if let (Value::Int(x), Value::Int(y)) = (a, b)
        && let Some(sum) = x.checked_add(y)
    {
        return Ok(Value::Int(sum));
    }
    arithmetic(cx, Operation::Add, a, b)
}

/// The difference.
///
/// # Errors
/// As [`add`], for infinities of one sign.
#[inline]
pub fn sub<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    if let (Value::Int(x), Value::Int(y)) = (a, b)
        && let Some(difference) = x.checked_sub(y)
    {
        return Ok(Value::Int(difference));
    }
    arithmetic(cx, Operation::Sub, a, b)
}

/// The product.
///
/// # Errors
/// An operand is null or no number; zero times an infinity.
#[inline]
pub fn mul<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    // Zero has a sign where one of the factors is negative.
    if let (Value::Int(x), Value::Int(y)) = (a, b)
        && let Some(product @ (1.. | ..=-1)) = x.checked_mul(y)
    {
        return Ok(Value::Int(product));
    }
    arithmetic(cx, Operation::Mul, a, b)
}

/// The quotient; of a number that is not zero and zero, an infinity.
///
/// # Errors
/// An operand is null or no number; zero by zero, an infinity by an infinity.
#[inline]
pub fn div<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) if x != 0 && x.checked_rem(y) == Some(0) => Ok(Value::Int(x / y)),
        _ => arithmetic(cx, Operation::Div, a, b),
    }
}

/// The remainder of a division toward zero, with the sign of the dividend; by zero, the dividend.
///
/// # Errors
/// An operand is null or no number; zero and an infinity.
#[inline]
pub fn rem<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(x), Value::Int(0)) => Ok(Value::Int(x)),
        (Value::Int(x), Value::Int(y)) => Ok(Value::Int(x.wrapping_rem(y))),
        _ => arithmetic(cx, Operation::Rem, a, b),
    }
}

/// The number with the other sign.
///
/// # Errors
/// The operand is null or no number.
#[inline]
pub fn neg<'v>(cx: &Cx<'v>, a: Value<'v>) -> Outcome<Value<'v>> {
    if let Value::Int(n @ (1.. | ..=-1)) = a
        && let Some(negated) = n.checked_neg()
    {
        return Ok(Value::Int(negated));
    }
    with_operand(cx, a, |operand| match operand {
        Operand::Known(n) => number(cx, -n),
        Operand::Unknown(_) => settled(cx, Type::Number, Refinement::NOT_NULL),
    })
}

/// The number without its sign.
///
/// # Errors
/// The operand is null or no number.
pub fn abs<'v>(cx: &Cx<'v>, a: Value<'v>) -> Outcome<Value<'v>> {
    with_operand(cx, a, |operand| match operand {
        Operand::Known(n) => number(cx, n.abs()),
        Operand::Unknown(_) => {
            let least = Some(cx.arena().bound(BigNum::of_int(0, FULL), true));
            settled(cx, Type::Number, Refinement { least, ..Refinement::NOT_NULL })
        }
    })
}

/// `a < b`
///
/// # Errors
/// An operand is null or no number.
#[inline]
pub fn less<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(Value::Bool(x < y)),
        _ => ordered(cx, a, b, Ordering::Less, false),
    }
}

/// `a <= b`
///
/// # Errors
/// An operand is null or no number.
#[inline]
pub fn less_equal<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(Value::Bool(x <= y)),
        _ => ordered(cx, a, b, Ordering::Less, true),
    }
}

/// `a > b`
///
/// # Errors
/// An operand is null or no number.
#[inline]
pub fn greater<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(Value::Bool(x > y)),
        _ => ordered(cx, a, b, Ordering::Greater, false),
    }
}

/// `a >= b`
///
/// # Errors
/// An operand is null or no number.
#[inline]
pub fn greater_equal<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(Value::Bool(x >= y)),
        _ => ordered(cx, a, b, Ordering::Greater, true),
    }
}

/// An operand of arithmetic.
enum Operand {
    Known(BigNum),
    Unknown(Option<Bounds>),
}

impl Operand {
    /// The operand `value`, which is not marked and comes at `at`.
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

    /// The range; none where not even the type is known.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Operation {
    fn apply(self, a: &BigNum, b: &BigNum) -> Option<BigNum> {
        match self {
            Self::Add => a.add(b),
            Self::Sub => a.sub(b),
            Self::Mul => a.mul(b),
            Self::Div => a.div(b),
            Self::Rem => a.rem(b),
        }
    }

    /// Why there is no result.
    fn fault(self) -> Fault {
        Fault::wrong(match self {
            Self::Add => "infinities of opposite signs have no sum",
            Self::Sub => "an infinity subtracted from itself has no value",
            Self::Mul => "zero times infinity has no value",
            Self::Div => "zero divided by zero, or infinity by infinity, has no value",
            Self::Rem => "zero and infinity have no remainder",
        })
    }

    /// Whether the result's range is that of the operands' ends.
    fn is_monotone(self) -> bool {
        matches!(self, Self::Add | Self::Sub | Self::Mul)
    }
}

#[cold]
fn arithmetic<'v>(cx: &Cx<'v>, operation: Operation, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    let ((a, marks), (b, others)) = (a.unmarked(), b.unmarked());
    let result = match (Operand::of(a, 0)?, Operand::of(b, 1)?) {
        (Operand::Known(a), Operand::Known(b)) => {
            number(cx, operation.apply(&a, &b).ok_or_else(|| operation.fault())?)?
        }
        (a, b) if operation == Operation::Mul && (a.is_zero() || b.is_zero()) => Value::Int(0),
        (a, b) => unknown_result(cx, operation, &a, &b)?,
    };
    marked_by(cx, result, marks, others)
}

fn unknown_result<'v>(cx: &Cx<'v>, operation: Operation, a: &Operand, b: &Operand) -> Outcome<Value<'v>> {
    let mut refinement = Refinement::NOT_NULL;
    if operation.is_monotone()
        && let (Some(a), Some(b)) = (a.bounds(), b.bounds())
    {
        cx.charge(2 * size_of::<(BigNum, bool)>())?;
        let bounds = ranges::arithmetic(&a, &b, |a, b| operation.apply(a, b));
        refinement = bounds.map_or(refinement, |bounds| bounds.refinement(cx.arena()));
    }
    settled(cx, Type::Number, refinement)
}

#[cold]
fn with_operand<'v>(
    cx: &Cx<'v>,
    a: Value<'v>,
    result: impl FnOnce(Operand) -> Outcome<Value<'v>>,
) -> Outcome<Value<'v>> {
    let (a, marks) = a.unmarked();
    marked_by(cx, result(Operand::of(a, 0)?)?, marks, &[])
}

/// Whether `a` is on the `wanted` side of `b`, or, where `or_equal`, reads as it.
#[cold]
fn ordered<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, wanted: Ordering, or_equal: bool) -> Outcome<Value<'v>> {
    let ((a, marks), (b, others)) = (a.unmarked(), b.unmarked());
    let known = match (Operand::of(a, 0)?, Operand::of(b, 1)?) {
        (Operand::Known(a), Operand::Known(b)) => Some(a.compare(&b) == wanted || or_equal && a.reads_as(&b)),
        (a, b) => {
            let certain = side(a.bounds(), b.bounds(), wanted);
            // What is certainly on the other side is not equal either, but only one known number tells that.
            if or_equal && certain == Some(false) && !apart(&a, &b) { None } else { certain }
        }
    };
    marked_by(cx, known.map_or_else(|| unknown_bool(cx), Value::Bool), marks, others)
}

/// Whether every number of one range is on the wanted side of every number of the other, or every one is on the
/// opposite side.
fn side(a: Option<Bounds>, b: Option<Bounds>, wanted: Ordering) -> Option<bool> {
    let (a, b) = (a?, b?);
    let certain = if a.most.compare(&b.least).is_lt() {
        Ordering::Less
    } else if a.least.compare(&b.most).is_gt() {
        Ordering::Greater
    } else {
        return None;
    };
    Some(certain == wanted)
}

/// Whether one operand is known, and the other, which is not, cannot be it.
fn apart(a: &Operand, b: &Operand) -> bool {
    matches!((a, b), (Operand::Known(_), Operand::Unknown(_)) | (Operand::Unknown(_), Operand::Known(_)))
}
