//! Parsed expressions: the facts about an expression that do not depend on its position.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostics::Diagnostics;
use crate::dialect::cel::syntax::tree::{Expr, ExprId, Function, Literal, Name, Operator, Selection, Tree};

/// A parsed expression.
pub(super) struct ParsedExpression {
    pub tree: Arc<Tree>,
    /// The free names, each with its first occurrence.
    pub free: Vec<(Arc<str>, ExprId)>,
    /// Set if only an expression can have its syntax: a comparison, a call, a string.
    pub definite: bool,
    /// Set for a single number with a fraction or an exponent.
    pub double: bool,
}

/// Parsed expressions, by text.
pub(super) type ParsedExpressions = HashMap<String, Result<Arc<ParsedExpression>, Diagnostics>>;

impl ParsedExpression {
    pub fn new(tree: Tree) -> Self {
        let mut walk = Walk { tree: &tree, bound: Vec::new(), seen: HashSet::new(), free: Vec::new(), definite: false };
        walk.run();
        let (free, definite) = (walk.free, walk.definite);
        let double = matches!(tree.expr(tree.root), Expr::Literal(Literal::Double(_)));
        Self { tree: Arc::new(tree), free, definite, double }
    }
}

/// A step of the walk.
enum Step {
    Visit(ExprId),
    Bind(Name),
    Unbind(usize),
}

struct Walk<'t> {
    tree: &'t Tree,
    /// The variables of comprehensions in scope.
    bound: Vec<Name>,
    seen: HashSet<Name>,
    free: Vec<(Arc<str>, ExprId)>,
    definite: bool,
}

impl Walk<'_> {
    /// Visits every node, in source order where possible.
    fn run(&mut self) {
        let mut open = vec![Step::Visit(self.tree.root)];
        while let Some(step) = open.pop() {
            match step {
                Step::Bind(name) => self.bound.push(name),
                Step::Unbind(count) => self.bound.truncate(self.bound.len().saturating_sub(count)),
                Step::Visit(id) => self.visit(id, &mut open),
            }
        }
    }

    fn visit(&mut self, id: ExprId, open: &mut Vec<Step>) {
        let expr = self.tree.expr(id);
        self.definite |= is_definite(expr);
        match expr {
            Expr::Ident { name, rooted } => {
                let hidden = !rooted && self.bound.contains(&name);
                let internal = self.tree.name(name).starts_with('@');
                if !hidden && !internal && self.seen.insert(name) {
                    self.free.push((self.tree.name(name).into(), id));
                }
            }
            Expr::Comprehension(of) => {
                let Some(of) = self.tree.comprehension(of) else { return };
                let mut steps = vec![Step::Visit(of.iter_range), Step::Visit(of.accu_init)];
                steps.extend(of.variables().map(Step::Bind));
                steps.extend([of.loop_condition, of.loop_step].map(Step::Visit));
                // The result sees only the accumulator.
                steps.extend([Step::Unbind(of.variables().count()), Step::Bind(of.accu_var)]);
                steps.extend([Step::Visit(of.result), Step::Unbind(1)]);
                open.extend(steps.into_iter().rev());
            }
            other => open.extend(self.tree.children(other).into_iter().rev().map(Step::Visit)),
        }
    }
}

/// Returns `true` for syntax that only an expression can have: not names, numbers, fields, and the characters of host names,
/// dates and paths.
fn is_definite(expr: Expr) -> bool {
    match expr {
        Expr::Invalid | Expr::Ident { .. } => false,
        Expr::Literal(literal) => !matches!(literal, Literal::Int(_) | Literal::Double(_)),
        Expr::Select { selection, .. } => selection != Selection::Plain,
        Expr::Call(call) => !matches!(
            call.function,
            Function::Operator(Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide)
        ),
        _ => true,
    }
}
