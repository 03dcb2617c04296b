//! The grammar's actions: each makes a node of the tree, expands a macro, or finds out what is wrong.

use super::fault::Fault;
use super::literal::{self, BadEscape};
use super::macros;
use super::tree::{
    Call, DEPTH, Element, Entry, Expr, ExprId, Field, Function, Literal, Name, Operator, Selection, Tree,
};
use crate::diagnostics::Code;
use crate::text::Span;

/// Names that no variable and no function may have.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether no variable can have this name: a word that is reserved, or that means something else.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || matches!(name, "true" | "false" | "null" | "in")
}

/// How many nodes a tree may have: macros copy what they are called on, so that a short source could have very many.
const NODES: usize = 1 << 18;

/// Operands of one operator in a row.
pub(crate) struct Chain {
    /// Where the first operand begins, the operand, and where it ends; brackets around it included.
    operands: Vec<(u32, ExprId, u32)>,
    /// Where each operator stands.
    operators: Vec<u32>,
}

/// A tree while it is read.
pub(crate) struct Build<'a> {
    pub(super) tree: &'a mut Tree,
    text: &'a str,
    /// Whether macros are expanded.
    macros: bool,
    /// What is wrong so far.
    pub(super) faults: Vec<Fault>,
    /// Where the tree becomes too deep or too large.
    pub(super) excess: Option<Fault>,
}

impl<'a> Build<'a> {
    pub fn new(tree: &'a mut Tree, text: &'a str, macros: bool) -> Self {
        Self { tree, text, macros, faults: Vec::new(), excess: None }
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Records what is wrong; its place holds no expression.
    pub(super) fn fault(&mut self, fault: Fault) -> ExprId {
        let span = fault.span;
        self.faults.push(fault);
        self.invalid(span)
    }

    /// A further node, unless it would be too deep.
    pub(super) fn add(&mut self, expr: Expr, span: Span, at: u32) -> ExprId {
        let id = self.tree.add(expr, span, at);
        let depth = self.tree.depth(id) as usize;
        if depth > DEPTH {
            self.excess.get_or_insert_with(|| Fault::too_deep(span));
        }
        if self.tree.len() > NODES {
            let message = format!("macros expand the expression to too much: the limit is {NODES} nodes");
            self.excess.get_or_insert_with(|| Fault::new(Code::LimitCode, span, message));
        }
        id
    }

    fn leaf(&mut self, expr: Expr, span: Span) -> ExprId {
        self.add(expr, span, span.start)
    }

    pub fn invalid(&mut self, span: Span) -> ExprId {
        self.leaf(Expr::Invalid, span)
    }

    pub(super) fn literal(&mut self, literal: Literal, span: Span) -> ExprId {
        self.leaf(Expr::Literal(literal), span)
    }

    pub fn bool(&mut self, value: bool, span: Span) -> ExprId {
        self.literal(Literal::Bool(value), span)
    }

    pub fn null(&mut self, span: Span) -> ExprId {
        self.literal(Literal::Null, span)
    }

    fn out_of_range(&mut self, kind: &str, span: Span) -> ExprId {
        self.fault(Fault::new(Code::NumberOutOfRange, span, format!("invalid {kind} literal: it does not fit")))
    }

    fn signed(&self, span: Span, digits: u32) -> (bool, &'a str) {
        (digits != span.start, self.slice(Span::new(digits, span.end)))
    }

    /// A whole number whose digits begin at `digits`, behind its sign.
    pub fn int(&mut self, span: Span, digits: u32) -> ExprId {
        let (negative, digits) = self.signed(span, digits);
        match literal::int(negative, digits) {
            Some(int) => self.literal(Literal::Int(int), span),
            None => self.out_of_range("int", span),
        }
    }

    pub fn uint(&mut self, span: Span) -> ExprId {
        match literal::uint(self.slice(span)) {
            Some(uint) => self.literal(Literal::Uint(uint), span),
            None => self.out_of_range("uint", span),
        }
    }

    pub fn double(&mut self, span: Span, digits: u32) -> ExprId {
        let (negative, digits) = self.signed(span, digits);
        match literal::double(negative, digits) {
            Some(double) => self.literal(Literal::Double(double), span),
            None => self.out_of_range("double", span),
        }
    }

    fn bad_escape(&mut self, span: Span, bad: BadEscape) -> ExprId {
        let within = Span::of(bad.at..bad.at + bad.len);
        let place = Span::new(span.start + within.start, span.start + within.end);
        self.faults.push(Fault::new(Code::UnexpectedToken, place, bad.why));
        self.invalid(span)
    }

    pub fn string(&mut self, span: Span) -> ExprId {
        match literal::string(self.slice(span)) {
            Ok(text) => {
                let text = self.tree.intern(&text);
                self.literal(Literal::String(text), span)
            }
            Err(bad) => self.bad_escape(span, bad),
        }
    }

    pub fn bytes(&mut self, span: Span) -> ExprId {
        match literal::bytes(self.slice(span)) {
            Ok(bytes) => {
                let bytes = self.tree.add_bytes(&bytes);
                self.literal(Literal::Bytes(bytes), span)
            }
            Err(bad) => self.bad_escape(span, bad),
        }
    }

    /// A name that may be reserved.
    fn unreserved(&mut self, name: Span) -> Option<Name> {
        let text = self.slice(name);
        if RESERVED.contains(&text) {
            let message = format!("reserved identifier: {text}");
            self.faults.push(Fault::new(Code::UnexpectedToken, name, message));
            return None;
        }
        Some(self.tree.intern(text))
    }

    /// `name`, or `.name` with its dot.
    pub fn ident(&mut self, name: Span, dot: Option<u32>) -> ExprId {
        let span = Span::new(dot.unwrap_or(name.start), name.end);
        match self.unreserved(name) {
            Some(ident) => self.add(Expr::Ident { name: ident, rooted: dot.is_some() }, span, name.start),
            None => self.invalid(span),
        }
    }

    /// The name of a field, which may stand in backticks.
    fn field_name(&mut self, name: Span) -> Name {
        let text = self.slice(name).trim_matches('`');
        self.tree.intern(text)
    }

    pub fn field(&mut self, name: Span, value: ExprId, optional: bool, at: u32) -> Field {
        Field { name: self.field_name(name), value, optional, at }
    }

    pub fn select(&mut self, operand: ExprId, field: Span, selection: Selection, span: Span, at: u32) -> ExprId {
        let field = self.field_name(field);
        self.add(Expr::Select { operand, field, selection }, span, at)
    }

    /// An operator on its operands.
    pub fn call(&mut self, operator: Operator, operands: &[ExprId], span: Span, at: u32) -> ExprId {
        let args = self.tree.add_ids(operands);
        let function = Function::Operator(operator);
        self.add(Expr::Call(Call { function, rooted: false, receiver: None, args }), span, at)
    }

    /// A run of `count` prefix operators.
    pub fn prefix(&mut self, operator: Operator, count: usize, operand: ExprId, span: Span) -> ExprId {
        if count.is_multiple_of(2) { operand } else { self.call(operator, &[operand], span, span.start) }
    }

    pub fn global_call(&mut self, name: Span, dot: Option<u32>, args: Vec<ExprId>, span: Span, at: u32) -> ExprId {
        let Some(name) = self.unreserved(name) else { return self.invalid(span) };
        let args = self.tree.add_ids(&args);
        let call = Call { function: Function::Named(name), rooted: dot.is_some(), receiver: None, args };
        self.call_or_macro(call, span, at)
    }

    pub fn member_call(&mut self, receiver: ExprId, name: Span, args: Vec<ExprId>, span: Span, at: u32) -> ExprId {
        let name = self.tree.intern(self.slice(name));
        let args = self.tree.add_ids(&args);
        let call = Call { function: Function::Named(name), rooted: false, receiver: Some(receiver), args };
        self.call_or_macro(call, span, at)
    }

    fn call_or_macro(&mut self, call: Call, span: Span, at: u32) -> ExprId {
        let id = self.add(Expr::Call(call), span, at);
        if !self.macros || self.excess.is_some() {
            return id;
        }
        macros::expand(self, id, call, span, at)
    }

    pub fn list(&mut self, elements: Vec<Element>, span: Span) -> ExprId {
        let elements = self.tree.add_elements(&elements);
        self.leaf(Expr::List(elements), span)
    }

    pub fn map(&mut self, entries: Vec<Entry>, span: Span) -> ExprId {
        let entries = self.tree.add_entries(&entries);
        self.leaf(Expr::Map(entries), span)
    }

    /// A message, if what stands before the brace is a qualified name, which takes up all of `named`.
    pub fn message(&mut self, name: ExprId, named: Span, fields: Vec<Field>, span: Span, at: u32) -> ExprId {
        match self.qualified(name).filter(|_| self.tree.span(name) == named) {
            Some(name) => {
                let (name, fields) = (self.tree.intern(&name), self.tree.add_fields(&fields));
                self.add(Expr::Message { name, fields }, span, at)
            }
            None if self.tree.expr(name) == Expr::Invalid => self.invalid(span),
            None => {
                let place = Span::new(at, at.saturating_add(1));
                let message = "unexpected `{`: a message begins with a qualified name";
                self.fault(Fault::new(Code::UnexpectedToken, place, message))
            }
        }
    }

    /// `a.b.c`, from names and plain selects without backticks.
    fn qualified(&self, id: ExprId) -> Option<String> {
        let (mut parts, mut at) = (Vec::new(), id);
        loop {
            match self.tree.expr(at) {
                Expr::Ident { name, rooted } => {
                    parts.push(self.tree.name(name));
                    parts.extend(rooted.then_some(""));
                    parts.reverse();
                    return Some(parts.join("."));
                }
                Expr::Select { operand, field, selection: Selection::Plain } => {
                    let plain = self.slice(self.tree.span(at)).ends_with(|last: char| last != '`');
                    parts.push(Some(self.tree.name(field)).filter(|_| plain)?);
                    at = operand;
                }
                _ => return None,
            }
        }
    }

    /// A chain of two operands.
    pub fn chain(&mut self, first: (u32, ExprId), at: u32, next: (ExprId, u32)) -> Chain {
        let (start, first) = first;
        let end = self.tree.span(first).end;
        self.link(Chain { operands: vec![(start, first, end)], operators: Vec::new() }, at, next)
    }

    /// A further operand.
    pub fn link(&mut self, mut chain: Chain, at: u32, (next, end): (ExprId, u32)) -> Chain {
        chain.operators.push(at);
        chain.operands.push((self.tree.span(next).start, next, end));
        chain
    }

    /// The tree of a chain: about as many operands on the left of each operator as on the right.
    pub fn balanced(&mut self, operator: Operator, chain: Chain) -> ExprId {
        let last = chain.operators.len().saturating_sub(1);
        self.balanced_part(operator, &chain, 0, last)
    }

    /// The operators `from..=to`; goes as deep as the logarithm of how many there are.
    fn balanced_part(&mut self, operator: Operator, chain: &Chain, from: usize, to: usize) -> ExprId {
        let middle = (from + to).div_ceil(2);
        let operand = |at: usize| chain.operands.get(at).map(|(_, id, _)| *id);
        let left = if middle == from { operand(middle) } else { None };
        let left = left.unwrap_or_else(|| self.balanced_part(operator, chain, from, middle.saturating_sub(1)));
        let right = if middle == to { operand(middle + 1) } else { None };
        let right = right.unwrap_or_else(|| self.balanced_part(operator, chain, middle + 1, to));
        let start = chain.operands.get(from).map_or(0, |(start, ..)| *start);
        let end = chain.operands.get(to + 1).map_or(0, |(.., end)| *end);
        let at = chain.operators.get(middle).copied().unwrap_or(start);
        self.call(operator, &[left, right], Span::new(start, end), at)
    }
}

/// A further node of a tree that was read before: the call, or what the macro that it calls makes of it; `None` where
/// that macro refuses it, or the tree becomes too deep or too large.
pub(crate) fn expanded(tree: &mut Tree, call: Call, span: Span, at: u32) -> Option<ExprId> {
    let mut build = Build::new(tree, "", true);
    let made = build.call_or_macro(call, span, at);
    (build.faults.is_empty() && build.excess.is_none()).then_some(made)
}

/// The tree of a chain of an operator with these operands, as it is made of a source that has them in a row; `None`
/// where there is no operand, or the tree becomes too deep or too large.
pub(crate) fn balanced(tree: &mut Tree, operator: Operator, operands: &[ExprId]) -> Option<ExprId> {
    let [first, second, rest @ ..] = operands else { return operands.first().copied() };
    let (from, to) = (tree.span(*first), tree.span(*second));
    let mut build = Build::new(tree, "", true);
    let mut chain = build.chain((from.start, *first), to.start, (*second, to.end));
    for &next in rest {
        let span = build.tree.span(next);
        chain = build.link(chain, span.start, (next, span.end));
    }
    let made = build.balanced(operator, chain);
    build.excess.is_none().then_some(made)
}
