//! Elements and attributes, strictly: keys are of the type that the collection has, and what is not there is a fault.
//! The language's own operators are in [`super::traverse`].

use super::equality::{equals, is_dynamic};
use super::marks::marked_by;
use super::numbers::number_of;
use super::refine::unknown_bool;
use super::sets::is_set;
use super::types::{same_type, type_of};
use super::{Fault, Outcome};
use crate::function::Cx;
use crate::stdlib::strings::nfc;
use crate::value::{Extended, Type, Value};

/// What kind of keys a value has.
pub(super) enum Keys<'v> {
    /// Whole numbers: a list, with the type of its elements.
    List(Type<'v>),
    /// Whole numbers: a tuple, with the types of its elements where it is not known.
    Tuple(Option<&'v [Type<'v>]>),
    /// Texts: a map, with the type of its elements.
    Map(Type<'v>),
    /// None.
    None,
}

impl<'v> Keys<'v> {
    /// The keys of a value without marks that is not null.
    pub(super) fn of(value: Value<'v>) -> Self {
        let of_type = |ty: &Type<'v>| match ty {
            Type::List(element) => Self::List(**element),
            Type::Map(element) => Self::Map(**element),
            Type::Tuple(types) => Self::Tuple(Some(types)),
            _ => Self::None,
        };
        match (value, value.extended()) {
            (Value::List(_), _) => Self::Tuple(None),
            (_, Some(Extended::Typed(ty, _))) => of_type(ty),
            (_, Some(Extended::Unknown(unknown))) => of_type(&unknown.ty),
            _ => Self::None,
        }
    }
}

/// Whether the value, a list, tuple or map, has an element at the key; unknown where either is not known. A key of
/// another type than the value's keys is not there.
///
/// # Errors
/// The value is null or has no keys.
pub fn has_index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    let ((value, marks), (key, others)) = (value.unmarked(), key.unmarked());
    let known = if is_dynamic(value) { None } else { known_index(value, key)? };
    marked_by(cx, known.map_or_else(|| unknown_bool(cx), Value::Bool), marks, others)
}

fn known_index<'v>(value: Value<'v>, key: Value<'v>) -> Outcome<Option<bool>> {
    if value.is_null() {
        return Err(Fault::argument(0, "argument must not be null"));
    }
    let (length, wants_number) = match Keys::of(value) {
        Keys::List(_) => (value.elements().map(<[_]>::len), true),
        Keys::Tuple(types) => (types.map(<[_]>::len).or(value.elements().map(<[_]>::len)), true),
        Keys::Map(_) => (None, false),
        Keys::None => return Err(Fault::wrong("a list, map or tuple is required")),
    };
    match key.as_unknown() {
        Some(unknown) if unknown.ty == Type::Dynamic => return Ok(None),
        Some(unknown) => return Ok(if (unknown.ty == Type::Number) == wants_number { None } else { Some(false) }),
        None => {}
    }
    match (number_of(key), key.as_str()) {
        (Some(at), _) if wants_number => Ok(length.map(|length| at.to_u64().is_some_and(|at| at < length as u64))),
        (_, Some(key)) if !wants_number => Ok(value.entries().map(|map| map.get(key).is_some())),
        _ => Ok(Some(false)),
    }
}

/// The element at the key of a list, tuple or map.
///
/// # Errors
/// The value has no keys, the key is not of their type, or there is no element.
#[inline]
pub fn index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    if let (Value::List(list), Value::Int(at)) = (value, key)
        && let Some(item) = usize::try_from(at).ok().and_then(|at| list.items().get(at))
    {
        return Ok(*item);
    }
    index_any(cx, value, key)
}

#[cold]
fn index_any<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    let ((value, marks), (key, others)) = (value.unmarked(), key.unmarked());
    let element = element_at(cx, value, key)?;
    marked_by(cx, element, marks, others)
}

/// The element of a value without marks.
fn element_at<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    let arena = cx.arena();
    if is_dynamic(value) {
        return Ok(arena.unknown(Type::Dynamic));
    }
    let unknown_key = !key.is_known();
    let at = number_of(key).and_then(|at| at.to_u64()).and_then(|at| usize::try_from(at).ok());
    let wrong = || Fault::wrong("the value has no element at the given key");
    match Keys::of(value) {
        Keys::List(element) if unknown_key || !value.is_known() => Ok(arena.unknown(element)),
        Keys::Map(element) if unknown_key || !value.is_known() => Ok(arena.unknown(element)),
        Keys::Tuple(_) if unknown_key => Ok(arena.unknown(Type::Dynamic)),
        Keys::Tuple(Some(types)) => at.and_then(|at| types.get(at)).map(|ty| arena.unknown(*ty)).ok_or_else(wrong),
        Keys::List(_) | Keys::Tuple(None) => at.and_then(|at| value.elements()?.get(at).copied()).ok_or_else(wrong),
        Keys::Map(_) => key.as_str().and_then(|key| value.entries()?.get(key)).ok_or_else(wrong),
        Keys::None => Err(Fault::wrong("a list, map or tuple is required")),
    }
}

/// The attribute of an object.
///
/// # Errors
/// The value is no object, or has no such attribute.
pub fn get_attr<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Outcome<Value<'v>> {
    let (value, marks) = value.unmarked();
    let name = &*nfc(name);
    let wrong = || Fault::wrong(format!("the object has no attribute {name:?}"));
    let attribute = match (value, value.extended()) {
        (Value::Map(map), _) => map.get(name).ok_or_else(wrong)?,
        (_, Some(Extended::Unknown(unknown))) => match unknown.ty {
            Type::Dynamic => cx.arena().unknown(Type::Dynamic),
            Type::Object(_) => cx.arena().unknown(unknown.ty.attribute(name).ok_or_else(wrong)?.ty),
            _ => return Err(Fault::wrong("an object is required")),
        },
        _ => return Err(Fault::wrong("an object is required")),
    };
    marked_by(cx, attribute, marks, &[])
}

/// Whether a set has an element; unknown where the set has unknown elements and no known one is it.
///
/// # Errors
/// The value is null or no set.
pub fn has_element<'v>(cx: &Cx<'v>, set: Value<'v>, element: Value<'v>) -> Outcome<Value<'v>> {
    let ((set, marks), (element, others)) = (set.unmarked(), element.unmarked());
    let known = known_element(cx, set, element)?;
    marked_by(cx, known.map_or_else(|| unknown_bool(cx), Value::Bool), marks, others)
}

fn known_element<'v>(cx: &Cx<'v>, set: Value<'v>, element: Value<'v>) -> Outcome<Option<bool>> {
    if set.is_null() {
        return Err(Fault::argument(0, "argument must not be null"));
    }
    if !set.is_known() {
        return Ok(None);
    }
    if !is_set(set) {
        return Err(Fault::argument(0, "a set is required"));
    }
    let wanted = type_of(cx, set)?.element().copied().unwrap_or(Type::Dynamic);
    let own = type_of(cx, element)?;
    let same = same_type(cx, &own, &wanted)?;
    if !same && (element.is_known() || own != Type::Dynamic && wanted != Type::Dynamic) {
        return Ok(Some(false));
    }
    if !element.is_known() {
        return Ok(None);
    }
    let mut certain = Some(false);
    for other in set.elements().unwrap_or(&[]) {
        cx.spend(1)?;
        if matches!(equals(cx, *other, element)?, Value::Bool(true)) {
            return Ok(Some(true));
        }
        if certain.is_some() && !super::elements::is_wholly_known(cx, *other)? {
            certain = None;
        }
    }
    Ok(certain)
}
