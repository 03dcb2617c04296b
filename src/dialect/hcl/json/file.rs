//! A parsed file of the JSON syntax, and what its values compile to.

use std::sync::{Arc, OnceLock};

use super::document::{Document, Json, JsonId};
use super::programs::{Programs, heights};
use super::templates::Templates;
use crate::diagnostics::Result;
use crate::dialect::hcl::body::{Compiled, Context, Faults};
use crate::dialect::hcl::builtins::complete;
use crate::dialect::hcl::lower::compile_json;
use crate::dialect::hcl::syntax::analysis::absolute_traversal;
use crate::dialect::hcl::syntax::parser::{Traversal, parse_expression_at};
use crate::dialect::hcl::syntax::tree::{ExprId, Tree};
use crate::function::Registry;
use crate::limits::Limits;
use crate::value::Value;

/// A document whose values are bodies and expressions. Its strings are read as templates, and its values compiled, when
/// the first of them is evaluated.
#[derive(Debug)]
pub(in crate::dialect::hcl) struct JsonFile {
    document: Document,
    registry: Arc<Registry>,
    limits: Limits,
    heights: OnceLock<Box<[u8]>>,
    templates: OnceLock<Templates>,
    /// Where strings are templates.
    evaluated: Programs,
    /// Where strings are taken as they are written.
    literal: Programs,
}

impl JsonFile {
    pub fn new(document: Document, registry: &Arc<Registry>, limits: &Limits) -> Self {
        Self {
            document,
            registry: registry.clone(),
            limits: limits.clone(),
            heights: OnceLock::new(),
            templates: OnceLock::new(),
            evaluated: Programs::default(),
            literal: Programs::default(),
        }
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The strings that are templates.
    fn templates(&self) -> &Templates {
        self.templates.get_or_init(|| Templates::new(&self.document, &self.limits))
    }

    /// The value of an expression. Strings are templates, unless the context takes them as they are written.
    pub fn evaluate<'r>(&'r self, id: JsonId, context: &Context<'r>, faults: &mut Faults) -> Value<'r> {
        let before = faults.len();
        let value = context.run_compiled(self.program(id, context.is_literal()), id.0, faults);
        if !context.is_literal() && faults.len() > before {
            self.tell_more(faults, before);
        }
        value
    }

    /// The program in which an expression has a chunk.
    pub(super) fn program(&self, id: JsonId, literal: bool) -> Result<Option<&Compiled>> {
        let heights = self.heights.get_or_init(|| heights(&self.document));
        let programs = if literal { &self.literal } else { &self.evaluated };
        programs.of(&self.document, heights, id, |ids| self.compile(ids, literal))
    }

    fn compile(&self, ids: Vec<JsonId>, literal: bool) -> Result<Compiled> {
        let templates = if literal { None } else { Some(self.templates()) };
        let mut roots: Vec<u32> = ids.into_iter().map(|id| id.0).collect();
        roots.sort_unstable();
        let registry = complete(&self.registry);
        let program = compile_json(&self.document, templates, &roots, &registry, &self.limits)?;
        Compiled::new(program, roots, &registry)
    }

    /// A program of an expression alone.
    ///
    /// # Errors
    /// The first thing that is wrong with a template in it; limits of the code's size.
    pub fn compile_alone(&self, id: JsonId) -> Result<Compiled> {
        match self.templates().first_wrong(self.document.node(id).span) {
            Some(wrong) => Err(Box::new(wrong.clone())),
            None => self.compile(vec![id], false),
        }
    }

    /// Puts all that is wrong with a template where the program, which knows of it no more than that, reported it.
    fn tell_more(&self, faults: &mut Faults, before: usize) {
        for fault in faults.split_off(before) {
            let label = fault.primary().filter(|label| Arc::ptr_eq(&label.source, self.document.source()));
            match label.and_then(|label| self.templates().wrong_at(label.span)) {
                Some(wrong) => faults.extend_from_slice(wrong),
                None => faults.push(fault),
            }
        }
    }

    /// The values of an array, for static analysis.
    pub fn items(&self, id: JsonId) -> Option<&[JsonId]> {
        let Json::Array(items) = self.document.node(id).json else { return None };
        Some(self.document.items(items))
    }

    /// The keys and values of an object, for static analysis; a key may come twice.
    pub fn entries(&self, id: JsonId) -> Option<impl DoubleEndedIterator<Item = (JsonId, JsonId)>> {
        let Json::Object(properties) = self.document.node(id).json else { return None };
        Some(self.document.properties(properties).iter().map(|property| (property.key, property.value)))
    }

    /// What a string says as an expression of the native syntax, if it says one: how traversals, keywords and calls
    /// are written in JSON.
    pub fn native(&self, id: JsonId) -> Option<(Tree, ExprId)> {
        let (text, span) = self.document.string(id)?;
        let mut tree = Tree::new(self.document.source());
        // The reference counts from the quote here.
        let (id, wrong) = parse_expression_at(&mut tree, text, span.start, &self.limits);
        wrong.is_empty().then_some((tree, id))
    }

    /// The traversal that a string says.
    pub fn traversal(&self, id: JsonId) -> Option<(Tree, Traversal)> {
        let (tree, id) = self.native(id)?;
        let found = absolute_traversal(&tree, id)?;
        Some((tree, found))
    }

    /// Calls `visit` with the templates in an expression that are well formed, in the order of the source.
    pub fn each_template<'f>(&'f self, id: JsonId, mut visit: impl FnMut(&'f Tree, ExprId)) {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if let Some((_, span)) = self.document.string(id) {
                if let Some(Ok(id)) = self.templates().at(span) {
                    visit(self.templates().tree(), *id);
                }
            } else if let Some(items) = self.items(id) {
                left.extend(items.iter().rev());
            } else if let Some(entries) = self.entries(id) {
                left.extend(entries.rev().flat_map(|(key, value)| [value, key]));
            }
        }
    }
}
