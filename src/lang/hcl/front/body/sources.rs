//! Bodies of the native syntax and of the JSON syntax.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::content::{BodySource, Split, duplicate_argument, label_count, missing_argument, mistyped, structure};
use super::file::CompiledSet;
use super::{
    Attribute, Attributes, Block, BlockSchema, Body, BodyExpression, BodySchema, Content, Context, DiagnosticList,
    Label, Location,
};
use crate::compile::{Compiler, Executable};
use crate::json::{JsonContent, JsonDocument, JsonId, Property};
use crate::name_suggestion;
use crate::syntax::{BodyId, Expr, ExprId, Tree, tree};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::{Source, Span};
use dropforge_value::Value;

pub(super) use super::file::JsonFile;

/// A parsed file. Its expressions are compiled when the first of them is evaluated.
#[derive(Debug)]
pub(crate) struct NativeFile {
    tree: Tree,
    root: BodyId,
    compiler: Compiler,
    /// The values of attributes.
    values: OnceLock<Result<CompiledSet<ExprId>>>,
    /// The parts of constructors and calls.
    parts: OnceLock<Result<CompiledSet<ExprId>>>,
}

impl NativeFile {
    pub(super) fn new(tree: Tree, root: BodyId, compiler: Compiler) -> Self {
        Self { tree, root, compiler, values: OnceLock::new(), parts: OnceLock::new() }
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The root body.
    pub fn root(&self) -> BodyId {
        self.root
    }

    /// Returns a body of the tree.
    pub fn body(&self, id: BodyId) -> Body<'_> {
        Body::of(NativeBody::new(self, id))
    }

    pub(super) fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    pub fn source(&self) -> &Arc<Source> {
        self.tree.source()
    }

    /// Evaluates an expression.
    pub fn evaluate<'r>(&'r self, id: ExprId, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Value<'r> {
        context.run(self.chunk(id), diagnostics)
    }

    /// Compiles one expression.
    pub fn compile_alone(&self, id: ExprId) -> Result<Executable> {
        self.compiler.expressions(&self.tree, &[id])
    }

    fn chunk(&self, id: ExprId) -> Result<Option<(&Executable, u32)>> {
        let compile = |ids: &[_]| self.compiler.expressions(&self.tree, ids);
        let values = self.values.get_or_init(|| CompiledSet::new(self.attribute_values(), compile));
        if let Some(chunk) = values.as_ref().map_err(Clone::clone)?.chunk(id) {
            return Ok(Some(chunk));
        }
        let parts = self.parts.get_or_init(|| CompiledSet::new(self.constructor_parts(), compile));
        Ok(parts.as_ref().map_err(Clone::clone)?.chunk(id))
    }

    fn attribute_values(&self) -> Vec<ExprId> {
        let bodies = (0..).map_while(|at| self.tree.body(BodyId(at)));
        bodies.flat_map(|body| body.attributes.iter().map(|attribute| attribute.expr)).collect()
    }

    /// The expressions that static analysis can return: items of tuples, keys and values of objects, and arguments.
    fn constructor_parts(&self) -> Vec<ExprId> {
        let mut parts = Vec::new();
        for at in 0..self.tree.node_count() {
            match self.tree.expr(ExprId(at)) {
                Expr::Tuple(run) => parts.extend_from_slice(self.tree.ids(run)),
                Expr::Call(call) => parts.extend_from_slice(self.tree.ids(call.args)),
                Expr::Object(run) => {
                    parts.extend(self.tree.entries(run).iter().flat_map(|entry| [entry.key, entry.value]));
                }
                _ => {}
            }
        }
        parts
    }
}

/// A body of a tree.
#[derive(Debug, Clone)]
pub(super) struct NativeBody<'r> {
    file: &'r NativeFile,
    id: BodyId,
    /// The names of attributes that were taken.
    hidden_attributes: HashSet<String>,
    /// The types of blocks that were taken.
    hidden_blocks: HashSet<String>,
}

impl<'r> NativeBody<'r> {
    pub fn new(file: &'r NativeFile, id: BodyId) -> Self {
        Self { file, id, hidden_attributes: HashSet::new(), hidden_blocks: HashSet::new() }
    }

    fn tree(&self) -> &'r Tree {
        self.file.tree()
    }

    fn location(&self, span: Span) -> Location<'r> {
        Location { source: self.file.source(), span }
    }

    /// The attributes that were not taken.
    fn attributes(&self) -> impl Iterator<Item = (&'r str, &'r tree::AttributeNode)> {
        let (tree, body) = (self.tree(), self.tree().body(self.id));
        let attributes = body.map_or(&[][..], |body| &body.attributes).iter();
        attributes.map(|of| (tree.str(of.name), of)).filter(|(name, _)| !self.hidden_attributes.contains(*name))
    }

    /// The blocks that were not taken.
    fn blocks(&self) -> impl Iterator<Item = (&'r str, &'r tree::BlockNode)> {
        let (tree, body) = (self.tree(), self.tree().body(self.id));
        let blocks = body.map_or(&[][..], |body| &body.blocks).iter();
        blocks.map(|of| (tree.str(of.name), of)).filter(|(name, _)| !self.hidden_blocks.contains(*name))
    }

    /// Reports the content, which `schema` does not have. `set` are the attributes that it has.
    fn report(&self, schema: &BodySchema, set: &Attributes<'r>, diagnostics: &mut DiagnosticList) {
        for (name, attribute) in self.attributes() {
            let unset = schema.attribute_names().filter(|name| !set.contains_key(name));
            diagnostics.push(schema.unsupported_argument(name, unset, self.location(attribute.name_span)));
        }
        for (name, block) in self.blocks() {
            diagnostics.push(schema.unsupported_block(name, self.location(block.name_span)));
        }
    }

    fn attribute(&self, name: &'r str, attribute: &tree::AttributeNode) -> Attribute<'r> {
        let expr = BodyExpression::native(self.file, attribute.expr);
        Attribute { name, expr, range: attribute.span, name_range: attribute.name_span }
    }

    /// Returns the error of a block with the wrong number of labels.
    fn label_error(
        &self,
        block: &tree::BlockNode,
        BlockSchema { name, labels }: &BlockSchema,
    ) -> Option<Box<Diagnostic>> {
        let (summary, span) = match (block.labels.get(labels.len()), labels.get(block.labels.len())) {
            (Some(extra), _) => (format!("Extraneous label for {name}"), extra.span),
            (None, Some(missing)) => (format!("Missing {missing} for {name}"), block.open),
            (None, None) => return None,
        };
        Some(label_count(summary, name, labels, self.location(span), block.name_span.to(block.open)))
    }

    fn block(&self, name: &str, block: &tree::BlockNode) -> Block<'r> {
        let label = |label: &tree::LabelNode| Label { text: self.tree().str(label.text).to_owned(), range: label.span };
        let last = block.labels.last().map_or(block.name_span, |label| label.span);
        Block {
            name: name.to_owned(),
            labels: block.labels.iter().map(label).collect(),
            body: Body::of(Self::new(self.file, block.body)),
            source: self.file.source(),
            def_range: block.name_span.to(last),
            type_range: block.name_span,
        }
    }
}

impl<'r> BodySource<'r> for NativeBody<'r> {
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r> {
        let (mut rest, missing_item) = (self.clone(), self.missing_item());
        let wanted = self.attributes().filter(|(name, _)| schema.has_attribute(name));
        let attributes: Attributes<'r> = wanted.map(|(name, of)| (name, self.attribute(name, of))).collect();
        for wanted in schema.attributes.values() {
            if attributes.contains_key(wanted.name.as_str()) {
                rest.hidden_attributes.insert(wanted.name.clone());
            } else if wanted.required {
                diagnostics.push(missing_argument(&wanted.name, missing_item));
            }
        }
        let mut blocks = Vec::new();
        for (name, block) in self.blocks() {
            match schema.block_of(name).map(|wanted| self.label_error(block, wanted)) {
                Some(Some(error)) => diagnostics.push(error),
                Some(None) => blocks.push(self.block(name, block)),
                None => {}
            }
        }
        rest.hidden_blocks.extend(schema.block_names().map(str::to_owned));
        if complete {
            rest.report(schema, &attributes, diagnostics);
        }
        (Content { attributes, blocks, missing_item }, Body::of(rest))
    }

    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        if let Some((name, block)) = self.blocks().next() {
            let error = structure(format!("Unexpected `{name}` block"), "Blocks are not allowed here.");
            diagnostics.push(self.location(block.name_span).label(error));
        }
        self.attributes().map(|(name, attribute)| (name, self.attribute(name, attribute))).collect()
    }

    fn missing_item(&self) -> Option<Location<'r>> {
        let start = self.tree().body(self.id).map_or(0, |body| body.span.start);
        Some(self.location(Span::new(start, start)))
    }
}

// In JSON, the schema decides whether a property is an attribute or blocks.
//
// An object has attributes and blocks by name. An array of objects is one body with the content of all. Blocks are an
// object or an array of objects, in an object for each label whose property names are the labels. A property named
// `//` is a comment.

/// The name of properties that are comments.
const COMMENT: &str = "//";

/// A body of a document.
#[derive(Debug, Clone)]
pub(in crate::body) struct JsonBody<'r> {
    file: &'r JsonFile,
    id: JsonId,
    /// The names that were taken.
    hidden: HashSet<String>,
}

impl<'r> JsonBody<'r> {
    pub fn new(file: &'r JsonFile, id: JsonId) -> Self {
        Self { file, id, hidden: HashSet::new() }
    }

    fn document(&self) -> &'r JsonDocument {
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
        let expr = BodyExpression::json(self.file, property.value);
        let range = property.name_span.to(expr.range());
        attributes.insert(name, Attribute { name, expr, range, name_range: property.name_span });
    }

    /// The properties of an object, or of all objects of an array. Their names are labels named `label`.
    fn properties(&self, id: JsonId, label: Option<&str>, diagnostics: &mut DiagnosticList) -> Vec<&'r Property> {
        let node = self.document().node(id);
        match node.json {
            JsonContent::Null => Vec::new(),
            JsonContent::Object(properties) => self.document().properties(properties).iter().collect(),
            JsonContent::Array(items) => {
                let mut all = Vec::new();
                for item in self.document().items(items).iter().map(|&id| self.document().node(id)) {
                    match item.json {
                        JsonContent::Object(properties) => all.extend(self.document().properties(properties)),
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

    /// Adds the blocks after the last label.
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
            JsonContent::Null => {}
            JsonContent::Object(_) => blocks.push(block(value)),
            JsonContent::Array(items) => blocks.extend(self.document().items(items).iter().map(|&item| block(item))),
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
        let JsonContent::Object(properties) = node.json else {
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
        Some(self.location(if let JsonContent::Object(_) = node.json { node.close() } else { node.start() }))
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
