//! The entry point: parse a field, check it, lower it.

use std::sync::Arc;

use bumpalo::Bump;

use crate::RenderMode;
use crate::check::lint;
use crate::lower::lower;
use crate::syntax::parse;
use crate::syntax::tree::Field;
use dropforge_base::diagnostics::{Diagnostic, Result, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Program;
use dropforge_machine::compiler::{Compiled, Unit};

/// Compiles a field, in shell mode if `unit.escape` is set.
///
/// # Errors
/// The leftmost malformed expression.
pub fn compile(unit: &Unit<'_>) -> std::result::Result<Compiled, Vec<Box<Diagnostic>>> {
    compile_unit(unit).map_err(|error| vec![error])
}

fn compile_unit(unit: &Unit<'_>) -> Result<Compiled> {
    let (source, limits) = (unit.entry, unit.limits);
    limits.check_size(source)?;
    let mode = if unit.escape { RenderMode::Shell } else { RenderMode::Literal };
    let arena = Bump::new();
    let field = read(source, &arena)?;
    let program = lower(source, &field, mode, limits)?;
    let found = lint(source.text(), &field, mode).into_iter();
    let lints = found.map(|lint| lint.warning(source.text(), source, lint.span)).collect();
    Ok(Compiled { program, lints: at_most(lints, limits.diagnostics, 0), reaches: Vec::new(), tree: None })
}

/// Compiles a field without checking it.
///
/// # Errors
/// The leftmost malformed expression.
pub fn program(source: &Arc<Source>, mode: RenderMode, limits: &Limits) -> Result<Program> {
    lower(source, &read(source, &Bump::new())?, mode, limits)
}

fn read<'a, 's>(source: &'s Arc<Source>, arena: &'a Bump) -> Result<Field<'a, 's>> {
    parse(source.text(), arena).map_err(|error| error.diagnostic(source.text(), source, error.span))
}
