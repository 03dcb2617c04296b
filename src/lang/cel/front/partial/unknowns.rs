//! The unknown attributes that a residual waits for, and the dependencies of each node.

use super::{Callee, PartialContext, block_name};
use crate::attributes::{Match, Pattern, trail};
use crate::syntax::tree::{Call, Comprehension, Expr, ExprId, Function, Literal, Name, Operator, Tree};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Span;

/// An unknown attribute that an expression reads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownAttribute {
    /// The attribute, as far as the pattern of unknown ones goes; with `*` for an unknown key.
    pub attribute: Pattern,
    /// The span of the expression that reads it.
    pub span: Span,
}

/// Returns the attributes that an expression waits for, sorted: those that it reads before it needs any other.
pub(super) fn unknowns(tree: &Tree, context: PartialContext<'_>) -> Vec<UnknownAttribute> {
    let mut walk = UnknownsWalk { tree, context, scope: Vec::new(), found: Vec::new() };
    walk.visit(tree.root);
    walk.found.small_sort_by(Ord::cmp);
    walk.found.dedup();
    walk.found
}

struct UnknownsWalk<'t> {
    tree: &'t Tree,
    context: PartialContext<'t>,
    scope: Vec<Name>,
    found: Vec<UnknownAttribute>,
}

impl UnknownsWalk<'_> {
    fn all(&mut self, ids: &[ExprId]) {
        ids.iter().for_each(|id| self.visit(*id));
    }

    fn within(&mut self, names: impl IntoIterator<Item = Name>, ids: &[ExprId]) {
        let outer = self.scope.len();
        self.scope.extend(names);
        self.all(ids);
        self.scope.truncate(outer);
    }

    fn visit(&mut self, id: ExprId) {
        let tree = self.tree;
        if self.attribute(id) {
            return;
        }
        match tree.expr(id) {
            Expr::Call(Call { function: Function::Operator(Operator::Conditional), args, .. }) => {
                let Some((condition, branches)) = tree.ids(args).split_first() else { return };
                let before = self.found.len();
                self.visit(*condition);
                if self.found.len() == before {
                    self.all(branches);
                }
            }
            Expr::Call(call) => match self.context.callee(tree, &call, &self.scope) {
                Callee::Function(ids) => self.all(&ids),
                Callee::Unknown => {}
                Callee::Block(values, body) => self.block(values, body),
            },
            Expr::Comprehension(of) => {
                if let Some(of) = tree.comprehension(of) {
                    self.comprehension(of);
                }
            }
            expr => self.all(&tree.children(expr)),
        }
    }

    /// Visits an attribute. Returns `false` for any other expression.
    fn attribute(&mut self, id: ExprId) -> bool {
        let Some(of) = self.context.attribute(self.tree, id, &self.scope) else { return false };
        let span = self.tree.span(id);
        let trails = match self.context.patterns.matches(&of.trail) {
            Match::Known => Vec::new(),
            Match::Unclear => vec![trail(&of.trail, of.trail.len(), &[])],
            Match::Unknown(steps) => vec![trail(&of.trail, steps, &[])],
            Match::Depends(alternatives) => {
                alternatives.iter().map(|with| trail(&of.trail, with.steps, &with.keys)).collect()
            }
        };
        self.found.extend(trails.into_iter().map(|attribute| UnknownAttribute { attribute, span }));
        let keys: Vec<_> = of.computed().map(|(_, key)| key).collect();
        self.all(&keys);
        true
    }

    fn comprehension(&mut self, of: &Comprehension) {
        let before = self.found.len();
        self.all(&[of.iter_range, of.accu_init]);
        let binds = matches!(self.tree.expr(of.loop_condition), Expr::Literal(Literal::Bool(false)));
        if !binds && self.found.len() > before {
            return;
        }
        if !binds {
            self.within(of.variables(), &[of.loop_condition, of.loop_step]);
        }
        self.within([of.accu_var], &[of.result]);
    }

    fn block(&mut self, values: ExprId, body: ExprId) {
        let tree = self.tree;
        let Expr::List(run) = tree.expr(values) else { return self.all(&[values, body]) };
        let outer = self.scope.len();
        for (at, element) in tree.elements(run).iter().enumerate() {
            self.visit(element.value);
            self.scope.extend(block_name(tree, at));
        }
        self.visit(body);
        self.scope.truncate(outer);
    }
}

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
    let mut walk = DependencyWalk { tree, context, scope: Vec::new(), found: vec![None; tree.len()] };
    walk.visit(tree.root);
    walk.found.into_iter().map(Option::unwrap_or_default).collect()
}

struct DependencyWalk<'t> {
    tree: &'t Tree,
    context: PartialContext<'t>,
    scope: Vec<Name>,
    found: Vec<Option<Dependencies>>,
}

impl DependencyWalk<'_> {
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
