//! Steps behind an operand: attributes, indexes and splats, read from left to right.
//!
//! The steps behind a splat apply to each element, an [`Expr::Item`]: those behind `.*` up to the next bracket, those
//! behind `[*]` all. Until they end, the splat is open.

use super::Build;
use crate::syntax::{Expr, ExprId, Run, Step, StepKind};
use dropforge_base::text::Span;

/// The summary for a dot with no name behind it.
pub(crate) const MISSING_ATTRIBUTE: &str = "Invalid attribute name";

/// An operand with the steps behind it so far.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    /// The operand of the next step.
    expr: ExprId,
    /// The start of the operand, or of the marker of the innermost `[*]`.
    from: u32,
    /// The number of open splats.
    open: u32,
    /// `true` if the innermost one is a `.*`.
    attributes: bool,
}

/// An open splat.
#[derive(Debug)]
pub(super) struct Splat {
    source: ExprId,
    marker: Span,
    from: u32,
}

impl Build<'_> {
    pub(super) fn no_steps(&self) -> Run {
        super::actions::run(self.tree.steps.len(), self.tree.steps.len())
    }

    /// An operand alone.
    pub fn chain(&mut self, operand: ExprId) -> Chain {
        Chain { expr: operand, from: self.tree.span(operand).start, open: 0, attributes: false }
    }

    /// `.name`, whose dot stands at `start`.
    pub fn attribute_step(&mut self, chain: Chain, start: u32, name: Span) -> Chain {
        let kind = StepKind::Attr(self.str(name));
        self.step(chain, kind, Span::new(start, name.end))
    }

    /// `.0`, whose dot stands at `start`.
    pub fn legacy_index(&mut self, chain: Chain, start: u32, number: Span) -> Chain {
        let kind = StepKind::Number(self.str(number));
        self.step(chain, kind, Span::new(start, number.end))
    }

    /// `[key]`: a step if the key is a literal number or text.
    pub fn index(&mut self, chain: Chain, key: ExprId, brackets: Span) -> Chain {
        let chain = self.end_attributes(chain);
        let literal = match self.tree.expr(key) {
            Expr::Number(digits) => Some(StepKind::Number(digits)),
            Expr::Template(parts) => match self.tree.ids(parts) {
                &[part] => match self.tree.expr(part) {
                    Expr::Text(text) => Some(StepKind::Key(text)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        if let Some(kind) = literal {
            return self.step(chain, kind, brackets);
        }
        let brackets = self.place(brackets);
        let span = Span::new(chain.from, brackets.end);
        Chain { expr: self.node(Expr::Index { collection: chain.expr, key, brackets }, span), ..chain }
    }

    fn step(&mut self, chain: Chain, kind: StepKind, span: Span) -> Chain {
        let span = self.place(span);
        self.tree.steps.push(Step { kind, span });
        let end = Span::of(0..self.tree.steps.len()).end;
        if let Some(node) = self.tree.nodes.get_mut(chain.expr.0 as usize)
            && let Expr::Traversal { steps, .. } | Expr::Relative { steps, .. } = &mut node.expr
            && steps.end + 1 == end
        {
            steps.end = end;
            node.span.end = span.end;
            return chain;
        }
        // The element of a `.*` begins with its first step, any other expression with the operand of the step.
        let bare = matches!(self.tree.expr(chain.expr), Expr::Item) && chain.attributes;
        let start = if bare { span.start } else { self.tree.span(chain.expr).start };
        let expr = Expr::Relative { source: chain.expr, steps: Run { start: end - 1, end } };
        Chain { expr: self.node(expr, Span::new(start, span.end)), ..chain }
    }

    /// `.*`
    pub fn attribute_splat(&mut self, chain: Chain, marker: Span) -> Chain {
        self.splat(chain, marker, true)
    }

    /// `[*]`
    pub fn full_splat(&mut self, chain: Chain, brackets: Span) -> Chain {
        let chain = self.end_attributes(chain);
        self.splat(chain, brackets, false)
    }

    fn splat(&mut self, chain: Chain, marker: Span, attributes: bool) -> Chain {
        let marker = self.place(marker);
        self.pending.splats.push(Splat { source: chain.expr, marker, from: chain.from });
        let from = if attributes { chain.from } else { marker.start };
        Chain { expr: self.node(Expr::Item, marker), from, open: chain.open + 1, attributes }
    }

    /// Ends the innermost splat if it is a `.*`.
    fn end_attributes(&mut self, chain: Chain) -> Chain {
        if chain.attributes { self.end_splat(chain) } else { chain }
    }

    /// A dot that ends at `end` with no name behind it: nothing is left of the chain.
    pub fn broken_step(&mut self, chain: Chain, end: u32, found: Span) -> Chain {
        let chain = self.end_attributes(chain);
        let span = Span::new(chain.from, end + self.origin.start);
        let expr = self.node(Expr::Invalid, span);
        self.tree.add_broken(expr, self.place(found), MISSING_ATTRIBUTE);
        Chain { expr, ..chain }
    }

    fn end_splat(&mut self, chain: Chain) -> Chain {
        let Some(splat) = self.pending.splats.pop() else { return chain };
        let each = chain.expr;
        let span = Span::new(splat.from, self.tree.span(each).end);
        let expr = self.node(Expr::Splat { source: splat.source, each, marker: splat.marker }, span);
        Chain { expr, from: splat.from, open: chain.open - 1, attributes: false }
    }

    /// An operand with all its steps.
    pub fn finish(&mut self, mut chain: Chain) -> ExprId {
        while chain.open > 0 {
            chain = self.end_splat(chain);
        }
        chain.expr
    }
}
