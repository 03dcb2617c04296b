//! Parsed files of the JSON syntax, and the evaluation of their values.

use std::sync::{Arc, OnceLock};

use super::programs::{Programs, heights};
use crate::diagnostics::Result;
use crate::dialect::hcl::body::{Context, DiagnosticList};
use crate::dialect::hcl::compile::Compiler;
use crate::dialect::hcl::executable::Executable;
use crate::dialect::hcl::json::{Document, Json, JsonId, Templates};
use crate::dialect::hcl::syntax::parser::parse_expression_at;
use crate::dialect::hcl::syntax::tree::{ExprId, Tree};
use crate::value::Value;

/// A document whose values are bodies and expressions. Templates are parsed and values are compiled when the first of
/// them is evaluated.
#[derive(Debug)]
pub(in crate::dialect::hcl) struct JsonFile {
    document: Document,
    compiler: Compiler,
    heights: OnceLock<Box<[u8]>>,
    templates: OnceLock<Templates>,
    /// Programs with strings as templates.
    evaluated: Programs,
    /// Programs with literal strings.
    literal: Programs,
}

impl JsonFile {
    pub fn new(document: Document, compiler: Compiler) -> Self {
        Self {
            document,
            compiler,
            heights: OnceLock::new(),
            templates: OnceLock::new(),
            evaluated: Programs::default(),
            literal: Programs::default(),
        }
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    fn templates(&self) -> &Templates {
        self.templates.get_or_init(|| Templates::new(&self.document, self.compiler.limits()))
    }

    /// Evaluates a value. The context decides whether strings are templates.
    pub fn evaluate<'r>(&'r self, id: JsonId, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Value<'r> {
        let before = diagnostics.len();
        let value = context.run(self.chunk(id, context.is_literal()), diagnostics);
        if !context.is_literal() && diagnostics.len() > before {
            self.add_syntax_errors(diagnostics, before);
        }
        value
    }

    /// Returns the program and the chunk of a value.
    pub(super) fn chunk(&self, id: JsonId, literal: bool) -> Result<Option<(&Executable, u32)>> {
        let heights = self.heights.get_or_init(|| heights(&self.document));
        let programs = if literal { &self.literal } else { &self.evaluated };
        programs.chunk(&self.document, heights, id, |ids| self.compile(ids, literal))
    }

    fn compile(&self, ids: &[JsonId], literal: bool) -> Result<Executable> {
        let templates = if literal { None } else { Some(self.templates()) };
        self.compiler.json(&self.document, templates, ids)
    }

    /// Compiles one value.
    ///
    /// # Errors
    /// The first syntax error of its templates, or a limit of the code.
    pub fn compile_alone(&self, id: JsonId) -> Result<Executable> {
        match self.templates().first_error(self.document.node(id).span) {
            Some(error) => Err(Box::new(error.clone())),
            None => self.compile(&[id], false),
        }
    }

    /// Replaces the first syntax error of a template, which the program reports, by all of its syntax errors.
    fn add_syntax_errors(&self, diagnostics: &mut DiagnosticList, before: usize) {
        for error in diagnostics.split_off(before) {
            let label = error.primary().filter(|label| Arc::ptr_eq(&label.source, self.document.source()));
            match label.and_then(|label| self.templates().errors_at(label.span)) {
                Some(errors) => diagnostics.extend_from_slice(errors),
                None => diagnostics.push(error),
            }
        }
    }

    /// Returns the items of an array.
    pub fn items(&self, id: JsonId) -> Option<&[JsonId]> {
        let Json::Array(items) = self.document.node(id).json else { return None };
        Some(self.document.items(items))
    }

    /// Returns the keys and values of an object. A key may occur twice.
    pub fn entries(&self, id: JsonId) -> Option<impl DoubleEndedIterator<Item = (JsonId, JsonId)>> {
        let Json::Object(properties) = self.document.node(id).json else { return None };
        Some(self.document.properties(properties).iter().map(|property| (property.key, property.value)))
    }

    /// Parses a string as an expression of the native syntax, which is how JSON writes traversals, keywords and calls.
    pub fn native(&self, id: JsonId) -> Option<(Tree, ExprId)> {
        let (text, span) = self.document.string(id)?;
        let mut tree = Tree::new(self.document.source());
        // The reference counts from the quote here.
        let (id, errors) = parse_expression_at(&mut tree, text, span.start, self.compiler.limits());
        errors.is_empty().then_some((tree, id))
    }

    /// Calls `visit` with the valid templates in a value, in source order.
    pub fn each_template<'f>(&'f self, id: JsonId, mut visit: impl FnMut(&'f Tree, ExprId)) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if let Some((_, span)) = self.document.string(id) {
                if let Some(Ok(id)) = self.templates().at(span) {
                    visit(self.templates().tree(), *id);
                }
            } else if let Some(items) = self.items(id) {
                pending.extend(items.iter().rev());
            } else if let Some(entries) = self.entries(id) {
                pending.extend(entries.rev().flat_map(|(key, value)| [value, key]));
            }
        }
    }
}
