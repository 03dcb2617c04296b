//! Operators on whole numbers: what the languages have in common.

use super::isa::BinaryOp;

/// What an operator makes of two whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// A number.
    Number(i64),
    /// The answer of a comparison.
    Answer(bool),
}

impl BinaryOp {
    /// What the operator makes of two whole numbers, where that fits 64 bits. What a division gives differs between
    /// languages.
    #[inline(always)]
    pub fn of_whole(self, a: i64, b: i64) -> Option<Whole> {
        let number = match self {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mul => a.checked_mul(b),
            BinaryOp::Eq => return Some(Whole::Answer(a == b)),
            BinaryOp::Ne => return Some(Whole::Answer(a != b)),
            BinaryOp::Lt => return Some(Whole::Answer(a < b)),
            BinaryOp::Le => return Some(Whole::Answer(a <= b)),
            BinaryOp::Gt => return Some(Whole::Answer(a > b)),
            BinaryOp::Ge => return Some(Whole::Answer(a >= b)),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::In => None,
        };
        number.map(Whole::Number)
    }
}
