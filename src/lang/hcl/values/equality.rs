//! Equality as the language defines it, and identity for tests.

use super::refine::excludes;
use super::{
    Index, bool_or_unknown, conforms, contains_marked, has_known_type, is_definitely_not_null, is_set, marked_by,
    number_of, propagate, same_type, type_of, unmark_deep,
};
use dropforge_machine::function::{Cx, Outcome};
use dropforge_value::{BigNum, Extended, Map, Refinement, Type, Value};

/// Returns `true` if both values have the same type and are equal. All nulls are equal. The result is unknown if it
/// depends on an unknown value; a refinement that excludes the other value, or another type, decides it. The result has
/// all marks on and in both values.
///
/// # Errors
/// The memory or step limit was reached.
#[inline]
pub fn equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Bool(a == b)),
        (Value::Str(a), Value::Str(b)) => Ok(Value::Bool(a.as_str() == b.as_str())),
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(a == b)),
        _ => equals_marked(cx, a, b),
    }
}

#[cold]
fn equals_marked<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Value<'v>> {
    if let Some(equal) = null_equality(a, b) {
        return propagate(cx, [a, b], |_| Ok(Value::Bool(equal)));
    }
    if !contains_marked(cx, a)? && !contains_marked(cx, b)? {
        return Ok(bool_or_unknown(cx, known_equality(cx, a, b)?));
    }
    let ((a, own), (b, others)) = (unmark_deep(cx, a)?, unmark_deep(cx, b)?);
    let equal = bool_or_unknown(cx, known_equality(cx, a, b)?);
    marked_by(cx, marked_by(cx, equal, &own)?, &others)
}

/// Compares two values if at least one is null and that decides.
fn null_equality(a: Value<'_>, b: Value<'_>) -> Option<bool> {
    match (a.is_null(), b.is_null()) {
        (true, true) => Some(true),
        (true, false) => is_definitely_not_null(b).then_some(false),
        (false, true) => is_definitely_not_null(a).then_some(false),
        (false, false) => None,
    }
}

/// Compares two values without marks. The result is `None` if it is unknown.
fn known_equality<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Option<bool>> {
    if let Some(equal) = null_equality(a, b) {
        return Ok(Some(equal));
    }
    match (a.as_unknown(), b.as_unknown()) {
        (Some(_), Some(_)) => return Ok(None),
        (None, Some(unknown)) => return Ok(excludes(cx, unknown, a)?.then_some(false)),
        (Some(unknown), None) => return Ok(excludes(cx, unknown, b)?.then_some(false)),
        (None, None) => {}
    }
    let (one, other) = (type_of(cx, a)?, type_of(cx, b)?);
    if !has_known_type(cx, a)? || !has_known_type(cx, b)? {
        return Ok((!conforms(&one, &other) && !conforms(&other, &one)).then_some(false));
    }
    if !same_type(cx, &one, &other)? {
        return Ok(Some(false));
    }
    equal_parts(cx, a, b)
}

/// Compares two known values of one type.
fn equal_parts<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Option<bool>> {
    cx.spend(1)?;
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => return Ok(Some(a == b)),
        (Value::Str(a), Value::Str(b)) => return Ok(Some(a.as_str() == b.as_str())),
        _ => {}
    }
    if let (Some(a), Some(b)) = (number_of(a), number_of(b)) {
        return Ok(Some(a.reads_as(&b)));
    }
    if let (Some(Extended::Capsule(a)), Some(Extended::Capsule(b))) = (a.extended(), b.extended()) {
        return Ok(Some(a == b));
    }
    if let (Some(items), Some(others)) = (a.elements(), b.elements()) {
        return if is_set(a) { equal_sets(cx, items, others) } else { equal_lists(cx, items, others) };
    }
    let (Some(map), Some(other)) = (a.entries(), b.entries()) else { return Ok(Some(false)) };
    let mut certain = Some(map.len() == other.len());
    for (key, item) in map.iter_sorted() {
        // Entries have no order: one that differs decides, whatever the others are.
        match other.get(key).map(|other| equal_items(cx, item, other)).transpose()? {
            None | Some(Some(false)) => return Ok(Some(false)),
            Some(None) => certain = certain.filter(|same| !same),
            Some(Some(true)) => {}
        }
    }
    Ok(certain)
}

/// Compares two items of values of one type.
fn equal_items<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<Option<bool>> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Some(a == b)),
        (Value::Str(a), Value::Str(b)) => Ok(Some(a.as_str() == b.as_str())),
        _ if a.is_known() && b.is_known() && !a.is_null() && !b.is_null() => equal_parts(cx, a, b),
        _ => known_equality(cx, a, b),
    }
}

/// Compares items in order, up to the first pair that differs or is unknown.
fn equal_lists<'v>(cx: &Cx<'v>, items: &[Value<'v>], others: &[Value<'v>]) -> Outcome<Option<bool>> {
    if items.len() != others.len() {
        return Ok(Some(false));
    }
    for (item, other) in items.iter().zip(others) {
        let same = equal_items(cx, *item, *other)?;
        if same != Some(true) {
            return Ok(same);
        }
    }
    Ok(Some(true))
}

/// Compares two sets. An unknown element could be any.
fn equal_sets<'v>(cx: &Cx<'v>, items: &[Value<'v>], others: &[Value<'v>]) -> Outcome<Option<bool>> {
    if items.iter().chain(others).any(|item| !item.is_known()) {
        return Ok(None);
    }
    if items.len() != others.len() {
        return Ok(Some(false));
    }
    let index = Index::of(cx, items)?;
    for other in others {
        if !index.has(cx, *other)? {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// Returns `true` if both values are identical: they have the same type, marks and content, and unknown values have the
/// same refinements.
///
/// # Errors
/// The memory or step limit was reached.
pub fn raw_equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    Ok(same_type(cx, &type_of(cx, a)?, &type_of(cx, b)?)? && same_value(cx, a, b)?)
}

/// Implements [`raw_equals`] for values of one type.
fn same_value<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    cx.spend(1)?;
    let ((a, marks), (b, others)) = (a.unmarked(), b.unmarked());
    if marks != others || a.is_null() != b.is_null() {
        return Ok(false);
    }
    match (a.as_unknown(), b.as_unknown()) {
        (Some(a), Some(b)) => return Ok(same_refinement(&a.refinement, &b.refinement)),
        (None, None) if a.is_null() => return Ok(true),
        (None, None) => {}
        _ => return Ok(false),
    }
    if let (Some(items), Some(others)) = (a.elements(), b.elements()) {
        return same_items(cx, items.iter().copied(), others.iter().copied());
    }
    match (a.entries(), b.entries()) {
        (Some(map), Some(other)) => {
            let same_keys = map.iter_sorted().map(|(key, _)| key).eq(other.iter_sorted().map(|(key, _)| key));
            let values = |map: &Map<'v>| map.iter_sorted().map(|(_, item)| item);
            Ok(same_keys && same_items(cx, values(map), values(other))?)
        }
        _ => Ok(equal_parts(cx, a, b)? == Some(true)),
    }
}

fn same_items<'v>(
    cx: &Cx<'v>,
    mut items: impl Iterator<Item = Value<'v>>,
    mut others: impl Iterator<Item = Value<'v>>,
) -> Outcome<bool> {
    loop {
        match (items.next(), others.next()) {
            (None, None) => return Ok(true),
            (Some(a), Some(b)) if same_value(cx, a, b)? => {}
            _ => return Ok(false),
        }
    }
}

fn same_refinement(a: &Refinement<'_>, b: &Refinement<'_>) -> bool {
    let same_bound = |a: Option<&(BigNum, bool)>, b: Option<&(BigNum, bool)>| match (a, b) {
        (Some((a, inclusive)), Some((b, other))) => inclusive == other && a.reads_as(b),
        _ => a.is_none() && b.is_none(),
    };
    a.not_null == b.not_null
        && a.prefix == b.prefix
        && (a.len_least, a.len_most) == (b.len_least, b.len_most)
        && same_bound(a.least, b.least)
        && same_bound(a.most, b.most)
}

/// Returns `true` if not even the type of a value is known.
pub fn is_dynamic(value: Value<'_>) -> bool {
    value.as_unknown().is_some_and(|unknown| unknown.ty == Type::Dynamic)
}
