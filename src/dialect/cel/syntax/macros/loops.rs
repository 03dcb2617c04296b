//! Macros that go over the elements of a list or the entries of a map.

use super::super::fault::Fault;
use super::super::tree::{Comprehension, Expr, ExprId, Literal, Name, Operator};
use super::factory::{Factory, Fold};
use super::{ACCUMULATOR, Expanded, Given, OLD_ACCUMULATOR, UNUSED};

/// The name that an argument is.
pub(super) fn simple_name(make: &Factory<'_, '_>, arg: ExprId, wanted: &str) -> Result<Name, Fault> {
    match make.tree().expr(arg) {
        Expr::Ident { name, rooted: false } => Ok(name),
        _ => Err(make.fault(arg, wanted)),
    }
}

fn variable(make: &Factory<'_, '_>, arg: ExprId, wanted: &str) -> Result<Name, Fault> {
    let name = simple_name(make, arg, wanted)?;
    if [ACCUMULATOR, OLD_ACCUMULATOR].contains(&make.tree().name(name)) {
        return Err(make.fault(arg, "iteration variable overwrites accumulator variable"));
    }
    Ok(name)
}

const SIMPLE_NAME: &str = "argument must be a simple name";

/// The first two arguments.
fn two_variables(make: &Factory<'_, '_>, of: &Given<'_>) -> Result<(Name, Option<Name>), Fault> {
    let first = simple_name(make, of.arg(0), SIMPLE_NAME)?;
    let second = simple_name(make, of.arg(1), SIMPLE_NAME)?;
    if first == second {
        let name = make.tree().name(first);
        return Err(make.fault(of.arg(1), format!("duplicate variable name: {name}")));
    }
    variable(make, of.arg(0), SIMPLE_NAME)?;
    variable(make, of.arg(1), SIMPLE_NAME)?;
    Ok((first, Some(second)))
}

/// The variables and the predicate: `(x, p)` or `(k, v, p)`.
fn quantifier(make: &Factory<'_, '_>, of: &Given<'_>) -> Result<((Name, Option<Name>), ExprId), Fault> {
    match of.args {
        [name, predicate] => Ok(((variable(make, *name, SIMPLE_NAME)?, None), *predicate)),
        _ => Ok((two_variables(make, of)?, of.arg(2))),
    }
}

/// `range.all(x, p)`: goes on unless it is known that one is false.
pub(super) fn all(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let (variables, predicate) = quantifier(make, of)?;
    let init = make.literal(Literal::Bool(true));
    let accu = make.accu();
    let condition = make.operator(Operator::NotStrictlyFalse, &[accu]);
    let accu = make.accu();
    let step = make.operator(Operator::And, &[accu, predicate]);
    let result = make.accu();
    Ok(Some(make.fold(Fold { range: of.target, variables, init, condition, step, result })))
}

/// `range.exists(x, p)`: goes on unless it is known that one is true.
pub(super) fn exists(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let (variables, predicate) = quantifier(make, of)?;
    let init = make.literal(Literal::Bool(false));
    let accu = make.accu();
    let not = make.operator(Operator::Not, &[accu]);
    let condition = make.operator(Operator::NotStrictlyFalse, &[not]);
    let accu = make.accu();
    let step = make.operator(Operator::Or, &[accu, predicate]);
    let result = make.accu();
    Ok(Some(make.fold(Fold { range: of.target, variables, init, condition, step, result })))
}

/// `range.exists_one(x, p)`: counts.
pub(super) fn exists_one(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let (variables, predicate) = quantifier(make, of)?;
    let init = make.literal(Literal::Int(0));
    let condition = make.literal(Literal::Bool(true));
    let (accu, one) = (make.accu(), make.literal(Literal::Int(1)));
    let more = make.operator(Operator::Add, &[accu, one]);
    let step = when(make, Some(predicate), more);
    let (accu, one) = (make.accu(), make.literal(Literal::Int(1)));
    let result = make.operator(Operator::Equal, &[accu, one]);
    Ok(Some(make.fold(Fold { range: of.target, variables, init, condition, step, result })))
}

/// `then` where a condition is true or there is none, otherwise the accumulator as it is.
fn when(make: &mut Factory<'_, '_>, condition: Option<ExprId>, then: ExprId) -> ExprId {
    let Some(condition) = condition else { return then };
    let accu = make.accu();
    make.operator(Operator::Conditional, &[condition, then, accu])
}

/// A loop that always goes on and whose result is what it collected.
fn collect(
    make: &mut Factory<'_, '_>,
    range: ExprId,
    variables: (Name, Option<Name>),
    init: ExprId,
    step: ExprId,
) -> Expanded {
    let condition = make.literal(Literal::Bool(true));
    let result = make.accu();
    Ok(Some(make.fold(Fold { range, variables, init, condition, step, result })))
}

/// The accumulator with one more element.
fn appended(make: &mut Factory<'_, '_>, element: ExprId) -> ExprId {
    let (accu, list) = (make.accu(), make.list(&[element]));
    make.operator(Operator::Add, &[accu, list])
}

const IDENTIFIER: &str = "argument is not an identifier";

/// `range.map(x, t)`, `range.map(x, p, t)`
pub(super) fn map(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let (name, filter, transform) = match of.args {
        [name, transform] => (*name, None, *transform),
        _ => (of.arg(0), Some(of.arg(1)), of.arg(2)),
    };
    let variables = (variable(make, name, IDENTIFIER)?, None);
    let init = make.list(&[]);
    let step = appended(make, transform);
    let step = when(make, filter, step);
    collect(make, of.target, variables, init, step)
}

/// `range.filter(x, p)`
pub(super) fn filter(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let name = variable(make, of.arg(0), IDENTIFIER)?;
    let init = make.list(&[]);
    // The element is the argument itself, so that it has the place of the name that was written.
    let step = appended(make, of.arg(0));
    let step = when(make, Some(of.arg(1)), step);
    collect(make, of.target, (name, None), init, step)
}

/// The filter and the transformation behind two variables.
fn transformation(of: &Given<'_>) -> (Option<ExprId>, ExprId) {
    match of.args {
        [_, _, transform] => (None, *transform),
        _ => (Some(of.arg(2)), of.arg(3)),
    }
}

/// `range.transformList(k, v[, p], t)`
pub(super) fn transform_list(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let variables = two_variables(make, of)?;
    let (filter, transform) = transformation(of);
    let init = make.list(&[]);
    let step = appended(make, transform);
    let step = when(make, filter, step);
    collect(make, of.target, variables, init, step)
}

/// `range.transformMap(k, v[, p], t)`: the keys stay.
pub(super) fn transform_map(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let variables = two_variables(make, of)?;
    let (filter, transform) = transformation(of);
    let init = make.empty_map();
    let (accu, key) = (make.accu(), make.ident(variables.0));
    let step = make.function("cel.@mapInsert", &[accu, key, transform]);
    let step = when(make, filter, step);
    collect(make, of.target, variables, init, step)
}

/// `range.transformMapEntry(k, v[, p], {key: value})`
pub(super) fn transform_map_entry(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let variables = two_variables(make, of)?;
    let (filter, transform) = transformation(of);
    let init = make.empty_map();
    let accu = make.accu();
    let step = make.function("cel.@mapInsert", &[accu, transform]);
    let step = when(make, filter, step);
    collect(make, of.target, variables, init, step)
}

/// A loop over nothing whose value is `body`, in which `variable` is `init`.
pub(super) fn bound(make: &mut Factory<'_, '_>, variable: Name, init: ExprId, body: ExprId) -> ExprId {
    let iter_range = make.list(&[]);
    let iter_var = make.name(UNUSED);
    let loop_condition = make.literal(Literal::Bool(false));
    let loop_step = make.ident(variable);
    let (iter_var2, accu_var, accu_init, result) = (None, variable, init, body);
    make.comprehension(Comprehension {
        iter_range,
        iter_var,
        iter_var2,
        accu_var,
        accu_init,
        loop_condition,
        loop_step,
        result,
    })
}

/// `list.sortBy(x, key)`: the keys of all elements first, then the sorted list.
pub(super) fn sort_by(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    if matches!(make.tree().expr(of.target), Expr::Literal(_) | Expr::Map(_) | Expr::Message { .. }) {
        let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return Err(make.fault(of.target, message));
    }
    let input = make.name("@__sortBy_input__");
    let range = make.ident(input);
    let Some(keys) = map(make, &Given { target: range, ..*of })? else { return Ok(None) };
    let list = make.ident(input);
    let sorted = make.member(list, "@sortByAssociatedKeys", &[keys]);
    Ok(Some(bound(make, input, of.target, sorted)))
}
