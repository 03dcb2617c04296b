//! Runs that write to object stores, and runs that write packs.
//!
//! | module | content |
//! |---|---|
//! | `prefix` | a prefix as the destination of a run: `sink`, `reader`, `own` |
//! | `packs` | many outputs in a few files, in a directory or a store |
//! | `single` | one object for the whole fleet |
//! | `target` | all of these as targets of a run |

mod own;
mod packs;
mod prefix;
mod reader;
mod sink;
mod target;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub(super) use self::own::OwnFiles;
pub use self::packs::{
    PackFormat, PackOptions, PackedOutput, check_packs, find_in_packs, finish_packs, packs_above, stamp_packs,
};
use self::prefix::Prefix;
pub use self::target::RemoteTarget;
pub use self::target::stream_to_store;
use super::fleet::FleetStream;
use super::job::{FilePreview, Job, Stamp};
use super::report::Report;
use super::shards::{PARTS, finish_shards_of};
use super::stamp::{preview_of, stamp_to};
use super::streamed::StreamJob;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_remote::{Clock, LOCK, Lock, LockOptions, Store, SystemClock};

/// The time between attempts to take the lock of a shard.
const WAIT: Duration = Duration::from_secs(5);

/// The time between looks at whether the run is to stop.
const STEP: Duration = Duration::from_millis(50);

/// The use of the lock of a prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Locking {
    /// Take the lock, or fail if another run holds it.
    #[default]
    Take,
    /// Remove the lock of another run, then take it.
    Break,
    /// Write without a lock.
    Without,
}

/// A place that packs are written to.
#[derive(Debug)]
pub enum Place<'p> {
    /// A directory.
    Directory(&'p Path),
    /// The objects below the prefix of a store.
    Store(&'p Store),
}

impl Locking {
    /// Takes the lock of the store's prefix.
    ///
    /// # Errors
    /// Errors of [`Lock::acquire`].
    fn lock(self, store: &Store) -> Result<Option<Lock>> {
        let clock = SystemClock::new();
        if !self.takes(store, &clock)? {
            return Ok(None);
        }
        let lock = Lock::acquire(store, LockOptions::default())?;
        for object in store.list(PARTS)? {
            let key = object?.key;
            let Some(shard) = key.strip_suffix(LOCK).map(|prefix| store.below(prefix)) else { continue };
            match self {
                Self::Break => _ = Lock::break_lock(&shard, &clock)?,
                _ => Lock::check_free(&shard, &clock)?,
            }
        }
        Ok(Some(lock))
    }

    /// Takes the lock of the prefix `own` of a shard. That of a shard that was killed expires after some minutes.
    ///
    /// # Errors
    /// Errors of [`Lock::acquire`]; `store.locked` if a run without shards holds the lock of the prefix.
    fn lock_shard(self, whole: &Store, own: &Store, stop: &AtomicBool) -> Result<Option<Lock>> {
        let clock = SystemClock::new();
        if !self.takes(own, &clock)? {
            return Ok(None);
        }
        let until = clock.now() + LockOptions::default().lease + WAIT;
        let lock = loop {
            match Lock::acquire(own, LockOptions::default()) {
                Err(error) if error.code == Code::StoreLocked && clock.now() < until && wait(stop) => {}
                result => break result?,
            }
        };
        Lock::check_free(whole, &clock).map(|()| Some(lock))
    }

    /// Returns `true` if the lock of `store` is to be taken. Breaks that of another run if this is wanted.
    fn takes(self, store: &Store, clock: &SystemClock) -> Result<bool> {
        if self == Self::Break {
            Lock::break_lock(store, clock)?;
        }
        Ok(self != Self::Without)
    }
}

/// Waits before the next attempt. Returns `false` as soon as the run is to stop.
fn wait(stop: &AtomicBool) -> bool {
    (0..WAIT.as_millis() / STEP.as_millis()).all(|_| {
        thread::sleep(STEP);
        !stop.load(Ordering::SeqCst)
    })
}

/// Stamps the fleet into the prefix of a store: an object for each output. Works like [`stamp`](super::stamp), with
/// concurrent puts. An object with the ETag and the hash of the manifest is not put again.
///
/// A run that loses its lock stops putting. If a put fails in all attempts, its cluster fails.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// # let templates = temp.path().join("templates");
/// # std::fs::create_dir(&templates)?;
/// # std::fs::write(templates.join("app.yaml.tera"), "name: {{ name }}\n")?;
/// # use dropforge::bulk::{self, *};
/// # use dropforge::engine::Engine;
/// # use dropforge::text::Source;
/// use dropforge::remote::Store;
/// # let set = discover(&[templates], None, &|name| dialect_of(name).is_some())?;
/// # let templates = Templates::compile(&set, None, Engine::builder())?;
/// # let names = outputs(&set.files, &mut |name| templates.references(name))?;
/// # let fleet = Source::new("fleet.csv", "name\neu-1\nus-1\n");
/// # let fleet = Fleet::read(&fleet, Format::Csv, &FleetOptions::default())?;
/// # let layers = Layers::default();
/// # let outputs = names.into_iter().map(|name| Output::new(name, &language_extensions())).collect();
/// # let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, Layout::parse(DEFAULT_LAYOUT)?)
/// #     .map_err(Failure::diagnostics)?;
/// # let stamper = templates.stamper(plan.outputs().iter().map(|output| &*output.template), &layers)?;
/// # let options = Options::default();
/// # let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
/// // A stamper and a job, as in the example of the module.
/// let store = Store::in_memory();
/// let report = bulk::stamp_to_store(&stamper, &job, &store, Locking::Take)?;
/// assert_eq!((report.created, report.failed), (2, 0));
/// assert_eq!(store.get("us-1/app.yaml", 100)?.expect("an object").bytes, "name: us-1\n");
/// let report = bulk::stamp_to_store(&stamper, &job, &store, Locking::Take)?;
/// assert_eq!(report.unchanged, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `store.locked`, `store.lock_lost`, `store.no_conditions`, `plan.mass_delete`, `plan.foreign_file`,
/// `file.bad_manifest`; errors of the store that all puts have. Failures of single clusters are in the report.
pub fn stamp_to_store(stamp: &dyn Stamp, job: &Job<'_>, store: &Store, locking: Locking) -> Result<Report> {
    let prefix = match &job.options.shard {
        None => Prefix::lock(store, locking)?,
        Some(shard) => Prefix::lock_shard(store, locking, shard, job.watch.stop)?,
    };
    stamp_to(stamp, job, &prefix)
}

/// Ends a run of `count` shards below the prefix of a store: works like [`finish_shards`](super::finish_shards).
///
/// # Errors
/// Same as [`finish_shards`](super::finish_shards); `store.locked`, also if a shard still runs; errors of the store.
pub fn finish_shards_in_store(
    job: &Job<'_>,
    plan: &str,
    count: u32,
    store: &Store,
    locking: Locking,
) -> Result<Report> {
    finish_shards_of(job, plan, count, &Prefix::lock(store, locking)?)
}

/// Stamps the clusters of `fleet` into the prefix of a store: works like [`StreamJob::stamp`].
///
/// # Errors
/// Same as [`StreamJob::stamp`] and [`stamp_to_store`].
pub fn stamp_stream_to_store(
    stamp: &dyn Stamp,
    job: &StreamJob<'_>,
    fleet: &mut FleetStream<'_>,
    store: &Store,
    locking: Locking,
) -> Result<Report> {
    job.stamp_to(stamp, fleet, &Prefix::lock(store, locking)?)
}

/// Renders everything and calls `on_preview`, in fleet order, with each change that a run would make below the prefix of
/// a store. Takes no lock, and reads only objects that would change.
///
/// # Errors
/// Same as [`preview`](super::preview); errors of the store.
pub fn preview_of_store(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    store: &Store,
    on_preview: &mut (dyn FnMut(&FilePreview<'_>) -> io::Result<()> + Send),
) -> Result<Report> {
    preview_of(stamp, job, Some(&Prefix::unlocked(store)?), on_preview)
}

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
