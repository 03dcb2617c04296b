//! The places that a run writes to, and what it does there.

use std::io::{self, Write};
use std::path::Path;

use super::fleet::FleetStream;
use super::job::{FilePreview, Job, Stamp};
use super::output_files::Change;
use super::report::Report;
use super::selector::Selector;
use super::shards::finish_shards;
use super::sinks::OnPreview;
use super::stamp::{preview, stamp, stream};
use super::stream_file::StreamFile;
use super::streamed::StreamJob;
use super::workers::cannot_write;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The place that a run writes to.
pub enum RunTarget<'t> {
    /// A directory with a file for each output.
    Directory(&'t Path),
    /// One file for the whole fleet.
    File(&'t Path),
    /// One stream for the whole fleet.
    Stream(&'t mut (dyn Write + Send)),
    /// A place in an object store, or packs.
    #[cfg(feature = "remote")]
    Remote(super::remote::RemoteTarget<'t>),
}

/// What a run does with its outputs.
pub enum RunMode<'m> {
    /// Writes them.
    Write,
    /// Passes on the changes that writing would make.
    Preview(OnPreview<'m>),
    /// Writes those of clusters that are read batch by batch, instead of the fleet of the run.
    Batches(FleetStream<'m>),
    /// Writes the manifest after all shards of a plan are done.
    Finish {
        /// The digest of the plan.
        plan: &'m str,
        /// The number of shards.
        count: u32,
    },
}

impl RunTarget<'_> {
    /// Stamps, previews or finishes a run. `selector` selects clusters that are read batch by batch.
    ///
    /// # Errors
    /// Errors of the place, and of the run; `usage` if the place does not have this mode.
    pub(super) fn run<S: Stamp>(
        self,
        renderer: &S,
        job: &Job<'_>,
        selector: &Selector,
        mode: RunMode<'_>,
    ) -> Result<Report> {
        let &Job { layers, plan, options, watch, .. } = job;
        let batches = StreamJob { layers, selector, plan, options, watch };
        match (self, mode) {
            (Self::Directory(out), RunMode::Write) => stamp(renderer, job, out),
            (Self::Directory(out), RunMode::Preview(each)) => preview(renderer, job, out, each),
            (Self::Directory(out), RunMode::Batches(mut fleet)) => batches.stamp(renderer, &mut fleet, out),
            (Self::Directory(out), RunMode::Finish { plan, count }) => finish_shards(job, plan, count, out),
            (Self::File(path), RunMode::Write) => write_file(path, |out| stream(renderer, job, out)),
            (Self::File(path), RunMode::Batches(mut fleet)) => {
                write_file(path, |out| batches.stream(renderer, &mut fleet, out))
            }
            (Self::File(path), RunMode::Preview(each)) => {
                compare(&path.display().to_string(), content(path)?, each, |out| stream(renderer, job, out))
            }
            (Self::Stream(out), RunMode::Write) => stream(renderer, job, out),
            (Self::Stream(out), RunMode::Batches(mut fleet)) => batches.stream(renderer, &mut fleet, out),
            #[cfg(feature = "remote")]
            (Self::Remote(target), mode) => target.run(renderer, &batches, job, mode),
            _ => Err(unfit()),
        }
    }
}

/// Returns the error of a place without a mode.
pub(super) fn unfit() -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, "the destination does not have this mode of a run")
}

/// Writes one file, atomically. It stays as it is if the run is incomplete.
fn write_file(path: &Path, run: impl FnOnce(&mut StreamFile) -> Result<Report>) -> Result<Report> {
    let mut file = StreamFile::create(path)?;
    let report = run(&mut file)?;
    match report.is_complete() && report.errors.is_empty() {
        true => Ok(of_one_file(report, file.finish()?)),
        false => Ok(kept_old(&path.display().to_string(), report)),
    }
}

/// Returns the content of a file, if it exists.
fn content(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(old) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", path.display());
            Err(Diagnostic::new(Code::ReadFailed, message).caused_by(error))
        }
    }
}

/// Compares a stream with the `old` content of one file or object. Both texts are held in memory.
pub(super) fn compare(
    path: &str,
    old: Option<Vec<u8>>,
    each: OnPreview<'_>,
    run: impl FnOnce(&mut Vec<u8>) -> Result<Report>,
) -> Result<Report> {
    let mut new = Vec::new();
    let report = run(&mut new)?;
    let change = match &old {
        Some(old) if *old == new => return Ok(of_one_file(report, Change::Unchanged)),
        Some(_) => Change::Update,
        None => Change::Create,
    };
    let old = old.unwrap_or_default();
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    each(&FilePreview { path, cluster: "", template: "", change: Some(change), old: &old, new: &new })
        .map_err(cannot_write)?;
    Ok(of_one_file(report, change))
}

/// Converts the report of a stream, which counts outputs, to the report of one file.
pub(super) fn of_one_file(report: Report, change: Change) -> Report {
    let count = |other: Change| usize::from(change == other);
    let (created, updated) = (count(Change::Create), count(Change::Update));
    Report { created, updated, unchanged: count(Change::Unchanged), ..report }
}

/// Returns the report of a run that left the file or object at `path` as it was.
pub(super) fn kept_old(path: &str, report: Report) -> Report {
    let warning = format!("kept the old `{path}` because the run is incomplete");
    Report { created: 0, warnings: vec![warning], ..report }
}
