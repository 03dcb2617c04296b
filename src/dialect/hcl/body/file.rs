//! A parsed source, and what its expressions compile to.

use std::sync::{Arc, OnceLock};

use super::{Body, Expression, Kind, native};
use crate::bytecode::Program;
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::hcl::builtins::complete;
use crate::dialect::hcl::json::{self, JsonBody, JsonFile};
use crate::dialect::hcl::lower::compile_expressions;
use crate::dialect::hcl::syntax::parser::parse_config;
use crate::dialect::hcl::syntax::tree::{BodyId, Expr, ExprId, Tree};
use crate::function::{Linked, Registry};
use crate::limits::Limits;
use crate::text::Source;

/// A parsed configuration. Its expressions are compiled when the first of them is evaluated.
#[derive(Debug)]
pub struct File {
    tree: Tree,
    root: BodyId,
    json: Option<JsonFile>,
    diagnostics: Vec<Box<Diagnostic>>,
    registry: Arc<Registry>,
    limits: Limits,
    values: OnceLock<Result<Compiled>>,
    parts: OnceLock<Result<Compiled>>,
}

/// Expressions with a chunk each.
#[derive(Debug)]
pub(in crate::dialect::hcl) struct Compiled {
    pub(super) program: Program,
    pub(super) linked: Linked,
    /// The ids of the expressions in the order of their chunks, in which they grow.
    roots: Vec<u32>,
}

impl Compiled {
    /// A program of expressions with these ids, each greater than the one before.
    pub(in crate::dialect::hcl) fn new(program: Program, roots: Vec<u32>, registry: &Registry) -> Result<Self> {
        let linked = registry.link(program.imports())?;
        Ok(Self { program, linked, roots })
    }

    fn native(tree: &Tree, mut roots: Vec<ExprId>, registry: &Registry, limits: &Limits) -> Result<Self> {
        roots.sort_unstable();
        roots.dedup();
        let registry = complete(registry);
        let program = compile_expressions(tree, &roots, &registry, limits)?;
        Self::new(program, roots.into_iter().map(|id| id.0).collect(), &registry)
    }

    /// The program.
    #[cfg(test)]
    pub(in crate::dialect::hcl) fn program(&self) -> &Program {
        &self.program
    }

    /// The chunk of an expression.
    pub(in crate::dialect::hcl) fn chunk(&self, id: u32) -> Option<u32> {
        u32::try_from(self.roots.binary_search(&id).ok()?).ok()
    }
}

impl File {
    /// Parses a configuration in the native syntax. Its expressions call the functions of `registry`.
    ///
    /// What is wrong is in [`File::diagnostics`]; the body holds what could be read.
    pub fn native(source: &Arc<Source>, registry: &Arc<Registry>, limits: &Limits) -> Self {
        let parsed = parse_config(source, limits);
        Self {
            tree: parsed.tree,
            root: parsed.root,
            json: None,
            diagnostics: parsed.diagnostics,
            registry: registry.clone(),
            limits: limits.clone(),
            values: OnceLock::new(),
            parts: OnceLock::new(),
        }
    }

    /// Parses a configuration in the JSON syntax.
    pub fn json(source: &Arc<Source>, registry: &Arc<Registry>, limits: &Limits) -> Self {
        Self::of_json(json::parse_file(source, limits), registry, limits)
    }

    /// Parses a JSON value that is an expression: [`File::expression`].
    pub fn json_expression(source: &Arc<Source>, registry: &Arc<Registry>, limits: &Limits) -> Self {
        Self::of_json(json::parse_expression(source, limits), registry, limits)
    }

    fn of_json(parsed: json::Parsed, registry: &Arc<Registry>, limits: &Limits) -> Self {
        Self {
            tree: Tree::new(parsed.document.source()),
            root: BodyId(0),
            json: Some(JsonFile::new(parsed.document, registry, limits)),
            diagnostics: parsed.diagnostics,
            registry: registry.clone(),
            limits: limits.clone(),
            values: OnceLock::new(),
            parts: OnceLock::new(),
        }
    }

    /// The value that a JSON file is, as an expression; a file of the native syntax is none.
    pub fn expression(&self) -> Option<Expression<'_>> {
        self.json.as_ref().map(|json| Expression::json(self, json, json.document().root()))
    }

    /// What is wrong with the source.
    pub fn diagnostics(&self) -> &[Box<Diagnostic>] {
        &self.diagnostics
    }

    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        self.tree.source()
    }

    /// What the file holds.
    pub fn body(&self) -> Body<'_> {
        match &self.json {
            Some(json) => Body::json(JsonBody::new(self, json, json.document().root())),
            None => Body(Kind::Native(native::Body::new(self, self.root))),
        }
    }

    /// The body that a file of the native syntax is; a file of JSON has none.
    pub(in crate::dialect::hcl) fn root(&self) -> Option<BodyId> {
        self.json.is_none().then_some(self.root)
    }

    /// The tree its expressions are in.
    pub(in crate::dialect::hcl) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What an expression is compiled to, and its chunk there.
    pub(super) fn chunk(&self, id: ExprId) -> Result<Option<(&Compiled, u32)>> {
        let values = self.compiled(&self.values, || self.attribute_values())?;
        if let Some(chunk) = values.chunk(id.0) {
            return Ok(Some((values, chunk)));
        }
        let parts = self.compiled(&self.parts, || self.constructor_parts())?;
        Ok(parts.chunk(id.0).map(|chunk| (parts, chunk)))
    }

    /// A program of one expression.
    pub(super) fn compile_alone(&self, id: ExprId) -> Result<Compiled> {
        Compiled::native(&self.tree, vec![id], &self.registry, &self.limits)
    }

    /// The limits it was parsed with.
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn compiled<'f>(
        &'f self,
        cell: &'f OnceLock<Result<Compiled>>,
        roots: impl FnOnce() -> Vec<ExprId>,
    ) -> Result<&'f Compiled> {
        let made = cell.get_or_init(|| Compiled::native(&self.tree, roots(), &self.registry, &self.limits));
        made.as_ref().map_err(Clone::clone)
    }

    fn attribute_values(&self) -> Vec<ExprId> {
        let bodies = (0..).map_while(|at| self.tree.body(BodyId(at)));
        bodies.flat_map(|body| body.attributes.iter().map(|attribute| attribute.expr)).collect()
    }

    /// What a static look into expressions can find: elements of tuples, keys and values of objects, arguments.
    fn constructor_parts(&self) -> Vec<ExprId> {
        let mut parts = Vec::new();
        for at in 0..self.tree.len() {
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
