//! Defaults and choices.

use super::arguments::{is_nil, only, only_bytes};
use crate::error::refused;
use crate::values::{text_bytes, truth};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::byte_texts::repaired;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

assigned! {
    /// Defaults and choices.
    pub(super) static LOGIC:
    "default" (Any, ... Any) = default, looks Kinds, "Returns the second value, or the first if the second is empty."
        [r#"{{ "" | default "a" }}"# => "a", r#"{{ 5 | default 1 }}"# => "5"];
    "empty" (Any) = empty, looks Kinds, "Returns `true` for false, 0, nil and everything without elements." [r#"{{ empty 0 }}"# => "true"];
    "coalesce" (... Any) = coalesce, looks Kinds, "Returns the first value that is not empty, or nil."
        [r#"{{ coalesce 0 "" 2 3 }}"# => "2"];
    "all" (... Any) = all, looks Kinds, "Returns `true` if no value is empty." [r#"{{ all 1 "a" }}"# => "true"];
    "any" (... Any) = any, looks Kinds, "Returns `true` if a value is not empty." [r#"{{ any 0 "" }}"# => "false"];
    "ternary" (Any, Any, Bool) = ternary, looks Kinds, "Returns the first value if the third is true, otherwise the second."
        [r#"{{ true | ternary "a" "b" }}"# => "a"];
    "fail" (Str) = fail, "Fails with a message." [r#"{{ fail "no name" }}"# => "E0305"];
    "required" (Str, Any) = required, looks Kinds, "Returns a value, or fails with a message if it is nil or an empty text."
        [r#"{{ required "no name" "a" }}"# => "a", r#"{{ required "no name" "" }}"# => "E0305"];
}

fn default<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    match args {
        [_, given, ..] if truth(cx, *given) => Ok(*given),
        [default, ..] => Ok(*default),
        [] => Err(cx.arity()),
    }
}

fn empty<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Bool(!truth(cx, only(cx, args)?)))
}

fn coalesce<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(args.iter().copied().find(|value| truth(cx, *value)).unwrap_or(Value::Null))
}

fn all<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Bool(args.iter().all(|value| truth(cx, *value))))
}

fn any<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Bool(args.iter().any(|value| truth(cx, *value))))
}

fn ternary<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    match args {
        [yes, no, Value::Bool(holds)] => Ok(if *holds { *yes } else { *no }),
        _ => Err(cx.arity()),
    }
}

fn fail<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Err(refused(&repaired(only_bytes(cx, args)?)))
}

fn required<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [message, value] = args else { return Err(cx.arity()) };
    if is_nil(*value) || text_bytes(*value).is_some_and(<[u8]>::is_empty) {
        return Err(refused(&repaired(text_bytes(*message).unwrap_or(b""))));
    }
    Ok(*value)
}
