//! The operators: arithmetic and comparison of numbers, `!`, `&&` and `||`, equality as
//! the language defines it, identity for tests, and the dispatch of binary operators.
//!
//! Plain whole numbers have a fast path. Other operands are numbers of more digits or another precision, unknown
//! numbers (the result has the range that follows from theirs), and marked numbers (the result gets their marks).

use std::cmp::Ordering;

use super::refine::{Bounds, excludes, result_bounds};
use super::{
    Index, bool_or_unknown, conforms, contains_marked, has_known_type, is_definitely_not_null, is_set, marked_by,
    number_of, propagate, same_type, settled, type_of, unmark_deep,
};
use dropforge_base::stdlib::bignum::{FULL, MACHINE};
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{BigNum, Extended, Extension, Map, Refinement, Type, Value};

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

/// Returns `true` if both values have the same type and are equal. All nulls are equal. The result is unknown if it
/// depends on an unknown value; a refinement that excludes the other value, or another type, decides it. The result has
/// all marks on and in both values.
///
/// # Errors
/// The memory or step limit was reached.
#[inline]
pub fn equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Bool(a == b)),
        (Value::Str(a), Value::Str(b)) => Ok(Value::Bool(a.as_str() == b.as_str())),
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(a == b)),
        _ => equals_marked(cx, a, b),
    }
}

#[cold]
fn equals_marked<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    if let Some(equal) = null_equality(a, b) {
        return propagate(cx, [a, b], |_| Ok(Value::Bool(equal)));
    }
    if !contains_marked(cx, a)? && !contains_marked(cx, b)? {
        return Ok(bool_or_unknown(cx, known_equality(cx, a, b)?));
    }
    let ((a, own), (b, others)) = (unmark_deep(cx, a)?, unmark_deep(cx, b)?);
    let equal = bool_or_unknown(cx, known_equality(cx, a, b)?);
    marked_by(cx, marked_by(cx, equal, &own)?, &others)
}

/// Compares two values if at least one is null and that decides.
fn null_equality(a: Value<'_>, b: Value<'_>) -> Option<bool> {
    match (a.is_null(), b.is_null()) {
        (true, true) => Some(true),
        (true, false) => is_definitely_not_null(b).then_some(false),
        (false, true) => is_definitely_not_null(a).then_some(false),
        (false, false) => None,
    }
}

/// Compares two values without marks. The result is `None` if it is unknown.
fn known_equality<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Option<bool>> {
    if let Some(equal) = null_equality(a, b) {
        return Ok(Some(equal));
    }
    match (a.as_unknown(), b.as_unknown()) {
        (Some(_), Some(_)) => return Ok(None),
        (None, Some(unknown)) => return Ok(excludes(cx, unknown, a)?.then_some(false)),
        (Some(unknown), None) => return Ok(excludes(cx, unknown, b)?.then_some(false)),
        (None, None) => {}
    }
    let (one, other) = (type_of(cx, a)?, type_of(cx, b)?);
    if !has_known_type(cx, a)? || !has_known_type(cx, b)? {
        return Ok((!conforms(&one, &other) && !conforms(&other, &one)).then_some(false));
    }
    if !same_type(cx, &one, &other)? {
        return Ok(Some(false));
    }
    equal_parts(cx, a, b)
}

/// Compares two known values of one type.
fn equal_parts<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Option<bool>> {
    cx.spend(1)?;
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => return Ok(Some(a == b)),
        (Value::Str(a), Value::Str(b)) => return Ok(Some(a.as_str() == b.as_str())),
        _ => {}
    }
    if let (Some(a), Some(b)) = (number_of(a), number_of(b)) {
        return Ok(Some(a.reads_as(&b)));
    }
    if let (Some(Extended::Capsule(a)), Some(Extended::Capsule(b))) = (a.extended(), b.extended()) {
        return Ok(Some(a == b));
    }
    if let (Some(items), Some(others)) = (a.elements(), b.elements()) {
        return if is_set(a) { equal_sets(cx, items, others) } else { equal_lists(cx, items, others) };
    }
    let (Some(map), Some(other)) = (a.entries(), b.entries()) else { return Ok(Some(false)) };
    let mut certain = Some(map.len() == other.len());
    for (key, item) in map.iter_sorted() {
        // Entries have no order: one that differs decides, whatever the others are.
        match other.get(key).map(|other| equal_items(cx, item, other)).transpose()? {
            None | Some(Some(false)) => return Ok(Some(false)),
            Some(None) => certain = certain.filter(|same| !same),
            Some(Some(true)) => {}
        }
    }
    Ok(certain)
}

/// Compares two items of values of one type.
fn equal_items<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Option<bool>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Some(a == b)),
        (Value::Str(a), Value::Str(b)) => Ok(Some(a.as_str() == b.as_str())),
        _ if a.is_known() && b.is_known() && !a.is_null() && !b.is_null() => equal_parts(cx, a, b),
        _ => known_equality(cx, a, b),
    }
}

/// Compares items in order, up to the first pair that differs or is unknown.
fn equal_lists<'v>(cx: &Cx<'v>, items: &[Value<'v>], others: &[Value<'v>]) -> Outcome<Option<bool>> {
    if items.len() != others.len() {
        return Ok(Some(false));
    }
    for (item, other) in items.iter().zip(others) {
        let same = equal_items(cx, *item, *other)?;
        if same != Some(true) {
            return Ok(same);
        }
    }
    Ok(Some(true))
}

/// Compares two sets. An unknown element could be any.
fn equal_sets<'v>(cx: &Cx<'v>, items: &[Value<'v>], others: &[Value<'v>]) -> Outcome<Option<bool>> {
    if items.iter().chain(others).any(|item| !item.is_known()) {
        return Ok(None);
    }
    if items.len() != others.len() {
        return Ok(Some(false));
    }
    let index = Index::of(cx, items)?;
    for other in others {
        if !index.has(cx, *other)? {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// Returns `true` if both values are identical: they have the same type, marks and content, and unknown values have the
/// same refinements.
///
/// # Errors
/// The memory or step limit was reached.
pub fn raw_equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    Ok(same_type(cx, &type_of(cx, a)?, &type_of(cx, b)?)? && same_value(cx, a, b)?)
}

/// Implements [`raw_equals`] for values of one type.
fn same_value<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    cx.spend(1)?;
    let ((a, marks), (b, others)) = (a.unmarked(), b.unmarked());
    if marks != others || a.is_null() != b.is_null() {
        return Ok(false);
    }
    match (a.as_unknown(), b.as_unknown()) {
        (Some(a), Some(b)) => return Ok(same_refinement(&a.refinement, &b.refinement)),
        (None, None) if a.is_null() => return Ok(true),
        (None, None) => {}
        _ => return Ok(false),
    }
    if let (Some(items), Some(others)) = (a.elements(), b.elements()) {
        return same_items(cx, items.iter().copied(), others.iter().copied());
    }
    match (a.entries(), b.entries()) {
        (Some(map), Some(other)) => {
            let same_keys = map.iter_sorted().map(|(key, _)| key).eq(other.iter_sorted().map(|(key, _)| key));
            let values = |map: &Map<'v>| map.iter_sorted().map(|(_, item)| item);
            Ok(same_keys && same_items(cx, values(map), values(other))?)
        }
        _ => Ok(equal_parts(cx, a, b)? == Some(true)),
    }
}

fn same_items<'v>(
    cx: &Cx<'v>,
    mut items: impl Iterator<Item = Value<'v>>,
    mut others: impl Iterator<Item = Value<'v>>,
) -> Outcome<bool> {
    loop {
        match (items.next(), others.next()) {
            (None, None) => return Ok(true),
            (Some(a), Some(b)) if same_value(cx, a, b)? => {}
            _ => return Ok(false),
        }
    }
}

fn same_refinement(a: &Refinement<'_>, b: &Refinement<'_>) -> bool {
    let same_bound = |a: Option<&(BigNum, bool)>, b: Option<&(BigNum, bool)>| match (a, b) {
        (Some((a, inclusive)), Some((b, other))) => inclusive == other && a.reads_as(b),
        _ => a.is_none() && b.is_none(),
    };
    a.not_null == b.not_null
        && a.prefix == b.prefix
        && (a.len_least, a.len_most) == (b.len_least, b.len_most)
        && same_bound(a.least, b.least)
        && same_bound(a.most, b.most)
}

/// Returns `true` if not even the type of a value is known.
pub fn is_dynamic(value: Value<'_>) -> bool {
    value.as_unknown().is_some_and(|unknown| unknown.ty == Type::Dynamic)
}
