//! Conversion of values to types, the conversions that exist, and why one does not. Collections,
//! tuples and objects are converted element by element.

use super::elements::collection_type;
use super::operators::text;
use super::types::{all, has_optional, name};
use super::{
    common_type, conforms, constraint_name, is_wholly_known, number_of, same_type, set_of, settled, type_of, types_of,
    unified_type, without_optional,
};
use dropforge_machine::function::{Cx, Fault, Outcome, PathStep};
use dropforge_value::{Attribute, BigNum, Extended, Extension, Map, Refinement, Type, Unknown, Value};

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
        return unknown_to(cx, unknown, to);
    }
    if value.is_null() {
        return null(cx, value, to);
    }
    match to {
        Type::Bool => to_bool(value),
        Type::Number => to_number(cx, value.as_str().unwrap_or("")),
        Type::String => to_string(cx, value),
        Type::List(element) => list(cx, value, element),
        Type::Set(element) => set(cx, value, element),
        Type::Map(element) => map(cx, value, element),
        Type::Tuple(elements) => tuple(cx, value, elements),
        Type::Object(attributes) => object(cx, value, attributes),
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

/// Returns `true` if `value` has the type `to`, where the dynamic type stands for any type. Inspects no more of the
/// value than necessary.
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
            let fits =
                |((name, value), to): ((&str, Value<'_>), &Attribute<'_>)| name == to.name && fits(value, &to.ty);
            map.len() == attributes.len() && map.iter_sorted().zip(*attributes).all(fits)
        }
        (Value::Extended(extension), to) => match extension.kind() {
            Extended::Number(_) => *to == Type::Number,
            Extended::Null(ty) | Extended::Typed(ty, _) => is_type(ty, to),
            Extended::Unknown(unknown) => is_type(&unknown.ty, to),
            Extended::Marked(inner, _) => fits(*inner, to),
            Extended::Capsule(capsule) => *to == Type::Capsule(capsule.name),
            other => *to == Type::Capsule(other.name()),
        },
        _ => false,
    }
}

/// Returns `true` if values of type `ty` have the type `to`.
fn is_type(ty: &Type<'_>, to: &Type<'_>) -> bool {
    conforms(ty, to) && !has_optional(ty)
}

/// Returns `true` if all values of type `from` convert to type `to`. With `unsafe_`, some values may fail to convert.
pub fn conversion_exists<'v>(cx: &Cx<'v>, from: &Type<'v>, to: &Type<'v>, unsafe_: bool) -> Outcome<bool> {
    cx.spend(1)?;
    let exists = |from: &Type<'v>, to: &Type<'v>| conversion_exists(cx, from, to, unsafe_);
    match (from, to) {
        (_, Type::Dynamic) | (Type::Bool | Type::Number, Type::String) => Ok(true),
        (Type::Dynamic, _) | (Type::String, Type::Bool | Type::Number) => Ok(unsafe_),
        (Type::Set(from), Type::Set(to))
        | (Type::List(from) | Type::Set(from), Type::List(to))
        | (Type::Map(from), Type::Map(to)) => exists(from, to),
        (Type::List(from), Type::Set(to)) => Ok(unsafe_ && exists(from, to)?),
        (Type::Tuple(from), Type::Tuple(to)) => {
            Ok(from.len() == to.len() && all(from.iter().zip(*to), |(from, to)| exists(from, to))?)
        }
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => tuple_to_collection(cx, from, to, unsafe_),
        (Type::Object(_), Type::Object(to)) => all(*to, |to| match from.attribute(to.name) {
            Some(from) => exists(&from.ty, &to.ty),
            None => Ok(to.optional),
        }),
        (Type::Object(from), Type::Map(to)) => object_to_map(cx, from, to, unsafe_),
        (Type::Map(from), Type::Object(to)) => Ok(unsafe_ && all(*to, |to| Ok(to.optional || exists(from, &to.ty)?))?),
        _ => same_type(cx, from, to),
    }
}

/// Checks a tuple and a list or set. A dynamic element type stands for the common type of the elements.
fn tuple_to_collection<'v>(cx: &Cx<'v>, from: &[Type<'v>], to: &Type<'v>, unsafe_: bool) -> Outcome<bool> {
    let Some(element) = common_element(cx, from, to, unsafe_)? else { return Ok(from.is_empty()) };
    if matches!(element, Type::Dynamic) && from.iter().any(|from| !matches!(from, Type::Dynamic)) {
        return Ok(false);
    }
    all(from, |from| conversion_exists(cx, from, &element, unsafe_))
}

fn object_to_map<'v>(cx: &Cx<'v>, from: &[Attribute<'v>], to: &Type<'v>, unsafe_: bool) -> Outcome<bool> {
    let types: Vec<Type<'v>> = from.iter().map(|attribute| attribute.ty).collect();
    let Some(element) = common_element(cx, &types, to, unsafe_)? else { return Ok(from.is_empty()) };
    all(&types, |from| conversion_exists(cx, from, &element, unsafe_))
}

/// Returns the element type of a collection of type `to` with elements of `types`. The result is `None` if `to` is the
/// dynamic type and `types` have no common type.
fn common_element<'v>(cx: &Cx<'v>, types: &[Type<'v>], to: &Type<'v>, unsafe_: bool) -> Outcome<Option<Type<'v>>> {
    if matches!(to, Type::Dynamic) { unified_type(cx, types, unsafe_) } else { Ok(Some(*to)) }
}

/// Explains why no value of type `got` converts to type `want`, as a sentence without capital letter and full stop.
pub fn mismatch<'v>(cx: &Cx<'v>, got: &Type<'v>, want: &Type<'v>) -> Outcome<String> {
    cx.spend(1)?;
    Ok(match (got, want) {
        (Type::Object(got), Type::Object(want)) => objects(cx, got, want)?,
        (Type::Tuple(_), Type::List(Type::Dynamic)) => "all list elements must have the same type".into(),
        (Type::Tuple(_), Type::Set(Type::Dynamic)) => "all set elements must have the same type".into(),
        (Type::Object(_), Type::Map(Type::Dynamic)) => "all map elements must have the same type".into(),
        (Type::Tuple(types), Type::List(element) | Type::Set(element)) => {
            elements_mismatch(cx, types.iter().enumerate(), element)?
        }
        (Type::Object(attributes), Type::Map(element)) => {
            elements_mismatch(cx, attributes.iter().map(|a| (format!("{:?}", a.name), &a.ty)), element)?
        }
        (Type::List(got) | Type::Set(got), Type::List(want)) => element(cx, "list", got, want)?,
        (Type::List(got) | Type::Set(got), Type::Set(want)) => element(cx, "set", got, want)?,
        (Type::Map(got), Type::Map(want)) => element(cx, "map", got, want)?,
        _ if is_compound(got) && want.element().is_some() => format!("{} required", constraint_name(want)),
        _ if names_both(got, want) => format!("{} required, but have {}", name(want), name(got)),
        _ => format!("{} required", constraint_name(want)),
    })
}

fn is_compound(ty: &Type<'_>) -> bool {
    !ty.is_primitive() && !matches!(ty, Type::Dynamic | Type::Capsule(_))
}

/// Returns `true` if the message should name both types. It should not where the value is wrong rather than its type.
fn names_both(got: &Type<'_>, want: &Type<'_>) -> bool {
    got.is_primitive() != want.is_primitive()
        || matches!(
            (got, want),
            (_, Type::String)
                | (Type::Number, Type::Bool)
                | (Type::Bool, Type::Number)
                | (Type::Tuple(_), Type::Object(_))
        )
}

/// Lists all missing attributes, or explains the first one that does not convert.
fn objects<'v>(cx: &Cx<'v>, got: &'v [Attribute<'v>], want: &'v [Attribute<'v>]) -> Outcome<String> {
    let mut missing = Vec::new();
    let mut wrong = None;
    for attribute in want {
        match Type::Object(got).attribute(attribute.name) {
            None if !attribute.optional => missing.push(format!("{:?}", attribute.name)),
            Some(other) if wrong.is_none() && !conversion_exists(cx, &other.ty, &attribute.ty, true)? => {
                let reason = mismatch(cx, &other.ty, &attribute.ty)?;
                wrong = Some(format!("attribute {:?}: {reason}", attribute.name));
            }
            _ => {}
        }
    }
    Ok(match missing.as_slice() {
        [] => wrong.unwrap_or_else(|| "incorrect object attributes".into()),
        [one] => format!("attribute {one} is required"),
        [one, other] => format!("attributes {one} and {other} are required"),
        [rest @ .., last] => format!("attributes {}, and {last} are required", rest.join(", ")),
    })
}

/// Explains the first element that does not convert.
fn elements_mismatch<'a, 'v: 'a, N: std::fmt::Display>(
    cx: &Cx<'v>,
    got: impl Iterator<Item = (N, &'a Type<'v>)>,
    want: &Type<'v>,
) -> Outcome<String> {
    for (at, got) in got {
        if !same_type(cx, got, want)? && !conversion_exists(cx, got, want, true)? {
            return Ok(format!("element {at}: {}", mismatch(cx, got, want)?));
        }
    }
    Ok(format!("all elements must be {}", constraint_name(want)))
}

fn element<'v>(cx: &Cx<'v>, kind: &str, got: &Type<'v>, want: &Type<'v>) -> Outcome<String> {
    Ok(format!("incorrect {kind} element type: {}", mismatch(cx, got, want)?))
}

/// Converts a list, set or tuple to a list.
fn list<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
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
fn set<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
    let from = collection_type(value);
    let (mut items, element) = elements(cx, value.elements().unwrap_or(&[]), from, element)?;
    let element = common(cx, &mut items, from, element, "set")?;
    set_of(cx, element, &items)
}

/// Converts a map or an object to a map.
fn map<'v>(cx: &Cx<'v>, value: Value<'v>, element: &Type<'v>) -> Outcome<Value<'v>> {
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
fn tuple<'v>(cx: &Cx<'v>, value: Value<'v>, elements: &[Type<'v>]) -> Outcome<Value<'v>> {
    let items = value.elements().unwrap_or(&[]).iter().zip(elements).enumerate();
    let items = items.map(|(at, (item, to))| apply(cx, *item, to).map_err(|fault| fault.within(PathStep::index(at))));
    Ok(cx.list(&items.collect::<Outcome<Vec<_>>>()?)?)
}

/// Converts an object or a map to an object.
fn object<'v>(cx: &Cx<'v>, value: Value<'v>, attributes: &[Attribute<'v>]) -> Outcome<Value<'v>> {
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
pub(in crate::values) fn uniform<'v>(
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
fn unknown_to<'v>(cx: &Cx<'v>, unknown: &Unknown<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
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
fn null<'v>(cx: &Cx<'v>, value: Value<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
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

#[cfg(test)]
mod tests;
