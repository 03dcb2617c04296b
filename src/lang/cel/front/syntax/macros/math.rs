//! `math.least` and `math.greatest`.

use super::factory::{Expansion, Factory, MacroCall};
use crate::syntax::tree::{Expr, ExprId, Literal};

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
