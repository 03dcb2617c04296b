//! Ranges of unknown numbers and lengths, and what they exclude.

use std::cmp::Ordering;

use super::numbers::number_of;
use super::sets::is_set;
use super::types::{conforms, type_of};
use super::{Outcome, is_wholly_known};
use crate::function::Cx;
use crate::stdlib::bignum::FULL;
use crate::value::{Arena, BigNum, Map, Refinement, Type, Unknown, Value};

/// The range of a number. An unknown end is infinite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: BigNum,
    pub(super) most: BigNum,
}

impl Bounds {
    pub(super) fn of(refinement: &Refinement<'_>) -> Self {
        let bound = |bound: Option<&(BigNum, bool)>, negative| {
            bound.map_or_else(|| BigNum::infinity(negative, FULL), |(number, _)| *number)
        };
        Self { least: bound(refinement.least, true), most: bound(refinement.most, false) }
    }

    /// Returns the refinement of a number in this range, ends included, that is not null.
    pub(super) fn refinement<'v>(&self, arena: &'v Arena) -> Refinement<'v> {
        let open = |bound: &BigNum, negative| !bound.is_finite() && bound.is_negative() == negative;
        Refinement {
            least: (!open(&self.least, true)).then(|| arena.bound(self.least, true)),
            most: (!open(&self.most, false)).then(|| arena.bound(self.most, true)),
            ..Refinement::NOT_NULL
        }
    }
}

/// Returns the range of the results of a monotone operation on two ranges, or `None` if the operation has no result for
/// some of their ends.
pub(super) fn arithmetic(a: &Bounds, b: &Bounds, apply: impl Fn(&BigNum, &BigNum) -> Option<BigNum>) -> Option<Bounds> {
    let first = apply(&a.least, &b.least)?;
    let mut bounds = Bounds { least: first, most: first };
    for (x, y) in [(&a.least, &b.most), (&a.most, &b.least), (&a.most, &b.most)] {
        let end = apply(x, y)?;
        if end.compare(&bounds.least).is_lt() {
            bounds.least = end;
        }
        if end.compare(&bounds.most).is_gt() {
            bounds.most = end;
        }
    }
    Some(bounds)
}

/// Returns `true` if the value cannot be null.
pub(super) fn is_definitely_not_null(value: Value<'_>) -> bool {
    value.as_unknown().map_or_else(|| !value.is_null(), |unknown| unknown.refinement.not_null)
}

/// Returns `true` if an unknown value cannot turn out to be the known value `value`, which has no marks.
pub(super) fn excludes<'v>(cx: &Cx<'v>, unknown: &Unknown<'v>, value: Value<'v>) -> Outcome<bool> {
    let refinement = &unknown.refinement;
    if value.is_null() {
        return Ok(refinement.not_null);
    }
    if !conforms(&type_of(cx, value)?, &unknown.ty) {
        return Ok(true);
    }
    Ok(match unknown.ty {
        Type::String => value.as_str().is_some_and(|text| !text.starts_with(refinement.prefix)),
        Type::Number => number_of(value).is_some_and(|number| excludes_number(refinement, &number)),
        Type::List(_) | Type::Set(_) | Type::Map(_) => {
            let (least, most) = length_range(cx, value)?;
            most < refinement.len_least || least > refinement.len_most
        }
        _ => false,
    })
}

/// Returns `true` if a number is out of bounds.
fn excludes_number(refinement: &Refinement<'_>, number: &BigNum) -> bool {
    let fits = |bound: &(BigNum, bool), inside: Ordering| {
        let (bound, inclusive) = bound;
        number.compare(bound) == inside || *inclusive && number.reads_as(bound)
    };
    refinement.least.is_some_and(|bound| !fits(bound, Ordering::Greater))
        || refinement.most.is_some_and(|bound| !fits(bound, Ordering::Less))
}

/// Returns the minimum and maximum length of a known collection. Unknown elements of a set may turn out to be equal.
pub(super) fn length_range(cx: &Cx<'_>, collection: Value<'_>) -> Outcome<(u64, u64)> {
    let elements = collection.elements().map(<[_]>::len);
    let length = elements.or_else(|| collection.entries().map(Map::len)).unwrap_or(0) as u64;
    let certain = !is_set(collection) || length <= 1 || is_wholly_known(cx, collection)?;
    Ok((if certain { length } else { 1 }, length))
}
