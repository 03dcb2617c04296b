//! Element and attribute access of the language: `value[key]` and `value.name`. Keys are converted, attributes of maps
//! are their elements, results get the marks of the value, and a failure has a message for the user.

use super::access::{Step, has_index};
use super::elements::length;
use super::types::name as type_name;
use super::{access, convert, is_dynamic, is_set, marked_by, number_of, shallow_type, type_of};
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Extended, Type, Value};

/// A step that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAccess {
    /// The message of the diagnostic.
    pub summary: &'static str,
    /// One sentence about these values.
    pub detail: String,
}

const INVALID_INDEX: &str = "Invalid index";

/// The accessed value, or why there is none. After a failure, the language continues with an unknown value.
pub type Accessed<'v> = Result<Value<'v>, Box<NoAccess>>;

fn no_access<'v>(summary: &'static str, detail: impl Into<String>) -> Accessed<'v> {
    Err(Box::new(NoAccess { summary, detail: detail.into() }))
}

/// `value[key]`
///
/// # Errors
/// A limit was reached. A key that leads nowhere is the inner error.
#[inline]
pub fn index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Accessed<'v>> {
    match element_of(value, key) {
        Some(element) => Ok(Ok(element)),
        None => Ok(index_any(cx, value, key)?.map(|element| failing_with(cx, [value, key], element))),
    }
}

/// Returns what was accessed. If it is unknown because a computation failed, it stands for a failed one, too.
fn failing_with<'v, const N: usize>(cx: &Cx<'v>, of: [Value<'v>; N], found: Value<'v>) -> Value<'v> {
    let is_faulty = |value: &Value<'_>| value.as_unknown().is_some_and(|unknown| unknown.faulty);
    let (plain, marks) = found.unmarked();
    match plain.as_unknown() {
        Some(unknown) if of.iter().any(is_faulty) => {
            cx.arena().marked(cx.arena().faulty_refined(unknown.ty, unknown.refinement), marks)
        }
        _ => found,
    }
}

/// Returns the elements of a list or map without marks, and other values as they are.
#[inline]
fn plain(value: Value<'_>) -> Value<'_> {
    match value.extended() {
        Some(Extended::Typed(Type::List(_) | Type::Map(_), elements)) => *elements,
        _ => value,
    }
}

/// Returns the element at a key of the right type, if nothing is marked.
#[inline]
fn element_of<'v>(value: Value<'v>, key: Value<'v>) -> Option<Value<'v>> {
    match (plain(value), key) {
        (Value::List(list), Value::Int(at)) => list.items().get(usize::try_from(at).ok()?).copied(),
        (Value::Map(map), Value::Str(key)) => map.get(key.as_str()),
        _ => None,
    }
}

#[cold]
fn index_any<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Accessed<'v>> {
    let (inner, marks) = value.unmarked();
    if inner.is_null() {
        return Ok(no_access("Attempt to index null value", "This value is null, so it has no indices."));
    }
    if key.is_null() {
        return Ok(no_access(INVALID_INDEX, "A null value cannot be a key of a collection."));
    }
    if is_dynamic(inner) || is_dynamic(key) {
        return unknown(cx, Type::Dynamic, marks);
    }
    let ty = shallow_type(cx, inner);
    let wanted = match ty {
        Type::List(_) | Type::Tuple(_) => Type::Number,
        Type::Map(_) => Type::String,
        _ => return index_object(cx, value, key),
    };
    let key = match convert(cx, key, &wanted) {
        Ok(key) => key,
        Err(fault) => return wrong_key(fault),
    };
    match has_index(cx, value, key)?.unmarked().0 {
        Value::Bool(true) => Ok(Ok(access::index(cx, value, key)?)),
        Value::Bool(false) => Ok(no_access(INVALID_INDEX, missing_key(cx, value, key)?)),
        _ => unknown(cx, ty.element().copied().unwrap_or(Type::Dynamic), marks),
    }
}

/// Makes an unknown value with marks.
fn unknown<'v>(cx: &Cx<'v>, ty: Type<'v>, marks: &[&'v str]) -> Outcome<Accessed<'v>> {
    Ok(Ok(marked_by(cx, cx.arena().unknown(ty), marks)?))
}

/// Returns the failure of a key that does not convert.
fn wrong_key<'v>(fault: Fault) -> Outcome<Accessed<'v>> {
    match fault {
        Fault::Wrong(wrong) => {
            Ok(no_access(INVALID_INDEX, format!("The given key does not identify an element: {}.", wrong.message)))
        }
        limit => Err(limit),
    }
}

/// Explains why a sequence or map has no element at a key, without revealing the length of a marked value.
fn missing_key<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<String> {
    let plain = "The given key does not identify an element in this collection value";
    let why = match number_of(key.unmarked().0) {
        None => None,
        Some(at) if !at.is_whole() => Some("an index is a whole number, but the given one has a fraction"),
        Some(at) if at.is_negative() && !at.is_zero() => Some("an index is not negative"),
        Some(_) if value.is_marked() => None,
        Some(_) => match number_of(length(cx, value)?) {
            Some(length) if length.is_zero() => Some("the collection has no elements"),
            Some(_) => Some("the given index is not below the number of elements"),
            None => None,
        },
    };
    Ok(why.map_or_else(|| format!("{plain}."), |why| format!("{plain}: {why}.")))
}

/// `value[key]` for values that are not a list, tuple or map.
fn index_object<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Accessed<'v>> {
    let (inner, marks) = value.unmarked();
    let ty = type_of(cx, inner)?;
    if is_set(inner) {
        let detail =
            "Elements of a set are identified only by their value: there is no index or key to select one with.";
        return Ok(no_access(INVALID_INDEX, detail));
    }
    let Type::Object(_) = ty else {
        return Ok(no_access(INVALID_INDEX, "This value does not have any indices."));
    };
    let was_number = number_of(key.unmarked().0).is_some();
    let key = match convert(cx, key, &Type::String) {
        Ok(key) => key.unmarked().0,
        Err(fault) => return wrong_key(fault),
    };
    let Some(name) = key.as_str() else { return unknown(cx, Type::Dynamic, marks) };
    if ty.attribute(name).is_some() {
        return Ok(Ok(access::get_attr(cx, value, name)?));
    }
    let hint = if was_number { " Attributes of an object have names, not numbers." } else { "" };
    let detail = format!("The given key does not identify an element in this collection value.{hint}");
    Ok(no_access(INVALID_INDEX, detail))
}

/// `value.name`: the attribute of an object, the element of a map.
///
/// # Errors
/// A limit was reached. A name that leads nowhere is the inner error.
#[inline]
pub fn attribute<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Outcome<Accessed<'v>> {
    if let Value::Map(map) = plain(value)
        && let Some(attribute) = map.get(name)
    {
        return Ok(Ok(attribute));
    }
    Ok(attribute_any(cx, value, name)?.map(|attribute| failing_with(cx, [value], attribute)))
}

#[cold]
fn attribute_any<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Outcome<Accessed<'v>> {
    let (inner, marks) = value.unmarked();
    if inner.is_null() {
        return Ok(no_access(
            "Attempt to get attribute from null value",
            "This value is null, so it has no attributes.",
        ));
    }
    let normal = nfc(name);
    let ty = type_of(cx, inner)?;
    match ty {
        Type::Dynamic => unknown(cx, Type::Dynamic, marks),
        Type::Object(_) if ty.attribute(&normal).is_some() => Ok(Ok(access::get_attr(cx, value, &normal)?)),
        Type::Map(element) => match inner.entries().map(|map| map.get(&normal)) {
            None => unknown(cx, *element, marks),
            Some(Some(item)) => Ok(Ok(marked_by(cx, item, marks)?)),
            Some(None) => {
                let detail = format!("This map does not have an element with the key {name:?}.");
                Ok(no_access("Missing map element", detail))
            }
        },
        _ => Ok(no_access("Unsupported attribute", missing_attribute(&ty, name))),
    }
}

fn missing_attribute(ty: &Type<'_>, name: &str) -> String {
    let of_objects = |element: &Type<'_>| matches!(element, Type::Object(_));
    match ty {
        Type::Object(_) => format!("This object does not have an attribute named {name:?}."),
        Type::List(element) if of_objects(element) && element.attribute(name).is_some() => format!(
            "A list of objects has no attributes of its own: did you mean {name:?} of one of its elements, or of all?"
        ),
        Type::List(element) if of_objects(element) => {
            "A list of objects has no attributes of its own: did you mean one of its elements, or all?".to_owned()
        }
        Type::Set(element) if of_objects(element) => {
            "A set of objects has no attributes of its own: did you mean those of all its elements?".to_owned()
        }
        _ if ty.is_primitive() => format!("A value of a primitive type ({}) has no attributes.", type_name(ty)),
        _ => "This value does not have any attributes.".to_owned(),
    }
}

/// Returns the value at the end of a path, following each step as the language does.
///
/// # Errors
/// A limit was reached. The first step that leads nowhere is the inner error.
pub fn apply_path<'v>(cx: &Cx<'v>, mut value: Value<'v>, path: &[Step<'v>]) -> Outcome<Accessed<'v>> {
    for step in path {
        let next = match step {
            Step::Attr(name) => attribute(cx, value, name)?,
            Step::Index(key) => index(cx, value, *key)?,
        };
        match next {
            Ok(next) => value = next,
            wrong => return Ok(wrong),
        }
    }
    Ok(Ok(value))
}
