//! The names in an expression, for editors.

use std::sync::Arc;

use crate::syntax::tree::{Call, Comprehension, Expr, ExprId, Function, Literal, Name, Tree};
use crate::syntax::{self, parse_within};
use dropforge_base::diagnostics::{Diagnostic, Diagnostics};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::compiler::{Given, Key, Mark, MarkList, Named};
use dropforge_machine::function::Registry;

/// Returns the names in a template that is one expression.
///
/// # Errors
/// All syntax errors.
pub fn marks(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
    limits.check_size(source).map_err(|error| vec![error])?;
    let tree = parse_within(source, &syntax::Options::default(), limits).map_err(Diagnostics::into_vec)?;
    let mut list = MarkList::default();
    ExpressionMarks { tree: &tree, registry, place: &|span| span, list: &mut list }.value(tree.root);
    Ok(list.finish())
}

/// Marks the names of one expression.
pub(super) struct ExpressionMarks<'m> {
    pub tree: &'m Tree,
    pub registry: &'m Registry,
    /// The place in the file of a span of the expression.
    pub place: &'m dyn Fn(Span) -> Span,
    pub list: &'m mut MarkList,
}

impl ExpressionMarks<'_> {
    /// Marks the names in a part of the expression. Its depth is limited.
    pub fn value(&mut self, id: ExprId) {
        let expr = self.tree.expr(id);
        if let Some(call) = self.tree.macro_call(id) {
            self.macro_name(call);
        }
        match expr {
            Expr::Ident { .. } | Expr::Select { .. } => self.path(id),
            Expr::Call(call) if self.index(call).is_some() => self.path(id),
            Expr::Call(call) => self.call(id, call),
            Expr::Comprehension(of) => {
                if let Some(of) = self.tree.comprehension(of) {
                    self.comprehension(id, *of);
                }
            }
            _ => self.tree.children(expr).into_iter().for_each(|child| self.value(child)),
        }
    }

    fn call(&mut self, id: ExprId, call: Call) {
        let name = match call.function {
            Function::Named(name) => self.tree.name(name),
            Function::Operator(_) => "",
        };
        let qualified = call.receiver.and_then(|receiver| self.qualified(receiver, name));
        if let Some(receiver) = call.receiver.filter(|_| qualified.is_none()) {
            self.value(receiver);
        }
        if !name.is_empty() {
            self.function(id, call, qualified.as_deref().unwrap_or(name), name);
        }
        self.tree.ids(call.args).iter().for_each(|arg| self.value(*arg));
    }

    /// Marks the name of a macro.
    fn macro_name(&mut self, id: ExprId) {
        let Expr::Call(call) = self.tree.expr(id) else { return };
        let Function::Named(name) = call.function else { return };
        let name = self.tree.name(name);
        let qualified = call.receiver.and_then(|receiver| self.qualified(receiver, name));
        self.function(id, call, qualified.as_deref().unwrap_or(name), name);
    }

    /// Returns the name of a function in a namespace, which stands for its receiver.
    fn qualified(&self, receiver: ExprId, name: &str) -> Option<String> {
        let Expr::Ident { name: space, .. } = self.tree.expr(receiver) else { return None };
        let qualified = format!("{}.{name}", self.tree.name(space));
        self.registry.get(ImportKind::Function, &qualified).map(|_| qualified)
    }

    fn function(&mut self, id: ExprId, call: Call, known: &str, written: &str) {
        let whole = self.tree.span(id);
        let from = call.receiver.map_or(whole.start, |receiver| self.tree.span(receiver).end);
        // A macro makes calls that are written nowhere.
        let Some(span) = self.written(written, Span::new(from, whole.end)) else { return };
        let mark = Mark::new(Named::Import(ImportKind::Function), known, (self.place)(span));
        self.list.add(Mark { whole: (self.place)(whole), ..mark });
    }

    fn comprehension(&mut self, id: ExprId, of: Comprehension) {
        self.value(of.iter_range);
        self.value(of.accu_init);
        let names = [Some(of.iter_var), of.iter_var2].into_iter().flatten();
        let written = match self.tree.macro_call(id).map(|call| self.tree.expr(call)) {
            Some(Expr::Call(call)) => self.tree.ids(call.args).to_vec(),
            _ => Vec::new(),
        };
        let item = self.input(of.iter_range).filter(|_| of.iter_var2.is_none()).map(|mut input| {
            input.push(Key::Any);
            input
        });
        let given = of.iter_var2.is_none().then(|| Given::Items((self.place)(self.tree.span(of.iter_range))));
        let scope = self.list.enter();
        for (name, id) in names.zip(&written) {
            if matches!(self.tree.expr(*id), Expr::Ident { name: known, .. } if known == name) {
                self.list.define(self.tree.name(name), (self.place)(self.tree.span(*id)), given, item.clone());
            }
        }
        [of.loop_condition, of.loop_step, of.result].into_iter().for_each(|part| self.value(part));
        self.list.leave(scope);
    }

    /// Returns the input that an expression is, if it is one.
    pub fn input(&self, id: ExprId) -> Option<Vec<Key>> {
        let (root, steps) = self.chain(id);
        match self.tree.expr(root) {
            Expr::Ident { name, .. } => self.list.input(self.tree.name(name), &steps),
            _ => None,
        }
    }

    /// Marks a chain of fields.
    fn path(&mut self, id: ExprId) {
        let (root, steps) = self.chain(id);
        let Expr::Ident { name, .. } = self.tree.expr(root) else { return self.value(root) };
        let (name, span) = (self.tree.name(name), self.tree.span(root));
        // A macro makes names that are written nowhere.
        if self.tree.source().slice(span).trim_start_matches('.') == name {
            self.list.path(name, (self.place)(span), (self.place)(self.tree.span(id)), steps);
        }
    }

    /// Splits a chain of fields into its root and its steps.
    fn chain(&self, id: ExprId) -> (ExprId, Vec<(Key, Span)>) {
        let (mut root, mut steps) = (id, Vec::new());
        loop {
            let found = match self.tree.expr(root) {
                Expr::Select { operand, field, .. } => Some((operand, self.field(root, operand, field))),
                Expr::Call(call) => self.index(call),
                _ => None,
            };
            let Some((operand, step)) = found else { break };
            steps.push(step);
            root = operand;
        }
        steps.reverse();
        (root, steps)
    }

    fn field(&self, id: ExprId, operand: ExprId, field: Name) -> (Key, Span) {
        let (name, end) = (self.tree.name(field), self.tree.span(operand).end);
        let written = self.written(name, Span::new(end, self.tree.span(id).end));
        (Key::Name(name.to_owned()), (self.place)(written.unwrap_or(Span::new(end, end))))
    }

    /// Returns the place of a name in a part of the expression.
    fn written(&self, name: &str, within: Span) -> Option<Span> {
        let at = self.tree.source().slice(within).find(name)? + within.start as usize;
        Some(Span::of(at..at + name.len()))
    }

    /// Returns the operand and the step of an index that is a literal.
    fn index(&self, call: Call) -> Option<(ExprId, (Key, Span))> {
        let [operand, key] = *self.tree.ids(call.args) else { return None };
        let is_index = matches!(call.function, Function::Operator(syntax::tree::Operator::Index));
        let Expr::Literal(literal) = self.tree.expr(key) else { return None };
        let name = match literal {
            Literal::String(name) => self.tree.name(name).to_owned(),
            Literal::Int(at) => at.to_string(),
            _ => return None,
        };
        is_index.then(|| (operand, (Key::Name(name), (self.place)(self.tree.span(key)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn names_of_an_expression() {
        let text = "app.ports.all(p, p.number > 0) && math.greatest(size(x), y['z']) > 1 && has(a.b)";
        let source = Source::new("t.cel", text);
        let found = marks(&source, &registry(), &Limits::default()).unwrap();
        let shown = |mark: &Mark| {
            let sort = if mark.is_definition { "def " } else { "" };
            format!("{sort}{:?} {} in {}", mark.kind, source.slice(mark.span), source.slice(mark.whole))
        };
        let all: Vec<_> = found.iter().map(shown).collect();
        assert_eq!(
            all,
            [
                "Input app in app.ports",
                "Import(Function) all in app.ports.all(p, p.number > 0)",
                "def Variable p in p",
                "Variable p in p.number",
                "Import(Function) greatest in math.greatest(size(x), y['z'])",
                "Import(Function) size in size(x)",
                "Input x in x",
                "Input y in y['z']",
                "Import(Function) has in has(a.b)",
                "Input a in has(a.b)",
            ]
        );
        let name = |name: &str| Key::Name(name.to_owned());
        let Some(Given::Items(range)) = found[2].given else { panic!("{found:?}") };
        assert_eq!(source.slice(range), "app.ports");
        assert_eq!(found[2].input, Some(vec![name("app"), name("ports"), Key::Any]));
    }
}
