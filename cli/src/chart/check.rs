//! `dropforge check CHART`: the errors of a chart with its defaults, or with the values of a user or of clusters.

use std::io;
use std::path::Path;

use dropforge::bulk::{
    self, ChartSet, ChartStamper, DEFAULT_LAYOUT, Failure, Fleet, Job, LayerGroups, Layers, Layout, Options, Plan,
    RunSet, Selection, Selector, Watch, missing_in_chart,
};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use dropforge::dialect::helm::chart::{Plan as Release, UserValues};
use dropforge::engine::chart::{ChartRender, ChartTemplate};
use dropforge::function::Capabilities;
use dropforge::mask::Mask;
use dropforge::vm::Session;

use super::{open, user_values_of};
use crate::check::CheckArgs;
use crate::exit::Failed;
use crate::fleet::{check_selection, selector};
use crate::input::InputFiles;
use crate::stderr::Stderr;

/// The findings in a chart.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The number of templates.
    pub(crate) templates: usize,
    /// Errors and warnings.
    pub(crate) found: Vec<Box<Diagnostic>>,
    /// Errors of clusters.
    pub(crate) failures: Vec<Failure>,
}

/// What a chart is checked with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct With<'a> {
    pub(crate) args: &'a CheckArgs,
    /// The clusters, if a fleet is given.
    pub(crate) fleet: Option<&'a Fleet>,
    /// The files of layers.
    pub(crate) groups: &'a LayerGroups,
    /// The number of threads, or 0 for one per core.
    pub(crate) threads: usize,
}

/// Errors and warnings of the templates of a release, names that nothing gives, and the render.
type Found = (Vec<Box<Diagnostic>>, Vec<Box<Diagnostic>>, Result<ChartRender, Diagnostics>);

/// Checks a chart: its files, its values against its schema, its templates, and what they render to. With a fleet, it checks
/// the release of every cluster.
///
/// # Errors
/// Errors of reading values and schemas; `usage` for a selector that selects nothing.
pub(crate) fn check(path: &Path, with: With<'_>, files: &mut InputFiles, stderr: &Stderr) -> Result<Checked, Failed> {
    let (mut checked, mut mask) = (Checked::default(), Mask::none());
    let layers = layers(with, files, stderr)?;
    let result = match checked.open(path, with, &layers, files) {
        Ok(chart) => {
            let decrypted = Layers::default().with_places(files.decrypted_places());
            mask = Mask::of_each(|each| {
                chart.template.chart().each_secret(&chart.values, each);
                decrypted.each_secret(None, each);
            });
            checked.all(&chart, &layers, with)?
        }
        Err(errors) => Err(errors.into()),
    };
    if let Err(Failed { diagnostics, failures, .. }) = result {
        checked.found.extend(diagnostics.into_iter().map(|error| judged(error, with.args)));
        checked.failures.extend(failures);
    }
    checked.hide(&mask);
    Ok(checked)
}

/// Reads and merges the values.
fn layers(with: With<'_>, files: &mut InputFiles, stderr: &Stderr) -> Result<Layers, Failed> {
    let args = with.args;
    let is_needed = with.fleet.is_some() || args.schema.first_given().is_some();
    match args.values.layers(with.groups, files, stderr) {
        Err(error) if is_needed => Err(error.into()),
        // What only charts can read as values is left out.
        Err(_) => Ok(Layers::default()),
        // A chart has schemas of its own beside its templates.
        Ok(found) if is_needed => Ok(args.schema.add_to(found, &[], files)?),
        Ok(found) => Ok(found),
    }
}

impl Checked {
    fn open(
        &self,
        path: &Path,
        With { args, .. }: With<'_>,
        layers: &Layers,
        files: &mut InputFiles,
    ) -> Result<ChartSet, Diagnostics> {
        let given = args.values.values();
        let values = user_values_of(given, layers, args.schema.is_off(), files)?;
        // Nothing is written, so that renders need not be the same.
        let allowed = Capabilities::RANDOM.and(Capabilities::CLOCK);
        let engine = given.allow.grant(args.language.engine())?.allow(allowed);
        Ok(args.chart.chart(open(path, engine, files)?, values, args.values.name_key())?)
    }

    /// Hides the secrets among the shared values. The errors of clusters have none of theirs.
    fn hide(&mut self, mask: &Mask) {
        let failures = self.failures.iter_mut().map(|failure| &mut failure.diagnostic);
        mask.hide_in_all(self.found.iter_mut().chain(failures));
    }

    /// Checks an open chart. The inner errors are findings.
    fn all(&mut self, chart: &ChartSet, merged: &Layers, with: With<'_>) -> Result<Result<(), Failed>, Failed> {
        let args = with.args;
        let Some(fleet) = with.fleet else {
            self.found.extend(merged.violations(None));
            let released = self.release(chart).map_err(Failed::from);
            if released.is_ok() {
                let (fleet, selector) = (Fleet::default(), Selector::default());
                self.unread(chart, merged, (&Selection::of(&fleet, merged, &selector)?, &selector), args)?;
            }
            return Ok(released);
        };
        let selector = selector(args.values.selector())?;
        let clusters = Selection::of(fleet, merged, &selector)?;
        check_selection(&selector, fleet, merged, clusters.len())?;
        if clusters.is_empty() {
            return Ok(self.outline(chart).map_err(Failed::from));
        }
        let names = self.forms(chart, merged, &clusters);
        let released = names.map_err(Failed::from).and_then(|()| {
            let plan = Plan::new(fleet, merged, &selector, chart.outputs().all, Layout::parse(DEFAULT_LAYOUT)?)?;
            self.releases(chart, merged, (fleet, &plan), with.threads)
        });
        if released.is_ok() && self.failures.is_empty() {
            self.unread(chart, merged, (&clusters, &selector), args)?;
        }
        Ok(released)
    }

    /// Finds values that nothing in the chart reads, if nothing else reads values.
    fn unread(
        &mut self,
        chart: &ChartSet,
        layers: &Layers,
        (clusters, selector): (&Selection<'_>, &Selector),
        args: &CheckArgs,
    ) -> Result<(), Box<Diagnostic>> {
        self.found.extend(chart.mistaken_values(clusters)?);
        self.failures.extend(layers.kind_changes(clusters)?);
        if !args.values.any() || args.is_part || args.templates.len() > 1 {
            return Ok(());
        }
        let read = chart.reads(None).and_declared(layers);
        let read = read.and_plan(selector, &Layout::parse(DEFAULT_LAYOUT)?, args.values.name_key());
        self.found.extend(read.unread(layers));
        self.failures.extend(read.unread_by_clusters(layers, clusters)?);
        Ok(())
    }

    /// Checks the chart alone.
    fn release(&mut self, chart: &ChartSet) -> Result<(), Diagnostics> {
        let plan = chart.template.plan(&Session::new(), &chart.values, &chart.release, &chart.capabilities)?;
        self.templates = plan.templates().len();
        let (lints, missing, render) = found(&chart.template, plan)?;
        self.found.extend(lints.into_iter().chain(missing));
        let render = render?;
        render.output()?;
        self.found.extend(render.warnings());
        Ok(())
    }

    /// Checks the chart without values.
    fn outline(&mut self, chart: &ChartSet) -> Result<(), Diagnostics> {
        let plan = chart.template.outline(&UserValues::default())?;
        self.templates = plan.templates().len();
        self.found.extend(chart.template.lints(&plan)?);
        Ok(())
    }

    /// Finds the names that nothing gives, in releases whose values differ in form.
    fn forms(&mut self, chart: &ChartSet, layers: &Layers, clusters: &Selection<'_>) -> Result<(), Diagnostics> {
        chart.each_form(layers, clusters, &mut |cluster, plan| {
            self.templates = self.templates.max(plan.templates().len());
            let (lints, missing, _) = found(&chart.template, plan)?;
            self.found.extend(lints);
            self.found.extend(missing.into_iter().map(|one| one.for_cluster(cluster)));
            Ok(())
        })
    }

    /// Renders the releases of all clusters.
    fn releases(
        &mut self,
        chart: &ChartSet,
        layers: &Layers,
        (fleet, plan): (&Fleet, &Plan),
        threads: usize,
    ) -> Result<(), Failed> {
        let options = Options { threads, ..Options::default() };
        let job = Job { fleet, layers, plan, options: &options, watch: Watch::none() };
        let report = bulk::stream(&ChartStamper::new(chart, layers, None).for_plan(plan), &job, &mut io::sink())?;
        self.failures.extend(report.failures);
        self.found.extend(report.errors);
        self.found.extend(chart.check.warnings());
        Ok(())
    }
}

/// Finds what is wrong with the templates of a release, and renders them.
fn found(chart: &ChartTemplate, plan: Release) -> Result<Found, Diagnostics> {
    let lints = chart.lints(&plan)?;
    let render = chart.render_in(&mut Session::new(), plan.clone());
    let mut missing = missing_in_chart(chart, &plan, render.is_ok())?;
    if let Err(errors) = &render {
        // What ends the render is told once, with all that is known then.
        missing.retain(|one| !errors.iter().any(|error| is_at_place_of(error, one)));
    }
    Ok((lints, missing, render))
}

/// Returns `true` if two diagnostics are about the same place.
fn is_at_place_of(one: &Diagnostic, other: &Diagnostic) -> bool {
    let place = |diagnostic: &Diagnostic| {
        diagnostic.primary().map(|label| (label.source.name().to_owned(), label.position().line))
    };
    place(one).is_some() && place(one) == place(other)
}

/// Makes a warning of a chart's refusal of its own defaults: it may need values that only a user has.
fn judged(mut error: Box<Diagnostic>, args: &CheckArgs) -> Box<Diagnostic> {
    if args.values.any() || !matches!(error.code, Code::Assertion | Code::UnfitValues) {
        return error;
    }
    error.severity = Severity::Warning;
    error.with_note("the chart refuses its default values").with_help("give values with `-f`, `--set` or `--fleet`")
}
