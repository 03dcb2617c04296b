//! Entry point of deserialization, and the hooks through which a language converts values.

use serde::Deserialize;

use super::error::Error;
use super::{Step, ValueDeserializer};
use crate::{Type, Value};
use dropforge_base::diagnostics::Result;

/// Deserializes `value` into a `T`, which may borrow text and bytes from it.
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
/// `value.unfit`: the path of the part that does not fit, what is expected there and what was found.
pub fn from_value<'v, T: Deserialize<'v>>(value: Value<'v>) -> Result<T> {
    T::deserialize(ValueDeserializer::new(value, NoCoercion)).map_err(Error::into_diagnostic)
}

/// The implicit conversions of a language.
pub trait Coerce<'v>: Copy {
    /// The error for a value that does not fit.
    type Error: Misfit;

    /// `true` if maps are iterated in key order instead of insertion order.
    const SORTED: bool;

    /// Converts `value` to a boolean, a number or text.
    fn coerce(self, value: Value<'v>, ty: Type<'static>) -> std::result::Result<Value<'v>, Self::Error>;
}

/// An error with a path into the value.
pub trait Misfit: serde::de::Error {
    /// Prepends a step to the path.
    fn within(self, step: Step) -> Self;

    /// Returns the error without details of the value.
    fn withheld(self) -> Self;
}

/// No implicit conversions.
#[derive(Clone, Copy)]
struct NoCoercion;

impl<'v> Coerce<'v> for NoCoercion {
    type Error = Error;

    const SORTED: bool = false;

    fn coerce(self, value: Value<'v>, _: Type<'static>) -> std::result::Result<Value<'v>, Error> {
        Ok(value)
    }
}
