//! The runs: onto disk, only to look, into one stream.
//!
//! Results do not depend on the number of threads: files are independent of one another, and streams and reports
//! are written in the fleet's order.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use super::job::{Job, Looked, Stamp};
use super::manifest::Manifest;
use super::report::Report;
use super::sink::{DiskSink, LookSink, StreamSink};
use super::tree::OutputDir;
use super::workers::{Turns, cannot_write, drive};
use super::write::Writer;
use crate::diagnostics::{Code, Diagnostic, Result};

/// Stamps the fleet below the directory `out`.
///
/// ```
/// # let temp = tempfile::tempdir().unwrap();
/// # let out = temp.path().join("out");
/// use dropforge::bulk::{self, Fleet, Format, Job, Layers, Layout, Options, Output, Overlay, Plan};
/// use dropforge::bulk::{Renderer, Selector, Stamp, Watch};
/// use dropforge::diagnostics::Result;
/// use dropforge::text::Source;
///
/// struct Hello;
/// impl Stamp for Hello {
///     fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
///         body(&mut Hello);
///     }
/// }
/// impl Renderer for Hello {
///     fn render(&mut self, own: &Overlay<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> Result<()> {
///         let own = own.to_map()?;
///         text.push_str("hello ");
///         text.push_str(own.get("name").and_then(|name| name.as_str()).unwrap_or("you"));
///         results.push(Ok(text.len()));
///         Ok(())
///     }
/// }
///
/// let source = Source::new("fleet.ndjson", "{\"name\": \"eu-1\"}\n{\"name\": \"us-1\"}\n");
/// let fleet = Fleet::read(&source, Format::Ndjson, None).unwrap();
/// let layers = Layers::default();
/// let outputs = vec![Output { template: "hello.tera".into(), name: "hello.yaml".into() }];
/// let layout = Layout::parse("{cluster}/{template}").unwrap();
/// let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, layout).unwrap();
/// let options = Options::default();
/// let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
/// let report = bulk::stamp(&Hello, &job, &out).unwrap();
/// assert_eq!((report.created, report.failed), (2, 0));
/// assert_eq!(std::fs::read_to_string(out.join("us-1/hello.yaml")).unwrap(), "hello us-1");
/// ```
///
/// # Errors
/// `file.locked`, `plan.mass_delete`, `file.bad_manifest`, and what keeps the directory from being opened. What
/// fails for single clusters is in the report.
pub fn stamp<S: Stamp>(stamp: &S, job: &Job<'_>, out: &Path) -> Result<Report> {
    let dir = OutputDir::create(out)?;
    dir.lock(true)?;
    let mut manifest = Manifest::read(Some(&dir))?;
    let mut stale = stale(job, &manifest)?;
    dir.begin()?;
    let (done, mut report) = drive(stamp, job, &|_| {}, &|| DiskSink::new(job, &dir))?;
    done.iter().for_each(|(counts, _)| report.add(counts));
    let written = done.into_iter().flat_map(|(_, written)| written).map(|file| (file.path(job), file.hash));
    let written: Vec<(String, blake3::Hash)> = written.collect();
    if job.plan.is_of_documents() {
        let paths = written.iter().map(|(path, _)| path.clone()).collect();
        stale = stale_of(job, &manifest, &paths).unwrap_or_else(|error| {
            report.errors.push(error);
            Vec::new()
        });
    }
    manifest.extend(written.into_iter());
    if let Err(error) = finish(job, &dir, &mut manifest, &stale, &mut report) {
        report.errors.push(error);
    }
    dir.end();
    Ok(report)
}

/// What pruning would remove, as far as the plan tells.
fn stale(job: &Job<'_>, manifest: &Manifest) -> Result<Vec<String>> {
    if !job.plan.is_of_documents() {
        return stale_of(job, manifest, &job.planned());
    }
    if job.options.prune && job.plan.leaves_out(job.fleet) {
        let message = "which files are those of clusters that are left out is not known";
        return Err(Diagnostic::new(Code::Usage, message)
            .with_note("the layout takes fields of documents, and those clusters are not rendered")
            .with_help("prune without a selector"));
    }
    Ok(Vec::new())
}

/// What pruning would remove, where these are the paths that there are now.
fn stale_of(job: &Job<'_>, manifest: &Manifest, paths: &HashSet<String>) -> Result<Vec<String>> {
    if !job.options.prune {
        return Ok(Vec::new());
    }
    let stale = manifest.stale(paths);
    manifest.guard(stale.len(), job.options.prune_force)?;
    Ok(stale)
}

fn finish(
    job: &Job<'_>,
    dir: &OutputDir,
    manifest: &mut Manifest,
    stale: &[String],
    report: &mut Report,
) -> Result<()> {
    let whole = report.failed == 0 && !report.interrupted;
    if whole {
        let (removed, changed) = manifest.prune(dir, stale)?;
        report.deleted = removed;
        if changed > 0 {
            report.warnings.push(format!("{changed} stale files were left: their content is not what was written"));
        }
    } else if job.options.prune {
        report.warnings.push("nothing was pruned, because the run was not complete".into());
    }
    manifest.write(&mut Writer::new(dir, job.options.fsync)).map(|_| ())
}

/// Renders everything and reports, in the fleet's order, what a run would do to the directory `out`.
///
/// # Errors
/// As [`stamp`]; and what `each` returns (`file.closed_pipe` where the reader has gone).
pub fn look<S: Stamp>(
    stamp: &S,
    job: &Job<'_>,
    out: &Path,
    each: &mut (dyn FnMut(&Looked<'_>) -> io::Result<()> + Send),
) -> Result<Report> {
    let dir = OutputDir::open(out)?;
    if let Some(dir) = &dir {
        dir.lock(false)?;
    }
    let manifest = Manifest::read(dir.as_ref())?;
    let mut stale = stale(job, &manifest)?;
    let turns = Turns::new(each);
    let (done, mut report) = drive(stamp, job, &|at| turns.close(at), &|| LookSink::new(job, dir.as_ref(), &turns))?;
    done.iter().for_each(|(counts, _)| report.add(counts));
    if job.plan.is_of_documents() && report.failed == 0 && !report.interrupted {
        stale = stale_of(job, &manifest, &done.into_iter().flat_map(|(_, seen)| seen).collect())?;
    }
    for path in &stale {
        report.deleted += 1;
        let looked = Looked { path, change: None, old: "", new: "" };
        (turns.lock().out)(&looked).map_err(|error| cannot_write(&error))?;
    }
    Ok(report)
}

/// Writes all outputs to one stream, in the fleet's order, as YAML documents.
///
/// # Errors
/// `file.closed_pipe`, `file.write_failed`.
pub fn stream<S: Stamp>(stamp: &S, job: &Job<'_>, out: &mut (dyn Write + Send)) -> Result<Report> {
    let turns = Turns::new(out);
    let (done, mut report) = drive(stamp, job, &|at| turns.close(at), &|| StreamSink::new(job, &turns))?;
    done.iter().for_each(|counts| report.add(counts));
    turns.lock().out.flush().map_err(|error| cannot_write(&error))?;
    Ok(report)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
