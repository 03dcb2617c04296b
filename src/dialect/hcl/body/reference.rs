//! Variables that expressions name.

use std::sync::Arc;

use super::content::Place;
use super::{Context, Expression};
use crate::dialect::hcl::semantics::number_of;
use crate::dialect::hcl::syntax::analysis;
use crate::dialect::hcl::syntax::parser::{Traversal, TraversalStep};
use crate::dialect::hcl::syntax::tree::{StepKind, Tree};
use crate::dialect::hcl::values::traverse;
use crate::text::{Source, Span};
use crate::value::Value;

/// A variable that an expression names, with the constant steps behind it.
#[derive(Debug, Clone)]
pub struct Reference<'r> {
    source: &'r Arc<Source>,
    tree: &'r Tree,
    traversal: Traversal,
}

/// A step of a [`Reference`].
#[derive(Debug, Clone, Copy)]
pub enum Step<'r> {
    /// The variable itself.
    Root(&'r str),
    /// An attribute.
    Attr(&'r str),
    /// An index: text or a number.
    Index(Value<'r>),
    /// Any number of elements.
    Splat,
}

impl<'r> Expression<'r> {
    /// The variables that it names, in the order of the source.
    pub fn variables(&self) -> Vec<Reference<'r>> {
        let (source, mut own) = (self.place().source, Vec::new());
        self.each_native(|tree, root| {
            let found = analysis::variables(tree, root).into_iter();
            let found = found.filter_map(|id| analysis::absolute_traversal(tree, id));
            own.extend(found.map(|traversal| Reference { source, tree, traversal }));
        });
        own.retain(|reference| !self.iterates(reference.root()));
        own
    }
}

impl<'r> Reference<'r> {
    /// The variable's name.
    pub fn root(&self) -> &'r str {
        self.tree.str(self.traversal.root)
    }

    /// The steps with their places, the variable itself first.
    pub fn steps(&self, context: &Context<'r>) -> Vec<(Step<'r>, Place<'r>)> {
        let tree = self.tree;
        let kind = |step: &TraversalStep| match step.kind {
            Some(StepKind::Attr(name)) => Step::Attr(tree.str(name)),
            Some(StepKind::Key(key)) => Step::Index(context.arena().borrowed_text(tree.str(key))),
            Some(StepKind::Number(digits)) => Step::Index(context.with_cx(|cx| number_of(cx, tree.str(digits)))),
            None => Step::Splat,
        };
        let steps = self.traversal.steps.iter().map(|step| (kind(step), self.at(step.span)));
        std::iter::once((Step::Root(self.root()), self.at(self.traversal.root_span))).chain(steps).collect()
    }

    /// From the name to the last step.
    pub fn place(&self) -> Place<'r> {
        let last = self.traversal.steps.last().map_or(self.traversal.root_span, |step| step.span);
        self.at(self.traversal.root_span.to(last))
    }

    /// What it names, where the context has that.
    pub fn value(&self, context: &Context<'r>) -> Option<Value<'r>> {
        let mut value = context.variables().get(self.root())?;
        for (step, _) in self.steps(context).iter().skip(1) {
            value = match *step {
                Step::Attr(name) => context.with_cx(|cx| traverse::attribute(cx, value, name)).ok()?.ok()?,
                Step::Index(key) => context.with_cx(|cx| traverse::index(cx, value, key)).ok()?.ok()?,
                Step::Root(_) | Step::Splat => return None,
            };
        }
        Some(value)
    }

    fn at(&self, span: Span) -> Place<'r> {
        Place { source: self.source, span }
    }
}
