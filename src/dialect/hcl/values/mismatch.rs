//! Explanations of failed conversions.

use super::types::name;
use super::{constraint_name, conversion_exists, same_type};
use crate::function::{Cx, Outcome};
use crate::value::{Attribute, Type};

/// Explains why no value of type `got` converts to type `want`, as a sentence without capital letter and full stop.
pub fn mismatch<'v>(cx: &Cx<'v>, got: &Type<'v>, want: &Type<'v>) -> Outcome<String> {
    cx.spend(1)?;
    Ok(match (got, want) {
        (Type::Object(got), Type::Object(want)) => objects(cx, got, want)?,
        (Type::Tuple(_), Type::List(Type::Dynamic)) => "all list elements must have the same type".into(),
        (Type::Tuple(_), Type::Set(Type::Dynamic)) => "all set elements must have the same type".into(),
        (Type::Object(_), Type::Map(Type::Dynamic)) => "all map elements must have the same type".into(),
        (Type::Tuple(types), Type::List(element) | Type::Set(element)) => {
            elements(cx, types.iter().enumerate(), element)?
        }
        (Type::Object(attributes), Type::Map(element)) => {
            elements(cx, attributes.iter().map(|a| (format!("{:?}", a.name), &a.ty)), element)?
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
fn elements<'a, 'v: 'a, N: std::fmt::Display>(
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
