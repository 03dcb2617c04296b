//! Which attributes that are not known a residual waits for.

use super::attribute::attribute;
use super::facts::{Callee, Known, block_name, loop_names};
use super::pattern::{Pattern, Verdict, trail};
use crate::dialect::cel::syntax::tree::{Call, Comprehension, Expr, ExprId, Function, Literal, Name, Operator, Tree};
use crate::text::Span;

/// An attribute that is needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needed {
    /// The attribute, as far as a pattern of what is not known leads; `*` where its key is not known either.
    pub attribute: Pattern,
    /// Where the expression reads it.
    pub span: Span,
}

/// The attributes that an expression waits for, sorted: those that nothing else has to be known of before they are read.
pub(super) fn needed(tree: &Tree, known: Known<'_>) -> Vec<Needed> {
    let mut walk = Walk { tree, known, scope: Vec::new(), found: Vec::new() };
    walk.visit(tree.root);
    walk.found.sort();
    walk.found.dedup();
    walk.found
}

struct Walk<'t> {
    tree: &'t Tree,
    known: Known<'t>,
    scope: Vec<Name>,
    found: Vec<Needed>,
}

impl Walk<'_> {
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
            Expr::Call(call) => match self.known.callee(tree, &call, &self.scope) {
                Callee::Of(ids) => self.all(&ids),
                Callee::Nothing => {}
                Callee::Block(values, body) => self.block(values, body),
            },
            Expr::Comprehension(of) => {
                if let Some(of) = tree.comprehension(of) {
                    self.comprehension(of);
                }
            }
            expr => {
                let mut children = Vec::new();
                tree.each_child(expr, |child| children.push(child));
                self.all(&children);
            }
        }
    }

    /// Looks at an attribute, and says whether it was one.
    fn attribute(&mut self, id: ExprId) -> bool {
        let scope = &self.scope;
        let found = attribute(self.tree, self.known.names, id, |name| scope.contains(&name));
        let Some(found) = found else { return false };
        let span = self.tree.span(id);
        let trails = match self.known.patterns.verdict(&found.trail) {
            Verdict::Known => Vec::new(),
            Verdict::Unclear => vec![trail(&found.trail, found.trail.len(), &[])],
            Verdict::Unknown(steps) => vec![trail(&found.trail, steps, &[])],
            Verdict::Depends(alternatives) => {
                alternatives.iter().map(|of| trail(&found.trail, of.steps, &of.keys)).collect()
            }
        };
        self.found.extend(trails.into_iter().map(|attribute| Needed { attribute, span }));
        let keys: Vec<_> = found.computed().collect();
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
            self.within(loop_names(of), &[of.loop_condition, of.loop_step]);
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
