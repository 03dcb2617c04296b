//! What is computed when a source is compiled: what cannot fail, on whole numbers and texts.

use super::semantics::Rules;
use crate::bytecode::{BinaryOp, EscapeMode};
use crate::compiler::{Constant, Fold, plain_text, whole_numbers};

impl Fold for Rules {
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        whole_numbers(op, a, b)
    }

    fn text(&self, constant: &Constant<'_>, _: EscapeMode) -> Option<String> {
        plain_text(constant)
    }
}
