//! Conversion to collections and structures, element by element.

use super::super::elements::common_type;
use super::super::mismatch::mismatch;
use super::super::types::{type_of, types_of, without_optional};
use super::super::unify::unified_type;
use super::super::{Fault, Outcome, PathStep};
use super::{apply, conversion_exists};
use crate::function::Cx;
use crate::value::{Attribute, Extended, Map, Type, Value};

/// A list, set or tuple to a list.
pub(super) fn list<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
    let (from, items) = (collection_type(value), value.elements().unwrap_or(&[]));
    if matches!(from, Some(Type::Set(_))) && items.len() > 1 && !super::super::is_wholly_known(cx, value)? {
        // Unknown elements may turn out to be the same: how many there are is not known.
        return Ok(cx.arena().unknown(cx.arena().list_type(without_optional(cx.arena(), *element))));
    }
    let (mut items, element) = elements(cx, items, from, element)?;
    let unified = if from.is_none() { unify_again(cx, &mut items, &element)? } else { None };
    let element = common(cx, &mut items, from, unified.unwrap_or(element), "list")?;
    Ok(cx.arena().typed(cx.arena().list_type(element), cx.list(&items)?))
}

/// A list, set or tuple to a set.
pub(super) fn set<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
    let from = collection_type(value);
    let (mut items, element) = elements(cx, value.elements().unwrap_or(&[]), from, element)?;
    let element = common(cx, &mut items, from, element, "set")?;
    super::super::set_of(cx, element, &items)
}

/// A map or an object to a map.
pub(super) fn map<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
    let Some(entries) = value.entries() else { return Err(Fault::wrong("a map is required")) };
    let from = collection_type(value);
    let element = resolved(cx, entries.values(), from, element)?;
    let (mut names, mut items) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
    for (name, value) in entries.iter_sorted() {
        names.push(name);
        items.push(apply(cx, value, &element).map_err(|fault| fault.within(PathStep::Key(name.to_owned())))?);
    }
    let collected = matches!(element, Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Object(_));
    let unified = if collected { unify_again(cx, &mut items, &element)? } else { None };
    let element = common(cx, &mut items, from, unified.unwrap_or(element), "map")?;
    let entries: Vec<_> = names.into_iter().zip(items).collect();
    Ok(cx.arena().typed(cx.arena().map_type(element), cx.map(&entries)?))
}

/// A tuple to a tuple.
pub(super) fn tuple<'v>(cx: &Cx<'v>, value: Value<'v>, elements: &[Type<'v>]) -> Outcome<Value<'v>> {
    let mut items = Vec::with_capacity(elements.len());
    for (at, (item, to)) in value.elements().unwrap_or(&[]).iter().zip(elements).enumerate() {
        items.push(apply(cx, *item, to).map_err(|fault| fault.within(index(at)))?);
    }
    Ok(cx.list(&items)?)
}

/// An object or a map to an object.
pub(super) fn object<'v>(cx: &Cx<'v>, value: Value<'v>, attributes: &[Attribute<'v>]) -> Outcome<Value<'v>> {
    let Some(entries) = value.entries() else { return Err(Fault::wrong("an object is required")) };
    let is_map = value.as_map().is_none();
    let mut made = Vec::with_capacity(attributes.len());
    for to in attributes {
        made.push((to.name, attribute(cx, entries, to, is_map)?));
    }
    Ok(cx.map(&made)?)
}

fn attribute<'v>(cx: &Cx<'v>, entries: &Map<'v>, to: &Attribute<'v>, is_map: bool) -> Outcome<Value<'v>> {
    let Some(value) = entries.get(to.name) else {
        let null = cx.arena().null(without_optional(cx.arena(), to.ty));
        return if to.optional { Ok(null) } else { Err(missing(to.name)) };
    };
    if !is_map {
        return apply(cx, value, &to.ty).map_err(|fault| fault.within(PathStep::Attr(to.name.to_owned())));
    }
    if to.optional {
        // What the map does not have need not convert; what it has must.
        let from = type_of(cx, value)?;
        if !conversion_exists(cx, &from, &to.ty, true)? {
            let reason = mismatch(cx, &from, &to.ty)?;
            let message = format!("map element type is incompatible with attribute {:?}: {reason}", to.name);
            return Err(Fault::wrong(message));
        }
    }
    apply(cx, value, &to.ty).map_err(|fault| fault.within(PathStep::Key(to.name.to_owned())))
}

fn missing(name: &str) -> Fault {
    Fault::wrong(format!("map has no element for required attribute {name:?}"))
}

fn index(at: usize) -> PathStep {
    PathStep::Index(i64::try_from(at).unwrap_or(i64::MAX))
}

/// The type of a list, set or map; nothing for a tuple or an object.
fn collection_type<'v>(value: Value<'v>) -> Option<&'v Type<'v>> {
    if let Some(Extended::Typed(ty, _)) = value.extended() { Some(ty) } else { None }
}

/// The type that `element` stands for: where it is the dynamic type and `items` are those of a tuple or an object, the
/// one that they unify to.
fn resolved<'v>(cx: &Cx<'v>, items: &[Value<'v>], from: Option<&Type<'v>>, element: &Type<'v>) -> Outcome<Type<'v>> {
    if from.is_some() || items.is_empty() || !matches!(element, Type::Dynamic) {
        return Ok(*element);
    }
    Ok(unified_type(cx, &types_of(cx, items)?, true)?.unwrap_or(*element))
}

/// The elements of a sequence converted to what `element` stands for, and that.
fn elements<'v>(
    cx: &Cx<'v>,
    items: &[Value<'v>],
    from: Option<&Type<'v>>,
    element: &Type<'v>,
) -> Outcome<(Vec<Value<'v>>, Type<'v>)> {
    let element = resolved(cx, items, from, element)?;
    let convert = |(at, item): (usize, &Value<'v>)| apply(cx, *item, &element).map_err(|fault| fault.within(index(at)));
    Ok((items.iter().enumerate().map(convert).collect::<Outcome<Vec<_>>>()?, element))
}

/// Unifies the types of elements that were converted to a type with the dynamic type in it, which may have left them
/// with different types.
fn unify_again<'v>(cx: &Cx<'v>, items: &mut [Value<'v>], element: &Type<'v>) -> Outcome<Option<Type<'v>>> {
    if !element.has_dynamic() || items.is_empty() {
        return Ok(None);
    }
    let unified = unified_type(cx, &types_of(cx, items)?, true)?;
    let ty = unified.ok_or_else(|| Fault::wrong("cannot find a common base type for all elements"))?;
    for (at, item) in items.iter_mut().enumerate() {
        *item = apply(cx, *item, &ty).map_err(|fault| fault.within(index(at)))?;
    }
    Ok(Some(ty))
}

/// The one type of `items`, which were converted to `element`; where there are none and that is the dynamic type, the
/// element type of the collection they were in.
fn common<'v>(
    cx: &Cx<'v>,
    items: &mut [Value<'v>],
    from: Option<&Type<'v>>,
    element: Type<'v>,
    kind: &str,
) -> Outcome<Type<'v>> {
    match from.and_then(Type::element) {
        Some(from) if items.is_empty() && matches!(element, Type::Dynamic) => Ok(*from),
        _ => uniform(cx, items, element, kind),
    }
}

/// The one type of `items`, which meet `element`: known beforehand where that has nothing dynamic in it. What is of
/// the dynamic type takes the type of the others.
pub(in super::super) fn uniform<'v>(
    cx: &Cx<'v>,
    items: &mut [Value<'v>],
    element: Type<'v>,
    kind: &str,
) -> Outcome<Type<'v>> {
    let element = without_optional(cx.arena(), element);
    if items.is_empty() || !element.has_dynamic() {
        return Ok(element);
    }
    let wrong = || Fault::wrong(format!("the elements of a {kind} must all be of one type"));
    let common = common_type(cx, items)?.ok_or_else(wrong)?;
    for item in items.iter_mut() {
        *item = apply(cx, *item, &common)?;
    }
    Ok(common)
}
