//! The actions of the grammar: each adds a node to the tree, expands a macro, or records an error.

use super::lexer::BadEscape;
use super::tree::{
    Call, DEPTH, Element, Entry, Expr, ExprId, Field, Function, Literal, Name, Operator, Selection, Tree,
};
use super::{SyntaxError, lexer};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

/// Identifiers that variables and functions cannot have.
const RESERVED: [&str; 17] = [
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

fn is_reserved_identifier(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Returns `true` for a name that no variable can have: a reserved identifier or a keyword.
pub fn is_reserved(name: &str) -> bool {
    is_reserved_identifier(name) || matches!(name, "true" | "false" | "null" | "in")
}

/// The maximum number of nodes. Macros copy their receiver, so a short source can expand to very many.
const NODES: usize = 1 << 18;

/// Operands of one operator in a row.
pub struct Chain {
    /// The start, id and end of each operand, including parentheses.
    operands: Vec<(u32, ExprId, u32)>,
    /// The offset of each operator.
    operators: Vec<u32>,
}

/// Expands a call if it calls a macro, and returns the expansion; otherwise returns the call.
type Expander = fn(&mut Build<'_>, ExprId, Call) -> ExprId;

/// A tree under construction.
pub struct Build<'a> {
    pub(super) tree: &'a mut Tree,
    text: &'a str,
    /// Expands macros, unless they are parsed as calls.
    expander: Option<Expander>,
    /// The macros that are errors.
    pub(super) refused_macros: &'static [&'static str],
    /// The errors so far.
    pub(super) errors: Vec<SyntaxError>,
    /// The error of a tree that is too deep or too large.
    pub(super) excess: Option<SyntaxError>,
}

impl<'a> Build<'a> {
    pub fn new(tree: &'a mut Tree, text: &'a str, expander: Option<Expander>) -> Self {
        Self { tree, text, expander, refused_macros: &[], errors: Vec::new(), excess: None }
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Records an error, and adds an invalid expression in its place.
    pub(super) fn error(&mut self, error: SyntaxError) -> ExprId {
        let span = error.span;
        self.errors.push(error);
        self.invalid(span)
    }

    /// Adds a node. Records the first one that makes the tree too deep or too large.
    pub(super) fn add(&mut self, expr: Expr, span: Span, at: u32) -> ExprId {
        let id = self.tree.add(expr, span, at);
        if self.tree.height(id) as usize > DEPTH {
            self.excess.get_or_insert_with(|| SyntaxError::too_deep(span, DEPTH));
        }
        if self.tree.len() > NODES {
            let message = format!("macros expand the expression to too much: the limit is {NODES} nodes");
            self.excess.get_or_insert_with(|| SyntaxError::new(Code::LimitCode, span, message));
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

    fn number(&mut self, kind: &str, literal: Option<Literal>, span: Span) -> ExprId {
        let Some(literal) = literal else {
            let message = format!("invalid {kind} literal: it does not fit");
            return self.error(SyntaxError::new(Code::NumberOutOfRange, span, message));
        };
        self.literal(literal, span)
    }

    fn signed(&self, span: Span, digits: u32) -> (bool, &'a str) {
        (digits != span.start, self.slice(Span::new(digits, span.end)))
    }

    /// Adds an integer whose digits start at `digits`, after its sign.
    pub fn int(&mut self, span: Span, digits: u32) -> ExprId {
        let (negative, digits) = self.signed(span, digits);
        self.number("int", lexer::int(negative, digits).map(Literal::Int), span)
    }

    pub fn uint(&mut self, span: Span) -> ExprId {
        self.number("uint", lexer::uint(self.slice(span)).map(Literal::Uint), span)
    }

    pub fn double(&mut self, span: Span, digits: u32) -> ExprId {
        let (negative, digits) = self.signed(span, digits);
        self.number("double", lexer::double(negative, digits).map(Literal::Double), span)
    }

    fn quoted(&mut self, literal: Result<Literal, BadEscape>, span: Span) -> ExprId {
        match literal {
            Ok(literal) => self.literal(literal, span),
            Err(bad) => {
                let within = Span::of(bad.from..bad.to);
                let escape = Span::new(span.start + within.start, span.start + within.end);
                self.errors.push(SyntaxError::new(Code::UnexpectedToken, escape, bad.why));
                self.invalid(span)
            }
        }
    }

    pub fn string(&mut self, span: Span) -> ExprId {
        let text = lexer::string(self.slice(span));
        let literal = text.map(|text| Literal::String(self.tree.intern(&text)));
        self.quoted(literal, span)
    }

    pub fn bytes(&mut self, span: Span) -> ExprId {
        let bytes = lexer::bytes(self.slice(span));
        let literal = bytes.map(|bytes| Literal::Bytes(self.tree.add_bytes(&bytes)));
        self.quoted(literal, span)
    }

    /// Interns an identifier, unless it is reserved.
    fn unreserved(&mut self, name: Span) -> Option<Name> {
        let text = self.slice(name);
        if is_reserved_identifier(text) {
            let message = format!("reserved identifier: {text}");
            self.errors.push(SyntaxError::new(Code::UnexpectedToken, name, message));
            return None;
        }
        Some(self.tree.intern(text))
    }

    /// Adds `name`, or `.name` if there is a dot.
    pub fn ident(&mut self, name: Span, dot: Option<u32>) -> ExprId {
        let span = Span::new(dot.unwrap_or(name.start), name.end);
        match self.unreserved(name) {
            Some(ident) => self.add(Expr::Ident { name: ident, rooted: dot.is_some() }, span, name.start),
            None => self.invalid(span),
        }
    }

    /// Interns the name of a field, without backticks.
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

    /// Adds the call of an operator.
    pub fn call(&mut self, operator: Operator, operands: &[ExprId], span: Span, at: u32) -> ExprId {
        let args = self.tree.add_ids(operands);
        let function = Function::Operator(operator);
        self.add(Expr::Call(Call { function, rooted: false, receiver: None, args }), span, at)
    }

    /// Adds a run of `count` prefix operators, of which two cancel each other out.
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

    /// Adds a call, or the expansion of a macro.
    pub(super) fn call_or_macro(&mut self, call: Call, span: Span, at: u32) -> ExprId {
        let id = self.add(Expr::Call(call), span, at);
        match self.expander.filter(|_| self.excess.is_none()) {
            Some(expand) => expand(self, id, call),
            None => id,
        }
    }

    pub fn list(&mut self, elements: Vec<Element>, span: Span) -> ExprId {
        let elements = self.tree.add_elements(elements);
        self.leaf(Expr::List(elements), span)
    }

    pub fn map(&mut self, entries: Vec<Entry>, span: Span) -> ExprId {
        let entries = self.tree.add_entries(entries);
        self.leaf(Expr::Map(entries), span)
    }

    /// Adds a message, if the expression before the brace is a qualified name that takes up all of `named`.
    pub fn message(&mut self, name: ExprId, named: Span, fields: Vec<Field>, span: Span, at: u32) -> ExprId {
        match self.qualified(name).filter(|_| self.tree.span(name) == named) {
            Some(name) => {
                let (name, fields) = (self.tree.intern(&name), self.tree.add_fields(fields));
                self.add(Expr::Message { name, fields }, span, at)
            }
            None if self.tree.expr(name) == Expr::Invalid => self.invalid(span),
            None => {
                let place = Span::new(at, at.saturating_add(1));
                let message = "unexpected `{`: a message begins with a qualified name";
                self.error(SyntaxError::new(Code::UnexpectedToken, place, message))
            }
        }
    }

    /// Returns the qualified name that an expression is, without backticks but with its leading dot.
    fn qualified(&self, id: ExprId) -> Option<String> {
        let name = self.tree.qualified(id).filter(|_| !self.slice(self.tree.span(id)).contains('`'))?;
        Some(format!("{}{}", if name.rooted { "." } else { "" }, name.text()))
    }

    /// Starts a chain with two operands.
    pub fn chain(&mut self, first: (u32, ExprId), at: u32, next: (ExprId, u32)) -> Chain {
        let (start, first) = first;
        let end = self.tree.span(first).end;
        self.link(Chain { operands: vec![(start, first, end)], operators: Vec::new() }, at, next)
    }

    /// Adds an operand to a chain.
    pub fn link(&mut self, mut chain: Chain, at: u32, (next, end): (ExprId, u32)) -> Chain {
        chain.operators.push(at);
        chain.operands.push((self.tree.span(next).start, next, end));
        chain
    }

    /// Adds the balanced tree of a chain.
    pub fn balanced(&mut self, operator: Operator, chain: Chain) -> ExprId {
        let last = chain.operators.len().saturating_sub(1);
        self.balanced_part(operator, &chain, 0, last)
    }

    /// Adds the operators `from..=to`. The recursion is logarithmic in their number.
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

/// Adds the tree of a chain of `operator` to a parsed tree, as the parser builds it. Returns `None` for no operands, or a
/// tree that is too deep or too large.
pub fn balanced(tree: &mut Tree, operator: Operator, operands: &[ExprId]) -> Option<ExprId> {
    let [first, second, rest @ ..] = operands else { return operands.first().copied() };
    let (from, to) = (tree.span(*first), tree.span(*second));
    let mut build = Build::new(tree, "", None);
    let mut chain = build.chain((from.start, *first), to.start, (*second, to.end));
    for &next in rest {
        let span = build.tree.span(next);
        chain = build.link(chain, span.start, (next, span.end));
    }
    let made = build.balanced(operator, chain);
    build.excess.is_none().then_some(made)
}
