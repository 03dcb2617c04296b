//! Unification: the common type that values of several types convert to, and the order of types by generality.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::{conversion_exists, convert, same_type, types_of};
use dropforge_machine::function::{Cx, Outcome, fitting};
use dropforge_value::{Attribute, Type, Value};

/// The common type of several types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unified<'v> {
    /// The common type.
    pub ty: Type<'v>,
    /// `true` if the type depends on a value of dynamic type. All values then become unknown.
    pub undecided: bool,
}

/// Finds the type that values of all `types` convert to. With `unsafe_`, this includes conversions that fail for some
/// values. The result is `None` without a common type, or for no types.
///
/// Objects with the same attributes and tuples of the same length are unified part by part, and otherwise to a map or a
/// list. A map among objects, or a list among tuples, turns all of them into maps or lists.
pub fn unify<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    unify_distinct(cx, &distinct(cx, types)?, unsafe_)
}

/// Converts `values` to their common type, and returns both. The result is `None` if there is no such type or a value
/// does not convert.
pub fn converted<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Option<(Type<'v>, Vec<Value<'v>>)>> {
    let Some(Unified { ty, undecided }) = unify(cx, &types_of(cx, values)?, true)? else { return Ok(None) };
    if undecided {
        return Ok(Some((Type::Dynamic, vec![cx.arena().unknown(Type::Dynamic); values.len()])));
    }
    let converted = values.iter().map(|value| convert(cx, *value, &ty)).collect();
    Ok(fitting(converted)?.map(|converted| (ty, converted)))
}

/// Finds the common type as [`unify`] does.
pub fn unified_type<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Type<'v>>> {
    Ok(unify(cx, types, unsafe_)?.map(|unified| unified.ty))
}

/// Removes duplicates: large collections have few types.
fn distinct<'v>(cx: &Cx<'v>, types: &[Type<'v>]) -> Outcome<Vec<Type<'v>>> {
    let mut distinct: Vec<Type<'v>> = Vec::new();
    'types: for ty in types {
        for other in &distinct {
            if same_type(cx, ty, other)? {
                continue 'types;
            }
        }
        distinct.push(*ty);
    }
    Ok(distinct)
}

fn unify_distinct<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let [first, rest @ ..] = types else { return Ok(None) };
    if rest.is_empty() {
        return Ok(Some(Unified { ty: *first, undecided: false }));
    }
    let count = |is_kind: fn(&Type<'_>) -> bool| types.iter().filter(|ty| is_kind(ty)).count();
    let dynamics = count(|ty| matches!(ty, Type::Dynamic));
    let lists = count(|ty| matches!(ty, Type::List(_)));
    let sets = count(|ty| matches!(ty, Type::Set(_)));
    let maps = count(|ty| matches!(ty, Type::Map(_)));
    let tuples = count(|ty| matches!(ty, Type::Tuple(_)));
    let objects = count(|ty| matches!(ty, Type::Object(_)));
    let all = |kind: usize| kind > 0 && kind + dynamics == types.len();
    let collected = match () {
        () if dynamics > 0 && [maps, lists, sets, objects, tuples].into_iter().any(all) => {
            return Ok(Some(Unified { ty: Type::Dynamic, undecided: true }));
        }
        () if all(maps) || all(lists) || all(sets) => return collections(cx, types, unsafe_),
        () if all(objects) || all(tuples) => return structures(cx, types, unsafe_),
        () if maps > 0 && all(maps + objects) || lists > 0 && all(lists + tuples) => {
            as_collections(cx, types, unsafe_)?
        }
        () if objects > 0 && tuples > 0 => return Ok(None),
        () => None,
    };
    if collected.is_some() { Ok(collected) } else { best_of(cx, types, unsafe_) }
}

/// Finds the most general of the types that all others convert to.
fn best_of<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    for at in preferred(cx, types)? {
        let Some(ty) = types.get(at) else { continue };
        if let Some(unified) = all_to(cx, types, *ty, unsafe_)? {
            return Ok(Some(unified));
        }
    }
    Ok(None)
}

/// Returns `ty` if all of `types` convert to it.
fn all_to<'v>(cx: &Cx<'v>, types: &[Type<'v>], ty: Type<'v>, unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    for from in types {
        if !same_type(cx, from, &ty)? && !conversion_exists(cx, from, &ty, unsafe_)? {
            return Ok(None);
        }
    }
    Ok(Some(Unified { ty, undecided: false }))
}

/// Unifies lists, sets or maps, all of one kind.
fn collections<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let elements: Vec<Type<'v>> = types.iter().filter_map(Type::element).copied().collect();
    let Some(element) = unified_type(cx, &elements, unsafe_)? else { return Ok(None) };
    let ty = match types.first() {
        Some(Type::Map(_)) => cx.arena().map_type(element),
        Some(Type::Set(_)) => cx.arena().set_type(element),
        _ => cx.arena().list_type(element),
    };
    all_to(cx, types, ty, unsafe_)
}

/// Unifies objects with the same names attribute by attribute, and tuples of the same length element by element. Others
/// become maps and lists.
fn structures<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let Some(first) = types.first() else { return Ok(None) };
    let names = |ty: &Type<'v>| ty.attributes().map(|all| all.iter().map(|own| own.name).collect::<Vec<_>>());
    let (first_names, length) = (names(first), parts(first).len());
    cx.spend((length * types.len()) as u64)?;
    if !types.iter().all(|ty| parts(ty).len() == length && names(ty) == first_names) {
        return parts_to_collection(cx, types, unsafe_);
    }
    let rows: Vec<Vec<Type<'v>>> = types.iter().map(parts).collect();
    let mut unified = Vec::with_capacity(length);
    for at in 0..length {
        let column: Vec<Type<'v>> = rows.iter().filter_map(|row| row.get(at)).copied().collect();
        let Some(ty) = unified_type(cx, &column, unsafe_)? else { return Ok(None) };
        unified.push(ty);
    }
    let ty = match first_names {
        Some(names) => {
            let attribute = |(name, ty)| Attribute { name, ty, optional: false };
            cx.arena().object_type(&names.into_iter().zip(unified).map(attribute).collect::<Vec<_>>())
        }
        None => cx.arena().tuple_type(&unified),
    };
    let unified = all_to(cx, types, ty, unsafe_)?;
    if unified.is_some() { Ok(unified) } else { parts_to_collection(cx, types, unsafe_) }
}

/// The types of attributes or elements.
fn parts<'v>(ty: &Type<'v>) -> Vec<Type<'v>> {
    match ty {
        Type::Object(attributes) => attributes.iter().map(|attribute| attribute.ty).collect(),
        Type::Tuple(elements) => elements.to_vec(),
        _ => Vec::new(),
    }
}

/// Unifies objects to a map, or tuples to a list.
fn parts_to_collection<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let parts: Vec<Type<'v>> = types.iter().flat_map(parts).collect();
    let Some(element) = unified_type(cx, &parts, unsafe_)? else { return Ok(None) };
    let ty = match types.first() {
        Some(Type::Object(_)) => cx.arena().map_type(element),
        _ => cx.arena().list_type(element),
    };
    all_to(cx, types, ty, unsafe_)
}

/// Unifies maps and objects to a map, or lists and tuples to a list: objects and tuples become collections first.
fn as_collections<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let is_structure = |ty: &Type<'_>| matches!(ty, Type::Object(_) | Type::Tuple(_));
    let structures: Vec<Type<'v>> = types.iter().copied().filter(is_structure).collect();
    let Some(collection) = parts_to_collection(cx, &structures, unsafe_)? else { return Ok(None) };
    let all: Vec<Type<'v>> = types.iter().map(|ty| if is_structure(ty) { collection.ty } else { *ty }).collect();
    let unified = unify(cx, &all, unsafe_)?;
    Ok(unified.filter(|unified| matches!(unified.ty, Type::Map(_) | Type::List(_))))
}

/// Compares two types: `Less` if `a` is more general, `Equal` if neither is. This is only the order in which to try
/// conversions, which may not exist.
pub fn compare_types(cx: &Cx<'_>, a: &Type<'_>, b: &Type<'_>) -> Outcome<Ordering> {
    cx.spend(1)?;
    Ok(match (a, b) {
        (Type::Dynamic, Type::Dynamic) => Ordering::Equal,
        (Type::Dynamic, _) => Ordering::Greater,
        (_, Type::Dynamic) => Ordering::Less,
        (Type::String, Type::Bool | Type::Number) => Ordering::Less,
        (Type::Bool | Type::Number, Type::String) => Ordering::Greater,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            compare_types(cx, a, b)?
        }
        (Type::List(_), Type::Tuple(_)) | (Type::Tuple(_) | Type::List(_), Type::Set(_)) => Ordering::Less,
        (Type::Map(_), Type::Object(_)) => Ordering::Less,
        (Type::Tuple(_), Type::List(_)) | (Type::Set(_), Type::Tuple(_) | Type::List(_)) => Ordering::Greater,
        (Type::Object(_), Type::Map(_)) => Ordering::Greater,
        (Type::Object(a), Type::Object(b)) if same_names(a, b) => {
            combined(a.iter().zip(*b).map(|(a, b)| compare_types(cx, &a.ty, &b.ty)))?
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
            combined(a.iter().zip(*b).map(|(a, b)| compare_types(cx, a, b)))?
        }
        _ => Ordering::Equal,
    })
}

fn same_names(a: &[Attribute<'_>], b: &[Attribute<'_>]) -> bool {
    a.iter().map(|attribute| attribute.name).eq(b.iter().map(|attribute| attribute.name))
}

/// Combines the comparisons of parts. The result is `Equal` if they disagree.
fn combined(parts: impl Iterator<Item = Outcome<Ordering>>) -> Outcome<Ordering> {
    let (mut less, mut greater) = (false, false);
    for part in parts {
        match part? {
            Ordering::Less => less = true,
            Ordering::Greater => greater = true,
            Ordering::Equal => {}
        }
    }
    Ok(less.cmp(&greater).reverse())
}

/// Returns the indexes of the types, the more general ones first and otherwise in their order.
pub fn preferred(cx: &Cx<'_>, types: &[Type<'_>]) -> Outcome<Vec<usize>> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    let mut above = vec![0_usize; types.len()];
    for (at, a) in types.iter().enumerate() {
        for (other, b) in types.iter().enumerate().skip(at + 1) {
            let (upper, lower) = match compare_types(cx, a, b)? {
                Ordering::Less => (at, other),
                Ordering::Greater => (other, at),
                Ordering::Equal => continue,
            };
            below[upper].push(lower);
            above[lower] += 1;
        }
    }
    let mut queue: VecDeque<usize> = (0..types.len()).filter(|at| above[*at] == 0).collect();
    let mut order = Vec::with_capacity(types.len());
    while let Some(at) = queue.pop_front() {
        order.push(at);
        for lower in &below[at] {
            above[*lower] -= 1;
            if above[*lower] == 0 {
                queue.push_back(*lower);
            }
        }
    }
    Ok(order)
}
