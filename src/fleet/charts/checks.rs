//! Checks of charts: documents that are most often a mistake, and names that templates look up and that values lack.

use std::sync::OnceLock;

use crate::missing::MissingNames;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, LOOKED_UP, Severity};
use dropforge_engine::chart::{ChartRender, ChartTemplate};
use dropforge_helm as helm;
use dropforge_helm::chart::Plan;

/// A check of the documents of all releases of a fleet.
#[derive(Debug, Default)]
pub struct DocumentCheck {
    strict: bool,
    found: OnceLock<Vec<Box<Diagnostic>>>,
}

impl DocumentCheck {
    /// Creates a check. With `strict`, every release is checked, and findings are errors. Otherwise only the first one is,
    /// and findings are warnings: releases of one chart resemble each other.
    pub fn new(strict: bool) -> Self {
        Self { strict, found: OnceLock::new() }
    }

    /// Creates a check that is done.
    #[cfg(test)]
    pub(super) fn done() -> Self {
        Self { strict: false, found: OnceLock::from(Vec::new()) }
    }

    /// Checks the release of a cluster.
    ///
    /// # Errors
    /// All findings, if the check is strict.
    pub(super) fn check(&self, render: &ChartRender, cluster: &str) -> Result<(), Diagnostics> {
        if !self.strict {
            let found = || render.warnings().into_iter().map(|warning| warning.for_cluster(cluster)).collect();
            self.found.get_or_init(found);
            return Ok(());
        }
        let mut found = render.warnings();
        found.iter_mut().for_each(|error| error.severity = Severity::Error);
        if found.is_empty() { Ok(()) } else { Err(found.into()) }
    }

    /// Returns `true` if the next release has to be checked.
    pub(super) fn wants_more(&self) -> bool {
        self.strict || self.found.get().is_none()
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> &[Box<Diagnostic>] {
        self.found.get().map_or(&[], Vec::as_slice)
    }
}

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
    plan: &Plan,
    renders: bool,
) -> Result<Vec<Box<Diagnostic>>, Diagnostics> {
    let template = chart.compile(plan)?;
    let values = plan.data(template.program().start().mutable);
    // Names that are put into a map are written as text, or come from another map.
    let mut names = MissingNames::of([&template]).with_places().with_changed_maps();
    names.look_at(0, &values);
    let merges = helm::merges_maps(template.program());
    let found = names.into_failures(None).into_iter().map(|failure| failure.diagnostic);
    let is_wrong = |found: &Diagnostic| renders && found.severity == Severity::Error;
    let found = found.filter(|found| !is_wrong(found) && !is_meant(found) && !plan.knows(found, merges));
    Ok(found.map(|found| plan.explain(found, &[])).collect())
}

/// Returns `true` for a name that may be missing on purpose.
fn is_meant(found: &Diagnostic) -> bool {
    let is_short = found.fields.get(LOOKED_UP).is_none_or(|name| name.len() < LONG);
    is_short && helm::is_optional(found)
}
