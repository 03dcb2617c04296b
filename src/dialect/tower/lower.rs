//! From a field to bytecode: text is written, a reference is a fused read and write.
//!
//! The key of a reference is one attribute of its scope, whatever characters it has. A key of `steps` is marked
//! with a character that no key of an expression can hold: it is in no map, so every such read asks the language,
//! which alone knows which steps count as completed (see `semantics`).

use std::sync::Arc;

use bumpalo::Bump;

use super::ast::{Field, Part, Reference};
use super::lint::lint;
use super::semantics::{Rules, attribute};
use super::{RenderMode, parser};
use crate::bytecode::{Dialect, Program};
use crate::compiler::{Compiled, Emitter, PathSpec, RootSpec, SegmentSpec, Unit};
use crate::diagnostics::{Diagnostic, Result};
use crate::limits::{Limit, Limits};
use crate::text::Source;

/// Compiles a string template; `unit.escape` asks for shell mode.
///
/// # Errors
/// The leftmost malformed expression.
pub fn compile(unit: &Unit<'_>) -> std::result::Result<Compiled, Vec<Box<Diagnostic>>> {
    let mode = if unit.escape { RenderMode::Shell } else { RenderMode::Literal };
    let source = unit.entry;
    if source.text().len() > unit.limits.source_bytes {
        return Err(vec![
            Limit::SourceBytes.error(unit.limits.source_bytes as u64).at_if_nowhere(source, <_>::default()),
        ]);
    }
    let arena = Bump::new();
    let field = parse(source, &arena).map_err(|error| vec![error])?;
    let program = lower(source, &field, mode, unit.limits).map_err(|error| vec![error])?;
    let found = lint(source.text(), &field, mode).into_iter();
    let lints = found.map(|lint| lint.warning(source.text(), source, lint.span)).collect();
    Ok(Compiled { program, lints, reaches: Vec::new() })
}

/// The program of one field.
///
/// # Errors
/// The leftmost malformed expression.
pub fn program(source: &Arc<Source>, mode: RenderMode, limits: &Limits) -> Result<Program> {
    let arena = Bump::new();
    let field = parse(source, &arena)?;
    lower(source, &field, mode, limits)
}

fn parse<'a, 's>(source: &'s Arc<Source>, arena: &'a Bump) -> Result<Field<'a, 's>> {
    parser::parse(source.text(), arena).map_err(|fault| fault.diagnostic(source.text(), source, fault.span))
}

fn lower(source: &Arc<Source>, field: &Field<'_, '_>, mode: RenderMode, limits: &Limits) -> Result<Program> {
    let mut emitter = Emitter::new(Dialect::Tower, &Rules, limits.code_words);
    let main = emitter.declare_chunk(source.name(), 0);
    emitter.begin_chunk(main);
    emitter.at(source, crate::text::Span::default());
    for part in field.parts {
        match part {
            Part::Text(span) => {
                emitter.at(source, *span);
                emitter.text(source.slice(*span));
            }
            Part::Expression(reference) => {
                emitter.at(source, reference.span);
                write(&mut emitter, reference, mode);
            }
        }
        emitter.check_size()?;
    }
    emitter.end_chunk();
    emitter.finish()
}

fn write(emitter: &mut Emitter<'_>, reference: &Reference<'_>, mode: RenderMode) {
    let scope = reference.scope.name();
    let path = PathSpec {
        name: &format!("{scope}.{}", reference.name),
        roots: &[RootSpec::Global(scope)],
        segments: &[SegmentSpec::Attr(&attribute(reference.scope, reference.name), reference.span)],
    };
    emitter.write_path(&path, mode.escape_mode());
}
