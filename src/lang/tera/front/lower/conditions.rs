//! Expressions as conditions, and constant folding for results that constants can hold.
//!
//! In the reference, conditions follow other rules than values. A variable swallows every error: it is false if it is
//! undefined or a filter fails. Numbers, strings, tests and calls ignore their filters. A function must return a
//! boolean, and a filtered concatenation a string.

use std::borrow::Cow;

use super::Lower;
use crate::Rules;
use crate::arithmetic::{Num, calculate, compare};
use crate::syntax::tree::{CompareOp, Expr, ExprKind};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::markup::HTML;
use dropforge_base::stdlib::numbers::write_plain_float;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{BinaryOp, EscapeMode, Op, Role};
use dropforge_machine::compiler::{Constant, Fold, Label};

impl<'a> Lower<'_, 'a> {
    /// Jumps to `label` if the condition is `when`.
    pub(super) fn branch(&mut self, expr: &'a Expr<'a>, when: bool, label: Label) -> Result<()> {
        self.deeper(expr.span, |lower| lower.branch_here(expr, when, label))
    }

    fn branch_here(&mut self, expr: &'a Expr<'a>, when: bool, label: Label) -> Result<()> {
        let (parts, decides) = match expr.kind {
            ExprKind::And(parts) => (parts, false),
            ExprKind::Or(parts) => (parts, true),
            _ => {
                let opposite = self.bare_condition(expr)?;
                let op = if when != opposite { Op::JumpIf } else { Op::JumpUnless };
                self.emitter.jump(op, label);
                return Ok(());
            }
        };
        if decides == when {
            return parts.iter().try_for_each(|part| self.branch(part, when, label));
        }
        let Some((last, others)) = parts.split_last() else { return Ok(()) };
        let skip = self.emitter.new_label();
        for part in others {
            self.branch(part, decides, skip)?;
        }
        self.branch(last, when, label)?;
        self.emitter.bind(skip);
        Ok(())
    }

    /// Pushes the result of `and` and `or` as a boolean.
    pub(super) fn decided(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        let height = self.emitter.height();
        let (no, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.branch(expr, false, no)?;
        self.emitter.constant(Constant::Bool(true));
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(no);
        self.emitter.set_height(height);
        self.emitter.constant(Constant::Bool(false));
        self.emitter.bind(end);
        Ok(())
    }

    /// Pushes a value whose truth decides the condition. Returns `true` if the condition is its negation.
    fn bare_condition(&mut self, expr: &'a Expr<'a>) -> Result<bool> {
        self.at(expr.span);
        match expr.kind {
            ExprKind::Path(path) if expr.filters.is_empty() => self.peek_path(path)?,
            ExprKind::Path(_) => {
                let protect = self.emitter.begin_protect();
                self.unfinished(expr)?;
                self.emitter.end_protect(protect);
                return Ok(false);
            }
            ExprKind::And(_) | ExprKind::Or(_) => self.decided(expr)?,
            ExprKind::Compare(op, sides) => {
                self.compare(op, sides, expr.negated)?;
                self.at(expr.span);
                return Ok(false);
            }
            ExprKind::Math(_) | ExprKind::Int(_) | ExprKind::Float(_) => self.number(expr)?,
            ExprKind::In { sides, negated } => self.contains(sides, negated, expr.span)?,
            ExprKind::Test { path, name, args, negated } => self.test(path, name, args, negated, expr.span)?,
            ExprKind::Bool(b) => self.emitter.constant(Constant::Bool(b)),
            ExprKind::Str(text) => self.emitter.constant(Constant::Bool(!text.is_empty())),
            ExprKind::Call(call) => {
                self.call_function(call)?;
                self.emitter.op(Op::As, &[Role::Answer as u32]);
            }
            ExprKind::Concat(_) if expr.negated => {
                let message = "a concatenation cannot be negated as a condition";
                self.fail_value(expr.span, Code::TypeMismatch, message);
            }
            ExprKind::Concat(_) => {
                self.unfinished(expr)?;
                self.emitter.op(Op::As, &[Role::Text as u32]);
            }
            ExprKind::MacroCall(namespace, call) => self.capture_macro(namespace, call)?,
            ExprKind::List(_) => self.fail_value(expr.span, Code::TypeMismatch, "a list literal is no condition"),
        }
        Ok(expr.negated)
    }

    /// Pushes the result of a comparison, or of `not` before it. A number and a value of another type are neither equal
    /// nor unequal, and `not` does not change that.
    pub(super) fn compare(&mut self, op: CompareOp, sides: &'a [Expr<'a>; 2], negated: bool) -> Result<()> {
        let [left, right] = sides;
        let (op, negated) = match (op, negated) {
            (CompareOp::Eq, true) => (CompareOp::Ne, false),
            (CompareOp::Ne, true) => (CompareOp::Eq, false),
            other => other,
        };
        match op {
            // Both sides are escaped before they are compared. If both would be, the result is the same without
            // escaping.
            CompareOp::Eq | CompareOp::Ne if self.escapes(left) && self.escapes(right) => {
                self.unfinished(left)?;
                self.unfinished(right)?;
            }
            CompareOp::Eq | CompareOp::Ne => {
                self.value(left)?;
                self.value(right)?;
            }
            _ => {
                self.operand(left)?;
                self.operand(right)?;
            }
        }
        self.at(left.span.to(right.span));
        self.emitter.binary(match op {
            CompareOp::Eq => BinaryOp::Eq,
            CompareOp::Ne => BinaryOp::Ne,
            CompareOp::Lt => BinaryOp::Lt,
            CompareOp::Le => BinaryOp::Le,
            CompareOp::Gt => BinaryOp::Gt,
            CompareOp::Ge => BinaryOp::Ge,
        });
        if negated {
            self.emitter.op(Op::Not, &[]);
        }
        Ok(())
    }

    /// Pushes the result of `in` or `not in`.
    pub(super) fn contains(&mut self, sides: &'a [Expr<'a>; 2], negated: bool, span: Span) -> Result<()> {
        let [needle, haystack] = sides;
        self.unescaped(|lower| {
            lower.value(needle)?;
            lower.value(haystack)
        })?;
        self.at(span);
        self.emitter.binary(BinaryOp::In);
        if negated {
            self.emitter.op(Op::Not, &[]);
        }
        Ok(())
    }
}

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
