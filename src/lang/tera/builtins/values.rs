//! Filters that take values of several types.

use super::arguments::{Written, written, wrong};
use super::text::{Charged, json};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::strings;
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::{JsonStyle, Value};

builtins! {
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

fn length<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = args else { return Err(cx.arity()) };
    let length = match value {
        Value::List(list) => list.items().len(),
        Value::Map(map) => map.len(),
        Value::Str(text) => {
            cx.spend(text.as_str().len() as u64 / 64)?;
            if text.is_ascii() { text.as_str().len() } else { text.as_str().chars().count() }
        }
        other => return Err(wrong("filter `length`", "value", "a list, a map or a string", *other)),
    };
    Ok(Value::uint(length as u64))
}

fn reverse<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let [value] = args else { return Err(cx.arity()) };
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
        other => Err(wrong("filter `reverse`", "value", "a list or a string", *other)),
    }
}

fn json_encode<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let [value, pretty] = args else { return Err(cx.arity()) };
    // Any value except true is compact, whatever its type.
    let style = if matches!(pretty, Value::Bool(true)) { JsonStyle::Pretty } else { JsonStyle::Compact };
    json(cx, *value, style, out)
}

fn as_str<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let [value] = args else { return Err(cx.arity()) };
    if let Value::Str(_) = value {
        return Ok(Some(*value));
    }
    let mut text = Charged::new(cx, out);
    text.value(*value)?;
    text.finish()
}

fn get<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, Value::Str(key), default] = args else { return Err(cx.arity()) };
    let Value::Map(map) = value else { return Err(wrong("filter `get`", "value", "a map", *value)) };
    match (map.get(key.as_str()), default) {
        (Some(found), _) => Ok(found),
        (None, Value::Undefined) => {
            let keys: Vec<&str> = map.iter_sorted().map(|(key, _)| key).take(100).collect();
            let error = cx.fault(Code::FunctionFailed, format!("filter `get`: the map has no key `{}`", key.as_str()));
            Err(error.with_suggestion(key.as_str(), keys.iter().copied()).with_available(keys))
        }
        (None, default) => Ok(*default),
    }
}
