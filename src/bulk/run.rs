//! Runs: stamping to disk, previewing changes, and writing one stream.
//!
//! Results do not depend on the number of threads. Files are independent, and streams, previews and reports are in
//! fleet order.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use super::deletions::Deletions;
use super::foreign::{self, Ours};
use super::job::{FilePreview, Job, Stamp};
use super::key_set::{KeySet, SortedKeys};
use super::manifest::Manifest;
use super::output_dir::OutputDir;
use super::output_files::{OutputReader, OutputWriter};
use super::output_path::check_path;
use super::report::Report;
use super::sinks::{self, DiskSink, OnPreview, PreviewSink, StreamSink};
use super::workers::{Turns, cannot_write, drive};
use crate::diagnostics::{Result, counted};

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
/// let outputs = vec![Output { template: "hello.tera".into(), name: "hello.yaml".into(), executable: false, bytes: None }];
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
/// `file.locked`, `plan.mass_delete`, `plan.foreign_file`, `file.bad_manifest`, and errors of opening the directory.
/// Failures of single clusters are in the report.
pub fn stamp<S: Stamp>(stamp: &S, job: &Job<'_>, out: &Path) -> Result<Report> {
    let dir = OutputDir::create(out)?;
    dir.lock(true)?;
    let mut manifest = Manifest::read(Some(&dir))?;
    let mut stale = Deletions::default();
    if job.options.prune && !job.plan.is_of_documents() {
        // Nothing is written if pruning would remove too much.
        stale = to_prune(job, &manifest, &job.planned(&HashSet::new())?)?;
    }
    let ours = Ours::read(Some(&dir), &manifest)?;
    let record = foreign::check(stamp, job, &dir, &ours)?;
    dir.begin(&record, job.options.fsync)?;
    let (done, mut report) = drive(stamp, job, &|_| {}, &|| DiskSink::new(job, &dir, &ours))?;
    done.iter().for_each(|(counts, _)| report.add(counts));
    let written = sinks::entries(job, done.into_iter().flat_map(|(_, written)| written));
    let made = || written.iter().map(|(path, _)| path.as_str());
    if job.options.prune && is_known_after(job, &report) {
        let found = made_after(job, &report, made()).and_then(|made| to_prune(job, &manifest, &made));
        stale = found.unwrap_or_else(|error| {
            report.errors.push(error);
            Deletions::default()
        });
    }
    report.notes.extend(stale.note());
    manifest.extend(written.into_iter());
    match finish(job, &dir, &mut manifest, &stale.paths, &mut report) {
        Ok(()) => dir.end(),
        // The record stays, because the manifest does not list the new files.
        Err(error) => report.errors.push(error),
    }
    Ok(report)
}

/// Returns the files to prune if clusters make the paths `made`.
///
/// # Errors
/// `plan.mass_delete`.
fn to_prune(job: &Job<'_>, manifest: &Manifest, made: &SortedKeys) -> Result<Deletions> {
    let found = Deletions::find(job, manifest, made)?;
    Manifest::guard(found.paths.len(), found.of_run, job.options.prune_force)?;
    Ok(found)
}

/// Returns `true` if the paths of a run are known only after rendering.
fn is_known_after(job: &Job<'_>, report: &Report) -> bool {
    job.plan.is_of_documents() || !report.blank.is_empty()
}

/// Returns the paths of a run after rendering: those of documents, or else all but those of outputs that make no file.
///
/// # Errors
/// Errors of reading clusters and of temporary files.
fn made_after<'p>(
    job: &Job<'_>,
    report: &Report,
    mut of_documents: impl Iterator<Item = &'p str>,
) -> Result<SortedKeys> {
    if !job.plan.is_of_documents() {
        return job.planned(&report.blank.iter().map(String::as_str).collect());
    }
    let mut made = KeySet::default();
    of_documents.try_for_each(|path| made.add(path))?;
    made.sort()
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
    let ours = Ours::read(dir.as_ref(), &manifest)?;
    let turns = Turns::new(on_preview);
    let sink = || PreviewSink::new(job, dir.as_ref(), &ours, &turns);
    let (done, mut report) = drive(stamp, job, &|at| turns.close(at), &sink)?;
    let (mut foreign_files, mut documents) = (0, Vec::new());
    for (counts, found) in done {
        report.add(&counts);
        foreign_files += found.foreign;
        documents.extend(found.documents);
    }
    if foreign_files > 0 && !job.options.force {
        report.warnings.push(foreign::warning(foreign_files));
    }
    // The documents of clusters that failed are unknown.
    let is_known = !job.plan.is_of_documents() || report.is_complete();
    if is_known && (job.options.prune || job.options.deletions) {
        let made = made_after(job, &report, documents.iter().map(String::as_str))?;
        let found = Deletions::find(job, &manifest, &made)?;
        report.notes.extend(found.note());
        preview_deletions(&found, &manifest, dir.as_ref(), &mut report, &turns)?;
    }
    Ok(report)
}

/// Passes on the files that exist and that nothing makes any more.
fn preview_deletions(
    found: &Deletions,
    manifest: &Manifest,
    dir: Option<&OutputDir>,
    report: &mut Report,
    turns: &Turns<OnPreview<'_>>,
) -> Result<()> {
    let mut reader = OutputReader::new(dir);
    for path in &found.paths {
        // Someone may have edited the manifest.
        let old = match check_path(path).and_then(|()| reader.read(path)) {
            Ok(Some(old)) => String::from_utf8_lossy(old),
            _ => continue,
        };
        report.deleted += 1;
        let maker = manifest.get(path).and_then(|entry| entry.maker.as_ref());
        let (cluster, template) = maker.map_or(("", ""), |maker| (&*maker.cluster, &*maker.template));
        let deletion = FilePreview { path, cluster, template, change: None, old: &old, new: "" };
        (turns.lock().out)(&deletion).map_err(cannot_write)?;
    }
    Ok(())
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
