//! Objects and prefixes as files.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::lock::LOCK;
use super::store::{ObjectInfo, Store};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

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
        if part.len() as u64 != end - start {
            let message =
                format!("cannot read `{url}`: the store sent {} bytes too few", end - start - part.len() as u64);
            return Err(Diagnostic::new(Code::StoreFailed, message).with_help("run the command again"));
        }
        to.write_all(&part).map_err(|error| unwritable(&url, error))?;
        start = end;
    }
    Ok(info.size)
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
    use std::sync::Arc;

    use super::*;
    use crate::Condition;
    use crate::faults::Faulty;

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
