//! Constants, and what a language says of combining them before anything runs.

use std::borrow::Cow;

use crate::bytecode::{BinaryOp, EscapeMode};

/// A value known when the template is compiled.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant<'c> {
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A float.
    Float(f64),
    /// Text.
    Str(Cow<'c, str>),
}

/// What a language says of constants. `None` leaves the work, or the error, to the render.
pub trait Fold {
    /// The result of an operator.
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>>;

    /// The text of a constant.
    fn text(&self, constant: &Constant<'_>, mode: EscapeMode) -> Option<String>;
}
