//! The files that a run reads, with a digest of each, for its manifest.
//!
//! Contents are hashed as they are read. The digests are short: they tell a changed file from the old one, and too
//! little to guess a secret that a file holds.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use crate::lock;
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Source;
use dropforge_machine::compiler::Loader;

/// The digests of files, by their names.
pub type ReadFiles = BTreeMap<String, String>;

/// The number of hexadecimal digits of a digest.
const DIGITS: usize = 4;

/// Returns the digest of a content: four hexadecimal digits. One of 65,536 other contents has the same.
///
/// ```
/// use dropforge::bulk::short_digest;
/// assert_eq!(short_digest(b"replicas: 2\n"), short_digest(b"replicas: 2\n"));
/// assert_ne!(short_digest(b"replicas: 2\n"), short_digest(b"replicas: 3\n"));
/// ```
pub fn short_digest(content: &[u8]) -> String {
    short(blake3::hash(content))
}

fn short(hash: blake3::Hash) -> String {
    hash.to_hex().chars().take(DIGITS).collect()
}

/// Notes the files that a run reads. The default notes nothing. Clones share their notes.
///
/// ```
/// use dropforge::bulk::ReadLog;
/// let log = ReadLog::started();
/// log.note("values.yaml", b"replicas: 2\n");
/// assert!(log.files().contains_key("values.yaml"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReadLog(Option<Arc<Mutex<Notes>>>);

#[derive(Debug, Default)]
struct Notes {
    files: ReadFiles,
    /// The places of copies, and what they are copies of.
    copies: Vec<(String, String)>,
}

impl Notes {
    /// Returns the name of the original of a copy, or the name itself.
    fn name(&self, name: &str) -> String {
        let original = self.copies.iter().find_map(|(copy, url)| {
            let rest = name.strip_prefix(copy.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{url}{rest}"))
        });
        original.unwrap_or_else(|| name.to_owned())
    }
}

impl ReadLog {
    /// Returns a log that notes files.
    pub fn started() -> Self {
        Self(Some(Arc::default()))
    }

    /// Notes a file and its content. A file that is read twice counts as it was read first.
    pub fn note(&self, name: &str, content: &[u8]) {
        self.note_with(name, || short_digest(content));
    }

    fn note_with(&self, name: &str, digest: impl FnOnce() -> String) {
        if let Some(notes) = &self.0 {
            let mut notes = lock(notes);
            let name = notes.name(name);
            notes.files.entry(name).or_insert_with(digest);
        }
    }

    /// Notes files at `copy` and below it under the name `original` from now on.
    pub fn copied(&self, copy: impl Into<String>, original: &str) {
        if let Some(notes) = &self.0 {
            lock(notes).copies.push((copy.into(), original.trim_end_matches('/').to_owned()));
        }
    }

    /// Returns a reader that notes the file at its end.
    pub fn reader<R: Read>(&self, name: impl Into<String>, input: R) -> Logged<R> {
        Logged { name: name.into(), input, hash: self.hash(), log: self.clone() }
    }

    /// Starts the hash of a file that is read part by part, if files are noted.
    pub fn hash(&self) -> Option<blake3::Hasher> {
        self.0.as_ref().map(|_| blake3::Hasher::new())
    }

    /// Notes a file that was read part by part.
    pub(crate) fn note_hash(&self, name: &str, hash: &blake3::Hasher) {
        self.note_with(name, || short(hash.finalize()));
    }

    /// Returns a loader that notes every template.
    pub fn loader<L: Loader>(&self, below: L) -> LoggedLoader<L> {
        LoggedLoader { log: self.clone(), below }
    }

    /// Returns the files so far, sorted by name.
    pub fn files(&self) -> ReadFiles {
        self.0.as_ref().map(|notes| lock(notes).files.clone()).unwrap_or_default()
    }
}

/// A reader that hashes what it reads.
#[derive(Debug)]
pub struct Logged<R> {
    name: String,
    input: R,
    hash: Option<blake3::Hasher>,
    log: ReadLog,
}

impl<R: Read> Read for Logged<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(to)?;
        match &mut self.hash {
            Some(hash) if read > 0 => _ = hash.update(to.get(..read).unwrap_or_default()),
            Some(hash) if !to.is_empty() => self.log.note_hash(&self.name, hash),
            _ => {}
        }
        Ok(read)
    }
}

/// A loader that notes what it loads.
pub struct LoggedLoader<L> {
    log: ReadLog,
    below: L,
}

impl<L: Loader> Loader for LoggedLoader<L> {
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>> {
        let found = self.below.load(name)?;
        if let Some(source) = found.as_ref().filter(|_| self.log.0.is_some()) {
            self.log.note(source.path(), source.text().as_bytes());
        }
        Ok(found)
    }

    fn below(&self) -> Option<&dyn Loader> {
        Some(&self.below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_noted_once_by_the_names_of_their_originals() {
        let log = ReadLog::started();
        log.copied("../tmp/x/t", "s3://bucket/t/");
        log.note("../tmp/x/t/a.tera", b"a");
        log.note("../tmp/x/tt", b"b");
        log.note("../tmp/x/tt", b"c");
        let names = [("../tmp/x/tt", b"b"), ("s3://bucket/t/a.tera", b"a")];
        assert_eq!(log.files(), names.map(|(name, content)| (name.to_owned(), short_digest(content))).into());
        let none = ReadLog::default();
        none.note("a", b"a");
        assert!(none.files().is_empty());
    }

    #[test]
    fn a_reader_notes_what_was_read_to_its_end() {
        let log = ReadLog::started();
        let mut reader = log.reader("fleet.csv", &b"name\neu\n"[..]);
        reader.read_exact(&mut [0; 8]).unwrap();
        assert!(log.files().is_empty());
        assert_eq!(reader.read(&mut []).unwrap(), 0);
        assert!(log.files().is_empty());
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
        assert_eq!(log.files(), [("fleet.csv".to_owned(), short_digest(b"name\neu\n"))].into());
    }
}
