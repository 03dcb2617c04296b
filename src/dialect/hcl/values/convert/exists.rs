//! The conversions that exist between types.

use super::super::Outcome;
use super::super::types::{all, same_type};
use super::super::unify::unified_type;
use crate::function::Cx;
use crate::value::{Attribute, Type};

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
