//! Constant folding, for results that constants can hold.

use std::borrow::Cow;

use crate::Rules;
use crate::arithmetic::{Num, calculate, compare};
use dropforge_base::stdlib::markup::HTML;
use dropforge_base::stdlib::numbers::write_plain_float;
use dropforge_machine::bytecode::{BinaryOp, EscapeMode};
use dropforge_machine::compiler::{Constant, Fold};

impl Fold for Rules {
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        let (a, b) = (number(a)?, number(b)?);
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                match calculate(op, a, b).ok()? {
                    Num::Int(n) => Some(Constant::Int(n)),
                    Num::Float(n) if !n.is_nan() => Some(Constant::Float(n)),
                    Num::Float(_) | Num::Uint(_) => None,
                }
            }
            _ => compare(op, a.float(), b.float()).map(Constant::Bool),
        }
    }

    fn text<'c>(&self, constant: &Constant<'c>, mode: EscapeMode) -> Option<Cow<'c, str>> {
        Some(match (constant, mode) {
            (Constant::Str(text), EscapeMode::Html) => HTML.escape(text).into(),
            (Constant::Str(text), _) => text.clone(),
            (Constant::Int(n), _) => n.to_string().into(),
            (_, EscapeMode::Piece) => return None,
            (Constant::Float(n), _) => {
                let mut text = String::new();
                write_plain_float(*n, &mut text).ok()?;
                text.into()
            }
            (Constant::Bool(truth), _) => truth.to_string().into(),
            (Constant::Null, _) => "".into(),
        })
    }
}

fn number(constant: &Constant<'_>) -> Option<Num> {
    match constant {
        Constant::Int(n) => Some(Num::Int(*n)),
        Constant::Float(n) => Some(Num::Float(*n)),
        _ => None,
    }
}
