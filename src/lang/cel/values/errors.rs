//! Errors of operations on values.

use super::type_name;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_machine::function::{Cx, Noted, excerpt};
use dropforge_value::Value;

/// No overload of `function` takes these arguments. The first is the receiver if the call is `member`.
#[cold]
pub fn no_such_overload(function: &str, member: bool, arguments: &[Value<'_>]) -> Box<Diagnostic> {
    let types: Vec<&str> = arguments.iter().map(|argument| type_name(*argument)).collect();
    let call = match types.split_first() {
        Some((receiver, rest)) if member => format!("{receiver}.{function}({})", rest.join(", ")),
        _ => format!("{function}({})", types.join(", ")),
    };
    let operator = function.starts_with('_') || function.ends_with('_') || function == "@in";
    let code = if operator { Code::TypeMismatch } else { Code::BadArgument };
    let error = Diagnostic::new(code, format!("no such overload: {call}"));
    match types.as_slice() {
        ["string", other @ ("int" | "uint" | "double" | "bool")]
        | [other @ ("int" | "uint" | "double" | "bool"), "string"]
            if function == "_+_" =>
        {
            error.with_help(format!("`string(…)` makes a text of the {other}"))
        }
        _ => error,
    }
}

/// A calculation without a result: `integer overflow`, `division by zero`.
#[cold]
pub fn arithmetic(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Arithmetic, what)
}

/// A map without the key.
#[cold]
pub fn no_such_key(key: Value<'_>) -> Box<Diagnostic> {
    let key = match key.as_str() {
        Some(text) => text.chars().take(60).collect(),
        None => excerpt(key).trim_matches('`').to_owned(),
    };
    Diagnostic::new(Code::BadIndex, format!("no such key: {key}"))
}

/// A list without the element.
#[cold]
pub fn out_of_bounds(index: impl std::fmt::Display) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("index out of bounds: {index}"))
}

/// A value that cannot be an index.
#[cold]
pub fn bad_index(of: &str, index: Value<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("unsupported index type '{}' in {of}", type_name(index)))
}

/// A number that is no index.
#[cold]
pub fn bad_index_value(of: &str, index: Value<'_>) -> Box<Diagnostic> {
    let index = excerpt(index).trim_matches('`').to_owned();
    Diagnostic::new(Code::BadIndex, format!("unsupported index value {index} in {of}"))
}

/// A value that can be neither a key nor an index.
#[cold]
pub fn bad_key(index: Value<'_>) -> Box<Diagnostic> {
    let message = format!("a value of type '{}' cannot be an index", type_name(index));
    Diagnostic::new(Code::BadIndex, message).with_help("an index is a string, a number or a boolean")
}

/// A value without fields.
#[cold]
pub fn no_fields(value: Value<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("type '{}' does not support field selection", type_name(value)))
}

/// An invalid argument of the right type.
#[cold]
pub fn bad_argument(what: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadArgument, what)
}

/// A value that does not convert to type `to`.
#[cold]
pub fn conversion(value: Value<'_>, to: &str) -> Box<Diagnostic> {
    let from = type_name(value);
    let error = Diagnostic::new(Code::BadArgument, format!("type conversion error from '{from}' to '{to}'"));
    match value.as_str() {
        Some(_) => error.with_detail(format!("the text is {}", excerpt(value))),
        None => error,
    }
}

/// An input that is missing.
#[cold]
pub fn undefined_input(cx: &Cx<'_>, name: &str) -> Box<Diagnostic> {
    let names = || cx.inputs().iter().map(|(name, _)| name);
    Diagnostic::new(Code::UndefinedVariable, format!("no such attribute: {name}"))
        .with_suggestion(name, names())
        .with_inputs(names())
}

/// Takes the notes after the first `from`, and returns their first error. The error of an unknown attribute takes
/// precedence: once the attribute is known, it may decide.
pub fn noted_since(cx: &Cx<'_>, from: Value<'_>) -> Option<Box<Diagnostic>> {
    let from = if let Value::Int(from) = from { usize::try_from(from).unwrap_or(usize::MAX) } else { usize::MAX };
    let errors = cx.notes().take(from).into_iter().filter_map(|note| match note.what {
        Noted::Error(error, _) => Some(error),
        Noted::Unanswered | Noted::Marks(_) => None,
    });
    errors.reduce(|first, next| match next.code {
        Code::UnknownAttribute if first.code != Code::UnknownAttribute => next,
        _ => first,
    })
}
