//! Files as objects, the long ones in parts, several at a time; objects and prefixes as files.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;
use object_store::multipart::PartId;

use super::lock::{Guard, LOCK};
use super::store::{ObjectInfo, Store};
use super::task::Task;
use super::task::{Condition, Revision};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
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

/// Length of the parts in which an object is read.
const PART: u64 = 8 << 20;
/// Objects that are read at a time.
const THREADS: usize = 16;

/// Bounds of a fetched prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Maximum number of objects.
    pub files: usize,
    /// Maximum number of bytes in all.
    pub bytes: u64,
}

impl Default for TreeLimits {
    /// 100,000 objects with 256 MiB.
    fn default() -> Self {
        Self { files: 100_000, bytes: 256 << 20 }
    }
}

/// Writes an object of at most `max` bytes to `to`, in parts of one version. Returns its length. `to` may have received a
/// part of it after an error.
///
/// ```
/// use dropforge::remote::{Condition, Store, fetch_file};
/// let store = Store::in_memory();
/// store.put("fleet.ndjson", "{\"name\": \"a\"}\n".into(), Condition::Always)?;
/// let mut bytes = Vec::new();
/// assert_eq!(fetch_file(&store, "fleet.ndjson", 1 << 30, &mut bytes)?, 14);
/// # Ok::<(), Box<dropforge::Diagnostic>>(())
/// ```
///
/// # Errors
/// `store.missing` without such an object; `limit.source_bytes` for a longer one; `store.changed` if it was replaced
/// meanwhile; `file.write_failed`; errors of the store.
pub fn fetch_file(store: &Store, key: &str, max: u64, to: &mut dyn Write) -> Result<u64> {
    let info = store.head(key)?.ok_or_else(|| missing(&store.url_of(key)))?;
    fetch_version(store, &info, max, to)
}

/// Works like [`fetch_file`], for a version of an object.
///
/// # Errors
/// Same as [`fetch_file`].
pub fn fetch_version(store: &Store, info: &ObjectInfo, max: u64, to: &mut dyn Write) -> Result<u64> {
    let (key, url) = (&info.key, store.url_of(&info.key));
    if info.size > max {
        return Err(too_much(&url, &format!("{} bytes", number(info.size)), &number(max)));
    }
    let mut start = 0;
    while start < info.size {
        let end = info.size.min(start.saturating_add(PART));
        let part = store.get_range(key, start, end, &info.revision)?;
        check_length(&url, part.len() as u64, end - start)?;
        to.write_all(&part).map_err(|error| unwritable(&url, error))?;
        start = end;
    }
    Ok(info.size)
}

/// Checks the length of a part of an object. A server may send less than was asked for, or more.
fn check_length(url: &str, sent: u64, wanted: u64) -> Result<()> {
    if sent == wanted {
        return Ok(());
    }
    let message = format!("cannot read `{url}`: the store sent {} bytes, not {}", number(sent), number(wanted));
    Err(Diagnostic::new(Code::StoreFailed, message).with_help("run the command again"))
}

/// Writes the objects below the prefix of the store to files of the same paths below `into`, an empty directory. Returns
/// their number. Locks, and empty objects that stand for directories, are left out.
///
/// # Errors
/// `store.missing` without any object; `store.bad_url` for a key that cannot be a path; `limit.source_bytes`;
/// `file.write_failed`; errors of the store.
pub fn fetch_tree(store: &Store, into: &Path, limits: TreeLimits) -> Result<usize> {
    let objects = listed(store, limits)?;
    if objects.is_empty() {
        return Err(missing(store.url()));
    }
    objects.iter().try_for_each(|object| check_key(store, &object.key))?;
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    thread::scope(|scope| {
        for _ in 0..THREADS.min(objects.len()) {
            scope.spawn(|| {
                while let Some(object) = objects.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Err(error) = fetch_into(store, object, into) {
                        next.store(objects.len(), Ordering::SeqCst);
                        failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
                    }
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(error) => Err(error),
        None => Ok(objects.len()),
    }
}

/// Lists the objects that become files.
fn listed(store: &Store, limits: TreeLimits) -> Result<Vec<ObjectInfo>> {
    let (mut objects, mut bytes) = (Vec::new(), 0_u64);
    for object in store.list("")? {
        let object = object?;
        if object.key.is_empty() || object.key.rsplit('/').next() == Some(LOCK) {
            continue;
        }
        bytes = bytes.saturating_add(object.size);
        if objects.len() >= limits.files {
            return Err(too_much(store.url(), "more objects", &thousands(limits.files)));
        }
        if bytes > limits.bytes {
            return Err(too_much(store.url(), "more bytes", &number(limits.bytes)));
        }
        objects.push(object);
    }
    let keys: BTreeSet<String> = objects.iter().map(|object| object.key.clone()).collect();
    let is_directory = |key: &str| {
        let below = format!("{key}/");
        keys.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
    };
    objects.retain(|object| object.size > 0 || !is_directory(&object.key));
    Ok(objects)
}

fn check_key(store: &Store, key: &str) -> Result<()> {
    let is_plain = Path::new(key).components().all(|part| matches!(part, Component::Normal(_)));
    if is_plain && !key.contains(['\\', ':', '\0']) && !key.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Ok(());
    }
    Err(Diagnostic::new(Code::BadUrl, format!("`{}` cannot be a file: its key is not a path", store.url_of(key))))
}

fn fetch_into(store: &Store, object: &ObjectInfo, into: &Path) -> Result<()> {
    let path = into.join(&object.key);
    let url = store.url_of(&object.key);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| unwritable(&url, error))?;
    }
    // New files only: nothing is written through a link.
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = file.map_err(|error| unwritable(&url, error))?;
    fetch_file(store, &object.key, object.size, &mut file).map(|_| ())
}

fn missing(url: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::StoreMissing, format!("cannot read `{url}`: it does not exist"))
        .with_help("check the bucket and the key")
}

fn too_much(url: &str, what: &str, max: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::LimitSourceBytes, format!("`{url}` is too long: it has {what}, the limit is {max}"))
}

fn number(bytes: u64) -> String {
    thousands(usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn unwritable(url: &str, error: io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot keep `{url}`: {error}")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;
    use crate::Condition;
    use crate::faults::Faulty;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        file
    }

    const SMALL: UploadOptions = UploadOptions { whole: 100, part: 64, parallel: 3, guard: None };

    #[test]
    fn parts_of_another_length_are_told_with_both_lengths() {
        assert!(check_length("s3://b/k", 5, 5).is_ok());
        for (sent, wanted) in [(4, 5), (5, 4), (u64::MAX, 0)] {
            let message = check_length("s3://b/k", sent, wanted).unwrap_err().message;
            let told = format!("the store sent {} bytes, not {}", number(sent), number(wanted));
            assert!(message.ends_with(&told), "{message}");
        }
    }

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

    fn put(store: &Store, key: &str, text: &str) {
        store.put(key, text.to_owned().into(), Condition::Always).expect("put");
    }

    #[test]
    fn a_prefix_becomes_a_tree_while_requests_fail() {
        let faulty = Arc::new(Faulty { before: 6.into(), ..Faulty::default() });
        let store = faulty.store();
        for number in 0..100 {
            put(&store, &format!("t/d{}/{number}.tera", number % 7), &format!("x: {number}"));
        }
        put(&store, "t/d1", "");
        put(&store, "t/empty.tera", "");
        put(&store, "t/.dropforge-lock", "{}");
        put(&store, "other/x", "x");
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(fetch_tree(&store.below("t"), dir.path(), TreeLimits::default()).expect("fetched"), 101);
        for number in 0..100 {
            let text = fs::read_to_string(dir.path().join(format!("d{}/{number}.tera", number % 7))).expect("a file");
            assert_eq!(text, format!("x: {number}"));
        }
        assert!(dir.path().join("empty.tera").is_file() && !dir.path().join(".dropforge-lock").exists());
    }

    #[test]
    fn bounds_missing_prefixes_and_keys_that_are_no_paths() {
        let store = Store::in_memory();
        let fetch = |limits| {
            let dir = tempfile::tempdir().expect("a directory");
            fetch_tree(&store, dir.path(), limits).map_err(|error| error.code)
        };
        assert_eq!(fetch(TreeLimits::default()), Err(Code::StoreMissing));
        put(&store, "a", "12345");
        put(&store, "b", "12345");
        assert_eq!(fetch(TreeLimits { files: 1, ..TreeLimits::default() }), Err(Code::LimitSourceBytes));
        assert_eq!(fetch(TreeLimits { bytes: 9, ..TreeLimits::default() }), Err(Code::LimitSourceBytes));
        assert_eq!(fetch(TreeLimits { files: 2, bytes: 10 }), Ok(2));
        put(&store, "c\\..\\d", "x");
        assert_eq!(fetch(TreeLimits::default()), Err(Code::BadUrl));
    }

    #[test]
    fn an_object_and_a_directory_of_one_name_are_an_error() {
        let store = Store::in_memory();
        put(&store, "a", "x");
        put(&store, "a/b", "x");
        let dir = tempfile::tempdir().expect("a directory");
        let error = fetch_tree(&store, dir.path(), TreeLimits::default()).expect_err("no tree");
        assert_eq!(error.code, Code::WriteFailed);
    }

    #[test]
    fn long_objects_arrive_in_parts() {
        let store = Store::in_memory();
        let text: String = (0..2_500_000).map(|number| format!("{number:07}\n")).collect();
        put(&store, "long", &text);
        let mut bytes = Vec::new();
        assert_eq!(fetch_file(&store, "long", 1 << 30, &mut bytes).expect("fetched"), text.len() as u64);
        assert!(bytes == text.as_bytes());
        let error = fetch_file(&store, "long", 10, &mut bytes).expect_err("too long");
        assert_eq!(error.code, Code::LimitSourceBytes);
        assert_eq!(fetch_file(&store, "no", 10, &mut bytes).map_err(|error| error.code), Err(Code::StoreMissing));
    }
}
