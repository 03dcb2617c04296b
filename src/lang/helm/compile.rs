//! The entrances: parse a set of files, lower the entry, or every file to render, with what it reaches.

use bumpalo::Bump;

use super::chart::{Plan, PlannedChart, PlannedTemplate};
use super::lower::{self, Output, Reached};
use super::set::Set;
use dropforge_base::diagnostics::{at_most, without_duplicates};
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::compiler::{Compilation, Compiled, Emitter, Unit};

/// Compiles a unit of the language `helm`: the entry, together with the files that share its name space.
///
/// # Errors
/// Every syntax error of every file, or a limit.
pub fn compile(unit: &Unit<'_>) -> Compilation {
    let (arena, files) = (Bump::new(), Set::files(unit));
    let set = Set::parse(&arena, &files, unit)?;
    let mut emitter = Emitter::new(Dialect::Helm, &lower::Folding, unit.limits.code_words).lenient(unit.lenient);
    let reaches = lower::lower(unit, &set, &mut emitter).map_err(|error| vec![error])?;
    finished(unit, emitter, reaches)
}

/// Compiles the templates of a chart to one program, whose answer is the list of the ends of their texts in the order of rendering.
/// Its inputs are [`Plan::inputs`]. The unit's sources are the templates in that order, and its entry has the name of the
/// chart. A `partial` program leaves out branches that the plan's values do not seem to take; a run that reaches one fails
/// with `template.unknown`.
///
/// # Errors
/// Every syntax error of every file, or a limit.
pub fn compile_chart(unit: &Unit<'_>, plan: &Plan, partial: bool) -> Compilation {
    let arena = Bump::new();
    let set = Set::parse(&arena, unit.together, unit)?;
    let mut emitter = Emitter::new(Dialect::Helm, &lower::Folding, unit.limits.code_words).lenient(unit.lenient);
    // Most of a chart is text, and many of its branches are left out.
    let bytes = unit.together.iter().map(|file| file.text().len()).sum::<usize>();
    emitter.reserve(bytes / 8);
    emitter.reserve_text(bytes);
    let output = |template: &PlannedTemplate| {
        let chart = plan.charts().get(template.chart()).map_or("", PlannedChart::path);
        Output { template: template.name().to_owned(), chart: chart.to_owned(), skip: template.skip() }
    };
    let rendered = plan.templates().iter().filter(|template| !template.is_partial());
    let outputs: Vec<_> = rendered.map(output).collect();
    let values: Option<Vec<_>> =
        partial.then(|| plan.templates().iter().map(|one| plan.values_of(one.chart())).collect());
    let reaches =
        lower::lower_all(unit, &set, &mut emitter, &outputs, values.as_deref()).map_err(|error| vec![error])?;
    finished(unit, emitter, reaches)
}

fn finished(unit: &Unit<'_>, mut emitter: Emitter<'_>, reaches: Reached) -> Compilation {
    let lints = at_most(without_duplicates(reaches.lints), unit.limits.diagnostics, 0);
    let program = emitter.finish().map_err(|error| vec![error])?;
    Ok(Compiled { program, lints, reaches: reaches.files, tree: None })
}
