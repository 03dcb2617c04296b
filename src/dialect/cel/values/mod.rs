//! Values as this language has them, and what its operators and conversions make of them.
//!
//! | type | value |
//! |---|---|
//! | `null_type`, `bool`, `int`, `double`, `string`, `list` | the plain ones of these kinds |
//! | `uint` | [`Value::Uint`], of any size |
//! | `map` | [`Value::Map`] where every key is text, else [`Extended::Entries`] |
//! | `bytes`, `type`, `optional_type` | [`Extended::Bytes`], [`Extended::Named`], [`Extended::Optional`] |
//! | `google.protobuf.Timestamp`, `google.protobuf.Duration` | [`Extended::Timestamp`], [`Extended::Duration`] |
//! | any other | [`Extended::Capsule`], by the name of its kind |
//!
//! Every operation is a function of a [`Cx`](crate::function::Cx) and values: the operators of compiled expressions and the bodies of the
//! function tables are the same functions. Work that grows with the values is spent before it is done.

pub mod access;
pub mod arithmetic;
pub mod compare;
pub mod convert;
pub mod errors;
pub mod optional;
pub mod text;
pub mod time;

use crate::value::{Extended, Value};

/// The name of the type of moments.
pub const TIMESTAMP: &str = "google.protobuf.Timestamp";
/// The name of the type of spans of time.
pub const DURATION: &str = "google.protobuf.Duration";

/// The names that stand for the language's own types as values.
pub const TYPE_NAMES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    DURATION,
    TIMESTAMP,
    "int",
    "kubernetes.NamedFormat",
    "kubernetes.Quantity",
    "kubernetes.Semver",
    "kubernetes.URL",
    "list",
    "map",
    "net.CIDR",
    "net.IP",
    "null_type",
    "omit",
    "optional_type",
    "string",
    "type",
    "uint",
];

/// The name of the value's type.
///
/// ```
/// use dropforge::dialect::cel::values::type_name;
/// use dropforge::value::Value;
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
            other => other.name(),
        },
    }
}

/// The bytes, where it is some.
pub const fn as_bytes<'v>(value: Value<'v>) -> Option<&'v [u8]> {
    match value.extended() {
        Some(Extended::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// What an optional holds, [`Value::Undefined`] where that is nothing.
pub const fn as_optional<'v>(value: Value<'v>) -> Option<Value<'v>> {
    match value.extended() {
        Some(Extended::Optional(held)) => Some(*held),
        _ => None,
    }
}
