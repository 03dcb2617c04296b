//! Functions of numbers.

use std::cmp::Ordering;

use crate::values::compare::numbers;
use crate::values::{arithmetic, bad_argument, no_such_overload};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::Value;

/// Declares the table with the overloads of the functions that choose one of several numbers.
macro_rules! table {
    ($($name:literal $prefix:literal $better:ident: $doc:literal $examples:tt;)*) => {
        functions! {
            /// The library `math`. The macros `math.greatest(…)` and `math.least(…)` call `math.@max` and `math.@min`.
            pub static TABLE:
            $($name, $doc $examples
                | $prefix "double" (Double) -> Double = extreme($name, Ordering::$better);
                | $prefix "int" (Int) -> Int = extreme($name, Ordering::$better);
                | $prefix "uint" (Uint) -> Uint = extreme($name, Ordering::$better);
                | $prefix "double_double" (Double, Double) -> Double = extreme($name, Ordering::$better);
                | $prefix "int_int" (Int, Int) -> Int = extreme($name, Ordering::$better);
                | $prefix "uint_uint" (Uint, Uint) -> Uint = extreme($name, Ordering::$better);
                | $prefix "int_uint" (Int, Uint) -> Dyn = extreme($name, Ordering::$better);
                | $prefix "int_double" (Int, Double) -> Dyn = extreme($name, Ordering::$better);
                | $prefix "double_int" (Double, Int) -> Dyn = extreme($name, Ordering::$better);
                | $prefix "double_uint" (Double, Uint) -> Dyn = extreme($name, Ordering::$better);
                | $prefix "uint_int" (Uint, Int) -> Dyn = extreme($name, Ordering::$better);
                | $prefix "uint_double" (Uint, Double) -> Dyn = extreme($name, Ordering::$better);
                | $prefix "list_double" ((list Double)) -> Double = extreme_of_list($name, Ordering::$better);
                | $prefix "list_int" ((list Int)) -> Int = extreme_of_list($name, Ordering::$better);
                | $prefix "list_uint" ((list Uint)) -> Uint = extreme_of_list($name, Ordering::$better);
            )*
            "math.ceil", "Rounds up." ["math.ceil(1.2)" => "2.0"]
                | "math_ceil_double" (Double) -> Double = f64::ceil;
            "math.floor", "Rounds down." ["math.floor(-1.2)" => "-2.0"]
                | "math_floor_double" (Double) -> Double = f64::floor;
            "math.round", "Rounds to the nearest integer, halves away from zero."
                ["math.round(1.5)" => "2.0", "math.round(-1.5)" => "-2.0"]
                | "math_round_double" (Double) -> Double = f64::round;
            "math.trunc", "Truncates towards zero." ["math.trunc(-1.7)" => "-1.0"]
                | "math_trunc_double" (Double) -> Double = f64::trunc;
            "math.abs", "Returns the absolute value."
                ["math.abs(-1)" => "1", "math.abs(-1.5)" => "1.5", "math.abs(-9223372036854775808)" => "E0302"]
                | "math_abs_double" (Double) -> Double = f64::abs;
                | "math_abs_int" (Int) -> Int = abs;
                | "math_abs_uint" (Uint) -> Uint = std::convert::identity::<u64>;
            "math.sign", "Returns the sign of a number: -1, 0 or 1."
                ["math.sign(-7)" => "-1", "math.sign(0.5)" => "1.0", "1.0 / math.sign(-0.0) > 0.0" => "true", "math.sign(7u)" => "1u"]
                | "math_sign_double" (Double) -> Double = sign;
                | "math_sign_int" (Int) -> Int = i64::signum;
                | "math_sign_uint" (Uint) -> Uint = |number: u64| number.min(1);
            "math.sqrt", "Returns the square root; NaN for a negative number."
                ["math.sqrt(49)" => "7.0", "math.isNaN(math.sqrt(-1.0))" => "true"]
                | "math_sqrt_double" (Double) -> Double = f64::sqrt;
                | "math_sqrt_int" (Int) -> Double = f64::sqrt;
                | "math_sqrt_uint" (Uint) -> Double = f64::sqrt;
            "math.isNaN", "Returns `true` for NaN." ["math.isNaN(0.0 / 0.0)" => "true"]
                | "math_isNaN_double" (Double) -> Bool = f64::is_nan;
            "math.isInf", "Returns `true` for an infinite number." ["math.isInf(-1.0 / 0.0)" => "true"]
                | "math_isInf_double" (Double) -> Bool = f64::is_infinite;
            "math.isFinite", "Returns `true` for a number that is neither infinite nor NaN." ["math.isFinite(1.0)" => "true"]
                | "math_isFinite_double" (Double) -> Bool = f64::is_finite;
            "math.bitAnd", "Returns the bitwise AND." ["math.bitAnd(6, 3)" => "2"]
                | "math_bitAnd_int_int" (Int, Int) -> Int = bitwise(|a, b| a & b);
                | "math_bitAnd_uint_uint" (Uint, Uint) -> Uint = bitwise(|a, b| a & b);
            "math.bitOr", "Returns the bitwise OR." ["math.bitOr(6u, 3u)" => "7u"]
                | "math_bitOr_int_int" (Int, Int) -> Int = bitwise(|a, b| a | b);
                | "math_bitOr_uint_uint" (Uint, Uint) -> Uint = bitwise(|a, b| a | b);
            "math.bitXor", "Returns the bitwise XOR." ["math.bitXor(6, 3)" => "5"]
                | "math_bitXor_int_int" (Int, Int) -> Int = bitwise(|a, b| a ^ b);
                | "math_bitXor_uint_uint" (Uint, Uint) -> Uint = bitwise(|a, b| a ^ b);
            "math.bitNot", "Returns the bitwise NOT." ["math.bitNot(1)" => "-2"]
                | "math_bitNot_int_int" (Int) -> Int = bit_not;
                | "math_bitNot_uint_uint" (Uint) -> Uint = bit_not;
            "math.bitShiftLeft", "Shifts bits to the left. Shifting by 64 or more gives 0."
                ["math.bitShiftLeft(1, 2)" => "4", "math.bitShiftLeft(1, 64)" => "0", "math.bitShiftLeft(1, -1)" => "E0403"]
                | "math_bitShiftLeft_int_int" (Int, Int) -> Int = shifted("math.bitShiftLeft", u64::checked_shl);
                | "math_bitShiftLeft_uint_int" (Uint, Int) -> Uint = shifted("math.bitShiftLeft", u64::checked_shl);
            "math.bitShiftRight", "Shifts bits to the right, filling with zeros."
                ["math.bitShiftRight(1024, 2)" => "256", "math.bitShiftRight(-1024, 3)" => "2305843009213693824"]
                | "math_bitShiftRight_int_int" (Int, Int) -> Int = shifted("math.bitShiftRight", u64::checked_shr);
                | "math_bitShiftRight_uint_int" (Uint, Int) -> Uint = shifted("math.bitShiftRight", u64::checked_shr);
        }
    };
}

table! {
    "math.@max" "math_@max_" Greater: "Returns the greatest number, whatever the types; the first of equal ones."
        ["math.greatest(1, 2.5, 2u)" => "2.5", "math.greatest([3, 1])" => "3"];
    "math.@min" "math_@min_" Less: "Returns the least number, whatever the types; the first of equal ones."
        ["math.least(1, 2.5, 2u)" => "1", "math.least([3, 1])" => "1"];
}

/// Returns the first number that no other one is `better` than.
fn best<'v>(function: &str, values: &[Value<'v>], better: Ordering) -> Result<Value<'v>> {
    let Some((first, rest)) = values.split_first() else {
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

fn extreme<'v>(function: &'static str, better: Ordering) -> impl Fn(Value<'v>, Option<Value<'v>>) -> Result<Value<'v>> {
    move |first, second| best(function, &[first, second.unwrap_or(first)], better)
}

fn extreme_of_list<'v>(
    function: &'static str,
    better: Ordering,
) -> impl Fn(&Cx<'v>, &'v [Value<'v>]) -> Result<Value<'v>> {
    move |cx, list| {
        cx.spend(list.len() as u64)?;
        best(function, list, better)
    }
}

fn abs(number: i64) -> Result<i64> {
    number.checked_abs().ok_or_else(|| arithmetic("integer overflow"))
}

fn sign(number: f64) -> f64 {
    match number {
        0.0 => 0.0,
        number if number.is_nan() => number,
        number => number.signum(),
    }
}

/// Returns the bits of an integer of either type.
fn bits(value: Value<'_>) -> u64 {
    match value {
        Value::Int(n) => n.cast_unsigned(),
        Value::Uint(n) => n,
        _ => 0,
    }
}

/// Applies an operation to the bits of an integer, whose type the result has.
fn with_bits<'v>(value: Value<'v>, operation: impl FnOnce(u64) -> u64) -> Value<'v> {
    let result = operation(bits(value));
    if let Value::Int(_) = value { Value::Int(result.cast_signed()) } else { Value::Uint(result) }
}

fn bitwise<'v>(operation: fn(u64, u64) -> u64) -> impl Fn(Value<'v>, Value<'v>) -> Value<'v> {
    move |a, b| with_bits(a, |a| operation(a, bits(b)))
}

fn bit_not(value: Value<'_>) -> Value<'_> {
    with_bits(value, |bits| !bits)
}

/// Returns the function that shifts the bits of an integer, without regard to its sign.
fn shifted<'v>(
    function: &'static str,
    shift: fn(u64, u32) -> Option<u64>,
) -> impl Fn(Value<'v>, i64) -> Result<Value<'v>> {
    move |value, places| {
        if places < 0 {
            return Err(bad_argument(format!("{function}() negative offset: {places}")));
        }
        let moved = |bits| u32::try_from(places).ok().and_then(|places| shift(bits, places)).unwrap_or(0);
        Ok(with_bits(value, moved))
    }
}
