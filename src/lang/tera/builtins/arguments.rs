//! Helpers of bodies: arguments, their errors, and text.

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::excerpt;
pub(super) use dropforge_machine::function::{Written, grown, written};
use dropforge_value::Value;

/// Returns an optional text argument. `of` is the function: ``filter `sort` ``.
pub(super) fn optional_text<'v>(of: &str, param: &str, value: Option<Value<'v>>) -> Result<Option<&'v str>> {
    match value {
        None => Ok(None),
        Some(Value::Str(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(wrong(of, param, "a string", other)),
    }
}

/// Returns a required text argument.
pub(super) fn required_text<'v>(of: &str, param: &str, value: Option<Value<'v>>) -> Result<&'v str> {
    optional_text(of, param, value)?.ok_or_else(|| missing(of, param, "a string"))
}

/// Returns the error of an argument of the wrong type or value.
pub(super) fn wrong(of: &str, param: &str, wanted: &str, got: Value<'_>) -> Box<Diagnostic> {
    let message = format!("{of}: `{param}` should be {wanted}, but it is {} ({})", excerpt(got), got.kind());
    Diagnostic::new(Code::BadArgument, message).with_help(format!("give `{param}` {wanted}"))
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
