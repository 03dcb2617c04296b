//! Expressions under construction: operands, chains of operators, and the level of the language they belong to. A chain
//! is read flat (`a + b | f - c ~ d`) and classified as a whole. Strings and `~` do not mix with arithmetic. Arithmetic
//! on filtered operands is one level above arithmetic without filters. A filter applies to all plain arithmetic on its
//! left. Parentheses are an operand only around plain arithmetic. Arithmetic becomes postfix steps without recursion,
//! so a chain may have any length.

use super::expressions::{grouped, with_filters};
use super::{Build, Built};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{Call, Expr, ExprKind, MathOp, Step};
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
    /// Operands and arithmetic with filters after them.
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

impl<'a> Build<'a> {
    /// Builds an operand outside a chain: a value, a string, or something in parentheses.
    pub fn item(&self, item: Item<'a>) -> Built<Truth<'a>> {
        if let Some(inner) = item.group {
            if !item.expr.filters.is_empty() {
                return Err(grouped(item.expr.span, IN_ARITHMETIC));
            }
            (inner.negated, inner.span) = (false, item.expr.span);
            return Ok(Truth { expr: inner, class: Class::Group });
        }
        not_glued(item.expr)?;
        let class = match item.expr.kind {
            ExprKind::Str(_) => Class::Text,
            _ if item.expr.filters.is_empty() => Class::Plain,
            _ => Class::Filtered,
        };
        Ok(Truth { expr: with_filters(item.expr), class })
    }

    /// Builds a chain of at least two operands: a concatenation or arithmetic.
    pub fn chain(&mut self, list: usize) -> Built<Truth<'a>> {
        let chain = self.links.split_off(list);
        if chain.iter().any(|(link, _)| matches!(link, Some((Link::Tilde, _)))) {
            return self.concat(&chain);
        }
        for (_, Item { expr, group, .. }) in &chain {
            if matches!(expr.kind, ExprKind::Str(_)) && group.is_none() {
                let help = "`~` joins text; `+` adds numbers";
                return Err(SyntaxError::unexpected(expr.span, "text cannot stand in arithmetic", help));
            }
            if group.is_some() {
                return Err(grouped(expr.span, IN_ARITHMETIC));
            }
            not_glued(expr)?;
        }
        Ok(self.math(&chain))
    }

    fn concat(&self, chain: &[Linked<'a>]) -> Built<Truth<'a>> {
        let mut parts: Vec<Expr<'a>> = Vec::with_capacity(chain.len());
        for (at, (link, item)) in chain.iter().enumerate() {
            concat_allows(item, *link, at + 1 == chain.len())?;
            parts.push(Expr::bare(item.expr.kind, item.expr.span));
        }
        let span = parts.iter().map(|part| part.span).reduce(Span::to).unwrap_or_default();
        let expr = self.plain(self.joined(parts), span);
        expr.filters = chain.last().map_or(&[], |(_, last)| last.expr.filters);
        Ok(Truth { expr: with_filters(expr), class: Class::Text })
    }

    /// Joins adjacent strings and drops empty ones. If only a string is left, it is plain text again.
    fn joined(&self, parts: Vec<Expr<'a>>) -> ExprKind<'a> {
        let mut kept: Vec<Expr<'a>> = Vec::with_capacity(parts.len());
        let mut run: Option<(String, Span)> = None;
        let flush = |run: &mut Option<(String, Span)>, kept: &mut Vec<Expr<'a>>| {
            if let Some((text, span)) = run.take().filter(|(text, _)| !text.is_empty()) {
                kept.push(Expr::bare(ExprKind::Str(self.arena.alloc_str(&text)), span));
            }
        };
        for part in parts {
            match (part.kind, &mut run) {
                (ExprKind::Str(text), Some((all, span))) => {
                    all.push_str(text);
                    *span = span.to(part.span);
                }
                (ExprKind::Str(text), None) => run = Some((text.to_owned(), part.span)),
                _ => {
                    flush(&mut run, &mut kept);
                    kept.push(part);
                }
            }
        }
        flush(&mut run, &mut kept);
        match kept.as_slice() {
            [] => ExprKind::Str(""),
            [Expr { kind: ExprKind::Str(text), .. }] => ExprKind::Str(text),
            _ => ExprKind::Concat(self.arena.alloc_slice_copy(&kept)),
        }
    }

    /// Builds arithmetic. Plain runs before a filter are operands of the level above.
    fn math(&self, chain: &[Linked<'a>]) -> Truth<'a> {
        let (mut outer, mut run) = (Postfix::default(), Postfix::default());
        let mut behind_filter = false;
        for (at, (link, Item { expr, .. })) in chain.iter().enumerate() {
            if let Some((Link::Math(op), span)) = *link {
                let level = if behind_filter { &mut outer } else { &mut run };
                level.operator(op, span);
            }
            run.operand(Expr::bare(expr.kind, expr.span));
            behind_filter = !expr.filters.is_empty();
            if behind_filter || at + 1 == chain.len() {
                let mut whole = std::mem::take(&mut run).finish(self);
                whole.filters = expr.filters;
                whole.span = expr.filters.last().map_or(whole.span, |last| whole.span.to(last.span));
                outer.operand(whole);
            }
        }
        let filtered = chain.iter().any(|(_, item)| !item.expr.filters.is_empty());
        let class = match (filtered, outer.operands) {
            (false, _) => Class::Plain,
            (true, 1) => Class::Filtered,
            _ => Class::Sum,
        };
        Truth { expr: self.arena.alloc(outer.finish(self)), class }
    }
}

/// Constructs that do not allow parentheses around more than plain arithmetic.
const IN_ARITHMETIC: &str = "arithmetic or in front of a filter";

/// Rejects a call whose name begins like `true`, except next to `~`.
fn not_glued(expr: &Expr<'_>) -> Built<()> {
    match expr.kind {
        ExprKind::Call(call) if ["true", "True", "false", "False"].iter().any(|l| call.name.text.starts_with(l)) => {
            let message = format!("the function `{}` cannot be called: its name begins like a literal", call.name.text);
            Err(SyntaxError::unexpected(call.name.span, message, "rename the function"))
        }
        _ => Ok(()),
    }
}

fn concat_allows(item: &Item<'_>, link: Option<(Link, Span)>, last: bool) -> Built<()> {
    if let Some((Link::Math(_), span)) = link {
        let help = "`~` and arithmetic do not mix; use `{% set %}` for one of them";
        return Err(SyntaxError::unexpected(span, "arithmetic cannot stand in a concatenation", help));
    }
    let kind = match item.expr.kind {
        ExprKind::Str(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Path(_) | ExprKind::Call(_) => None,
        ExprKind::MacroCall(..) => Some("a macro call"),
        ExprKind::Test { .. } => Some("a test"),
        ExprKind::Bool(_) => Some("`true` or `false`"),
        _ => Some("an expression"),
    };
    let kind = if item.parenthesised { Some("an expression in parentheses") } else { kind };
    if let Some(kind) = kind {
        let message = format!("{kind} cannot be joined with `~`");
        return Err(SyntaxError::unexpected(item.expr.span, message, "use `{% set %}` and join the variable"));
    }
    match item.expr.filters.first() {
        Some(filter) if !last => {
            let help = "filters apply to the whole concatenation; use `{% set %}` to filter one operand";
            Err(SyntaxError::unexpected(filter.span, "a filter cannot stand inside a concatenation", help))
        }
        _ => Ok(()),
    }
}

/// Arithmetic being converted to postfix order. With two levels of operators, at most two are waiting.
#[derive(Default)]
struct Postfix<'a> {
    steps: Vec<Step<'a>>,
    waiting: Vec<(MathOp, Span)>,
    operands: usize,
    span: Option<Span>,
}

impl<'a> Postfix<'a> {
    fn operand(&mut self, expr: Expr<'a>) {
        self.operands += 1;
        self.span = Some(self.span.map_or(expr.span, |span| span.to(expr.span)));
        match expr.kind {
            ExprKind::Math(inner) if expr.filters.is_empty() => self.steps.extend_from_slice(inner),
            _ => self.steps.push(Step::Operand(expr)),
        }
    }

    fn operator(&mut self, op: MathOp, span: Span) {
        while let Some(&(before, at)) = self.waiting.last()
            && binds(before) >= binds(op)
        {
            self.steps.push(Step::Apply(before, at));
            self.waiting.pop();
        }
        self.waiting.push((op, span));
    }

    fn finish(mut self, build: &Build<'a>) -> Expr<'a> {
        while let Some((op, at)) = self.waiting.pop() {
            self.steps.push(Step::Apply(op, at));
        }
        match self.steps.as_slice() {
            [Step::Operand(expr)] => *expr,
            steps => {
                let kind = ExprKind::Math(build.arena.alloc_slice_copy(steps));
                Expr::bare(kind, self.span.unwrap_or_default())
            }
        }
    }
}

fn binds(op: MathOp) -> u8 {
    match op {
        MathOp::Add | MathOp::Sub => 1,
        MathOp::Mul | MathOp::Div | MathOp::Rem => 2,
    }
}
