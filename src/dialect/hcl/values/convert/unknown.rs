//! Conversion of unknown values and of null, which changes their type and the bounds of their length.

use super::super::Outcome;
use super::super::refine::settled;
use super::super::types::{type_of, without_optional};
use super::super::unify::unified_type;
use crate::function::Cx;
use crate::value::{Attribute, Refinement, Type, Unknown, Value};

/// Converts an unknown value.
pub(super) fn convert<'v>(cx: &Cx<'v>, unknown: &Unknown<'v>, to: &Type<'v>) -> Outcome<Value<'v>> {
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
