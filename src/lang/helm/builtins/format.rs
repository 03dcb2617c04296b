//! `print`, `println`, `printf`.

mod numbers;
mod verbs;

pub(super) use numbers::Spec;
pub(super) use verbs::value_text;

use crate::print::print as print_value;
use crate::values::{Kind, kind, string, text_bytes};
use dropforge_base::diagnostics::Result;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

assigned! {
    /// Formatting.
    pub(super) static FORMAT:
    "print" (... Any) = print, "The texts of values, with a space between two that are not strings."
        [r#"{{ print 1 2 "a" 3 }}"# => "1 2a3"];
    "println" (... Any) = println, "The texts of values with spaces between them, and a line end."
        [r#"{{ println "a" 1 }}"# => "a 1\n"];
    "printf" (Str, ... Any) = printf, "Values formatted by the verbs of a text."
        [r#"{{ printf "%s-%03d" "a" 7 }}"# => "a-007", r#"{{ printf "%d" "a" }}"# => "%!d(string=a)"];
}

fn print<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    if let [Value::Str(_)] = args {
        return Ok(args.first().copied().unwrap_or_default());
    }
    let mut out = Vec::new();
    let is_text = |value: &Value<'_>| kind(*value) == Kind::Str;
    for (at, value) in args.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| args.get(at));
        if before.is_some_and(|before| !is_text(before)) && !is_text(value) {
            out.push(b' ');
        }
        print_value(cx, *value, &mut out)?;
    }
    string(cx, &out)
}

fn println<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let mut out = Vec::new();
    for (at, value) in args.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        print_value(cx, *value, &mut out)?;
    }
    out.push(b'\n');
    string(cx, &out)
}

fn printf<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [format, args @ ..] = args else { return Err(cx.arity()) };
    let format = text_bytes(*format).ok_or_else(|| cx.arity())?;
    string(cx, &verbs::formatted(cx, format, args)?)
}
