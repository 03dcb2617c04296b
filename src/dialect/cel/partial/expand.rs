//! What is left of attributes, and of the calls of macros: those are written as calls again, and expanded anew.

use std::collections::HashMap;

use super::attribute::attribute;
use super::facts::{block_name, loop_names};
use super::pattern::Verdict;
use super::reduce::{Is, Reduced, Reducer};
use crate::dialect::cel::syntax::expanded;
use crate::dialect::cel::syntax::tree::{Call, Expr, ExprId, Function, Name, Selection};

/// Macros that ask for a boolean with their last argument, and answer with one.
pub(super) const QUANTIFIERS: [&str; 4] = ["all", "exists", "exists_one", "existsOne"];

impl Reducer<'_> {
    /// An attribute with the values of its keys, where a node is one that may not be known.
    pub(super) fn attribute(&mut self, id: ExprId) -> Option<Reduced> {
        let (scope, names) = (&self.scope, self.names());
        let found = attribute(self.old, names, id, |name| scope.contains(&name))?;
        match self.patterns().verdict(&found.trail) {
            Verdict::Known => return None,
            // Its keys might show it to be known: then nothing would be waited for.
            Verdict::Unclear => return Some(Reduced { id, known: Is::Open }),
            Verdict::Unknown(_) | Verdict::Depends(_) if found.inner.is_empty() => {
                return Some(Reduced { id, known: Is::Open });
            }
            Verdict::Unknown(_) | Verdict::Depends(_) => {}
        }
        if let Some(value) = self.if_known(id).filter(|value| value.id != id) {
            return Some(value);
        }
        let computed: Vec<_> = found.computed().collect();
        let keys = self.all(&computed, false);
        let keys: HashMap<ExprId, ExprId> = computed.into_iter().zip(keys.iter().map(|key| key.id)).collect();
        let mut made = found.inner.last().copied().unwrap_or(id);
        let links = found.inner.iter().rev().skip(1).chain([&id]);
        for &node in links {
            let mut children = vec![made];
            if let Expr::Call(call) = self.old.expr(node) {
                let index = self.old.ids(call.args).get(1).copied();
                children.extend(index.map(|index| keys.get(&index).copied().unwrap_or(index)));
            }
            made = self.relinked(node, &children);
        }
        Some(Reduced { id: made, known: Is::Open })
    }

    /// A link of a chain with other children; `has(…)` is a macro.
    fn relinked(&mut self, id: ExprId, children: &[ExprId]) -> ExprId {
        match (self.old.expr(id), children) {
            (Expr::Select { operand, field, selection: Selection::Test }, &[made]) if made != operand => {
                let node = self.old.node(id);
                let select = Expr::Select { operand: made, field, selection: Selection::Plain };
                let select = self.new.add(select, node.span, node.at);
                self.called(id, &[select])
            }
            _ => self.remade(id, children),
        }
    }

    /// What a macro makes of its call with these arguments and on the same receiver; where it makes nothing of it, the
    /// node stays as it was.
    fn called(&mut self, id: ExprId, args: &[ExprId]) -> ExprId {
        let call = self.old.macro_call(id).map(|call| self.old.expr(call));
        let Some(Expr::Call(call)) = call else { return id };
        self.called_on(id, call.receiver, args)
    }

    fn called_on(&mut self, id: ExprId, receiver: Option<ExprId>, args: &[ExprId]) -> ExprId {
        let call = self.old.macro_call(id).map(|call| self.old.expr(call));
        let (Some(Expr::Call(call)), node) = (call, self.old.node(id)) else { return id };
        if call.receiver == receiver && self.old.ids(call.args) == args {
            return id;
        }
        let args = self.new.add_ids(args);
        expanded(&mut self.new, Call { receiver, args, ..call }, node.span, node.at).unwrap_or(id)
    }

    /// What is left of what a macro was expanded to.
    pub(super) fn expanded(&mut self, id: ExprId, boolean: bool) -> Reduced {
        if let Some(made) = self.attribute(id) {
            return made;
        }
        let value = self.if_known(id);
        if let Some(value) = value.filter(|value| value.id != id) {
            return value;
        }
        let known = value.map_or(Is::Open, |value| value.known);
        let call = self.old.macro_call(id).map(|call| self.old.expr(call));
        let (Some(Expr::Call(call)), old) = (call, self.old) else { return Reduced { id, known } };
        let Function::Named(name) = call.function else { return Reduced { id, known } };
        let (name, args) = (old.name(name), old.ids(call.args));
        match (name, old.expr(id), args) {
            ("has", Expr::Select { operand, .. }, _) => {
                let operand = self.one(operand, false).id;
                Reduced { id: self.relinked(id, &[operand]), known }
            }
            ("bind", Expr::Comprehension(_), &[variable, value, body]) => {
                let made = self.bind(id, [variable, value, body], boolean);
                Reduced { known: if known == Is::Open { made.known } else { known }, ..made }
            }
            ("block", _, &[values, body]) => Reduced { id: self.block(id, values, body), known },
            (_, _, args) => {
                let mut parts = Parts { of: HashMap::new(), answer: None };
                if QUANTIFIERS.contains(&name) || name == "filter" {
                    parts.answer = args.last().copied();
                }
                parts.of.extend(args.iter().chain(&call.receiver).map(|part| (*part, None)));
                self.parts(id, &mut parts);
                let made = |part: ExprId| parts.of.get(&part).copied().flatten().unwrap_or(part);
                let args: Vec<_> = args.iter().map(|arg| made(*arg)).collect();
                Reduced { id: self.called_on(id, call.receiver.map(made), &args), known }
            }
        }
    }

    /// `cel.bind`: where the value is known, what is left of the body may not read the name any more.
    fn bind(&mut self, id: ExprId, [variable, value, body]: [ExprId; 3], boolean: bool) -> Reduced {
        let Expr::Ident { name, .. } = self.old.expr(variable) else { return Reduced { id, known: Is::Open } };
        let bound = self.one(value, false);
        let is_known = bound.known != Is::Open;
        let made = self.within([(name, is_known.then_some(value))], |inner| inner.one(body, boolean));
        if is_known && !self.mentions(made.id, name) {
            return made;
        }
        Reduced { id: self.called(id, &[variable, bound.id, made.id]), known: Is::Open }
    }

    /// Whether a name stands in a part of the new tree.
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
        let (old, around) = (self.old, self.around());
        let mut made = Vec::new();
        for (at, element) in old.elements(run).iter().enumerate() {
            let value = self.one(element.value, false);
            made.push(value.id);
            if let Some(name) = block_name(old, at) {
                self.enter(name, (value.known != Is::Open).then_some(element.value));
            }
        }
        let body = self.one(body, false).id;
        self.back_to(around);
        let values = self.remade(values, &made);
        self.called(id, &[values, body])
    }

    /// Reduces what the arguments of a macro became, each where it stands in what it was expanded to.
    fn parts(&mut self, id: ExprId, parts: &mut Parts) {
        let expr = self.old.expr(id);
        let comprehension = match expr {
            Expr::Comprehension(of) => self.old.comprehension(of).copied(),
            _ => None,
        };
        let Some(of) = comprehension else {
            let mut children = Vec::new();
            self.old.each_child(expr, |child| children.push(child));
            return children.into_iter().for_each(|child| self.part(child, parts));
        };
        self.part(of.iter_range, parts);
        self.part(of.accu_init, parts);
        self.within(loop_names(&of).map(|name| (name, None)), |inner| {
            inner.part(of.loop_condition, parts);
            inner.part(of.loop_step, parts);
        });
        self.within([(of.accu_var, None)], |inner| inner.part(of.result, parts));
    }

    fn part(&mut self, id: ExprId, parts: &mut Parts) {
        match parts.of.get(&id) {
            None => self.parts(id, parts),
            Some(None) => {
                let made = self.one(id, parts.answer == Some(id)).id;
                parts.of.insert(id, Some(made));
            }
            Some(Some(_)) => {}
        }
    }
}

/// The arguments of a macro, and its receiver, and what becomes of each.
struct Parts {
    of: HashMap<ExprId, Option<ExprId>>,
    /// The one that has to be a boolean.
    answer: Option<ExprId>,
}
