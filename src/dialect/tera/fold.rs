//! What the language says of constants while it compiles: as it would at run time, or nothing.

use super::arithmetic::{Num, calculate};
use super::semantics::Rules;
use crate::bytecode::{BinaryOp, EscapeMode};
use crate::compiler::{Constant, Fold};
use crate::stdlib::markup::HTML;
use crate::stdlib::numbers::write_plain_float;

impl Fold for Rules {
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        let (a, b) = (constant_number(a)?, constant_number(b)?);
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                match calculate(op, a, b).ok()? {
                    Num::Int(n) => Some(Constant::Int(n)),
                    Num::Float(n) if !n.is_nan() => Some(Constant::Float(n)),
                    Num::Float(_) | Num::Uint(_) => None,
                }
            }
            BinaryOp::Eq => Some(Constant::Bool(a.float() == b.float())),
            BinaryOp::Ne => Some(Constant::Bool(a.float() != b.float())),
            BinaryOp::Lt => Some(Constant::Bool(a.float() < b.float())),
            BinaryOp::Le => Some(Constant::Bool(a.float() <= b.float())),
            BinaryOp::Gt => Some(Constant::Bool(a.float() > b.float())),
            BinaryOp::Ge => Some(Constant::Bool(a.float() >= b.float())),
            BinaryOp::In => None,
        }
    }

    fn text(&self, constant: &Constant<'_>, mode: EscapeMode) -> Option<String> {
        let mut text = String::new();
        match (constant, mode) {
            (Constant::Str(s), EscapeMode::Html) => return Some(HTML.escape(s)),
            (Constant::Str(s), _) => text.push_str(s),
            (Constant::Int(n), _) => text.push_str(itoa::Buffer::new().format(*n)),
            (_, EscapeMode::Piece) => return None,
            (Constant::Float(n), _) => write_plain_float(*n, &mut text).ok()?,
            (Constant::Bool(b), _) => text.push_str(if *b { "true" } else { "false" }),
            (Constant::Null, _) => {}
        }
        Some(text)
    }
}

fn constant_number(constant: &Constant<'_>) -> Option<Num> {
    match constant {
        Constant::Int(n) => Some(Num::Int(*n)),
        Constant::Float(n) => Some(Num::Float(*n)),
        _ => None,
    }
}
