//! Constants, and what a language says of combining them before anything runs.

use std::borrow::Cow;

use crate::bytecode::{BinaryOp, EscapeMode, Whole};

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

/// The result of an operator on whole numbers that fit 64 bits, in languages where it is one of these, too; what a
/// division gives differs between them.
pub fn whole_numbers(op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
    let (Constant::Int(a), Constant::Int(b)) = (a, b) else { return None };
    Some(match op.of_whole(*a, *b)? {
        Whole::Number(n) => Constant::Int(n),
        Whole::Answer(truth) => Constant::Bool(truth),
    })
}

/// The text of a text, a whole number or a truth value.
pub fn plain_text(constant: &Constant<'_>) -> Option<String> {
    match constant {
        Constant::Str(text) => Some(text.to_string()),
        Constant::Int(n) => Some(n.to_string()),
        Constant::Bool(truth) => Some(truth.to_string()),
        Constant::Null | Constant::Float(_) => None,
    }
}
