//! Conversion to collections, tuples and objects, element by element, and conversion of unknown values and of null.

use super::apply;
use crate::values::elements::collection_type;
use crate::values::{
    common_type, conversion_exists, is_wholly_known, mismatch, set_of, settled, type_of, types_of, unified_type,
    without_optional,
};
use dropforge_machine::function::{Cx, Fault, Outcome, PathStep};
use dropforge_value::{Attribute, Map, Refinement, Type, Unknown, Value};

/// Converts a list, set or tuple to a list.
pub(super) fn list<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
    let (from, items) = (collection_type(value), value.elements().unwrap_or(&[]));
    if let Some(Type::Set(own)) = from
        && items.len() > 1
        && !is_wholly_known(cx, value)?
    {
        // Unknown elements may turn out to be equal, so the length is unknown. Like the reference, keeps their type.
        return Ok(cx.arena().unknown(cx.arena().list_type(**own)));
    }
    let (mut items, element) = elements(cx, items, from, element)?;
    let unified = if from.is_none() { unify_again(cx, &mut items, &element)? } else { None };
    let element = common(cx, &mut items, from, unified.unwrap_or(element), "list")?;
    Ok(cx.arena().typed(cx.arena().list_type(element), cx.list(&items)?))
}

/// Converts a list, set or tuple to a set.
pub(super) fn set<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
    let from = collection_type(value);
    let (mut items, element) = elements(cx, value.elements().unwrap_or(&[]), from, element)?;
    let element = common(cx, &mut items, from, element, "set")?;
    set_of(cx, element, &items)
}

/// Converts a map or an object to a map.
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

/// Converts a tuple to a tuple.
pub(super) fn tuple<'v>(cx: &Cx<'v>, value: Value<'v>, elements: &[Type<'v>]) -> Outcome<Value<'v>> {
    let items = value.elements().unwrap_or(&[]).iter().zip(elements).enumerate();
    let items = items.map(|(at, (item, to))| apply(cx, *item, to).map_err(|fault| fault.within(PathStep::index(at))));
    Ok(cx.list(&items.collect::<Outcome<Vec<_>>>()?)?)
}

/// Converts an object or a map to an object.
pub(super) fn object<'v>(cx: &Cx<'v>, value: Value<'v>, attributes: &[Attribute<'v>]) -> Outcome<Value<'v>> {
    let Some(entries) = value.entries() else { return Err(Fault::wrong("an object is required")) };
    let is_map = value.as_map().is_none();
    let attributes = attributes.iter().map(|to| Ok((to.name, attribute(cx, entries, to, is_map)?)));
    Ok(cx.map(&attributes.collect::<Outcome<Vec<_>>>()?)?)
}

fn attribute<'v>(cx: &Cx<'v>, entries: &Map<'v>, to: &Attribute<'v>, is_map: bool) -> Outcome<Value<'v>> {
    let Some(value) = entries.get(to.name) else {
        if to.optional {
            return Ok(cx.arena().null(without_optional(cx.arena(), to.ty)));
        }
        return Err(Fault::wrong(format!("map has no element for required attribute {:?}", to.name)));
    };
    if !is_map {
        return apply(cx, value, &to.ty).map_err(|fault| fault.within(PathStep::Attr(to.name.to_owned())));
    }
    if to.optional {
        // Only elements that the map has must convert.
        let from = type_of(cx, value)?;
        if !conversion_exists(cx, &from, &to.ty, true)? {
            let reason = mismatch(cx, &from, &to.ty)?;
            let message = format!("map element type is incompatible with attribute {:?}: {reason}", to.name);
            return Err(Fault::wrong(message));
        }
    }
    apply(cx, value, &to.ty).map_err(|fault| fault.within(PathStep::Key(to.name.to_owned())))
}

/// Returns the element type to convert to. For a tuple or an object, the dynamic type stands for the common type of
/// `items`.
fn resolved<'v>(cx: &Cx<'v>, items: &[Value<'v>], from: Option<&Type<'v>>, element: &Type<'v>) -> Outcome<Type<'v>> {
    if from.is_some() || items.is_empty() || !matches!(element, Type::Dynamic) {
        return Ok(*element);
    }
    Ok(unified_type(cx, &types_of(cx, items)?, true)?.unwrap_or(*element))
}

/// Converts the elements of a sequence, and returns their type as well.
fn elements<'v>(
    cx: &Cx<'v>,
    items: &[Value<'v>],
    from: Option<&Type<'v>>,
    element: &Type<'v>,
) -> Outcome<(Vec<Value<'v>>, Type<'v>)> {
    let element = resolved(cx, items, from, element)?;
    let convert =
        |(at, item): (usize, &Value<'v>)| apply(cx, *item, &element).map_err(|fault| fault.within(PathStep::index(at)));
    Ok((items.iter().enumerate().map(convert).collect::<Outcome<Vec<_>>>()?, element))
}

/// Unifies elements that were converted to a type with the dynamic type in it: their types may still differ.
fn unify_again<'v>(cx: &Cx<'v>, items: &mut [Value<'v>], element: &Type<'v>) -> Outcome<Option<Type<'v>>> {
    if !element.has_dynamic() || items.is_empty() {
        return Ok(None);
    }
    let unified = unified_type(cx, &types_of(cx, items)?, true)?;
    let ty = unified.ok_or_else(|| Fault::wrong("cannot find a common base type for all elements"))?;
    for (at, item) in items.iter_mut().enumerate() {
        *item = apply(cx, *item, &ty).map_err(|fault| fault.within(PathStep::index(at)))?;
    }
    Ok(Some(ty))
}

/// Returns the type of `items`, which were converted to `element`. An empty collection keeps its element type if
/// `element` is the dynamic type.
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

/// Returns the common type of `items`, which satisfy `element`, and gives it to items of dynamic type.
pub(in super::super) fn uniform<'v>(
    cx: &Cx<'v>,
    items: &mut [Value<'v>],
    element: Type<'v>,
    kind: &str,
) -> Outcome<Type<'v>> {
    let element = without_optional(cx.arena(), element);
    let wrong = || Fault::wrong(format!("the elements of a {kind} must all be of one type"));
    if items.is_empty() || !element.has_dynamic() {
        // A list whose length is not known has kept the type of its elements.
        let differs = |item: &Value<'v>| item.as_unknown().is_some_and(|unknown| unknown.ty != element);
        return if items.iter().any(differs) { Err(wrong()) } else { Ok(element) };
    }
    let common = common_type(cx, items)?.ok_or_else(wrong)?;
    for item in items.iter_mut() {
        *item = apply(cx, *item, &common)?;
    }
    Ok(common)
}

/// Converts an unknown value.
pub(super) fn unknown<'v>(cx: &Cx<'v>, unknown: &Unknown<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
    let to = concrete(cx, &unknown.ty, &without_optional(cx.arena(), *to))?;
    let known = &unknown.refinement;
    let base = Refinement { not_null: known.not_null, ..Refinement::NONE };
    let length = |least: u64, most: u64| Refinement { len_least: least, len_most: most, ..base };
    let refinement = match (&unknown.ty, &to) {
        (Type::Object(attributes), Type::Map(_)) => length(attributes.len() as u64, attributes.len() as u64),
        (Type::Tuple(elements), Type::List(_)) => length(elements.len() as u64, elements.len() as u64),
        (Type::Tuple(elements), Type::Set(_)) => length(elements.len().min(1) as u64, elements.len() as u64),
        (Type::List(_) | Type::Set(_), Type::Set(_)) => length(known.len_least.min(1), known.len_most),
        (Type::List(_) | Type::Set(_) | Type::Map(_), Type::List(_) | Type::Map(_)) => {
            length(known.len_least, known.len_most)
        }
        _ => base,
    };
    if unknown.faulty { Ok(cx.arena().faulty_refined(to, refinement)) } else { settled(cx, to, refinement) }
}

/// Converts a null.
pub(super) fn null<'v>(cx: &Cx<'v>, value: Value<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
    let from = type_of(cx, value)?;
    Ok(cx.arena().null(concrete(cx, &from, &without_optional(cx.arena(), *to))?))
}

/// Replaces the dynamic type in `to` by the corresponding part of `from`, which converts to `to`.
fn concrete<'v>(cx: &Cx<'v>, from: &Type<'v>, to: &Type<'v>) -> Outcome<Type<'v>> {
    cx.spend(1)?;
    if !to.has_dynamic() {
        return Ok(*to);
    }
    let arena = cx.arena();
    Ok(match (from, to) {
        (Type::Dynamic, _) => *to,
        (_, Type::Dynamic) => *from,
        (_, Type::List(to)) => arena.list_type(concrete_element(cx, from, to)?),
        (_, Type::Set(to)) => arena.set_type(concrete_element(cx, from, to)?),
        (_, Type::Map(to)) => arena.map_type(concrete_element(cx, from, to)?),
        (Type::Tuple(from), Type::Tuple(to)) => {
            let elements = from.iter().zip(*to).map(|(from, to)| concrete(cx, from, to));
            arena.tuple_type(&elements.collect::<Outcome<Vec<_>>>()?)
        }
        (_, Type::Object(to)) => {
            let attribute = |to: &Attribute<'v>| {
                let from = from.element().or_else(|| from.attribute(to.name).map(|attribute| &attribute.ty));
                Ok(Attribute { ty: concrete(cx, from.unwrap_or(&to.ty), &to.ty)?, ..*to })
            };
            arena.object_type(&to.iter().map(attribute).collect::<Outcome<Vec<_>>>()?)
        }
        _ => *to,
    })
}

/// Returns the element type of a collection of the elements of a value of type `from`.
fn concrete_element<'v>(cx: &Cx<'v>, from: &Type<'v>, to: &Type<'v>) -> Outcome<Type<'v>> {
    let unified = match from {
        Type::Tuple(elements) => unified_type(cx, elements, true)?,
        Type::Object(attributes) => {
            unified_type(cx, &attributes.iter().map(|attribute| attribute.ty).collect::<Vec<_>>(), true)?
        }
        _ => from.element().copied(),
    };
    unified.map_or(Ok(*to), |from| concrete(cx, &from, to))
}
