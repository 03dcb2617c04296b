//! Failed parts of expressions whose values do not show it.
//!
//! A failed computation has a value that says so. A template is not unknown because one of its parts failed, though,
//! nor is the element of a tuple because another one did. What depends on such a value reads the errors of its
//! evaluation.

use super::Lowering;
use crate::syntax::{Expr, ExprId, Operator};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::Op;

impl Lowering<'_> {
    /// Returns `true` if the evaluation of an expression can note errors and have a value that stands for no failure.
    pub(super) fn hides_errors(&self, mut id: ExprId) -> bool {
        loop {
            id = match self.tree.expr(id) {
                Expr::Paren(inner) | Expr::Wrapped(inner) | Expr::Key { inner, .. } => inner,
                Expr::Template(parts) => {
                    return self.tree.ids(parts).iter().any(|&part| !matches!(self.tree.expr(part), Expr::Text(_)));
                }
                Expr::Joined(_) | Expr::For(_) | Expr::Splat { .. } => return true,
                Expr::Tuple(items) => return self.tree.ids(items).iter().any(|&item| self.hides_errors(item)),
                Expr::Object(entries) => {
                    return self.tree.entries(entries).iter().any(|entry| self.hides_errors(entry.value));
                }
                Expr::Index { collection, key, .. } if self.is_constructor(collection) || self.hides_errors(key) => {
                    return true;
                }
                Expr::Relative { source, .. } if self.is_constructor(source) => return true,
                Expr::Index { collection: source, .. } | Expr::Relative { source, .. } => source,
                Expr::Conditional { condition, then, otherwise } => {
                    if self.hides_errors(condition) || self.hides_errors(then) {
                        return true;
                    }
                    otherwise
                }
                Expr::Binary { op: Operator::And | Operator::Or, left, right } => {
                    if self.hides_errors(right) {
                        return true;
                    }
                    left
                }
                _ => return false,
            }
        }
    }

    /// Returns `true` for tuples and objects, whose elements may have failed while others have not.
    fn is_constructor(&self, mut id: ExprId) -> bool {
        while let Expr::Paren(inner) | Expr::Wrapped(inner) = self.tree.expr(id) {
            id = inner;
        }
        matches!(self.tree.expr(id), Expr::Tuple(_) | Expr::Object(_))
    }

    /// Pushes the value of an operand. One that hides errors becomes unknown if there are any.
    pub(super) fn operand(&mut self, id: ExprId) -> Result<()> {
        if !self.hides_errors(id) {
            return self.value(id);
        }
        self.emitter.op(Op::Mark, &[]);
        self.value(id)?;
        self.intrinsic("operand", 2, &[]);
        Ok(())
    }

    /// Pushes the value of a part of a template. One that hides errors becomes undefined if there are any.
    pub(super) fn part(&mut self, id: ExprId) -> Result<()> {
        if !self.hides_errors(id) {
            return self.value(id);
        }
        self.emitter.op(Op::Mark, &[]);
        self.value(id)?;
        self.intrinsic("part", 2, &[self.span(id)]);
        Ok(())
    }
}
