//! Files and bodies of the native syntax.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::compiled_set::CompiledSet;
use super::content::{BodySource, Split};
use super::errors::{label_count, missing_argument, structure};
use super::{
    Attribute, Attributes, Block, BlockSchema, Body, BodySchema, Content, Context, DiagnosticList, Expression, Label,
    Location,
};
use crate::compile::{Compiler, Executable};
use crate::syntax::{BodyId, Expr, ExprId, Tree, tree};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::{Source, Span};
use dropforge_value::Value;

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
    fn attributes(&self) -> impl Iterator<Item = (&'r str, &'r tree::Attribute)> {
        let (tree, body) = (self.tree(), self.tree().body(self.id));
        let attributes = body.map_or(&[][..], |body| &body.attributes).iter();
        attributes.map(|of| (tree.str(of.name), of)).filter(|(name, _)| !self.hidden_attributes.contains(*name))
    }

    /// The blocks that were not taken.
    fn blocks(&self) -> impl Iterator<Item = (&'r str, &'r tree::Block)> {
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

    fn attribute(&self, name: &'r str, attribute: &tree::Attribute) -> Attribute<'r> {
        let expr = Expression::native(self.file, attribute.expr);
        Attribute { name, expr, range: attribute.span, name_range: attribute.name_span }
    }

    /// Returns the error of a block with the wrong number of labels.
    fn label_error(&self, block: &tree::Block, BlockSchema { name, labels }: &BlockSchema) -> Option<Box<Diagnostic>> {
        let (summary, span) = match (block.labels.get(labels.len()), labels.get(block.labels.len())) {
            (Some(extra), _) => (format!("Extraneous label for {name}"), extra.span),
            (None, Some(missing)) => (format!("Missing {missing} for {name}"), block.open),
            (None, None) => return None,
        };
        Some(label_count(summary, name, labels, self.location(span), block.name_span.to(block.open)))
    }

    fn block(&self, name: &str, block: &tree::Block) -> Block<'r> {
        let label = |label: &tree::Label| Label { text: self.tree().str(label.text).to_owned(), range: label.span };
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
