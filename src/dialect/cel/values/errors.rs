//! The errors that operations on values raise.

use super::type_name;
use crate::diagnostics::{Code, Diagnostic};
use crate::function::excerpt;
use crate::value::Value;

/// No signature of `function` fits these arguments; of a member the first is the receiver.
#[cold]
pub fn no_such_overload(function: &str, member: bool, arguments: &[Value<'_>]) -> Box<Diagnostic> {
    let types: Vec<&str> = arguments.iter().map(|argument| type_name(*argument)).collect();
    let call = match types.split_first() {
        Some((receiver, rest)) if member => format!("{receiver}.{function}({})", rest.join(", ")),
        _ => format!("{function}({})", types.join(", ")),
    };
    let operator = function.starts_with('_') || function.ends_with('_') || function == "@in";
    let code = if operator { Code::TypeMismatch } else { Code::BadArgument };
    Diagnostic::new(code, format!("no such overload: {call}"))
}

/// A calculation has no result that fits: `integer overflow`, `division by zero`.
#[cold]
pub fn arithmetic(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Arithmetic, what)
}

/// A map has no such key.
#[cold]
pub fn no_such_key(key: Value<'_>) -> Box<Diagnostic> {
    let key = match key.as_str() {
        Some(text) => text.chars().take(60).collect(),
        None => excerpt(key).trim_matches('`').to_owned(),
    };
    Diagnostic::new(Code::BadIndex, format!("no such key: {key}"))
}

/// A list has no such element.
#[cold]
pub fn out_of_bounds(index: impl std::fmt::Display) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("index out of bounds: {index}"))
}

/// A value cannot be used as an index of another.
#[cold]
pub fn bad_index(of: &str, index: Value<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("unsupported index type '{}' in {of}", type_name(index)))
}

/// A value has no fields.
#[cold]
pub fn no_fields(value: Value<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("type '{}' does not support field selection", type_name(value)))
}

/// An argument of the right type has a value that does not do.
#[cold]
pub fn bad_argument(what: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadArgument, what)
}

/// A value has no counterpart of type `to`.
#[cold]
pub fn conversion(value: Value<'_>, to: &str) -> Box<Diagnostic> {
    let from = type_name(value);
    let error = Diagnostic::new(Code::BadArgument, format!("type conversion error from '{from}' to '{to}'"));
    match value.as_str() {
        Some(_) => error.with_detail(format!("the text is {}", excerpt(value))),
        None => error,
    }
}
