//! Filters that take numbers or values of several types; the text of a value in output, and text that is charged as it grows.

use super::{Written, number, written, wrong};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::numbers::{BASES, Rounding, with_plain_float};
use dropforge_base::stdlib::{numbers, strings};
use dropforge_machine::function::{Cx, Held};
use dropforge_machine::functions;
use dropforge_value::{JsonStyle, Text, Value, write_json, write_yaml};

functions! {
    /// Filters of values of several types.
    pub(super) static VALUES:
    filter "length" (value: Any) = length, total (Str) or (List) or (Map),
        "The number of items of a list or map, or of characters of a text."
        [r"{{ 'abc' | length }}{{ [1, 2] | length }}" => "32", r"{{ 1 | length }}" => "E0403"];
    filter "reverse" (value: Any) => reverse, total (Str) or (List),
        "The items of a list or the characters of a text from last to first."
        [r"{{ 'abc' | reverse }}{{ [1, 2] | reverse }}" => "cba[2, 1]", r"{{ 1 | reverse }}" => "E0403"];
    filter "json_encode" (value: Any, pretty: Any = absent) => json_encode,
        "As JSON with sorted keys, on one line or `pretty`."
        [r#"{{ [1, "a", 2.0] | json_encode }}"# => r#"[1,"a",2.0]"#, r"{{ [1] | json_encode(pretty=true) }}" => "[\n  1\n]"];
    filter "as_str" (value: Any) => as_str,
        "As the text that output shows."
        [r"{{ 1.0 | as_str | length }}" => "1"];
    filter "get" (value: Any, key: Str, default: Any = absent) = get, total (Map, Str, Present),
        "The value under `key` in a map, else `default`, else an error."
        [
            r"{{ [1] | group_by(attribute='a') | get(key='b', default='none') }}" => "none",
            r"{{ [1] | group_by(attribute='a') | get(key='b') }}" => "E0404",
            r"{{ [1] | get(key='a') }}" => "E0403",
        ];
}

fn length<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<i64> {
    let length = match value {
        Value::List(list) => list.items().len(),
        Value::Map(map) => map.len(),
        Value::Str(text) => {
            cx.spend(text.as_str().len() as u64 / 64)?;
            if text.is_ascii() { text.as_str().len() } else { text.as_str().chars().count() }
        }
        other => return Err(wrong("filter `length`", "value", "a list, a map or a string", other)),
    };
    Ok(length as i64)
}

fn reverse<'v>(cx: &Cx<'v>, value: Value<'v>, out: &mut String) -> Written<'v> {
    match value {
        Value::List(list) => {
            cx.spend(list.items().len() as u64)?;
            cx.charge(list.items().len().saturating_mul(size_of::<Value>()))?;
            cx.list_of(list.items().iter().rev().copied()).map(Some)
        }
        Value::Str(text) => {
            let text = text.as_str();
            written(cx, Some(text.len()), out, |out| strings::push_reversed(text, out))
        }
        other => Err(wrong("filter `reverse`", "value", "a list or a string", other)),
    }
}

fn json_encode<'v>(cx: &Cx<'v>, value: Value<'v>, pretty: Option<Value<'v>>, out: &mut String) -> Written<'v> {
    // Any value except true is compact, whatever its type.
    let style = if matches!(pretty, Some(Value::Bool(true))) { JsonStyle::Pretty } else { JsonStyle::Compact };
    json(cx, value, style, out)
}

fn as_str<'v>(cx: &Cx<'v>, value: Value<'v>, out: &mut String) -> Written<'v> {
    if let Value::Str(_) = value {
        return Ok(Some(value));
    }
    let mut text = Charged::new(cx, out);
    text.value(value)?;
    text.finish()
}

fn get<'v>(cx: &Cx<'v>, value: Value<'v>, key: &'v str, default: Option<Value<'v>>) -> Result<Value<'v>> {
    let Value::Map(map) = value else { return Err(wrong("filter `get`", "value", "a map", value)) };
    match (map.get(key), default) {
        (Some(found), _) => Ok(found),
        (None, None) => {
            let keys: Vec<&str> = map.iter_sorted().map(|(key, _)| key).take(100).collect();
            let error = cx.fault(Code::FunctionFailed, format!("filter `get`: the map has no key `{}`", key));
            Err(error.with_suggestion(key, keys.iter().copied()).with_available(keys))
        }
        (None, Some(default)) => Ok(default),
    }
}

/// Passes the text of `value` to `push`: strings unchanged, null as nothing, integral floats without a point, lists as
/// `[a, b]` without quotes, and every map as `[object]`.
pub fn write_text<E>(
    value: Value<'_>,
    push: &mut impl FnMut(&str) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    match value {
        Value::Undefined | Value::Null => Ok(()),
        Value::Bool(truth) => push(if truth { "true" } else { "false" }),
        Value::Int(n) => push(itoa::Buffer::new().format(n)),
        Value::Uint(n) => push(itoa::Buffer::new().format(n)),
        Value::Float(n) => with_plain_float(n, push),
        Value::Str(text) => push(text.as_str()),
        Value::List(list) => {
            push("[")?;
            for (at, item) in list.items().iter().enumerate() {
                if at > 0 {
                    push(", ")?;
                }
                match *item {
                    Value::Str(text) => push(text.as_str())?,
                    Value::Int(n) => push(itoa::Buffer::new().format(n))?,
                    item => write_text(item, push)?,
                }
            }
            push("]")
        }
        Value::Map(_) | Value::Extended(_) => push("[object]"),
    }
}

/// Text under construction after other output. Its space is charged before it is taken.
pub(super) struct Charged<'c, 'v> {
    cx: &'c Cx<'v>,
    out: &'c mut String,
    /// The length of what precedes the text.
    start: usize,
    held: Held<'c, 'v>,
}

impl<'c, 'v> Charged<'c, 'v> {
    /// Creates empty text after `out`.
    pub(super) fn new(cx: &'c Cx<'v>, out: &'c mut String) -> Self {
        Self { cx, start: out.len(), out, held: Held::new(cx) }
    }

    /// Appends the text of `value`.
    pub(super) fn value(&mut self, value: Value<'v>) -> Result<()> {
        write_text(value, &mut |piece| self.push(piece))
    }

    /// Appends `piece`.
    #[inline]
    pub(super) fn push(&mut self, piece: &str) -> Result<()> {
        self.held.step(self.out.len() - self.start + piece.len())?;
        self.out.push_str(piece);
        Ok(())
    }

    /// Ends the text, which stays charged.
    pub(super) fn finish(self) -> Written<'v> {
        kept(self.cx, self.held, self.out.len() - self.start)
    }
}

/// Charges for text of `len` bytes that stays, in place of the memory that it was given while it grew.
fn kept<'v>(cx: &Cx<'v>, held: Held<'_, 'v>, len: usize) -> Written<'v> {
    drop(held);
    cx.charge(len + size_of::<Value>())?;
    Ok(None)
}

/// Bytes of JSON that are charged together, unless a text is longer.
const PIECE: usize = 256;

/// Appends `value` as JSON, charged as it grows.
pub(super) fn json<'v>(cx: &Cx<'v>, value: Value<'v>, style: JsonStyle, out: &mut String) -> Written<'v> {
    let (start, mut held) = (out.len(), Held::new(cx));
    write_json(value, style, out, &mut |len| held.step(len.saturating_sub(start)).map(|()| len + PIECE))?;
    kept(cx, held, out.len() - start)
}

/// Appends `value` as YAML with a final newline, charged as it grows.
pub(super) fn yaml<'v>(cx: &Cx<'v>, value: Value<'v>, out: &mut String) -> Written<'v> {
    let (start, mut held) = (out.len(), Held::new(cx));
    write_yaml(value, out, &mut |len| held.step(len.saturating_sub(start)))?;
    kept(cx, held, out.len() - start)
}

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
