//! Helpers of bodies: arguments, their errors, and text.

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::{Cx, excerpt};
pub(super) use dropforge_machine::function::{Written, grown, written};
use dropforge_value::{Text, Value};

/// Returns the first argument, which the gate has checked to be a string.
pub(super) fn subject<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<&'v str> {
    args.first().and_then(Value::as_str).ok_or_else(|| cx.arity())
}

/// Returns the first argument like [`subject`], as a text value.
#[inline]
pub(super) fn subject_text<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<&'v Text<'v>> {
    match args.first() {
        Some(Value::Str(text)) => Ok(text),
        _ => Err(cx.arity()),
    }
}

/// Returns an integer that the gate has checked to be non-negative.
pub(super) fn natural(cx: &Cx<'_>, value: Value<'_>) -> Result<u64> {
    match value {
        Value::Int(n) => u64::try_from(n).map_err(|_| cx.arity()),
        Value::Uint(n) => Ok(n),
        _ => Err(cx.arity()),
    }
}

/// Returns such an integer as a size. One that does not fit exceeds any limit.
pub(super) fn size(cx: &Cx<'_>, value: Value<'_>) -> Result<usize> {
    natural(cx, value).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

/// Returns the items of the first argument, which the gate has checked to be a list.
pub(super) fn items<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<&'v [Value<'v>]> {
    args.first().and_then(Value::as_list).ok_or_else(|| cx.arity())
}

/// Returns an optional text argument. `of` is the function: ``filter `sort` ``.
pub(super) fn optional_text<'v>(of: &str, param: &str, value: Value<'v>) -> Result<Option<&'v str>> {
    match value {
        Value::Undefined => Ok(None),
        Value::Str(text) => Ok(Some(text.as_str())),
        other => Err(wrong(of, param, "a string", other)),
    }
}

/// Returns a required text argument.
pub(super) fn required_text<'v>(of: &str, param: &str, value: Value<'v>) -> Result<&'v str> {
    optional_text(of, param, value)?.ok_or_else(|| missing(of, param, "a string"))
}

/// Returns the error of an argument of the wrong type or value.
pub(super) fn wrong(of: &str, param: &str, wanted: &str, got: Value<'_>) -> Box<Diagnostic> {
    let message = format!("{of}: `{param}` should be {wanted}, but it is {} ({})", excerpt(got), got.kind());
    Diagnostic::new(Code::BadArgument, message)
}

/// Returns the error of a missing argument.
pub(super) fn missing(of: &str, param: &str, wanted: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::MissingArgument, format!("{of} needs the argument `{param}`, {wanted}"))
        .with_help(format!("add `{param}=…`"))
}

/// Returns a number, or null if it is not finite, as in JSON.
pub(super) fn number<'v>(number: f64) -> Value<'v> {
    if number.is_finite() { Value::Float(number) } else { Value::Null }
}
