//! Runs: stamping to disk, previewing changes, and writing one stream.
//!
//! Results do not depend on the number of threads. Files are independent, and streams, previews and reports are in
//! fleet order.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use super::job::{FilePreview, Job, Stamp};
use super::manifest::Manifest;
use super::output_dir::OutputDir;
use super::output_files::OutputWriter;
use super::report::Report;
use super::sinks::{DiskSink, PreviewSink, StreamSink};
use super::workers::{Turns, cannot_write, drive};
use crate::diagnostics::{Code, Diagnostic, Result, counted};

/// Stamps the fleet into the directory `out`.
///
/// ```
/// # let temp = tempfile::tempdir().unwrap();
/// # let out = temp.path().join("out");
/// use dropforge::bulk::{self, Fleet, FleetOptions, Format, Job, Layers, Layout, Options, Output, Overlay, Plan};
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
/// let fleet = Fleet::read(&source, Format::Ndjson, &FleetOptions::default()).unwrap();
/// let layers = Layers::default();
/// let outputs = vec![Output { template: "hello.tera".into(), name: "hello.yaml".into(), executable: false }];
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
/// `file.locked`, `plan.mass_delete`, `file.bad_manifest`, and errors of opening the directory. Failures of single
/// clusters are in the report.
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
    if let Some(paths) = paths_after(job, &report, || written.iter().map(|(path, _)| path.clone()).collect()) {
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

/// Returns the files to prune, unless the plan does not know the paths of this run.
fn stale(job: &Job<'_>, manifest: &Manifest) -> Result<Vec<String>> {
    if !job.plan.is_of_documents() {
        return stale_of(job, manifest, &job.planned());
    }
    if job.options.prune && job.plan.leaves_out(job.fleet) {
        let message = "cannot prune with a selector: the files of other clusters are unknown";
        return Err(Diagnostic::new(Code::Usage, message)
            .with_note("the layout uses document fields, and only selected clusters are rendered")
            .with_help("remove `--selector` or `--prune`"));
    }
    Ok(Vec::new())
}

/// Returns the paths of a run where they are known only after rendering: those of documents, or else all but those of
/// outputs that make no file.
fn paths_after(
    job: &Job<'_>,
    report: &Report,
    of_documents: impl FnOnce() -> HashSet<String>,
) -> Option<HashSet<String>> {
    if job.plan.is_of_documents() {
        return Some(of_documents());
    }
    let mut planned = (!report.blank.is_empty()).then(|| job.planned())?;
    for path in &report.blank {
        planned.remove(path);
    }
    Some(planned)
}

/// Returns the files to prune if the run has these paths.
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
    if report.is_complete() {
        let (removed, changed) = manifest.prune(dir, stale)?;
        report.deleted = removed;
        if changed > 0 {
            let files = counted(changed, "stale file");
            report.warnings.push(format!("kept {files} with content that dropforge did not write"));
        }
    } else if job.options.prune {
        report.warnings.push("pruned nothing because the run is incomplete".into());
    }
    manifest.write(&mut OutputWriter::new(dir, job.options.fsync)).map(|_| ())
}

/// Renders everything and calls `on_preview`, in fleet order, with each change that a run would make in the directory
/// `out`.
///
/// # Errors
/// Same as [`stamp`]; also errors of `on_preview`, as `file.closed_pipe` or `file.write_failed`.
pub fn preview<S: Stamp>(
    stamp: &S,
    job: &Job<'_>,
    out: &Path,
    on_preview: &mut (dyn FnMut(&FilePreview<'_>) -> io::Result<()> + Send),
) -> Result<Report> {
    let dir = OutputDir::open(out)?;
    if let Some(dir) = &dir {
        dir.lock(false)?;
    }
    let manifest = Manifest::read(dir.as_ref())?;
    let mut stale = stale(job, &manifest)?;
    let turns = Turns::new(on_preview);
    let sink = || PreviewSink::new(job, dir.as_ref(), &turns);
    let (done, mut report) = drive(stamp, job, &|at| turns.close(at), &sink)?;
    done.iter().for_each(|(counts, _)| report.add(counts));
    let of_documents = || done.into_iter().flat_map(|(_, paths)| paths).collect();
    if let Some(paths) = paths_after(job, &report, of_documents).filter(|_| report.is_complete()) {
        stale = stale_of(job, &manifest, &paths)?;
    }
    for path in &stale {
        report.deleted += 1;
        let deletion = FilePreview { path, change: None, old: "", new: "" };
        (turns.lock().out)(&deletion).map_err(cannot_write)?;
    }
    Ok(report)
}

/// Writes all outputs to one stream as YAML documents, in fleet order.
///
/// # Errors
/// `file.closed_pipe`, `file.write_failed`.
pub fn stream<S: Stamp>(stamp: &S, job: &Job<'_>, out: &mut (dyn Write + Send)) -> Result<Report> {
    let turns = Turns::new(out);
    let (done, mut report) = drive(stamp, job, &|at| turns.close(at), &|| StreamSink::new(job, &turns))?;
    done.iter().for_each(|counts| report.add(counts));
    turns.lock().out.flush().map_err(cannot_write)?;
    Ok(report)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
