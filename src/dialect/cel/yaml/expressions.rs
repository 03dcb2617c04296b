//! Expressions in their places: parsed once for each text, and what their names mean at each place.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::build::Build;
use super::tree::{Expression, ExpressionId, Free, NodeId};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dialect::cel::syntax::tree::{Expr, ExprId, Function, Literal, Name, Operator, Selection, Tree};
use crate::dialect::cel::syntax::{self, Options};
use crate::text::{Source, Span};
use crate::value::yaml::Places;

/// How many expressions a file may have.
const EXPRESSIONS: usize = 100_000;

/// How many nodes they may have together, each text counted once.
const NODES: usize = 4 << 20;

/// A parsed text, whatever its place.
pub(super) struct Parsed {
    pub tree: Arc<Tree>,
    /// Each name that nothing inside binds, where it first stands.
    pub roots: Vec<(Arc<str>, ExprId)>,
    /// Whether there is anything in it that only an expression has: a comparison, a call, a string.
    pub definite: bool,
    /// Whether it is one number with a fraction or an exponent.
    pub double: bool,
}

/// The texts that were parsed.
pub(super) type Known = HashMap<String, Result<Arc<Parsed>, Diagnostics>>;

impl Build<'_> {
    /// Parses `text`, or knows it already.
    pub fn parse(&mut self, text: &str) -> Result<Arc<Parsed>, Diagnostics> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let source = Source::new(self.file.source.name(), text);
        let parsed = syntax::parse(&source, &Options::default()).map(|tree| Arc::new(Parsed::new(tree)));
        self.parsed_nodes += parsed.as_ref().map_or(0, |parsed| parsed.tree.len());
        self.known.insert(text.to_owned(), parsed.clone());
        parsed
    }

    /// The expression `text`, which stands at `places`; `None` where it is none, which is reported.
    pub fn expression(&mut self, owner: NodeId, text: &str, places: &Places) -> Option<ExpressionId> {
        if self.is_full(owner, places.span(Span::of(0..text.len()))) {
            return None;
        }
        match self.parse(text) {
            Ok(parsed) => self.place(owner, &parsed, text, places),
            Err(faults) => {
                for fault in faults.into_vec() {
                    self.syntax_fault(owner, *fault, places);
                }
                None
            }
        }
    }

    /// Whether there are so many expressions that no further one is read, which is reported once.
    fn is_full(&mut self, owner: NodeId, span: Span) -> bool {
        let full = self.file.expressions.len() >= EXPRESSIONS || self.parsed_nodes > NODES;
        if full && !self.too_many {
            self.too_many = true;
            let message =
                format!("the expressions of the file are too many: the limit is {EXPRESSIONS}, or {NODES} nodes");
            self.error(Code::LimitCode, span, owner, message);
        }
        full
    }

    /// Puts a fault of the syntax where it is in the file.
    fn syntax_fault(&mut self, owner: NodeId, mut fault: Diagnostic, places: &Places) {
        let path = self.file.path(owner);
        for label in &mut fault.labels {
            label.source = self.file.source.clone();
            label.span = places.span(label.span);
        }
        self.report(Box::new(fault), &path);
    }

    /// A parsed expression in its place.
    pub fn place(&mut self, owner: NodeId, parsed: &Parsed, text: &str, places: &Places) -> Option<ExpressionId> {
        let span = places.span(Span::of(0..text.len()));
        if self.is_full(owner, span) {
            return None;
        }
        let free = parsed.roots.iter().map(|(name, at)| self.free(name, places.span(parsed.tree.span(*at)))).collect();
        let (tree, places, scope) = (parsed.tree.clone(), places.clone(), self.names.scope);
        self.file.expressions.push(Expression { tree, places, span, owner, scope, free });
        Some(ExpressionId::of(self.file.expressions.len() - 1))
    }

    /// What `name` means here.
    fn free(&self, name: &Arc<str>, span: Span) -> Free {
        let known = self.names.get(name);
        let later = if known.is_none() { self.names.later(name) } else { None };
        let binding = known.unwrap_or_default();
        Free { name: name.clone(), span, variable: binding.variable, declared: binding.declared, later }
    }
}

impl Parsed {
    fn new(tree: Tree) -> Self {
        let mut walk =
            Walk { tree: &tree, bound: Vec::new(), seen: HashSet::new(), roots: Vec::new(), definite: false };
        walk.run();
        let (roots, definite) = (walk.roots, walk.definite);
        let double = matches!(tree.expr(tree.root), Expr::Literal(Literal::Double(_)));
        Self { tree: Arc::new(tree), roots, definite, double }
    }
}

/// What is to be done in a walk.
enum Step {
    Visit(ExprId),
    Bind(Name),
    Unbind(usize),
}

struct Walk<'t> {
    tree: &'t Tree,
    /// The names that loops around bind.
    bound: Vec<Name>,
    seen: HashSet<Name>,
    roots: Vec<(Arc<str>, ExprId)>,
    definite: bool,
}

impl Walk<'_> {
    /// Visits every node, in the order of the source as far as that goes.
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
                    self.roots.push((self.tree.name(name).into(), id));
                }
            }
            Expr::Comprehension(loop_) => {
                let Some(of) = self.tree.comprehension(loop_) else { return };
                let mut steps = vec![Step::Visit(of.iter_range), Step::Visit(of.accu_init)];
                steps.push(Step::Bind(of.accu_var));
                steps.extend([Some(of.iter_var), of.iter_var2].into_iter().flatten().map(Step::Bind));
                steps.extend([of.loop_condition, of.loop_step].map(Step::Visit));
                // The result sees the accumulator only.
                steps.push(Step::Unbind(1 + usize::from(of.iter_var2.is_some())));
                steps.extend([Step::Visit(of.result), Step::Unbind(1)]);
                open.extend(steps.into_iter().rev());
            }
            other => {
                let first = open.len();
                self.tree.each_child(other, |child| open.push(Step::Visit(child)));
                if let Some(children) = open.get_mut(first..) {
                    children.reverse();
                }
            }
        }
    }
}

/// Whether only an expression has it: anything but names, numbers, fields, and the signs that stand in host names, dates
/// and paths.
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
