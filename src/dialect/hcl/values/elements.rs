//! What values consist of: walking collections, making them, and asking what is known in them.

use super::Outcome;
use super::numbers::machine_int;
use super::path::Step;
use super::sets::{is_set, set_of};
use super::types::{same_type, type_of};
use super::within::any;
use crate::function::Cx;
use crate::value::{Extended, Refinement, Type, Value};

/// The keys and elements of a list, set, map, tuple or object, in the order that the language walks them: maps and
/// objects by their keys' bytes, sets by their elements' order. The elements of a set are their own keys. Nothing
/// where the value is null, unknown or has no elements. Marks of the value itself are not on its elements.
///
/// # Errors
/// The memory or the steps of the render are spent.
pub fn elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Vec<(Value<'v>, Value<'v>)>> {
    if let Some(items) = value.elements() {
        cx.charge(items.len() * 2 * size_of::<Value>())?;
        let own_key = is_set(value);
        let entry = |(at, item): (usize, &Value<'v>)| Ok((if own_key { *item } else { machine_int(cx, at)? }, *item));
        return items.iter().enumerate().map(entry).collect();
    }
    let Some(map) = value.entries() else { return Ok(Vec::new()) };
    cx.charge(map.len() * 2 * size_of::<Value>())?;
    map.iter_sorted().map(|(key, item)| Ok((cx.borrowed(key)?, item))).collect()
}

/// Whether nothing in the value is unknown.
///
/// # Errors
/// The steps of the render are spent: one for each value looked at.
pub fn is_wholly_known(cx: &Cx<'_>, value: Value<'_>) -> Outcome<bool> {
    any(cx, value, &|value| !value.is_known()).map(|unknown| !unknown)
}

/// The value with each element replaced by what `made` makes of it; one without elements as it is. Marks that the
/// elements of a set have come to be on the set.
///
/// # Errors
/// Those of `made`; the memory or the steps of the render are spent.
pub fn rebuilt<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    made: &mut dyn FnMut(Step<'v>, Value<'v>) -> Outcome<Value<'v>>,
) -> Outcome<Value<'v>> {
    let own_key = is_set(value);
    let elements = if let Some(items) = value.elements() {
        let step = |at, item| if own_key { item } else { Value::Int(at as i64) };
        let items = items.iter().enumerate().map(|(at, item)| made(Step::Index(step(at, *item)), *item));
        let items = items.collect::<Outcome<Vec<_>>>()?;
        match value.extended() {
            Some(Extended::Typed(Type::Set(element), _)) => return set_of(cx, **element, &items),
            _ => cx.list(&items)?,
        }
    } else if let Some(map) = value.entries() {
        let is_object = matches!(value, Value::Map(_));
        let entry = |(key, item)| {
            let step = if is_object { Step::Attr(key) } else { Step::Index(cx.borrowed(key)?) };
            Ok((key, made(step, item)?))
        };
        cx.map(&map.iter_sorted().map(entry).collect::<Outcome<Vec<_>>>()?)?
    } else {
        return Ok(value);
    };
    Ok(match value.extended() {
        Some(Extended::Typed(ty, _)) => cx.arena().typed(*ty, elements),
        _ => elements,
    })
}

/// The one type that all of `items` have, the dynamic type aside, so that they can be the elements of one list, set
/// or map; the dynamic type where none has another; nothing where two differ.
///
/// # Errors
/// The memory or the steps of the render are spent.
pub fn common_type<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Outcome<Option<Type<'v>>> {
    let mut common = Type::Dynamic;
    for item in items {
        let own = type_of(cx, *item)?;
        if common == Type::Dynamic {
            common = own;
        } else if own != Type::Dynamic && !same_type(cx, &common, &own)? {
            return Ok(None);
        }
    }
    Ok(Some(common))
}

/// An element as a list, set or map of `element` holds it: null and unknown values have that type.
pub(super) fn element_of<'v>(cx: &Cx<'v>, element: Type<'v>, item: Value<'v>) -> Value<'v> {
    let (inner, marks) = item.unmarked();
    let made = match (inner, inner.as_unknown()) {
        (Value::Null | Value::Undefined, _) => cx.arena().null(element),
        (_, Some(unknown)) if unknown.ty == Type::Dynamic && element != Type::Dynamic => cx.arena().unknown(element),
        _ => return item,
    };
    cx.arena().marked(made, marks)
}

/// A list of the type `element`, which all of `items` have (see [`common_type`]).
///
/// # Errors
/// The memory of the render is spent, or values nest too deep.
pub fn list_of<'v>(cx: &Cx<'v>, element: Type<'v>, items: &[Value<'v>]) -> Outcome<Value<'v>> {
    let list = if items.iter().any(|item| matches!(item, Value::Undefined | Value::Null | Value::Extended(_))) {
        cx.charge(size_of_val(items))?;
        cx.list(&items.iter().map(|item| element_of(cx, element, *item)).collect::<Vec<_>>())?
    } else {
        cx.list(items)?
    };
    Ok(cx.arena().typed(cx.arena().list_type(element), list))
}

/// A map whose values are of the type `element`.
///
/// # Errors
/// The memory of the render is spent, or values nest too deep.
pub fn map_of<'v>(cx: &Cx<'v>, element: Type<'v>, entries: &[(&'v str, Value<'v>)]) -> Outcome<Value<'v>> {
    let entries: Vec<_> = entries.iter().map(|(key, item)| (*key, element_of(cx, element, *item))).collect();
    Ok(cx.arena().typed(cx.arena().map_type(element), cx.map(&entries)?))
}

/// The value with null, of its type, in place of everything that is unknown.
///
/// # Errors
/// The memory or the steps of the render are spent.
pub fn unknown_as_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if is_wholly_known(cx, value)? {
        return Ok(value);
    }
    let (inner, marks) = value.unmarked();
    let made = match inner.as_unknown() {
        Some(unknown) => cx.arena().null(unknown.ty),
        None => rebuilt(cx, inner, &mut |_, item| unknown_as_null(cx, item))?,
    };
    super::marks::marked_by(cx, made, marks, &[])
}

/// How many elements a value has: a number of the precision of a machine's integers. That of an unknown collection is
/// unknown, and in the range that is known of it.
///
/// # Errors
/// The value is null or has no elements.
pub fn length<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    let (inner, marks) = value.unmarked();
    if inner.is_null() {
        return Err(super::Fault::argument(0, "argument must not be null"));
    }
    let made = match inner.as_unknown() {
        Some(unknown) => match unknown.ty {
            Type::Tuple(types) => machine_int(cx, types.len())?,
            Type::Object(attributes) => machine_int(cx, attributes.len())?,
            Type::Bool | Type::Number | Type::String | Type::Capsule(_) => return Err(no_elements()),
            _ => length_between(cx, &unknown.refinement)?,
        },
        None if inner.elements().is_some() || inner.entries().is_some() => {
            let (len_least, len_most) = super::ranges::length_range(cx, inner)?;
            if len_least == len_most {
                machine_int(cx, usize::try_from(len_most).unwrap_or(usize::MAX))?
            } else {
                length_between(cx, &Refinement { len_least, len_most, ..Refinement::NONE })?
            }
        }
        None => return Err(no_elements()),
    };
    super::marks::marked_by(cx, made, marks, &[])
}

fn no_elements() -> super::Fault {
    super::Fault::argument(0, "a collection is required")
}

fn length_between<'v>(cx: &Cx<'v>, known: &Refinement<'v>) -> Outcome<Value<'v>> {
    use crate::stdlib::bignum::MACHINE;
    use crate::value::BigNum;
    let bound = |n: u64| {
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        Some(cx.arena().bound(BigNum::of_int(n, MACHINE), true))
    };
    let refinement = Refinement { least: bound(known.len_least), most: bound(known.len_most), ..Refinement::NOT_NULL };
    super::refine::settled(cx, Type::Number, refinement)
}
