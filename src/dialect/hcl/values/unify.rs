//! The one type that values of several types convert to.

use super::convert::{conversion_exists, convert};
use super::order::preferred;
use super::types::{same_type, types_of};
use super::{Fault, Outcome};
use crate::function::Cx;
use crate::value::{Attribute, Type, Value};

/// What several types were unified to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unified<'v> {
    /// The one type.
    pub ty: Type<'v>,
    /// For each of the types whether a value of it must be converted.
    pub converts: Vec<bool>,
    /// Whether nothing can be said before what is dynamic is known: every value becomes unknown.
    pub undecided: bool,
}

/// Finds the one type that values of all `types` convert to; nothing where there is none, or no type. With `unsafe_`,
/// conversions that may fail for some values count as well.
///
/// Objects with the same attributes and tuples of the same length are unified part by part, otherwise to a map or a
/// list. A map among objects makes maps of all, a list among tuples lists.
pub fn unify<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let (distinct, which) = distinct(cx, types)?;
    let Some(Unified { ty, converts, undecided }) = unify_distinct(cx, &distinct, unsafe_)? else { return Ok(None) };
    let converts = which.into_iter().map(|at| converts.get(at).copied().unwrap_or(false)).collect();
    Ok(Some(Unified { ty, converts, undecided }))
}

/// Converts `values` to the one type that they unify to, and says which; nothing where there is none, or one of them
/// does not fit it.
pub fn converted<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Option<(Type<'v>, Vec<Value<'v>>)>> {
    let Some(unified) = unify(cx, &types_of(cx, values)?, true)? else { return Ok(None) };
    if unified.undecided {
        return Ok(Some((Type::Dynamic, vec![cx.arena().unknown(Type::Dynamic); values.len()])));
    }
    let mut made = Vec::with_capacity(values.len());
    for value in values {
        match convert(cx, *value, &unified.ty) {
            Ok(value) => made.push(value),
            Err(Fault::Wrong(_)) => return Ok(None),
            Err(limit) => return Err(limit),
        }
    }
    Ok(Some((unified.ty, made)))
}

/// The one type alone.
pub fn unified_type<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Type<'v>>> {
    Ok(unify_distinct(cx, &distinct(cx, types)?.0, unsafe_)?.map(|unified| unified.ty))
}

/// The types without repetitions, and for each of `types` which of those it is. Large collections have few types.
fn distinct<'v>(cx: &Cx<'v>, types: &[Type<'v>]) -> Outcome<(Vec<Type<'v>>, Vec<usize>)> {
    let (mut distinct, mut which): (Vec<Type<'v>>, Vec<usize>) = (Vec::new(), Vec::with_capacity(types.len()));
    for ty in types {
        let mut found = None;
        for (at, other) in distinct.iter().enumerate() {
            if same_type(cx, ty, other)? {
                found = Some(at);
                break;
            }
        }
        which.push(found.unwrap_or(distinct.len()));
        if found.is_none() {
            distinct.push(*ty);
        }
    }
    Ok((distinct, which))
}

/// How many of the types are of which kind.
#[derive(Default)]
struct Kinds {
    lists: usize,
    sets: usize,
    maps: usize,
    tuples: usize,
    objects: usize,
    dynamics: usize,
}

impl Kinds {
    fn of(types: &[Type<'_>]) -> Self {
        let mut kinds = Self::default();
        for ty in types {
            match ty {
                Type::List(_) => kinds.lists += 1,
                Type::Set(_) => kinds.sets += 1,
                Type::Map(_) => kinds.maps += 1,
                Type::Tuple(_) => kinds.tuples += 1,
                Type::Object(_) => kinds.objects += 1,
                Type::Dynamic => kinds.dynamics += 1,
                _ => {}
            }
        }
        kinds
    }
}

fn unify_distinct<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let [first, rest @ ..] = types else { return Ok(None) };
    if rest.is_empty() {
        return Ok(Some(Unified { ty: *first, converts: vec![false], undecided: false }));
    }
    let kinds = Kinds::of(types);
    let all = |kind: usize| kind > 0 && kind + kinds.dynamics == types.len();
    if [kinds.maps, kinds.lists, kinds.sets, kinds.objects, kinds.tuples].into_iter().any(all) && kinds.dynamics > 0 {
        return Ok(Some(Unified { ty: Type::Dynamic, converts: vec![true; types.len()], undecided: true }));
    }
    if all(kinds.maps) || all(kinds.lists) || all(kinds.sets) {
        return collections(cx, types, unsafe_);
    }
    if all(kinds.objects) {
        return objects(cx, types, unsafe_);
    }
    if all(kinds.tuples) {
        return tuples(cx, types, unsafe_);
    }
    let collected = match &kinds {
        kinds if kinds.maps > 0 && all(kinds.maps + kinds.objects) => as_collections(cx, types, unsafe_)?,
        kinds if kinds.lists > 0 && all(kinds.lists + kinds.tuples) => as_collections(cx, types, unsafe_)?,
        kinds if kinds.objects > 0 && kinds.tuples > 0 => return Ok(None),
        _ => None,
    };
    if collected.is_some() { Ok(collected) } else { best_of(cx, types, unsafe_) }
}

/// The most general of the types that all others convert to.
fn best_of<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    for at in preferred(cx, types)? {
        let Some(ty) = types.get(at) else { continue };
        if let Some(unified) = all_to(cx, types, *ty, unsafe_)? {
            return Ok(Some(unified));
        }
    }
    Ok(None)
}

/// `ty`, where all of `types` convert to it.
fn all_to<'v>(cx: &Cx<'v>, types: &[Type<'v>], ty: Type<'v>, unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let mut converts = Vec::with_capacity(types.len());
    for from in types {
        let same = same_type(cx, from, &ty)?;
        if !same && !conversion_exists(cx, from, &ty, unsafe_)? {
            return Ok(None);
        }
        converts.push(!same);
    }
    Ok(Some(Unified { ty, converts, undecided: false }))
}

/// Lists, sets or maps, all of one kind.
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

/// Objects: attribute by attribute where all have the same names, otherwise a map.
fn objects<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let rows: Vec<&'v [Attribute<'v>]> = types.iter().filter_map(Type::attributes).collect();
    let [first, rest @ ..] = rows.as_slice() else { return Ok(None) };
    cx.spend((first.len() * rows.len()) as u64)?;
    let names = |row: &[Attribute<'v>]| row.iter().map(|attribute| attribute.name).eq(first.iter().map(|a| a.name));
    if !rest.iter().all(|row| names(row)) {
        return objects_to_map(cx, types, unsafe_);
    }
    let mut attributes = Vec::with_capacity(first.len());
    for (at, attribute) in first.iter().enumerate() {
        let across: Vec<Type<'v>> = rows.iter().filter_map(|row| row.get(at)).map(|attribute| attribute.ty).collect();
        let Some(ty) = unified_type(cx, &across, unsafe_)? else { return Ok(None) };
        attributes.push(Attribute { name: attribute.name, ty, optional: false });
    }
    match all_to(cx, types, cx.arena().object_type(&attributes), unsafe_)? {
        None => objects_to_map(cx, types, unsafe_),
        unified => Ok(unified),
    }
}

fn objects_to_map<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let attributes = types.iter().filter_map(Type::attributes).flatten().map(|attribute| attribute.ty);
    let Some(element) = unified_type(cx, &attributes.collect::<Vec<_>>(), unsafe_)? else { return Ok(None) };
    all_to(cx, types, cx.arena().map_type(element), unsafe_)
}

/// Tuples: element by element where all have the same length, otherwise a list.
fn tuples<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let rows: Vec<&'v [Type<'v>]> = types.iter().filter_map(tuple).collect();
    let [first, rest @ ..] = rows.as_slice() else { return Ok(None) };
    if rest.iter().any(|row| row.len() != first.len()) {
        return tuples_to_list(cx, types, unsafe_);
    }
    let mut elements = Vec::with_capacity(first.len());
    for at in 0..first.len() {
        let across: Vec<Type<'v>> = rows.iter().filter_map(|row| row.get(at)).copied().collect();
        let Some(ty) = unified_type(cx, &across, unsafe_)? else { return Ok(None) };
        elements.push(ty);
    }
    match all_to(cx, types, cx.arena().tuple_type(&elements), unsafe_)? {
        None => tuples_to_list(cx, types, unsafe_),
        unified => Ok(unified),
    }
}

fn tuples_to_list<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let elements: Vec<Type<'v>> = types.iter().filter_map(tuple).flatten().copied().collect();
    let Some(element) = unified_type(cx, &elements, unsafe_)? else { return Ok(None) };
    all_to(cx, types, cx.arena().list_type(element), unsafe_)
}

fn tuple<'v>(ty: &Type<'v>) -> Option<&'v [Type<'v>]> {
    if let Type::Tuple(elements) = ty { Some(elements) } else { None }
}

/// Maps and objects as maps, or lists and tuples as lists: the structures are made collections first, and those then
/// unified with the others. Nothing where that gives no such collection.
fn as_collections<'v>(cx: &Cx<'v>, types: &[Type<'v>], unsafe_: bool) -> Outcome<Option<Unified<'v>>> {
    let is_structure = |ty: &Type<'_>| matches!(ty, Type::Object(_) | Type::Tuple(_));
    let structures: Vec<Type<'v>> = types.iter().copied().filter(is_structure).collect();
    let collected = match structures.first() {
        Some(Type::Object(_)) => objects_to_map(cx, &structures, unsafe_)?,
        _ => tuples_to_list(cx, &structures, unsafe_)?,
    };
    let Some(collection) = collected.map(|unified| unified.ty) else { return Ok(None) };
    let all: Vec<Type<'v>> = types.iter().map(|ty| if is_structure(ty) { collection } else { *ty }).collect();
    let Some(mut unified) = unify(cx, &all, unsafe_)? else { return Ok(None) };
    if !matches!(unified.ty, Type::Map(_) | Type::List(_)) {
        return Ok(None);
    }
    for (converts, ty) in unified.converts.iter_mut().zip(types) {
        *converts |= is_structure(ty);
    }
    Ok(Some(unified))
}
