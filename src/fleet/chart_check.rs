//! Documents of releases that are most often a mistake.

use std::sync::OnceLock;

use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Severity};
use dropforge_engine::chart::ChartRender;

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
