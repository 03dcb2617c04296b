//! Macros that test, bind and name values.

use super::super::tree::{Expr, ExprId, Literal, Operator, Selection};
use super::factory::Factory;
use super::loops::{bound, simple_name};
use super::{Expanded, Given};

/// Whether `target` is the name of a macro's namespace.
pub(super) fn is_namespace(make: &Factory<'_, '_>, target: ExprId, namespace: &str) -> bool {
    match make.tree().expr(target) {
        Expr::Ident { name, rooted: false } => make.tree().name(name) == namespace,
        _ => false,
    }
}

/// `has(e.f)`
pub(super) fn has(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    match make.tree().expr(of.arg(0)) {
        Expr::Select { operand, field, selection: Selection::Plain | Selection::Test } => {
            Ok(Some(make.select(Expr::Select { operand, field, selection: Selection::Test })))
        }
        _ => Err(make.fault(of.arg(0), "invalid argument to has() macro")),
    }
}

/// `cel.bind(x, init, body)`
pub(super) fn bind(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    if !is_namespace(make, of.target, "cel") {
        return Ok(None);
    }
    let name = simple_name(make, of.arg(0), "cel.bind() variable names must be simple identifiers")?;
    Ok(Some(bound(make, name, of.arg(1), of.arg(2))))
}

/// `cel.block([ … ], body)`: values that the ones behind them and the body name by `cel.index(n)`.
pub(super) fn block(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    if !is_namespace(make, of.target, "cel") {
        return Ok(None);
    }
    if !matches!(make.tree().expr(of.arg(0)), Expr::List(_)) {
        return Err(make.fault(of.arg(0), "cel.block requires the first arg to be a list literal"));
    }
    Ok(Some(make.function("cel.@block", of.args)))
}

fn natural(make: &Factory<'_, '_>, arg: ExprId) -> Option<i64> {
    match make.tree().expr(arg) {
        Expr::Literal(Literal::Int(int)) if int >= 0 => Some(int),
        _ => None,
    }
}

/// `cel.index(n)`
pub(super) fn index(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    if !is_namespace(make, of.target, "cel") {
        return Ok(None);
    }
    let Some(index) = natural(make, of.arg(0)) else {
        return Err(make.fault(of.arg(0), "cel.index requires a single non-negative int constant arg"));
    };
    let name = make.name(&format!("@index{index}"));
    Ok(Some(make.ident(name)))
}

/// `cel.iterVar(depth, n)`, `cel.accuVar(depth, n)`
pub(super) fn loop_variable(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    if !is_namespace(make, of.target, "cel") {
        return Ok(None);
    }
    let wanted = || format!("cel.{} requires two non-negative int constant args", of.name);
    let depth = natural(make, of.arg(0)).ok_or_else(|| make.fault(of.arg(0), wanted()))?;
    let unique = natural(make, of.arg(1)).ok_or_else(|| make.fault(of.arg(1), wanted()))?;
    let prefix = if of.name == "iterVar" { "@it" } else { "@ac" };
    let name = make.name(&format!("{prefix}:{depth}:{unique}"));
    Ok(Some(make.ident(name)))
}

/// The value of an optional bound to a name, and the expression that sees it. The optional is copied: whether it has a
/// value is asked before.
fn unwrapped(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Result<(ExprId, ExprId), super::Fault> {
    let name = simple_name(make, of.arg(0), &format!("{}() variable name must be a simple identifier", of.name))?;
    let has_value = make.member(of.target, "hasValue", &[]);
    let copy = make.copy(of.target);
    let value = make.member(copy, "value", &[]);
    Ok((has_value, bound(make, name, value, of.arg(1))))
}

/// `optional.optMap(x, t)`
pub(super) fn opt_map(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let (has_value, value) = unwrapped(make, of)?;
    let some = make.function("optional.of", &[value]);
    let none = make.function("optional.none", &[]);
    Ok(Some(make.operator(Operator::Conditional, &[has_value, some, none])))
}

/// `optional.optFlatMap(x, t)`
pub(super) fn opt_flat_map(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    let (has_value, value) = unwrapped(make, of)?;
    let none = make.function("optional.none", &[]);
    Ok(Some(make.operator(Operator::Conditional, &[has_value, value, none])))
}

/// `proto.getExt(message, name)`, `proto.hasExt(message, name)`: there are no protobuf messages here.
pub(super) fn extension(make: &mut Factory<'_, '_>, of: &Given<'_>) -> Expanded {
    if !is_namespace(make, of.target, "proto") {
        return Ok(None);
    }
    Err(make.fault(of.target, format!("proto.{}() is unsupported: there are no protobuf messages", of.name)))
}
