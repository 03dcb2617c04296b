//! Conversion of values to types.

mod exists;
mod structures;
#[cfg(test)]
mod tests;
mod unknown;

pub use exists::conversion_exists;
pub(super) use structures::uniform;

use super::mismatch::mismatch;
use super::types::{has_optional, type_of};
use super::{Fault, Outcome};
use crate::function::Cx;
use crate::value::{BigNum, Extended, Extension, Type, Value};

/// `value` as a value of type `to`: where the dynamic type stands in `to`, of whatever type it has there; where an
/// attribute of `to` is optional and missing, null. A fault says what does not fit and where.
///
/// A value that fits already is returned as it is. What is unknown stays unknown, null stays null, and marks stay.
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

/// A tuple of plain values that are all of the type of a list's elements already, as that list: the common case.
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

/// Whether `value` is of type `to` already, the dynamic type in `to` standing for any: looks at as much of the value
/// as it must and makes nothing.
pub fn fits(value: Value<'_>, to: &Type<'_>) -> bool {
    match (value, to) {
        (_, Type::Dynamic)
        | (Value::Str(_), Type::String)
        | (Value::Int(_) | Value::Uint(_) | Value::Float(_), Type::Number)
        | (Value::Bool(_), Type::Bool) => true,
        (Value::List(list), Type::Tuple(types)) => {
            list.items().len() == types.len() && list.items().iter().zip(*types).all(|(item, ty)| fits(*item, ty))
        }
        (Value::Map(map), Type::Object(attributes)) => {
            let fits = |((name, value), to): ((&str, Value<'_>), &crate::value::Attribute<'_>)| {
                name == to.name && fits(value, &to.ty)
            };
            map.len() == attributes.len() && map.iter_sorted().zip(*attributes).all(fits)
        }
        (Value::Extended(extension), to) => match extension.kind() {
            Extended::Number(_) => *to == Type::Number,
            Extended::Null(ty) | Extended::Typed(ty, _) => is_of(ty, to),
            Extended::Unknown(unknown) => is_of(&unknown.ty, to),
            Extended::Marked(inner, _) => fits(*inner, to),
            Extended::Capsule(capsule) => *to == Type::Capsule(capsule.name),
            other => *to == Type::Capsule(other.name()),
        },
        _ => false,
    }
}

/// Whether values of type `ty` are of type `to` as well.
fn is_of(ty: &Type<'_>, to: &Type<'_>) -> bool {
    match (ty, to) {
        (_, Type::Dynamic) => !has_optional(ty),
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => is_of(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(*b).all(|(a, b)| is_of(a, b)),
        (Type::Object(a), Type::Object(b)) => {
            let is_of = |(a, b): (&crate::value::Attribute<'_>, &crate::value::Attribute<'_>)| {
                a.name == b.name && !a.optional && is_of(&a.ty, &b.ty)
            };
            a.len() == b.len() && a.iter().zip(*b).all(is_of)
        }
        _ => ty == to,
    }
}

/// Converts where a conversion exists: only what is in the value may still not fit.
fn apply<'v>(cx: &Cx<'v>, value: Value<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
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
        Type::Number => to_number(cx, value),
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

fn to_number<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    let text = value.as_str().unwrap_or("");
    cx.charge(text.len())?;
    let number = BigNum::parse(text).ok_or_else(|| Fault::wrong("a number is required"))?;
    Ok(cx.arena().number(number))
}

fn to_string<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    match value {
        Value::Bool(true) => Ok(cx.borrowed("true")?),
        Value::Bool(false) => Ok(cx.borrowed("false")?),
        Value::Int(n) => Ok(cx.text(itoa::Buffer::new().format(n))?),
        value => match super::number_of(value) {
            Some(number) => super::numbers::text(cx, &number),
            None => Err(Fault::wrong("a string is required")),
        },
    }
}
