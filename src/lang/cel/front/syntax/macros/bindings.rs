//! Macros that test, bind and name values.

use super::factory::{Expansion, Factory, MacroCall, UNUSED};
use crate::syntax::error::SyntaxError;
use crate::syntax::tree::{Comprehension, Expr, ExprId, Literal, Name, Operator, Selection};

/// Returns the name that an argument is.
pub(super) fn simple_name(make: &Factory<'_, '_>, arg: ExprId, expected: &str) -> Result<Name, SyntaxError> {
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
