//! The files that a run reads, with a digest of each, for its state.
//!
//! Contents are hashed as they are read. The digests are short: they tell a changed file from the old one, and too
//! little to guess a secret that a file holds.

use std::collections::BTreeMap;
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
    blake3::hash(content).to_hex().chars().take(DIGITS).collect()
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
        if let Some(notes) = &self.0 {
            let mut notes = lock(notes);
            let name = notes.name(name);
            notes.files.entry(name).or_insert_with(|| short_digest(content));
        }
    }

    /// Notes files at `copy` and below it under the name `original` from now on.
    pub fn copied(&self, copy: impl Into<String>, original: &str) {
        if let Some(notes) = &self.0 {
            lock(notes).copies.push((copy.into(), original.trim_end_matches('/').to_owned()));
        }
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
}
