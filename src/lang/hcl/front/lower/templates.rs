//! Templates, as values and as the text of a file.

use super::Lowering;
use crate::syntax::{Expr, ExprId, ForId, Operator, Run, UnaryOp};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{EscapeMode, Op, Role};
use dropforge_machine::compiler::Constant;

impl Lowering<'_> {
    /// Pushes the text of a template.
    pub(super) fn template(&mut self, span: Span, parts: Run) -> Result<()> {
        match self.tree.ids(parts) {
            [] => self.emitter.constant(Constant::Str("".into())),
            &[part] if matches!(self.tree.expr(part), Expr::Text(_)) => self.value(part)?,
            parts => self.joined(span, parts)?,
        }
        Ok(())
    }

    /// Pushes the text of parts of a template.
    pub(super) fn joined(&mut self, span: Span, parts: &[ExprId]) -> Result<()> {
        parts.iter().try_for_each(|&part| self.part(part))?;
        self.at(span);
        self.emitter.join(u32::try_from(parts.len()).unwrap_or(u32::MAX));
        self.emitter.details(parts.iter().map(|&part| self.tree.span(part)));
        Ok(())
    }

    /// Writes a template file, or a part of one.
    pub(super) fn write(&mut self, id: ExprId) -> Result<()> {
        let node = self.tree.node(id);
        self.at(node.span);
        match node.expr {
            Expr::Text(text) => self.emitter.text(self.tree.str(text)),
            Expr::Template(parts) => {
                for &part in self.tree.ids(parts) {
                    self.write(part)?;
                    self.emitter.check_size()?;
                }
            }
            Expr::Wrapped(inner) => self.write_value(inner)?,
            Expr::Joined(of) => match self.tree.expr(of) {
                Expr::For(id) => self.write_loop(self.span(of), id)?,
                _ => self.write_value(of)?,
            },
            Expr::Conditional { condition, then, otherwise } if self.is_text(then) && self.is_text(otherwise) => {
                self.write_either(condition, [then, otherwise])?;
            }
            _ => self.write_value(id)?,
        }
        Ok(())
    }

    /// Returns `true` if an expression is a template, whose value is always text.
    fn is_text(&self, id: ExprId) -> bool {
        matches!(self.tree.expr(id), Expr::Template(_) | Expr::Text(_))
    }

    fn write_value(&mut self, id: ExprId) -> Result<()> {
        let node = self.tree.node(id);
        if let Expr::Traversal { root, steps, .. } = node.expr {
            let root = self.root(root);
            self.path(node.span, root, steps, |emitter, path| emitter.write_path(path, EscapeMode::Plain));
        } else {
            self.value(id)?;
            self.at(node.span);
            self.emitter.write(EscapeMode::Plain);
        }
        Ok(())
    }

    /// Returns `true` if the value of an expression can only be a boolean.
    fn is_logical(&self, id: ExprId) -> bool {
        use Operator::{Add, Div, Mul, Rem, Sub};
        match self.tree.expr(id) {
            Expr::Bool(_) => true,
            Expr::Paren(inner) | Expr::Wrapped(inner) => self.is_logical(inner),
            Expr::Binary { op: Add | Sub | Mul | Div | Rem, .. } => false,
            Expr::Binary { .. } | Expr::Unary { op: UnaryOp::Not, .. } => true,
            _ => false,
        }
    }

    fn write_either(&mut self, condition: ExprId, [then, otherwise]: [ExprId; 2]) -> Result<()> {
        let (other, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.value(condition)?;
        self.at(self.span(condition));
        if !self.is_logical(condition) {
            self.emitter.op(Op::As, &[Role::Answer as u32]);
        }
        self.emitter.jump(Op::JumpUnless, other);
        self.write(then)?;
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(other);
        self.write(otherwise)?;
        self.emitter.bind(end);
        Ok(())
    }

    fn write_loop(&mut self, span: Span, id: ForId) -> Result<()> {
        let Some(of) = self.tree.for_expr(id) else { return Ok(()) };
        self.value(of.collection)?;
        let collection = self.emitter.store();
        self.iterations(span, of, collection, |lowering| lowering.write(of.value))?;
        self.emitter.free(collection);
        Ok(())
    }
}
