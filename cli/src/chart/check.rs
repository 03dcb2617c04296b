//! `dropforge check CHART`: the errors of a chart with its defaults, or with given values.

use std::path::Path;

use dropforge::bulk::missing_in_chart;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use dropforge::dialect::helm::chart::{Capabilities, Release};
use dropforge::engine::EngineBuilder;
use dropforge::function::Capabilities as Allowed;
use dropforge::vm::Session;

use super::{open, values};
use crate::input::InputFiles;
use crate::options::ValueArgs;

/// The findings in a chart.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The number of templates.
    pub(crate) templates: usize,
    /// Errors and warnings.
    pub(crate) found: Vec<Box<Diagnostic>>,
}

/// Checks a chart: its files, its values against its schema, its templates, and what they render to.
pub(crate) fn check(path: &Path, engine: EngineBuilder, args: &ValueArgs, files: &mut InputFiles) -> Checked {
    let mut checked = Checked::default();
    if let Err(errors) = checked.all(path, engine, args, files) {
        checked.found.extend(errors.into_vec().into_iter().map(|error| judged(error, args)));
    }
    checked
}

impl Checked {
    fn all(
        &mut self,
        path: &Path,
        engine: EngineBuilder,
        args: &ValueArgs,
        files: &mut InputFiles,
    ) -> Result<(), Diagnostics> {
        let values = values::read(args, files)?;
        // Nothing is written, so that renders need not be the same.
        let engine = args.allow.grant(engine)?.allow(Allowed::RANDOM.and(Allowed::CLOCK));
        let chart = open(path, engine, files)?;
        let plan = chart.chart().plan(&values, &Release::default(), &Capabilities::default())?;
        self.templates = plan.templates().len();
        self.found.extend(chart.lints(&plan)?);
        let render = chart.render_in(&mut Session::new(), plan.clone());
        let mut missing = missing_in_chart(&chart, &plan, render.is_ok())?;
        if let Err(errors) = &render {
            // What ends the render is told once, with all that is known then.
            missing.retain(|one| !errors.iter().any(|error| is_at_place_of(error, one)));
        }
        self.found.append(&mut missing);
        let render = render?;
        render.output()?;
        self.found.extend(render.warnings());
        Ok(())
    }
}

/// Returns `true` if two diagnostics are about the same place.
fn is_at_place_of(one: &Diagnostic, other: &Diagnostic) -> bool {
    let place = |diagnostic: &Diagnostic| {
        diagnostic.primary().map(|label| (label.source.name().to_owned(), label.position().line))
    };
    place(one).is_some() && place(one) == place(other)
}

/// Makes a warning of a chart's refusal of its own defaults: it may need values that only a user has.
fn judged(mut error: Box<Diagnostic>, args: &ValueArgs) -> Box<Diagnostic> {
    if args.gives_values() || !matches!(error.code, Code::Assertion | Code::UnfitValues) {
        return error;
    }
    error.severity = Severity::Warning;
    error.with_note("the chart refuses its default values").with_help("give values with `-f` or `--set`")
}
