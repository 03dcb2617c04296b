//! JSON values as bodies: what a property is, an attribute or blocks, is decided by the schema.
//!
//! An object holds attributes and blocks by name; an array of objects is the body that all of them make together.
//! Blocks are an object, or an array of objects for several of them; each label is the name of a property around them.
//! The property `//` is a comment.

mod faults;

use std::collections::HashSet;
use std::rc::Rc;

use super::document::{Document, Json, JsonId, Node, Property};
use super::file::JsonFile;
use crate::dialect::hcl::body::{
    Attribute, Attributes, Block, BlockSchema, Body, Content, Expression, Faults, File, Label, Place, Schema,
};
use crate::text::Span;

/// The name of properties that are comments.
const COMMENT: &str = "//";

/// A body of a document, and the names in it that were taken already.
#[derive(Debug, Clone)]
pub(in crate::dialect::hcl) struct JsonBody<'r> {
    file: &'r File,
    json: &'r JsonFile,
    id: JsonId,
    hidden: Rc<HashSet<String>>,
}

impl<'r> JsonBody<'r> {
    pub fn new(file: &'r File, json: &'r JsonFile, id: JsonId) -> Self {
        Self { file, json, id, hidden: Rc::default() }
    }

    fn document(&self) -> &'r Document {
        self.json.document()
    }

    fn node(&self) -> Node {
        self.document().node(self.id)
    }

    fn place(&self, span: Span) -> Place<'r> {
        Place { source: self.document().source(), span }
    }

    /// Where something that is missing would be reported.
    pub fn missing_item(&self) -> Place<'r> {
        let node = self.node();
        self.place(if let Json::Object(_) = node.json { node.close() } else { node.start() })
    }

    /// What is there by `schema`; what is there beside that is reported.
    pub fn content(&self, schema: &Schema, faults: &mut Faults) -> Content<'r> {
        let (content, rest) = self.partial_content(schema, faults);
        // The reference goes through the properties again, and reports again what cannot hold any.
        for property in self.properties(self.id, None, faults) {
            let name = self.document().str(property.name);
            if name != COMMENT && !rest.hidden.contains(name) {
                let place = self.place(property.name_span);
                faults.push(faults::extraneous(name, schema, &rest.hidden, place));
            }
        }
        content
    }

    /// What is there by `schema`, and a body of the rest.
    pub fn partial_content(&self, schema: &Schema, faults: &mut Faults) -> (Content<'r>, Self) {
        let mut content =
            Content { attributes: Attributes::new(), blocks: Vec::new(), missing_item: Some(self.missing_item()) };
        let mut used = HashSet::clone(&self.hidden);
        for property in self.properties(self.id, None, faults) {
            let name = self.document().str(property.name);
            if self.hidden.contains(name) {
                continue;
            }
            if schema.has_attribute(name) {
                let before = content.attributes.get(name).map(|before| before.range);
                match before {
                    Some(before) => {
                        faults.push(faults::duplicate(name, self.place(before), self.place(property.name_span)));
                    }
                    None => {
                        content.attributes.insert(name, self.attribute(property));
                    }
                }
            } else if let Some(wanted) = schema.block_of(name) {
                self.blocks(property, wanted, &mut content.blocks, faults);
            } else {
                continue;
            }
            used.insert(name.to_owned());
        }
        for wanted in schema.attributes.iter().filter(|wanted| wanted.required) {
            if !content.attributes.contains_key(wanted.name.as_str()) {
                faults.push(faults::missing_argument(&wanted.name, self.missing_item()));
            }
        }
        (content, Self { hidden: Rc::new(used), ..self.clone() })
    }

    /// Every property as an attribute.
    pub fn just_attributes(&self, faults: &mut Faults) -> Attributes<'r> {
        let (node, mut attributes) = (self.node(), Attributes::new());
        let Json::Object(properties) = node.json else {
            faults.push(faults::no_arguments(self.place(node.start())));
            return attributes;
        };
        for property in self.document().properties(properties) {
            let name = self.document().str(property.name);
            if name == COMMENT || self.hidden.contains(name) {
                continue;
            }
            if let Some(before) = attributes.get(name).map(|before: &Attribute<'_>| before.range) {
                faults.push(faults::duplicate(name, self.place(before), self.place(property.name_span)));
                continue;
            }
            attributes.insert(name, self.attribute(property));
        }
        attributes
    }

    fn attribute(&self, property: &Property) -> Attribute<'r> {
        Attribute {
            name: self.document().str(property.name),
            expr: Expression::json(self.file, self.json, property.value),
            range: property.name_span.to(self.document().node(property.value).span),
            name_range: property.name_span,
        }
    }

    /// The properties of an object, or of all objects of an array. `label` is the label that their names are for.
    fn properties(&self, id: JsonId, label: Option<&str>, faults: &mut Faults) -> Vec<&'r Property> {
        let node = self.document().node(id);
        match node.json {
            Json::Null => Vec::new(),
            Json::Object(properties) => self.document().properties(properties).iter().collect(),
            Json::Array(items) => {
                let mut all = Vec::new();
                for item in self.document().items(items).iter().map(|&id| self.document().node(id)) {
                    match item.json {
                        Json::Object(properties) => all.extend(self.document().properties(properties)),
                        _ => faults.push(faults::no_object(label, self.place(item.start()))),
                    }
                }
                all
            }
            _ => {
                faults.push(faults::no_object(label, self.place(node.start())));
                Vec::new()
            }
        }
    }

    /// The blocks that a property stands for: the values behind as many names as there are labels.
    fn blocks(&self, property: &Property, wanted: &BlockSchema, blocks: &mut Vec<Block<'r>>, faults: &mut Faults) {
        let mut open = vec![(property.value, Vec::new())];
        while let Some((value, labels)) = open.pop() {
            let Some(label) = wanted.labels.get(labels.len()) else {
                self.labelled(value, property, wanted, labels, blocks, faults);
                continue;
            };
            let properties = self.properties(value, Some(label), faults);
            if properties.is_empty() {
                let place = self.place(self.document().node(value).start());
                faults.push(faults::missing_label(&wanted.name, label, place));
            }
            for inner in properties.into_iter().rev() {
                let text = self.document().str(inner.name).to_owned();
                let mut labels = labels.clone();
                labels.push(Label { text, range: inner.name_span });
                open.push((inner.value, labels));
            }
        }
    }

    /// The blocks behind the last label.
    fn labelled(
        &self,
        value: JsonId,
        property: &Property,
        wanted: &BlockSchema,
        labels: Vec<Label>,
        blocks: &mut Vec<Block<'r>>,
        faults: &mut Faults,
    ) {
        let node = self.document().node(value);
        let block = |id: JsonId| Block {
            name: wanted.name.clone(),
            labels: labels.clone(),
            body: Body::json(Self::new(self.file, self.json, id)),
            source: self.document().source(),
            def_range: node.open(),
            type_range: property.name_span,
        };
        match node.json {
            Json::Null => {}
            Json::Object(_) => blocks.push(block(value)),
            Json::Array(items) => blocks.extend(self.document().items(items).iter().map(|&item| block(item))),
            _ => faults.push(faults::no_block(&wanted.name, self.place(node.start()))),
        }
    }
}
