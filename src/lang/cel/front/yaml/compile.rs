//! Compilation of templates: load, check, lower.

use super::check::{Checks, check_again};
use super::load::{Templates, read_again};
use super::lower::compile_templates;
use super::syntax::tree::{File, Include, Target};
use super::syntax::{BuildOptions, Parsed};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_machine::compiler::{Compiled, Unit};

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
    let Some(memo) = unit.memo else { return compile_again(unit, &mut Kept::default()) };
    let mut kept = memo.take::<Kept>().unwrap_or_default();
    let compiled = compile_again(unit, &mut kept);
    memo.keep(kept);
    compiled
}

/// Compiles a template, except for parts that were parsed and checked before.
fn compile_again(unit: &Unit<'_>, kept: &mut Kept) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    kept.parsed.next_round();
    let options = BuildOptions { strict_let: unit.strict };
    let mut templates = read_again(unit.entry, unit.loader, unit.limits, &options, &mut kept.parsed)?;
    let compiled = check_and_lower(unit, &mut templates, &mut kept.checks);
    if let Some(memo) = unit.memo {
        memo.leave(templates);
    }
    compiled
}

fn check_and_lower(
    unit: &Unit<'_>,
    templates: &mut Templates,
    checks: &mut Checks,
) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    let errors = check_again(templates, unit.registry, unit.limits, checks);
    if !errors.is_empty() {
        return Err(errors);
    }
    let unlisted = unlisted(templates, unit);
    if !unlisted.is_empty() {
        return Err(unlisted);
    }
    let program =
        compile_templates(templates, unit.registry, unit.lenient, unit.limits).map_err(|error| vec![error])?;
    let others = templates.files().iter().skip(1);
    let mut reaches: Vec<String> = others.map(|file| file.source.name().to_owned()).collect();
    reaches.sort_unstable();
    Ok(Compiled { program, lints: std::mem::take(&mut templates.lints), reaches, tree: None })
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
