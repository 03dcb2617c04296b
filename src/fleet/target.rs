//! The places that a run writes to, and what it does there.

use std::io::{self, Write};
use std::path::Path;

use super::fleet::FleetStream;
use super::job::{FilePreview, Job, Stamp};
use super::output_files::Change;
#[cfg(feature = "remote")]
use super::remote::{
    Locking, PackOptions, Place, check_packs, finish_packs, finish_shards_in_store, preview_of_store, stamp_packs,
    stamp_stream_to_store, stamp_to_store, stream_to_store,
};
use super::report::Report;
use super::selector::Selector;
use super::shards::finish_shards;
use super::sinks::OnPreview;
use super::stamp::{preview, stamp, stream};
use super::stream_file::StreamFile;
use super::streamed::StreamJob;
use super::workers::cannot_write;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
#[cfg(feature = "remote")]
use dropforge_remote::Store;

/// Maximum length of an object that is compared with a stream.
#[cfg(feature = "remote")]
const MAX: u64 = 1 << 30;

/// The place that a run writes to.
pub enum RunTarget<'t> {
    /// A directory with a file for each output.
    Directory(&'t Path),
    /// One file for the whole fleet.
    File(&'t Path),
    /// One stream for the whole fleet.
    Stream(&'t mut (dyn Write + Send)),
    /// A prefix of an object store with an object for each output.
    #[cfg(feature = "remote")]
    Objects(Store, Locking),
    /// One object for the whole fleet: its store, key and URL.
    #[cfg(feature = "remote")]
    Object(Store, String, String),
    /// A directory with packs of many outputs.
    #[cfg(feature = "remote")]
    Packs(&'t Path, PackOptions),
    /// A prefix of an object store with packs of many outputs.
    #[cfg(feature = "remote")]
    StorePacks(Store, PackOptions),
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
            (Self::Objects(store, locking), mode) => match mode {
                RunMode::Write => stamp_to_store(renderer, job, &store, locking),
                RunMode::Preview(each) => preview_of_store(renderer, job, &store, each),
                RunMode::Batches(mut fleet) => {
                    stamp_stream_to_store(renderer, &batches, &mut fleet, &store, locking)
                }
                RunMode::Finish { plan, count } => finish_shards_in_store(job, plan, count, &store, locking),
            },
            #[cfg(feature = "remote")]
            (Self::Object(store, key, url), RunMode::Write) => match stream_to_store(renderer, job, &store, &key)? {
                (report, Some(change)) => Ok(of_one_file(report, change)),
                (report, None) => Ok(kept_old(&url, report)),
            },
            #[cfg(feature = "remote")]
            (Self::Object(store, key, url), RunMode::Preview(each)) => {
                let old = store.get(&key, MAX)?.map(|object| object.bytes.to_vec());
                compare(&url, old, each, |out| stream(renderer, job, out))
            }
            #[cfg(feature = "remote")]
            (Self::Packs(path, options), mode) => packs(renderer, job, (&Place::Directory(path), &options), mode),
            #[cfg(feature = "remote")]
            (Self::StorePacks(store, options), mode) => packs(renderer, job, (&Place::Store(&store), &options), mode),
            _ => Err(unfit()),
        }
    }
}

#[cfg(feature = "remote")]
fn packs<S: Stamp>(
    renderer: &S,
    job: &Job<'_>,
    (place, options): (&Place<'_>, &PackOptions),
    mode: RunMode<'_>,
) -> Result<Report> {
    match mode {
        RunMode::Write => stamp_packs(renderer, job, place, options),
        RunMode::Preview(each) => check_packs(renderer, job, place, options, each),
        RunMode::Finish { plan, count } => finish_packs(job, plan, count, place, options),
        RunMode::Batches(_) => Err(unfit()),
    }
}

fn unfit() -> Box<Diagnostic> {
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
fn compare(
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
fn of_one_file(report: Report, change: Change) -> Report {
    let count = |other: Change| usize::from(change == other);
    let (created, updated) = (count(Change::Create), count(Change::Update));
    Report { created, updated, unchanged: count(Change::Unchanged), ..report }
}

/// Returns the report of a run that left the file or object at `path` as it was.
fn kept_old(path: &str, report: Report) -> Report {
    let warning = format!("kept the old `{path}` because the run is incomplete");
    Report { created: 0, warnings: vec![warning], ..report }
}
