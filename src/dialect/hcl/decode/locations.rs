//! The locations of decoded values.

use super::Spec;
use crate::dialect::hcl::body::{Block, Body, Content, Label, Location};
use crate::text::Span;

impl<'r> Spec<'r> {
    /// Returns the location in a body of the decoded value, or of errors about its absence.
    pub fn source_range(&self, body: &Body<'r>) -> Option<Location<'r>> {
        self.location_in(body, &[])
    }

    fn location_in(&self, body: &Body<'r>, labels: &[Label]) -> Option<Location<'r>> {
        let (content, _) = body.partial_content(&self.implied_schema(), &mut Vec::new());
        self.location(&content, labels)
    }

    /// Returns the location in a block of its value.
    pub(super) fn location_in_block(&self, block: &Block<'r>) -> Option<Location<'r>> {
        self.location_in(&block.body, &block.labels)
    }

    pub(super) fn location(&self, content: &Content<'r>, labels: &[Label]) -> Option<Location<'r>> {
        let first = |name: &str| content.blocks_of(name).next();
        match self {
            Spec::Attr { name, .. } => match content.attributes.get(name.as_str()) {
                Some(attribute) => Some(attribute.expr.location()),
                None => content.missing_item,
            },
            Spec::Literal(_) => None,
            Spec::Expr(expr) => Some(expr.location()),
            Spec::Block { name, nested, .. } | Spec::Blocks { name, nested, .. } => match first(name) {
                Some(block) => nested.location_in_block(block),
                None => content.missing_item,
            },
            Spec::KeyedBlocks { name, labels, nested, .. } => match first(name) {
                Some(block) => nested.location_in(&block.body, block.labels.get(labels.len()..).unwrap_or(&[])),
                None => content.missing_item,
            },
            Spec::BlockAttrs { name, .. } => first(name).map(Block::location).or(content.missing_item),
            Spec::BlockLabel { index, .. } => {
                let span = labels.get(*index).map_or(Span::default(), |label| label.range);
                content.missing_item.map(|location| Location { span, ..location })
            }
            Spec::Default(wrapped, _)
            | Spec::Transform(wrapped, _)
            | Spec::Validate(wrapped, _)
            | Spec::Refine(wrapped, _) => wrapped.location(content, labels),
            Spec::Object(_) | Spec::Tuple(_) => content.missing_item,
        }
    }
}
