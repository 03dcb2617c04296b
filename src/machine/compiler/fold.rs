//! Constants, and a language's rules for combining them at compile time.

use std::borrow::Cow;

use crate::bytecode::{BinaryOp, EscapeMode};
use dropforge_value::Value;

/// A value known at compile time.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant<'c> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// Text.
    Str(Cow<'c, str>),
}

/// A language's constant folding. `None` leaves the operation, or its error, to the render.
///
/// By default, operators on integers are folded if the result is the same in every language.
pub trait Fold {
    /// Applies an operator.
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        fold_integers(op, a, b)
    }

    /// Converts a constant to text.
    fn text<'c>(&self, constant: &Constant<'c>, _mode: EscapeMode) -> Option<Cow<'c, str>> {
        match constant {
            Constant::Str(text) => Some(text.clone()),
            Constant::Int(n) => Some(n.to_string().into()),
            Constant::Bool(truth) => Some(truth.to_string().into()),
            Constant::Null | Constant::Float(_) => None,
        }
    }
}

/// Applies an operator to two integers. Division is left to the languages, because it differs, and so is zero times a
/// negative number: zero may have a sign.
pub(crate) fn fold_integers(op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
    let (Constant::Int(a), Constant::Int(b)) = (a, b) else { return None };
    if op == BinaryOp::Mul && (*a == 0 || *b == 0) && (*a < 0 || *b < 0) {
        return None;
    }
    match op.of_integers(*a, *b)? {
        Value::Int(n) => Some(Constant::Int(n)),
        Value::Bool(truth) => Some(Constant::Bool(truth)),
        _ => None,
    }
}
