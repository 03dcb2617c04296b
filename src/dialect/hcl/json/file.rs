//! A parsed file of the JSON syntax, and what its strings compile to.

use std::sync::{Arc, OnceLock};

use super::document::{Document, Json};
use super::templates::Templates;
use super::value::JsonExpr;
use crate::diagnostics::Result;
use crate::dialect::hcl::body::Compiled;
use crate::dialect::hcl::syntax::analysis::absolute_traversal;
use crate::dialect::hcl::syntax::parser::{Traversal, parse_expression_at, parse_template_at};
use crate::dialect::hcl::syntax::tree::{Entry, Expr, ExprId, Str, Tree};
use crate::function::Registry;
use crate::limits::Limits;

/// A document whose values are bodies and expressions. Its strings are read and compiled when the first of them is
/// evaluated as a template.
#[derive(Debug)]
pub(in crate::dialect::hcl) struct JsonFile {
    document: Document,
    registry: Arc<Registry>,
    limits: Limits,
    templates: OnceLock<Templates>,
    compiled: OnceLock<Result<Compiled>>,
}

impl JsonFile {
    pub fn new(document: Document, registry: &Arc<Registry>, limits: &Limits) -> Self {
        let (registry, limits) = (registry.clone(), limits.clone());
        Self { document, registry, limits, templates: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The strings that are templates.
    pub(super) fn templates(&self) -> &Templates {
        self.templates.get_or_init(|| Templates::new(&self.document, &self.limits))
    }

    /// What they are compiled to.
    pub(super) fn compiled(&self) -> Result<&Compiled> {
        let made = self.compiled.get_or_init(|| self.templates().compile(&self.registry, &self.limits));
        made.as_ref().map_err(Clone::clone)
    }

    /// The values of an array, for static analysis.
    pub fn items(&self, expr: JsonExpr) -> Option<Vec<JsonExpr>> {
        let JsonExpr::Value(id) = expr else { return None };
        let Json::Array(items) = self.document.node(id).json else { return None };
        Some(self.document.items(items).iter().map(|&id| JsonExpr::Value(id)).collect())
    }

    /// The keys and values of an object, for static analysis; a key may come twice.
    pub fn entries(&self, expr: JsonExpr) -> Option<Vec<(JsonExpr, JsonExpr)>> {
        let JsonExpr::Value(id) = expr else { return None };
        let Json::Object(properties) = self.document.node(id).json else { return None };
        let properties = self.document.properties(properties).iter();
        Some(properties.map(|of| (JsonExpr::Key(of.name, of.name_span), JsonExpr::Value(of.value))).collect())
    }

    /// What a string says as an expression of the native syntax, if it says one: how traversals, keywords and calls
    /// are written in JSON.
    pub fn native(&self, expr: JsonExpr) -> Option<(Tree, ExprId)> {
        let (text, span) = expr.string(&self.document)?;
        let mut tree = Tree::new(self.document.source());
        // The reference counts from the quote here.
        let (id, wrong) = parse_expression_at(&mut tree, self.document.str(text), span.start, &self.limits);
        wrong.is_empty().then_some((tree, id))
    }

    /// The traversal that a string says.
    pub fn traversal(&self, expr: JsonExpr) -> Option<(Tree, Traversal)> {
        let (tree, id) = self.native(expr)?;
        let found = absolute_traversal(&tree, id)?;
        Some((tree, found))
    }

    /// An expression as a tree, in which a name that comes twice counts the last time.
    ///
    /// # Errors
    /// The first thing that is wrong with a template in it.
    pub fn as_tree(&self, expr: JsonExpr) -> Result<(Tree, ExprId)> {
        let mut tree = Tree::new(self.document.source());
        let root = self.grow(&mut tree, expr)?;
        Ok((tree, root))
    }

    fn grow(&self, tree: &mut Tree, expr: JsonExpr) -> Result<ExprId> {
        if let Some((text, span)) = expr.string(&self.document) {
            let text = self.document.str(text);
            let (id, wrong) = parse_template_at(tree, text, span.start.saturating_add(1), &self.limits);
            return wrong.into_iter().next().map_or(Ok(id), Err);
        }
        let span = expr.span(&self.document);
        if let Some(items) = self.items(expr) {
            let items = items.into_iter().map(|item| self.grow(tree, item)).collect::<Result<Vec<_>>>()?;
            return Ok(tree.add_tuple(&items, span));
        }
        if let Some(entries) = self.entries(expr) {
            let mut grown = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                grown.push(Entry { key: self.grow(tree, key)?, value: self.grow(tree, value)? });
            }
            return Ok(tree.add_object(&grown, span));
        }
        let JsonExpr::Value(id) = expr else { return Ok(tree.add(Expr::Invalid, span)) };
        let constant = match self.document.node(id).json {
            Json::Null => Expr::Null,
            Json::Bool(truth) => Expr::Bool(truth),
            Json::Number(_) => Expr::Number(Str::of(span)),
            _ => Expr::Invalid,
        };
        Ok(tree.add(constant, span))
    }

    /// Calls `visit` with the templates in an expression that are well formed, in the order of the source.
    pub fn each_template<'f>(&'f self, expr: JsonExpr, mut visit: impl FnMut(&'f Tree, ExprId)) {
        let mut left = vec![expr];
        while let Some(expr) = left.pop() {
            if let Some((_, span)) = expr.string(&self.document) {
                if let Some(Ok(id)) = self.templates().at(span) {
                    visit(self.templates().tree(), *id);
                }
                continue;
            }
            if let Some(items) = self.items(expr) {
                left.extend(items.into_iter().rev());
            } else if let Some(entries) = self.entries(expr) {
                left.extend(entries.into_iter().rev().flat_map(|(key, value)| [value, key]));
            }
        }
    }
}
