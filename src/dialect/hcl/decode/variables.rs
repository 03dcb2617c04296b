//! The variables of a body.

use super::Spec;
use crate::dialect::hcl::body::{Body, Content, DynamicNode, Reference, visit_dynamic};

impl<'r> Spec<'r> {
    /// Returns the variables that decoding `body` reads.
    pub fn variables(&self, body: &Body<'r>) -> Vec<Reference<'r>> {
        let (content, _) = body.partial_content(&self.implied_schema(), &mut Vec::new());
        let mut found = Vec::new();
        self.add_variables(&content, &mut found);
        found
    }

    fn add_variables(&self, content: &Content<'r>, found: &mut Vec<Reference<'r>>) {
        match self {
            Spec::Attr { name, .. } => {
                let attribute = content.attributes.get(name.as_str()).into_iter();
                found.extend(attribute.flat_map(|attribute| attribute.expr.variables()));
            }
            Spec::Expr(expr) => found.extend(expr.variables()),
            Spec::Block { name, nested, .. } => {
                found.extend(content.blocks_of(name).take(1).flat_map(|block| nested.variables(&block.body)));
            }
            Spec::Blocks { name, nested, .. } | Spec::KeyedBlocks { name, nested, .. } => {
                found.extend(content.blocks_of(name).flat_map(|block| nested.variables(&block.body)));
            }
            Spec::BlockAttrs { name, .. } => {
                let Some(block) = content.blocks_of(name).next() else { return };
                let mut diagnostics = Vec::new();
                let attributes = block.body.just_attributes(&mut diagnostics);
                if diagnostics.is_empty() {
                    found.extend(attributes.values().flat_map(|attribute| attribute.expr.variables()));
                }
            }
            _ => self.same_body().iter().for_each(|spec| spec.add_variables(content, found)),
        }
    }

    /// Returns the variables that expanding the `dynamic` blocks of `body` reads and, with `content`, those that
    /// decoding the result reads. Iterators are left out.
    pub fn dynamic_variables(&self, body: &Body<'r>, content: bool) -> Vec<Reference<'r>> {
        let mut found = Vec::new();
        self.add_dynamic(&DynamicNode::root(body.clone()), content, &mut found);
        found
    }

    fn add_dynamic(&self, node: &DynamicNode<'r>, content: bool, found: &mut Vec<Reference<'r>>) {
        let (variables, children) = visit_dynamic(node, &self.implied_schema(), content);
        found.extend(variables);
        for child in children {
            if let Some(nested) = self.nested(child.name()) {
                nested.add_dynamic(&child, content, found);
            }
        }
    }

    /// Returns the specification of blocks of a type.
    fn nested(&self, name: &str) -> Option<&Spec<'r>> {
        match self.block_type() {
            Some((own, nested)) if own == name => nested,
            Some(_) => None,
            None => self.same_body().into_iter().find_map(|spec| spec.nested(name)),
        }
    }
}
