//! The expansions of macros: those that iterate over a list or map, those that test, bind and name values, and
//! `math.least` and `math.greatest`.

use super::{ACCUMULATOR, Expansion, Factory, Loop, MacroCall, UNUSED};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{Comprehension, Expr, ExprId, Literal, Name, Operator, Selection};

/// Macros whose last argument and value are booleans.
pub(crate) const QUANTIFIERS: [&str; 4] = ["all", "exists", "exists_one", "existsOne"];

/// The former name of the accumulator. Loop variables cannot have it either.
const OLD_ACCUMULATOR: &str = "__result__";

fn variable(make: &Factory<'_, '_>, arg: ExprId, wanted: &str) -> Result<Name, SyntaxError> {
    let name = simple_name(make, arg, wanted)?;
    if [ACCUMULATOR, OLD_ACCUMULATOR].contains(&make.tree().name(name)) {
        return Err(make.error(arg, "iteration variable overwrites accumulator variable"));
    }
    Ok(name)
}

const SIMPLE_NAME: &str = "argument must be a simple name";

/// Returns the two variables that the first arguments name.
fn two_variables(make: &Factory<'_, '_>, of: &MacroCall<'_>) -> Result<(Name, Option<Name>), SyntaxError> {
    let first = simple_name(make, of.arg(0), SIMPLE_NAME)?;
    let second = simple_name(make, of.arg(1), SIMPLE_NAME)?;
    if first == second {
        let name = make.tree().name(first);
        return Err(make.error(of.arg(1), format!("duplicate variable name: {name}")));
    }
    variable(make, of.arg(0), SIMPLE_NAME)?;
    variable(make, of.arg(1), SIMPLE_NAME)?;
    Ok((first, Some(second)))
}

/// Returns the variables and the predicate of `(x, p)` or `(k, v, p)`.
fn quantifier(make: &Factory<'_, '_>, of: &MacroCall<'_>) -> Result<((Name, Option<Name>), ExprId), SyntaxError> {
    match of.args {
        [name, predicate] => Ok(((variable(make, *name, SIMPLE_NAME)?, None), *predicate)),
        _ => Ok((two_variables(make, of)?, of.arg(2))),
    }
}

/// `range.all(x, p)`, `range.exists(x, p)`: continues until the predicate is known to be false, or true.
pub(super) fn until(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let decisive = of.name == "exists";
    let (variables, predicate) = quantifier(make, of)?;
    let init = make.literal(Literal::Bool(!decisive));
    let accu = make.accu();
    let undecided = if decisive { make.operator(Operator::Not, &[accu]) } else { accu };
    let condition = make.operator(Operator::NotStrictlyFalse, &[undecided]);
    let accu = make.accu();
    let step = make.operator(if decisive { Operator::Or } else { Operator::And }, &[accu, predicate]);
    let result = make.accu();
    Ok(make.fold(Loop { range: of.target, variables, init, condition, step, result }))
}

/// `range.exists_one(x, p)`: counts the elements.
pub(super) fn exists_one(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let (variables, predicate) = quantifier(make, of)?;
    let init = make.literal(Literal::Int(0));
    let condition = make.literal(Literal::Bool(true));
    let (accu, one) = (make.accu(), make.literal(Literal::Int(1)));
    let more = make.operator(Operator::Add, &[accu, one]);
    let step = when(make, predicate, more);
    let (accu, one) = (make.accu(), make.literal(Literal::Int(1)));
    let result = make.operator(Operator::Equal, &[accu, one]);
    Ok(make.fold(Loop { range: of.target, variables, init, condition, step, result }))
}

/// Adds `then` if the condition is true, otherwise the unchanged accumulator.
fn when(make: &mut Factory<'_, '_>, condition: ExprId, then: ExprId) -> ExprId {
    let accu = make.accu();
    make.operator(Operator::Conditional, &[condition, then, accu])
}

/// Adds a comprehension over the elements that satisfy `filter`, if there is one, whose value is the accumulator.
fn collect(
    make: &mut Factory<'_, '_>,
    range: ExprId,
    variables: (Name, Option<Name>),
    (init, filter, step): (ExprId, Option<ExprId>, ExprId),
) -> Expansion {
    let step = filter.map_or(step, |filter| when(make, filter, step));
    let condition = make.literal(Literal::Bool(true));
    let result = make.accu();
    Ok(make.fold(Loop { range, variables, init, condition, step, result }))
}

/// Adds the accumulator with an element appended.
fn appended(make: &mut Factory<'_, '_>, element: ExprId) -> ExprId {
    let (accu, list) = (make.accu(), make.list(&[element]));
    make.operator(Operator::Add, &[accu, list])
}

const IDENTIFIER: &str = "argument is not an identifier";

/// `range.map(x, t)`, `range.map(x, p, t)`
pub(super) fn map(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let (name, filter, transform) = match of.args {
        [name, transform] => (*name, None, *transform),
        _ => (of.arg(0), Some(of.arg(1)), of.arg(2)),
    };
    let variables = (variable(make, name, IDENTIFIER)?, None);
    let init = make.list(&[]);
    let step = appended(make, transform);
    collect(make, of.target, variables, (init, filter, step))
}

/// `range.filter(x, p)`
pub(super) fn filter(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let name = variable(make, of.arg(0), IDENTIFIER)?;
    let init = make.list(&[]);
    // The element is the argument itself, so that it has the position of the name in the source.
    let step = appended(make, of.arg(0));
    collect(make, of.target, (name, None), (init, Some(of.arg(1)), step))
}

/// Returns the filter and the transformation that follow two variables.
fn transformation(of: &MacroCall<'_>) -> (Option<ExprId>, ExprId) {
    match of.args {
        [_, _, transform] => (None, *transform),
        _ => (Some(of.arg(2)), of.arg(3)),
    }
}

/// `range.transformList(k, v[, p], t)`
pub(super) fn transform_list(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let variables = two_variables(make, of)?;
    let (filter, transform) = transformation(of);
    let init = make.list(&[]);
    let step = appended(make, transform);
    collect(make, of.target, variables, (init, filter, step))
}

/// `range.transformMap(k, v[, p], t)` keeps the keys, `range.transformMapEntry(k, v[, p], {key: value})` does not.
pub(super) fn transform_map(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let variables = two_variables(make, of)?;
    let (filter, transform) = transformation(of);
    let init = make.empty_map();
    let accu = make.accu();
    let step = if of.name == "transformMap" {
        let key = make.ident(variables.0);
        make.function("cel.@mapInsert", &[accu, key, transform])
    } else {
        make.function("cel.@mapInsert", &[accu, transform])
    };
    collect(make, of.target, variables, (init, filter, step))
}

/// `list.sortBy(x, key)`: computes the keys of all elements, then sorts.
pub(super) fn sort_by(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    if matches!(make.tree().expr(of.target), Expr::Literal(_) | Expr::Map(_) | Expr::Message { .. }) {
        let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return Err(make.error(of.target, message));
    }
    let input = make.name("@__sortBy_input__");
    let range = make.ident(input);
    let keys = map(make, &MacroCall { target: range, ..*of })?;
    let list = make.ident(input);
    let sorted = make.member(list, "@sortByAssociatedKeys", &[keys]);
    Ok(bound(make, input, of.target, sorted))
}

/// Returns the name that an argument is.
fn simple_name(make: &Factory<'_, '_>, arg: ExprId, expected: &str) -> Result<Name, SyntaxError> {
    match make.tree().expr(arg) {
        Expr::Ident { name, rooted: false } => Ok(name),
        _ => Err(make.error(arg, expected)),
    }
}

/// Adds a comprehension over nothing whose value is `body`, in which `variable` is `init`.
pub(super) fn bound(make: &mut Factory<'_, '_>, variable: Name, init: ExprId, body: ExprId) -> ExprId {
    let binding = Comprehension {
        iter_range: make.list(&[]),
        iter_var: make.name(UNUSED),
        iter_var2: None,
        accu_var: variable,
        accu_init: init,
        loop_condition: make.literal(Literal::Bool(false)),
        loop_step: make.ident(variable),
        result: body,
    };
    make.comprehension(binding)
}

/// `has(e.f)`
pub(super) fn has(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    match make.tree().expr(of.arg(0)) {
        Expr::Select { operand, field, selection: Selection::Plain | Selection::Test } => {
            Ok(make.select(Expr::Select { operand, field, selection: Selection::Test }))
        }
        _ => Err(make.error(of.arg(0), "invalid argument to has() macro")),
    }
}

/// `cel.bind(x, init, body)`
pub(super) fn bind(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let name = simple_name(make, of.arg(0), "cel.bind() variable names must be simple identifiers")?;
    Ok(bound(make, name, of.arg(1), of.arg(2)))
}

/// `cel.block([ … ], body)`: values that later ones and the body refer to by `cel.index(n)`.
pub(super) fn block(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    if !matches!(make.tree().expr(of.arg(0)), Expr::List(_)) {
        return Err(make.error(of.arg(0), "cel.block requires the first arg to be a list literal"));
    }
    Ok(make.function("cel.@block", of.args))
}

fn natural(make: &Factory<'_, '_>, arg: ExprId) -> Option<i64> {
    match make.tree().expr(arg) {
        Expr::Literal(Literal::Int(int)) if int >= 0 => Some(int),
        _ => None,
    }
}

/// `cel.index(n)`
pub(super) fn index(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let Some(index) = natural(make, of.arg(0)) else {
        return Err(make.error(of.arg(0), "cel.index requires a single non-negative int constant arg"));
    };
    let name = make.name(&format!("@index{index}"));
    Ok(make.ident(name))
}

/// `cel.iterVar(depth, n)`, `cel.accuVar(depth, n)`
pub(super) fn loop_variable(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let wanted = || format!("cel.{} requires two non-negative int constant args", of.name);
    let depth = natural(make, of.arg(0)).ok_or_else(|| make.error(of.arg(0), wanted()))?;
    let unique = natural(make, of.arg(1)).ok_or_else(|| make.error(of.arg(1), wanted()))?;
    let prefix = if of.name == "iterVar" { "@it" } else { "@ac" };
    let name = make.name(&format!("{prefix}:{depth}:{unique}"));
    Ok(make.ident(name))
}

/// `optional.optMap(x, t)`, `optional.optFlatMap(x, t)`: the binding of the value has a copy of the optional.
pub(super) fn opt_map(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let name = simple_name(make, of.arg(0), &format!("{}() variable name must be a simple identifier", of.name))?;
    let has_value = make.member(of.target, "hasValue", &[]);
    let copy = make.copy(of.target);
    let value = make.member(copy, "value", &[]);
    let mapped = bound(make, name, value, of.arg(1));
    let some = if of.name == "optMap" { make.function("optional.of", &[mapped]) } else { mapped };
    let none = make.function("optional.none", &[]);
    Ok(make.operator(Operator::Conditional, &[has_value, some, none]))
}

/// `proto.getExt(message, name)`, `proto.hasExt(message, name)`: not supported, for there are no protobuf messages.
pub(super) fn extension(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    Err(make.error(of.target, format!("proto.{}() is unsupported: there are no protobuf messages", of.name)))
}

/// `math.least(…)`, `math.greatest(…)`
pub(super) fn extreme(make: &mut Factory<'_, '_>, of: &MacroCall<'_>) -> Expansion {
    let function = if of.name == "least" { "math.@min" } else { "math.@max" };
    let name = of.name;
    match of.args {
        [] => Err(make.error(of.target, format!("math.{name}() requires at least one argument"))),
        [one] if is_list_of_numbers(make, *one) || may_be_number(make, *one) => Ok(make.function(function, &[*one])),
        [one] => Err(make.error(*one, format!("math.{name}() invalid single argument value"))),
        all => {
            if let Some(&wrong) = all.iter().find(|&&arg| !may_be_number(make, arg)) {
                let message = format!("math.{name}() simple literal arguments must be numeric");
                return Err(make.error(wrong, message));
            }
            match all {
                [_, _] => Ok(make.function(function, all)),
                _ => {
                    let list = make.list(all);
                    Ok(make.function(function, &[list]))
                }
            }
        }
    }
}

/// Returns `true` unless an argument is visibly not a number.
fn may_be_number(make: &Factory<'_, '_>, arg: ExprId) -> bool {
    match make.tree().expr(arg) {
        Expr::Literal(literal) => matches!(literal, Literal::Int(_) | Literal::Uint(_) | Literal::Double(_)),
        Expr::List(_) | Expr::Map(_) | Expr::Message { .. } => false,
        _ => true,
    }
}

/// Returns `true` for a list constructor whose elements may be numbers. It must not be empty.
fn is_list_of_numbers(make: &Factory<'_, '_>, arg: ExprId) -> bool {
    let Expr::List(run) = make.tree().expr(arg) else { return false };
    !run.is_empty() && make.tree().elements(run).iter().all(|element| may_be_number(make, element.value))
}
