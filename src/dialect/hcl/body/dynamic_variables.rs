//! The variables of `dynamic` blocks, level by level, without expanding them.

use std::rc::Rc;

use super::{Attribute, Block, Body, BodySchema, Expression, Reference};

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
