//! From source to program: parse a field, check it, lower it; and its names, for editors.

#[doc(hidden)]
pub mod check;
pub mod intent;
#[doc(hidden)]
pub mod syntax;

use std::sync::Arc;

use bumpalo::Bump;

use crate::semantics::{Rules, attribute};
use crate::{RenderMode, Tower};
use check::lint;
use dropforge_base::diagnostics::{Diagnostic, Result as Outcome, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Dialect, Program};
use dropforge_machine::compiler::{
    Compilation, Compiled, Emitter, Fold, Key, Mark, MarkList, PathSpec, RootSpec, SegmentSpec, Unit, compile_all,
};
use dropforge_machine::language::{Front, MarkRequest};
use syntax::{ParsedField, Part, Reference, parse};

impl Front for Tower {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        marks(request.source, request.limits)
    }
}

/// Compiles a field, in shell mode if `unit.escape` is set.
///
/// # Errors
/// The leftmost malformed expression.
pub fn compile(unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    compile_unit(unit).map_err(|error| vec![error])
}

fn compile_unit(unit: &Unit<'_>) -> Outcome<Compiled> {
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
pub fn program(source: &Arc<Source>, mode: RenderMode, limits: &Limits) -> Outcome<Program> {
    lower(source, &read(source, &Bump::new())?, mode, limits)
}

fn read<'a, 's>(source: &'s Arc<Source>, arena: &'a Bump) -> Outcome<ParsedField<'a, 's>> {
    parse(source.text(), arena).map_err(|error| error.diagnostic(source.text(), source, error.span))
}

impl Fold for Rules {}

/// Lowers a field to bytecode: text is written, a reference is a fused read and write.
///
/// The key of a reference is one attribute of its scope, whatever characters it contains. A key of `steps` is marked
/// with a character that no expression can spell. No map has such a key, so every such read asks the language's
/// semantics, which knows the completed steps.
///
/// # Errors
/// Limits of code size.
fn lower(source: &Arc<Source>, field: &ParsedField<'_, '_>, mode: RenderMode, limits: &Limits) -> Outcome<Program> {
    let mut emitter = Emitter::new(Dialect::Tower, &Rules, limits.code_words);
    let main = emitter.declare_chunk(source.name(), 0);
    emitter.begin_chunk(main);
    emitter.at(source, Span::default());
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

/// Returns the names in a field.
///
/// # Errors
/// The leftmost malformed expression.
pub fn marks(source: &Arc<Source>, limits: &Limits) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
    limits.check_size(source).map_err(|error| vec![error])?;
    let (arena, mut list) = (Bump::new(), MarkList::default());
    let field =
        parse(source.text(), &arena).map_err(|error| vec![error.diagnostic(source.text(), source, error.span)])?;
    for Reference { span, scope, name } in field.references() {
        let (root, start) = (scope.name(), span.start + 2);
        let root_span = Span::new(start, start + root.len() as u32);
        let mut at = root_span.end + 1;
        let step = |part: &str| {
            let span = Span::new(at, at + part.len() as u32);
            at = span.end + 1;
            (Key::Name(part.to_owned()), span)
        };
        let steps = name.split('.').map(step).collect();
        list.path(root, root_span, *span, steps);
    }
    Ok(list.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_field() {
        let source = Source::new("t.tower", "a ${params.x} ${steps.b.outputs.c}");
        let found = marks(&source, &Limits::default()).unwrap();
        let texts: Vec<_> = found.iter().map(|mark| (source.slice(mark.span), source.slice(mark.whole))).collect();
        assert_eq!(texts, [("params", "${params.x}"), ("steps", "${steps.b.outputs.c}")]);
        let steps: Vec<_> = found.iter().flat_map(|mark| &mark.steps).map(|(_, span)| source.slice(*span)).collect();
        assert_eq!(steps, ["x", "b", "outputs", "c"]);
    }
}
