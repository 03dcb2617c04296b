//! Paths into values.

use super::access::{get_attr, has_element, has_index, index};
use super::equality::raw_equals;
use super::marks::marked_by;
use super::sets::is_set;
use super::types::type_of;
use super::{Fault, Outcome};
use crate::function::Cx;
use crate::value::{Type, Value};

/// A step into a value.
#[derive(Debug, Clone, Copy)]
pub enum Step<'v> {
    /// An attribute of an object.
    Attr(&'v str),
    /// The element of a list, tuple or map at this key, or this element of a set.
    Index(Value<'v>),
}

/// Returns `true` if both paths have the same steps.
pub fn same_path<'v>(cx: &Cx<'v>, a: &[Step<'v>], b: &[Step<'v>]) -> bool {
    a.len() == b.len() && has_prefix(cx, a, b)
}

/// Returns `true` if the path starts with the steps of `prefix`.
pub fn has_prefix<'v>(cx: &Cx<'v>, path: &[Step<'v>], prefix: &[Step<'v>]) -> bool {
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(a, b)| same_step(cx, a, b))
}

fn same_step<'v>(cx: &Cx<'v>, a: &Step<'v>, b: &Step<'v>) -> bool {
    match (a, b) {
        (Step::Attr(a), Step::Attr(b)) => a == b,
        (Step::Index(a), Step::Index(b)) => raw_equals(cx, *a, *b).unwrap_or(false),
        _ => false,
    }
}

/// Returns the value at the end of a path. Keys are not converted.
///
/// # Errors
/// A step leads nowhere.
pub fn apply_path<'v>(cx: &Cx<'v>, value: Value<'v>, path: &[Step<'v>]) -> Outcome<Value<'v>> {
    path.iter().try_fold(value, |value, step| apply_step(cx, value, *step))
}

fn apply_step<'v>(cx: &Cx<'v>, value: Value<'v>, step: Step<'v>) -> Outcome<Value<'v>> {
    match step {
        Step::Attr(_) if value.is_null() => Err(Fault::wrong("a null value has no attributes")),
        Step::Attr(name) => get_attr(cx, value, name),
        Step::Index(_) if value.is_null() => Err(Fault::wrong("a null value has no elements")),
        Step::Index(key) if is_set(value) => element_of_set(cx, value, key),
        Step::Index(key) => match has_index(cx, value, key)?.unmarked().0 {
            Value::Bool(false) => Err(Fault::wrong("the value has no element at the given key")),
            _ => index(cx, value, key),
        },
    }
}

/// Returns the element of a set that equals `key`.
fn element_of_set<'v>(cx: &Cx<'v>, set: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    let element = type_of(cx, set)?.element().copied().unwrap_or(Type::Dynamic);
    let (present, marks) = has_element(cx, set, key)?.unmarked();
    match present {
        Value::Bool(true) => marked_by(cx, key, marks),
        Value::Bool(false) => Err(Fault::wrong("the set does not have the given element")),
        _ => marked_by(cx, cx.arena().unknown(element), marks),
    }
}
