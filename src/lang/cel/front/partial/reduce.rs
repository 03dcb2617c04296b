//! Reduction of an expression, its attributes and macro calls to a residual. A macro call is reduced as a call, and expanded
//! again.
//!
//! The new tree is the old one with more nodes, and shares those that are unchanged. The machine evaluates parts; constants
//! replace them, and the branches that they rule out are dropped.

use std::collections::HashMap;

use super::constants::{ConstantBudget, ConstantBuilder, Runner};
use super::unknowns::{Dependencies, bit, dependencies};
use super::{Callee, PartialContext, block_name};
use crate::attributes::Match;
use crate::lower::ProgramPart;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Literal, Name, Operator, Selection, Tree};
use crate::syntax::{QUANTIFIERS, balanced, expanded};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Params, Ty};
use dropforge_value::Value;

/// The maximum number of parts without a value, or without one that can be written, to reduce further.
const DESCENTS: usize = 2_000;

/// The reduction of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reduced {
    pub id: ExprId,
    pub status: Status,
}

/// The knowledge of a node's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// It depends on unknown attributes.
    Unknown,
    /// It is known.
    Known,
    /// It is this boolean.
    Bool(bool),
}

impl Reduced {
    /// A node whose value is unknown.
    pub fn unknown(id: ExprId) -> Self {
        Self { id, status: Status::Unknown }
    }
}

/// Builds the residual of an expression.
pub(super) struct Reducer<'r> {
    pub(super) old: &'r Tree,
    pub(super) new: Tree,
    dependencies: Vec<Dependencies>,
    pub(super) context: PartialContext<'r>,
    runner: Runner<'r>,
    /// Set for nodes that the checker found to be booleans.
    booleans: &'r [bool],
    budget: ConstantBudget,
    descents: usize,
    /// The local variables, the outermost first, and the nodes of those whose value is known.
    pub(super) scope: Vec<Name>,
    bound: Vec<Option<ExprId>>,
    /// The bits of local variables whose value is unknown.
    opaque: u64,
}

/// Reduces the expression of a runner.
pub(super) fn reduced(runner: Runner<'_>, booleans: &[bool], budget: ConstantBudget) -> Tree {
    let (old, context) = (runner.tree, runner.context);
    let mut reducer = Reducer {
        old,
        new: old.clone(),
        dependencies: dependencies(old, context),
        context,
        runner,
        booleans,
        budget,
        descents: 0,
        scope: Vec::new(),
        bound: Vec::new(),
        opaque: 0,
    };
    let root = reducer.one(old.root, false).id;
    reducer.new.root = root;
    reducer.new
}

impl Reducer<'_> {
    fn dependencies(&self, id: ExprId) -> Dependencies {
        self.dependencies.get(id.index()).copied().unwrap_or(Dependencies { unknown: true, locals: 0 })
    }

    /// Returns `true` if a node reads no local variable whose value is unknown.
    fn can_run(&self, id: ExprId) -> bool {
        self.dependencies(id).locals & self.opaque == 0
    }

    /// Reduces a node. It must be a boolean if `boolean` is set.
    pub(super) fn one(&mut self, id: ExprId, boolean: bool) -> Reduced {
        self.all(&[id], boolean).pop().unwrap_or(Reduced::unknown(id))
    }

    /// Reduces several nodes. They must be booleans if `boolean` is set.
    pub(super) fn all(&mut self, ids: &[ExprId], boolean: bool) -> Vec<Reduced> {
        let is_literal = |id: &ExprId| matches!(self.old.expr(*id), Expr::Literal(_));
        let closed = |id: &&ExprId| !self.dependencies(**id).unknown && self.can_run(**id) && !is_literal(id);
        let closed: Vec<_> = ids.iter().filter(closed).copied().collect();
        let mut values: HashMap<ExprId, Reduced> = self.evaluated(&closed).into_iter().flatten().collect();
        let reduce = |id: &ExprId| match values.remove(id) {
            Some(value) if value.id != *id => value,
            Some(value) => Reduced { id: self.rebuilt(*id, boolean).id, ..value },
            None => self.rebuilt(*id, boolean),
        };
        ids.iter().map(reduce).collect()
    }

    /// Evaluates nodes. Returns a constant for each with a value, or the node itself if its value cannot be written.
    fn evaluated(&mut self, ids: &[ExprId]) -> Vec<Option<(ExprId, Reduced)>> {
        if ids.is_empty() {
            return Vec::new();
        }
        let parts: Vec<_> = ids.iter().map(|&id| ProgramPart { locals: self.locals(id), id }).collect();
        let Self { runner, new, scope, context, old, budget, .. } = self;
        let mut found = Vec::with_capacity(ids.len());
        let mut left = ids.iter();
        let ran = runner.run(&parts, |result| {
            let result = result.ok().zip(left.next().copied());
            found.push(result.map(|(value, id)| {
                let mut builder = ConstantBuilder { tree: new, context: *context, scope, span: old.span(id) };
                let constant = builder.constant(value, budget);
                let status = if let Value::Bool(truth) = value { Status::Bool(truth) } else { Status::Known };
                (id, Reduced { id: constant.unwrap_or(id), status })
            }));
        });
        // If the code is too large, nothing is known.
        ran.map_or(Vec::new(), |()| found)
    }

    /// Returns the local variables that a node reads, and their values.
    fn locals(&self, id: ExprId) -> Vec<(Name, ExprId)> {
        let mut read = self.dependencies(id).locals;
        let mut locals = Vec::new();
        for (depth, (name, bound)) in self.scope.iter().zip(&self.bound).enumerate().rev() {
            if let (true, Some(value)) = (read & bit(depth) != 0, bound) {
                read |= self.dependencies(*value).locals;
                locals.push((*name, *value));
            }
        }
        locals.reverse();
        locals
    }

    /// Calls `then` with more local variables in scope, each with its node if its value is known.
    pub(super) fn within<R>(
        &mut self,
        names: impl IntoIterator<Item = (Name, Option<ExprId>)>,
        then: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let outer = self.enter();
        for (name, bound) in names {
            self.bind(name, bound);
        }
        let result = then(self);
        self.leave(outer);
        result
    }

    /// Returns the current scope, to return to.
    pub(super) fn enter(&self) -> (usize, u64) {
        (self.scope.len(), self.opaque)
    }

    /// Brings a local variable into scope.
    pub(super) fn bind(&mut self, name: Name, bound: Option<ExprId>) {
        let depth = self.scope.len();
        // The last bit is shared by many variables.
        let bound = bound.filter(|_| depth < 63);
        if bound.is_none() {
            self.opaque |= bit(depth);
        }
        self.scope.push(name);
        self.bound.push(bound);
    }

    /// Returns to an outer scope.
    pub(super) fn leave(&mut self, (outer, opaque): (usize, u64)) {
        self.scope.truncate(outer);
        self.bound.truncate(outer);
        self.opaque = opaque;
    }

    /// Evaluates a node that may read an unknown attribute.
    pub(super) fn if_known(&mut self, id: ExprId) -> Option<Reduced> {
        if !self.dependencies(id).unknown || !self.can_run(id) {
            return None;
        }
        self.evaluated(&[id]).pop().flatten().map(|(_, value)| value)
    }

    fn rebuilt(&mut self, id: ExprId, boolean: bool) -> Reduced {
        let same = Reduced::unknown(id);
        if !self.dependencies(id).unknown {
            self.descents += 1;
            if self.descents > DESCENTS {
                return same;
            }
        }
        if self.old.macro_call(id).is_some() {
            return self.expanded(id, boolean);
        }
        if let Some(reduced) = self.attribute(id) {
            return reduced;
        }
        match self.old.expr(id) {
            Expr::Literal(literal) => {
                let status = if let Literal::Bool(truth) = literal { Status::Bool(truth) } else { Status::Known };
                Reduced { id, status }
            }
            Expr::Invalid | Expr::Ident { .. } | Expr::Message { .. } | Expr::Comprehension(_) => same,
            Expr::Call(Call { function: Function::Operator(operator), args, .. }) => {
                match (operator, self.old.ids(args)) {
                    (Operator::And | Operator::Or, _) => self.logic(id, operator, boolean),
                    (Operator::Conditional, &[condition, then, otherwise]) => {
                        self.conditional(id, [condition, then, otherwise], boolean)
                    }
                    (operator, _) => self.strict(id, operator == Operator::Not),
                }
            }
            _ => self.strict(id, false),
        }
    }

    /// Returns a node with new children.
    pub(super) fn with_children(&mut self, id: ExprId, children: &[ExprId]) -> ExprId {
        let node = self.old.node(id);
        if self.old.children(node.expr) == children {
            return id;
        }
        let expr = self.new.with_children(node.expr, children);
        self.new.add(expr, node.span, node.at)
    }

    /// Reduces a node that needs the values of all its children.
    fn strict(&mut self, id: ExprId, boolean: bool) -> Reduced {
        let expr = self.old.expr(id);
        let mut children = self.old.children(expr);
        let arguments = match expr {
            Expr::Call(call) => match self.context.callee(self.old, &call, &self.scope) {
                Callee::Function(ids) => ids,
                Callee::Block(..) | Callee::Unknown => return Reduced::unknown(id),
            },
            _ => children.clone(),
        };
        let reduced = self.all(&arguments, boolean);
        if reduced.iter().all(|child| child.status != Status::Unknown)
            && let Some(value) = self.if_known(id)
            && value.id != id
        {
            return value;
        }
        // The receiver may be a namespace, which is not an argument.
        for (child, reduced) in children.iter_mut().rev().zip(reduced.iter().rev()) {
            *child = reduced.id;
        }
        Reduced::unknown(self.with_children(id, &children))
    }

    fn conditional(&mut self, id: ExprId, [condition, then, otherwise]: [ExprId; 3], boolean: bool) -> Reduced {
        let condition = self.one(condition, true);
        match condition.status {
            Status::Bool(true) => self.one(then, boolean),
            Status::Bool(false) => self.one(otherwise, boolean),
            Status::Unknown | Status::Known => {
                let branches = self.all(&[then, otherwise], boolean);
                let children: Vec<_> = [condition].iter().chain(&branches).map(|reduced| reduced.id).collect();
                Reduced::unknown(self.with_children(id, &children))
            }
        }
    }

    /// Returns the operands of a chain of `&&` or `||`, whatever its parentheses.
    fn operands(&self, id: ExprId, operator: Operator) -> Vec<ExprId> {
        let (mut operands, mut open) = (Vec::new(), vec![id]);
        while let Some(id) = open.pop() {
            match self.old.expr(id) {
                Expr::Call(Call { function: Function::Operator(of), args, .. }) if of == operator => {
                    open.extend(self.old.ids(args).iter().rev());
                }
                _ => operands.push(id),
            }
        }
        operands
    }

    fn logic(&mut self, id: ExprId, operator: Operator, boolean: bool) -> Reduced {
        let decisive = Status::Bool(operator == Operator::Or);
        let neutral = Status::Bool(operator == Operator::And);
        let operands = self.operands(id, operator);
        let reduced = self.all(&operands, true);
        if let Some(deciding) = reduced.iter().find(|operand| operand.status == decisive) {
            return *deciding;
        }
        let mut left: Vec<_> =
            reduced.iter().filter(|operand| operand.status != neutral).map(|operand| operand.id).collect();
        match left.as_slice() {
            [] => return reduced.first().copied().unwrap_or(Reduced::unknown(id)),
            [one] if boolean || self.is_boolean(*one) => return Reduced::unknown(*one),
            // The error of an operand that is not a boolean has to stay.
            [one] => {
                let literal = reduced.iter().position(|operand| operand.status == neutral);
                let position = reduced.iter().position(|operand| operand.id == *one);
                if let Some(at) = literal {
                    let literal = reduced.get(at).map_or(id, |operand| operand.id);
                    left.insert(usize::from(position < Some(at)), literal);
                }
            }
            _ => {}
        }
        if left == operands {
            return Reduced::unknown(id);
        }
        Reduced::unknown(balanced(&mut self.new, operator, &left).unwrap_or(id))
    }

    /// Returns `true` if the value of a node of the new tree can only be a boolean.
    fn is_boolean(&self, id: ExprId) -> bool {
        if self.booleans.get(id.index()).copied().unwrap_or(false) {
            return true;
        }
        match self.new.expr(id) {
            Expr::Literal(literal) => matches!(literal, Literal::Bool(_)),
            Expr::Select { selection, .. } => selection == Selection::Test,
            Expr::Call(Call { function: Function::Operator(operator), args, .. }) => {
                match (operator, self.new.ids(args)) {
                    (Operator::Conditional, &[_, then, otherwise]) => {
                        self.is_boolean(then) && self.is_boolean(otherwise)
                    }
                    (operator, _) => operator.is_test(),
                }
            }
            Expr::Call(Call { function: Function::Named(name), .. }) => {
                let function = self.context.registry.get(ImportKind::Function, self.new.name(name));
                match function.map(|function| &function.params) {
                    Some(Params::Overloaded(overloads)) => overloads.iter().all(|of| matches!(of.result, Ty::Bool)),
                    _ => false,
                }
            }
            Expr::Comprehension(of) => {
                let call = self.new.macro_call(id).map(|call| self.new.expr(call));
                let Some(Expr::Call(Call { function: Function::Named(name), .. })) = call else { return false };
                self.new.comprehension(of).is_some() && QUANTIFIERS.contains(&self.new.name(name))
            }
            _ => false,
        }
    }
}

impl Reducer<'_> {
    /// Reduces an attribute that may be unknown: replaces its computed keys by their values.
    pub(super) fn attribute(&mut self, id: ExprId) -> Option<Reduced> {
        let found = self.context.attribute(self.old, id, &self.scope)?;
        match self.context.patterns.matches(&found.trail) {
            Match::Known => return None,
            // With its keys, it could turn out to be known, and the residual would wait for nothing.
            Match::Unclear => return Some(Reduced::unknown(id)),
            Match::Unknown(_) | Match::Depends(_) if found.inner.is_empty() => return Some(Reduced::unknown(id)),
            Match::Unknown(_) | Match::Depends(_) => {}
        }
        if let Some(value) = self.if_known(id).filter(|value| value.id != id) {
            return Some(value);
        }
        let computed: Vec<_> = found.computed().map(|(_, key)| key).collect();
        let keys = self.all(&computed, false);
        let keys: HashMap<ExprId, ExprId> = computed.into_iter().zip(keys.iter().map(|key| key.id)).collect();
        let mut reduced = found.inner.last().copied().unwrap_or(id);
        let links = found.inner.iter().rev().skip(1).chain([&id]);
        for &node in links {
            let mut children = vec![reduced];
            if let Expr::Call(call) = self.old.expr(node) {
                let index = self.old.ids(call.args).get(1).copied();
                children.extend(index.map(|index| keys.get(&index).copied().unwrap_or(index)));
            }
            reduced = self.relinked(node, &children);
        }
        Some(Reduced::unknown(reduced))
    }

    /// Returns a link of a chain with new children. `has(…)` is a macro.
    fn relinked(&mut self, id: ExprId, children: &[ExprId]) -> ExprId {
        match (self.old.expr(id), children) {
            (Expr::Select { operand, field, selection: Selection::Test }, &[reduced]) if reduced != operand => {
                let node = self.old.node(id);
                let select = Expr::Select { operand: reduced, field, selection: Selection::Plain };
                let select = self.new.add(select, node.span, node.at);
                self.expanded_again(id, |call| call.receiver, &[select])
            }
            _ => self.with_children(id, children),
        }
    }

    /// Returns the macro call that a node was expanded from.
    fn macro_call(&self, id: ExprId) -> Option<Call> {
        match self.old.expr(self.old.macro_call(id)?) {
            Expr::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Expands the macro call of a node with new arguments and a new receiver. If that fails, the node stays.
    fn expanded_again(
        &mut self,
        id: ExprId,
        receiver: impl FnOnce(&Call) -> Option<ExprId>,
        args: &[ExprId],
    ) -> ExprId {
        let Some(call) = self.macro_call(id) else { return id };
        let receiver = receiver(&call);
        if call.receiver == receiver && self.old.ids(call.args) == args {
            return id;
        }
        let args = self.new.add_ids(args);
        expanded(&mut self.new, Call { receiver, args, ..call }, self.old.node(id)).unwrap_or(id)
    }

    /// Reduces a node that a macro expanded to.
    pub(super) fn expanded(&mut self, id: ExprId, boolean: bool) -> Reduced {
        if let Some(reduced) = self.attribute(id) {
            return reduced;
        }
        let value = self.if_known(id);
        if let Some(value) = value.filter(|value| value.id != id) {
            return value;
        }
        let status = value.map_or(Status::Unknown, |value| value.status);
        let (Some(call), old) = (self.macro_call(id), self.old) else { return Reduced { id, status } };
        let Function::Named(name) = call.function else { return Reduced { id, status } };
        let (name, args) = (old.name(name), old.ids(call.args));
        match (name, old.expr(id), args) {
            ("has", Expr::Select { operand, .. }, _) => {
                let operand = self.one(operand, false).id;
                Reduced { id: self.relinked(id, &[operand]), status }
            }
            ("bind", Expr::Comprehension(_), &[variable, value, body]) => {
                let reduced = self.bound(id, [variable, value, body], boolean);
                Reduced { status: if status == Status::Unknown { reduced.status } else { status }, ..reduced }
            }
            ("block", _, &[values, body]) => Reduced { id: self.block(id, values, body), status },
            (_, _, args) => {
                let takes_predicate = QUANTIFIERS.contains(&name) || name == "filter";
                let predicate = args.last().copied().filter(|_| takes_predicate);
                let mut arguments = args.iter().chain(&call.receiver).map(|part| (*part, None)).collect();
                self.parts(id, predicate, &mut arguments);
                let reduced = |part: ExprId| arguments.get(&part).copied().flatten().unwrap_or(part);
                let args: Vec<_> = args.iter().map(|arg| reduced(*arg)).collect();
                Reduced { id: self.expanded_again(id, |call| call.receiver.map(reduced), &args), status }
            }
        }
    }

    /// Reduces `cel.bind`. The name may no longer occur in the body, which is then all that is evaluated.
    fn bound(&mut self, id: ExprId, [variable, value, body]: [ExprId; 3], boolean: bool) -> Reduced {
        let Expr::Ident { name, .. } = self.old.expr(variable) else { return Reduced::unknown(id) };
        let bound = self.one(value, false);
        let is_known = bound.status != Status::Unknown;
        let reduced = self.within([(name, is_known.then_some(value))], |inner| inner.one(body, boolean));
        if !self.mentions(reduced.id, name) {
            return reduced;
        }
        Reduced::unknown(self.expanded_again(id, |call| call.receiver, &[variable, bound.id, reduced.id]))
    }

    /// Returns `true` if a name occurs in a part of the new tree.
    fn mentions(&self, id: ExprId, name: Name) -> bool {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let expr = self.new.expr(id);
            if matches!(expr, Expr::Ident { name: found, .. } if found == name) {
                return true;
            }
            self.new.each_child(expr, |child| open.push(child));
        }
        false
    }

    fn block(&mut self, id: ExprId, values: ExprId, body: ExprId) -> ExprId {
        let Expr::List(run) = self.old.expr(values) else { return id };
        let (old, outer) = (self.old, self.enter());
        let mut reduced = Vec::new();
        for (at, element) in old.elements(run).iter().enumerate() {
            let value = self.one(element.value, false);
            reduced.push(value.id);
            if let Some(name) = block_name(old, at) {
                self.bind(name, (value.status != Status::Unknown).then_some(element.value));
            }
        }
        let body = self.one(body, false).id;
        self.leave(outer);
        let values = self.with_children(values, &reduced);
        self.expanded_again(id, |call| call.receiver, &[values, body])
    }

    /// Reduces the arguments and the receiver of a macro in the expansion, each in its scope. `predicate` is the argument
    /// that must be a boolean.
    fn parts(&mut self, id: ExprId, predicate: Option<ExprId>, arguments: &mut HashMap<ExprId, Option<ExprId>>) {
        for (names, ids) in self.old.scopes(self.old.expr(id)) {
            self.within(names.into_iter().map(|name| (name, None)), |inner| {
                ids.into_iter().for_each(|child| inner.part(child, predicate, arguments));
            });
        }
    }

    fn part(&mut self, id: ExprId, predicate: Option<ExprId>, arguments: &mut HashMap<ExprId, Option<ExprId>>) {
        match arguments.get(&id) {
            None => self.parts(id, predicate, arguments),
            Some(None) => {
                let reduced = self.one(id, predicate == Some(id)).id;
                arguments.insert(id, Some(reduced));
            }
            Some(Some(_)) => {}
        }
    }
}
