//! The context of partial evaluation.

use crate::attributes::{Attribute, Key, Match, Patterns, Qualifier, attribute};
use crate::resolution::Names;
use crate::syntax::tree::{Call, ExprId, Function, Name, Tree};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::Registry;
use dropforge_value::{Inputs, Map};

/// The functions, names, known inputs and unknown attributes that an expression is evaluated with.
#[derive(Clone, Copy)]
pub(super) struct PartialContext<'k> {
    pub registry: &'k Registry,
    pub names: &'k Names<'k>,
    pub patterns: &'k Patterns,
    pub inputs: Inputs<'k>,
    /// `true` if presence tests find nothing in values without members.
    pub lenient: bool,
}

/// The target of a call.
pub(super) enum Callee {
    /// `cel.block`: its values and its body.
    Block(ExprId, ExprId),
    /// A function of the values of these nodes.
    Function(Vec<ExprId>),
    /// An unknown function, which fails before it evaluates any argument.
    Unknown,
}

impl PartialContext<'_> {
    /// Returns `true` if `name` is not a variable, known or unknown.
    pub fn is_no_variable(&self, name: &str) -> bool {
        let has = |map: &Map<'_>| map.get(name).is_some();
        let attribute: [Qualifier<ExprId>; 1] = [Qualifier::Key(Key::text(name))];
        self.names.declared.is_some()
            || !self.inputs.layers().into_iter().flatten().any(has)
                && matches!(self.patterns.matches(&attribute), Match::Known)
    }

    /// Returns the attribute that an expression is, with the variables of `scope` around it.
    pub fn attribute(&self, tree: &Tree, id: ExprId, scope: &[Name]) -> Option<Attribute> {
        attribute(tree, self.names, id, |name| scope.contains(&name))
    }

    /// Returns the target of a call, with the variables of `scope` around it.
    pub fn callee(&self, tree: &Tree, call: &Call, scope: &[Name]) -> Callee {
        let args = tree.ids(call.args);
        let Function::Named(name) = call.function else { return Callee::Function(args.to_vec()) };
        let name = tree.name(name);
        if let ("cel.@block", &[values, body]) = (name, args) {
            return Callee::Block(values, body);
        }
        if self.names.function(tree, self.registry, name, call, |name| scope.contains(&name)).is_some() {
            return Callee::Function(args.to_vec());
        }
        match self.registry.get(ImportKind::Function, name) {
            Some(_) => Callee::Function(call.receiver.into_iter().chain(args.iter().copied()).collect()),
            None => Callee::Unknown,
        }
    }
}

/// Returns the name of a value of `cel.block`, if anything refers to it.
pub(super) fn block_name(tree: &Tree, at: usize) -> Option<Name> {
    tree.find_name(&format!("@index{at}"))
}
