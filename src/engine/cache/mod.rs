//! The compile cache: compiled templates on disk, valid until a source or option changes.
//!
//! An entry is stored under the digest of everything known before parsing: the entry template, its language, the
//! engine's options and functions, this version and its instruction set. It holds every name that the compiler asked
//! the loader for, with the digest of the source or the fact that it was missing, and the program as an artifact. It is
//! valid only if the loader still gives the same answer for every name. Sources are hashed for that, but not parsed.
//!
//! The cache never causes an error. Unreadable, truncated or changed entries are compiled again; entries that cannot be
//! written are dropped.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use std::{fs, io};

use dropforge_base::diagnostics::Result;
use dropforge_base::files;
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::stdlib::strings::hex;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::{Bundle, Dialect, Entry, encode, fingerprint};
use dropforge_machine::compiler::{Loader, Unit};
use dropforge_machine::function::Registry;
use sha2::{Digest as _, Sha256};

/// The digest of a key or a source.
pub(super) type Digest = [u8; 32];

/// A directory of compiled templates, of at most about 64 MiB: the oldest entries are removed. Any number of processes
/// may use one at the same time.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// use dropforge::{Cache, Dialect, Engine, Origin};
/// let engine = || Engine::builder().template("a.tera", "{{ 1 + n }}").cache(Cache::new(temp.path())).build();
/// assert_eq!(engine().load(Dialect::Tera, "a.tera")?.origin(), Origin::Source);
/// assert_eq!(engine().load(Dialect::Tera, "a.tera")?.origin(), Origin::Cache);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    store: Store,
    at_least: usize,
    salt: Vec<u8>,
}

/// The key of an entry.
pub(super) struct Key<'k> {
    dialect: Dialect,
    escape: bool,
    strict: bool,
    lenient: bool,
    variant: &'k str,
    source: &'k Source,
    limits: &'k Limits,
    registry: &'k Registry,
}

impl<'k> Key<'k> {
    /// Returns the key of a unit's program.
    pub(super) fn of(dialect: Dialect, unit: &Unit<'k>) -> Self {
        let Unit { entry, registry, limits, escape, strict, lenient, variant, .. } = *unit;
        Self { dialect, escape, strict, lenient, variant, source: entry, limits, registry }
    }
}

impl Cache {
    /// Returns a cache in `dir`, which is created on the first write. Whoever can write to it controls what is
    /// rendered, so choose a directory of the user's own.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { store: Store::new(dir.into()), at_least: 0, salt: Vec::new() }
    }

    /// Keeps only programs whose sources have at least this many bytes in total. Smaller ones are parsed faster than a
    /// file is read.
    pub fn at_least(mut self, bytes: usize) -> Self {
        self.at_least = bytes;
        self
    }

    /// Separates the entries of different builds of one version.
    pub fn salt(mut self, salt: impl Into<Vec<u8>>) -> Self {
        self.salt = salt.into();
        self
    }

    /// Returns what [`Cache::set_note`] stored under a key, unless it was removed since.
    #[doc(hidden)]
    pub fn note(&self, key: &[u8; 32]) -> Option<Vec<u8>> {
        self.store.read(key)
    }

    /// Stores a small note of the caller's own. Its key must be a digest that no other caller makes.
    ///
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// use dropforge::Cache;
    /// let cache = Cache::new(temp.path());
    /// cache.set_note(&[7; 32], b"seen");
    /// assert_eq!(cache.note(&[7; 32]).as_deref(), Some(&b"seen"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn set_note(&self, key: &[u8; 32], note: &[u8]) {
        self.store.write(key, note);
    }

    /// Finds the entry of `key` if all its sources are unchanged.
    pub(super) fn find(&self, key: &Key<'_>, loader: &dyn Loader) -> Option<Bundle> {
        let bytes = self.store.read(&self.digest(key))?;
        let (head, artifact) = Head::read(&bytes)?;
        if head.holds(loader) { Bundle::open(artifact.to_vec()).ok() } else { None }
    }

    /// Stores the template compiled for `key`. `asked` has its sources.
    pub(super) fn keep(&self, key: &Key<'_>, recorded: &RecordingLoader<'_>, templates: &[Entry<'_>]) {
        let sources = templates.first().map_or(&[][..], |entry| entry.program.sources());
        let bytes: usize = sources.iter().map(|source| source.text().len()).sum();
        let Some(head) = recorded.head().filter(|_| bytes >= self.at_least) else { return };
        let Ok(artifact) = encode(templates, false) else { return };
        self.store.write(&self.digest(key), &[head.write(), artifact].concat());
    }

    fn digest(&self, key: &Key<'_>) -> Digest {
        let mut hasher = Sha256::new();
        let mut field = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        field(env!("CARGO_PKG_VERSION").as_bytes());
        field(&fingerprint().to_le_bytes());
        field(&self.salt);
        field(&[key.dialect as u8, u8::from(key.escape), u8::from(key.strict), u8::from(key.lenient)]);
        field(key.variant.as_bytes());
        field(key.source.name().as_bytes());
        field(key.source.text().as_bytes());
        let Limits { source_bytes, nesting, call_depth, templates, code_words, .. } = *key.limits;
        for limit in [source_bytes, nesting, call_depth, templates, code_words] {
            field(&(limit as u64).to_le_bytes());
        }
        for function in key.registry.iter() {
            field(function.name.as_bytes());
            field(&[function.kind as u8, u8::from(function.pure)]);
            field(&function.signature().word().to_le_bytes());
        }
        hasher.finalize().into()
    }
}

// The sources that a cache entry was compiled from, by digest.
//
// Layout, numbers little-endian: the digest of the rest of the head; the length of that rest (`u32`); then for each
// name its length (`u32`), its text and the digest of its source, all zero if it was missing. The artifact follows the
// head and has digests of its own.

/// The digest of a missing source.
const NOTHING: Digest = [0; size_of::<Digest>()];

/// The names that the compiler asked for, with the digests of their sources.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Head {
    names: Vec<(String, Digest)>,
}

/// Returns the digest of a loader's answer.
fn digest_of(text: Option<&str>) -> Digest {
    text.map_or(NOTHING, |text| Sha256::digest(text).into())
}

impl Head {
    fn new(names: Vec<(String, Digest)>) -> Self {
        Self { names }
    }

    /// Returns `true` if `loader` still finds the same sources.
    fn holds(&self, loader: &dyn Loader) -> bool {
        self.names.iter().all(|(name, digest)| {
            loader
                .load(name)
                .is_ok_and(|found| digest_of(found.as_deref().map(dropforge_base::text::Source::text)) == *digest)
        })
    }

    /// Encodes the head of an entry.
    fn write(&self) -> Vec<u8> {
        let mut rest = Vec::new();
        for (name, digest) in &self.names {
            rest.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
            rest.extend(name.bytes());
            rest.extend(digest);
        }
        let mut bytes = Sha256::digest(&rest).to_vec();
        bytes.extend(u32::try_from(rest.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(rest);
        bytes
    }

    /// Splits an entry into its head and the artifact after it.
    fn read(bytes: &[u8]) -> Option<(Head, &[u8])> {
        let (digest, bytes) = bytes.split_first_chunk::<{ size_of::<Digest>() }>()?;
        let (len, bytes) = bytes.split_first_chunk::<4>()?;
        let (mut rest, artifact) = bytes.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
        if Sha256::digest(rest)[..] != *digest {
            return None;
        }
        let mut names = Vec::new();
        while !rest.is_empty() {
            let (len, behind) = rest.split_first_chunk::<4>()?;
            let (name, behind) = behind.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
            let (digest, behind) = behind.split_first_chunk()?;
            names.push((String::from_utf8(name.to_vec()).ok()?, *digest));
            rest = behind;
        }
        Some((Head { names }, artifact))
    }
}

/// Limits of each of the sixteen directories: files and bytes.
const FILES: usize = 256;
const BYTES: u64 = 4 << 20;

/// Maximum size of a file.
const LARGEST: usize = 1 << 20;

#[derive(Debug, Clone)]
struct Store {
    dir: PathBuf,
}

impl Store {
    fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Reads the file of a digest, if it exists and is readable.
    fn read(&self, digest: &Digest) -> Option<Vec<u8>> {
        files::read(&self.path(digest), LARGEST as u64).ok()
    }

    /// Writes a file. Failures are ignored.
    fn write(&self, digest: &Digest, bytes: &[u8]) {
        let path = self.path(digest);
        let Some(shelf) = path.parent().filter(|_| bytes.len() <= LARGEST) else { return };
        if make_dir(shelf).and_then(|()| replace(&path, shelf, bytes)).is_ok() {
            bound(shelf, &path);
        }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let hex = hex(digest);
        let (shelf, name) = hex.split_at(1);
        self.dir.join(shelf).join(name)
    }
}

fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Writes a temporary file and renames it, so that no reader sees a partial file, even if the writer dies.
fn replace(path: &Path, shelf: &Path, bytes: &[u8]) -> io::Result<()> {
    let temp = shelf.join(format!(".{:016x}", fastrand::u64(..)));
    let mut file = fs::File::options().write(true).create_new(true).open(&temp)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temp, path));
    if written.is_err() {
        let _ = fs::remove_file(&temp);
    }
    written
}

/// Removes the oldest files of a directory until it is within its limits, including leftovers of writers that died.
fn bound(shelf: &Path, newest: &Path) {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(shelf).into_iter().flatten().flatten() {
        if let Ok(meta) = entry.metadata().and_then(|meta| Ok((meta.modified()?, meta.len()))) {
            files.push((meta.0, meta.1, entry.path()));
        }
    }
    let (mut count, mut bytes) = (files.len(), files.iter().map(|(_, len, _)| len).sum::<u64>());
    if count <= FILES && bytes <= BYTES {
        return;
    }
    files.small_sort_by(Ord::cmp);
    for (_, len, path) in files.iter().filter(|(_, _, path)| path != newest) {
        if count <= FILES * 3 / 4 && bytes <= BYTES * 3 / 4 {
            return;
        }
        if fs::remove_file(path).is_ok() {
            (count, bytes) = (count - 1, bytes - len);
        }
    }
}

/// Forwards every request and records the answer.
pub struct RecordingLoader<'l> {
    loader: &'l dyn Loader,
    asked: Mutex<Option<BTreeMap<String, Digest>>>,
}

impl<'l> RecordingLoader<'l> {
    pub fn new(loader: &'l dyn Loader) -> Self {
        Self { loader, asked: Mutex::new(Some(BTreeMap::new())) }
    }

    /// Returns the recorded names, or `None` if an answer cannot be compared with a later one.
    fn head(&self) -> Option<Head> {
        let asked = self.asked.lock().ok()?.take()?;
        Some(Head::new(asked.into_iter().collect()))
    }

    fn record(&self, update: impl FnOnce(&mut Option<BTreeMap<String, Digest>>)) {
        if let Ok(mut asked) = self.asked.lock() {
            update(&mut asked);
        }
    }
}

impl Loader for RecordingLoader<'_> {
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>> {
        let found = self.loader.load(name);
        let digest = found.as_ref().ok().map(|found| digest_of(found.as_deref().map(Source::text)));
        self.record(|asked| match (asked.as_mut(), digest) {
            (Some(asked), Some(digest)) => drop(asked.insert(name.to_owned(), digest)),
            _ => *asked = None,
        });
        found
    }

    fn lists(&self) -> bool {
        self.loader.lists()
    }

    /// Listing prevents caching: the suggestions in errors would change with any other template.
    fn names(&self) -> Vec<String> {
        let names = self.loader.names();
        if !names.is_empty() {
            self.record(|asked| *asked = None);
        }
        names
    }

    /// Prevents caching, because another file may be added.
    fn files(&self, prefix: &str, suffix: &str) -> Vec<String> {
        self.record(|asked| *asked = None);
        self.loader.files(prefix, suffix)
    }
}

#[cfg(test)]
mod tests;
