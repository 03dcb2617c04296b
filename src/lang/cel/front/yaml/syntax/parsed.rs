//! Parsed expressions: the facts about an expression that do not depend on its position.

use std::sync::Arc;

use hashbrown::HashSet;

use crate::syntax::tree::{Expr, ExprId, Function, Literal, Name, Operator, Selection, Tree};
use crate::yaml::recent::Recent;
use dropforge_base::diagnostics::Diagnostics;
use dropforge_schema::Schema;

/// A parsed expression.
pub(in crate::front::yaml) struct ParsedExpression {
    pub tree: Arc<Tree>,
    /// The free names, each with its first occurrence.
    pub free: Vec<(Arc<str>, ExprId)>,
    /// Set if only an expression can have its syntax: a comparison, a call, a string.
    pub definite: bool,
    /// Set for a single number with a fraction or an exponent.
    pub double: bool,
}

/// The parts of files that are parsed once.
#[derive(Default)]
pub(in crate::front::yaml) struct Parsed {
    /// Expressions by text.
    pub(super) expressions: Recent<String, Result<Arc<ParsedExpression>, Diagnostics>>,
    /// Schemas by the value that they are read from.
    pub(super) schemas: Recent<String, Arc<Schema>>,
}

impl Parsed {
    /// Begins another compilation, which may use the parts of this one.
    pub(crate) fn next_round(&mut self) {
        self.expressions.next_round();
        self.schemas.next_round();
    }
}

impl ParsedExpression {
    pub fn new(tree: Tree) -> Self {
        let mut walk = Walk { tree: &tree, bound: Vec::new(), seen: HashSet::new(), free: Vec::new(), definite: false };
        walk.visit(tree.root);
        let (free, definite) = (walk.free, walk.definite);
        let double = matches!(tree.expr(tree.root), Expr::Literal(Literal::Double(_)));
        Self { tree: Arc::new(tree), free, definite, double }
    }
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
    fn visit(&mut self, id: ExprId) {
        let expr = self.tree.expr(id);
        self.definite |= is_definite(expr);
        if let Expr::Ident { name, rooted } = expr {
            let hidden = !rooted && self.bound.contains(&name);
            let internal = self.tree.name(name).starts_with('@');
            if !hidden && !internal && self.seen.insert(name) {
                self.free.push((self.tree.name(name).into(), id));
            }
        }
        let Expr::Comprehension(_) = expr else { return self.tree.each_child(expr, |id| self.visit(id)) };
        for (names, ids) in self.tree.scopes(expr) {
            let outside = self.bound.len();
            self.bound.extend(names);
            ids.into_iter().for_each(|id| self.visit(id));
            self.bound.truncate(outside);
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
