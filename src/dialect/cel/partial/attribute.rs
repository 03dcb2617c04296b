//! Attributes in trees: variables, and what is selected from them.

use super::pattern::{Key, Qualifier};
use super::text::key;
use crate::dialect::cel::lower::Names;
use crate::dialect::cel::lower::names::Meaning;
use crate::dialect::cel::syntax::tree::{Call, Expr, ExprId, Function, Name, Operator, Selection, Tree};

/// An attribute: a chain of selects and indexes that begins with a variable of the inputs.
pub(crate) struct Attribute {
    /// The parts of the variable's name, then the keys.
    pub trail: Vec<Qualifier<ExprId>>,
    /// Its nodes but for the outermost, from there on.
    pub inner: Vec<ExprId>,
}

impl Attribute {
    /// The keys that are computed, in their order.
    pub fn computed(&self) -> impl Iterator<Item = ExprId> {
        self.trail.iter().filter_map(|step| match step {
            Qualifier::Computed(key) => Some(*key),
            Qualifier::Key(_) => None,
        })
    }
}

/// What a node of a chain takes from the one below it.
pub(super) fn link(tree: &Tree, id: ExprId) -> Option<(ExprId, Qualifier<ExprId>)> {
    match tree.expr(id) {
        Expr::Select { operand, field, .. } => Some((operand, Qualifier::Key(Key::Text(tree.name(field).to_owned())))),
        Expr::Call(Call { function: Function::Operator(Operator::Index | Operator::OptionalIndex), args, .. }) => {
            let &[operand, index] = tree.ids(args) else { return None };
            let qualifier = key(tree, tree.expr(index)).map_or(Qualifier::Computed(index), Qualifier::Key);
            Some((operand, qualifier))
        }
        _ => None,
    }
}

/// The attribute that an expression is, where it is one.
pub(crate) fn attribute(
    tree: &Tree,
    names: &Names<'_>,
    id: ExprId,
    is_local: impl Fn(Name) -> bool,
) -> Option<Attribute> {
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
    let (name, fields) = match names.meaning(&parts, rooted) {
        Meaning::Variable(name, fields) => (name, fields),
        // An input may be called so.
        Meaning::Type(_) if names.declared.is_none() => (parts.first()?.to_string(), parts.len() - 1),
        Meaning::Type(_) | Meaning::Nothing => return None,
    };
    let of_name = parts.len() - 1 - fields;
    let mut trail: Vec<_> = name.split('.').map(|part| Qualifier::Key(Key::Text(part.to_owned()))).collect();
    trail.extend(links.into_iter().skip(of_name).map(|(qualifier, _)| qualifier));
    Some(Attribute { trail, inner })
}
