//! What the language says of constants while it compiles: nothing, for it has none.

use super::semantics::Rules;
use crate::bytecode::{BinaryOp, EscapeMode};
use crate::compiler::{Constant, Fold};

impl Fold for Rules {
    fn binary(&self, _: BinaryOp, _: &Constant<'_>, _: &Constant<'_>) -> Option<Constant<'static>> {
        None
    }

    fn text(&self, _: &Constant<'_>, _: EscapeMode) -> Option<String> {
        None
    }
}
