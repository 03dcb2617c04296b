//! Walking, making and copying collections, and properties of everything in a value. Marks are notes of the host on a
//! value, which spread to every result that depends on it.

use super::access::{Step, has_prefix};
use super::refine::length_range;
use super::{is_set, machine_int, same_type, set_of, settled, type_of};
use dropforge_base::stdlib::bignum::MACHINE;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Arena, BigNum, Capsule, CapsuleContent, Extended, Map, Refinement, Type, Unknown, Value};

/// Returns the keys and elements of a list, set, map, tuple or object in the order of the language: maps and objects by
/// the bytes of their keys, sets in the order of sets. An element of a set is its own key. The result is empty if the
/// value is null, unknown or has no elements. Outer marks of the value are not on its elements.
///
/// # Errors
/// The memory or step limit was reached.
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

/// Returns `true` if `value` or anything in it satisfies `holds`, which may only hold for marked or unknown values:
/// parts without these are skipped. `holds` sees each value with its marks, outer values first.
///
/// # Errors
/// The step limit was reached. Each visited value costs a step.
pub fn any<'v>(cx: &Cx<'_>, value: Value<'v>, holds: &impl Fn(Value<'v>) -> bool) -> Outcome<bool> {
    if !value.is_qualified() {
        return Ok(false);
    }
    if holds(value) {
        return Ok(true);
    }
    let items = value.elements().or_else(|| value.entries().map(Map::values)).unwrap_or(&[]);
    cx.spend(items.len() as u64)?;
    for item in items {
        if any(cx, *item, holds)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if nothing in the value is unknown.
///
/// # Errors
/// The step limit was reached. Each visited value costs a step.
pub fn is_wholly_known(cx: &Cx<'_>, value: Value<'_>) -> Outcome<bool> {
    any(cx, value, &|value| !value.is_known()).map(|unknown| !unknown)
}

/// Returns `true` if `value` or anything in it stands for a value that could not be computed.
///
/// # Errors
/// The step limit was reached.
pub fn contains_faulty<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<bool> {
    any(cx, value, &|value| value.as_unknown().is_some_and(|unknown| unknown.faulty))
}

/// Replaces each element of a value by the result of `replace`. A value without elements is returned as it is. Marks on
/// new elements of a set move to the set.
///
/// # Errors
/// Those of `replace`; the memory or step limit was reached.
pub fn rebuilt<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    replace: &mut dyn FnMut(Step<'v>, Value<'v>) -> Outcome<Value<'v>>,
) -> Outcome<Value<'v>> {
    let own_key = is_set(value);
    let elements = if let Some(items) = value.elements() {
        let step = |at, item| if own_key { item } else { Value::Int(at as i64) };
        let items = items.iter().enumerate().map(|(at, item)| replace(Step::Index(step(at, *item)), *item));
        let items = items.collect::<Outcome<Vec<_>>>()?;
        match value.extended() {
            Some(Extended::Typed(Type::Set(element), _)) => return set_of(cx, **element, &items),
            _ => cx.list(&items)?,
        }
    } else if let Some(map) = value.entries() {
        let is_object = matches!(value, Value::Map(_));
        let entry = |(key, item)| {
            let step = if is_object { Step::Attr(key) } else { Step::Index(cx.borrowed(key)?) };
            Ok((key, replace(step, item)?))
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

/// Returns the type that all of `items` have, apart from those of dynamic type, so that they can be elements of one
/// collection. The result is `None` if two types differ, and the dynamic type if all items have it.
///
/// # Errors
/// The memory or step limit was reached.
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

/// Returns the type of a known list, set or map, and `None` for any other value.
pub(super) fn collection_type<'v>(value: Value<'v>) -> Option<&'v Type<'v>> {
    if let Some(Extended::Typed(ty, _)) = value.extended() { Some(ty) } else { None }
}

/// Gives an element that is null or unknown the element type of its collection.
pub(super) fn element_of<'v>(cx: &Cx<'v>, element: Type<'v>, item: Value<'v>) -> Value<'v> {
    let (inner, marks) = item.unmarked();
    let typed = match (inner, inner.as_unknown()) {
        (Value::Null | Value::Undefined, _) => cx.arena().null(element),
        (_, Some(unknown)) if unknown.ty == Type::Dynamic && element != Type::Dynamic => cx.arena().unknown(element),
        _ => return item,
    };
    cx.arena().marked(typed, marks)
}

/// Makes a list of items of the type `element` (see [`common_type`]).
///
/// # Errors
/// The memory limit was reached, or values nest too deep.
pub fn list_of<'v>(cx: &Cx<'v>, element: Type<'v>, items: &[Value<'v>]) -> Outcome<Value<'v>> {
    let list = if items.iter().any(|item| matches!(item, Value::Undefined | Value::Null | Value::Extended(_))) {
        cx.charge(size_of_val(items))?;
        cx.list(&items.iter().map(|item| element_of(cx, element, *item)).collect::<Vec<_>>())?
    } else {
        cx.list(items)?
    };
    Ok(cx.arena().typed(cx.arena().list_type(element), list))
}

/// Makes a map of values of the type `element`.
///
/// # Errors
/// The memory limit was reached, or values nest too deep.
pub fn map_of<'v>(cx: &Cx<'v>, element: Type<'v>, entries: &[(&'v str, Value<'v>)]) -> Outcome<Value<'v>> {
    let entries: Vec<_> = entries.iter().map(|(key, item)| (*key, element_of(cx, element, *item))).collect();
    Ok(cx.arena().typed(cx.arena().map_type(element), cx.map(&entries)?))
}

/// Replaces everything unknown in a value by null of the same type.
///
/// # Errors
/// The memory or step limit was reached.
pub fn unknown_as_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if is_wholly_known(cx, value)? {
        return Ok(value);
    }
    propagate(cx, [value], |[inner]| match inner.as_unknown() {
        Some(unknown) => Ok(cx.arena().null(unknown.ty)),
        None => rebuilt(cx, inner, &mut |_, item| unknown_as_null(cx, item)),
    })
}

/// Returns the number of elements of a value, with the precision of a machine integer. The length of an unknown
/// collection is unknown, within the range that its refinement gives.
///
/// # Errors
/// The value is null or has no elements.
pub fn length<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    let (inner, marks) = value.unmarked();
    if inner.is_null() {
        return Err(Fault::argument(0, "argument must not be null"));
    }
    let (least, most) = match inner.as_unknown() {
        Some(unknown) => match unknown.ty {
            Type::Tuple(types) => (types.len() as u64, types.len() as u64),
            Type::Object(attributes) => (attributes.len() as u64, attributes.len() as u64),
            Type::Bool | Type::Number | Type::String | Type::Capsule(_) => return Err(no_elements()),
            _ => (unknown.refinement.len_least, unknown.refinement.len_most),
        },
        None if inner.elements().is_some() || inner.entries().is_some() => length_range(cx, inner)?,
        None => return Err(no_elements()),
    };
    let bound = |n: u64| {
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        Some(cx.arena().bound(BigNum::of_int(n, MACHINE), true))
    };
    let length = if least == most {
        machine_int(cx, least)?
    } else {
        settled(cx, Type::Number, Refinement { least: bound(least), most: bound(most), ..Refinement::NOT_NULL })?
    };
    marked_by(cx, length, marks)
}

fn no_elements() -> Fault {
    Fault::argument(0, "a collection is required")
}

/// Copies a value, charged by its size. The copy borrows nothing from the original.
///
/// # Errors
/// The memory or step limit was reached, or the value nests too deep.
pub fn copied<'v>(cx: &Cx<'v>, value: Value<'_>) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    Ok(match value {
        Value::Undefined => Value::Undefined,
        Value::Null => Value::Null,
        Value::Bool(truth) => Value::Bool(truth),
        Value::Int(n) => Value::Int(n),
        Value::Uint(n) => Value::Uint(n),
        Value::Float(n) => Value::Float(n),
        Value::Str(text) => cx.text(text.as_str())?,
        Value::List(list) => {
            let items: Vec<_> = list.items().iter().map(|item| copied(cx, *item)).collect::<Outcome<_>>()?;
            cx.list(&items)?
        }
        Value::Map(map) => {
            let entry = |(key, value): (&str, Value<'_>)| {
                cx.charge(key.len())?;
                Ok((cx.arena().copy_str(key), copied(cx, value)?))
            };
            cx.map(&map.iter().map(entry).collect::<Outcome<Vec<_>>>()?)?
        }
        Value::Extended(extension) => {
            cx.charge(size_of::<Extended<'_>>())?;
            copied_extended(cx, extension.kind())?
        }
    })
}

fn copied_extended<'v>(cx: &Cx<'v>, extended: &Extended<'_>) -> Outcome<Value<'v>> {
    let arena = cx.arena();
    Ok(match extended {
        Extended::Number(number) => arena.number(*number),
        Extended::Sized(number) => arena.extended(Extended::Sized(*number)),
        Extended::Null(ty) => arena.null(ty.in_arena(arena)),
        Extended::Unknown(unknown) => arena.extended(Extended::Unknown(Unknown {
            ty: unknown.ty.in_arena(arena),
            refinement: refinement(arena, &unknown.refinement),
            faulty: unknown.faulty,
        })),
        Extended::Marked(value, marks) => {
            let marks: Vec<_> = marks.iter().map(|mark| arena.copy_str(mark)).collect();
            arena.marked(copied(cx, *value)?, &marks)
        }
        Extended::Typed(ty, elements) => arena.typed(ty.in_arena(arena), copied(cx, *elements)?),
        Extended::Capsule(capsule) => arena.extended(Extended::Capsule(Capsule {
            name: arena.copy_str(capsule.name),
            id: capsule.id,
            content: match capsule.content {
                CapsuleContent::Opaque => CapsuleContent::Opaque,
                CapsuleContent::Type(ty) => CapsuleContent::Type(ty.in_arena(arena)),
                CapsuleContent::Texts(texts) => {
                    let copied: Vec<&str> = texts.iter().map(|text| arena.copy_str(text)).collect();
                    CapsuleContent::Texts(arena.bump().alloc_slice_copy(&copied))
                }
                CapsuleContent::Text(text) => CapsuleContent::Text(arena.copy_str(text)),
            },
        })),
        // The spelling in a document does not matter here.
        Extended::Written(value, _) => copied(cx, *value)?,
        Extended::Bytes(bytes) => cx.bytes(bytes)?,
        Extended::Named(name) => arena.extended(Extended::Named(arena.copy_str(name))),
        Extended::Timestamp { seconds, nanos } => {
            arena.extended(Extended::Timestamp { seconds: *seconds, nanos: *nanos })
        }
        Extended::Duration(nanos) => arena.extended(Extended::Duration(*nanos)),
        Extended::Optional(value) => cx.extended(Extended::Optional(copied(cx, *value)?))?,
        Extended::Entries(entries) => {
            let each =
                |values: &[Value<'_>]| values.iter().map(|value| copied(cx, *value)).collect::<Outcome<Vec<_>>>();
            match cx.entries(&each(entries.keys())?, &each(entries.values())?)? {
                Ok(entries) => entries,
                // Cannot happen: these are keys of a map.
                Err(_) => Value::Null,
            }
        }
    })
}

fn refinement<'v>(arena: &'v Arena, known: &Refinement<'_>) -> Refinement<'v> {
    let bound = |bound: Option<&(BigNum, bool)>| bound.map(|(number, own)| arena.bound(*number, *own));
    Refinement {
        not_null: known.not_null,
        prefix: arena.copy_str(known.prefix),
        least: bound(known.least),
        most: bound(known.most),
        len_least: known.len_least,
        len_most: known.len_most,
    }
}

/// Adds marks to `value`.
#[inline]
pub fn marked_by<'v>(cx: &Cx<'v>, value: Value<'v>, marks: &[&'v str]) -> Outcome<Value<'v>> {
    if marks.is_empty() {
        return Ok(value);
    }
    cx.charge((value.unmarked().1.len() + marks.len() + 4) * size_of::<&str>())?;
    Ok(cx.arena().marked(value, marks))
}

/// Applies an operation to values without their outer marks, and puts these on the result.
#[inline]
pub fn propagate<'v, const N: usize>(
    cx: &Cx<'v>,
    values: [Value<'v>; N],
    operation: impl FnOnce([Value<'v>; N]) -> Outcome<Value<'v>>,
) -> Outcome<Value<'v>> {
    let result = operation(values.map(|value| value.unmarked().0))?;
    values.iter().try_fold(result, |result, value| marked_by(cx, result, value.unmarked().1))
}

/// Returns `true` if the value or anything in it has marks.
///
/// # Errors
/// The step limit was reached. Each visited value costs a step.
pub fn contains_marked(cx: &Cx<'_>, value: Value<'_>) -> Outcome<bool> {
    any(cx, value, &|value| value.is_marked())
}

/// Removes all marks on and in the value. Also returns these marks, sorted.
///
/// # Errors
/// The memory or step limit was reached.
pub fn unmark_deep<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<(Value<'v>, Vec<&'v str>)> {
    let mut all = Vec::new();
    let value = unmark(cx, value, &mut Vec::new(), &mut |_, marks| all.extend_from_slice(marks))?;
    all.sort_unstable();
    all.dedup();
    Ok((value, all))
}

/// The path to a value and the outer marks of that value.
pub type MarkedPath<'v> = (Vec<Step<'v>>, &'v [&'v str]);

/// Removes all marks on and in the value. Also returns the marks and their paths, outer ones first.
///
/// # Errors
/// The memory or step limit was reached.
pub fn unmark_deep_with_paths<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<(Value<'v>, Vec<MarkedPath<'v>>)> {
    let mut found = Vec::new();
    let value = unmark(cx, value, &mut Vec::new(), &mut |path, marks| found.push((path.to_vec(), marks)))?;
    Ok((value, found))
}

fn unmark<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    path: &mut Vec<Step<'v>>,
    found: &mut dyn FnMut(&[Step<'v>], &'v [&'v str]),
) -> Outcome<Value<'v>> {
    let (value, marks) = value.unmarked();
    if !marks.is_empty() {
        cx.charge(path.len() * size_of::<Step<'_>>())?;
        found(path, marks);
    }
    if !contains_marked(cx, value)? {
        return Ok(value);
    }
    rebuilt(cx, value, &mut |step, item| {
        path.push(step);
        let item = unmark(cx, item, path, found);
        path.pop();
        item
    })
}

/// Adds marks at the given paths. Paths that lead nowhere are ignored.
///
/// # Errors
/// The memory or step limit was reached.
pub fn mark_with_paths<'v>(cx: &Cx<'v>, value: Value<'v>, paths: &[MarkedPath<'v>]) -> Outcome<Value<'v>> {
    mark_at(cx, value, &mut Vec::new(), paths)
}

fn mark_at<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    path: &mut Vec<Step<'v>>,
    paths: &[MarkedPath<'v>],
) -> Outcome<Value<'v>> {
    let below = paths.iter().any(|(other, _)| other.len() > path.len() && has_prefix(cx, other, path));
    let (inner, own) = value.unmarked();
    let mut result = inner;
    if below && !matches!(inner.extended(), Some(Extended::Unknown(_) | Extended::Null(_))) {
        result = rebuilt(cx, inner, &mut |step, item| {
            path.push(step);
            let item = mark_at(cx, item, path, paths);
            path.pop();
            item
        })?;
    }
    result = marked_by(cx, result, own)?;
    for (other, marks) in paths {
        if other.len() == path.len() && has_prefix(cx, other, path) {
            result = marked_by(cx, result, marks)?;
        }
    }
    Ok(result)
}
