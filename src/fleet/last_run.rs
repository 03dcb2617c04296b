//! The last complete run into a directory. If neither what it was made of nor what it wrote has changed since, another run
//! would change nothing, and is left out.
//!
//! The note of it lies in the user's cache: it has times of files, which mean nothing elsewhere.

use std::path::Path;
use std::thread;
use std::time::Duration;

use blake3::Hasher;
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Source;
use dropforge_engine::Cache;
use rustix::fs::{AtFlags, FileType, Stat, statat};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::kept_warnings::{self, KeptWarning};
use super::known_files::RUN_RECORD;
use super::output_dir::{OutputDir, Walker};
use super::plan_digest::PlanDigest;
use super::report::Report;
use super::state::{Entry, OwnFiles, State};

/// The time in which the clock of a file system has moved on, so that a later change gives a file another time.
const TICK: Duration = Duration::from_millis(20);

/// The number of bytes that are hashed at once.
const HASHED: usize = 1 << 16;

/// The note of the last complete run into a directory.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// use dropforge::bulk::{LastRun, PlanDigest};
/// use dropforge::Cache;
/// let last = LastRun::new(Cache::new(temp.path()), &PlanDigest::default());
/// # let _ = last;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LastRun {
    cache: Cache,
    /// The digest of everything that decides what the run writes.
    plan: String,
}

/// What is noted of a run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    plan: String,
    files: [u8; 32],
    clusters: usize,
    unchanged: usize,
    bytes: u64,
    unchecked: Vec<String>,
    found: Vec<KeptWarning>,
}

/// The files of a state.
struct StateFiles {
    /// The digest of their entries and what the file system says of them.
    digest: [u8; 32],
    /// The sum of their prints.
    prints: u128,
}

/// Returns a print of a file as its writer knows it: the writer renames it later, which changes one of its times.
pub(super) fn print(path: &str, stat: &Stat) -> u128 {
    let mut bytes = path.as_bytes().to_vec();
    let numbers = [stat.st_ino as i128, stat.st_size as i128, stat.st_mtime as i128, stat.st_mtime_nsec as i128];
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    xxh3_128(&bytes)
}

impl LastRun {
    /// Returns the note in a cache of a run that `plan` decides.
    pub fn new(cache: Cache, plan: &PlanDigest) -> Self {
        Self { cache, plan: plan.finish() }
    }

    /// Returns the report of a run into `out` that would change nothing. `None` if it may.
    ///
    /// # Errors
    /// `file.locked`; errors of reading the state.
    pub(super) fn unchanged(&self, out: &Path) -> Result<Option<Report>> {
        let note = self.cache.note(&key(out)).and_then(|note| rmp_serde::from_slice::<Note>(&note).ok());
        let Some(note) = note.filter(|note| note.plan == self.plan) else { return Ok(None) };
        let Some(dir) = OutputDir::open(out)? else { return Ok(None) };
        dir.lock(true)?;
        let files = StateFiles::of(&dir)?.filter(|files| files.digest == note.files);
        let Note { clusters, unchanged, bytes, unchecked, found, .. } = note;
        let found: Option<Vec<_>> = found.into_iter().map(KeptWarning::restore).collect();
        let report =
            |found| Report { clusters, unchanged, bytes, unchecked, found, is_left_out: true, ..Report::default() };
        Ok(files.and(found).map(report))
    }

    /// Notes a run into `out` with its warnings about documents, unless another run may differ: it had something else to
    /// report, or the directory has files that it did not make. Warnings may show what is in the files that `is_shown` allows.
    ///
    /// # Errors
    /// `file.locked`; errors of reading the state.
    pub(super) fn keep(&self, out: &Path, report: &Report, is_shown: &dyn Fn(&Source) -> bool) -> Result<()> {
        let Some(found) = kept_warnings::keep(&report.found, is_shown) else { return Ok(()) };
        let has_messages = !(report.errors.is_empty() && report.warnings.is_empty() && report.notes.is_empty());
        if !report.is_complete() || has_messages || report.unreached > 0 || report.has_others {
            return Ok(());
        }
        if report.differs() {
            thread::sleep(TICK);
        }
        let Some(dir) = OutputDir::open(out)? else { return Ok(()) };
        dir.lock(true)?;
        if let Some(files) = StateFiles::of(&dir)?.filter(|files| files.prints == report.prints) {
            let unchanged = report.created + report.updated + report.unchanged;
            let (clusters, bytes, files) = (report.clusters, report.bytes, files.digest);
            let (plan, unchecked) = (self.plan.clone(), report.unchecked.clone());
            let note = Note { plan, files, clusters, unchanged, bytes, unchecked, found };
            if let Ok(note) = rmp_serde::to_vec(&note) {
                self.cache.set_note(&key(out), &note);
            }
        }
        Ok(())
    }
}

/// Returns the key of the notes of a directory.
fn key(out: &Path) -> [u8; 32] {
    let path = out.canonicalize().unwrap_or_else(|_| out.to_owned());
    blake3::derive_key("dropforge: the last run into a directory", path.as_os_str().as_encoded_bytes())
}

impl StateFiles {
    /// Looks at the files of a state. `None` if one is missing, or if a run has not ended.
    fn of(dir: &OutputDir) -> Result<Option<Self>> {
        let state = State::of(Some(dir))?;
        if dir.open_own(RUN_RECORD)?.is_some() || !state.is_settled() {
            return Ok(None);
        }
        let (mut walker, mut digest, mut prints, mut are_there) = (Walker::new(dir, false), Hasher::new(), 0, true);
        let mut bytes = Vec::new();
        state.each_with_values(&mut |entry| {
            add(&entry, &mut bytes);
            // Many bytes are hashed at once.
            if bytes.len() >= HASHED {
                digest.update(&bytes);
                bytes.clear();
            }
            if entry.is_of_values() || !are_there {
                return Ok(());
            }
            match stat(&mut walker, entry.path) {
                Some(stat) => {
                    let times = [stat.st_ctime as i128, stat.st_ctime_nsec as i128, stat.st_mode as i128];
                    let own = print(entry.path, &stat);
                    times.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
                    bytes.extend_from_slice(&own.to_le_bytes());
                    prints = u128::wrapping_add(prints, own);
                }
                None => are_there = false,
            }
            Ok(())
        })?;
        digest.update(&bytes);
        Ok(are_there.then(|| Self { digest: *digest.finalize().as_bytes(), prints }))
    }
}

/// Adds an entry of a state to the bytes that are hashed.
fn add(entry: &Entry<'_>, to: &mut Vec<u8>) {
    let (cluster, template) = entry.maker.unwrap_or_default();
    for text in [entry.path, entry.release, cluster, template, entry.tag, entry.digests] {
        to.extend_from_slice(&(text.len() as u64).to_le_bytes());
        to.extend_from_slice(text.as_bytes());
    }
}

/// Returns what the file system says of a regular file.
fn stat(walker: &mut Walker<'_>, path: &str) -> Option<Stat> {
    let (parent, name) = walker.parent(path).ok()??;
    let stat = statat(&*parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(stat)
}
