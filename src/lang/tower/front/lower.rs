//! Lowers a field to bytecode: text is written, a reference is a fused read and write.
//!
//! The key of a reference is one attribute of its scope, whatever characters it contains. A key of `steps` is marked
//! with a character that no expression can spell. No map has such a key, so every such read asks the language's
//! semantics, which knows the completed steps.

use std::sync::Arc;

use crate::RenderMode;
use crate::semantics::{Rules, attribute};
use crate::syntax::tree::{Field, Part, Reference};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Dialect, Program};
use dropforge_machine::compiler::{Emitter, Fold, PathSpec, RootSpec, SegmentSpec};

impl Fold for Rules {}

/// Lowers a field to a program.
///
/// # Errors
/// Limits of code size.
pub(super) fn lower(source: &Arc<Source>, field: &Field<'_, '_>, mode: RenderMode, limits: &Limits) -> Result<Program> {
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
