//! Filters that take values of several types; the text of a value in output, and text that is charged as it grows.

use super::arguments::{Written, written, wrong};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::numbers::with_plain_float;
use dropforge_base::stdlib::strings;
use dropforge_machine::function::{Cx, Held};
use dropforge_machine::functions;
use dropforge_value::{JsonStyle, Value, write_json, write_yaml};

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
