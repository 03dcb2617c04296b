//! Files as objects. Long ones are put in parts, several at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;
use object_store::multipart::PartId;

use super::lock::Guard;
use super::store::{Condition, Revision, Store};
use super::task::Task;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// Maximum number of parts. S3 allows 10,000.
const PARTS: u64 = 9_000;

/// The bounds of an upload.
#[derive(Debug, Clone)]
pub struct UploadOptions {
    /// Maximum number of bytes that are put at once. Longer objects are put in parts.
    pub whole: u64,
    /// The number of bytes of a part. S3 wants 5 MiB or more. Parts of objects above 9,000 parts are longer.
    pub part: u64,
    /// Maximum number of parts at a time.
    pub parallel: usize,
    /// The lock without which nothing is written, checked before each request.
    pub guard: Option<Guard>,
}

impl Default for UploadOptions {
    /// Parts of 8 MiB for more than 16 MiB, 4 at a time, without a lock.
    fn default() -> Self {
        Self { whole: 16 << 20, part: 8 << 20, parallel: 4, guard: None }
    }
}

/// Puts the whole content of a file as an object. It appears whole or not at all.
///
/// A store checks the `condition` of an object that is put at once. That of a longer one is checked right before its
/// parts are put together, which another writer can still come between: hold a lock.
///
/// ```
/// use dropforge::remote::{Condition, Store, UploadOptions, upload_file};
/// # use std::io::Write;
/// let mut file = tempfile::tempfile()?;
/// file.write_all(b"a: 1\n")?;
/// let store = Store::in_memory();
/// upload_file(&store, "a.yaml", &file, Condition::Absent, &UploadOptions::default())?;
/// assert_eq!(store.get("a.yaml", 100)?.expect("an object").bytes, "a: 1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `file.read_failed`; `store.changed` if the condition does not hold; `store.lock_lost`; errors of the store.
pub fn upload_file(
    store: &Store,
    key: &str,
    file: &File,
    condition: Condition,
    options: &UploadOptions,
) -> Result<Revision> {
    let size = file.metadata().map_err(|error| unreadable(store, key, error))?.len();
    if size > options.whole {
        return Upload { store, key, file, size, options }.run(&condition);
    }
    check(options)?;
    let bytes = read(file, 0, size).map_err(|error| unreadable(store, key, error))?;
    store.put(key, bytes, condition)
}

/// An upload in parts.
struct Upload<'u> {
    store: &'u Store,
    key: &'u str,
    file: &'u File,
    size: u64,
    options: &'u UploadOptions,
}

impl Upload<'_> {
    fn run(&self, condition: &Condition) -> Result<Revision> {
        check(self.options)?;
        let task = self.store.task(self.key)?;
        let begin = task.clone();
        let id = self.store.run("write", self.key, async move { begin.begin_parts().await })?;
        let result = self.parts(&task, &id).and_then(|parts| {
            check(self.options)?;
            self.check_condition(condition)?;
            let (end, id, size) = (task.clone(), id.clone(), self.size);
            self.store.run("write", self.key, async move { end.end_parts(&id, &parts, size).await })
        });
        if result.is_err() {
            // Parts that are left cost money until the bucket's rules remove them.
            let _ = self.store.run("delete", self.key, async move { task.discard_parts(&id).await });
        }
        result
    }

    /// Uploads all parts and returns their ids in order.
    fn parts(&self, task: &Task, id: &str) -> Result<Vec<PartId>> {
        let part = self.options.part.max(self.size.div_ceil(PARTS)).max(1);
        let count = usize::try_from(self.size.div_ceil(part)).unwrap_or(usize::MAX);
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..self.options.parallel.clamp(1, count.max(1)) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number >= count {
                            return;
                        }
                        let result = self.part(task, id, number, part);
                        if result.is_err() {
                            next.store(count, Ordering::SeqCst);
                        }
                        results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, result));
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        results.small_sort_by_key(|(number, _)| *number);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn part(&self, task: &Task, id: &str, number: usize, part: u64) -> Result<PartId> {
        check(self.options)?;
        let start = part.saturating_mul(number as u64);
        let bytes = read(self.file, start, part.min(self.size.saturating_sub(start)));
        let bytes = bytes.map_err(|error| unreadable(self.store, self.key, error))?;
        let (task, id) = (task.clone(), id.to_owned());
        self.store.run("write", self.key, async move { task.put_part(&id, number, &bytes).await })
    }

    /// Checks the version of the object now.
    fn check_condition(&self, condition: &Condition) -> Result<()> {
        let holds = match condition {
            Condition::Always => true,
            Condition::Absent => self.store.head(self.key)?.is_none(),
            Condition::Match(revision) => {
                self.store.head(self.key)?.is_some_and(|object| object.revision.etag() == revision.etag())
            }
        };
        if holds {
            return Ok(());
        }
        let message = format!("cannot write `{}`: another writer has changed it", self.store.url_of(self.key));
        Err(Diagnostic::new(Code::StoreChanged, message).with_help("run the command again"))
    }
}

fn check(options: &UploadOptions) -> Result<()> {
    match options.guard.as_ref().filter(|guard| !guard.is_held()) {
        Some(guard) => Err(guard.lost()),
        None => Ok(()),
    }
}

fn read(file: &File, start: u64, count: u64) -> io::Result<Bytes> {
    let mut bytes = vec![0; usize::try_from(count).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes.into())
}

fn unreadable(store: &Store, key: &str, error: io::Error) -> Box<Diagnostic> {
    let message = format!("cannot write `{}`: its temporary file cannot be read: {error}", store.url_of(key));
    Diagnostic::new(Code::ReadFailed, message).caused_by(error)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;
    use crate::faults::Faulty;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        file
    }

    const SMALL: UploadOptions = UploadOptions { whole: 100, part: 64, parallel: 3, guard: None };

    #[test]
    fn files_arrive_whole_while_requests_fail() {
        let faulty = Arc::new(Faulty { before: 6.into(), after: 6.into(), ..Faulty::default() });
        let store = faulty.store();
        for size in [0, 1, 99, 100, 101, 128, 64 * 20 + 7] {
            let bytes: Vec<u8> = (0..size).map(|at: usize| (at % 251) as u8).collect();
            let key = format!("k{size}");
            let revision = upload_file(&store, &key, &file(&bytes), Condition::Absent, &SMALL).expect("uploaded");
            let object = store.get(&key, 1 << 20).expect("read").expect("an object");
            assert!(object.bytes == bytes && object.revision == revision, "{size}");
            // The same content counts as put by an attempt whose response was lost.
            let again = upload_file(&store, &key, &file(&vec![9; size + 1]), Condition::Absent, &SMALL);
            assert_eq!(again.map_err(|error| error.code), Err(Code::StoreChanged), "{size}");
            upload_file(&store, &key, &file(b"new"), Condition::Match(revision.clone()), &SMALL).expect("replaced");
            let again = upload_file(&store, &key, &file(&bytes), Condition::Match(revision), &SMALL);
            assert_eq!(again.map_err(|error| error.code), Err(Code::StoreChanged), "{size}");
        }
    }

    #[test]
    fn a_store_that_is_down_gets_nothing() {
        let faulty = Arc::new(Faulty { down: true.into(), ..Faulty::default() });
        let store = faulty.store();
        let patience = crate::Patience { total: std::time::Duration::from_millis(50), ..store.patience() };
        let failed = upload_file(&store.with_patience(patience), "k", &file(&[7; 1_000]), Condition::Always, &SMALL);
        assert_eq!(failed.map_err(|error| error.code), Err(Code::StoreUnreachable));
        assert_eq!(faulty.puts.load(Ordering::SeqCst), 0);
    }
}
