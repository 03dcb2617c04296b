//! Deserializes values into Rust types through serde, for all languages.
//!
//! | value | Rust type |
//! |---|---|
//! | null, boolean, number, text, list, map | the same; text is borrowed |
//! | number of any precision | the first of `i64`, `u64` and `f64` that fits |
//! | optional | an `Option`, or the value itself; `None` if it is absent |
//! | bytes | bytes, or a sequence of `u8` |
//! | timestamp | its RFC 3339 text, or a [`SystemTime`](std::time::SystemTime) |
//! | duration | its text in seconds (`"90s"`), or a [`Duration`](std::time::Duration) |
//! | type, capsule of the engine | its text |
//! | map with keys other than text | the keys, or their texts if text is requested |
//!
//! Marks are removed, and marked values do not appear in errors. Values are converted only if their language does so
//! implicitly.

mod de;

use std::fmt;

use serde::Deserialize;
use serde::de::{Expected, Unexpected};

use crate::{Step, Type, Value};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::strings::prefix;

pub use de::ValueDeserializer;

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

/// Deserializes an argument of a function like [`from_value`]. Whole floats are integers, too: there are languages without
/// other numbers.
///
/// ```
/// use dropforge::value::{Value, from_argument};
/// assert_eq!(from_argument::<u8>(Value::Float(2.0))?, 2);
/// assert!(from_argument::<u8>(Value::Float(2.5)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Same as [`from_value`].
pub fn from_argument<'v, T: Deserialize<'v>>(value: Value<'v>) -> Result<T> {
    T::deserialize(ValueDeserializer::new(value, WholeFloats)).map_err(Error::into_diagnostic)
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

/// Whole floats are integers.
#[derive(Clone, Copy)]
struct WholeFloats;

/// The first float beyond the integers that floats represent exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'v> Coerce<'v> for WholeFloats {
    type Error = Error;

    const SORTED: bool = false;

    fn coerce(self, value: Value<'v>, ty: Type<'static>) -> std::result::Result<Value<'v>, Error> {
        Ok(match (value, ty) {
            // Negative zero is a float only.
            (Value::Float(float), Type::Number)
                if float.fract() == 0.0 && float.abs() < EXACT && float.to_bits() != (-0.0_f64).to_bits() =>
            {
                Value::Int(float as i64)
            }
            _ => value,
        })
    }
}

/// Maximum number of bytes of a text in a message.
const SHOWN: usize = 60;

/// A mismatch and its path in the value.
#[derive(Debug)]
struct Error {
    /// Innermost step first, in the order in which they are found.
    path: Vec<Step>,
    /// Boxed to keep results small.
    diagnostic: Box<Diagnostic>,
}

impl Error {
    fn new(message: String) -> Self {
        Self { path: Vec::new(), diagnostic: Diagnostic::new(Code::Unfit, message) }
    }

    /// Returns an unknown field or variant.
    fn unknown(what: &str, name: &str, names: &'static [&'static str]) -> Self {
        let diagnostic = Self::new(format!("unknown {what} {}", quoted(name))).diagnostic;
        let diagnostic = diagnostic.with_available(names.iter().copied()).with_suggestion(name, names.iter().copied());
        Self { path: Vec::new(), diagnostic }
    }

    /// Returns the diagnostic, with the path in its message.
    pub fn into_diagnostic(self) -> Box<Diagnostic> {
        let message = self.to_string();
        let mut diagnostic = self.diagnostic;
        diagnostic.message = message;
        diagnostic
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", Step::expression(self.path.iter().rev()))?;
        }
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Error {}

impl Misfit for Error {
    fn within(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    fn withheld(self) -> Self {
        Self::new("a marked value does not fit".to_owned())
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {expected}, found {}", shown(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(len: usize, expected: &dyn Expected) -> Self {
        let items = if len == 1 { "item" } else { "items" };
        Self::new(format!("expected {expected}, found {len} {items}"))
    }

    fn unknown_variant(name: &str, names: &'static [&'static str]) -> Self {
        Self::unknown("variant", name, names)
    }

    fn unknown_field(name: &str, names: &'static [&'static str]) -> Self {
        Self::unknown("field", name, names)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(format!("`{name}` is missing"))
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(format!("`{name}` is there twice"))
    }
}

/// Returns the description of an unexpected value, with long texts shortened.
fn shown(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Unit | Unexpected::Option => "null".to_owned(),
        Unexpected::Str(text) => format!("string {}", quoted(text)),
        Unexpected::Bytes(_) => "bytes".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        other => other.to_string(),
    }
}

/// Returns a quoted text, shortened if necessary.
fn quoted(text: &str) -> String {
    let shown = prefix(text, SHOWN);
    if shown.len() < text.len() { format!("{shown:?}…") } else { format!("{shown:?}") }
}

#[cfg(test)]
mod tests;
