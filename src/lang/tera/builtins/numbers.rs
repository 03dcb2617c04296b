//! Filters of numbers, and from text to numbers.

use super::arguments::{number, wrong};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::numbers::{self, BASES, Rounding};
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::{Text, Value};

functions! {
    /// Filters of numbers, and from text to numbers.
    pub(super) static NUMBERS:
    filter "int" (value: Any, default: Int = int 0, base: Size = int 10) = int,
        "A number or text as a whole number; `default` if the text is not a number. Text is read in `base`."
        [
            r"{{ ' 3.9 ' | int }}" => "3",
            r"{{ '0xff' | int(base=16) }}" => "255",
            r"{{ 'many' | int(default=-1) }}" => "-1",
            r"{{ '1' | int(base=1) }}" => "E0403",
            r"{{ true | int }}" => "E0403",
        ];
    filter "float" (value: Any, default: Number = int 0) = float, total (Str, Number) or (Number, Number),
        "A number or text as a float; `default` if the text is not a number."
        [r"{{ '2.50' | float }}" => "2.5", r"{{ 'much' | float(default=1.5) }}" => "1.5"];
    filter "abs" (value: Any) = abs, total (Number),
        "The number without its sign."
        [r"{{ -1.5 | abs }}" => "1.5", r"{{ 'a' | abs }}" => "E0403"];
    filter "round" (value: Number, method: Str = str "common", precision: Int = int 0) = round,
        "Rounded to `precision` digits after the point: `common` (halves away from zero), `ceil` or `floor`."
        [
            r"{{ 2.5 | round }}" => "3",
            r"{{ 2.41 | round(method='ceil', precision=1) }}" => "2.5",
            r"{{ 2.5 | round(method='up') }}" => "E0403",
        ];
    filter "pluralize" (value: Number, singular: Str = str "", plural: Str = str "s") = pluralize, total (Number, Str, Str),
        "`singular` where the number is 1 or -1, else `plural`."
        [
            r"replica{{ 1 | pluralize }}, replica{{ 3 | pluralize }}" => "replica, replicas",
            r"{{ 1 | pluralize(singular='y', plural='ies') }}" => "y",
        ];
}

fn int<'v>(cx: &Cx<'v>, value: Value<'v>, default: Value<'v>, base: Value<'v>) -> Result<i64> {
    let Value::Int(fallback) = default else {
        return Err(wrong("filter `int`", "default", "an integer of 64 bits", default));
    };
    let radix = match base {
        Value::Int(radix) => u32::try_from(radix).ok(),
        _ => None,
    };
    let radix = radix.ok_or_else(|| wrong("filter `int`", "base", "an integer of 32 bits", base))?;
    match value {
        Value::Str(text) => {
            if !BASES.contains(&radix) {
                return Err(wrong("filter `int`", "base", "in the range [2, 36]", base));
            }
            cx.spend(text.as_str().len() as u64 / 64)?;
            Ok(numbers::int_of_text(text.as_str(), radix).unwrap_or(fallback))
        }
        // Deliberately through a float: digits above 2^53 are lost, and larger numbers are clamped.
        _ => match value.as_f64() {
            Some(number) => Ok(number as i64),
            None => Err(wrong("filter `int`", "value", "a string or a number", value)),
        },
    }
}

fn float<'v>(cx: &Cx<'v>, value: Value<'v>, default: f64) -> Result<Value<'v>> {
    match value {
        Value::Str(text) => {
            cx.spend(text.as_str().len() as u64 / 64)?;
            Ok(number(numbers::float_of_text(text.as_str()).unwrap_or(default)))
        }
        _ => match value.as_f64() {
            Some(float) => Ok(number(float)),
            None => Err(wrong("filter `float`", "value", "a string or a number", value)),
        },
    }
}

fn abs(value: Value<'_>) -> Result<Value<'_>> {
    match value {
        // The smallest integer stays as it is, because the reference wraps.
        Value::Int(n) => Ok(Value::Int(n.wrapping_abs())),
        Value::Uint(_) => Ok(value),
        Value::Float(n) => Ok(number(n.abs())),
        other => Err(wrong("filter `abs`", "value", "a number", other)),
    }
}

fn round<'v>(value: f64, name: &'v Text<'v>, precision: Value<'v>) -> Result<Value<'v>> {
    let method = Rounding::named(name.as_str()).ok_or_else(|| {
        let error = wrong("filter `round`", "method", "`common`, `ceil` or `floor`", Value::Str(name));
        error.with_available(Rounding::NAMES).with_suggestion(name.as_str(), Rounding::NAMES)
    })?;
    let places = match precision {
        Value::Int(places) => i32::try_from(places).ok(),
        _ => None,
    };
    let places = places.ok_or_else(|| wrong("filter `round`", "precision", "an integer of 32 bits", precision))?;
    Ok(number(numbers::round(value, method, places)))
}

fn pluralize<'v>(value: f64, singular: Value<'v>, plural: Value<'v>) -> Value<'v> {
    if (value.abs() - 1.0).abs() > f64::EPSILON { plural } else { singular }
}
