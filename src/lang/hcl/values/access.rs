//! Elements, attributes and paths without conversion of keys. A missing element is a fault. The operators `[key]` and
//! `.name` are in [`super::traverse`].

use super::{
    bool_or_unknown, equals, is_set, marked_by, number_of, propagate, raw_equals, same_type, shallow_type, type_of,
};
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Type, Value};

fn not_null(value: Value<'_>) -> Outcome<()> {
    if value.is_null() { Err(Fault::argument(0, "argument must not be null")) } else { Ok(()) }
}

/// Returns `true` if a list, tuple or map has an element at the key. The result is unknown if the value or the key is.
/// A key of the wrong type is not present.
///
/// # Errors
/// The value is null or has no keys.
pub fn has_index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [value, key], |[value, key]| Ok(bool_or_unknown(cx, known_index(cx, value, key)?)))
}

fn known_index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Option<bool>> {
    not_null(value)?;
    let known_length = value.elements().map(<[_]>::len);
    let (length, wants_number) = match shallow_type(cx, value) {
        Type::Dynamic if !value.is_known() => return Ok(None),
        Type::List(_) => (known_length, true),
        Type::Tuple(types) => (known_length.or(Some(types.len())), true),
        Type::Map(_) => (None, false),
        _ => return Err(no_keys()),
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

fn no_keys() -> Fault {
    Fault::wrong("a list, map or tuple is required")
}

/// Returns the element of a list, tuple or map at the key.
///
/// # Errors
/// The value has no keys, the key has the wrong type, or the element is missing.
#[inline]
pub fn index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    if let (Value::List(list), Value::Int(at)) = (value, key)
        && let Some(item) = usize::try_from(at).ok().and_then(|at| list.items().get(at))
    {
        return Ok(*item);
    }
    propagate(cx, [value, key], |[value, key]| element_at(cx, value, key))
}

fn element_at<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    let arena = cx.arena();
    let (known, known_key) = (value.is_known(), key.is_known());
    let at = number_of(key).and_then(|at| at.to_u64()).and_then(|at| usize::try_from(at).ok());
    let found = match shallow_type(cx, value) {
        Type::Dynamic if !known => Some(arena.unknown(Type::Dynamic)),
        Type::List(element) | Type::Map(element) if !known || !known_key => Some(arena.unknown(*element)),
        Type::Tuple(_) if !known_key => Some(arena.unknown(Type::Dynamic)),
        Type::Tuple(types) if !known => at.and_then(|at| types.get(at)).map(|ty| arena.unknown(*ty)),
        Type::List(_) | Type::Tuple(_) => at.and_then(|at| value.elements()?.get(at).copied()),
        Type::Map(_) => key.as_str().and_then(|key| value.entries()?.get(key)),
        _ => return Err(no_keys()),
    };
    found.ok_or_else(|| Fault::wrong("the value has no element at the given key"))
}

/// Returns the attribute of an object.
///
/// # Errors
/// The value is not an object, or does not have the attribute.
pub fn get_attr<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Outcome<Value<'v>> {
    let (value, marks) = value.unmarked();
    let name = &*nfc(name);
    let attribute = match (value, shallow_type(cx, value)) {
        (Value::Map(map), _) => map.get(name),
        (_, Type::Dynamic) if !value.is_known() => Some(cx.arena().unknown(Type::Dynamic)),
        (_, ty @ Type::Object(_)) => ty.attribute(name).map(|attribute| cx.arena().unknown(attribute.ty)),
        _ => return Err(Fault::wrong("an object is required")),
    };
    let attribute = attribute.ok_or_else(|| Fault::wrong(format!("the object has no attribute {name:?}")))?;
    marked_by(cx, attribute, marks)
}

/// Returns `true` if a set has an element. The result is unknown if only an unknown element could be it.
///
/// # Errors
/// The value is null or not a set.
pub fn has_element<'v>(cx: &Cx<'v>, set: Value<'v>, element: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [set, element], |[set, element]| Ok(bool_or_unknown(cx, known_element(cx, set, element)?)))
}

fn known_element<'v>(cx: &Cx<'v>, set: Value<'v>, element: Value<'v>) -> Outcome<Option<bool>> {
    not_null(set)?;
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
        if certain.is_some() && !super::is_wholly_known(cx, *other)? {
            certain = None;
        }
    }
    Ok(certain)
}

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
