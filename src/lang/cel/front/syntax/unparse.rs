//! The unparser: source text that parses to the same tree, with macros as calls and only the necessary parentheses.

use std::fmt::Write;

use super::token::is_identifier;
use super::tree::{Call, Expr, ExprId, Function, Literal, Operator, Selection, Tree};

/// The precedence of expressions that never need parentheses.
const MEMBER: u8 = 8;

/// Converts a tree to source text.
///
/// ```
/// use dropforge::{dialect::cel::syntax::{Options, parse, unparse}, text::Source};
/// let text = "((a+1)*2==x)||l.exists( y,has(y.ok) )";
/// let tree = parse(&Source::new("e", text), &Options::default()).unwrap();
/// assert_eq!(unparse(&tree), "(a + 1) * 2 == x || l.exists(y, has(y.ok))");
/// ```
pub fn unparse(tree: &Tree) -> String {
    let mut writer = Writer { tree, text: String::new() };
    writer.expr(tree.root, 0);
    writer.text
}

struct Writer<'t> {
    tree: &'t Tree,
    text: String,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes an expression, in parentheses if its precedence is lower than `least`. The parser limits its depth.
    fn expr(&mut self, id: ExprId, least: u8) {
        let id = self.tree.macro_call(id).unwrap_or(id);
        let (open, close) = if self.precedence(id) < least { ("(", ")") } else { ("", "") };
        self.push(open);
        self.bare(id);
        self.push(close);
    }

    /// Writes the name of a field, in backticks if necessary.
    fn field(&mut self, name: &str) {
        let quote = if is_plain(name) { "" } else { "`" };
        self.text.extend([quote, name, quote]);
    }

    /// Returns the precedence of an expression in source form.
    fn precedence(&self, id: ExprId) -> u8 {
        match self.tree.expr(id) {
            Expr::Call(Call { function: Function::Operator(operator), .. }) => operator.precedence(),
            _ => MEMBER,
        }
    }

    fn bare(&mut self, id: ExprId) {
        let tree = self.tree;
        match tree.expr(id) {
            // Trees without errors contain neither. The text does not parse.
            Expr::Invalid => self.push("<invalid>"),
            Expr::Comprehension(_) => self.push("<loop>"),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident { name, rooted } => self.text.extend([dot(rooted), tree.name(name)]),
            Expr::Select { operand, field, selection } => {
                let (before, mark, after) = match selection {
                    Selection::Plain => ("", ".", ""),
                    Selection::Optional => ("", ".?", ""),
                    Selection::Test => ("has(", ".", ")"),
                };
                self.push(before);
                self.expr(operand, MEMBER);
                self.push(mark);
                self.field(tree.name(field));
                self.push(after);
            }
            Expr::Call(call) => match call.function {
                Function::Operator(operator) => self.operator(id, operator, tree.ids(call.args)),
                Function::Named(name) => self.call(call, tree.name(name)),
            },
            Expr::List(run) => self.listed("[", tree.elements(run), "]", |writer, of| {
                writer.push(optional(of.optional));
                writer.expr(of.value, 0);
            }),
            Expr::Map(run) => self.listed("{", tree.entries(run), "}", |writer, of| {
                writer.push(optional(of.optional));
                writer.expr(of.key, 0);
                writer.push(": ");
                writer.expr(of.value, 0);
            }),
            Expr::Message { name, fields } => {
                self.push(tree.name(name));
                self.listed("{", tree.fields(fields), "}", |writer, of| {
                    writer.push(optional(of.optional));
                    writer.field(tree.name(of.name));
                    writer.push(": ");
                    writer.expr(of.value, 0);
                });
            }
        }
    }

    fn listed<T>(&mut self, open: &str, items: &[T], close: &str, item: impl Fn(&mut Self, &T)) {
        self.push(open);
        for (at, of) in items.iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            item(self, of);
        }
        self.push(close);
    }

    fn call(&mut self, call: Call, name: &str) {
        if let Some(receiver) = call.receiver {
            self.expr(receiver, MEMBER);
            self.push(".");
        }
        self.text.extend([dot(call.rooted), name]);
        self.listed("(", self.tree.ids(call.args), ")", |writer, &arg| writer.expr(arg, 0));
    }

    fn operator(&mut self, id: ExprId, operator: Operator, args: &[ExprId]) {
        let precedence = operator.precedence();
        match (operator, args) {
            (Operator::Conditional, &[condition, then, otherwise]) => {
                self.expr(condition, precedence + 1);
                self.push(" ? ");
                self.expr(then, precedence + 1);
                self.push(" : ");
                self.expr(otherwise, precedence);
            }
            (Operator::Index | Operator::OptionalIndex, &[operand, key]) => {
                self.expr(operand, precedence);
                self.push(if operator == Operator::Index { "[" } else { "[?" });
                self.expr(key, 0);
                self.push("]");
            }
            (Operator::Not | Operator::Negate, &[operand]) => self.prefix(operator, operand),
            (Operator::And | Operator::Or, _) => {
                for (at, operand) in self.chain(id, operator, args).into_iter().enumerate() {
                    if at > 0 {
                        self.text.extend([" ", operator.symbol(), " "]);
                    }
                    self.expr(operand, precedence + 1);
                }
            }
            (_, &[left, right]) => {
                self.expr(left, precedence);
                self.text.extend([" ", operator.symbol(), " "]);
                self.expr(right, precedence + 1);
            }
            // Functions that only macros call are written as the macro calls.
            _ => self.push(operator.id()),
        }
    }

    /// `!x`, `-x`. A minus before a number would be its sign, even if more follows: `-(1.f())`.
    fn prefix(&mut self, operator: Operator, operand: ExprId) {
        let parens = operator == Operator::Negate && self.begins_with_number(operand);
        let (open, close, least) = if parens { ("(", ")", 0) } else { ("", "", MEMBER) };
        self.text.extend([operator.symbol(), open]);
        self.expr(operand, least);
        self.push(close);
    }

    fn begins_with_number(&self, id: ExprId) -> bool {
        let mut at = id;
        loop {
            at = self.tree.macro_call(at).unwrap_or(at);
            at = match self.tree.expr(at) {
                Expr::Literal(Literal::Int(_) | Literal::Double(_)) => return true,
                Expr::Select { operand, selection: Selection::Plain | Selection::Optional, .. } => operand,
                Expr::Call(Call { receiver: Some(receiver), .. }) => receiver,
                Expr::Call(Call {
                    function: Function::Operator(Operator::Index | Operator::OptionalIndex),
                    args,
                    ..
                }) => match self.tree.ids(args) {
                    [operand, ..] => *operand,
                    [] => return false,
                },
                _ => return false,
            };
        }
    }

    /// Returns the operands of a chain of `operator`, if parsing them in a row makes this tree; otherwise the operands of
    /// the node.
    fn chain(&self, id: ExprId, operator: Operator, args: &[ExprId]) -> Vec<ExprId> {
        let mut operands = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.operands(id, operator) {
                Some([left, right]) => open.extend([right, left]),
                None => operands.push(id),
            }
        }
        if self.is_balanced(id, operator, &operands) { operands } else { args.to_vec() }
    }

    /// Returns the operands of a node of this operator that no macro made.
    fn operands(&self, id: ExprId, operator: Operator) -> Option<[ExprId; 2]> {
        match self.tree.expr(id) {
            Expr::Call(Call { function: Function::Operator(of), args, .. })
                if of == operator && self.tree.macro_call(id).is_none() =>
            {
                <[ExprId; 2]>::try_from(self.tree.ids(args)).ok()
            }
            _ => None,
        }
    }

    /// Returns `true` if a node is the balanced tree of these operands.
    fn is_balanced(&self, id: ExprId, operator: Operator, operands: &[ExprId]) -> bool {
        let mut open = vec![(id, operands)];
        while let Some((id, operands)) = open.pop() {
            if let [one] = operands {
                if *one != id {
                    return false;
                }
                continue;
            }
            let Some([left, right]) = self.operands(id, operator) else { return false };
            // `Build::balanced` splits at the middle operator.
            let (before, after) = operands.split_at((operands.len() - 1) / 2 + 1);
            open.extend([(left, before), (right, after)]);
        }
        true
    }

    fn literal(&mut self, literal: Literal) {
        // Writing to a string cannot fail.
        let _ = match literal {
            Literal::Null => write!(self.text, "null"),
            Literal::Bool(bool) => write!(self.text, "{bool}"),
            Literal::Int(int) => write!(self.text, "{int}"),
            Literal::Uint(uint) => write!(self.text, "{uint}u"),
            Literal::Double(double) => write!(self.text, "{double:?}"),
            Literal::String(text) => write!(self.text, "{}", quoted(self.tree.name(text))),
            Literal::Bytes(run) => return bytes(&mut self.text, self.tree.bytes(run)),
        };
    }
}

fn dot(rooted: bool) -> &'static str {
    if rooted { "." } else { "" }
}

fn optional(optional: bool) -> &'static str {
    if optional { "?" } else { "" }
}

/// Returns `true` if a field's name needs no backticks.
fn is_plain(name: &str) -> bool {
    is_identifier(name) && !["true", "false", "null", "in"].contains(&name)
}

/// Returns a string literal.
pub fn quoted(text: &str) -> String {
    let mut to = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => to.extend(['\\', char]),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            control if control.is_control() => to.push_str(&format!("\\u{:04x}", u32::from(control))),
            _ => to.push(char),
        }
    }
    to.push('"');
    to
}

/// Appends a bytes literal, with `\xHH` for bytes that are not printable ASCII.
fn bytes(to: &mut String, bytes: &[u8]) {
    to.push_str("b\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => to.extend(['\\', char::from(byte)]),
            b' '..=b'~' => to.push(char::from(byte)),
            _ => drop(write!(to, "\\x{byte:02x}")),
        }
    }
    to.push('"');
}
