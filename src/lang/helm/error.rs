//! Errors in the words of Go.

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::quoting::push_quoted;

/// The field with the message of Go, without the position that it begins with.
pub(crate) const GO_MESSAGE: &str = "go_message";

/// Returns an error with the message that Go has for it.
pub fn error(code: Code, message: impl Into<String>) -> Box<Diagnostic> {
    let message = message.into();
    Diagnostic::new(code, message.clone()).with_field(GO_MESSAGE, message)
}

/// Returns the error of a function that failed.
pub fn failed(message: impl Into<String>) -> Box<Diagnostic> {
    error(Code::FunctionFailed, message)
}

/// Returns the error with which a template's author refuses its inputs.
pub fn refused(message: &str) -> Box<Diagnostic> {
    let shown = if message.is_empty() { "the template failed without a message" } else { message };
    Diagnostic::new(Code::Assertion, shown).with_field(GO_MESSAGE, message)
}

/// Returns a text as Go quotes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_quoted(text.as_bytes(), &mut |piece| out.push_str(piece));
    out
}
