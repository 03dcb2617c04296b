//! Variables in expressions, and those of `dynamic` blocks level by level, without expanding them.

use std::rc::Rc;
use std::sync::Arc;

use super::{Attribute, Block, Body, BodySchema, Context, Expression, Location};
use crate::evaluation::literal_number;
use crate::syntax::{StepKind, Traversal, TraversalStep, Tree, analysis};
use crate::values::traverse;
use dropforge_base::text::{Source, Span};
use dropforge_value::Value;

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

/// A body, and the iterators of the `dynamic` blocks around it.
#[derive(Debug, Clone)]
pub struct DynamicNode<'r> {
    name: String,
    body: Body<'r>,
    iterators: Rc<[String]>,
}

impl<'r> DynamicNode<'r> {
    /// The body of a file.
    pub fn root(body: Body<'r>) -> Self {
        Self { name: String::new(), body, iterators: Rc::default() }
    }

    /// The type of the block of the body.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The variables of an expression, without iterators. `own` is one more iterator.
    fn variables(&self, expr: &Expression<'r>, own: Option<&str>) -> Vec<Reference<'r>> {
        let is_iterator = |name: &str| own == Some(name) || self.iterators.iter().any(|iterator| iterator == name);
        let mut variables = expr.variables();
        variables.retain(|reference| !is_iterator(reference.root()));
        variables
    }

    fn child(&self, name: &str, body: &Body<'r>, iterator: Option<&str>) -> Self {
        let iterators = self.iterators.iter().cloned().chain(iterator.map(str::to_owned));
        Self { name: name.to_owned(), body: body.clone(), iterators: iterators.collect() }
    }
}

/// Returns the variables of a body, and its child bodies to visit next. The variables are those of its `dynamic` blocks
/// and, with `content`, of its attributes.
pub fn visit_dynamic<'r>(
    node: &DynamicNode<'r>,
    schema: &BodySchema,
    content: bool,
) -> (Vec<Reference<'r>>, Vec<DynamicNode<'r>>) {
    let schema = schema.clone().block("dynamic", &["type"]);
    let (found, _) = node.body.partial_content(&schema, &mut Vec::new());
    let (mut variables, mut children) = (Vec::new(), Vec::new());
    if content {
        variables.extend(found.attributes.values().flat_map(|attribute| node.variables(&attribute.expr, None)));
    }
    for block in &found.blocks {
        match block.labels.first().filter(|_| block.name == "dynamic") {
            Some(label) => visit_block(node, block, &label.text, &mut variables, &mut children),
            None => children.push(node.child(&block.name, &block.body, None)),
        }
    }
    (variables, children)
}

/// Adds the variables and the content of a `dynamic` block.
fn visit_block<'r>(
    node: &DynamicNode<'r>,
    block: &Block<'r>,
    name: &str,
    variables: &mut Vec<Reference<'r>>,
    children: &mut Vec<DynamicNode<'r>>,
) {
    let schema = BodySchema::new().optional("for_each").optional("labels").optional("iterator").block("content", &[]);
    let (inner, _) = block.body.partial_content(&schema, &mut Vec::new());
    let root = |attribute: &Attribute<'r>| attribute.expr.as_traversal(|tree, found| tree.str(found.root).to_owned());
    // Expansion reports an invalid iterator.
    let Some(iterator) = inner.attributes.get("iterator").map_or(Some(name.to_owned()), root) else { return };
    if let Some(for_each) = inner.attributes.get("for_each") {
        variables.extend(node.variables(&for_each.expr, None));
    }
    if let Some(labels) = inner.attributes.get("labels") {
        variables.extend(node.variables(&labels.expr, Some(&iterator)));
    }
    children.extend(inner.blocks.iter().map(|content| node.child(name, &content.body, Some(&iterator))));
}
