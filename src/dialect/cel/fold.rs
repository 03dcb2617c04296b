//! What is computed when an expression is compiled: what cannot fail, on whole numbers and texts.

use super::semantics::Rules;
use crate::bytecode::{BinaryOp, EscapeMode};
use crate::compiler::{Constant, Fold, plain_text, whole_numbers};

impl Fold for Rules {
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        match (op, a, b) {
            (BinaryOp::Div, Constant::Int(a), Constant::Int(b)) => a.checked_div(*b).map(Constant::Int),
            (BinaryOp::Rem, Constant::Int(a), Constant::Int(b)) => a.checked_rem(*b).map(Constant::Int),
            _ => whole_numbers(op, a, b),
        }
    }

    fn text(&self, constant: &Constant<'_>, _: EscapeMode) -> Option<String> {
        plain_text(constant)
    }
}
