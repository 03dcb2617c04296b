//! The emitter's constant folding, which is off for operators: they are folded once, on the tree.

use crate::bytecode::BinaryOp;
use crate::compiler::{Constant, Fold};
use crate::dialect::cel::semantics::Rules;

impl Fold for Rules {
    fn binary(&self, _: BinaryOp, _: &Constant<'_>, _: &Constant<'_>) -> Option<Constant<'static>> {
        None
    }
}
