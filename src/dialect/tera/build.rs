//! The actions of the grammar: they put nodes into the arena and decide what a chain of operands means.
//!
//! The language's expression levels are told apart only by what they hold, so an expression carries its
//! [`Class`] upwards and each construct refuses the classes it does not take. Chains are classified in
//! [`super::chain`].

use bumpalo::Bump;

use super::ast::{Arg, Call, CompareOp, Expr, ExprKind, MathOp, Name, Param, Path};
use super::path::Cutter;
use super::syntax::SyntaxError;
use crate::diagnostics::Code;
use crate::text::Span;

pub(super) type Built<T> = Result<T, Box<SyntaxError>>;

/// What one tag holds.
#[derive(Debug)]
pub enum Tag<'a> {
    /// `{{ value }}`
    Emit(Expr<'a>),
    /// `{% if condition %}`
    If(Expr<'a>),
    /// `{% elif condition %}`
    Elif(Expr<'a>),
    /// `{% for key, value in container %}`
    For(Option<Name<'a>>, Name<'a>, Expr<'a>),
    /// `{% set name = value %}`, and whether it is `set_global`
    Set(Name<'a>, Value<'a>, bool),
    /// `{% filter f %}`
    Filter(Call<'a>),
    /// `{% block name %}`
    Block(Name<'a>),
    /// `{% macro name(params) %}`
    Macro(Name<'a>, Vec<Param<'a>>),
    /// `{% include files %}`, and whether none at all is fine
    Include(Vec<Name<'a>>, Option<super::lexer::Token<'a>>),
    /// `{% extends "file" %}`
    Extends(Name<'a>),
    /// `{% import "file" as name %}`
    Import(Name<'a>, Name<'a>),
}

/// What may be printed, set or passed.
#[derive(Debug)]
pub enum Value<'a> {
    /// Anything but a list.
    Logic(Truth<'a>),
    /// A list with its filters.
    List(Expr<'a>),
}

impl<'a> Value<'a> {
    /// The expression.
    pub fn expr(self) -> Expr<'a> {
        match self {
            Value::Logic(truth) => truth.expr,
            Value::List(list) => list,
        }
    }
}

/// An expression and whether it is plain arithmetic: then parentheses around it are an operand.
#[derive(Debug, Clone, Copy)]
pub struct Truth<'a> {
    /// The expression.
    pub expr: Expr<'a>,
    pub(super) class: Class,
}

/// What level of the language an expression belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Operands and arithmetic without filters.
    Plain,
    /// The same with filters behind it.
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

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a>(pub(super) Truth<'a>);

impl<'a> Side<'a> {
    /// The side alone as a condition.
    pub fn into_truth(self) -> Truth<'a> {
        self.0
    }
}

/// An operand without its filters.
#[derive(Debug)]
pub enum Atom<'a> {
    /// A literal.
    Literal(ExprKind<'a>),
    /// A variable, call or test.
    Value(ExprKind<'a>),
    /// Something in parentheses.
    Group(Truth<'a>),
}

/// An operand with its filters.
#[derive(Debug)]
pub struct Item<'a> {
    pub(super) kind: ExprKind<'a>,
    pub(super) span: Span,
    pub(super) filters: Vec<Call<'a>>,
    pub(super) parenthesised: bool,
    /// Set where parentheses hold more than plain arithmetic.
    pub(super) group: Option<Truth<'a>>,
}

/// What stands between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Arithmetic.
    Math(MathOp),
    /// `~`
    Tilde,
}

/// Operands and what stands between them.
#[derive(Debug)]
pub struct Chain<'a> {
    /// The first operand.
    pub first: Item<'a>,
    /// The others, each with what stands before it.
    pub rest: Vec<((Link, Span), Item<'a>)>,
}

/// The arena and the actions.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    pub(super) arena: &'a Bump,
}

impl<'a> Build<'a> {
    /// Actions that build in `arena`.
    pub fn new(arena: &'a Bump) -> Self {
        Self { arena }
    }

    /// An expression without filters.
    pub fn plain(&self, kind: ExprKind<'a>, span: Span) -> Expr<'a> {
        Expr { kind, filters: &[], negated: false, span }
    }

    /// A number; whole numbers must fit 64 bits with sign.
    pub fn number(&self, ((negative, digits, float), span): ((bool, &'a str, bool), Span)) -> Built<ExprKind<'a>> {
        let text = if negative { format!("-{digits}") } else { digits.to_owned() };
        let kind = match float {
            true => text.parse().ok().filter(|n: &f64| n.is_finite()).map(ExprKind::Float),
            false => text.parse().ok().map(ExprKind::Int),
        };
        kind.ok_or_else(|| {
            let message = format!("the number {text} is out of bounds");
            SyntaxError::new(Code::NumberOutOfRange, span, message, "whole numbers have 64 bits with sign")
        })
    }

    /// A list with its filters.
    pub fn list(&self, (items, span): (Vec<Truth<'a>>, Span), filters: Vec<Call<'a>>) -> Expr<'a> {
        let items = self.arena.alloc_slice_fill_iter(items.into_iter().map(|item| item.expr));
        self.filtered(ExprKind::List(items), span, filters)
    }

    pub(super) fn filtered(&self, kind: ExprKind<'a>, span: Span, filters: Vec<Call<'a>>) -> Expr<'a> {
        let span = filters.last().map_or(span, |last| span.to(last.span));
        Expr { kind, filters: self.arena.alloc_slice_copy(&filters), negated: false, span }
    }

    /// A call; of arguments with one name the last one wins.
    pub fn call(&self, name: Name<'a>, args: Vec<Arg<'a>>, span: Span) -> Call<'a> {
        Call { name, args: self.arena.alloc_slice_copy(&last_of_each(args, |arg| arg.name.text)), span }
    }

    /// `not`, or nothing, before a condition. Parentheses forget a `not` right inside them.
    pub fn condition(&self, negated: bool, (truth, span): (Truth<'a>, Span)) -> Built<Truth<'a>> {
        if !negated {
            return Ok(truth);
        }
        if truth.class == Class::Group {
            let help = "`not` takes one comparison or value; put it inside the parentheses of each operand";
            return Err(SyntaxError::unexpected(span, "`not` cannot stand before a condition in parentheses", help));
        }
        Ok(Truth { expr: Expr { negated, ..truth.expr }, class: Class::Logic })
    }

    /// `a or b and c …`, where `and` binds tighter.
    pub fn logic(&self, first: Truth<'a>, rest: Vec<(bool, Truth<'a>)>) -> Truth<'a> {
        if rest.is_empty() {
            return first;
        }
        let mut terms: Vec<Expr<'a>> = Vec::new();
        let mut factors = vec![first.expr];
        for (is_or, truth) in rest {
            if is_or {
                terms.push(self.join(std::mem::take(&mut factors), ExprKind::And));
            }
            factors.push(truth.expr);
        }
        terms.push(self.join(factors, ExprKind::And));
        Truth { expr: self.join(terms, ExprKind::Or), class: Class::Logic }
    }

    fn join(&self, parts: Vec<Expr<'a>>, kind: fn(&'a [Expr<'a>]) -> ExprKind<'a>) -> Expr<'a> {
        match parts.as_slice() {
            [one] => *one,
            [first, .., last] => self.plain(kind(self.arena.alloc_slice_copy(&parts)), first.span.to(last.span)),
            [] => self.plain(ExprKind::Bool(false), Span::default()),
        }
    }

    /// One comparison.
    pub fn compare(&self, left: Side<'a>, op: CompareOp, right: Side<'a>) -> Built<Truth<'a>> {
        for side in [left, right] {
            self.not_a_group(side.0, "a comparison")?;
        }
        let span = left.0.expr.span.to(right.0.expr.span);
        let kind = ExprKind::Compare(op, self.arena.alloc([left.0.expr, right.0.expr]));
        Ok(Truth { expr: self.plain(kind, span), class: Class::Logic })
    }

    pub(super) fn not_a_group(&self, truth: Truth<'a>, what: &str) -> Built<()> {
        if truth.class != Class::Group {
            return Ok(());
        }
        let help = "parentheses are operands only around plain arithmetic; use `{% set %}` for the part inside";
        Err(SyntaxError::unexpected(truth.expr.span, format!("this cannot stand in {what}"), help))
    }

    /// `needle in haystack`, `needle not in haystack`.
    pub fn contains(
        &self,
        needle: Side<'a>,
        not: Option<super::lexer::Token<'a>>,
        haystack: Expr<'a>,
    ) -> Built<Truth<'a>> {
        self.not_a_group(needle.0, "front of `in`")?;
        if needle.0.class == Class::Sum {
            let span = needle.0.expr.span;
            return Err(SyntaxError::unexpected(
                span,
                "arithmetic behind a filter cannot stand in front of `in`",
                "use `{% set %}`",
            ));
        }
        let span = needle.0.expr.span.to(haystack.span);
        let kind = ExprKind::In { sides: self.arena.alloc([needle.0.expr, haystack]), negated: not.is_some() };
        Ok(Truth { expr: self.plain(kind, span), class: Class::Logic })
    }

    /// What may stand behind `in`, besides a list.
    pub fn haystack(&self, side: Side<'a>) -> Built<Expr<'a>> {
        let Truth { expr, class } = side.0;
        let path = matches!(expr.kind, ExprKind::Path(path) if path.span == expr.span) && class == Class::Plain;
        if path || class == Class::Text {
            return Ok(expr);
        }
        let message = "behind `in` only text, a list or a variable without filters may stand";
        Err(SyntaxError::unexpected(expr.span, message, "use `{% set %}` for the value behind `in`"))
    }

    /// What a loop may run over, besides a list.
    pub fn container(&self, side: Side<'a>) -> Built<Expr<'a>> {
        let Truth { expr, class } = side.0;
        if matches!(class, Class::Plain | Class::Filtered) {
            return Ok(expr);
        }
        let message = "a loop runs over a variable, a function call or a list, with filters or without";
        Err(SyntaxError::unexpected(expr.span, message, "use `{% set %}` for the value to loop over"))
    }

    /// `{% for %}` with one name or two.
    pub fn for_tag(&self, first: Name<'a>, second: Option<Name<'a>>, container: Expr<'a>) -> Tag<'a> {
        match second {
            Some(second) => Tag::For(Some(first), second, container),
            None => Tag::For(None, first, container),
        }
    }

    /// An operand with its filters.
    pub fn item(&self, (atom, span): (Atom<'a>, Span), filters: Vec<Call<'a>>) -> Item<'a> {
        let parenthesised = matches!(atom, Atom::Group(_));
        let (kind, group) = match atom {
            Atom::Literal(kind) | Atom::Value(kind) => (kind, None),
            Atom::Group(truth) if truth.class == Class::Plain => (truth.expr.kind, None),
            Atom::Group(truth) => (truth.expr.kind, Some(truth)),
        };
        Item { kind, span, filters, parenthesised, group }
    }

    /// A variable.
    pub fn path_atom(&self, path: (&'a str, Span)) -> Atom<'a> {
        Atom::Value(ExprKind::Path(self.path(path)))
    }

    fn simple(&self, (text, span): (&'a str, Span), what: &str) -> Built<Name<'a>> {
        if text.contains(['.', '[']) {
            return Err(SyntaxError::unexpected(span, format!("`{text}` is a path, not the name of {what}"), ""));
        }
        Ok(Name { text, span })
    }

    /// `f(…)`
    pub fn call_atom(&self, name: (&'a str, Span), args: Vec<Arg<'a>>, end: u32) -> Built<Atom<'a>> {
        let name = self.simple(name, "a function")?;
        let span = Span::new(name.span.start, end);
        Ok(Atom::Value(ExprKind::Call(self.arena.alloc(self.call(name, args, span)))))
    }

    /// `ns::f(…)`
    pub fn macro_atom(&self, ns: (&'a str, Span), name: Name<'a>, args: Vec<Arg<'a>>, end: u32) -> Built<Atom<'a>> {
        let namespace = self.simple(ns, "a namespace")?;
        let span = Span::new(namespace.span.start, end);
        Ok(Atom::Value(ExprKind::MacroCall(namespace, self.arena.alloc(self.call(name, args, span)))))
    }

    /// `path is test(…)`
    pub fn test_atom(
        &self,
        path: (&'a str, Span),
        not: Option<super::lexer::Token<'a>>,
        name: Name<'a>,
        args: Option<Vec<Value<'a>>>,
    ) -> Built<Atom<'a>> {
        let args: Vec<Value<'a>> = args.unwrap_or_default();
        if let Some(Value::List(list)) = args.iter().find(|arg| matches!(arg, Value::List(_))) {
            let message = "a test takes no list literal";
            return Err(SyntaxError::unexpected(list.span, message, "use `{% set %}` and pass the variable"));
        }
        let args = self.arena.alloc_slice_fill_iter(args.into_iter().map(Value::expr));
        Ok(Atom::Value(ExprKind::Test { path: self.path(path), name, args, negated: not.is_some() }))
    }

    /// Cuts a path, which the lexer has checked, into its steps.
    fn path(&self, (text, span): (&'a str, Span)) -> &'a Path<'a> {
        Cutter { arena: self.arena, text, base: span.start, at: 0 }.path()
    }
}

/// Keeps the last of those that have one name.
pub fn last_of_each<'a, T>(all: Vec<T>, name: impl Fn(&T) -> &'a str) -> Vec<T> {
    if all.len() < 2 {
        return all;
    }
    let mut seen = std::collections::HashSet::new();
    let mut kept: Vec<_> = all.into_iter().rev().filter(|one| seen.insert(name(one))).collect();
    kept.reverse();
    kept
}
