//! Expressions as values.
//!
//! Filters and `not` apply. If escaping is on, text from a literal, a variable, a function or a filter is escaped,
//! unless the last filter is `safe`.

use super::paths::DUMP;
use super::program::Lower;
use crate::builtins::marks;
use crate::syntax::tree::{Expr, ExprKind, MathOp, Path, Step};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{BinaryOp, Op, Role};
use dropforge_machine::compiler::Constant;

/// Returns `true` if a filter is only a marker, not a function.
fn is_mark(filter: &str) -> bool {
    marks().iter().any(|mark| mark.name == filter)
}

impl<'a> Lower<'_, 'a> {
    /// Returns `true` if the text of an expression is escaped here.
    pub(super) fn escapes(&self, expr: &Expr<'_>) -> bool {
        if !self.escape || expr.negated || expr.filters.last().is_some_and(|last| last.name.text == "safe") {
            return false;
        }
        if expr.filters.iter().any(|filter| !is_mark(filter.name.text)) {
            return true;
        }
        match expr.kind {
            ExprKind::Str(_) | ExprKind::Call(_) => true,
            ExprKind::Path(path) => path.text != DUMP,
            ExprKind::Concat(parts) => parts.iter().any(|part| matches!(part.kind, ExprKind::Call(_))),
            _ => false,
        }
    }

    /// Pushes an expression's value.
    pub(super) fn value(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.unfinished(expr)?;
        if self.escapes(expr) {
            self.emitter.op(Op::As, &[Role::Html as u32]);
        }
        Ok(())
    }

    /// Pushes an expression's value before it is escaped.
    pub(super) fn unfinished(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.deeper(expr.span, |lower| lower.unfinished_here(expr))
    }

    fn unfinished_here(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.at(expr.span);
        match expr.kind {
            ExprKind::Path(path) => return self.path_value(expr, path),
            ExprKind::And(_) | ExprKind::Or(_) => return self.decided(expr),
            // The reference negates twice: as a condition and as a value.
            ExprKind::Compare(op, sides) => {
                self.compare(op, sides, expr.negated)?;
                if expr.negated {
                    self.emitter.op(Op::Not, &[]);
                }
                return Ok(());
            }
            ExprKind::Str(text) => self.emitter.constant(Constant::Str(text.into())),
            ExprKind::Int(n) => self.emitter.constant(Constant::Int(n)),
            ExprKind::Float(n) => self.emitter.constant(Constant::Float(n)),
            ExprKind::Bool(b) => self.emitter.constant(Constant::Bool(b)),
            ExprKind::Concat(parts) => self.concat(parts, expr.span)?,
            ExprKind::Math(steps) => {
                self.math(steps, expr.span)?;
                let sum =
                    |step: &Step<'_>| matches!(step, Step::Apply(MathOp::Add | MathOp::Sub, _) | Step::Operand(_));
                if !steps.iter().all(sum) {
                    self.emitter.op(Op::As, &[Role::Value as u32]);
                }
            }
            ExprKind::In { sides, negated } => self.contains(sides, negated, expr.span)?,
            ExprKind::Test { path, name, args, negated } => self.test(path, name, args, negated, expr.span)?,
            ExprKind::Call(call) => self.call_function(call)?,
            ExprKind::MacroCall(namespace, call) => self.capture_macro(namespace, call)?,
            ExprKind::List(items) => self.list(items, expr.span)?,
        }
        self.filters_and_not(expr)
    }

    pub(super) fn filters_and_not(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        for filter in expr.filters {
            match marks().iter().find(|mark| mark.name == filter.name.text) {
                Some(mark) => self.lint_ignored(mark, filter),
                None => self.apply_filter(filter)?,
            }
        }
        if expr.negated {
            self.emitter.op(Op::Not, &[]);
        }
        Ok(())
    }

    fn list(&mut self, items: &'a [Expr<'a>], span: Span) -> Result<()> {
        for item in items {
            self.value(item)?;
            self.emitter.check_size()?;
        }
        self.at(span);
        self.emitter.op(Op::List, &[u32::try_from(items.len()).unwrap_or(u32::MAX)]);
        Ok(())
    }

    fn concat(&mut self, parts: &'a [Expr<'a>], span: Span) -> Result<()> {
        for part in parts {
            self.at(part.span);
            match part.kind {
                ExprKind::Path(path) => self.load_path(path)?,
                ExprKind::Call(call) => self.call_function(call)?,
                ExprKind::Str(text) => self.emitter.constant(Constant::Str(text.into())),
                ExprKind::Int(n) => self.emitter.constant(Constant::Int(n)),
                ExprKind::Float(n) => self.emitter.constant(Constant::Str(n.to_string().into())),
                _ => self.fail_value(part.span, Code::TypeMismatch, "this cannot be joined with `~`"),
            }
            self.emitter.check_size()?;
        }
        self.at(span);
        self.emitter.join(u32::try_from(parts.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    // Arithmetic

    /// Pushes the result of a calculation, or NaN if it is not finite.
    pub(super) fn math(&mut self, steps: &'a [Step<'a>], span: Span) -> Result<()> {
        for step in steps {
            match step {
                Step::Operand(operand) => self.operand(operand)?,
                Step::Apply(op, _) => {
                    self.at(span);
                    self.emitter.binary(operator(*op));
                }
            }
            self.emitter.check_size()?;
        }
        Ok(())
    }

    /// Pushes an operand of a calculation or of an ordering such as `<`.
    pub(super) fn operand(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        if expr.filters.is_empty() { self.number(expr) } else { self.value(expr) }
    }

    /// Pushes an expression as a number, without its filters and `not`.
    pub(super) fn number(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.at(expr.span);
        let what = match expr.kind {
            ExprKind::Path(path) => return self.load_path(path),
            ExprKind::Math(steps) => return self.math(steps, expr.span),
            ExprKind::Call(call) => return self.call_function(call),
            ExprKind::Int(n) => return self.constant(Constant::Int(n)),
            ExprKind::Float(n) => return self.constant(Constant::Float(n)),
            ExprKind::Str(text) => format!("the text `{text}`"),
            ExprKind::Bool(b) => format!("the boolean `{b}`"),
            ExprKind::Concat(_) => format!("the concatenation `{}`", self.source().slice(expr.span)),
            ExprKind::Test { name, .. } => format!("the test `{}`", name.text),
            ExprKind::MacroCall(_, call) => format!("the text of the macro `{}`", call.name.text),
            _ => "a condition or list".to_owned(),
        };
        self.fail_value(expr.span, Code::TypeMismatch, format!("{what} cannot be calculated with: it is not a number"));
        Ok(())
    }

    fn constant(&mut self, constant: Constant<'a>) -> Result<()> {
        self.emitter.constant(constant);
        Ok(())
    }

    // Variables

    fn path_value(&mut self, expr: &'a Expr<'a>, path: &'a Path<'a>) -> Result<()> {
        if path.text == DUMP {
            self.dump();
            return self.filters_and_not(expr);
        }
        let default = expr.filters.first().filter(|first| first.name.text == "default");
        if let Some(filter) = default {
            let there = self.emitter.new_label();
            self.peek_path(path)?;
            self.emitter.jump(Op::JumpPresent, there);
            match filter.arg("value") {
                Some(value) => self.value(value)?,
                None => {
                    let message = "filter `default` needs the argument `value`";
                    self.fail_value(filter.span, Code::MissingArgument, message);
                }
            }
            self.emitter.bind(there);
            return self.filters_and_not(expr);
        }
        if expr.filters.first().is_some_and(|first| self.takes_missing(first)) {
            self.peek_path(path)?;
            return self.filters_and_not(expr);
        }
        if !expr.negated {
            self.load_path(path)?;
            return self.filters_and_not(expr);
        }
        if expr.filters.iter().all(|filter| is_mark(filter.name.text)) {
            self.peek_path(path)?;
            self.emitter.op(Op::Not, &[]);
            return Ok(());
        }
        self.negated_and_filtered(expr, path)
    }

    /// Pushes `not path | filter`. A missing value is not filtered, and its negation is true.
    fn negated_and_filtered(&mut self, expr: &'a Expr<'a>, path: &'a Path<'a>) -> Result<()> {
        let height = self.emitter.height();
        let (missing, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.peek_path(path)?;
        self.emitter.undefined();
        self.emitter.binary(BinaryOp::Eq);
        self.emitter.jump(Op::JumpIf, missing);
        self.load_path(path)?;
        self.filters_and_not(expr)?;
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(missing);
        self.emitter.set_height(height);
        self.emitter.constant(Constant::Bool(true));
        self.emitter.bind(end);
        Ok(())
    }
}

fn operator(op: MathOp) -> BinaryOp {
    match op {
        MathOp::Add => BinaryOp::Add,
        MathOp::Sub => BinaryOp::Sub,
        MathOp::Mul => BinaryOp::Mul,
        MathOp::Div => BinaryOp::Div,
        MathOp::Rem => BinaryOp::Rem,
    }
}
