//! What names mean.

use super::super::syntax::tree::{Expr, ExprId, Selection, Tree};
use super::super::values::TYPE_NAMES;

/// What is known of the names that an expression sees when it is compiled.
#[derive(Clone, Copy, Default)]
pub struct Names<'n> {
    /// The namespace that names are looked for in first: `a.b`.
    pub container: &'n str,
    /// Whether there is a variable of a qualified name. Where it is not known which there are, the first part of a
    /// qualified name is the variable.
    pub declared: Option<&'n dyn Fn(&str) -> bool>,
}

/// What a qualified name is.
pub(super) enum Meaning {
    /// A variable of this name; so many of the parts are fields.
    Variable(String, usize),
    /// A type.
    Type(&'static str),
    /// Neither.
    Nothing,
}

impl Names<'_> {
    /// The names that `name` may stand for, the one that wins first.
    pub(super) fn candidates(&self, name: &str, rooted: bool) -> Vec<String> {
        let mut all = Vec::new();
        let mut container = if rooted { "" } else { self.container };
        while !container.is_empty() {
            all.push(format!("{container}.{name}"));
            container = container.rfind('.').and_then(|dot| container.get(..dot)).unwrap_or("");
        }
        all.push(name.to_owned());
        all
    }

    /// What a qualified name means: the longest part of it that there is.
    pub(super) fn meaning(&self, parts: &[&str], rooted: bool) -> Meaning {
        for fields in 0..parts.len() {
            let name = parts.get(..parts.len() - fields).unwrap_or(&[]).join(".");
            for candidate in self.candidates(&name, rooted) {
                if self.declared.is_some_and(|declared| declared(&candidate)) {
                    return Meaning::Variable(candidate, fields);
                }
                if let (0, Some(name)) = (fields, TYPE_NAMES.iter().find(|name| **name == candidate)) {
                    return Meaning::Type(name);
                }
            }
        }
        match (self.declared, parts) {
            (None, [first, fields @ ..]) => Meaning::Variable((*first).to_owned(), fields.len()),
            _ => Meaning::Nothing,
        }
    }
}

/// The parts of a qualified name that is a variable's or a type's, and whether it begins with a dot; where an expression
/// is something else, nothing.
pub(super) fn qualified(tree: &Tree, id: ExprId) -> Option<(Vec<&str>, bool, ExprId)> {
    let (mut parts, mut at) = (Vec::new(), id);
    loop {
        match tree.expr(at) {
            Expr::Select { operand, field, selection: Selection::Plain } => {
                parts.push(tree.name(field));
                at = operand;
            }
            Expr::Ident { name, rooted } => {
                parts.push(tree.name(name));
                parts.reverse();
                return Some((parts, rooted, at));
            }
            _ => return None,
        }
    }
}
