//! What is asked of a value and of everything in it.

use super::Outcome;
use crate::function::Cx;
use crate::value::{Map, Value};

/// Whether `value` or anything in it meets `holds`, which sees each value with its marks, outside in: what holds only
/// of values that are marked or not known, since parts without any of these are not looked into.
///
/// # Errors
/// The steps of the render are spent: one for each value looked at.
pub fn any<'v>(cx: &Cx<'_>, value: Value<'v>, holds: &impl Fn(Value<'v>) -> bool) -> Outcome<bool> {
    if !value.is_qualified() {
        return Ok(false);
    }
    if holds(value) {
        return Ok(true);
    }
    let items = value.elements().or_else(|| value.entries().map(Map::values)).unwrap_or(&[]);
    cx.spend(items.len() as u64)?;
    for item in items {
        if any(cx, *item, holds)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether `value` or anything in it could not be computed.
///
/// # Errors
/// The steps of the render are spent.
pub fn faulty<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<bool> {
    any(cx, value, &|value| value.as_unknown().is_some_and(|unknown| unknown.faulty))
}
