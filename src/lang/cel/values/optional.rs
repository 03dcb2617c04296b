//! Optional values.

use super::as_optional;
use super::capsules::is_omit;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

/// Makes an optional that holds `value`; [`Value::Undefined`] makes `optional.none()`.
///
/// # Errors
/// A limit of the render.
pub fn of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    cx.extended(Extended::Optional(value))
}

/// Makes `optional.none()`.
///
/// # Errors
/// A limit of the render.
pub fn none<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    of(cx, Value::Undefined)
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
