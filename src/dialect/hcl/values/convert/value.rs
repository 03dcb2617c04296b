//! Conversion of a value.

use super::super::mismatch::mismatch;
use super::super::numbers::{number_of, text};
use super::super::types::type_of;
use super::super::{Fault, Outcome};
use super::{conversion_exists, fits, structures, unknown};
use crate::function::Cx;
use crate::value::{BigNum, Extended, Extension, Type, Value};

/// Converts `value` to type `to`. Where `to` has the dynamic type, the value keeps its type; missing optional
/// attributes become null. A fault explains what does not fit, and its path.
///
/// A value that fits already is returned as it is. Unknown values stay unknown, null stays null, and marks stay.
pub fn convert<'v>(cx: &Cx<'v>, value: Value<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
    if fits(value, to) {
        return Ok(value);
    }
    if let Some(list) = plain_list(cx, value, to)? {
        return Ok(list);
    }
    let from = type_of(cx, value)?;
    if !conversion_exists(cx, &from, to, true)? {
        return Err(Fault::wrong(mismatch(cx, &from, to)?));
    }
    apply(cx, value, to)
}

/// Converts a tuple of plain values that all have the element type of a list: the common case.
fn plain_list<'v>(cx: &Cx<'v>, value: Value<'v>, to: &Type<'v>) -> Outcome<Option<Value<'v>>> {
    let (Value::List(list), Type::List(element)) = (value, to) else { return Ok(None) };
    let plain: fn(&Value<'v>) -> bool = match element {
        Type::String => |item| matches!(item, Value::Str(_)),
        Type::Number => |item| matches!(item, Value::Int(_)),
        Type::Bool => |item| matches!(item, Value::Bool(_)),
        _ => return Ok(None),
    };
    if list.items().is_empty() || !list.items().iter().all(plain) {
        return Ok(None);
    }
    cx.spend(list.items().len() as u64)?;
    cx.charge(size_of::<Extension>())?;
    Ok(Some(cx.arena().typed(cx.arena().list_type(**element), value)))
}

/// Converts a value if a conversion between the types exists. The content of the value may still not fit.
pub(super) fn apply<'v>(cx: &Cx<'v>, value: Value<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    if fits(value, to) {
        return Ok(value);
    }
    if let Some(Extended::Marked(inner, marks)) = value.extended() {
        return Ok(cx.arena().marked(apply(cx, *inner, to)?, marks));
    }
    if let Some(unknown) = value.as_unknown() {
        return unknown::convert(cx, unknown, to);
    }
    if value.is_null() {
        return unknown::null(cx, value, to);
    }
    match to {
        Type::Bool => to_bool(value),
        Type::Number => to_number(cx, value.as_str().unwrap_or("")),
        Type::String => to_string(cx, value),
        Type::List(element) => structures::list(cx, value, element),
        Type::Set(element) => structures::set(cx, value, element),
        Type::Map(element) => structures::map(cx, value, element),
        Type::Tuple(elements) => structures::tuple(cx, value, elements),
        Type::Object(attributes) => structures::object(cx, value, attributes),
        Type::Dynamic => Ok(value),
        Type::Capsule(name) => Err(Fault::wrong(format!("{name} required"))),
    }
}

fn to_bool<'v>(value: Value<'v>) -> Outcome<Value<'v>> {
    match value.as_str() {
        Some("true" | "1") => Ok(Value::Bool(true)),
        Some("false" | "0") => Ok(Value::Bool(false)),
        Some(text) if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
            let lower = text.to_ascii_lowercase();
            Err(Fault::wrong(format!("a bool is required; to convert from string, use lowercase \"{lower}\"")))
        }
        _ => Err(Fault::wrong("a bool is required")),
    }
}

fn to_number<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(text.len())?;
    let number = BigNum::parse(text).ok_or_else(|| Fault::wrong("a number is required"))?;
    Ok(cx.arena().number(number))
}

fn to_string<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    match value {
        Value::Bool(true) => Ok(cx.borrowed("true")?),
        Value::Bool(false) => Ok(cx.borrowed("false")?),
        Value::Int(n) => Ok(cx.text(itoa::Buffer::new().format(n))?),
        value => match number_of(value) {
            Some(number) => text(cx, &number),
            None => Err(Fault::wrong("a string is required")),
        },
    }
}
