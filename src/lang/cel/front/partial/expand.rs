//! Reduction of attributes and macro calls. A macro call is reduced as a call, and expanded again.

use std::collections::HashMap;

use super::block_name;
use super::reduce::{Reduced, Reducer, Status};
use crate::attributes::Match;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Name, Selection};
use crate::syntax::{QUANTIFIERS, expanded};

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
