//! Makes the nodes of an expansion; all of them stand where the macro's call stands.

use std::collections::HashMap;

use super::super::build::Build;
use super::super::fault::Fault;
use super::super::tree::{Call, Comprehension, Element, Expr, ExprId, Function, Literal, Name, Operator, Tree};
use super::ACCUMULATOR;
use crate::diagnostics::Code;
use crate::text::Span;

/// Makes nodes.
pub(super) struct Factory<'b, 'a> {
    build: &'b mut Build<'a>,
    span: Span,
    at: u32,
}

/// A loop with the usual accumulator.
pub(super) struct Fold {
    /// What it goes over.
    pub range: ExprId,
    /// The variables.
    pub variables: (Name, Option<Name>),
    /// The accumulator's first value.
    pub init: ExprId,
    /// Whether to go on.
    pub condition: ExprId,
    /// The accumulator's next value.
    pub step: ExprId,
    /// The value of the whole.
    pub result: ExprId,
}

impl<'b, 'a> Factory<'b, 'a> {
    /// Makes nodes that stand at `span` and whose errors point at `at`.
    pub fn new(build: &'b mut Build<'a>, span: Span, at: u32) -> Self {
        Self { build, span, at }
    }

    /// The tree so far.
    pub fn tree(&self) -> &Tree {
        self.build.tree
    }

    /// An error about a node.
    pub fn fault(&self, id: ExprId, message: impl Into<String>) -> Fault {
        Fault::new(Code::BadArgument, self.tree().place(id), message)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.build.add(expr, self.span, self.at)
    }

    /// The name of a text.
    pub fn name(&mut self, text: &str) -> Name {
        self.build.tree.intern(text)
    }

    /// A variable.
    pub fn ident(&mut self, name: Name) -> ExprId {
        self.add(Expr::Ident { name, rooted: false })
    }

    /// The accumulator.
    pub fn accu(&mut self) -> ExprId {
        let name = self.name(ACCUMULATOR);
        self.ident(name)
    }

    /// A constant.
    pub fn literal(&mut self, literal: Literal) -> ExprId {
        self.add(Expr::Literal(literal))
    }

    /// An operator on its operands.
    pub fn operator(&mut self, operator: Operator, args: &[ExprId]) -> ExprId {
        self.call(Function::Operator(operator), None, args)
    }

    /// A function.
    pub fn function(&mut self, name: &str, args: &[ExprId]) -> ExprId {
        let name = self.name(name);
        self.call(Function::Named(name), None, args)
    }

    /// A function of a value.
    pub fn member(&mut self, receiver: ExprId, name: &str, args: &[ExprId]) -> ExprId {
        let name = self.name(name);
        self.call(Function::Named(name), Some(receiver), args)
    }

    fn call(&mut self, function: Function, receiver: Option<ExprId>, args: &[ExprId]) -> ExprId {
        let args = self.build.tree.add_ids(args);
        self.add(Expr::Call(Call { function, rooted: false, receiver, args }))
    }

    /// A list.
    pub fn list(&mut self, values: &[ExprId]) -> ExprId {
        let elements: Vec<_> = values.iter().map(|&value| Element { value, optional: false }).collect();
        let elements = self.build.tree.add_elements(&elements);
        self.add(Expr::List(elements))
    }

    /// A map without entries.
    pub fn empty_map(&mut self) -> ExprId {
        let entries = self.build.tree.add_entries(&[]);
        self.add(Expr::Map(entries))
    }

    /// A select like another one, of the same operand.
    pub fn select(&mut self, select: Expr) -> ExprId {
        self.add(select)
    }

    /// A loop with the usual accumulator.
    pub fn fold(&mut self, fold: Fold) -> ExprId {
        let accu_var = self.name(ACCUMULATOR);
        let (iter_var, iter_var2) = fold.variables;
        let Fold { range: iter_range, init: accu_init, condition: loop_condition, step: loop_step, result, .. } = fold;
        let of =
            Comprehension { iter_range, iter_var, iter_var2, accu_var, accu_init, loop_condition, loop_step, result };
        self.comprehension(of)
    }

    /// A loop.
    pub fn comprehension(&mut self, of: Comprehension) -> ExprId {
        let expr = self.build.tree.add_comprehension(of);
        self.add(expr)
    }

    /// A copy of an expression, node by node. Children stand before their parents, so that nothing goes deep.
    pub fn copy(&mut self, of: ExprId) -> ExprId {
        let mut new: HashMap<ExprId, ExprId> = HashMap::new();
        for old in reachable(self.tree(), of) {
            if self.build.excess.is_some() {
                return of;
            }
            let node = self.tree().node(old);
            let mut children = Vec::new();
            self.tree().each_child(node.expr, |id| children.push(new.get(&id).copied().unwrap_or(id)));
            let expr = self.build.tree.with_children(node.expr, &children);
            let copy = self.build.add(expr, node.span, node.at);
            if let Some(call) = self.tree().macro_call(old) {
                self.build.tree.expanded(copy, call);
            }
            new.insert(old, copy);
        }
        new.get(&of).copied().unwrap_or(of)
    }
}

/// The nodes of an expression, children before their parents.
fn reachable(tree: &Tree, root: ExprId) -> Vec<ExprId> {
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(id) = open.pop() {
        found.push(id);
        tree.each_child(tree.expr(id), |child| open.push(child));
    }
    found.sort_unstable();
    found
}
