//! Construction of the nodes of an expansion, all at the position of the macro's call.

use std::collections::HashMap;

use crate::syntax::build::Build;
use crate::syntax::error::SyntaxError;
use crate::syntax::tree::{Call, Comprehension, Element, Expr, ExprId, Function, Literal, Name, Operator, Tree};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

/// The accumulator of every comprehension that a macro makes. Sources cannot name it.
pub(crate) const ACCUMULATOR: &str = "@result";

/// The variable of a comprehension over nothing.
pub const UNUSED: &str = "#unused";

/// The expansion of a call.
pub(super) type Expansion = Result<ExprId, SyntaxError>;

/// The call of a macro.
pub(super) struct MacroCall<'c> {
    /// The name of the macro.
    pub name: &'c str,
    /// The receiver. Macros without one never use it.
    pub target: ExprId,
    /// The arguments.
    pub args: &'c [ExprId],
}

impl MacroCall<'_> {
    /// Returns an argument. The table of macros checks their number.
    pub fn arg(&self, at: usize) -> ExprId {
        self.args.get(at).copied().unwrap_or(ExprId(u32::MAX))
    }
}

/// Adds nodes to a tree under construction.
pub(super) struct Factory<'b, 'a> {
    build: &'b mut Build<'a>,
    span: Span,
    at: u32,
}

/// A comprehension with the usual accumulator.
pub(super) struct Loop {
    /// The list or map to iterate over.
    pub range: ExprId,
    /// The iteration variables.
    pub variables: (Name, Option<Name>),
    /// The initial value of the accumulator.
    pub init: ExprId,
    /// The condition to continue.
    pub condition: ExprId,
    /// The next value of the accumulator.
    pub step: ExprId,
    /// The value of the comprehension.
    pub result: ExprId,
}

impl<'b, 'a> Factory<'b, 'a> {
    /// Makes a factory of nodes at `span` whose errors point at `at`.
    pub fn new(build: &'b mut Build<'a>, span: Span, at: u32) -> Self {
        Self { build, span, at }
    }

    /// Returns the tree.
    pub fn tree(&self) -> &Tree {
        self.build.tree
    }

    /// Makes an error about a node.
    pub fn error(&self, id: ExprId, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(Code::BadArgument, self.tree().place(id), message)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.build.add(expr, self.span, self.at)
    }

    /// Interns a name.
    pub fn name(&mut self, text: &str) -> Name {
        self.build.tree.intern(text)
    }

    /// Adds a variable.
    pub fn ident(&mut self, name: Name) -> ExprId {
        self.add(Expr::Ident { name, rooted: false })
    }

    /// Adds the accumulator.
    pub(crate) fn accu(&mut self) -> ExprId {
        let name = self.name(ACCUMULATOR);
        self.ident(name)
    }

    /// Adds a literal.
    pub fn literal(&mut self, literal: Literal) -> ExprId {
        self.add(Expr::Literal(literal))
    }

    /// Adds the call of an operator.
    pub fn operator(&mut self, operator: Operator, args: &[ExprId]) -> ExprId {
        self.call(Function::Operator(operator), None, args)
    }

    /// Adds the call of a function.
    pub fn function(&mut self, name: &str, args: &[ExprId]) -> ExprId {
        let name = self.name(name);
        self.call(Function::Named(name), None, args)
    }

    /// Adds the call of a member function.
    pub fn member(&mut self, receiver: ExprId, name: &str, args: &[ExprId]) -> ExprId {
        let name = self.name(name);
        self.call(Function::Named(name), Some(receiver), args)
    }

    fn call(&mut self, function: Function, receiver: Option<ExprId>, args: &[ExprId]) -> ExprId {
        let args = self.build.tree.add_ids(args);
        self.add(Expr::Call(Call { function, rooted: false, receiver, args }))
    }

    /// Adds a list.
    pub fn list(&mut self, values: &[ExprId]) -> ExprId {
        let elements = values.iter().map(|&value| Element { value, optional: false });
        let elements = self.build.tree.add_elements(elements);
        self.add(Expr::List(elements))
    }

    /// Adds an empty map.
    pub(crate) fn empty_map(&mut self) -> ExprId {
        let entries = self.build.tree.add_entries([]);
        self.add(Expr::Map(entries))
    }

    /// Adds a selection.
    pub fn select(&mut self, select: Expr) -> ExprId {
        self.add(select)
    }

    /// Adds a comprehension with the usual accumulator.
    pub fn fold(&mut self, fold: Loop) -> ExprId {
        let accu_var = self.name(ACCUMULATOR);
        let (iter_var, iter_var2) = fold.variables;
        let Loop { range: iter_range, init: accu_init, condition: loop_condition, step: loop_step, result, .. } = fold;
        let of =
            Comprehension { iter_range, iter_var, iter_var2, accu_var, accu_init, loop_condition, loop_step, result };
        self.comprehension(of)
    }

    /// Adds a comprehension.
    pub fn comprehension(&mut self, of: Comprehension) -> ExprId {
        let expr = self.build.tree.add_comprehension(of);
        self.add(expr)
    }

    /// Copies an expression, node by node, children before their parents, without recursion.
    pub fn copy(&mut self, of: ExprId) -> ExprId {
        let mut new: HashMap<ExprId, ExprId> = HashMap::new();
        for old in reachable(self.tree(), of) {
            if self.build.excess.is_some() {
                return of;
            }
            let node = self.tree().node(old);
            let children = self.tree().children(node.expr);
            let children: Vec<_> = children.iter().map(|id| new.get(id).copied().unwrap_or(*id)).collect();
            let expr = self.build.tree.with_children(node.expr, &children);
            let copy = self.build.add(expr, node.span, node.at);
            if let Some(call) = self.tree().macro_call(old) {
                self.build.tree.record_expansion(copy, call);
            }
            new.insert(old, copy);
        }
        new.get(&of).copied().unwrap_or(of)
    }
}

/// Returns the nodes of an expression, children before their parents.
fn reachable(tree: &Tree, root: ExprId) -> Vec<ExprId> {
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(id) = open.pop() {
        found.push(id);
        tree.each_child(tree.expr(id), |child| open.push(child));
    }
    found.sort_unstable();
    found
}
