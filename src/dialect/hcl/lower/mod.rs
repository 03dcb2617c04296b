//! From trees to bytecode.
//!
//! An expression becomes a chunk that answers with its value; a template that is a file becomes a chunk that writes.
//! Operators are instructions; what else the language has (conditionals, splats, constructors of objects, the ends of
//! loops) are functions of `builtins::core`, which no source can name.

mod calls;
mod json;
mod loops;
mod template;
mod values;

use std::sync::Arc;

pub(super) use json::compile_json;

use super::semantics::Rules;
use super::syntax::parser;
use super::syntax::tree::{ExprId, Tree};
use crate::bytecode::{Dialect, ImportKind, Op, Program, Signature};
use crate::compiler::{Compiled, Emitter, Unit};
use crate::diagnostics::{Diagnostic, Result};
use crate::function::Registry;
use crate::limits::{Limit, Limits};
use crate::text::{Source, Span};

/// What is lowered into one program.
pub(super) struct Lower<'t> {
    tree: &'t Tree,
    source: Arc<Source>,
    registry: &'t Registry,
    limits: &'t Limits,
    emitter: Emitter<'t>,
    /// Names of loops that are open, and the slots they are in, the innermost last.
    locals: Vec<(&'t str, u32)>,
    /// The slots of the elements of splats that are open, the innermost last.
    items: Vec<u32>,
    /// Whether answers of functions are kept for a run: where there are many chunks, room for all of them would be made
    /// ready for each.
    keeps: bool,
    /// The calls that can only fail: an evaluation reports them when it gets there.
    lints: Vec<Box<Diagnostic>>,
}

/// Compiles a template that is a file: what it writes.
///
/// # Errors
/// Everything that is wrong with its syntax.
pub fn compile(unit: &Unit<'_>) -> std::result::Result<Compiled, Vec<Box<Diagnostic>>> {
    let source = unit.entry;
    if source.text().len() > unit.limits.source_bytes {
        let error = Limit::SourceBytes.error(unit.limits.source_bytes as u64);
        return Err(vec![error.at_if_nowhere(source, Span::default())]);
    }
    let parsed = parser::parse_template(source, unit.limits);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    written(&parsed.tree, parsed.root, unit.registry, unit.limits).map_err(|error| vec![error])
}

/// The program that writes a template.
fn written(tree: &Tree, root: ExprId, registry: &Registry, limits: &Limits) -> Result<Compiled> {
    let mut lower = Lower::new(tree, registry, limits);
    lower.chunk(|lower| lower.write(root))?;
    let lints = lower.lints;
    Ok(Compiled { program: lower.emitter.finish()?, lints, reaches: Vec::new() })
}

/// The program of expressions: for each a chunk, in their order, that answers with its value.
///
/// # Errors
/// Limits of the code's size.
pub fn compile_expressions(tree: &Tree, roots: &[ExprId], registry: &Registry, limits: &Limits) -> Result<Program> {
    Lower::new(tree, registry, limits).answers(roots, |lower, &root| lower.value(root))
}

impl<'t> Lower<'t> {
    fn new(tree: &'t Tree, registry: &'t Registry, limits: &'t Limits) -> Self {
        Self {
            tree,
            source: tree.source().clone(),
            registry,
            limits,
            emitter: Emitter::new(Dialect::Hcl, &Rules, limits.code_words),
            locals: Vec::new(),
            items: Vec::new(),
            keeps: true,
            lints: Vec::new(),
        }
    }

    /// The program of chunks that answer with what `value` pushes for each of `roots`.
    fn answers<R>(mut self, roots: &[R], mut value: impl FnMut(&mut Self, &R) -> Result<()>) -> Result<Program> {
        self.keeps = roots.len() == 1;
        for root in roots {
            self.chunk(|lower| {
                value(lower, root)?;
                lower.emitter.op(Op::Answer, &[]);
                Ok(())
            })?;
        }
        if roots.is_empty() {
            self.chunk(|_| Ok(()))?;
        }
        self.emitter.finish()
    }

    /// A chunk without parameters.
    fn chunk(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let id = self.emitter.declare_chunk(self.source.name(), 0);
        self.emitter.begin_chunk(id);
        self.emitter.at(&self.source, Span::default());
        body(self)?;
        self.emitter.end_chunk();
        self.emitter.check_size()
    }

    fn at(&mut self, span: Span) {
        self.emitter.at(&self.source, span);
    }

    fn span(&self, id: ExprId) -> Span {
        self.tree.span(id)
    }

    /// Calls a function of the language's core with the topmost `arguments` values; `parts` are the places of what its
    /// errors are about.
    fn core(&mut self, name: &str, arguments: u32, parts: &[Span]) {
        let Some(function) = self.registry.get(ImportKind::Filter, name) else { return };
        let signature: Signature = function.signature();
        if matches!(name, "number" | "type") {
            // Of a constant; the others may note something each time.
            self.emitter.call(ImportKind::Filter, name, signature, &[0], true);
        } else {
            self.emitter.apply(ImportKind::Filter, name, signature, arguments);
        }
        self.emitter.details(parts.iter().copied());
    }
}
