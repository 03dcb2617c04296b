//! Warnings for values that no template reads, and warnings as errors.

use clap::Args;

use dropforge::bulk::{Layers, ReadValues, Selection};
use dropforge::diagnostics::{Diagnostic, Result, counted};

use crate::project::key;
use crate::stderr::Stderr;

/// Options of warnings.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct WarningArgs {
    /// Treat warnings as errors
    ///
    /// Nothing is written if there are warnings before rendering. An output of a
    /// kind without a schema (`--kube-schemas`) fails its cluster. Warnings after
    /// writing, such as those about pruning, give exit code 1.
    #[arg(long, add = key("checks"))]
    pub(crate) strict: bool,
    /// `true` if the project has other templates, which may read other values.
    #[arg(skip)]
    pub(crate) is_part: bool,
}

impl WarningArgs {
    /// Prints warnings for values that nothing reads, unless `--quiet` or a part of a project is given, and for `mistakes` in
    /// the templates, for all clusters or the first. Returns `true` if nothing may be written: there were warnings, and they
    /// are errors.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(crate) fn refuse(
        &self,
        layers: &Layers,
        clusters: &Selection<'_>,
        read: impl FnOnce() -> ReadValues,
        mistakes: impl FnOnce(bool) -> Vec<Box<Diagnostic>>,
        stderr: &Stderr,
    ) -> Result<bool> {
        if self.strict || !stderr.quiet {
            mistakes(self.strict).iter().for_each(|warning| stderr.diagnostic(warning));
            layers.kind_changes(clusters)?.iter().for_each(|failure| stderr.failure(failure));
            if !self.is_part {
                print(&read().and_declared(layers), layers, clusters, stderr)?;
            }
        }
        let refuse = self.are_errors(stderr);
        if refuse {
            stderr.note(&format!("nothing is written: {} (--strict)", counted(stderr.warnings(), "warning")));
        }
        Ok(refuse)
    }

    /// Returns `true` if there were warnings and they are errors.
    pub(crate) fn are_errors(&self, stderr: &Stderr) -> bool {
        self.strict && stderr.warnings() > 0
    }
}

fn print(read: &ReadValues, layers: &Layers, clusters: &Selection<'_>, stderr: &Stderr) -> Result<()> {
    for failure in read.unread_in_run(layers, clusters)? {
        match failure.diagnostic.cluster {
            Some(_) => stderr.failure(&failure),
            None => stderr.diagnostic(&failure.diagnostic),
        }
    }
    Ok(())
}
