//! Variables in expressions.

use std::sync::Arc;

use super::{Context, Expression, Location};
use crate::dialect::hcl::evaluation::literal_number;
use crate::dialect::hcl::syntax::analysis;
use crate::dialect::hcl::syntax::tree::{StepKind, Traversal, TraversalStep, Tree};
use crate::dialect::hcl::values::traverse;
use crate::text::{Source, Span};
use crate::value::Value;

/// A variable in an expression, with the constant steps that follow it.
#[derive(Debug, Clone)]
pub struct Reference<'r> {
    source: &'r Arc<Source>,
    tree: &'r Tree,
    traversal: Traversal,
}

/// A step of a [`Reference`].
#[derive(Debug, Clone, Copy)]
pub enum Step<'r> {
    /// The variable.
    Root(&'r str),
    /// An attribute.
    Attr(&'r str),
    /// An index, a string or a number.
    Index(Value<'r>),
    /// A splat.
    Splat,
}

impl<'r> Expression<'r> {
    /// The variables, in source order.
    pub fn variables(&self) -> Vec<Reference<'r>> {
        let (source, mut references) = (self.location().source, Vec::new());
        self.each_native(|tree, root| {
            let found = analysis::variables(tree, root).into_iter();
            let found = found.filter_map(|id| analysis::absolute_traversal(tree, id));
            references.extend(found.map(|traversal| Reference { source, tree, traversal }));
        });
        references.retain(|reference| !self.has_iterator(reference.root()));
        references
    }
}

impl<'r> Reference<'r> {
    /// The name of the variable.
    pub fn root(&self) -> &'r str {
        self.tree.str(self.traversal.root)
    }

    /// The steps with their locations. The first is the variable.
    pub fn steps(&self, context: &Context<'r>) -> Vec<(Step<'r>, Location<'r>)> {
        let tree = self.tree;
        let kind = |step: &TraversalStep| match step.kind {
            Some(StepKind::Attr(name)) => Step::Attr(tree.str(name)),
            Some(StepKind::Key(key)) => Step::Index(context.arena().borrowed_text(tree.str(key))),
            Some(StepKind::Number(digits)) => Step::Index(context.with_cx(|cx| literal_number(cx, tree.str(digits)))),
            None => Step::Splat,
        };
        let steps = self.traversal.steps.iter().map(|step| (kind(step), self.at(step.span)));
        std::iter::once((Step::Root(self.root()), self.at(self.traversal.root_span))).chain(steps).collect()
    }

    /// The location from the name to the last step.
    pub fn location(&self) -> Location<'r> {
        let last = self.traversal.steps.last().map_or(self.traversal.root_span, |step| step.span);
        self.at(self.traversal.root_span.to(last))
    }

    /// Returns the value, if the context has it.
    pub fn value(&self, context: &Context<'r>) -> Option<Value<'r>> {
        let mut value = context.variables().get(self.root())?;
        for (step, _) in self.steps(context).iter().skip(1) {
            let next = context.with_cx(|cx| match *step {
                Step::Attr(name) => traverse::attribute(cx, value, name).ok(),
                Step::Index(key) => traverse::index(cx, value, key).ok(),
                Step::Root(_) | Step::Splat => None,
            });
            value = next?.ok()?;
        }
        Some(value)
    }

    fn at(&self, span: Span) -> Location<'r> {
        Location { source: self.source, span }
    }
}
