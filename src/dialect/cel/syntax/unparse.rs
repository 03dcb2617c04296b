//! The unparser: source text that parses to the same tree, with macros as calls and only the necessary parentheses.
//!
//! A stack of pieces to write takes the place of recursion.

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
    let mut writer = Writer { tree, text: String::new(), left: vec![Piece::Expr(tree.root, 0)] };
    while let Some(piece) = writer.left.pop() {
        writer.write(piece);
    }
    writer.text
}

/// A piece to write.
#[derive(Clone, Copy)]
enum Piece<'t> {
    Text(&'t str),
    /// The name of a field, in backticks if necessary.
    Field(&'t str),
    /// An expression, in parentheses if its precedence is lower.
    Expr(ExprId, u8),
}

struct Writer<'t> {
    tree: &'t Tree,
    text: String,
    /// The pieces to write, the next one last.
    left: Vec<Piece<'t>>,
}

impl<'t> Writer<'t> {
    fn write(&mut self, piece: Piece<'t>) {
        match piece {
            Piece::Text(text) => self.text.push_str(text),
            Piece::Field(name) if is_plain(name) => self.text.push_str(name),
            Piece::Field(name) => drop(write!(self.text, "`{name}`")),
            Piece::Expr(id, least) => {
                let id = self.tree.macro_call(id).unwrap_or(id);
                if self.precedence(id) < least {
                    self.then([Piece::Text("("), Piece::Expr(id, 0), Piece::Text(")")]);
                } else {
                    self.expr(id);
                }
            }
        }
    }

    /// Adds pieces to write next.
    fn then(&mut self, pieces: impl IntoIterator<Item = Piece<'t>>) {
        let from = self.left.len();
        self.left.extend(pieces);
        if let Some(new) = self.left.get_mut(from..) {
            new.reverse();
        }
    }

    /// Returns the precedence of an expression in source form.
    fn precedence(&self, id: ExprId) -> u8 {
        match self.tree.expr(id) {
            Expr::Call(Call { function: Function::Operator(operator), .. }) => operator.precedence(),
            _ => MEMBER,
        }
    }

    fn expr(&mut self, id: ExprId) {
        let tree = self.tree;
        match tree.expr(id) {
            // Trees without errors contain neither. The text does not parse.
            Expr::Invalid => self.text.push_str("<invalid>"),
            Expr::Comprehension(_) => self.text.push_str("<loop>"),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident { name, rooted } => self.then([Piece::Text(dot(rooted)), Piece::Text(tree.name(name))]),
            Expr::Select { operand, field, selection } => {
                let (before, mark, after) = match selection {
                    Selection::Plain => ("", ".", ""),
                    Selection::Optional => ("", ".?", ""),
                    Selection::Test => ("has(", ".", ")"),
                };
                let (operand, field) = (Piece::Expr(operand, MEMBER), Piece::Field(tree.name(field)));
                self.then([Piece::Text(before), operand, Piece::Text(mark), field, Piece::Text(after)]);
            }
            Expr::Call(call) => match call.function {
                Function::Operator(operator) => self.operator(id, operator, tree.ids(call.args)),
                Function::Named(name) => self.call(call, tree.name(name)),
            },
            Expr::List(run) => {
                let elements = tree.elements(run);
                self.listed("[", elements.iter().map(|of| vec![optional(of.optional), Piece::Expr(of.value, 0)]), "]");
            }
            Expr::Map(run) => {
                let entry = |of: &super::tree::Entry| {
                    vec![optional(of.optional), Piece::Expr(of.key, 0), Piece::Text(": "), Piece::Expr(of.value, 0)]
                };
                self.listed("{", tree.entries(run).iter().map(entry), "}");
            }
            Expr::Message { name, fields } => {
                let field = |of: &super::tree::Field| {
                    let name = Piece::Field(tree.name(of.name));
                    vec![optional(of.optional), name, Piece::Text(": "), Piece::Expr(of.value, 0)]
                };
                self.text.push_str(tree.name(name));
                self.listed("{", tree.fields(fields).iter().map(field), "}");
            }
        }
    }

    fn listed(&mut self, open: &'t str, items: impl Iterator<Item = Vec<Piece<'t>>>, close: &'t str) {
        let mut pieces = vec![Piece::Text(open)];
        for (at, item) in items.enumerate() {
            pieces.extend((at > 0).then_some(Piece::Text(", ")));
            pieces.extend(item);
        }
        pieces.push(Piece::Text(close));
        self.then(pieces);
    }

    fn call(&mut self, call: Call, name: &'t str) {
        let receiver = call.receiver.map(|of| [Piece::Expr(of, MEMBER), Piece::Text(".")]);
        let args = self.tree.ids(call.args).iter().map(|&arg| vec![Piece::Expr(arg, 0)]);
        self.listed("(", args, ")");
        let before = [Piece::Text(dot(call.rooted)), Piece::Text(name)];
        self.then(receiver.into_iter().flatten().chain(before));
    }

    fn operator(&mut self, id: ExprId, operator: Operator, args: &[ExprId]) {
        let precedence = operator.precedence();
        let symbol = |pieces: &mut Vec<Piece<'t>>| {
            pieces.extend([Piece::Text(" "), Piece::Text(operator.symbol()), Piece::Text(" ")]);
        };
        match (operator, args) {
            (Operator::Conditional, &[condition, then, otherwise]) => {
                let (condition, then) = (Piece::Expr(condition, precedence + 1), Piece::Expr(then, precedence + 1));
                let otherwise = Piece::Expr(otherwise, precedence);
                self.then([condition, Piece::Text(" ? "), then, Piece::Text(" : "), otherwise]);
            }
            (Operator::Index | Operator::OptionalIndex, &[operand, key]) => {
                let open = if operator == Operator::Index { "[" } else { "[?" };
                self.then([Piece::Expr(operand, precedence), Piece::Text(open), Piece::Expr(key, 0), Piece::Text("]")]);
            }
            (Operator::Not | Operator::Negate, &[operand]) => self.prefix(operator, operand),
            (Operator::And | Operator::Or, _) => {
                let mut pieces = Vec::new();
                for (at, operand) in self.chain(id, operator, args).into_iter().enumerate() {
                    if at > 0 {
                        symbol(&mut pieces);
                    }
                    pieces.push(Piece::Expr(operand, precedence + 1));
                }
                self.then(pieces);
            }
            (_, &[left, right]) => {
                let mut pieces = vec![Piece::Expr(left, precedence)];
                symbol(&mut pieces);
                pieces.push(Piece::Expr(right, precedence + 1));
                self.then(pieces);
            }
            // Functions that only macros call are written as the macro calls.
            _ => self.text.push_str(operator.id()),
        }
    }

    /// `!x`, `-x`. A minus before a number would be its sign, even if more follows: `-(1.f())`.
    fn prefix(&mut self, operator: Operator, operand: ExprId) {
        let parens = operator == Operator::Negate && self.begins_with_number(operand);
        let (open, close) = if parens { ("(", ")") } else { ("", "") };
        let operand = Piece::Expr(operand, if parens { 0 } else { MEMBER });
        self.then([Piece::Text(operator.symbol()), Piece::Text(open), operand, Piece::Text(close)]);
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
            let (before, behind) = operands.split_at((operands.len() - 1) / 2 + 1);
            open.extend([(left, before), (right, behind)]);
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
            Literal::String(text) => return string(&mut self.text, self.tree.name(text)),
            Literal::Bytes(run) => return bytes(&mut self.text, self.tree.bytes(run)),
        };
    }
}

fn dot(rooted: bool) -> &'static str {
    if rooted { "." } else { "" }
}

fn optional<'t>(optional: bool) -> Piece<'t> {
    Piece::Text(if optional { "?" } else { "" })
}

/// Returns `true` if a field's name needs no backticks.
fn is_plain(name: &str) -> bool {
    is_identifier(name) && !["true", "false", "null", "in"].contains(&name)
}

/// Appends a string literal.
fn string(to: &mut String, text: &str) {
    to.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => to.extend(['\\', char]),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            control if control.is_control() => drop(write!(to, "\\u{:04x}", u32::from(control))),
            _ => to.push(char),
        }
    }
    to.push('"');
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
