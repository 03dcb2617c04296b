//! The actions of the grammar. They add complete nodes to the tree. Elements of open lists wait on stacks that all lists
//! of a kind share, the inner lists above the outer ones.

mod body;
mod template;

use super::parser::Reports;
use super::{
    Call, Entry, Expr, ExprId, ExprNode, For, ForId, LabelNode, Operator, Run, StepKind, Str, Token, TokenKind,
    Traversal, TraversalStep, Tree, UnaryOp,
};
use body::OpenBody;
use dropforge_base::text::Span;

pub(crate) use body::MISSING_ATTRIBUTE;
pub use body::{Argument, Chain, Header};
pub use template::PartKind;
pub(super) use template::is_number;

/// The summary for a namespace with no name after it.
pub const MISSING_NAME: &str = "Missing function name";

/// The summary for the name of a function in a namespace with no arguments after it.
pub const MISSING_PAREN: &str = "Missing open parenthesis";

/// The name of a function and its place.
#[derive(Debug, Clone, Copy)]
pub struct Callee {
    name: Str,
    /// Its place in the text.
    span: Span,
}

/// The names that a `for` gives to a key and a value.
#[derive(Debug, Clone, Copy)]
pub struct ForNames {
    /// The first of two.
    pub key: Option<Span>,
    /// The only one or the second.
    pub value: Span,
}

/// A `for` without its brackets.
#[derive(Debug, Clone, Copy)]
pub struct ForParts {
    /// The names before `in`.
    pub names: ForNames,
    /// The expression after `in`.
    pub collection: ExprId,
    /// The expression before `=>`.
    pub key: Option<ExprId>,
    /// The value of each element.
    pub value: ExprId,
    /// `true` if `...` follows.
    pub group: bool,
    /// The expression after `if`.
    pub condition: Option<ExprId>,
}

/// The place of the text that is parsed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin {
    /// Its offset in the source of the tree.
    pub start: u32,
    /// Its offset in the tree's pool, if it is not a slice of the source.
    pub pool: Option<u32>,
}

/// Incomplete parts of the tree. Lists are stacks: a part begins at its length before the part.
#[derive(Debug, Default)]
pub struct Pending {
    /// The labels of the block header that is being read.
    pub labels: Vec<LabelNode>,
    /// The elements of tuples and arguments of calls.
    pub list: Vec<ExprId>,
    /// The entries of object constructors.
    pub entries: Vec<Entry>,
    /// The parts of templates.
    pub parts: Vec<template::TemplatePart>,
    terms: Vec<Term>,
    splats: Vec<body::Splat>,
    /// The traversal, where the text is one.
    pub traversal: Option<Traversal>,
}

/// The state of the grammar's actions.
#[derive(Debug)]
pub struct Build<'a> {
    tree: &'a mut Tree,
    text: &'a str,
    origin: Origin,
    reports: &'a Reports<'a>,
    /// From the first token of the text to its end.
    pub file: Span,
    bodies: Vec<OpenBody<'a>>,
    /// The incomplete parts.
    pub pending: Pending,
    /// The last expression that was given up because of an error in it.
    given_up: Option<ExprId>,
}

/// An operand of a flat operation, and the operator before it.
type Term = (Operator, ExprId);

/// Operators with their left sides. Each binds tighter than the one before it.
type Waiting = smallvec::SmallVec<[Term; 6]>;

impl<'a> Build<'a> {
    /// Actions that add to `tree` the nodes of `text`, which stands at `origin` and consists of `tokens`.
    pub fn new(tree: &'a mut Tree, text: &'a str, origin: Origin, reports: &'a Reports<'a>, tokens: &[Token]) -> Self {
        const TOKENS_OF_NODE: usize = 4;
        tree.nodes.reserve(tokens.len() / TOKENS_OF_NODE);
        // Comments are skipped, except for their line ends.
        let ends_line = |token: &Token| text.get(token.span.range()).is_some_and(|text| text.ends_with('\n'));
        let is_skipped = |token: &&Token| token.kind == TokenKind::Comment && !ends_line(token);
        let file = match (tokens.iter().find(|token| !is_skipped(token)), tokens.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => Span::of(0..text.len()),
        };
        Self { tree, text, origin, reports, file, bodies: Vec::new(), pending: Pending::default(), given_up: None }
    }

    /// Drops everything that is not complete.
    pub fn forget(&mut self) {
        self.pending = Pending::default();
    }

    /// A span of the text as one of the source.
    fn place(&self, span: Span) -> Span {
        Span::new(span.start + self.origin.start, span.end + self.origin.start)
    }

    /// The text at a span.
    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The text at a span, as the tree names it.
    pub fn str(&self, span: Span) -> Str {
        match self.origin.pool {
            None => Str::of(self.place(span)),
            Some(pool) => Str { start: span.start + pool, end: span.end + pool, pooled: true },
        }
    }

    /// A node whose `span` is already one of the source.
    fn node(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = ExprId(Span::of(0..self.tree.nodes.len()).end);
        self.tree.nodes.push(ExprNode { expr, span });
        id
    }

    /// An expression that could not be read.
    pub fn invalid(&mut self, span: Span) -> ExprId {
        self.node(Expr::Invalid, self.place(span))
    }

    /// A callee without the rest of its call: something else stands at `found`. An evaluation reports it again.
    pub fn broken_callee(&mut self, callee: Callee, found: Span, summary: &'static str) -> ExprId {
        let expr = self.invalid(callee.span.to(found));
        self.tree.add_broken(expr, self.place(found), summary);
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

    /// A number. One that is out of bounds is invalid.
    pub fn number(&mut self, digits: Span) -> ExprId {
        let sound = is_number(self.slice(digits));
        let expr = if sound { Expr::Number(self.str(digits)) } else { Expr::Invalid };
        self.node(expr, self.place(digits))
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
        let list = self.pending.terms.len();
        self.pending.terms.push((op, first));
        self.pending.terms.push((op, next));
        list
    }

    /// A further operand.
    pub fn operand(&mut self, list: usize, op: Operator, next: ExprId) -> usize {
        self.pending.terms.push((op, next));
        list
    }

    /// Assembles a flat operation by precedence, from left to right.
    pub fn operation(&mut self, list: usize) -> ExprId {
        let (mut waiting, mut right) = self.waiting(list);
        while let Some((op, left)) = waiting.pop() {
            right = self.binary(left, op, right);
        }
        right
    }

    /// An operand after which the expression was given up.
    pub fn give_up(&mut self, operand: ExprId) -> ExprId {
        self.given_up = Some(operand);
        operand
    }

    /// An operation whose last operand is broken. What is left stands before the operator that binds least of those
    /// that still wait for their right side.
    pub fn give_up_operation(&mut self, list: usize) -> ExprId {
        let op = self.pending.terms.pop().map_or(Operator::Or, |term| term.0);
        let (mut waiting, mut right) = self.waiting(list);
        while let Some((before, left)) = waiting.pop() {
            right = if binds(before) >= binds(op) { self.binary(left, before, right) } else { left };
        }
        self.give_up(right)
    }

    /// Takes the operands from `list` on. Returns the operators without a right side, with their left sides, and the
    /// last right side.
    fn waiting(&mut self, list: usize) -> (Waiting, ExprId) {
        let mut waiting = Waiting::new();
        let mut terms = list..self.pending.terms.len();
        let mut right = terms.next().and_then(|at| self.pending.terms.get(at)).map_or(ExprId(0), |term| term.1);
        for at in terms {
            let Some(&(op, next)) = self.pending.terms.get(at) else { break };
            while let Some(&(before, left)) = waiting.last().filter(|(before, _)| binds(*before) >= binds(op)) {
                waiting.pop();
                right = self.binary(left, before, right);
            }
            waiting.push((op, right));
            right = next;
        }
        self.pending.terms.truncate(list);
        (waiting, right)
    }

    fn binary(&mut self, left: ExprId, op: Operator, right: ExprId) -> ExprId {
        let span = self.between(left, right);
        self.node(Expr::Binary { op, left, right }, span)
    }

    /// `condition ? then : otherwise`
    pub fn conditional(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        if self.given_up == Some(otherwise) {
            return self.give_up(condition);
        }
        let span = self.between(condition, otherwise);
        self.node(Expr::Conditional { condition, then, otherwise }, span)
    }

    /// `condition ? then` without an alternative: the condition is left.
    pub fn half_conditional(&mut self, condition: ExprId, then: ExprId) -> ExprId {
        if self.given_up == Some(then) { self.give_up(condition) } else { condition }
    }

    // Lists

    fn ids(&mut self, list: usize) -> Run {
        let start = self.tree.ids.len();
        self.tree.ids.extend(self.pending.list.drain(list.min(self.pending.list.len())..));
        run(start, self.tree.ids.len())
    }

    /// `[ … ]`
    pub fn tuple(&mut self, list: usize, span: Span) -> ExprId {
        let elements = self.ids(list);
        self.node(Expr::Tuple(elements), self.place(span))
    }

    /// An entry of an object constructor. A key that begins with a parenthesis is never taken for a name.
    pub fn entry(&mut self, key: ExprId, value: ExprId) {
        let span = self.tree.span(key);
        let at = span.start.saturating_sub(self.origin.start) as usize;
        let forced = self.text.as_bytes().get(at) == Some(&b'(');
        let key = self.node(Expr::Key { inner: key, forced }, span);
        self.pending.entries.push(Entry { key, value });
    }

    /// `{ … }`
    pub fn object(&mut self, list: usize, span: Span) -> ExprId {
        let start = self.tree.entries.len();
        self.tree.entries.extend(self.pending.entries.drain(list.min(self.pending.entries.len())..));
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

    /// A call whose arguments stand after `open`, where `close` begins at the closing parenthesis.
    pub fn call(&mut self, callee: Callee, args: usize, expand: bool, open: u32, close: Span) -> ExprId {
        let args = self.ids(args);
        let span = self.place(Span::new(callee.span.start, close.end));
        let open = self.place(Span::new(open, open + 1));
        let (name_span, close) = (self.place(callee.span), self.place(close));
        self.node(Expr::Call(Call { name: callee.name, name_span, args, expand, open, close }), span)
    }

    // `for`

    /// A `for` whose brackets stand at `span`.
    pub fn for_expr(&mut self, parts: ForParts, span: Span) -> ExprId {
        let place = self.place(span);
        let node = For {
            key_var: parts.names.key.map(|name| self.str(name)),
            value_var: self.str(parts.names.value),
            collection: parts.collection,
            key: parts.key,
            value: parts.value,
            condition: parts.condition,
            group: parts.group,
            open: Span::new(place.start, place.start + 1),
        };
        self.for_node(node, place)
    }

    fn for_node(&mut self, node: For, span: Span) -> ExprId {
        let id = ForId(Span::of(0..self.tree.fors.len()).end);
        self.tree.fors.push(node);
        self.node(Expr::For(id), span)
    }

    // Traversals

    /// The name that a traversal begins with.
    pub fn traversal_root(&mut self, name: Span) {
        self.pending.traversal =
            Some(Traversal { root: self.str(name), root_span: self.place(name), steps: Vec::new() });
    }

    /// A further step of the traversal.
    pub fn traversal_step(&mut self, kind: Option<StepKind>, span: Span) {
        let span = self.place(span);
        if let Some(traversal) = &mut self.pending.traversal {
            traversal.steps.push(TraversalStep { kind, span });
        }
    }

    /// The text of a key in quotes, whose parts stand on their stack from `list` on.
    pub fn traversal_key(&mut self, list: usize, start: u32) -> Str {
        let text = self.literal_text(list, Span::new(start + 1, start + 1));
        self.normal(text)
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
