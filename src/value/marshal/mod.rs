//! Plain data as text and back: JSON and TOML as network services exchange them.
//!
//! A writer walks values through a *view*, a function that returns each value as plain data. The view resolves what
//! only a language knows: maps that were changed, integers of a width, texts that are not UTF-8.
//!
//! | module | content |
//! |---|---|
//! | `json` | writes JSON, escaped for web pages or not, compact or indented |
//! | `json_read` | reads JSON, with the positions and wording of common decoders |
//! | `toml` | writes TOML, scalars first, and reads it |

pub mod json;
pub mod json_read;
pub mod toml;
pub use self::toml as toml_read;

use std::borrow::Cow;

use super::{Extended, Map, Value};

pub use super::Numbers;

/// Maximum nesting of what is written. Only a map that contains itself is deeper.
pub const MAX_DEPTH: usize = 1000;

/// A value as plain data.
#[derive(Debug, Clone)]
pub enum Plain<'v> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A float.
    Float(f64),
    /// Text, maybe not UTF-8.
    Text(Cow<'v, [u8]>),
    /// A list of octets.
    Bytes(&'v [u8]),
    /// A point in time, by RFC 3339.
    Time(String),
    /// A list.
    List(&'v [Value<'v>]),
    /// A map.
    Map(&'v Map<'v>),
    /// Fields, in the order of their declaration. Formats without an order take them for a map.
    Fields(&'v Map<'v>),
    /// A value that is not plain data. The text says why.
    Refused(String),
}

/// Returns a value as plain data, for values that need no language.
pub fn plain<'v>(value: Value<'v>) -> Plain<'v> {
    match value {
        Value::Undefined | Value::Null => Plain::Null,
        Value::Bool(truth) => Plain::Bool(truth),
        Value::Int(n) => Plain::Int(n),
        Value::Uint(n) => Plain::Uint(n),
        Value::Float(n) => Plain::Float(n),
        Value::Str(text) => Plain::Text(Cow::Borrowed(text.as_str().as_bytes())),
        Value::List(list) => Plain::List(list.items()),
        Value::Map(map) => Plain::Map(map),
        Value::Extended(extension) => match extension.kind() {
            Extended::Sized(number) => plain(number.plain()),
            Extended::Bytes(bytes) => Plain::Text(Cow::Borrowed(bytes)),
            Extended::Typed(_, elements) => match plain(*elements) {
                Plain::Text(Cow::Borrowed(bytes)) => Plain::Bytes(bytes),
                elements => elements,
            },
            Extended::Written(inner, _) | Extended::Optional(inner) | Extended::Marked(inner, _) => plain(*inner),
            Extended::Number(number) => number.to_f64().map_or(Plain::Null, Plain::Float),
            Extended::Duration(nanos) => Plain::Int(*nanos),
            kind @ Extended::Timestamp { .. } => Plain::Time(kind.plain_text().unwrap_or_default().into_owned()),
            Extended::Null(_) | Extended::Unknown(_) => Plain::Null,
            kind => Plain::Refused(format!("a {} is not plain data", kind.name())),
        },
    }
}

/// The reason that a value was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused<E> {
    /// The format cannot hold the value.
    Value(String),
    /// The caller stopped the writing.
    Stopped(E),
}

impl<E> From<E> for Refused<E> {
    fn from(error: E) -> Self {
        Refused::Stopped(error)
    }
}

/// Returns text as UTF-8; other bytes become U+FFFD, one for each.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(std::iter::repeat_n('\u{fffd}', chunk.invalid().len()));
    }
    Cow::Owned(out)
}
