//! Equality, order, and arithmetic, also with times. Operands of different number types do not mix in arithmetic.

use std::cmp::Ordering;

use super::{arithmetic, byte_len, no_such_overload, time};
use crate::values;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

/// Compares two values: numbers by value whatever their types, lists by element, maps by key in any order. Values of
/// unrelated types are not equal. Each pair of values takes a step.
///
/// # Errors
/// The render has no steps left.
pub fn equal<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    cx.spend(1)?;
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => {
            cx.spend((a.as_str().len() / 64) as u64)?;
            a.as_str() == b.as_str()
        }
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Null, Value::Null) | (Value::Undefined, Value::Undefined) => true,
        (Value::List(a), Value::List(b)) => {
            let pairs = a.items().iter().zip(b.items()).map(|(a, b)| (*a, Some(*b)));
            a.items().len() == b.items().len() && all_equal(cx, pairs)?
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && all_equal(cx, a.iter().map(|(key, value)| (value, b.get(key))))?
        }
        (Value::Extended(a), Value::Extended(b)) => return equal_extended(cx, a.kind(), b.kind()),
        (a, b) => numbers(a, b) == Some(Some(Ordering::Equal)),
    })
}

/// Returns `true` if the values of each pair are equal.
fn all_equal<'v>(cx: &Cx<'v>, pairs: impl Iterator<Item = (Value<'v>, Option<Value<'v>>)>) -> Result<bool> {
    for (value, other) in pairs {
        match other {
            Some(other) if equal(cx, value, other)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn equal_extended<'v>(cx: &Cx<'v>, a: &Extended<'v>, b: &Extended<'v>) -> Result<bool> {
    Ok(match (a, b) {
        (Extended::Bytes(a), Extended::Bytes(b)) => {
            cx.spend((a.len() / 64) as u64)?;
            a == b
        }
        (Extended::Entries(a), Extended::Entries(b)) => {
            a.len() == b.len() && all_equal(cx, a.iter().map(|(key, value)| (value, b.get(key))))?
        }
        (Extended::Optional(a), Extended::Optional(b)) => return equal(cx, *a, *b),
        (Extended::Named(a), Extended::Named(b)) => a == b,
        (Extended::Capsule(a), Extended::Capsule(b)) => return values::equal(cx, a, b),
        (a, b) => times(a, b) == Some(Ordering::Equal),
    })
}

/// Orders two numbers: [`None`] if a value is not a number, `Some(None)` if one is NaN. An integer compares with a float
/// as its nearest float.
pub fn numbers(a: Value<'_>, b: Value<'_>) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(&b)),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(a).cmp(&i128::from(b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(a).cmp(&i128::from(b))),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(&b),
        (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(b as f64)),
        (Value::Float(a), Value::Uint(b)) => a.partial_cmp(&(b as f64)),
        (Value::Int(a), Value::Float(b)) => (a as f64).partial_cmp(&b),
        (Value::Uint(a), Value::Float(b)) => (a as f64).partial_cmp(&b),
        _ => return None,
    })
}

/// Orders two timestamps or two durations.
fn times(a: &Extended<'_>, b: &Extended<'_>) -> Option<Ordering> {
    match (a, b) {
        (Extended::Duration(a), Extended::Duration(b)) => Some(a.cmp(b)),
        (
            Extended::Timestamp { seconds, nanos },
            Extended::Timestamp { seconds: other_seconds, nanos: other_nanos },
        ) => Some((seconds, nanos).cmp(&(other_seconds, other_nanos))),
        _ => None,
    }
}

/// Orders two numbers, booleans, strings (by code point), bytes, timestamps or durations: [`None`] if the values have no
/// order, `Some(None)` if one is NaN.
pub fn ordered(a: Value<'_>, b: Value<'_>) -> Option<Option<Ordering>> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(Some(a.as_str().cmp(b.as_str()))),
        (Value::Bool(a), Value::Bool(b)) => Some(Some(a.cmp(&b))),
        (Value::Extended(a), Value::Extended(b)) => match (a.kind(), b.kind()) {
            (Extended::Bytes(a), Extended::Bytes(b)) => Some(Some(a.cmp(b))),
            (a, b) => times(a, b).map(Some),
        },
        (a, b) => numbers(a, b),
    }
}

/// Compares two values by `operator`, an ordering operator that is true of the orders that `holds` accepts. NaN has no
/// order, so the result is false.
///
/// # Errors
/// The values have no order, or the render has no steps left.
pub fn related<'v>(
    cx: &Cx<'v>,
    operator: &str,
    holds: fn(Ordering) -> bool,
    a: Value<'v>,
    b: Value<'v>,
) -> Result<bool> {
    cx.spend((byte_len(a).min(byte_len(b)) / 64) as u64)?;
    match ordered(a, b) {
        Some(order) => Ok(order.is_some_and(holds)),
        None => Err(no_such_overload(operator, false, &[a, b])),
    }
}

/// `a + b`: adds numbers or times; concatenates strings, bytes or lists.
///
/// # Errors
/// An overflow, operands that cannot be added, or a limit of the render.
pub fn add<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
        (Value::Str(a), Value::Str(b)) => {
            let (a, b) = (a.as_str(), b.as_str());
            cx.charge(a.len() + b.len() + size_of::<Value>())?;
            Ok(cx.arena().text_with(a.len() + b.len(), |text| {
                text.push_str(a);
                text.push_str(b);
            }))
        }
        (Value::List(a), Value::List(b)) => {
            let len = a.items().len() + b.items().len();
            cx.charge(len * size_of::<Value>())?;
            cx.list(&[a.items(), b.items()].concat())
        }
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(b)),
        _ => match (a.extended(), b.extended()) {
            (Some(Extended::Bytes(a)), Some(Extended::Bytes(b))) => {
                cx.charge(a.len() + b.len())?;
                cx.bytes(&[*a, *b].concat())
            }
            (Some(Extended::Duration(a)), Some(Extended::Duration(b))) => time::duration(cx, a.checked_add(*b)),
            (Some(Extended::Duration(span)), Some(Extended::Timestamp { seconds, nanos }))
            | (Some(Extended::Timestamp { seconds, nanos }), Some(Extended::Duration(span))) => {
                time::timestamp(cx, time::nanos_of(*seconds, *nanos) + i128::from(*span))
            }
            _ => Err(no_such_overload("_+_", false, &[a, b])),
        },
    }
}

/// `a - b`: subtracts numbers or times.
///
/// # Errors
/// An overflow, or operands that cannot be subtracted.
pub fn subtract<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a - b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(b)),
        _ => match (a.extended(), b.extended()) {
            (Some(Extended::Duration(a)), Some(Extended::Duration(b))) => time::duration(cx, a.checked_sub(*b)),
            (Some(Extended::Timestamp { seconds, nanos }), Some(Extended::Duration(span))) => {
                time::timestamp(cx, time::nanos_of(*seconds, *nanos) - i128::from(*span))
            }
            (
                Some(Extended::Timestamp { seconds, nanos }),
                Some(Extended::Timestamp { seconds: other_seconds, nanos: other_nanos }),
            ) => {
                let span = time::nanos_of(*seconds, *nanos) - time::nanos_of(*other_seconds, *other_nanos);
                time::duration(cx, i64::try_from(span).ok())
            }
            _ => Err(no_such_overload("_-_", false, &[a, b])),
        },
    }
}

/// `a * b`.
///
/// # Errors
/// An overflow, or operands that cannot be multiplied.
pub fn multiply<'v>(a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_mul(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a * b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(b)),
        _ => Err(no_such_overload("_*_", false, &[a, b])),
    }
}

/// `a / b`: integer division truncates towards zero.
///
/// # Errors
/// An integer division by zero, an overflow, or operands that cannot be divided.
pub fn divide<'v>(a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(arithmetic("division by zero")),
        (Value::Int(a), Value::Int(b)) => int(a.checked_div(b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a / b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(b)),
        _ => Err(no_such_overload("_/_", false, &[a, b])),
    }
}

/// `a % b`, with the sign of `a`.
///
/// # Errors
/// A zero divisor, an overflow, or operands that are not integers.
pub fn modulo<'v>(a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(arithmetic("modulus by zero")),
        (Value::Int(a), Value::Int(b)) => int(a.checked_rem(b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(b)),
        _ => Err(no_such_overload("_%_", false, &[a, b])),
    }
}

/// `-a`.
///
/// # Errors
/// An overflow, or an operand that is not a signed number.
pub fn negate<'v>(a: Value<'v>) -> Result<Value<'v>> {
    match a {
        Value::Int(a) => int(a.checked_neg()),
        Value::Float(a) => Ok(Value::Float(-a)),
        _ => Err(no_such_overload("-_", false, &[a])),
    }
}

/// Returns the result of a checked operation on integers.
fn int<'v>(number: Option<i64>) -> Result<Value<'v>> {
    number.map(Value::Int).ok_or_else(|| arithmetic("integer overflow"))
}

/// Returns the result of a checked operation on unsigned integers.
fn uint<'v>(number: Option<u64>) -> Result<Value<'v>> {
    number.map(Value::Uint).ok_or_else(|| arithmetic("unsigned integer overflow"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_base::limits::Limits;
    use dropforge_machine::function::{Caches, Capabilities};
    use dropforge_value::{Arena, Inputs};

    /// The extreme numbers of each type, and a value of each other kind.
    fn values(arena: &Arena) -> Vec<Value<'_>> {
        let ints = [i64::MIN, -1, 0, 1, (1 << 53) + 1, i64::MAX];
        let uints = [0, 1, (1 << 53) + 1, 1 << 63, u64::MAX];
        let floats =
            [f64::NEG_INFINITY, -9.3e18, -1.0, -0.0, 0.5, 1.0, 9_007_199_254_740_992.0, 9.3e18, 1.9e19, f64::NAN];
        let mut values = Vec::new();
        values.extend(ints.map(Value::Int));
        values.extend(uints.map(Value::Uint));
        values.extend(floats.map(Value::Float));
        values.extend([Value::Null, Value::Bool(false), Value::Bool(true), arena.text(""), arena.text("é")]);
        values.extend([
            arena.list(&[]),
            arena.list(&[Value::Int(1)]),
            arena.map(&[]),
            arena.map(&[("a", Value::Null)]),
        ]);
        let extended = [
            Extended::Bytes(b""),
            Extended::Bytes(b"\xFF"),
            Extended::Named("int"),
            Extended::Duration(-1),
            Extended::Timestamp { seconds: -1, nanos: 999_999_999 },
            Extended::Timestamp { seconds: 0, nanos: 0 },
            Extended::Optional(Value::Undefined),
            Extended::Optional(Value::Int(1)),
        ];
        values.extend(extended.map(|kind| arena.extended(kind)));
        values
    }

    #[test]
    fn equality_and_order_do_not_depend_on_the_side() {
        let (arena, limits, caches) = (Arena::new(), Limits::default(), Caches::default());
        let cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches);
        let values = values(&arena);
        for a in &values {
            let is_nan = matches!(a, Value::Float(n) if n.is_nan());
            assert_eq!(equal(&cx, *a, *a).unwrap(), !is_nan, "{a:?}");
            for b in &values {
                let same = equal(&cx, *a, *b).unwrap();
                assert_eq!(same, equal(&cx, *b, *a).unwrap(), "{a:?} {b:?}");
                let order = ordered(*a, *b);
                assert_eq!(order.map(|order| order.map(Ordering::reverse)), ordered(*b, *a), "{a:?} {b:?}");
                if let Some(order) = order {
                    assert_eq!(order == Some(Ordering::Equal), same, "{a:?} {b:?}");
                }
            }
        }
    }
}
