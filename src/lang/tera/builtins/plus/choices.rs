//! Required values, fallbacks, merged maps.

use crate::Rules;
use crate::builtins::functions::throw;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_machine::vm::Semantics;
use dropforge_value::{Map, Value};

builtins! {
    /// Required values, fallbacks, merged maps.
    pub(super) static CHOICES:
    filter "required" (value: Any = absent, message: Str) = required,
        "The value, or the error `message` if it is missing, null or an empty string."
        [
            r"{{ 'web' | required(message='give a name') }}" => "web",
            r"{{ name | required(message='give a name') }}" => "E0404",
            r"{{ '' | required(message='give a name') }}" => "E0404",
        ];
    filter "coalesce" (value: Any = absent, with: Any) = coalesce,
        "The first value that is neither missing nor null, false, 0 or empty: this one, or one of those in `with`, a list or a single value. Null if there is none."
        [
            r"{{ tag | coalesce(with=['', 'latest']) }}" => "latest",
            r"{{ 'v1' | coalesce(with='latest') }}" => "v1",
        ];
    filter "ternary" (value: Any = absent, yes: Any, no: Any) = ternary,
        "The argument `yes` if the value is true in a condition, otherwise `no`; also if it is missing."
        [
            r"{{ true | ternary(yes='https', no='http') }} {{ tls | ternary(yes='https', no='http') }}" => "https http",
            r"{{ true | ternary(yes=1) }}" => "E0402",
        ];
    filter "merge" (value: Map, with: Map) = merge,
        "With the entries of `with`, which win over its own. Maps under a key of both are replaced."
        [
            r#"{% set a = '{"a": {"x": 1}}' | from_json %}{% set b = '{"a": {"y": 2}, "b": 3}' | from_json %}{{ a | merge(with=b) | to_json }}"# => r#"{"a":{"y":2},"b":3}"#,
            r"{{ [1] | merge(with=1) }}" => "E0403",
        ];
    filter "merge_deep" (value: Map, with: Map) = merge_deep,
        "With the entries of `with`, which win over its own. Maps under a key of both are merged, lists are replaced."
        [
            r#"{% set a = '{"a": {"x": 1}}' | from_json %}{% set b = '{"a": {"y": 2}, "b": 3}' | from_json %}{{ a | merge_deep(with=b) | to_json }}"# => r#"{"a":{"x":1,"y":2},"b":3}"#,
        ];
    function "fail" (message: Str) = throw,
        "Stops the render with the error `message`."
        [r"{{ fail(message='no owner') }}" => "E0404", r"{{ fail() }}" => "E0402"];
}

fn required<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, Value::Str(message)] = args else { return Err(cx.arity()) };
    let lacks = match value {
        Value::Undefined => "missing",
        Value::Null => "null",
        Value::Str(text) if text.as_str().is_empty() => "an empty string",
        _ => return Ok(*value),
    };
    Err(cx.fault(Code::FunctionFailed, message.as_str()).with_note(format!("the value is required, but it is {lacks}")))
}

fn coalesce<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, with] = args else { return Err(cx.arity()) };
    let others = with.as_list().unwrap_or(std::slice::from_ref(with));
    for candidate in std::iter::once(value).chain(others) {
        cx.spend(1)?;
        if Rules.truth(cx, *candidate)? {
            return Ok(*candidate);
        }
    }
    Ok(Value::Null)
}

fn ternary<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, yes, no] = args else { return Err(cx.arity()) };
    Ok(if Rules.truth(cx, *value)? { *yes } else { *no })
}

fn merge<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Map(old), Value::Map(new)] = args else { return Err(cx.arity()) };
    merged(cx, old, new, false)
}

fn merge_deep<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Map(old), Value::Map(new)] = args else { return Err(cx.arity()) };
    merged(cx, old, new, true)
}

/// Merges two maps, and the maps under a key of both if `deep`. The depth of values is limited.
fn merged<'v>(cx: &Cx<'v>, old: &Map<'v>, new: &Map<'v>, deep: bool) -> Result<Value<'v>> {
    let most = old.len() + new.len();
    cx.spend(most as u64)?;
    cx.charge(most.saturating_mul(size_of::<(&str, Value<'_>)>()))?;
    let mut entries = Vec::with_capacity(most);
    for (key, value) in old.iter() {
        let value = match (value, new.get(key)) {
            (value, None) => value,
            (Value::Map(below), Some(Value::Map(other))) if deep => merged(cx, below, other, true)?,
            (_, Some(other)) => other,
        };
        entries.push((key, value));
    }
    entries.extend(new.iter().filter(|(key, _)| old.get(key).is_none()));
    cx.map(&entries)
}
