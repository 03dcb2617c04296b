//! A prefix of an object store that a run writes to.
//!
//! Its objects are listed once, at the start. Of each only hashes are kept, on disk: of its path, and of its path with
//! its ETag. An object that still has the ETag of the state has the content of the state, so it is neither read nor
//! put again.

use std::fs::File;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::own::OwnObjects;
use super::sink::StoreSink;
use crate::destination::{Destination, FileReader, Files};
use crate::job::Job;
use crate::key_set::{KeySet, SortedKeys};
use crate::known_files::KnownFiles;
use crate::lock;
use crate::output_files::{Change, WriteParts};
use crate::output_path::check_path;
use crate::shards::{PARTS, PlanShard};
use crate::state::{Entry, OwnFiles, State};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::{Clock, Guard, LOCK, Lane, Lock, LockOptions, Object, PutOptions, Putter, Store, SystemClock};

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

impl Locking {
    /// Takes the lock of the store's prefix.
    ///
    /// # Errors
    /// Errors of [`Lock::acquire`].
    pub(super) fn lock(self, store: &Store) -> Result<Option<Lock>> {
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
    pub(super) fn lock_shard(self, whole: &Store, own: &Store, stop: &AtomicBool) -> Result<Option<Lock>> {
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

/// The objects below a prefix.
pub(super) struct Prefix {
    pub(super) store: Store,
    lock: Option<Lock>,
    pub(super) putter: Putter,
    own: OwnObjects,
    /// Paths of the objects at the start.
    present: SortedKeys,
    /// Paths with ETags of the objects at the start.
    versions: SortedKeys,
    /// Paths with hashes of the objects that are as the state says.
    current: SortedKeys,
    /// `true` if the state lists all objects.
    all_listed: bool,
    /// The deletions underway.
    deletions: Mutex<Lane<()>>,
}

/// Separates the parts of keys. No path has it.
const SEPARATOR: &str = "\0";

fn key(path: &str, other: &str) -> String {
    [path, other].join(SEPARATOR)
}

/// Returns the key of an object with a content.
fn content_key(path: &str, hash: &blake3::Hash) -> String {
    key(path, &hash.to_hex())
}

impl Prefix {
    /// Locks the prefix for writing, and lists its objects.
    ///
    /// # Errors
    /// Errors of [`Lock::acquire`], of listing, and of reading the state.
    pub(super) fn lock(store: &Store, locking: Locking) -> Result<Self> {
        Self::open(store, locking.lock(store)?)
    }

    /// Locks the part of a shard for writing, and lists the objects of the prefix. Waits for the lock of a shard that was
    /// killed until it expires, or `stop` is set.
    ///
    /// # Errors
    /// Same as [`Prefix::lock`].
    pub(super) fn lock_shard(store: &Store, locking: Locking, shard: &PlanShard, stop: &AtomicBool) -> Result<Self> {
        Self::open(store, locking.lock_shard(store, &store.below(&shard.lock()), stop)?)
    }

    /// Lists the objects, for reading.
    ///
    /// # Errors
    /// Errors of listing, and of reading the state.
    pub(super) fn unlocked(store: &Store) -> Result<Self> {
        Self::open(store, None)
    }

    fn open(store: &Store, lock: Option<Lock>) -> Result<Self> {
        let guard = lock.as_ref().map(Lock::guard);
        let putter = Putter::new(store, PutOptions { guard, ..PutOptions::default() });
        let (mut present, mut versions, mut count) = (KeySet::default(), KeySet::default(), 0);
        for object in store.list("")? {
            let object = object?;
            // Names that no output can have are our own, such as those of the state, or of no interest.
            if check_path(&object.key).is_ok() {
                present.add(&object.key)?;
                versions.add(&key(&object.key, object.revision.tag().unwrap_or("")))?;
                count += 1;
            }
        }
        let mut prefix = Self {
            own: OwnObjects::new(store, lock.as_ref().map(Lock::guard)),
            deletions: Mutex::new(putter.lane()),
            store: store.clone(),
            lock,
            putter,
            present: present.sort()?,
            versions: versions.sort()?,
            current: SortedKeys::default(),
            all_listed: false,
        };
        prefix.compare(count)?;
        Ok(prefix)
    }

    /// Finds the objects that are as the state says. There are `count` objects.
    fn compare(&mut self, count: u64) -> Result<()> {
        let (state, mut current, mut listed) = (State::of(Some(self))?, KeySet::default(), 0);
        state.each(&mut |entry| {
            listed += u64::from(self.present.contains(entry.path)?);
            match self.is_unchanged(entry)? {
                true => entry.hashes().try_for_each(|hash| current.add(&content_key(entry.path, &hash))),
                false => Ok(()),
            }
        })?;
        self.current = current.sort()?;
        self.all_listed = listed == count;
        Ok(())
    }

    /// Returns `true` if the object has the ETag of the state.
    fn is_unchanged(&self, entry: Entry<'_>) -> Result<bool> {
        Ok(!entry.tag.is_empty() && self.versions.contains(&key(entry.path, entry.tag))?)
    }

    /// Returns `true` if there was such an object at the start.
    pub(super) fn has(&self, path: &str) -> Result<bool> {
        self.present.contains(path)
    }

    /// Returns `true` if the object had this content at the start, by the state and the ETag.
    pub(super) fn has_content(&self, path: &str, hash: &blake3::Hash) -> Result<bool> {
        self.current.contains(&content_key(path, hash))
    }

    /// Returns the guard of the lock, if there is a lock.
    pub(super) fn guard(&self) -> Option<Guard> {
        self.lock.as_ref().map(Lock::guard)
    }

    /// Waits for all deletions.
    ///
    /// # Errors
    /// The first error of a deletion.
    fn settle(&self) -> Result<()> {
        lock(&self.deletions).finish().into_iter().try_for_each(|outcome| outcome.result.map(|_| ()))
    }
}

impl OwnFiles for Prefix {
    fn has_one_file(&self) -> bool {
        self.own.has_one_file()
    }

    fn open_own(&self, name: &str) -> Result<Option<File>> {
        self.own.open_own(name)
    }

    fn write_own(&self, name: &str, fsync: bool, write: WriteParts<'_>) -> Result<Change> {
        self.settle()?;
        self.own.write_own(name, fsync, write)
    }

    fn each_own(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        self.own.each_own(directory, each)
    }

    fn remove_own(&self, name: &str) -> Result<()> {
        self.settle()?;
        self.own.remove_own(name)
    }
}

impl Destination for Prefix {
    type Reader<'d> = StoreReader<'d>;
    type Sink<'d> = StoreSink<'d>;

    fn sweep(&self) -> Result<()> {
        // Objects appear whole or not at all.
        Ok(())
    }

    fn is_fresh(&self) -> bool {
        self.present.is_empty()
    }

    fn each_file(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        // The caller looks for files that the state does not list. A listing of each cluster costs a request.
        if self.all_listed {
            return Ok(());
        }
        for object in self.store.list(directory)? {
            let object = object?;
            if check_path(&object.key).is_ok() {
                each(&object.key)?;
            }
        }
        Ok(())
    }

    fn reader(&self) -> StoreReader<'_> {
        StoreReader::new(self)
    }

    fn sink<'d>(&'d self, job: &Job<'d>, known: &'d KnownFiles<'d>, files: &'d Mutex<Files>) -> StoreSink<'d> {
        StoreSink::new(job, self, known, files)
    }

    /// Starts to remove the object. The state is only written after all objects are removed.
    fn remove(&self, entry: Entry<'_>) -> Result<Option<bool>> {
        if !self.has(entry.path)? {
            return Ok(None);
        }
        if let Some(error) = self.putter.stopped() {
            return Err(error);
        }
        if !self.is_unchanged(entry)? {
            match StoreReader::new(self).content(entry.path)? {
                None => return Ok(None),
                Some(object) if !entry.has_content(&blake3::hash(&object.bytes)) => return Ok(Some(false)),
                Some(_) => {}
            }
        }
        let mut lane = lock(&self.deletions);
        lane.delete((), entry.path);
        let failed: Option<Box<Diagnostic>> = lane.ready().into_iter().find_map(|outcome| outcome.result.err());
        failed.map_or(Ok(Some(true)), Err)
    }
}

/// Maximum length of an object that is compared with an output.
const MAX: u64 = 1 << 30;

/// Reads objects.
pub(super) struct StoreReader<'p> {
    prefix: &'p Prefix,
    last: Option<Object>,
}

impl<'p> StoreReader<'p> {
    pub(super) fn new(prefix: &'p Prefix) -> Self {
        Self { prefix, last: None }
    }

    /// Reads an object that was there at the start.
    ///
    /// # Errors
    /// `limit.source_bytes` for one of more than 1 GiB; errors of the store.
    pub(super) fn content(&self, path: &str) -> Result<Option<Object>> {
        if self.prefix.has(path)? { self.prefix.store.get(path, MAX) } else { Ok(None) }
    }
}

impl FileReader for StoreReader<'_> {
    fn exists(&mut self, path: &str) -> Result<bool> {
        self.prefix.has(path)
    }

    fn is_current(&mut self, path: &str, content: &[u8]) -> Result<bool> {
        self.prefix.has_content(path, &blake3::hash(content))
    }

    fn read(&mut self, path: &str) -> Result<Option<(&[u8], Option<bool>)>> {
        self.last = self.content(path)?;
        Ok(self.last.as_ref().map(|object| (&object.bytes[..], None)))
    }
}
