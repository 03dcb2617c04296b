//! From trees to bytecode.
//!
//! An expression becomes a chunk that returns its value, a template file a chunk that writes. Operators are
//! instructions. Conditionals, splats, object constructors and the ends of loops are intrinsics
//! (`builtins::intrinsics`).

mod calls;
mod expressions;
mod failures;
mod json;
mod loops;
mod templates;

use crate::semantics::Rules;
use crate::syntax::{ExprId, Tree};
use dropforge_base::diagnostics::{Diagnostic, Result, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Dialect, ImportKind, Op, Program};
use dropforge_machine::compiler::{Compiled, Emitter, Fold};
use dropforge_machine::function::Registry;

pub(super) use json::lower_json;

impl Fold for Rules {}

/// The lowering of one program.
pub(super) struct Lowering<'t> {
    pub tree: &'t Tree,
    pub registry: &'t Registry,
    pub limits: &'t Limits,
    pub emitter: Emitter<'t>,
    /// The names and slots of open loops, innermost last.
    pub locals: Vec<(&'t str, u32)>,
    /// The slots of the elements of open splats, innermost last.
    pub items: Vec<u32>,
    /// `true` if results of pure functions are memoised. Every chunk reserves the memos of the whole program, so a
    /// program of many chunks has none.
    pub memoises: bool,
    /// Calls that can only fail. Evaluation reports them if it reaches them.
    pub lints: Vec<Box<Diagnostic>>,
}

/// Lowers a template to a program that writes its text.
///
/// # Errors
/// A limit of the code.
pub(crate) fn lower_template(tree: &Tree, root: ExprId, registry: &Registry, limits: &Limits) -> Result<Compiled> {
    let mut lowering = Lowering::new(tree, registry, limits);
    lowering.chunk(|lowering| lowering.write(root))?;
    let lints = at_most(lowering.lints, limits.diagnostics, 0);
    Ok(Compiled { program: lowering.emitter.finish()?, lints, reaches: Vec::new(), tree: None })
}

/// An expression that is lowered to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Root {
    pub id: ExprId,
    /// `true` for the text that the expression has as a part of a template.
    pub is_part: bool,
}

impl From<ExprId> for Root {
    fn from(id: ExprId) -> Self {
        Self { id, is_part: false }
    }
}

/// Lowers expressions to a program with a chunk for each, in their order.
///
/// # Errors
/// A limit of the code.
pub fn lower_expressions<R: Copy + Into<Root>>(
    tree: &Tree,
    roots: &[R],
    registry: &Registry,
    limits: &Limits,
) -> Result<Program> {
    Lowering::new(tree, registry, limits).values(roots, |lowering, &root| match root.into() {
        Root { id, is_part: false } => lowering.value(id),
        Root { id, .. } => lowering.joined(lowering.span(id), &[id]),
    })
}

impl<'t> Lowering<'t> {
    pub fn new(tree: &'t Tree, registry: &'t Registry, limits: &'t Limits) -> Self {
        Self {
            tree,
            registry,
            limits,
            emitter: Emitter::new(Dialect::Hcl, &Rules, limits.code_words),
            locals: Vec::new(),
            items: Vec::new(),
            memoises: true,
            lints: Vec::new(),
        }
    }

    /// Finishes a program with a chunk for each of `roots`, which returns the value that `push` pushes.
    pub fn values<R>(mut self, roots: &[R], mut push: impl FnMut(&mut Self, &R) -> Result<()>) -> Result<Program> {
        self.memoises = roots.len() == 1;
        for root in roots {
            self.chunk(|lowering| {
                push(lowering, root)?;
                lowering.emitter.op(Op::Answer, &[]);
                Ok(())
            })?;
        }
        if roots.is_empty() {
            self.chunk(|_| Ok(()))?;
        }
        self.emitter.finish()
    }

    /// Adds a chunk without parameters.
    fn chunk(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let id = self.emitter.declare_chunk(self.tree.source().name(), 0);
        self.emitter.begin_chunk(id);
        self.at(Span::default());
        body(self)?;
        self.emitter.end_chunk();
        self.emitter.check_size()
    }

    /// Sets the span of the instructions that follow.
    pub fn at(&mut self, span: Span) {
        self.emitter.at(self.tree.source(), span);
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.tree.span(id)
    }

    /// Calls an intrinsic with the top `arguments` values. `parts` are the spans of the subjects of its errors.
    pub fn intrinsic(&mut self, name: &str, arguments: u32, parts: &[Span]) {
        let Some(function) = self.registry.get(ImportKind::Intrinsic, name) else { return };
        let signature = function.signature();
        if matches!(name, "number" | "type") {
            // The argument is constant, and these note nothing.
            self.emitter.call(ImportKind::Intrinsic, name, signature, &[0], true);
        } else {
            self.emitter.apply(ImportKind::Intrinsic, name, signature, arguments);
        }
        self.emitter.details(parts.iter().copied());
    }
}
