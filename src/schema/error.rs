//! Errors in schemas, and the JSON pointers that locate them.

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
    step(&mut at, name);
    at
}

/// Appends the step to the member `name` to a JSON pointer.
pub(super) fn step(pointer: &mut String, name: &str) {
    pointer.reserve(1 + name.len());
    pointer.push('/');
    let mut rest = name;
    while let Some(at) = memchr::memchr2(b'~', b'/', rest.as_bytes()) {
        pointer.push_str(&rest[..at]);
        pointer.push_str(if rest.as_bytes()[at] == b'~' { "~0" } else { "~1" });
        rest = &rest[at + 1..];
    }
    pointer.push_str(rest);
}
