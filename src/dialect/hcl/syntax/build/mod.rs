//! The grammar's actions: what was read goes into the tree, and what is still being read waits on stacks that are shared
//! by all lists of a kind, the inner ones above the outer ones.
//!
//! An action that finds a fault notes only that there is one ([`Build::faulty`]); the item is then given up, and what is
//! wrong with it is found out by reading it again (`parser/faults/`).

mod body;
mod chain;
mod template;
mod text;

use std::borrow::Cow;

pub use body::Header;
pub(super) use body::OpenBody;
pub use chain::Chain;
pub(super) use template::{Directive, unbalanced};
pub(super) use text::is_number;

use super::token::Token;
use super::tree::{Call, Entry, Expr, ExprId, For, ForId, Label, Node, Operator, Run, Str, Tree, UnaryOp};
use crate::diagnostics::Diagnostic;
use crate::limits::Limits;
use crate::text::Span;

/// An item of a body, or a whole expression or template, that has something wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faulty;

/// The name of a function and its place.
#[derive(Debug, Clone, Copy)]
pub struct Callee {
    name: Str,
    /// Where it stands in the text.
    pub(super) span: Span,
}

/// The names that a `for` gives to a key and a value.
#[derive(Debug, Clone, Copy)]
pub struct ForNames {
    /// The first of two.
    pub key: Option<Span>,
    /// The only one or the second.
    pub value: Span,
}

/// Where the text that is read stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Origin {
    /// Where in the source of the tree it begins.
    pub start: u32,
    /// Where in the tree's pool it begins, where it is not a slice of the source.
    pub pool: Option<u32>,
}

/// What the grammar's actions work on.
#[derive(Debug)]
pub struct Build<'a> {
    pub(super) tree: &'a mut Tree,
    pub(super) text: &'a str,
    pub(super) origin: Origin,
    /// From the first token of the text to its end.
    pub(super) file: Span,
    /// Whether the item that is being read has a fault that the grammar does not see.
    pub(super) faulty: bool,
    /// How deep bodies may nest.
    pub(super) nesting: usize,
    /// How many diagnostics there may be.
    pub(super) most: usize,
    /// Whether bodies nest deeper than allowed.
    pub(super) too_deep: Option<(Span, u64)>,
    /// Behind the last complete item, in bytes of the text.
    pub(super) done: Option<u32>,
    pub(super) diagnostics: Vec<Box<Diagnostic>>,
    pub(super) bodies: Vec<OpenBody<'a>>,
    /// The labels of the block header that is being read.
    pub labels: Vec<Label>,
    /// The elements of tuples and arguments of calls.
    pub list: Vec<ExprId>,
    /// The entries of object constructors.
    pub entries: Vec<Entry>,
    /// The parts of templates.
    pub parts: Vec<template::Part>,
    pub(super) terms: Vec<Term>,
    splats: Vec<chain::Splat>,
}

/// An operand of a flat operation, and the operator before it.
type Term = (Operator, ExprId);

/// Operators with their left sides, each binding tighter than the one before it.
type Waiting = smallvec::SmallVec<[Term; 6]>;

impl<'a> Build<'a> {
    /// Actions that build in `tree` what `text` says, which stands at `origin`.
    pub(super) fn new(tree: &'a mut Tree, text: &'a str, origin: Origin, limits: &Limits) -> Self {
        Self {
            tree,
            text,
            origin,
            file: Span::of(0..text.len()),
            faulty: false,
            nesting: limits.nesting,
            most: limits.diagnostics,
            too_deep: None,
            done: None,
            diagnostics: Vec::new(),
            bodies: Vec::new(),
            labels: Vec::new(),
            list: Vec::new(),
            entries: Vec::new(),
            parts: Vec::new(),
            terms: Vec::new(),
            splats: Vec::new(),
        }
    }

    /// Makes room for what `tokens` will become.
    pub(super) fn reserve(&mut self, tokens: &[Token]) {
        const TOKENS_OF_NODE: usize = 4;
        self.tree.nodes.reserve(tokens.len() / TOKENS_OF_NODE);
    }

    /// Forgets what was being read.
    pub(super) fn give_up(&mut self) {
        self.faulty = false;
        self.labels.clear();
        self.list.clear();
        self.entries.clear();
        self.parts.clear();
        self.terms.clear();
        self.splats.clear();
    }

    /// What was read, unless it has a fault.
    ///
    /// # Errors
    /// [`Faulty`]
    pub fn sound<T>(&self, read: T) -> Result<T, Faulty> {
        if self.faulty { Err(Faulty) } else { Ok(read) }
    }

    /// A span of the text as one of the source.
    pub(super) fn place(&self, span: Span) -> Span {
        Span::new(span.start + self.origin.start, span.end + self.origin.start)
    }

    /// A span of the source as one of the text.
    pub(super) fn unplace(&self, span: Span) -> Span {
        Span::new(span.start.saturating_sub(self.origin.start), span.end.saturating_sub(self.origin.start))
    }

    /// The text at a span.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The text at a span, as the tree names it.
    pub(super) fn str(&self, span: Span) -> Str {
        match self.origin.pool {
            None => Tree::slice(self.place(span)),
            Some(pool) => Str { start: span.start + pool, end: span.end + pool, pooled: true },
        }
    }

    /// A node whose `span` is already one of the source.
    pub(super) fn node(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = ExprId(Span::of(0..self.tree.nodes.len()).end);
        self.tree.nodes.push(Node { expr, span });
        id
    }

    /// The place of an expression that could not be read.
    pub(super) fn invalid(&mut self, span: Span) -> ExprId {
        self.node(Expr::Invalid, self.place(span))
    }

    /// The same, of which an evaluation says that something else had to stand at `at`.
    pub(super) fn broken(&mut self, span: Span, at: Span, summary: &'static str) -> ExprId {
        let expr = self.invalid(span);
        self.tree.add_broken(expr, self.place(at), summary);
        expr
    }

    /// From the beginning of one node to the end of another.
    fn between(&self, first: ExprId, last: ExprId) -> Span {
        Span::new(self.tree.span(first).start, self.tree.span(last).end)
    }

    // Operands

    /// A name alone: a keyword's value or a variable.
    pub fn variable(&mut self, name: Span) -> ExprId {
        let span = self.place(name);
        let expr = match self.slice(name) {
            "null" => Expr::Null,
            "true" => Expr::Bool(true),
            "false" => Expr::Bool(false),
            _ => Expr::Traversal { root: self.str(name), root_span: span, steps: self.no_steps() },
        };
        self.node(expr, span)
    }

    /// A number.
    pub fn number(&mut self, digits: Span) -> ExprId {
        if !text::is_number(self.slice(digits)) {
            self.faulty = true;
            return self.invalid(digits);
        }
        self.node(Expr::Number(self.str(digits)), self.place(digits))
    }

    /// `( … )`
    pub fn paren(&mut self, inner: ExprId, span: Span) -> ExprId {
        self.node(Expr::Paren(inner), self.place(span))
    }

    /// `op operand`
    pub fn unary(&mut self, op: UnaryOp, symbol: Span, operand: ExprId) -> ExprId {
        let symbol = self.place(symbol);
        let span = Span::new(symbol.start, self.tree.span(operand).end);
        self.node(Expr::Unary { op, operand, symbol }, span)
    }

    // Operations

    /// The first two operands of a flat operation.
    pub fn operands(&mut self, first: ExprId, op: Operator, next: ExprId) -> usize {
        let list = self.terms.len();
        self.terms.push((op, first));
        self.terms.push((op, next));
        list
    }

    /// A further operand.
    pub fn operand(&mut self, list: usize, op: Operator, next: ExprId) -> usize {
        self.terms.push((op, next));
        list
    }

    /// Puts a flat operation together: what binds tighter first, from left to right.
    pub fn operation(&mut self, list: usize) -> ExprId {
        let (mut waiting, mut right) = self.waiting(list);
        while let Some((op, left)) = waiting.pop() {
            right = self.binary(left, op, right);
        }
        right
    }

    /// What is left of a flat operation when the operand behind `op` cannot be read: what stands before the operator
    /// that binds least of those that still wait for their right side.
    pub(super) fn abandoned(&mut self, list: usize, op: Operator) -> ExprId {
        let (mut waiting, mut right) = self.waiting(list);
        while let Some((before, left)) = waiting.pop() {
            right = if binds(before) >= binds(op) { self.binary(left, before, right) } else { left };
        }
        right
    }

    /// Takes the operands from `list` on: operators that still wait for their right side, with their left sides, and
    /// the last right side.
    fn waiting(&mut self, list: usize) -> (Waiting, ExprId) {
        let mut waiting = Waiting::new();
        let mut terms = list..self.terms.len();
        let mut right = terms.next().and_then(|at| self.terms.get(at)).map_or(ExprId(0), |term| term.1);
        for at in terms {
            let Some(&(op, next)) = self.terms.get(at) else { break };
            while let Some(&(before, left)) = waiting.last().filter(|(before, _)| binds(*before) >= binds(op)) {
                waiting.pop();
                right = self.binary(left, before, right);
            }
            waiting.push((op, right));
            right = next;
        }
        self.terms.truncate(list);
        (waiting, right)
    }

    fn binary(&mut self, left: ExprId, op: Operator, right: ExprId) -> ExprId {
        let span = self.between(left, right);
        self.node(Expr::Binary { op, left, right }, span)
    }

    /// `condition ? then : otherwise`
    pub fn conditional(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        let span = self.between(condition, otherwise);
        self.node(Expr::Conditional { condition, then, otherwise }, span)
    }

    // Lists

    /// The first element of a list: where the list begins.
    pub fn first(&mut self, element: ExprId) -> usize {
        self.list.push(element);
        self.list.len() - 1
    }

    /// A further element.
    pub fn next(&mut self, list: usize, element: ExprId) -> usize {
        self.list.push(element);
        list
    }

    fn ids(&mut self, list: usize) -> Run {
        let start = self.tree.ids.len();
        self.tree.ids.extend(self.list.drain(list.min(self.list.len())..));
        run(start, self.tree.ids.len())
    }

    /// `[ … ]`
    pub fn tuple(&mut self, list: usize, span: Span) -> ExprId {
        let elements = self.ids(list);
        self.node(Expr::Tuple(elements), self.place(span))
    }

    /// The first entry of an object constructor: where they begin.
    pub fn first_entry(&mut self, key: ExprId, value: ExprId) -> usize {
        let list = self.entries.len();
        self.next_entry(list, key, value)
    }

    /// A further entry. A key that begins with a parenthesis is never taken for a name.
    pub fn next_entry(&mut self, list: usize, key: ExprId, value: ExprId) -> usize {
        let span = self.tree.span(key);
        let at = span.start.saturating_sub(self.origin.start) as usize;
        let forced = self.text.as_bytes().get(at) == Some(&b'(');
        let key = self.node(Expr::Key { inner: key, forced }, span);
        self.entries.push(Entry { key, value });
        list
    }

    /// `{ … }`
    pub fn object(&mut self, list: usize, span: Span) -> ExprId {
        let start = self.tree.entries.len();
        self.tree.entries.extend(self.entries.drain(list.min(self.entries.len())..));
        let entries = run(start, self.tree.entries.len());
        self.node(Expr::Object(entries), self.place(span))
    }

    // Calls

    /// The name of a function, or of its outermost namespace.
    pub fn callee(&mut self, name: Span) -> Callee {
        Callee { name: self.str(name), span: name }
    }

    /// `callee::name`; blanks around the colons are not part of the name.
    pub fn scoped(&mut self, callee: Callee, name: Span) -> Callee {
        let span = Span::new(callee.span.start, name.end);
        let written = span.end - span.start;
        let text = [self.tree.str(callee.name), self.slice(name)].join("::");
        let plain = text.len() == written as usize;
        Callee { name: if plain { self.str(span) } else { self.tree.pooled(&text) }, span }
    }

    /// A call whose arguments stand behind `open`, where `close` begins at the closing parenthesis.
    pub fn call(&mut self, callee: Callee, args: usize, expand: bool, open: u32, close: Span) -> ExprId {
        let args = self.ids(args);
        let span = self.place(Span::new(callee.span.start, close.end));
        let open = self.place(Span::new(open, open + 1));
        let (name_span, close) = (self.place(callee.span), self.place(close));
        self.node(Expr::Call(Call { name: callee.name, name_span, args, expand, open, close }), span)
    }

    // `for`

    /// `[for … ]`
    pub fn for_tuple(
        &mut self,
        names: ForNames,
        start: u32,
        collection: ExprId,
        value: ExprId,
        condition: Option<ExprId>,
        span: Span,
    ) -> ExprId {
        self.for_expr(names, start, collection, (None, value, false), condition, span)
    }

    /// `{for … }`
    pub fn for_object(
        &mut self,
        names: ForNames,
        start: u32,
        collection: ExprId,
        (key, value, group): (ExprId, ExprId, bool),
        condition: Option<ExprId>,
        span: Span,
    ) -> ExprId {
        self.for_expr(names, start, collection, (Some(key), value, group), condition, span)
    }

    /// A `for` whose brackets stand at `span`.
    pub(super) fn for_expr(
        &mut self,
        names: ForNames,
        start: u32,
        collection: ExprId,
        (key, value, group): (Option<ExprId>, ExprId, bool),
        condition: Option<ExprId>,
        span: Span,
    ) -> ExprId {
        let place = self.place(span);
        let node = For {
            key_var: names.key.map(|name| self.str(name)),
            value_var: self.str(names.value),
            collection,
            key,
            value,
            condition,
            group,
            intro: Span::new(start + self.origin.start, self.tree.span(collection).end),
            open: Span::new(place.start, place.start + 1),
            close: Span::new(place.end - 1, place.end),
        };
        self.for_node(node, place)
    }

    fn for_node(&mut self, node: For, span: Span) -> ExprId {
        let id = ForId(Span::of(0..self.tree.fors.len()).end);
        self.tree.fors.push(node);
        self.node(Expr::For(id), span)
    }

    /// `text` in the pool, or where it stands already.
    fn keep(&mut self, text: Cow<'_, str>, at: Str) -> Str {
        match text {
            Cow::Borrowed(_) => at,
            Cow::Owned(text) => self.tree.pooled(&text),
        }
    }
}

/// The entries from `start` to `end` of one of the tree's lists.
fn run(start: usize, end: usize) -> Run {
    let Span { start, end } = Span::of(start..end);
    Run { start, end }
}

fn binds(op: Operator) -> u8 {
    match op {
        Operator::Or => 1,
        Operator::And => 2,
        Operator::Equal | Operator::NotEqual => 3,
        Operator::Greater | Operator::GreaterEqual | Operator::Less | Operator::LessEqual => 4,
        Operator::Add | Operator::Sub => 5,
        Operator::Mul | Operator::Div | Operator::Rem => 6,
    }
}
