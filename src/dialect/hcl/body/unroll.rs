//! Which variables `dynamic` blocks name, level by level, without expanding them.

use std::rc::Rc;

use super::{Attribute, Block, Body, Expression, Reference, Schema};

/// A body, and the iterators of the `dynamic` blocks around it.
#[derive(Debug, Clone)]
pub struct Unrolled<'r> {
    name: String,
    body: Body<'r>,
    iterators: Rc<[String]>,
}

impl<'r> Unrolled<'r> {
    /// The body of a file.
    pub fn root(body: Body<'r>) -> Self {
        Self { name: String::new(), body, iterators: Rc::default() }
    }

    /// The type of the block that the body is of.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Those of an expression's variables that are no iterators.
    fn variables(&self, expr: &Expression<'r>, own: Option<&str>) -> impl Iterator<Item = Reference<'r>> {
        let iterates = |name: &str| own == Some(name) || self.iterators.iter().any(|iterator| iterator == name);
        expr.variables().into_iter().filter(|reference| !iterates(reference.root())).collect::<Vec<_>>().into_iter()
    }

    fn child(&self, name: &str, body: &Body<'r>, iterator: Option<&str>) -> Self {
        let iterators = self.iterators.iter().cloned().chain(iterator.map(str::to_owned));
        Self { name: name.to_owned(), body: body.clone(), iterators: iterators.collect() }
    }
}

/// The variables that a body names itself, in its `dynamic` blocks and, where `content` is wanted, in its attributes;
/// and the bodies in it that are to be looked at in the same way, those of `dynamic` blocks' contents among them.
pub fn unrolled<'r>(at: &Unrolled<'r>, schema: &Schema, content: bool) -> (Vec<Reference<'r>>, Vec<Unrolled<'r>>) {
    let schema = schema.clone().block("dynamic", &["type"]);
    let (found, _) = at.body.partial_content(&schema, &mut Vec::new());
    let (mut variables, mut children) = (Vec::new(), Vec::new());
    if content {
        variables.extend(found.attributes.values().flat_map(|attribute| at.variables(&attribute.expr, None)));
    }
    for block in &found.blocks {
        match block.labels.first().filter(|_| block.name == "dynamic") {
            Some(label) => dynamic(at, block, &label.text, &mut variables, &mut children),
            None => children.push(at.child(&block.name, &block.body, None)),
        }
    }
    (variables, children)
}

fn dynamic<'r>(
    at: &Unrolled<'r>,
    block: &Block<'r>,
    name: &str,
    variables: &mut Vec<Reference<'r>>,
    children: &mut Vec<Unrolled<'r>>,
) {
    let schema = Schema::new().optional("for_each").optional("labels").optional("iterator").block("content", &[]);
    let (inner, _) = block.body.partial_content(&schema, &mut Vec::new());
    let named = |attribute: &Attribute<'r>| attribute.expr.as_traversal(|tree, found| tree.str(found.root).to_owned());
    let iterator = match inner.attributes.get("iterator") {
        Some(attribute) => named(attribute),
        None => Some(name.to_owned()),
    };
    // A block that names no iterator is reported when it is expanded.
    let Some(iterator) = iterator else { return };
    if let Some(for_each) = inner.attributes.get("for_each") {
        variables.extend(at.variables(&for_each.expr, None));
    }
    if let Some(labels) = inner.attributes.get("labels") {
        variables.extend(at.variables(&labels.expr, Some(&iterator)));
    }
    children.extend(inner.blocks.iter().map(|content| at.child(name, &content.body, Some(&iterator))));
}
