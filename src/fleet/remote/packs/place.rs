//! The places of packs: a directory, or a prefix of an object store.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::part::{PackFormat, failed};
use crate::known_files::RUN_RECORD;
use crate::output_dir::{OutputDir, cannot};
use crate::output_files::{open_existing, remove};
use crate::remote::prefix::Locking;
use crate::state::OwnFiles as _;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::{Condition, LOCK, Lock, Revision, Store, UploadOptions, upload_file};
use serde::{Deserialize, Serialize};

/// Options of a run that writes packs.
#[derive(Debug, Clone, Copy)]
pub struct PackOptions {
    /// The format.
    pub format: PackFormat,
    /// The number of bytes of outputs after which a pack ends, including headers of the format. A cluster is in one pack.
    pub bytes: u64,
    /// The use of the lock of a prefix. A directory is always locked.
    pub locking: Locking,
}

impl PackOptions {
    /// Returns the options for packs of 256 MiB before compression, with a lock.
    pub fn new(format: PackFormat) -> Self {
        Self { format, bytes: 256 << 20, locking: Locking::Take }
    }
}

/// A place that packs are written to.
#[derive(Debug)]
pub enum PackTarget<'p> {
    /// A directory.
    Directory(&'p Path),
    /// The objects below the prefix of a store.
    Store(&'p Store),
}

/// The path of the list.
pub(super) const LIST: &str = ".dropforge/packs";
/// The path of the list of earlier versions. A run reads it once, and writes a list in its place.
pub(super) const OLD_LIST: &str = ".dropforge-packs.json";
/// Maximum length of a list: some 400,000 packs.
pub(super) const MAX_LIST: u64 = 128 << 20;
/// Maximum number of bytes of an index, or of a pack without one, that are read to find an output.
const MAX_FILE: u64 = 1 << 30;

/// A file of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListedFile {
    /// The name below the place.
    pub(super) path: String,
    /// The BLAKE3 hash of the content, in hexadecimal digits.
    pub(super) hash: String,
    /// The ETag of the object. None for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

/// A place that packs are written to.
pub(super) trait PackPlace: Sync {
    /// Returns the path or URL of a file, for messages.
    fn name_of(&self, path: &str) -> String;

    /// Reads a file, or a part of it. Returns `None` if there is none.
    fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Option<Vec<u8>>>;

    /// Reads the list of packs, if there is one.
    fn read_list(&self) -> Result<Option<Vec<u8>>>;

    /// Replaces the list that was read or written last.
    ///
    /// # Errors
    /// `store.changed` if someone else has replaced it since.
    fn write_list(&self, json: &[u8]) -> Result<()>;

    /// Returns the state of a file that may be listed.
    fn state(&self, path: &str, listed: Option<&ListedFile>) -> Result<FileState>;

    /// Writes a file in this state. Returns its ETag, if it has one.
    fn put(&self, path: &str, file: &File, state: &FileState) -> Result<Option<String>>;

    /// Removes a file, unless it has changed since it was listed. Returns `Some(true)` if it was removed, and `None` if
    /// there is no such file.
    fn remove(&self, listed: &ListedFile) -> Result<Option<bool>>;

    /// Removes the list, and the place if it has nothing else.
    fn clear(&self) -> Result<()>;

    /// Marks the end of the run.
    fn end(&self) {}
}

/// The state of a file in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileState {
    Missing,
    /// It has the listed content.
    Listed,
    /// It has, or may have, other content than listed.
    Other(Option<Revision>),
}

/// No place: there is no directory yet.
pub(super) struct Nowhere;

impl PackPlace for Nowhere {
    fn name_of(&self, path: &str) -> String {
        path.to_owned()
    }

    fn read(&self, _: &str, _: Option<Range<u64>>) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn read_list(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn write_list(&self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn state(&self, _: &str, _: Option<&ListedFile>) -> Result<FileState> {
        Ok(FileState::Missing)
    }

    fn put(&self, _: &str, _: &File, _: &FileState) -> Result<Option<String>> {
        Ok(None)
    }

    fn remove(&self, _: &ListedFile) -> Result<Option<bool>> {
        Ok(None)
    }

    fn clear(&self) -> Result<()> {
        Ok(())
    }
}

/// A directory.
pub(super) struct DirectoryPlace {
    dir: OutputDir,
    fsync: bool,
    /// A run without packs was killed here. Its record stays.
    has_record: bool,
}

impl DirectoryPlace {
    /// Opens and locks the directory for writing.
    pub(super) fn create(path: &Path, fsync: bool) -> Result<Self> {
        let dir = OutputDir::create(path)?;
        dir.lock(true)?;
        let length = |file: File| file.metadata().map(|meta| meta.len()).map_err(failed);
        let record = dir.open_own(RUN_RECORD)?.map(length).transpose()?;
        match record {
            Some(_) => dir.sweep()?,
            None => _ = dir.write_own(RUN_RECORD, fsync, &mut |_| Ok(()))?,
        }
        // The record of a run with packs is empty.
        Ok(Self { dir, fsync, has_record: record.is_some_and(|length| length > 0) })
    }

    /// Opens the directory for reading, if it exists.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let Some(dir) = OutputDir::open(path)? else { return Ok(None) };
        dir.lock(false)?;
        Ok(Some(Self { dir, fsync: false, has_record: true }))
    }

    fn write(&self, path: &str, from: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> Result<()> {
        let written = self.dir.write_own(path, self.fsync, &mut |write| {
            let mut bytes = vec![0; 1 << 16];
            loop {
                let read = from(&mut bytes).map_err(failed)?;
                if read == 0 {
                    return Ok(());
                }
                write(bytes.get(..read).unwrap_or_default())?;
            }
        });
        written.map(|_| ())
    }
}

impl PackPlace for DirectoryPlace {
    fn name_of(&self, path: &str) -> String {
        self.dir.full_path(path).display().to_string()
    }

    fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Option<Vec<u8>>> {
        let Some(mut file) = open_existing(&self.dir, path)? else { return Ok(None) };
        let (mut bytes, Range { start, end }) = (Vec::new(), range.unwrap_or(0..MAX_FILE));
        let read = file.seek(SeekFrom::Start(start));
        let read = read.and_then(|_| file.take(end.saturating_sub(start)).read_to_end(&mut bytes));
        read.map(|_| Some(bytes)).map_err(|error| cannot("read", &self.dir.full_path(path), error))
    }

    fn read_list(&self) -> Result<Option<Vec<u8>>> {
        let file = open_existing(&self.dir, LIST)?
            .map_or_else(|| open_existing(&self.dir, OLD_LIST), |file| Ok(Some(file)))?;
        let Some(file) = file else { return Ok(None) };
        let (mut bytes, fail) = (Vec::new(), |error| cannot("read", &self.dir.full_path(LIST), error));
        file.take(MAX_LIST).read_to_end(&mut bytes).map_err(fail)?;
        Ok(Some(bytes))
    }

    fn write_list(&self, mut json: &[u8]) -> Result<()> {
        self.write(LIST, &mut |to| json.read(to))?;
        self.dir.remove_own(OLD_LIST)
    }

    fn state(&self, path: &str, listed: Option<&ListedFile>) -> Result<FileState> {
        let Some(file) = open_existing(&self.dir, path)? else { return Ok(FileState::Missing) };
        let Some(listed) = listed else { return Ok(FileState::Other(None)) };
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file).map_err(|error| cannot("read", &self.dir.full_path(path), error))?;
        let is_same = hasher.finalize().to_hex().as_str() == listed.hash;
        Ok(if is_same { FileState::Listed } else { FileState::Other(None) })
    }

    fn put(&self, path: &str, mut file: &File, _: &FileState) -> Result<Option<String>> {
        file.rewind().map_err(failed)?;
        self.write(path, &mut |to| file.read(to))?;
        Ok(None)
    }

    fn remove(&self, listed: &ListedFile) -> Result<Option<bool>> {
        match self.state(&listed.path, Some(listed))? {
            FileState::Missing => Ok(None),
            FileState::Other(_) => Ok(Some(false)),
            FileState::Listed => remove(&self.dir, &listed.path, |_| true),
        }
    }

    fn clear(&self) -> Result<()> {
        self.dir.remove_own(LIST)?;
        self.end();
        // It may have files of others.
        let _ = std::fs::remove_dir(self.dir.full_path(""));
        Ok(())
    }

    fn end(&self) {
        if !self.has_record {
            // If the record stays, the next run sweeps in vain.
            let _ = self.dir.remove_own(RUN_RECORD);
        }
    }
}

/// A prefix of an object store.
pub(super) struct StorePlace {
    store: Store,
    lock: Option<Lock>,
    /// The version of the list that was read or written last.
    list: Mutex<Option<Revision>>,
    /// `true` if there is a list of an earlier version.
    has_old: AtomicBool,
}

impl StorePlace {
    /// Locks the prefix for writing.
    pub(super) fn lock(store: &Store, locking: Locking) -> Result<Self> {
        Ok(Self { lock: locking.lock(store)?, ..Self::unlocked(store) })
    }

    /// Locks the prefix of a shard, the second one, for writing.
    pub(super) fn lock_shard((whole, own): (&Store, &Store), locking: Locking, stop: &AtomicBool) -> Result<Self> {
        Ok(Self { lock: locking.lock_shard(whole, own, stop)?, ..Self::unlocked(own) })
    }

    /// Opens the prefix for reading.
    pub(super) fn unlocked(store: &Store) -> Self {
        Self { store: store.clone(), lock: None, list: Mutex::default(), has_old: AtomicBool::new(false) }
    }

    fn options(&self) -> UploadOptions {
        UploadOptions { guard: self.lock.as_ref().map(Lock::guard), ..UploadOptions::default() }
    }

    fn check(&self) -> Result<()> {
        match self.lock.as_ref().map(Lock::guard).filter(|guard| !guard.is_held()) {
            Some(guard) => Err(guard.lost()),
            None => Ok(()),
        }
    }
}

/// Returns the condition that an object is as it was, or absent.
fn unchanged(revision: Option<&Revision>) -> Condition {
    revision.map_or(Condition::Absent, |revision| Condition::Match(revision.clone()))
}

impl PackPlace for StorePlace {
    fn name_of(&self, path: &str) -> String {
        self.store.url_of(path)
    }

    fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Option<Vec<u8>>> {
        let Some(Range { start, end }) = range else {
            return Ok(self.store.get(path, MAX_FILE)?.map(|object| object.bytes.to_vec()));
        };
        let Some(object) = self.store.head(path)? else { return Ok(None) };
        self.store.get_range(path, start, end, &object.revision).map(|bytes| Some(bytes.to_vec()))
    }

    fn read_list(&self) -> Result<Option<Vec<u8>>> {
        let Some(object) = self.store.get(LIST, MAX_LIST)? else {
            let old = self.store.get(OLD_LIST, MAX_LIST)?;
            self.has_old.store(old.is_some(), Ordering::Relaxed);
            return Ok(old.map(|object| object.bytes.to_vec()));
        };
        *self.list.lock().unwrap_or_else(PoisonError::into_inner) = Some(object.revision);
        Ok(Some(object.bytes.to_vec()))
    }

    fn write_list(&self, json: &[u8]) -> Result<()> {
        self.check()?;
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let put = |condition| self.store.put(LIST, json.to_vec().into(), condition);
        let revision = match put(unchanged(list.as_ref())) {
            // Without a lock the user vouches for it that nobody else writes.
            Err(error) if error.code == Code::NoConditions && self.lock.is_none() => put(Condition::Always)?,
            result => result?,
        };
        *list = Some(revision);
        if self.has_old.swap(false, Ordering::Relaxed) { self.store.delete(OLD_LIST).map(drop) } else { Ok(()) }
    }

    fn state(&self, path: &str, listed: Option<&ListedFile>) -> Result<FileState> {
        let Some(object) = self.store.head(path)? else { return Ok(FileState::Missing) };
        let tag = object.revision.tag();
        let is_same = listed.is_some_and(|listed| tag.is_some() && listed.tag.as_deref() == tag);
        Ok(if is_same { FileState::Listed } else { FileState::Other(Some(object.revision)) })
    }

    fn put(&self, path: &str, file: &File, state: &FileState) -> Result<Option<String>> {
        let condition = match state {
            _ if self.lock.is_none() => Condition::Always,
            FileState::Missing => Condition::Absent,
            FileState::Listed => Condition::Always,
            FileState::Other(revision) => unchanged(revision.as_ref()),
        };
        let revision = upload_file(&self.store, path, file, condition, &self.options())?;
        Ok(revision.tag().map(str::to_owned))
    }

    fn remove(&self, listed: &ListedFile) -> Result<Option<bool>> {
        self.check()?;
        match self.state(&listed.path, Some(listed))? {
            FileState::Missing => Ok(None),
            FileState::Other(_) => Ok(Some(false)),
            FileState::Listed => self.store.delete(&listed.path).map(|()| Some(true)),
        }
    }

    fn clear(&self) -> Result<()> {
        self.store.delete(LIST)?;
        self.store.delete(LOCK)
    }
}

/// Returns the error of a file that dropforge did not write.
pub(super) fn foreign(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::ForeignFile, format!("`{name}` would be overwritten, but dropforge did not write it"))
        .with_help("move it, use another directory or prefix, or overwrite it with `--force`")
}
