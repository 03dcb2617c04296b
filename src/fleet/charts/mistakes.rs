//! Names that a chart looks up and that nothing gives, and values of another kind than it expects.

use super::ChartSet;
use super::forms::OwnInputs;
use crate::layers::Layers;
use crate::missing::{MissingNames, is_swapped};
use crate::selector::Selection;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, LOOKED_UP, Severity, at_most, without_duplicates};
use dropforge_base::mask::Mask;
use dropforge_engine::Template;
use dropforge_engine::chart::ChartTemplate;
use dropforge_helm as helm;
use dropforge_helm::chart::Plan as ReleasePlan;

impl ChartSet {
    /// Finds the misspelled names in the branches that the values take, and values of another kind than the chart expects. Other
    /// names that nothing gives may be optional. `inputs` returns the inputs of a cluster.
    pub(crate) fn mistakes_of(
        &self,
        inputs: (&Layers, OwnInputs<'_>),
        clusters: &Selection<'_>,
        all: bool,
    ) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let mut found = Vec::new();
        let clusters = if all { clusters } else { &clusters.first() };
        self.each_form_of(inputs, clusters, &mut |cluster, plan| {
            // The program for the values of one cluster lacks branches that others take.
            let program = if all { self.template.compile(&plan)? } else { self.template.compile_for(&plan)? };
            let missing = missing_names(&self.template, &plan, &program, true).into_iter();
            let missing = missing.filter(|one| one.help.is_some() && !is_required(one));
            found.extend(missing.chain(plan.kind_changes()).map(|one| one.for_cluster(cluster)));
            Ok(())
        })?;
        let mut found = without_duplicates(found);
        Mask::of_each(|each| self.template.chart().each_secret(&self.values, each)).hide_in_all(&mut found);
        Ok(found)
    }
}

/// Maximum number of missing names of a chart that are reported.
const MISSING: usize = 100;

/// Minimum length of the name of an optional value that is told if it resembles another. Shorter ones resemble each other.
const LONG: usize = 5;

/// Returns the names that the templates of a plan look up below `.Values` and that neither the values nor the schema of the
/// chart have, each at its place, with the line of the values that may be meant. `renders` tells that the templates render
/// with these values: then no name is an error.
///
/// Names that a template also writes as text are left out: it may set or test them. If templates merge maps, so are those
/// that the values have elsewhere.
///
/// # Errors
/// The errors of [`ChartTemplate::compile`].
pub fn missing_in_chart(
    chart: &ChartTemplate,
    plan: &ReleasePlan,
    renders: bool,
) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
    Ok(missing_names(chart, plan, &chart.compile(plan)?, renders))
}

/// Works like [`missing_in_chart`] for the part of the templates that is in `program`.
fn missing_names(chart: &ChartTemplate, plan: &ReleasePlan, program: &Template, renders: bool) -> Vec<Box<Diagnostic>> {
    let values = plan.data(program.program().start().mutable);
    // A name is used if any branch uses it.
    let whole = || chart.compile(plan).unwrap_or_else(|_| program.clone());
    // Names that are put into a map are written as text, or come from another map.
    let mut names = MissingNames::of_chart(program, &whole);
    names.look_at(0, &values);
    let merges = helm::merges_maps(program.program());
    let found = names.into_diagnostics();
    let is_wrong = |found: &Diagnostic| renders && found.severity == Severity::Error;
    let found = found.filter(|found| !is_wrong(found) && !is_meant(found) && !plan.knows(found, merges));
    at_most(found.map(|found| plan.explain(found, &[])).collect(), MISSING, 0)
}

/// Returns `true` for a name in an action with `required`, which fails if it is missing, and tells the likely name.
fn is_required(found: &Diagnostic) -> bool {
    found.primary().is_some_and(|label| {
        let (text, at) = (label.source.text(), label.span.start as usize);
        let start = text.get(..at).and_then(|before| before.rfind("{{")).unwrap_or(at);
        let action = text.get(start..).and_then(|rest| rest.split_once("}}")).map_or("", |(action, _)| action);
        action.contains("required")
    })
}

/// Returns `true` for a name that may be missing on purpose, or whose value is written to a comment.
fn is_meant(found: &Diagnostic) -> bool {
    let is_comment = found.primary().is_some_and(|label| {
        let before = label.source.text().get(..label.span.start as usize).unwrap_or("");
        before.lines().next_back().is_some_and(|line| line.trim_start().starts_with('#'))
    });
    if is_comment {
        return true;
    }
    let is_short = found.fields.get(LOOKED_UP).is_none_or(|name| name.len() < LONG);
    let is_swapped = found.replacement.as_ref().is_some_and(|(name, near)| is_swapped(name, near));
    is_short && !is_swapped && helm::is_optional(found)
}
