//! Programs of one expression, or of parts of one.

use std::collections::{HashMap, HashSet};

use super::{Lower, LowerOptions, UnknownAttributes};
use crate::attributes::Patterns;
use crate::files::RawFiles;
use crate::semantics::Rules;
use crate::settings::Names;
use crate::syntax::tree::{ExprId, Name, Tree};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Dialect, Op, Program};
use dropforge_machine::compiler::{Emitter, Unit};
use dropforge_machine::function::Registry;

/// Compiles an expression to a program that answers with its value.
///
/// # Errors
/// Limits of the code's size.
pub(crate) fn compile_expression(
    tree: &Tree,
    registry: &Registry,
    names: &Names<'_>,
    options: LowerOptions<'_>,
    limits: &Limits,
) -> Result<Program> {
    program(tree, tree.root, registry, names, options, limits, |lower| lower.emitter.op(Op::Answer, &[]))
}

/// Compiles an expression to a program that answers with a list of one document, its value.
///
/// # Errors
/// Limits of the code's size.
pub(crate) fn compile_document(tree: &Tree, unit: &Unit<'_>, files: &RawFiles<'_>) -> Result<Program> {
    let options = LowerOptions { lenient: unit.lenient, files: Some(files), ..LowerOptions::default() };
    program(tree, tree.root, unit.registry, &Names::default(), options, unit.limits, |lower| {
        lower.emitter.op(Op::List, &[1]);
        lower.emitter.op(Op::Answer, &[]);
    })
}

/// Compiles the expression `root` of a tree; `end` emits the code that takes its value.
pub(super) fn program<'t>(
    tree: &'t Tree,
    root: ExprId,
    registry: &Registry,
    names: &Names<'_>,
    options: LowerOptions<'_>,
    limits: &Limits,
    end: impl FnOnce(&mut Lower<'_, 't>),
) -> Result<Program> {
    let emitter = Emitter::new(Dialect::Cel, &Rules, limits.code_words);
    let mut emitter = emitter.optimising(options.optimise).lenient(options.lenient);
    let mut lower = Lower::new(tree, registry, names, &mut emitter);
    lower.options = options;
    lower.find_foldable(root);
    lower.begin_chunk();
    lower.value(root)?;
    end(&mut lower);
    emitter.end_chunk();
    emitter.check_size()?;
    emitter.finish()
}

/// A part of an expression, and the values of the local variables that it reads, the outermost first.
pub struct ProgramPart {
    pub locals: Vec<(Name, ExprId)>,
    pub id: ExprId,
}

/// Compiles parts of an expression to a program with a chunk for each, which answers with its value. Reading an attribute
/// that `patterns` match is an error.
///
/// # Errors
/// Limits of the code's size.
pub(crate) fn compile_parts(
    tree: &Tree,
    registry: &Registry,
    names: &Names<'_>,
    patterns: &Patterns,
    options: LowerOptions<'_>,
    limits: &Limits,
    parts: &[ProgramPart],
) -> Result<Program> {
    let mut emitter = Emitter::new(Dialect::Cel, &Rules, limits.code_words).lenient(options.lenient);
    let mut lower = Lower::new(tree, registry, names, &mut emitter);
    lower.options = options;
    lower.unknown = Some(UnknownAttributes { patterns, known: HashSet::new(), keys: HashMap::new() });
    for part in parts {
        lower.begin_chunk();
        for &(name, value) in &part.locals {
            lower.value(value)?;
            let slot = lower.emitter.store();
            lower.locals.push((name, slot));
        }
        lower.value(part.id)?;
        lower.emitter.op(Op::Answer, &[]);
        for (_, slot) in std::mem::take(&mut lower.locals) {
            lower.emitter.free(slot);
        }
        lower.emitter.end_chunk();
    }
    lower.emitter.check_size()?;
    lower.emitter.finish()
}

impl Lower<'_, '_> {
    fn begin_chunk(&mut self) {
        let id = self.emitter.declare_chunk(self.source.name(), 0);
        self.emitter.begin_chunk(id);
        self.emitter.at(&self.source, Span::default());
    }
}
