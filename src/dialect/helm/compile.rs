//! The entrance: parse a set of files, lower the entry with what it reaches.

use bumpalo::Bump;

use super::lower;
use super::set::Set;
use crate::bytecode::Dialect;
use crate::compiler::{Compilation, Compiled, Emitter, Unit};
use crate::diagnostics::{at_most, without_duplicates};

/// Compiles a unit of the language `helm`: the entry, together with the files that share its name space.
///
/// # Errors
/// Every syntax error of every file, or a limit.
pub fn compile(unit: &Unit<'_>) -> Compilation {
    let arena = Bump::new();
    let set = Set::parse(&arena, unit)?;
    let mut emitter = Emitter::new(Dialect::Helm, &lower::Folding, unit.limits.code_words).lenient(unit.lenient);
    let reaches = lower::lower(unit, &set, &mut emitter).map_err(|error| vec![error])?;
    let lints = at_most(without_duplicates(reaches.lints), unit.limits.diagnostics, 0);
    let program = emitter.finish().map_err(|error| vec![error])?;
    Ok(Compiled { program, lints, reaches: reaches.files })
}
