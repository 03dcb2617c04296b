//! Bodies of the native syntax.

use std::collections::HashSet;
use std::rc::Rc;

use indexmap::IndexMap;

use super::content::{Attribute, Attributes, Block, Content, Label, Place};
use super::faults::{
    extraneous_label, missing_argument, missing_label, structure, unsupported_argument, unsupported_block,
};
use super::schema::BlockSchema;
use super::{Expression, Faults, File, Kind, Schema};
use crate::dialect::hcl::syntax::tree::{self, BodyId, Tree};
use crate::text::Span;

/// A body of a tree, and the items of it that were taken already.
#[derive(Debug, Clone)]
pub(super) struct Body<'r> {
    file: &'r File,
    id: BodyId,
    hidden: Option<Rc<Hidden>>,
}

#[derive(Debug, Clone, Default)]
struct Hidden {
    attributes: HashSet<String>,
    blocks: HashSet<String>,
}

impl<'r> Body<'r> {
    pub(super) fn new(file: &'r File, id: BodyId) -> Self {
        Self { file, id, hidden: None }
    }

    fn tree(&self) -> &'r Tree {
        self.file.tree()
    }

    fn attributes(&self) -> &'r [tree::Attribute] {
        self.tree().body(self.id).map_or(&[], |body| &body.attributes)
    }

    fn blocks(&self) -> &'r [tree::Block] {
        self.tree().body(self.id).map_or(&[], |body| &body.blocks)
    }

    fn place(&self, span: Span) -> Place<'r> {
        Place { source: self.tree().source(), span }
    }

    pub(super) fn missing_item(&self) -> Place<'r> {
        let start = self.tree().body(self.id).map_or(0, |body| body.span.start);
        self.place(Span::new(start, start))
    }

    pub(super) fn content(&self, schema: &Schema, faults: &mut Faults) -> Content<'r> {
        let (content, rest) = self.partial_content(schema, faults);
        for attribute in self.attributes() {
            let name = self.tree().str(attribute.name);
            if !rest.hides_attribute(name) {
                let names = schema.attributes.iter().map(|attribute| attribute.name.as_str());
                let free = names.filter(|name| !content.attributes.contains_key(name));
                faults.push(unsupported_argument(name, schema, free, self.place(attribute.name_span)));
            }
        }
        for block in self.blocks() {
            let name = self.tree().str(block.name);
            if !rest.hides_block(name) {
                faults.push(unsupported_block(name, schema, self.place(block.name_span)));
            }
        }
        content
    }

    pub(super) fn partial_content(&self, schema: &Schema, faults: &mut Faults) -> (Content<'r>, Self) {
        let mut hidden = self.hidden.as_deref().cloned().unwrap_or_default();
        let attributes = self.wanted_attributes(schema, &mut hidden, faults);
        let blocks = self.wanted_blocks(schema, faults);
        hidden.blocks.extend(schema.block_names().map(str::to_owned));
        let content = Content { attributes, blocks, missing_item: Some(self.missing_item()) };
        (content, Self { hidden: Some(Rc::new(hidden)), ..self.clone() })
    }

    fn wanted_attributes(&self, schema: &Schema, hidden: &mut Hidden, faults: &mut Faults) -> Attributes<'r> {
        let required: HashSet<&str> = schema.attributes.iter().map(|wanted| wanted.name.as_str()).collect();
        let there = self.attributes().iter().filter_map(|attribute| {
            let name = self.tree().str(attribute.name);
            (required.contains(name) && !hidden.attributes.contains(name)).then(|| (name, self.attribute(attribute)))
        });
        let attributes: Attributes<'r> = there.collect();
        for wanted in &schema.attributes {
            if attributes.contains_key(wanted.name.as_str()) {
                hidden.attributes.insert(wanted.name.clone());
            } else if wanted.required {
                faults.push(missing_argument(&wanted.name, Some(self.missing_item())));
            }
        }
        attributes
    }

    fn attribute(&self, attribute: &tree::Attribute) -> Attribute<'r> {
        Attribute {
            name: self.tree().str(attribute.name),
            expr: Expression::new(self.file, attribute.expr),
            range: attribute.span,
            name_range: attribute.name_span,
        }
    }

    fn wanted_blocks(&self, schema: &Schema, faults: &mut Faults) -> Vec<Block<'r>> {
        let mut blocks = Vec::new();
        for block in self.blocks() {
            let name = self.tree().str(block.name);
            if let Some(wanted) = schema.block_of(name).filter(|_| !self.hides_block(name)) {
                match self.wrong_labels(block, wanted) {
                    Some(fault) => faults.push(fault),
                    None => blocks.push(self.block(name, block)),
                }
            }
        }
        blocks
    }

    /// What is wrong with the number of a block's labels.
    fn wrong_labels(&self, block: &tree::Block, wanted: &BlockSchema) -> Option<Box<crate::diagnostics::Diagnostic>> {
        let (given, header) = (block.labels.len(), block.name_span.to(block.open));
        if let Some(extra) = block.labels.get(wanted.labels.len()) {
            return Some(extraneous_label(&wanted.name, &wanted.labels, self.place(extra.span), header));
        }
        let missing = wanted.labels.get(given)?;
        Some(missing_label(&wanted.name, &wanted.labels, missing, self.place(block.open), header))
    }

    fn block(&self, name: &str, block: &tree::Block) -> Block<'r> {
        let label = |label: &tree::Label| Label { text: self.tree().str(label.text).to_owned(), range: label.span };
        let last = block.labels.last().map_or(block.name_span, |label| label.span);
        Block {
            name: name.to_owned(),
            labels: block.labels.iter().map(label).collect(),
            body: super::Body(Kind::Native(Self::new(self.file, block.body))),
            source: self.tree().source(),
            def_range: block.name_span.to(last),
            type_range: block.name_span,
        }
    }

    pub(super) fn just_attributes(&self, faults: &mut Faults) -> Attributes<'r> {
        if let Some(block) = self.blocks().iter().find(|block| !self.hides_block(self.tree().str(block.name))) {
            let summary = format!("Unexpected `{}` block", self.tree().str(block.name));
            faults.push(self.place(block.name_span).put(structure(summary, "No blocks are allowed here.")));
        }
        let attributes = self.attributes().iter().map(|attribute| (self.tree().str(attribute.name), attribute));
        let there = attributes.filter(|(name, _)| !self.hides_attribute(name));
        there.map(|(name, attribute)| (name, self.attribute(attribute))).collect::<IndexMap<_, _>>()
    }

    fn hides_attribute(&self, name: &str) -> bool {
        self.hidden.as_ref().is_some_and(|hidden| hidden.attributes.contains(name))
    }

    fn hides_block(&self, name: &str) -> bool {
        self.hidden.as_ref().is_some_and(|hidden| hidden.blocks.contains(name))
    }
}
