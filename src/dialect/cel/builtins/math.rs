//! Functions of numbers.

use std::cmp::Ordering;

use super::{arguments, items, number};
use crate::diagnostics::Result;
use crate::dialect::cel::values::compare::numbers;
use crate::dialect::cel::values::errors::{arithmetic, bad_argument, no_such_overload};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `math`. `math.greatest(…)` and `math.least(…)` are macros that call `math.@max` and `math.@min`.
    pub static TABLE:
    "math.@max": "The greatest of numbers, of whatever types; of equal ones the first."
        ["math.greatest(1, 2.5, 2u)" => "2.5", "math.greatest([3, 1])" => "3"] {
        "math_@max_double" (Double) -> Double = maximum;
        "math_@max_int" (Int) -> Int = maximum;
        "math_@max_uint" (Uint) -> Uint = maximum;
        "math_@max_double_double" (Double, Double) -> Double = maximum;
        "math_@max_int_int" (Int, Int) -> Int = maximum;
        "math_@max_uint_uint" (Uint, Uint) -> Uint = maximum;
        "math_@max_int_uint" (Int, Uint) -> Dyn = maximum;
        "math_@max_int_double" (Int, Double) -> Dyn = maximum;
        "math_@max_double_int" (Double, Int) -> Dyn = maximum;
        "math_@max_double_uint" (Double, Uint) -> Dyn = maximum;
        "math_@max_uint_int" (Uint, Int) -> Dyn = maximum;
        "math_@max_uint_double" (Uint, Double) -> Dyn = maximum;
        "math_@max_list_double" ((list Double)) -> Double = maximum_of_list;
        "math_@max_list_int" ((list Int)) -> Int = maximum_of_list;
        "math_@max_list_uint" ((list Uint)) -> Uint = maximum_of_list;
    }
    "math.@min": "The least of numbers, of whatever types; of equal ones the first."
        ["math.least(1, 2.5, 2u)" => "1", "math.least([3, 1])" => "1"] {
        "math_@min_double" (Double) -> Double = minimum;
        "math_@min_int" (Int) -> Int = minimum;
        "math_@min_uint" (Uint) -> Uint = minimum;
        "math_@min_double_double" (Double, Double) -> Double = minimum;
        "math_@min_int_int" (Int, Int) -> Int = minimum;
        "math_@min_uint_uint" (Uint, Uint) -> Uint = minimum;
        "math_@min_int_uint" (Int, Uint) -> Dyn = minimum;
        "math_@min_int_double" (Int, Double) -> Dyn = minimum;
        "math_@min_double_int" (Double, Int) -> Dyn = minimum;
        "math_@min_double_uint" (Double, Uint) -> Dyn = minimum;
        "math_@min_uint_int" (Uint, Int) -> Dyn = minimum;
        "math_@min_uint_double" (Uint, Double) -> Dyn = minimum;
        "math_@min_list_double" ((list Double)) -> Double = minimum_of_list;
        "math_@min_list_int" ((list Int)) -> Int = minimum_of_list;
        "math_@min_list_uint" ((list Uint)) -> Uint = minimum_of_list;
    }
    "math.ceil": "The least whole number that is not less." ["math.ceil(1.2)" => "2.0"] {
        "math_ceil_double" (Double) -> Double = ceil;
    }
    "math.floor": "The greatest whole number that is not greater." ["math.floor(-1.2)" => "-2.0"] {
        "math_floor_double" (Double) -> Double = floor;
    }
    "math.round": "The nearest whole number, of two that are equally near the one farther from zero."
        ["math.round(1.5)" => "2.0", "math.round(-1.5)" => "-2.0"] {
        "math_round_double" (Double) -> Double = round;
    }
    "math.trunc": "The number without what is behind its point." ["math.trunc(-1.7)" => "-1.0"] {
        "math_trunc_double" (Double) -> Double = trunc;
    }
    "math.abs": "The number without its sign." ["math.abs(-1)" => "1", "math.abs(-1.5)" => "1.5", "math.abs(-9223372036854775808)" => "E0302"] {
        "math_abs_double" (Double) -> Double = abs;
        "math_abs_int" (Int) -> Int = abs;
        "math_abs_uint" (Uint) -> Uint = abs;
    }
    "math.sign": "-1, 0 or 1, as the number is less than 0, 0 or greater." ["math.sign(-7)" => "-1", "math.sign(0.5)" => "1.0", "math.sign(7u)" => "1u"] {
        "math_sign_double" (Double) -> Double = sign;
        "math_sign_int" (Int) -> Int = sign;
        "math_sign_uint" (Uint) -> Uint = sign;
    }
    "math.sqrt": "The square root; of a negative number NaN." ["math.sqrt(49)" => "7.0", "math.isNaN(math.sqrt(-1.0))" => "true"] {
        "math_sqrt_double" (Double) -> Double = sqrt;
        "math_sqrt_int" (Int) -> Double = sqrt;
        "math_sqrt_uint" (Uint) -> Double = sqrt;
    }
    "math.isNaN": "Whether it is not a number." ["math.isNaN(0.0 / 0.0)" => "true"] {
        "math_isNaN_double" (Double) -> Bool = is_nan;
    }
    "math.isInf": "Whether it is infinite." ["math.isInf(-1.0 / 0.0)" => "true"] {
        "math_isInf_double" (Double) -> Bool = is_inf;
    }
    "math.isFinite": "Whether it is neither infinite nor NaN." ["math.isFinite(1.0)" => "true"] {
        "math_isFinite_double" (Double) -> Bool = is_finite;
    }
    "math.bitAnd": "The bits that both have." ["math.bitAnd(6, 3)" => "2"] {
        "math_bitAnd_int_int" (Int, Int) -> Int = bit_and;
        "math_bitAnd_uint_uint" (Uint, Uint) -> Uint = bit_and;
    }
    "math.bitOr": "The bits that one has." ["math.bitOr(6u, 3u)" => "7u"] {
        "math_bitOr_int_int" (Int, Int) -> Int = bit_or;
        "math_bitOr_uint_uint" (Uint, Uint) -> Uint = bit_or;
    }
    "math.bitXor": "The bits that only one has." ["math.bitXor(6, 3)" => "5"] {
        "math_bitXor_int_int" (Int, Int) -> Int = bit_xor;
        "math_bitXor_uint_uint" (Uint, Uint) -> Uint = bit_xor;
    }
    "math.bitNot": "The bits that it does not have." ["math.bitNot(1)" => "-2"] {
        "math_bitNot_int_int" (Int) -> Int = bit_not;
        "math_bitNot_uint_uint" (Uint) -> Uint = bit_not;
    }
    "math.bitShiftLeft": "The bits so many places further up; none are left behind 63."
        ["math.bitShiftLeft(1, 2)" => "4", "math.bitShiftLeft(1, 64)" => "0", "math.bitShiftLeft(1, -1)" => "E0403"] {
        "math_bitShiftLeft_int_int" (Int, Int) -> Int = shift_left;
        "math_bitShiftLeft_uint_int" (Uint, Int) -> Uint = shift_left;
    }
    "math.bitShiftRight": "The bits so many places further down, with zeros from above."
        ["math.bitShiftRight(1024, 2)" => "256", "math.bitShiftRight(-1024, 3)" => "2305843009213693824"] {
        "math_bitShiftRight_int_int" (Int, Int) -> Int = shift_right;
        "math_bitShiftRight_uint_int" (Uint, Int) -> Uint = shift_right;
    }
}

/// The first of the numbers that no other one is `better` than.
fn extreme<'v>(function: &str, numbers_given: &[Value<'v>], better: Ordering) -> Result<Value<'v>> {
    let Some((first, rest)) = numbers_given.split_first() else {
        return Err(bad_argument(format!("{function}(list) argument must not be empty")));
    };
    let mut best = *first;
    if numbers(best, best).is_none() {
        return Err(no_such_overload(function, false, &[best]));
    }
    for number in rest {
        let order = numbers(*number, best).ok_or_else(|| no_such_overload(function, false, &[best, *number]))?;
        if order == Some(better) {
            best = *number;
        }
    }
    Ok(best)
}

fn maximum<'v>(_cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    extreme("math.@max", given, Ordering::Greater)
}

fn minimum<'v>(_cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    extreme("math.@min", given, Ordering::Less)
}

fn maximum_of_list<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    cx.spend(items(list).len() as u64)?;
    extreme("math.@max", items(list), Ordering::Greater)
}

fn minimum_of_list<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    cx.spend(items(list).len() as u64)?;
    extreme("math.@min", items(list), Ordering::Less)
}

/// The argument as a double.
fn double<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<f64> {
    let [number] = arguments(cx, given)?;
    number.as_f64().ok_or_else(|| cx.arity())
}

fn ceil<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::ceil).map(Value::Float)
}

fn floor<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::floor).map(Value::Float)
}

fn round<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::round).map(Value::Float)
}

fn trunc<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::trunc).map(Value::Float)
}

fn sqrt<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::sqrt).map(Value::Float)
}

fn is_nan<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::is_nan).map(Value::Bool)
}

fn is_inf<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::is_infinite).map(Value::Bool)
}

fn is_finite<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    double(cx, given).map(f64::is_finite).map(Value::Bool)
}

fn abs<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [number] = arguments(cx, given)?;
    Ok(match number {
        Value::Int(n) => Value::Int(n.checked_abs().ok_or_else(|| arithmetic("integer overflow"))?),
        Value::Float(n) => Value::Float(n.abs()),
        number => number,
    })
}

fn sign<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [number] = arguments(cx, given)?;
    Ok(match number {
        Value::Int(n) => Value::Int(n.signum()),
        Value::Uint(n) => Value::Uint(n.min(1)),
        // Zero and NaN are their own signs.
        Value::Float(n) if n == 0.0 || n.is_nan() => Value::Float(n),
        Value::Float(n) => Value::Float(n.signum()),
        number => number,
    })
}

/// What becomes of the bits of two whole numbers of one type.
fn bits<'v>(
    cx: &Cx<'v>,
    given: &[Value<'v>],
    signed: fn(i64, i64) -> i64,
    unsigned: fn(u64, u64) -> u64,
) -> Result<Value<'v>> {
    match arguments(cx, given)? {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(signed(a, b))),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(unsigned(a, b))),
        _ => Err(cx.arity()),
    }
}

fn bit_and<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    bits(cx, given, |a, b| a & b, |a, b| a & b)
}

fn bit_or<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    bits(cx, given, |a, b| a | b, |a, b| a | b)
}

fn bit_xor<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    bits(cx, given, |a, b| a ^ b, |a, b| a ^ b)
}

fn bit_not<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    match arguments(cx, given)? {
        [Value::Int(n)] => Ok(Value::Int(!n)),
        [Value::Uint(n)] => Ok(Value::Uint(!n)),
        _ => Err(cx.arity()),
    }
}

fn shift_left<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    shifted(cx, given, "math.bitShiftLeft", u64::checked_shl)
}

fn shift_right<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    shifted(cx, given, "math.bitShiftRight", u64::checked_shr)
}

/// The bits moved; those of a number with sign are taken as they are.
fn shifted<'v>(
    cx: &Cx<'v>,
    given: &[Value<'v>],
    function: &str,
    shift: fn(u64, u32) -> Option<u64>,
) -> Result<Value<'v>> {
    let [value, places] = arguments(cx, given)?;
    let places = number(places);
    if places < 0 {
        return Err(bad_argument(format!("{function}() negative offset: {places}")));
    }
    let moved = |bits: u64| u32::try_from(places).ok().and_then(|places| shift(bits, places)).unwrap_or(0);
    match value {
        Value::Int(n) => Ok(Value::Int(moved(n.cast_unsigned()).cast_signed())),
        Value::Uint(n) => Ok(Value::Uint(moved(n))),
        _ => Err(cx.arity()),
    }
}
