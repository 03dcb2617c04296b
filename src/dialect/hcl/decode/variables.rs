//! Which variables a body names where a specification looks at it.

use super::Spec;
use crate::dialect::hcl::body::{Body, Content, Reference};

impl<'r> Spec<'r> {
    /// The variables that decoding `body` would ask for, with their steps and places.
    pub fn variables(&self, body: &Body<'r>) -> Vec<Reference<'r>> {
        let (content, _) = body.partial_content(&self.implied_schema(), &mut Vec::new());
        let mut found = Vec::new();
        self.add_variables(&content, &mut found);
        found
    }

    fn add_variables(&self, content: &Content<'r>, found: &mut Vec<Reference<'r>>) {
        match self {
            Spec::Attr { name, .. } => {
                if let Some(attribute) = content.attributes.get(name.as_str()) {
                    found.extend(attribute.expr.variables());
                }
            }
            Spec::Expr(expr) => found.extend(expr.variables()),
            Spec::Block { name, nested, .. } => {
                let first = content.blocks.iter().find(|block| block.name == *name);
                found.extend(first.into_iter().flat_map(|block| nested.variables(&block.body)));
            }
            Spec::Blocks { name, nested, .. } | Spec::KeyedBlocks { name, nested, .. } => {
                for block in content.blocks_of(name) {
                    found.extend(nested.variables(&block.body));
                }
            }
            Spec::BlockAttrs { name, .. } => {
                let Some(block) = content.blocks.iter().find(|block| block.name == *name) else { return };
                let mut faults = Vec::new();
                let attributes = block.body.just_attributes(&mut faults);
                if faults.is_empty() {
                    found.extend(attributes.values().flat_map(|attribute| attribute.expr.variables()));
                }
            }
            _ => self.same_body().iter().for_each(|spec| spec.add_variables(content, found)),
        }
    }
}
