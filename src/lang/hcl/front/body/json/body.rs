//! JSON values as bodies. The schema decides whether a property is an attribute or blocks.
//!
//! An object has attributes and blocks by name. An array of objects is one body with the content of all. Blocks are an
//! object or an array of objects, in an object for each label whose property names are the labels. A property named
//! `//` is a comment.

use std::collections::HashSet;

use super::JsonFile;
use crate::body::content::{BodySource, Split};
use crate::body::errors::{duplicate_argument, missing_argument, mistyped, structure};
use crate::body::{
    Attribute, Attributes, Block, BlockSchema, Body, BodySchema, Content, DiagnosticList, Expression, Label, Location,
};
use crate::json::{Document, Json, JsonId, Property};
use crate::name_suggestion::name_suggestion;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::text::Span;

/// The name of properties that are comments.
const COMMENT: &str = "//";

/// A body of a document.
#[derive(Debug, Clone)]
pub(in crate::front::body) struct JsonBody<'r> {
    file: &'r JsonFile,
    id: JsonId,
    /// The names that were taken.
    hidden: HashSet<String>,
}

impl<'r> JsonBody<'r> {
    pub fn new(file: &'r JsonFile, id: JsonId) -> Self {
        Self { file, id, hidden: HashSet::new() }
    }

    fn document(&self) -> &'r Document {
        self.file.document()
    }

    fn location(&self, span: Span) -> Location<'r> {
        Location { source: self.document().source(), span }
    }

    /// Adds an attribute. Of duplicates, the first counts.
    fn add_attribute(&self, property: &Property, attributes: &mut Attributes<'r>, diagnostics: &mut DiagnosticList) {
        let name = self.document().str(property.name);
        if let Some(before) = attributes.get(name) {
            let locations = [before.range, property.name_span].map(|span| self.location(span));
            diagnostics.push(duplicate_argument(name, locations[0], locations[1]));
            return;
        }
        let expr = Expression::json(self.file, property.value);
        let range = property.name_span.to(expr.range());
        attributes.insert(name, Attribute { name, expr, range, name_range: property.name_span });
    }

    /// The properties of an object, or of all objects of an array. Their names are labels named `label`.
    fn properties(&self, id: JsonId, label: Option<&str>, diagnostics: &mut DiagnosticList) -> Vec<&'r Property> {
        let node = self.document().node(id);
        match node.json {
            Json::Null => Vec::new(),
            Json::Object(properties) => self.document().properties(properties).iter().collect(),
            Json::Array(items) => {
                let mut all = Vec::new();
                for item in self.document().items(items).iter().map(|&id| self.document().node(id)) {
                    match item.json {
                        Json::Object(properties) => all.extend(self.document().properties(properties)),
                        _ => diagnostics.push(not_an_object(label, self.location(item.start()))),
                    }
                }
                all
            }
            _ => {
                diagnostics.push(not_an_object(label, self.location(node.start())));
                Vec::new()
            }
        }
    }

    /// Adds the blocks of a property, which are nested in an object for each label.
    fn add_blocks(
        &self,
        property: &Property,
        wanted: &BlockSchema,
        blocks: &mut Vec<Block<'r>>,
        diagnostics: &mut DiagnosticList,
    ) {
        let mut pending = vec![(property.value, Vec::new())];
        while let Some((value, labels)) = pending.pop() {
            let Some(label) = wanted.labels.get(labels.len()) else {
                self.add_labelled(value, property, wanted, labels, blocks, diagnostics);
                continue;
            };
            let properties = self.properties(value, Some(label), diagnostics);
            if properties.is_empty() {
                let detail = format!("The {label} of a `{}` block must be a property name.", wanted.name);
                let location = self.location(self.document().node(value).start());
                diagnostics.push(location.label(structure("Missing block label", detail)));
            }
            for inner in properties.into_iter().rev() {
                let text = self.document().str(inner.name).to_owned();
                let mut labels = labels.clone();
                labels.push(Label { text, range: inner.name_span });
                pending.push((inner.value, labels));
            }
        }
    }

    /// Adds the blocks behind the last label.
    fn add_labelled(
        &self,
        value: JsonId,
        property: &Property,
        wanted: &BlockSchema,
        labels: Vec<Label>,
        blocks: &mut Vec<Block<'r>>,
        diagnostics: &mut DiagnosticList,
    ) {
        let node = self.document().node(value);
        let block = |id: JsonId| Block {
            name: wanted.name.clone(),
            labels: labels.clone(),
            body: Body::of(Self::new(self.file, id)),
            source: self.document().source(),
            def_range: node.open(),
            type_range: property.name_span,
        };
        match node.json {
            Json::Null => {}
            Json::Object(_) => blocks.push(block(value)),
            Json::Array(items) => blocks.extend(self.document().items(items).iter().map(|&item| block(item))),
            _ => {
                let detail = format!("A `{}` block must be a JSON object, several an array of objects.", wanted.name);
                diagnostics.push(wrong_type(detail, self.location(node.start())));
            }
        }
    }
}

impl<'r> BodySource<'r> for JsonBody<'r> {
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r> {
        let missing_item = self.missing_item();
        let (mut attributes, mut blocks, mut rest) = (Attributes::new(), Vec::new(), self.clone());
        for property in self.properties(self.id, None, diagnostics) {
            let name = self.document().str(property.name);
            if self.hidden.contains(name) {
                continue;
            }
            if schema.has_attribute(name) {
                self.add_attribute(property, &mut attributes, diagnostics);
            } else if let Some(wanted) = schema.block_of(name) {
                self.add_blocks(property, wanted, &mut blocks, diagnostics);
            } else {
                continue;
            }
            rest.hidden.insert(name.to_owned());
        }
        for wanted in schema.attributes.values().filter(|wanted| wanted.required) {
            if !attributes.contains_key(wanted.name.as_str()) {
                diagnostics.push(missing_argument(&wanted.name, missing_item));
            }
        }
        // The reference visits the properties again, and reports values that cannot have any again.
        let again = if complete { self.properties(self.id, None, diagnostics) } else { Vec::new() };
        for property in again {
            let name = self.document().str(property.name);
            if name != COMMENT && !rest.hidden.contains(name) {
                let location = self.location(property.name_span);
                diagnostics.push(extraneous(name, schema, &rest.hidden, location));
            }
        }
        (Content { attributes, blocks, missing_item }, Body::of(rest))
    }

    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        let (node, mut attributes) = (self.document().node(self.id), Attributes::new());
        let Json::Object(properties) = node.json else {
            let detail = "The arguments of this block must be the properties of a JSON object.";
            diagnostics.push(wrong_type(detail, self.location(node.start())));
            return attributes;
        };
        for property in self.document().properties(properties) {
            let name = self.document().str(property.name);
            if name != COMMENT && !self.hidden.contains(name) {
                self.add_attribute(property, &mut attributes, diagnostics);
            }
        }
        attributes
    }

    fn missing_item(&self) -> Option<Location<'r>> {
        let node = self.document().node(self.id);
        Some(self.location(if let Json::Object(_) = node.json { node.close() } else { node.start() }))
    }
}

/// A value of the wrong JSON type.
pub fn wrong_type(detail: impl Into<String>, location: Location<'_>) -> Box<Diagnostic> {
    location.label(mistyped("Incorrect JSON value type", detail))
}

/// A property that `schema` has no name for. Names of attributes in `set` are not suggested.
pub fn extraneous(name: &str, schema: &BodySchema, set: &HashSet<String>, location: Location<'_>) -> Box<Diagnostic> {
    let unset = schema.attribute_names().filter(|name| !set.contains(*name));
    let detail = format!("There is no argument and no block type named `{name}`.");
    let error = location.label(structure("Extraneous JSON object property", detail)).with_context(location.span);
    match name_suggestion(name, unset.chain(schema.block_names())) {
        Some(meant) => error.with_help(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// A value that is neither an object nor an array of objects, in place of a body or of properties named by `label`.
pub fn not_an_object(label: Option<&str>, location: Location<'_>) -> Box<Diagnostic> {
    let detail = match label {
        Some(label) => format!("The labels of this block ({label}) must be the property names of a JSON object."),
        None => "Arguments and blocks must be the properties of a JSON object.".into(),
    };
    wrong_type(detail, location)
}
