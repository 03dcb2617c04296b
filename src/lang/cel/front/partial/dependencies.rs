//! The dependencies of nodes: unknown attributes, and local variables.

use super::context::{Callee, PartialContext, block_name};
use crate::attributes::Match;
use crate::syntax::tree::{Expr, ExprId, Name, Tree};

/// The dependencies of a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dependencies {
    /// Set if it may read an unknown attribute.
    pub unknown: bool,
    /// The local variables that it reads, a bit for each.
    pub locals: u64,
}

impl Dependencies {
    fn and(self, other: Self) -> Self {
        Self { unknown: self.unknown | other.unknown, locals: self.locals | other.locals }
    }
}

/// Returns the bit of the local variable at a depth of the scope. The last bit is shared by all deeper ones.
pub(super) fn bit(depth: usize) -> u64 {
    1 << depth.min(63)
}

/// Returns the dependencies of every node of an expression.
pub(super) fn dependencies(tree: &Tree, context: PartialContext<'_>) -> Vec<Dependencies> {
    let mut walk = Walk { tree, context, scope: Vec::new(), found: vec![None; tree.len()] };
    walk.visit(tree.root);
    walk.found.into_iter().map(Option::unwrap_or_default).collect()
}

struct Walk<'t> {
    tree: &'t Tree,
    context: PartialContext<'t>,
    scope: Vec<Name>,
    found: Vec<Option<Dependencies>>,
}

impl Walk<'_> {
    fn visit(&mut self, id: ExprId) -> Dependencies {
        if let Some(found) = self.found.get(id.index()).copied().flatten() {
            return found;
        }
        let found = self.dependencies(id);
        if let Some(slot) = self.found.get_mut(id.index()) {
            *slot = Some(found);
        }
        found
    }

    fn all(&mut self, ids: &[ExprId]) -> Dependencies {
        ids.iter().fold(Dependencies::default(), |all, id| all.and(self.visit(*id)))
    }

    fn dependencies(&mut self, id: ExprId) -> Dependencies {
        let tree = self.tree;
        if let Some(attribute) = self.context.attribute(tree, id, &self.scope) {
            let unknown = self.context.patterns.matches(&attribute.trail) != Match::Known;
            let keys: Vec<_> = attribute.computed().map(|(_, key)| key).collect();
            // If the whole attribute is known, the part below it may not be.
            if let (false, Some(below)) = (unknown, attribute.inner.first()) {
                self.visit(*below);
            }
            return Dependencies { unknown, locals: 0 }.and(self.all(&keys));
        }
        match tree.expr(id) {
            Expr::Ident { name, rooted: false } => {
                let depth = self.scope.iter().rposition(|local| *local == name);
                Dependencies { unknown: false, locals: depth.map_or(0, bit) }
            }
            Expr::Call(call) => match self.context.callee(tree, &call, &self.scope) {
                Callee::Function(ids) => self.all(&ids),
                Callee::Unknown => Dependencies::default(),
                Callee::Block(values, body) => self.block(values, body),
            },
            Expr::Message { .. } => Dependencies::default(),
            expr => {
                let scopes = tree.scopes(expr).into_iter();
                scopes.fold(Dependencies::default(), |all, (names, ids)| all.and(self.within(names, &ids)))
            }
        }
    }

    /// Restores the scope to `outer` variables. The others are not dependencies outside it.
    fn leave(&mut self, outer: usize, inside: Dependencies) -> Dependencies {
        let inner = (outer..self.scope.len().min(63)).fold(0, |bits, depth| bits | bit(depth));
        self.scope.truncate(outer);
        Dependencies { locals: inside.locals & !inner, ..inside }
    }

    fn within(&mut self, names: impl IntoIterator<Item = Name>, ids: &[ExprId]) -> Dependencies {
        let outer = self.scope.len();
        self.scope.extend(names);
        let inside = self.all(ids);
        self.leave(outer, inside)
    }

    fn block(&mut self, values: ExprId, body: ExprId) -> Dependencies {
        let tree = self.tree;
        let Expr::List(run) = tree.expr(values) else { return self.all(&[values, body]) };
        let outer = self.scope.len();
        let mut inside = Dependencies::default();
        for (at, element) in tree.elements(run).iter().enumerate() {
            inside = inside.and(self.visit(element.value));
            self.scope.extend(block_name(tree, at));
        }
        inside = inside.and(self.visit(body));
        self.leave(outer, inside)
    }
}
