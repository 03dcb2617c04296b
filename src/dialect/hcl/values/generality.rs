//! The order of types by generality.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::Outcome;
use crate::function::Cx;
use crate::value::{Attribute, Type};

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
