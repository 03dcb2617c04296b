//! What can be seen of each node before anything runs: whether it may read what is not known, and which names around it
//! it reads.

use super::attribute::attribute;
use super::pattern::{Key, Patterns, Qualifier, Verdict};
use crate::bytecode::ImportKind;
use crate::dialect::cel::lower::Names;
use crate::dialect::cel::syntax::tree::{Call, Comprehension, Expr, ExprId, Function, Name, Tree};
use crate::function::Registry;
use crate::value::{Inputs, Map};

/// What is seen of a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fact {
    /// Whether it may read an attribute that is not known.
    pub open: bool,
    /// The names around it that it reads, each by a bit.
    pub free: u64,
}

impl Fact {
    fn and(self, other: Self) -> Self {
        Self { open: self.open | other.open, free: self.free | other.free }
    }
}

/// The bit of the name that so many names are around; the last one stands for all that there is no bit for.
pub(super) fn bit(depth: usize) -> u64 {
    1 << depth.min(63)
}

/// What a call calls.
pub(super) enum Callee {
    /// `cel.block`: its values, and what sees them.
    Block(ExprId, ExprId),
    /// A function of the values of these nodes.
    Of(Vec<ExprId>),
    /// Nothing that there is: it fails before it looks at anything.
    Nothing,
}

/// What is needed to know what names mean.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub registry: &'k Registry,
    pub names: &'k Names<'k>,
    pub patterns: &'k Patterns,
    /// What is known of the variables.
    pub inputs: Inputs<'k>,
}

impl Known<'_> {
    /// Whether no variable that is known or not known yet is called so.
    pub fn is_no_variable(&self, name: &str) -> bool {
        let there = |map: &Map<'_>| map.get(name).is_some();
        let attribute: [Qualifier<ExprId>; 1] = [Qualifier::Key(Key::Text(name.to_owned()))];
        self.names.declared.is_some()
            || !self.inputs.layers().into_iter().flatten().any(there)
                && matches!(self.patterns.verdict(&attribute), Verdict::Known)
    }

    /// What a call calls where the names of `scope` are around it.
    pub fn callee(&self, tree: &Tree, call: &Call, scope: &[Name]) -> Callee {
        let args = tree.ids(call.args);
        let Function::Named(name) = call.function else { return Callee::Of(args.to_vec()) };
        let name = tree.name(name);
        if let ("cel.@block", &[values, body]) = (name, args) {
            return Callee::Block(values, body);
        }
        let is_local = |name| scope.contains(&name);
        if self.names.namespaced(tree, self.registry, name, call, is_local).is_some() {
            return Callee::Of(args.to_vec());
        }
        match self.registry.get(ImportKind::Function, name) {
            Some(_) => Callee::Of(call.receiver.into_iter().chain(args.iter().copied()).collect()),
            None => Callee::Nothing,
        }
    }
}

/// The names of a value of `cel.block`, where something has it.
pub(super) fn block_name(tree: &Tree, at: usize) -> Option<Name> {
    tree.find_name(&format!("@index{at}"))
}

/// The names that a loop's condition and step see.
pub(super) fn loop_names(of: &Comprehension) -> impl Iterator<Item = Name> {
    [of.iter_var].into_iter().chain(of.iter_var2).chain([of.accu_var])
}

/// The facts of every node of a tree that is a part of the expanded expression.
pub(super) fn facts(tree: &Tree, known: Known<'_>) -> Vec<Fact> {
    let mut seen = Seen { tree, known, scope: Vec::new(), facts: vec![None; tree.len()] };
    seen.visit(tree.root);
    seen.facts.into_iter().map(Option::unwrap_or_default).collect()
}

struct Seen<'t> {
    tree: &'t Tree,
    known: Known<'t>,
    scope: Vec<Name>,
    facts: Vec<Option<Fact>>,
}

impl Seen<'_> {
    fn visit(&mut self, id: ExprId) -> Fact {
        if let Some(known) = self.facts.get(id.index()).copied().flatten() {
            return known;
        }
        let fact = self.fact(id);
        if let Some(place) = self.facts.get_mut(id.index()) {
            *place = Some(fact);
        }
        fact
    }

    fn all(&mut self, ids: &[ExprId]) -> Fact {
        ids.iter().fold(Fact::default(), |fact, id| fact.and(self.visit(*id)))
    }

    fn fact(&mut self, id: ExprId) -> Fact {
        let tree = self.tree;
        let scope = &self.scope;
        if let Some(found) = attribute(tree, self.known.names, id, |name| scope.contains(&name)) {
            let open = self.known.patterns.verdict(&found.trail) != Verdict::Known;
            let keys: Vec<_> = found.computed().collect();
            // As a whole, what is below it may be known or not by itself.
            if let (false, Some(below)) = (open, found.inner.first()) {
                self.visit(*below);
            }
            return Fact { open, free: 0 }.and(self.all(&keys));
        }
        match tree.expr(id) {
            Expr::Ident { name, rooted: false } => {
                let depth = self.scope.iter().rposition(|local| *local == name);
                Fact { open: false, free: depth.map_or(0, bit) }
            }
            Expr::Call(call) => match self.known.callee(tree, &call, &self.scope) {
                Callee::Of(ids) => self.all(&ids),
                Callee::Nothing => Fact::default(),
                Callee::Block(values, body) => self.block(values, body),
            },
            Expr::Message { .. } => Fact::default(),
            Expr::Comprehension(of) => tree.comprehension(of).map_or(Fact::default(), |of| self.comprehension(of)),
            expr => {
                let mut children = Vec::new();
                tree.each_child(expr, |child| children.push(child));
                self.all(&children)
            }
        }
    }

    /// What is seen by `names`, which are no free ones outside.
    fn within(&mut self, names: impl IntoIterator<Item = Name>, ids: &[ExprId]) -> Fact {
        let outer = self.scope.len();
        self.scope.extend(names);
        let fact = self.all(ids);
        let inner = (outer..self.scope.len().min(63)).fold(0, |bits, depth| bits | bit(depth));
        self.scope.truncate(outer);
        Fact { free: fact.free & !inner, ..fact }
    }

    fn comprehension(&mut self, of: &Comprehension) -> Fact {
        let outside = self.all(&[of.iter_range, of.accu_init]);
        let turn = self.within(loop_names(of), &[of.loop_condition, of.loop_step]);
        outside.and(turn).and(self.within([of.accu_var], &[of.result]))
    }

    fn block(&mut self, values: ExprId, body: ExprId) -> Fact {
        let tree = self.tree;
        let Expr::List(run) = tree.expr(values) else { return self.all(&[values, body]) };
        let outer = self.scope.len();
        let mut fact = Fact::default();
        for (at, element) in tree.elements(run).iter().enumerate() {
            fact = fact.and(self.visit(element.value));
            self.scope.extend(block_name(tree, at));
        }
        fact = fact.and(self.visit(body));
        let inner = (outer..self.scope.len().min(63)).fold(0, |bits, depth| bits | bit(depth));
        self.scope.truncate(outer);
        Fact { free: fact.free & !inner, ..fact }
    }
}
