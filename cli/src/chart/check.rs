//! `dropforge check CHART`: the errors of a chart with its defaults, or with given values.

use std::path::Path;

use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use dropforge::dialect::helm::chart::{Capabilities, Release};
use dropforge::engine::EngineBuilder;

use super::{open, print, values};
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
        let chart = open(path, engine, files)?;
        let plan = chart.chart().plan(&values, &Release::default(), &Capabilities::default())?;
        self.templates = plan.templates().len();
        self.found.extend_from_slice(chart.compile(&plan)?.lints());
        let output = chart.render(&values, &Release::default(), &Capabilities::default())?.output()?;
        self.found.extend(print::duplicates(&output));
        Ok(())
    }
}

/// Makes a warning of a chart's refusal of its own defaults: it may need values that only a user has.
fn judged(mut error: Box<Diagnostic>, args: &ValueArgs) -> Box<Diagnostic> {
    if args.gives_values() || !matches!(error.code, Code::Assertion | Code::UnfitValues) {
        return error;
    }
    error.severity = Severity::Warning;
    error.with_note("the chart refuses its default values").with_help("give values with `-f` or `--set`")
}
