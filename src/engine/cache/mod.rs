//! The compile cache: compiled templates on disk, valid until a source or option changes.
//!
//! An entry is stored under the digest of everything known before parsing: the entry template, its language, the
//! engine's options and functions, this version and its instruction set. It holds every name that the compiler asked
//! the loader for, with the digest of the source or the fact that it was missing, and the program as an artifact. It is
//! valid only if the loader still gives the same answer for every name. Sources are hashed for that, but not parsed.
//!
//! The cache never causes an error. Unreadable, truncated or changed entries are compiled again; entries that cannot be
//! written are dropped.

mod head;
mod recorder;
mod store;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use head::Head;
pub(super) use recorder::Recorder;
use sha2::{Digest as _, Sha256};
use store::Store;

use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::{Bundle, Dialect, Entry, encode, fingerprint};
use dropforge_machine::compiler::{Loader, Unit};
use dropforge_machine::function::Registry;

/// The digest of a key or a source.
pub(super) type Digest = [u8; 32];

/// A directory of compiled templates, of at most about 64 MiB: the oldest entries are removed. Any number of processes
/// may use one at the same time.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// use dropforge::engine::{Cache, Dialect, Engine, Origin};
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
    source: &'k Source,
    limits: &'k Limits,
    registry: &'k Registry,
}

impl<'k> Key<'k> {
    /// Returns the key of a unit's program.
    pub(super) fn of(dialect: Dialect, unit: &Unit<'k>) -> Self {
        let Unit { entry, registry, limits, escape, strict, lenient, .. } = *unit;
        Self { dialect, escape, strict, lenient, source: entry, limits, registry }
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

    /// Finds the entry of `key` if all its sources are unchanged.
    pub(super) fn find(&self, key: &Key<'_>, loader: &dyn Loader) -> Option<Bundle> {
        let bytes = self.store.read(&self.digest(key))?;
        let (head, artifact) = Head::read(&bytes)?;
        if head.holds(loader) { Bundle::open(artifact.to_vec()).ok() } else { None }
    }

    /// Stores the template compiled for `key`. `asked` has its sources.
    pub(super) fn keep(&self, key: &Key<'_>, recorded: &Recorder<'_>, templates: &[Entry<'_>]) {
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
