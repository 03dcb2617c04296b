//! Values as Rust types, through serde: one deserializer for all languages.
//!
//! | value | what a type is offered |
//! |---|---|
//! | null, booleans, numbers, text, lists, maps | the same; text is borrowed |
//! | a number of any precision | the first of `i64`, `u64` and `f64` that it fits |
//! | an optional | an `Option`, or the value itself; `None` where there is none |
//! | bytes | bytes, or a sequence of `u8` |
//! | a moment | its text by RFC 3339, or a [`SystemTime`](std::time::SystemTime) |
//! | a span of time | its text in seconds (`"90s"`), or a [`Duration`](std::time::Duration) |
//! | a type, a value of the engine's own kinds | its text |
//! | a map whose keys are not all text | the keys as they are, or their texts where text is asked for |
//!
//! Marks are taken off, and what is marked does not appear in errors. Nothing is converted but by a language whose
//! values become of other types by themselves.

mod access;
mod de;
mod error;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use super::{Type, Value};
use crate::diagnostics::Result;
pub(crate) use de::ValueDeserializer;
use error::Error;
pub(crate) use error::{Path, Step, add_name};

/// `value` as a `T`, which may borrow text and bytes that live where the value does.
///
/// ```
/// use dropforge::value::{Arena, Value, from_value};
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize, PartialEq)]
/// struct Port<'a> {
///     name: &'a str,
///     number: u16,
///     protocol: Option<String>,
/// }
///
/// let arena = Arena::new();
/// let port = |number| arena.map(&[("name", arena.text("http")), ("number", Value::Int(number))]);
/// assert_eq!(from_value::<Port<'_>>(port(80))?, Port { name: "http", number: 80, protocol: None });
///
/// let error = from_value::<Vec<Port<'_>>>(arena.list(&[port(80), port(-1)])).unwrap_err();
/// assert_eq!(error.message, "[1].number: expected u16, found integer `-1`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `value.unfit`: where in the value something does not fit the type, what is expected there and what there is.
pub fn from_value<'v, T: Deserialize<'v>>(value: Value<'v>) -> Result<T> {
    T::deserialize(ValueDeserializer::new(value, AsItIs)).map_err(Error::into_diagnostic)
}

/// What a language makes of a value that is asked for as one of a type.
pub(crate) trait Coerce<'v>: Copy {
    /// Why a value does not fit.
    type Error: Misfit;

    /// Whether maps are in the order of their keys, not in that of insertion.
    const SORTED: bool;

    /// `value`, asked for as a boolean, a number or text.
    fn coerce(self, value: Value<'v>, ty: Type<'static>) -> std::result::Result<Value<'v>, Self::Error>;
}

/// An error that knows where in a value it is.
pub(crate) trait Misfit: serde::de::Error {
    /// The error of a part of the value that is this step away.
    fn within(self, step: Step) -> Self;

    /// The error without anything that tells of the value.
    fn withheld(self) -> Self;
}

/// Values are what they are.
#[derive(Clone, Copy)]
struct AsItIs;

impl<'v> Coerce<'v> for AsItIs {
    type Error = Error;

    const SORTED: bool = false;

    fn coerce(self, value: Value<'v>, _: Type<'static>) -> std::result::Result<Value<'v>, Error> {
        Ok(value)
    }
}
