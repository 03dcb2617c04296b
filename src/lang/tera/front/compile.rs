//! The entry point: load, parse, lower.

use bumpalo::Bump;

use crate::load::{ParseCache, Templates};
use crate::lower;
use dropforge_base::diagnostics::{at_most, without_duplicates};
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::compiler::{self, Compilation, Compiled, Emitter, Unit};

/// Compiles a unit of the language `tera`.
///
/// # Errors
/// Every syntax error of every file, or the reason that the set of templates is invalid, or a limit.
pub fn compile(unit: &Unit<'_>) -> Compilation {
    let arena = Bump::new();
    compile_one(&mut ParseCache::new(&arena), &mut emitter(), unit)
}

/// Compiles units of the language `tera`, in order. Shared sources are parsed once.
pub fn compile_all(units: &[Unit<'_>]) -> Vec<Compilation> {
    let arena = Bump::new();
    let (mut cache, mut emitter) = (ParseCache::new(&arena), emitter());
    compiler::compile_all(units, |unit| compile_one(&mut cache, &mut emitter, unit))
}

fn emitter<'a>() -> Emitter<'a> {
    Emitter::new(Dialect::Tera, &crate::Rules, 0)
}

fn compile_one<'a>(cache: &mut ParseCache<'a>, emitter: &mut Emitter<'a>, unit: &Unit<'_>) -> Compilation {
    let templates = Templates::load(cache, unit)?;
    emitter.restart(unit.limits.code_words);
    emitter.reserve(templates.list.iter().map(|one| one.source.text().len()).sum());
    let lints = lower::lower(unit, &templates, emitter).map_err(|error| vec![error])?;
    let lints = at_most(without_duplicates(lints), unit.limits.diagnostics, 0);
    let program = emitter.finish().map_err(|error| vec![error])?;
    Ok(Compiled { program, lints, reaches: templates.reaches(), tree: None })
}
