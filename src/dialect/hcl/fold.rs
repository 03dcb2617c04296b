//! What is computed when a source is compiled: what cannot fail, on whole numbers and texts.

use super::semantics::Rules;
use crate::bytecode::{BinaryOp, EscapeMode};
use crate::compiler::{Constant, Fold};

impl Fold for Rules {
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        let (Constant::Int(a), Constant::Int(b)) = (a, b) else { return None };
        Some(match op {
            BinaryOp::Add => Constant::Int(a.checked_add(*b)?),
            BinaryOp::Sub => Constant::Int(a.checked_sub(*b)?),
            BinaryOp::Mul => Constant::Int(a.checked_mul(*b)?),
            BinaryOp::Eq => Constant::Bool(a == b),
            BinaryOp::Ne => Constant::Bool(a != b),
            BinaryOp::Lt => Constant::Bool(a < b),
            BinaryOp::Le => Constant::Bool(a <= b),
            BinaryOp::Gt => Constant::Bool(a > b),
            BinaryOp::Ge => Constant::Bool(a >= b),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::In => return None,
        })
    }

    fn text(&self, constant: &Constant<'_>, _: EscapeMode) -> Option<String> {
        match constant {
            Constant::Str(text) => Some(text.to_string()),
            Constant::Int(n) => Some(n.to_string()),
            Constant::Bool(truth) => Some(truth.to_string()),
            Constant::Null | Constant::Float(_) => None,
        }
    }
}
