//! Compilation of templates: load, check, lower.

use std::sync::Arc;

use super::check::{Checks, check_again};
use super::load::{Templates, read_again};
use super::lower::compile_templates;
use super::syntax::tree::{File, Include, Target};
use super::syntax::{BuildOptions, Parsed};
use crate::compiler::{Compiled, Memo, SyntaxTree, Unit};
use crate::diagnostics::{Code, Diagnostic};

/// What a compilation keeps for the next one.
#[derive(Default)]
struct Kept {
    parsed: Parsed,
    checks: Checks,
}

/// Compiles a template with everything that it includes.
///
/// # Errors
/// All errors of the files; limits of the code's size.
pub fn compile(unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    let mut kept = unit.memo.and_then(Memo::take::<Kept>).unwrap_or_default();
    let templates = read_and_check(unit, &mut kept);
    if let Some(memo) = unit.memo {
        memo.keep(kept);
    }
    let mut templates = templates?;
    let unlisted = unlisted(&templates, unit);
    if !unlisted.is_empty() {
        return Err(unlisted);
    }
    let program =
        compile_templates(&templates, unit.registry, unit.lenient, unit.limits).map_err(|error| vec![error])?;
    let others = templates.files().iter().skip(1);
    let mut reaches: Vec<String> = others.map(|file| file.source.name().to_owned()).collect();
    reaches.sort_unstable();
    let lints = std::mem::take(&mut templates.lints);
    let tree = unit.keeps_tree.then(|| Arc::new(templates) as SyntaxTree);
    Ok(Compiled { program, lints, reaches, tree })
}

/// Reads and checks a template with everything that it includes.
fn read_and_check(unit: &Unit<'_>, kept: &mut Kept) -> Result<Templates, Vec<Box<Diagnostic>>> {
    kept.parsed.next_round();
    let options = BuildOptions { strict_let: unit.strict };
    let templates = read_again(unit.entry, unit.loader, unit.limits, &options, &mut kept.parsed)?;
    let errors = check_again(&templates, unit.registry, unit.limits, &mut kept.checks);
    if errors.is_empty() { Ok(templates) } else { Err(errors) }
}

/// Returns the errors of includes with computed paths, if the loader cannot list the files.
fn unlisted(templates: &Templates, unit: &Unit<'_>) -> Vec<Box<Diagnostic>> {
    let message = "the path of `$include` is made when the template is rendered, and the loader has no list of the files \
                   that there are";
    let error = |(file, include): (&File, &Include)| {
        let error = Diagnostic::new(Code::UnknownTemplate, message).at(&file.source, include.span, "");
        error.with_field("path", file.path(include.path))
    };
    let maps = templates.files().iter().flat_map(|file| file.maps.iter().map(move |map| (file, map)));
    let includes = maps.filter_map(|(file, map)| Some((file, map.directives().include.as_deref()?)));
    let is_dynamic = |(_, include): &(&File, &Include)| matches!(include.target, Target::Dynamic(..));
    let found: Vec<_> = includes.filter(is_dynamic).map(error).collect();
    if found.is_empty() || !unit.loader.names().is_empty() { Vec::new() } else { found }
}
