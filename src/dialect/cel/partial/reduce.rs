//! What is left of an expression where some attributes are not known.
//!
//! The tree that is left is the old one with further nodes: what stays as it was is shared. The machine says what parts
//! are; here their values are put in, and what they decide is left out.

use std::collections::HashMap;

use super::constant::{Maker, Room, truth};
use super::facts::{Callee, Fact, Known, bit, facts};
use super::pattern::Patterns;
use super::run::Runner;
use crate::bytecode::ImportKind;
use crate::dialect::cel::lower::{Names, Part};
use crate::dialect::cel::syntax::balanced;
use crate::dialect::cel::syntax::tree::{Call, Expr, ExprId, Function, Literal, Name, Operator, Selection, Tree};
use crate::function::{Params, Ty};

/// How many parts that have no value, or none that can be written, are looked into.
const LOOKED_INTO: usize = 2_000;

/// What became of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reduced {
    pub id: ExprId,
    pub known: Is,
}

/// What is known of a node's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    /// Nothing.
    Open,
    /// What it is.
    Known,
    /// That it is true or false.
    Truth(bool),
}

/// Makes what is left.
pub(super) struct Reducer<'r> {
    pub(super) old: &'r Tree,
    pub(super) new: Tree,
    pub(super) facts: Vec<Fact>,
    known: Known<'r>,
    runner: Runner<'r>,
    /// Whether the checker found a node to be a boolean.
    booleans: &'r [bool],
    room: Room,
    looked_into: usize,
    /// The names around, the outermost first, and what those stand for whose value is known.
    pub(super) scope: Vec<Name>,
    pub(super) bound: Vec<Option<ExprId>>,
    /// The names around whose value is not known.
    opaque: u64,
}

/// The tree that is left of the runner's.
pub(super) fn reduced(runner: Runner<'_>, booleans: &[bool], room: Room) -> Tree {
    let (old, known) = (runner.tree, runner.known);
    let mut reducer = Reducer {
        old,
        new: old.clone(),
        facts: facts(old, known),
        known,
        runner,
        booleans,
        room,
        looked_into: 0,
        scope: Vec::new(),
        bound: Vec::new(),
        opaque: 0,
    };
    let root = reducer.one(old.root, false).id;
    reducer.new.root = root;
    reducer.new
}

impl<'r> Reducer<'r> {
    pub(super) fn fact(&self, id: ExprId) -> Fact {
        self.facts.get(id.index()).copied().unwrap_or(Fact { open: true, free: 0 })
    }

    /// Whether the machine can run a node: it reads no name whose value is not known.
    fn can_run(&self, id: ExprId) -> bool {
        self.fact(id).free & self.opaque == 0
    }

    pub(super) fn names(&self) -> &'r Names<'r> {
        self.known.names
    }

    pub(super) fn patterns(&self) -> &'r Patterns {
        self.known.patterns
    }

    pub(super) fn one(&mut self, id: ExprId, boolean: bool) -> Reduced {
        self.all(&[id], boolean).pop().unwrap_or(Reduced { id, known: Is::Open })
    }

    /// What becomes of nodes that stand beside each other; `boolean` says that they have to be booleans.
    pub(super) fn all(&mut self, ids: &[ExprId], boolean: bool) -> Vec<Reduced> {
        let is_literal = |id: &ExprId| matches!(self.old.expr(*id), Expr::Literal(_));
        let closed = |id: &&ExprId| !self.fact(**id).open && self.can_run(**id) && !is_literal(id);
        let closed: Vec<_> = ids.iter().filter(closed).copied().collect();
        let mut values: HashMap<ExprId, Reduced> = self.evaluated(&closed).into_iter().flatten().collect();
        let reduce = |id: &ExprId| match values.remove(id) {
            Some(value) if value.id != *id => value,
            Some(value) => Reduced { id: self.rebuilt(*id, boolean).id, known: value.known },
            None => self.rebuilt(*id, boolean),
        };
        ids.iter().map(reduce).collect()
    }

    /// Runs nodes. Of each with a value: the constant that it is, or itself where it cannot be written as one.
    fn evaluated(&mut self, ids: &[ExprId]) -> Vec<Option<(ExprId, Reduced)>> {
        if ids.is_empty() {
            return Vec::new();
        }
        let parts: Vec<_> = ids.iter().map(|&id| Part { outer: self.outer(id), id }).collect();
        let Self { runner, new, scope, known, old, room, .. } = self;
        let mut found = Vec::with_capacity(ids.len());
        let mut left = ids.iter();
        let ran = runner.run(&parts, |answer| {
            let answer = answer.ok().zip(left.next().copied());
            found.push(answer.map(|(value, id)| {
                let mut maker = Maker { tree: new, known: *known, scope, span: old.span(id) };
                let made = maker.constant(value, room);
                let truth = if let crate::value::Value::Bool(truth) = value { Is::Truth(truth) } else { Is::Known };
                (id, Reduced { id: made.unwrap_or(id), known: truth })
            }));
        });
        // Code that is too large: nothing is known.
        ran.map_or(Vec::new(), |()| found)
    }

    /// The names that a node reads, and what they stand for.
    fn outer(&self, id: ExprId) -> Vec<(Name, ExprId)> {
        let mut needed = self.fact(id).free;
        let mut outer = Vec::new();
        for (depth, (name, bound)) in self.scope.iter().zip(&self.bound).enumerate().rev() {
            if let (true, Some(value)) = (needed & bit(depth) != 0, bound) {
                needed |= self.fact(*value).free;
                outer.push((*name, *value));
            }
        }
        outer.reverse();
        outer
    }

    /// Goes on with names around, each with what it stands for where that is known.
    pub(super) fn within<R>(
        &mut self,
        names: impl IntoIterator<Item = (Name, Option<ExprId>)>,
        then: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let (outer, opaque) = (self.scope.len(), self.opaque);
        for (name, bound) in names {
            self.enter(name, bound);
        }
        let made = then(self);
        self.leave(outer, opaque);
        made
    }

    /// One more name is around.
    pub(super) fn enter(&mut self, name: Name, bound: Option<ExprId>) {
        let depth = self.scope.len();
        // The last bit stands for many names.
        let bound = bound.filter(|_| depth < 63);
        if bound.is_none() {
            self.opaque |= bit(depth);
        }
        self.scope.push(name);
        self.bound.push(bound);
    }

    fn leave(&mut self, outer: usize, opaque: u64) {
        self.scope.truncate(outer);
        self.bound.truncate(outer);
        self.opaque = opaque;
    }

    /// What the names around are, to go back to.
    pub(super) fn around(&self) -> (usize, u64) {
        (self.scope.len(), self.opaque)
    }

    pub(super) fn back_to(&mut self, (outer, opaque): (usize, u64)) {
        self.leave(outer, opaque);
    }

    /// The value of a node that may turn out to be known when it runs.
    pub(super) fn if_known(&mut self, id: ExprId) -> Option<Reduced> {
        if !self.fact(id).open || !self.can_run(id) {
            return None;
        }
        self.evaluated(&[id]).pop().flatten().map(|(_, value)| value)
    }

    fn rebuilt(&mut self, id: ExprId, boolean: bool) -> Reduced {
        let same = Reduced { id, known: Is::Open };
        if !self.fact(id).open {
            self.looked_into += 1;
            if self.looked_into > LOOKED_INTO {
                return same;
            }
        }
        if self.old.macro_call(id).is_some() {
            return self.expanded(id, boolean);
        }
        if let Some(made) = self.attribute(id) {
            return made;
        }
        match self.old.expr(id) {
            Expr::Literal(literal) => {
                let known = if let Literal::Bool(truth) = literal { Is::Truth(truth) } else { Is::Known };
                Reduced { id, known }
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

    /// A node with other children.
    pub(super) fn remade(&mut self, id: ExprId, children: &[ExprId]) -> ExprId {
        let node = self.old.node(id);
        let mut before = Vec::new();
        self.old.each_child(node.expr, |child| before.push(child));
        if before == children {
            return id;
        }
        let expr = self.new.with_children(node.expr, children);
        self.new.add(expr, node.span, node.at)
    }

    /// What needs the values of all its children.
    fn strict(&mut self, id: ExprId, boolean: bool) -> Reduced {
        let expr = self.old.expr(id);
        let mut children = Vec::new();
        self.old.each_child(expr, |child| children.push(child));
        let needed = match expr {
            Expr::Call(call) => match self.known.callee(self.old, &call, &self.scope) {
                Callee::Of(ids) => ids,
                Callee::Block(..) | Callee::Nothing => return Reduced { id, known: Is::Open },
            },
            _ => children.clone(),
        };
        let made = self.all(&needed, boolean);
        if made.iter().all(|child| child.known != Is::Open)
            && let Some(value) = self.if_known(id)
            && value.id != id
        {
            return value;
        }
        for (child, made) in children.iter_mut().rev().zip(made.iter().rev()) {
            *child = made.id;
        }
        Reduced { id: self.remade(id, &children), known: Is::Open }
    }

    fn conditional(&mut self, id: ExprId, [condition, then, otherwise]: [ExprId; 3], boolean: bool) -> Reduced {
        let condition = self.one(condition, true);
        match condition.known {
            Is::Truth(true) => self.one(then, boolean),
            Is::Truth(false) => self.one(otherwise, boolean),
            Is::Open | Is::Known => {
                let branches = self.all(&[then, otherwise], boolean);
                let children: Vec<_> = [condition.id].into_iter().chain(branches.iter().map(|made| made.id)).collect();
                Reduced { id: self.remade(id, &children), known: Is::Open }
            }
        }
    }

    /// The operands of a chain of `&&` or `||`, whatever brackets there are.
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
        let decides = operator == Operator::Or;
        let operands = self.operands(id, operator);
        let made = self.all(&operands, true);
        if let Some(deciding) = made.iter().find(|made| made.known == Is::Truth(decides)) {
            return *deciding;
        }
        let mut left: Vec<_> =
            made.iter().filter(|made| made.known != Is::Truth(!decides)).map(|made| made.id).collect();
        match left.as_slice() {
            [] => return made.first().copied().unwrap_or(Reduced { id, known: Is::Open }),
            [one] if boolean || self.is_boolean(*one) => return Reduced { id: *one, known: Is::Open },
            // What is no boolean is an error, and has to stay one.
            [one] => {
                let neutral = made.iter().position(|made| made.known == Is::Truth(!decides));
                let of_one = made.iter().position(|made| made.id == *one);
                if let Some(neutral) = neutral {
                    let literal = made.get(neutral).map_or(id, |made| made.id);
                    left.insert(usize::from(of_one < Some(neutral)), literal);
                }
            }
            _ => {}
        }
        if left == operands {
            return Reduced { id, known: Is::Open };
        }
        Reduced { id: balanced(&mut self.new, operator, &left).unwrap_or(id), known: Is::Open }
    }

    /// Whether a node of the new tree is a boolean if it has a value.
    fn is_boolean(&self, id: ExprId) -> bool {
        if self.booleans.get(id.index()).copied().unwrap_or(false) || truth(self.new.node(id)).is_some() {
            return true;
        }
        match self.new.expr(id) {
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
                let function = self.known.registry.get(ImportKind::Function, self.new.name(name));
                match function.map(|function| &function.params) {
                    Some(Params::Overloaded(overloads)) => overloads.iter().all(|of| matches!(of.result, Ty::Bool)),
                    _ => false,
                }
            }
            Expr::Comprehension(of) => {
                let call = self.new.macro_call(id).map(|call| self.new.expr(call));
                let Some(Expr::Call(Call { function: Function::Named(name), .. })) = call else { return false };
                self.new.comprehension(of).is_some() && super::expand::QUANTIFIERS.contains(&self.new.name(name))
            }
            _ => false,
        }
    }
}
