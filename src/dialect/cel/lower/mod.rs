//! From trees to bytecode: an expression becomes a chunk that answers with its value.
//!
//! Macros are loops in the tree already; here the loops that collect, that ask for all or any, and that only bind a name
//! become what each of them needs.

mod calls;
mod loops;
mod names;
mod values;

use std::collections::HashMap;
use std::sync::Arc;

use super::check::{Environment, check};
use super::semantics::Rules;
use super::syntax::tree::{ExprId, Name, Tree};
use super::syntax::{Options, parse};
use crate::bytecode::{Dialect, EscapeMode, ImportKind, Op, Program};
use crate::compiler::{Compiled, Constant, Emitter, Unit};
use crate::diagnostics::{Diagnostic, Diagnostics, Result};
use crate::function::Registry;
use crate::limits::Limits;
use crate::text::{Source, Span};

pub use names::Names;

/// What is lowered into one program.
struct Lower<'t> {
    tree: &'t Tree,
    source: Arc<Source>,
    registry: &'t Registry,
    names: &'t Names<'t>,
    emitter: Emitter<'t>,
    /// Names of loops and bindings that are open, and the slots they are in, the innermost last.
    locals: Vec<(Name, u32)>,
    /// The slots of the values of `cel.block`, by their names.
    block: HashMap<String, u32>,
}

/// The program of an expression: its first chunk answers with the value.
///
/// # Errors
/// Limits of the code's size.
pub fn compile_expression(tree: &Tree, registry: &Registry, names: &Names<'_>, limits: &Limits) -> Result<Program> {
    program(tree, registry, names, limits, |lower| lower.emitter.op(Op::Answer, &[]))
}

/// The program of an expression whose value is taken by what `end` emits.
fn program<'t>(
    tree: &'t Tree,
    registry: &'t Registry,
    names: &'t Names<'t>,
    limits: &Limits,
    end: impl FnOnce(&mut Lower<'t>),
) -> Result<Program> {
    let mut lower = Lower {
        tree,
        source: tree.source().clone(),
        registry,
        names,
        emitter: Emitter::new(Dialect::Cel, &Rules, limits.code_words),
        locals: Vec::new(),
        block: HashMap::new(),
    };
    let id = lower.emitter.declare_chunk(lower.source.name(), 0);
    lower.emitter.begin_chunk(id);
    lower.emitter.at(&lower.source, Span::default());
    lower.value(tree.root)?;
    end(&mut lower);
    lower.emitter.end_chunk();
    lower.emitter.check_size()?;
    lower.emitter.finish()
}

/// Compiles an expression that is a template: it writes its value as JSON.
///
/// # Errors
/// Everything that is wrong with its syntax.
pub fn compile(unit: &Unit<'_>) -> std::result::Result<Compiled, Vec<Box<Diagnostic>>> {
    let tree = parse(unit.entry, &Options::default()).map_err(Diagnostics::into_vec)?;
    check(&tree, &Environment::new(unit.registry).with_open_names()).map_err(Diagnostics::into_vec)?;
    let program = program(&tree, unit.registry, &Names::default(), unit.limits, |lower| {
        lower.core("json", 1);
        lower.emitter.write(EscapeMode::Plain);
    })
    .map_err(|error| vec![error])?;
    Ok(Compiled { program, lints: Vec::new(), reaches: Vec::new() })
}

impl<'t> Lower<'t> {
    fn at(&mut self, id: ExprId) {
        let span = self.tree.span(id);
        self.emitter.at(&self.source, span);
    }

    fn text(&mut self, text: &'t str) {
        self.emitter.constant(Constant::Str(text.into()));
    }

    /// Calls a function of the language's core with the topmost `arguments` values.
    fn core(&mut self, name: &str, arguments: u32) {
        let Some(function) = self.registry.get(ImportKind::Filter, name) else { return };
        let signature = function.signature();
        if matches!(name, "uint" | "bytes" | "type") {
            self.emitter.call(ImportKind::Filter, name, signature, &[0], true); // of a constant
        } else {
            self.emitter.apply(ImportKind::Filter, name, signature, arguments);
        }
    }
}
