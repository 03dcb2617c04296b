//! Which variables a body names whose `dynamic` blocks are not expanded yet.

use super::Spec;
use crate::dialect::hcl::body::{Body, Reference, Unrolled, unrolled};

impl<'r> Spec<'r> {
    /// The variables that expanding the `dynamic` blocks of `body` and decoding the result would ask for: those of
    /// iterators are left out. Where `content` is not wanted, only those that expanding asks for.
    pub fn dynamic_variables(&self, body: &Body<'r>, content: bool) -> Vec<Reference<'r>> {
        let mut found = Vec::new();
        self.add_dynamic(&Unrolled::root(body.clone()), content, &mut found);
        found
    }

    fn add_dynamic(&self, at: &Unrolled<'r>, content: bool, found: &mut Vec<Reference<'r>>) {
        let (variables, children) = unrolled(at, &self.implied_schema(), content);
        found.extend(variables);
        for child in children {
            if let Some(nested) = self.nested(child.name()) {
                nested.add_dynamic(&child, content, found);
            }
        }
    }

    /// The specification of blocks of a type.
    fn nested(&self, name: &str) -> Option<&Spec<'r>> {
        match self.block_type() {
            Some((own, nested)) if own == name => nested,
            Some(_) => None,
            None => self.same_body().into_iter().find_map(|spec| spec.nested(name)),
        }
    }
}
