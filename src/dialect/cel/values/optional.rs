//! Values that may be none.

use super::access::{entry, index_if_any, is_map};
use super::errors::no_such_key;
use super::{as_optional, type_name};
use crate::diagnostics::Result;
use crate::function::Cx;
use crate::value::{Extended, Value};

/// An optional of `value`.
///
/// # Errors
/// A limit of the render.
pub fn of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    cx.extended(Extended::Optional(value))
}

/// An optional of nothing.
///
/// # Errors
/// A limit of the render.
pub fn none<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    of(cx, Value::Undefined)
}

/// An optional of what was found, or of nothing.
fn found<'v>(cx: &Cx<'v>, value: Option<Value<'v>>) -> Result<Value<'v>> {
    of(cx, value.unwrap_or_default())
}

/// `value.?field`: an optional of the entry, also of what an optional holds.
///
/// # Errors
/// Such a value has no fields.
pub fn select<'v>(cx: &Cx<'v>, value: Value<'v>, field: &str) -> Result<Value<'v>> {
    match as_optional(value) {
        Some(Value::Undefined) => return Ok(value),
        Some(held) => return select(cx, held, field),
        None => {}
    }
    match value {
        Value::Map(map) => found(cx, map.get(field)),
        _ if is_map(value) => found(cx, entry(value, cx.text(field)?)),
        _ => {
            Err(no_such_key(cx.text(field)?).with_detail(format!("a value of type {} has no fields", type_name(value))))
        }
    }
}

/// `value[?index]`: an optional of the element or entry, also of what an optional holds.
///
/// # Errors
/// Such a value has no elements, or they cannot be asked for so.
pub fn index<'v>(cx: &Cx<'v>, value: Value<'v>, at: Value<'v>) -> Result<Value<'v>> {
    match as_optional(value) {
        Some(Value::Undefined) => Ok(value),
        Some(held) => index(cx, held, at),
        None => found(cx, index_if_any(value, at)?),
    }
}
