//! The actions of the grammar: they put nodes into the arena and decide what a chain of operands means.
//!
//! A chain is read flat (`a + b | f - c ~ d`), then classified as a whole, because the language's expression
//! levels are told apart only by what they hold: text and `~` stand alone; arithmetic whose operands have
//! filters is a level above arithmetic without; a filter applies to all plain arithmetic on its left; a
//! parenthesis is an operand only if it holds plain arithmetic. Arithmetic becomes postfix steps without
//! recursion, so a chain may have any length.

use bumpalo::Bump;

use super::ast::{Arg, Call, CompareOp, Expr, ExprKind, MathOp, Name, Param, Path, Step};
use super::path::Cutter;
use super::syntax::SyntaxError;
use crate::diagnostics::Code;
use crate::text::Span;

type Built<T> = Result<T, Box<SyntaxError>>;

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
    class: Class,
}

/// What level of the language an expression belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
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
pub struct Side<'a>(Truth<'a>);

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
    kind: ExprKind<'a>,
    span: Span,
    filters: Vec<Call<'a>>,
    parenthesised: bool,
    /// Set where parentheses hold more than plain arithmetic.
    group: Option<Truth<'a>>,
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
    arena: &'a Bump,
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

    fn filtered(&self, kind: ExprKind<'a>, span: Span, filters: Vec<Call<'a>>) -> Expr<'a> {
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

    fn not_a_group(&self, truth: Truth<'a>, what: &str) -> Built<()> {
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
        let path = matches!(expr.kind, ExprKind::Path(_)) && class == Class::Plain;
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

    /// A whole chain: text, a concatenation, arithmetic, or something in parentheses.
    pub fn side(&self, chain: Chain<'a>) -> Built<Side<'a>> {
        if chain.rest.iter().any(|((link, _), _)| *link == Link::Tilde) {
            return self.concat(chain).map(Side);
        }
        let items = || std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, item)| item));
        let alone = chain.rest.is_empty();
        for item in items() {
            let is_text = matches!(item.kind, ExprKind::Str(_));
            if is_text && item.group.is_none() && !alone {
                let help = "`~` joins text; `+` adds numbers";
                return Err(SyntaxError::unexpected(item.span, "text cannot stand in arithmetic", help));
            }
            if item.group.is_some() && (!alone || !item.filters.is_empty()) {
                let truth = Truth { expr: self.plain(item.kind, item.span), class: Class::Group };
                self.not_a_group(truth, "arithmetic or in front of a filter")?;
            }
            self.not_glued(item)?;
        }
        if let Some(inner) = chain.first.group {
            let expr = Expr { negated: false, span: chain.first.span, ..inner.expr };
            return Ok(Side(Truth { expr, class: Class::Group }));
        }
        Ok(Side(self.math(chain)))
    }

    /// A call whose name begins like `true` is a call only beside `~`.
    fn not_glued(&self, item: &Item<'a>) -> Built<()> {
        match item.kind {
            ExprKind::Call(call)
                if ["true", "True", "false", "False"].iter().any(|l| call.name.text.starts_with(l)) =>
            {
                let message =
                    format!("the function `{}` cannot be called: its name begins like a literal", call.name.text);
                Err(SyntaxError::unexpected(call.name.span, message, "rename the function"))
            }
            _ => Ok(()),
        }
    }

    fn concat(&self, chain: Chain<'a>) -> Built<Truth<'a>> {
        let span = chain.rest.last().map_or(chain.first.span, |(_, last)| chain.first.span.to(last.span));
        let last = chain.rest.len();
        let mut parts: Vec<Expr<'a>> = Vec::with_capacity(last + 1);
        let mut filters = Vec::new();
        let links = std::iter::once(None).chain(chain.rest.iter().map(|(link, _)| Some(*link)));
        for ((at, item), link) in
            std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, item)| item)).enumerate().zip(links)
        {
            concat_allows(item, link, at == last)?;
            parts.push(self.plain(item.kind, item.span));
            if at == last {
                filters.clone_from(&item.filters);
            }
        }
        let kind = self.joined(parts);
        Ok(Truth { expr: self.filtered(kind, span, filters), class: Class::Text })
    }

    /// Adjacent texts become one, empty ones vanish; only text is plain text again.
    fn joined(&self, parts: Vec<Expr<'a>>) -> ExprKind<'a> {
        let mut kept: Vec<Expr<'a>> = Vec::with_capacity(parts.len());
        let mut run: Option<(String, Span)> = None;
        let flush = |run: &mut Option<(String, Span)>, kept: &mut Vec<Expr<'a>>| {
            if let Some((text, span)) = run.take().filter(|(text, _)| !text.is_empty()) {
                kept.push(self.plain(ExprKind::Str(self.arena.alloc_str(&text)), span));
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

    /// Arithmetic: plain runs up to a filter are operands of the level above.
    fn math(&self, chain: Chain<'a>) -> Truth<'a> {
        let text = matches!(chain.first.kind, ExprKind::Str(_)) && chain.rest.is_empty();
        let mut outer = Postfix::default();
        let mut run = Postfix::default();
        let mut filtered = false;
        let mut items = chain.rest.into_iter();
        let mut item = chain.first;
        loop {
            run.operand(self.plain(item.kind, item.span));
            filtered |= !item.filters.is_empty();
            let ends = !item.filters.is_empty();
            let next = items.next();
            if ends || next.is_none() {
                let expr = std::mem::take(&mut run).finish(self);
                outer.operand(self.filtered(expr.kind, expr.span, item.filters));
            }
            match next {
                None => break,
                Some(((Link::Math(op), span), following)) => {
                    if ends {
                        outer.operator(op, span)
                    } else {
                        run.operator(op, span)
                    }
                    item = following;
                }
                Some((_, following)) => item = following,
            }
        }
        let class = match (text, filtered, outer.operands) {
            (true, ..) => Class::Text,
            (_, false, _) => Class::Plain,
            (_, true, 1) => Class::Filtered,
            _ => Class::Sum,
        };
        Truth { expr: outer.finish(self), class }
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

fn concat_allows(item: &Item<'_>, link: Option<(Link, Span)>, last: bool) -> Built<()> {
    if let Some((Link::Math(_), span)) = link {
        let help = "`~` and arithmetic do not mix; use `{% set %}` for one of them";
        return Err(SyntaxError::unexpected(span, "arithmetic cannot stand in a concatenation", help));
    }
    let kind = match item.kind {
        ExprKind::Str(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Path(_) | ExprKind::Call(_) => None,
        ExprKind::MacroCall(..) => Some("a macro call"),
        ExprKind::Test { .. } => Some("a test"),
        ExprKind::Bool(_) => Some("`true` or `false`"),
        _ => Some("an expression"),
    };
    let kind = if item.parenthesised { Some("an expression in parentheses") } else { kind };
    if let Some(kind) = kind {
        let message = format!("{kind} cannot be joined with `~`");
        return Err(SyntaxError::unexpected(item.span, message, "use `{% set %}` and join the variable"));
    }
    match item.filters.first() {
        Some(filter) if !last => {
            let help = "filters stand behind the whole concatenation; use `{% set %}` to filter one operand";
            Err(SyntaxError::unexpected(filter.span, "a filter cannot stand inside a concatenation", help))
        }
        _ => Ok(()),
    }
}

/// Arithmetic on its way to postfix order: two levels of operators, so two waiting ones are the most.
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
                build.plain(kind, self.span.unwrap_or_default())
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
