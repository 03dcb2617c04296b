//! `dropforge check` of a project with releases.

use std::io;

use dropforge::bulk::{self, Options, Watch};
use dropforge::diagnostics::Code;

use crate::check::{CheckArgs, Findings};
use crate::exit::Failed;
use crate::fleet::check_selection;
use crate::input::InputFiles;
use crate::run::{RunArgs, RunDefaults};
use crate::stderr::Stderr;

/// Checks the releases of a project: renders them for all clusters.
///
/// # Errors
/// Errors of reading and compiling; `usage` for a selector that selects nothing.
pub(crate) fn check(
    args: &CheckArgs,
    threads: usize,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> Result<Findings, Failed> {
    let fleet = args.values.fleet_args();
    // Warnings are findings here, so the default ones are asked for.
    let defaults = RunDefaults::default();
    let of_releases = defaults.of_releases((&args.releases, &fleet), (args.values.values(), &args.schema))?;
    let options = Options { threads, ..of_releases.options.clone() };
    let reader = RunArgs { language: &args.language, options, ..of_releases };
    let run = reader.read(files, stderr)?;
    let plan = run.plan()?;
    check_selection(&run.selector, &run.fleet, &run.values, plan.clusters())?;
    let report = bulk::stream(&*run.stamper(&plan)?, &run.job(&plan, &reader.options, Watch::none()), &mut io::sink())?;
    let mut findings = Findings::default();
    findings.templates = plan.outputs().len();
    findings.failures.extend(report.failures);
    findings.found.extend(report.errors);
    findings.found.extend(run.set.warnings(run.selector.is_empty() && !fleet.is_one()));
    let clusters = plan.selection(&run.fleet);
    findings.failures.extend(run.values.kind_changes(&clusters)?);
    if findings.failures.iter().all(|failure| failure.diagnostic.code == Code::KindChange) {
        let read = run.reads().and_declared(&run.values);
        findings.found.extend(read.unread(&run.values));
        // What does not compile has failed in a cluster.
        findings.found.extend(run.set.mistakes(&run.values, &clusters, true).unwrap_or_default());
        findings.failures.extend(read.unread_by_clusters(&run.values, &clusters)?);
    }
    run.values.hide_in_failures(&run.fleet, &mut findings.failures)?;
    Ok(findings)
}
