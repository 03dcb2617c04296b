//! Conditionals.

use std::cmp::Ordering;

use super::intrinsics::paid_type;
use super::marked_as;
use crate::evaluation::{as_faulty, drop_errors, is_faulty, note_error, note_index, ok_or_note};
use crate::values::{Refine, convert, elements, number_of, types, unify};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, Outcome, Subject, fitting};
use dropforge_value::{BigNum, Refinement, Type, Value};

/// The summary of errors about the types of the results.
const INCONSISTENT: &str = "Inconsistent conditional result types";

/// Evaluates a conditional whose results are both evaluated. The errors of the other result are dropped.
pub(super) fn conditional<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::Int(start), condition, Value::Int(then_from), then, Value::Int(otherwise_from), otherwise] = args
    else {
        return Err(cx.arity());
    };
    let from = [then_from, otherwise_from];
    if let Value::Bool(truth) = condition
        && are_of_one_primitive_type(then, otherwise)
    {
        drop_errors(cx, from, [truth, !truth]);
        return Ok(if truth { then } else { otherwise });
    }
    let Some(ty) = common_type(cx, then, otherwise)? else {
        // Not even the errors of the condition count.
        cx.notes().take(note_index(start));
        let [then, otherwise] = [paid_type(cx, then)?, paid_type(cx, otherwise)?].map(|ty| types::name(&ty));
        note_error(cx, INCONSISTENT, format!("One result is {then}, the other {otherwise}"), Subject::Part(3));
        return Ok(cx.arena().faulty(Type::Dynamic));
    };
    if condition.is_null() {
        drop_errors(cx, from, [false, false]);
        note_error(cx, "Null condition", "The condition is null; it must be true or false", Subject::Part(0));
        return Ok(cx.arena().faulty(ty));
    }
    if !condition.is_known() {
        drop_errors(cx, from, [false, false]);
        let narrowed = fitting(narrowed(cx, ty, then.unmarked().0, otherwise.unmarked().0))?;
        let value = narrowed.unwrap_or_else(|| cx.arena().unknown(ty));
        let value = if is_faulty(condition) { as_faulty(cx, value) } else { value };
        return Ok(marked_as(cx, value, &[condition, then, otherwise]));
    }
    let truth = ok_or_note(cx, convert(cx, condition, &Type::Bool), "Incorrect condition type", Subject::Part(0))?;
    let Some(truth) = truth else {
        let last = cx.notes().take(note_index(then_from)).pop();
        cx.notes().put(last);
        return Ok(cx.arena().faulty(ty));
    };
    let truth = matches!(truth.unmarked().0, Value::Bool(true));
    drop_errors(cx, from, [truth, !truth]);
    let (chosen, part) = if truth { (then, 1) } else { (otherwise, 2) };
    Ok(match ok_or_note(cx, convert(cx, chosen, &ty), INCONSISTENT, Subject::Part(part))? {
        Some(value) => marked_as(cx, value, &[condition, then, otherwise]),
        None => marked_as(cx, cx.arena().faulty(ty), &[condition, then, otherwise]),
    })
}

fn are_of_one_primitive_type<'v>(a: Value<'v>, b: Value<'v>) -> bool {
    matches!((a, b), (Value::Str(_), Value::Str(_)) | (Value::Int(_), Value::Int(_)) | (Value::Bool(_), Value::Bool(_)))
}

/// Returns the type of a conditional with these results.
fn common_type<'v>(cx: &Cx<'v>, then: Value<'v>, otherwise: Value<'v>) -> Result<Option<Type<'v>>> {
    let both = [paid_type(cx, then)?, paid_type(cx, otherwise)?];
    Ok(match (then, otherwise) {
        (Value::Null, _) => Some(both[1]),
        (_, Value::Null) => Some(both[0]),
        _ if both.contains(&Type::Dynamic) => Some(Type::Dynamic),
        _ => fitting(unify(cx, &both, true))?.flatten().map(|unified| unified.ty),
    })
}

/// Returns an unknown value of type `ty` with the refinements that both results have.
fn narrowed<'v>(cx: &Cx<'v>, ty: Type<'v>, then: Value<'v>, otherwise: Value<'v>) -> Outcome<Value<'v>> {
    if then.is_null() && otherwise.is_null() {
        return Ok(cx.arena().null(ty));
    }
    let mut unknown = Refine::of(cx.arena().unknown(ty));
    if let [Some(a), Some(b)] = [Bounds::of(cx, then)?, Bounds::of(cx, otherwise)?] {
        if a.not_null && b.not_null {
            unknown = unknown.not_null();
        }
        if let Some((number, inclusive)) = outer(a.least, b.least, Ordering::Less) {
            unknown = unknown.at_least(cx, number, inclusive);
        }
        if let Some((number, inclusive)) = outer(a.most, b.most, Ordering::Greater) {
            unknown = unknown.at_most(cx, number, inclusive);
        }
        if let (Some(a), Some(b), true) = (a.length, b.length, a.ty == b.ty) {
            unknown = unknown.length_at_least(a.0.min(b.0)).length_at_most(a.1.max(b.1));
        }
    }
    unknown.done(cx)
}

/// A bound of a number: the number, and whether it is included.
type Bound = Option<(BigNum, bool)>;

/// Returns the less restrictive of two bounds.
fn outer(a: Bound, b: Bound, outward: Ordering) -> Bound {
    let (a, b) = (a?, b?);
    let ordering = a.0.compare(&b.0);
    Some(if ordering == outward || ordering.is_eq() && a.1 >= b.1 { a } else { b })
}

/// The bounds of a value that is not null, known or not.
struct Bounds<'v> {
    ty: Type<'v>,
    not_null: bool,
    least: Bound,
    most: Bound,
    /// The minimum and maximum length of a collection.
    length: Option<(u64, u64)>,
}

impl<'v> Bounds<'v> {
    fn of(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Option<Self>> {
        let ty = types::type_of(cx, value)?;
        if let Some(unknown) = value.as_unknown() {
            let Refinement { not_null, least, most, len_least, len_most, .. } = unknown.refinement;
            let length = ty.element().map(|_| (len_least, len_most));
            return Ok(Some(Self { ty, not_null, least: least.copied(), most: most.copied(), length }));
        }
        if value.is_null() {
            return Ok(None);
        }
        let number = number_of(value).map(|number| (number, true));
        let length = match ty.element() {
            Some(_) => number_of(elements::length(cx, value)?).and_then(|n| n.to_u64()),
            None => None,
        };
        let length = length.map(|length| (length, length));
        Ok(Some(Self { ty, not_null: true, least: number, most: number, length }))
    }
}
