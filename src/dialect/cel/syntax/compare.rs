//! Comparison of trees, for tests of what is written and parsed again.

use std::mem::{Discriminant, discriminant};

use super::tree::{Expr, ExprId, Literal, Selection, Tree};

/// The contents of a node except its children.
type Label<'t> = (Discriminant<Expr>, Vec<&'t str>, Vec<bool>, String);

impl Tree {
    /// Returns `true` if two trees are the same expression, expanded from the same macros. Positions do not count.
    pub fn same_as(&self, other: &Tree) -> bool {
        let mut open = vec![(self.root, other.root)];
        while let Some((left, right)) = open.pop() {
            let (children, others) = (self.children(self.expr(left)), other.children(other.expr(right)));
            if self.label(left) != other.label(right) || children.len() != others.len() {
                return false;
            }
            open.extend(children.into_iter().zip(others));
        }
        true
    }

    fn label(&self, id: ExprId) -> Label<'_> {
        let expr = self.expr(id);
        let (mut names, mut marks) = (Vec::new(), vec![self.macro_call(id).is_some()]);
        let mut literal = String::new();
        match expr {
            Expr::Invalid => {}
            Expr::Literal(of) => literal = self.literal_label(of),
            Expr::Ident { name, rooted } => {
                names.push(self.name(name));
                marks.push(rooted);
            }
            Expr::Select { field, selection, .. } => {
                names.push(self.name(field));
                marks.extend([selection == Selection::Optional, selection == Selection::Test]);
            }
            Expr::Call(call) => {
                names.push(self.function(call.function));
                marks.extend([call.rooted, call.receiver.is_some()]);
            }
            Expr::List(run) => marks.extend(self.elements(run).iter().map(|element| element.optional)),
            Expr::Map(run) => marks.extend(self.entries(run).iter().map(|entry| entry.optional)),
            Expr::Message { name, fields } => {
                names.extend(
                    [name].into_iter().chain(self.fields(fields).iter().map(|of| of.name)).map(|of| self.name(of)),
                );
                marks.extend(self.fields(fields).iter().map(|field| field.optional));
            }
            Expr::Comprehension(of) => {
                let variables = self.comprehension(of).into_iter().flat_map(|of| of.variables());
                names.extend(variables.map(|name| self.name(name)));
            }
        }
        (discriminant(&expr), names, marks, literal)
    }

    fn literal_label(&self, literal: Literal) -> String {
        match literal {
            Literal::String(text) => format!("{:?}", self.name(text)),
            Literal::Bytes(run) => format!("b{:?}", self.bytes(run)),
            other => format!("{other:?}"),
        }
    }
}
