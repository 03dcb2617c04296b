//! Attributes in trees.

use std::borrow::Cow;

use super::pattern::{Key, Qualifier};
use crate::resolution::{Names, Resolution};
use crate::syntax::tree::{Call, Expr, ExprId, Function, Name, Operator, Selection, Tree};

/// A chain of selections and indexes that starts with an input variable.
pub struct Attribute {
    /// The parts of the variable's name, then the keys.
    pub trail: Vec<Qualifier<ExprId>>,
    /// The number of parts of the variable's name.
    pub name_len: usize,
    /// The nodes of the chain without the outermost, from there inwards.
    pub inner: Vec<ExprId>,
}

impl Attribute {
    /// Returns the computed keys, in order, with their indexes in the trail.
    pub fn computed(&self) -> impl Iterator<Item = (usize, ExprId)> {
        self.trail.iter().enumerate().filter_map(|(step, qualifier)| match qualifier {
            Qualifier::Computed(key) => Some((step, *key)),
            Qualifier::Key(_) => None,
        })
    }
}

/// Returns the operand of a link of a chain, and the key that the link takes from it.
fn link(tree: &Tree, id: ExprId) -> Option<(ExprId, Qualifier<ExprId>)> {
    match tree.expr(id) {
        Expr::Select { operand, field, .. } => Some((operand, Qualifier::Key(Key::text(tree.name(field))))),
        Expr::Call(Call { function: Function::Operator(Operator::Index | Operator::OptionalIndex), args, .. }) => {
            let &[operand, index] = tree.ids(args) else { return None };
            let qualifier = Key::of_literal(tree, tree.expr(index)).map_or(Qualifier::Computed(index), Qualifier::Key);
            Some((operand, qualifier))
        }
        _ => None,
    }
}

/// Returns the attribute that an expression is.
pub fn attribute(tree: &Tree, names: &Names<'_>, id: ExprId, is_local: impl Fn(Name) -> bool) -> Option<Attribute> {
    let is_test = |id| matches!(tree.expr(id), Expr::Select { selection: Selection::Test, .. });
    let (mut links, mut inner, mut at) = (Vec::new(), Vec::new(), id);
    let (root, rooted) = loop {
        if let Expr::Ident { name, rooted } = tree.expr(at) {
            break (name, rooted);
        }
        let (operand, qualifier) = link(tree, at).filter(|_| at == id || !is_test(at))?;
        let plain = matches!(tree.expr(at), Expr::Select { selection: Selection::Plain, .. });
        links.push((qualifier, plain));
        at = operand;
        inner.push(at);
    };
    if !rooted && is_local(root) {
        return None;
    }
    links.reverse();
    let mut parts = vec![tree.name(root)];
    for (qualifier, plain) in &links {
        match qualifier {
            Qualifier::Key(Key::Text(field)) if *plain => parts.push(field),
            _ => break,
        }
    }
    let (name, fields) = match names.resolve(&parts, rooted) {
        Resolution::Variable(name, fields) => (name, fields),
        // If variables are not declared, one can have the name of a type.
        Resolution::Type(_) if names.declared.is_none() => (Cow::Borrowed(*parts.first()?), parts.len() - 1),
        Resolution::Type(_) | Resolution::Undeclared => return None,
    };
    let of_name = parts.len() - 1 - fields;
    let mut trail: Vec<_> = name.split('.').map(|part| Qualifier::Key(Key::text(part))).collect();
    let name_len = trail.len();
    trail.extend(links.into_iter().skip(of_name).map(|(qualifier, _)| qualifier));
    Some(Attribute { trail, name_len, inner })
}
