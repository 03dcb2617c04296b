//! Errors in schemas, and the JSON pointers that locate them.

use dropforge_base::stdlib::json_pointer;

/// An error in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The JSON pointer of the faulty part.
    pub pointer: String,
    /// The message, without a final period.
    pub message: String,
    /// The likely fix.
    pub help: Option<String>,
}

impl SchemaError {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), help: None }
    }
}

/// The JSON pointer of the member `name` below `pointer`.
pub(super) fn below(pointer: &str, name: &str) -> String {
    let mut at = String::with_capacity(pointer.len() + 1 + name.len());
    at.push_str(pointer);
    json_pointer::push(&mut at, name);
    at
}
