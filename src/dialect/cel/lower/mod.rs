//! From trees to bytecode: an expression becomes a chunk that answers with its value.
//!
//! Macros are loops in the tree already; here the loops that collect, that ask for all or any, and that only bind a name
//! become what each of them needs.

mod calls;
mod chains;
mod folding;
mod loops;
mod metered;
pub(in crate::dialect::cel) mod names;
mod unknown;
mod values;

use std::collections::HashMap;
use std::sync::Arc;

use super::check::{Checked, Environment, check};
use super::semantics::Rules;
use super::syntax::tree::{ExprId, Name, Tree};
use super::syntax::{Options, parse};
use crate::bytecode::{Dialect, ImportKind, Op, Program};
use crate::compiler::{Compiled, Constant, Emitter, Unit};
use crate::diagnostics::{Diagnostic, Diagnostics, Result};
use crate::function::Registry;
use crate::limits::Limits;
use crate::text::{Source, Span};
use crate::value::yaml::Places;

pub(super) use folding::{Budget, Parts};
pub use names::Names;
pub(super) use names::{Document, Outside};
use unknown::Unknown;
pub(in crate::dialect::cel) use unknown::{Part, compile_parts};

/// What is lowered into one program.
pub(super) struct Lower<'e, 't> {
    pub tree: &'t Tree,
    pub source: Arc<Source>,
    /// Where the expression stands in the source, where it is not all of it.
    pub places: Option<&'t Places>,
    pub registry: &'e Registry,
    pub names: &'e Names<'e>,
    /// What the names mean that the expression does not bind, in the document that it stands in.
    pub document: Option<&'e dyn Document>,
    pub how: How<'e>,
    pub emitter: &'e mut Emitter<'t>,
    /// Names of loops and bindings that are open, and the slots they are in, the innermost last.
    pub locals: Vec<(Name, u32)>,
    /// The slots of the values of `cel.block`, by their names.
    pub block: HashMap<String, u32>,
    pub parts: Parts,
    /// What is not known, where that is asked.
    unknown: Option<Unknown<'e>>,
}

/// How an expression is lowered.
#[derive(Clone, Copy)]
pub struct How<'t> {
    /// What a check found, where there was one.
    pub checked: Option<&'t Checked>,
    /// Whether what is known before anything runs is used.
    pub optimise: bool,
    /// Whether the program is metered.
    pub metered: bool,
}

impl Default for How<'_> {
    fn default() -> Self {
        Self { checked: None, optimise: true, metered: false }
    }
}

/// The program of an expression: its first chunk answers with the value.
///
/// # Errors
/// Limits of the code's size.
pub fn compile_expression(
    tree: &Tree,
    registry: &Registry,
    names: &Names<'_>,
    how: How<'_>,
    limits: &Limits,
) -> Result<Program> {
    program(tree, tree.root, registry, names, how, limits, |lower| lower.emitter.op(Op::Answer, &[]))
}

/// The program of the expression `root` of a tree, whose value is taken by what `end` emits.
fn program<'t>(
    tree: &'t Tree,
    root: ExprId,
    registry: &Registry,
    names: &Names<'_>,
    how: How<'_>,
    limits: &Limits,
    end: impl FnOnce(&mut Lower<'_, 't>),
) -> Result<Program> {
    let mut emitter = Emitter::new(Dialect::Cel, &Rules, limits.code_words).optimising(how.optimise);
    let mut lower = Lower::new(tree, registry, names, &mut emitter);
    lower.how = how;
    lower.survey(root);
    let id = lower.emitter.declare_chunk(lower.source.name(), 0);
    lower.emitter.begin_chunk(id);
    lower.emitter.at(&lower.source, Span::default());
    lower.value(root)?;
    end(&mut lower);
    emitter.end_chunk();
    emitter.check_size()?;
    emitter.finish()
}

/// Compiles an expression that is a template: it answers with one document, its value.
///
/// # Errors
/// Everything that is wrong with its syntax.
pub fn compile(unit: &Unit<'_>) -> std::result::Result<Compiled, Vec<Box<Diagnostic>>> {
    let tree = parse(unit.entry, &Options::default()).map_err(Diagnostics::into_vec)?;
    check(&tree, &Environment::new(unit.registry).with_open_names()).map_err(Diagnostics::into_vec)?;
    let program = program(&tree, tree.root, unit.registry, &Names::default(), How::default(), unit.limits, |lower| {
        lower.emitter.op(Op::List, &[1]);
        lower.emitter.op(Op::Answer, &[]);
    })
    .map_err(|error| vec![error])?;
    Ok(Compiled { program, lints: Vec::new(), reaches: Vec::new() })
}

impl<'e, 't> Lower<'e, 't> {
    /// For an expression that is all of its source and sees only inputs.
    pub(super) fn new(
        tree: &'t Tree,
        registry: &'e Registry,
        names: &'e Names<'e>,
        emitter: &'e mut Emitter<'t>,
    ) -> Self {
        Self {
            tree,
            source: tree.source().clone(),
            places: None,
            registry,
            names,
            document: None,
            how: How::default(),
            emitter,
            locals: Vec::new(),
            block: HashMap::new(),
            parts: Parts::default(),
            unknown: None,
        }
    }

    /// Where an expression stands in the source.
    fn span(&self, id: ExprId) -> Span {
        self.in_source(self.tree.span(id))
    }

    /// Where a part of the expression's text stands in the source.
    fn in_source(&self, span: Span) -> Span {
        self.places.map_or(span, |places| places.span(span))
    }

    fn at(&mut self, id: ExprId) {
        let span = self.span(id);
        self.emitter.at(&self.source, span);
    }

    fn text(&mut self, text: &'t str) {
        self.emitter.constant(Constant::Str(text.into()));
    }

    /// Calls a function of the language's core with the topmost `arguments` values.
    fn core(&mut self, name: &str, arguments: u32) {
        core(self.emitter, self.registry, name, arguments);
    }
}

/// Calls a function of the language's core with the topmost `arguments` values.
pub(super) fn core(emitter: &mut Emitter<'_>, registry: &Registry, name: &str, arguments: u32) {
    let Some(function) = registry.get(ImportKind::Filter, name) else { return };
    let signature = function.signature();
    if matches!(name, "uint" | "bytes" | "type" | "spelled") {
        let params: Vec<u32> = (0..arguments).collect();
        emitter.call(ImportKind::Filter, name, signature, &params, true); // of constants
    } else {
        emitter.apply(ImportKind::Filter, name, signature, arguments);
    }
}
