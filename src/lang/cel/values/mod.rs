//! CEL values, and the operations of operators and conversions on them.
//!
//! | type | value |
//! |---|---|
//! | `null_type`, `bool`, `int`, `double`, `string`, `list` | the plain value of that kind |
//! | `uint` | [`Value::Uint`], however small |
//! | `map` | [`Value::Map`] if every key is a string, otherwise [`Extended::Entries`] |
//! | `bytes`, `type`, `optional_type` | [`Extended::Bytes`], [`Extended::Named`], [`Extended::Optional`] |
//! | `google.protobuf.Timestamp`, `google.protobuf.Duration` | [`Extended::Timestamp`], [`Extended::Duration`] |
//! | any other | [`Extended::Capsule`], by its type name |
//!
//! Operations take a [`Cx`] where their work grows with the values, and spend steps before they start. Compiled operators
//! and the function tables share them.

pub mod access;
pub(crate) mod arithmetic;
pub(crate) mod capsules;
pub mod compare;
pub mod convert;
pub(crate) mod errors;
pub mod maps;
pub mod text;
pub mod time;
pub(crate) mod written;

use capsules::is_omit;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

/// The type name of timestamps.
pub const TIMESTAMP: &str = "google.protobuf.Timestamp";
/// The type name of durations.
pub const DURATION: &str = "google.protobuf.Duration";

/// Type names that an expression can use as values, except those of capsules.
const PLAIN: &[&str] = &[
    "bool",
    "bytes",
    "double",
    DURATION,
    TIMESTAMP,
    "int",
    "list",
    "map",
    "null_type",
    "optional_type",
    "string",
    "type",
    "uint",
];

/// Returns the type names that an expression can use as values.
pub fn type_names() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().chain(capsules::TYPE_NAMES).copied()
}

/// Returns the type name `name`, if it is one that an expression can use as a value.
pub fn type_named(name: &str) -> Option<&'static str> {
    let find = |names: &[&'static str]| names.iter().find(|known| **known == name).copied();
    find(PLAIN).or_else(|| find(capsules::TYPE_NAMES))
}

/// Returns the name of a value's type.
///
/// ```
/// use dropforge::dialect::cel::values::type_name;
/// use dropforge::Value;
/// assert_eq!(type_name(Value::Uint(1)), "uint");
/// ```
pub const fn type_name(value: Value<'_>) -> &str {
    match value {
        Value::Undefined | Value::Null => "null_type",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Uint(_) => "uint",
        Value::Float(_) => "double",
        Value::Str(_) => "string",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Extended(extension) => match extension.kind() {
            Extended::Timestamp { .. } => TIMESTAMP,
            Extended::Duration(_) => DURATION,
            Extended::Optional(_) => "optional_type",
            Extended::Capsule(capsule) => capsule.name,
            Extended::Written(inner, _) => type_name(*inner),
            other => other.name(),
        },
    }
}

/// Returns the bytes of a bytes value.
pub const fn as_bytes<'v>(value: Value<'v>) -> Option<&'v [u8]> {
    match value.extended() {
        Some(Extended::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Returns the value that an optional holds: [`Value::Undefined`] for `optional.none()`.
pub const fn as_optional<'v>(value: Value<'v>) -> Option<Value<'v>> {
    match value.extended() {
        Some(Extended::Optional(held)) => Some(*held),
        _ => None,
    }
}

/// Returns the length in bytes of a string or bytes value, and 0 for any other.
pub fn byte_len(value: Value<'_>) -> usize {
    value.as_str().map_or_else(|| as_bytes(value).map_or(0, <[u8]>::len), str::len)
}

/// Makes an optional that holds `value`; [`Value::Undefined`] makes `optional.none()`.
///
/// # Errors
/// A limit of the render.
pub fn optional_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    cx.extended(Extended::Optional(value))
}

/// Makes `optional.none()`.
///
/// # Errors
/// A limit of the render.
pub fn empty_optional<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    optional_of(cx, Value::Undefined)
}

/// Converts a value to one of a document: an optional to the value that it holds. `omit()` and an empty optional become
/// undefined.
pub fn in_document(value: Value<'_>) -> Value<'_> {
    let mut value = value;
    while let Some(held) = as_optional(value) {
        value = held;
    }
    if is_omit(value) { Value::Undefined } else { value }
}
