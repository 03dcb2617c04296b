//! Constant parts of an expression, which can be evaluated at compile time.

use crate::resolution::Names;
use crate::syntax::qualified::QualifiedName;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Name, Tree};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Params, Registry};

/// The number of evaluations that each node may take part in, on average. A part that fails is tried again in parts.
const TRIES: usize = 4;
/// The maximum number of evaluations for one program.
const EVALUATIONS: usize = 1 << 10;
/// The maximum number of steps of all evaluations for one program.
const ALL_FUEL: u64 = 1 << 20;

/// The foldable nodes of an expression.
#[derive(Debug, Default)]
pub(crate) struct Foldable {
    /// The size of each node, 0 if it is not foldable.
    sizes: Vec<usize>,
    /// The number of nodes that can still be evaluated.
    left: usize,
    /// The budget of the program that the expression is a part of.
    pub budget: FoldingBudget,
}

/// The budget for evaluations at compile time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoldingBudget {
    evaluations: usize,
    pub(super) fuel: u64,
}

impl Default for FoldingBudget {
    fn default() -> Self {
        Self { evaluations: EVALUATIONS, fuel: ALL_FUEL }
    }
}

impl Foldable {
    /// Finds the foldable nodes below `root`. `is_type` recognises the names of types.
    pub(super) fn find(
        &mut self,
        tree: &Tree,
        root: ExprId,
        registry: &Registry,
        names: &Names<'_>,
        is_type: &dyn Fn(&QualifiedName<'_>) -> bool,
    ) {
        // Most expressions are names with fields.
        if tree.qualified(root).is_some() {
            return self.sizes.clear();
        }
        let sizes = vec![0; tree.len()];
        let mut survey = Survey { tree, registry, names, is_type, sizes, scope: Vec::new() };
        survey.visit(root);
        (self.sizes, self.left) = (survey.sizes, tree.len().saturating_mul(TRIES));
    }

    /// Returns `true` if a node is foldable and the budget allows its evaluation, which is then paid for.
    pub(super) fn take(&mut self, id: ExprId) -> bool {
        let size = self.sizes.get(id.index()).copied().unwrap_or(0);
        let allowed = size <= self.left && self.budget.evaluations > 0 && self.budget.fuel > 0;
        if size == 0 || !allowed {
            return false;
        }
        self.left -= size;
        self.budget.evaluations -= 1;
        true
    }
}

/// The dependencies of a node.
#[derive(Clone, Copy)]
struct Dependencies {
    /// The outermost variable in scope that it reads, counted from 1; 0 if it depends on anything else.
    outermost: usize,
    /// Set if it is more than a constructor of constants.
    computes: bool,
    /// The number of nodes.
    size: usize,
}

const CONSTANT: Dependencies = Dependencies { outermost: usize::MAX, computes: false, size: 1 };
const OPEN: Dependencies = Dependencies { outermost: 0, ..CONSTANT };

impl Dependencies {
    fn and(self, other: Self) -> Self {
        Self {
            outermost: self.outermost.min(other.outermost),
            computes: self.computes || other.computes,
            size: self.size.saturating_add(other.size),
        }
    }

    fn computing(self) -> Self {
        Self { computes: true, ..self }
    }
}

/// A walk over an expression.
struct Survey<'s> {
    tree: &'s Tree,
    registry: &'s Registry,
    names: &'s Names<'s>,
    is_type: &'s dyn Fn(&QualifiedName<'_>) -> bool,
    sizes: Vec<usize>,
    /// The variables in scope, the innermost last.
    scope: Vec<Name>,
}

impl Survey<'_> {
    fn visit(&mut self, id: ExprId) -> Dependencies {
        let depth = self.scope.len();
        let found = self.dependencies(id);
        if let Some(size) = self.sizes.get_mut(id.index())
            && found.outermost > depth
            && found.computes
        {
            *size = found.size;
        }
        found
    }

    fn all(&mut self, ids: impl IntoIterator<Item = ExprId>) -> Dependencies {
        ids.into_iter().fold(CONSTANT, |found, id| found.and(self.visit(id)))
    }

    fn dependencies(&mut self, id: ExprId) -> Dependencies {
        let tree = self.tree;
        match tree.expr(id) {
            Expr::Literal(_) => CONSTANT,
            Expr::Ident { name, rooted } => match self.scope.iter().rposition(|&local| local == name && !rooted) {
                Some(at) => Dependencies { outermost: at + 1, ..CONSTANT },
                None if tree.qualified(id).is_some_and(|name| (self.is_type)(&name)) => CONSTANT,
                None => OPEN,
            },
            Expr::Select { operand, .. } => self.visit(operand).computing(),
            Expr::List(_) | Expr::Map(_) => self.all(tree.children(tree.expr(id))),
            Expr::Call(call) => self.call(&call).computing(),
            Expr::Comprehension(of) => {
                let Some(of) = tree.comprehension(of) else { return OPEN };
                let outside = self.all([of.iter_range, of.accu_init]);
                let depth = self.scope.len();
                self.scope.extend(of.variables());
                let inside = self.all([of.loop_condition, of.loop_step, of.result]);
                self.scope.truncate(depth);
                let outermost = if inside.outermost > depth { usize::MAX } else { inside.outermost };
                outside.and(Dependencies { outermost, ..inside }).computing()
            }
            Expr::Message { .. } | Expr::Invalid => OPEN,
        }
    }

    fn call(&mut self, call: &Call) -> Dependencies {
        let tree = self.tree;
        let args = self.all(tree.ids(call.args).iter().copied());
        let Function::Named(name) = call.function else { return args };
        let name = tree.name(name);
        let full = self.names.function(tree, self.registry, name, call, |name| self.scope.contains(&name));
        let receiver = call.receiver.filter(|_| full.is_none());
        let found = receiver.map_or(CONSTANT, |receiver| self.visit(receiver)).and(args);
        if self.is_pure(full.as_deref().unwrap_or(name)) { found } else { Dependencies { outermost: 0, ..found } }
    }

    fn is_pure(&self, name: &str) -> bool {
        let function = self.registry.get(ImportKind::Function, name);
        function.is_some_and(|function| function.pure && matches!(function.params, Params::Overloaded(_)))
    }
}
