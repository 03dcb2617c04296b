//! The children of nodes.

use super::tree::{Call, Comprehension, Element, Entry, Expr, ExprId, Field, Name, Tree};

impl Tree {
    /// Returns the children of an expression, in the order of evaluation.
    pub fn children(&self, expr: Expr) -> Vec<ExprId> {
        let mut children = Vec::new();
        self.each_child(expr, |child| children.push(child));
        children
    }

    /// Calls `child` with each child of an expression, in the order of evaluation.
    pub fn each_child(&self, expr: Expr, mut child: impl FnMut(ExprId)) {
        match expr {
            Expr::Invalid | Expr::Literal(_) | Expr::Ident { .. } => {}
            Expr::Select { operand, .. } => child(operand),
            Expr::Call(call) => {
                call.receiver.into_iter().for_each(&mut child);
                self.ids(call.args).iter().copied().for_each(child);
            }
            Expr::List(run) => self.elements(run).iter().for_each(|element| child(element.value)),
            Expr::Map(run) => self.entries(run).iter().flat_map(|entry| [entry.key, entry.value]).for_each(child),
            Expr::Message { fields, .. } => self.fields(fields).iter().for_each(|field| child(field.value)),
            Expr::Comprehension(id) => {
                let Some(of) = self.comprehension(id) else { return };
                [of.iter_range, of.accu_init, of.loop_condition, of.loop_step, of.result].into_iter().for_each(child);
            }
        }
    }

    /// Returns the children of an expression in groups, in the order of evaluation, each with the variables that only this
    /// group sees.
    pub fn scopes(&self, expr: Expr) -> Vec<(Vec<Name>, Vec<ExprId>)> {
        let Expr::Comprehension(id) = expr else { return vec![(Vec::new(), self.children(expr))] };
        let Some(of) = self.comprehension(id) else { return Vec::new() };
        vec![
            (Vec::new(), vec![of.iter_range, of.accu_init]),
            (of.variables().collect(), vec![of.loop_condition, of.loop_step]),
            (vec![of.accu_var], vec![of.result]),
        ]
    }

    /// Returns an expression with new children, in the order of [`Tree::each_child`].
    pub(crate) fn with_children(&mut self, expr: Expr, children: &[ExprId]) -> Expr {
        let mut new = children.iter().copied();
        let mut to = |old: ExprId| new.next().unwrap_or(old);
        match expr {
            Expr::Invalid | Expr::Literal(_) | Expr::Ident { .. } => expr,
            Expr::Select { operand, field, selection } => Expr::Select { operand: to(operand), field, selection },
            Expr::Call(call) => {
                let receiver = call.receiver.map(&mut to);
                let args: Vec<_> = self.ids(call.args).iter().map(|&arg| to(arg)).collect();
                Expr::Call(Call { receiver, args: self.add_ids(&args), ..call })
            }
            Expr::List(run) => {
                let moved = |of: &Element| Element { value: to(of.value), ..*of };
                let elements: Vec<_> = self.elements(run).iter().map(moved).collect();
                Expr::List(self.add_elements(elements))
            }
            Expr::Map(run) => {
                let moved = |of: &Entry| Entry { key: to(of.key), value: to(of.value), ..*of };
                let entries: Vec<_> = self.entries(run).iter().map(moved).collect();
                Expr::Map(self.add_entries(entries))
            }
            Expr::Message { name, fields } => {
                let moved = |of: &Field| Field { value: to(of.value), ..*of };
                let fields: Vec<_> = self.fields(fields).iter().map(moved).collect();
                Expr::Message { name, fields: self.add_fields(fields) }
            }
            Expr::Comprehension(id) => {
                let Some(&of) = self.comprehension(id) else { return expr };
                self.add_comprehension(Comprehension {
                    iter_range: to(of.iter_range),
                    accu_init: to(of.accu_init),
                    loop_condition: to(of.loop_condition),
                    loop_step: to(of.loop_step),
                    result: to(of.result),
                    ..of
                })
            }
        }
    }
}
