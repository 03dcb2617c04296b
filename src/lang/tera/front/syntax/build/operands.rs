//! Expressions under construction: operands, chains of operators, and the level of the language they belong to.

use crate::syntax::tree::{Call, Expr, MathOp};
use dropforge_base::text::Span;

/// An expression and its level of the language.
#[derive(Debug)]
pub struct Truth<'a> {
    pub expr: &'a mut Expr<'a>,
    pub(super) class: Class,
}

/// A level of the language that expressions belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Operands and arithmetic without filters.
    Plain,
    /// Operands and arithmetic with filters behind them.
    Filtered,
    /// Arithmetic on filtered operands.
    Sum,
    /// Text or a concatenation.
    Text,
    /// Parentheses around more than plain arithmetic.
    Group,
    /// A condition: comparison, `in`, `and`, `or`, `not`.
    Logic,
}

/// An operand with its filters.
#[derive(Debug)]
pub struct Item<'a> {
    /// The operand; its span leaves the filters out.
    pub(super) expr: &'a mut Expr<'a>,
    /// The content of parentheses around more than plain arithmetic.
    pub(super) group: Option<&'a mut Expr<'a>>,
    pub(super) parenthesised: bool,
}

impl<'a> Item<'a> {
    /// An operand with its filters.
    pub fn new(expr: &'a mut Expr<'a>, filters: &'a [Call<'a>]) -> Self {
        expr.filters = filters;
        Self { expr, group: None, parenthesised: false }
    }
}

/// An operator of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Arithmetic.
    Math(MathOp),
    /// `~`
    Tilde,
}

/// An operand of a chain and the operator before it.
pub type Linked<'a> = (Option<(Link, Span)>, Item<'a>);
