//! The list of the files a run has written, with their hashes: what pruning may remove.
//!
//! It is written last, by rename, and sorted. Files that a run did not write stay listed as long as they are
//! planned or not pruned, so that a partial run forgets nothing.

use std::collections::{BTreeMap, HashSet};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::layout::check_path;
use super::tree::OutputDir;
use super::write::{Change, Reader, Writer, remove};
use crate::diagnostics::{Code, Diagnostic, Result};

/// The file's name in the output directory.
pub const MANIFEST: &str = ".dropforge-manifest.json";
/// Manifests longer than this are refused.
const MAX_BYTES: usize = 1 << 30;

/// Paths and the BLAKE3 hashes of what was written there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    files: BTreeMap<String, blake3::Hash>,
}

impl Manifest {
    /// The manifest of the run before; empty where there is none.
    ///
    /// # Errors
    /// `file.bad_manifest` where it is not one of ours; errors of reading it.
    pub fn read(dir: Option<&OutputDir>) -> Result<Self> {
        let mut reader = Reader::new(dir);
        match reader.read(MANIFEST)? {
            None => Ok(Self::default()),
            Some(bytes) => Self::parse(bytes).ok_or_else(|| {
                Diagnostic::new(
                    Code::BadManifest,
                    format!("`{MANIFEST}` in the output directory is not a list of ours"),
                )
                .with_help("remove it; then nothing is pruned until the run after next")
            }),
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let value: Value = serde_json::from_slice(bytes).ok()?;
        if value.get("version")? != 1 {
            return None;
        }
        let one = |(path, hash): (&String, &Value)| Some((path.clone(), blake3::Hash::from_hex(hash.as_str()?).ok()?));
        let files = value.get("files")?.as_object()?.iter().map(one).collect::<Option<_>>()?;
        Some(Self { files })
    }

    /// The paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Notes which paths hold what hashes to what: all at once, which costs less than one by one.
    pub(super) fn extend(&mut self, files: impl Iterator<Item = (String, blake3::Hash)>) {
        self.files.append(&mut files.collect());
    }

    /// What pruning would remove: listed files that are not planned any more.
    pub(super) fn stale(&self, planned: &HashSet<String>) -> Vec<String> {
        self.files.keys().filter(|path| !planned.contains(*path)).cloned().collect()
    }

    /// Refuses to prune most of the files, as an emptied fleet would have it.
    ///
    /// # Errors
    /// `plan.mass_delete` where more than half would go and `force` is not given.
    pub(super) fn guard(&self, stale: usize, force: bool) -> Result<()> {
        if force || stale * 2 <= self.files.len() {
            return Ok(());
        }
        let message = format!("pruning would delete {stale} of {} files", self.files.len());
        Err(Diagnostic::new(Code::MassDelete, message)
            .with_note("the fleet, the selection or the templates may not be what they should be")
            .with_help("if this is meant, say `--prune-force`"))
    }

    /// Removes the stale files whose content is still what was written. Gives how many were removed and how
    /// many were left because someone changed them; these are forgotten.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub(super) fn prune(&mut self, dir: &OutputDir, stale: &[String]) -> Result<(usize, usize)> {
        let (mut removed, mut changed) = (0, 0);
        for path in stale {
            let Some(hash) = self.files.get(path).copied() else { continue };
            // The list may have been tampered with: a path that we would not write is not removed either.
            let fate = match check_path(path) {
                Ok(()) => remove(dir, path, |content| blake3::hash(content) == hash)?,
                Err(_) => Some(false),
            };
            removed += usize::from(fate == Some(true));
            changed += usize::from(fate == Some(false));
            self.files.remove(path);
        }
        Ok((removed, changed))
    }

    /// Writes the list.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<Change> {
        let files = Files(&self.files);
        let mut text = serde_json::to_string_pretty(&Text { files, hash: "blake3", version: 1 }).unwrap_or_default();
        text.push('\n');
        let change = writer.stage(MANIFEST, text.as_bytes())?;
        writer.commit()?;
        Ok(change)
    }
}

/// The list as it is written.
#[derive(Serialize)]
struct Text<'m> {
    files: Files<'m>,
    hash: &'static str,
    version: u32,
}

/// Paths with their hashes in hexadecimal digits.
struct Files<'m>(&'m BTreeMap<String, blake3::Hash>);

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (path, hash) in self.0 {
            map.serialize_entry(path, hash.to_hex().as_str())?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn dir_with(files: &[(&str, &str)]) -> (tempfile::TempDir, OutputDir, Manifest) {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut manifest = Manifest::default();
        let mut writer = Writer::new(&dir, false);
        for (path, text) in files {
            writer.stage(path, text.as_bytes()).unwrap();
            manifest.extend([(path.to_string(), blake3::hash(text.as_bytes()))].into_iter());
        }
        writer.commit().unwrap();
        drop(writer);
        (temp, dir, manifest)
    }

    #[test]
    fn it_reads_what_it_writes_and_refuses_the_rest() {
        let (temp, dir, manifest) = dir_with(&[("b/x", "1"), ("a", "2")]);
        manifest.write(&mut Writer::new(&dir, false)).unwrap();
        assert_eq!(Manifest::read(Some(&dir)).unwrap(), manifest);
        assert_eq!(manifest.paths().collect::<Vec<_>>(), ["a", "b/x"]);
        for text in ["", "{}", "[1]", r#"{"version":2,"files":{}}"#, r#"{"version":1,"files":{"a":"zz"}}"#, "\u{0}"] {
            fs::write(temp.path().join(MANIFEST), text).unwrap();
            assert_eq!(Manifest::read(Some(&dir)).unwrap_err().code, Code::BadManifest, "{text}");
        }
    }

    #[test]
    fn only_what_is_listed_and_untouched_is_removed() {
        let (temp, dir, mut manifest) = dir_with(&[("a/x", "1"), ("a/y", "2"), ("b/z", "3")]);
        fs::write(temp.path().join("a/y"), "edited").unwrap();
        fs::write(temp.path().join("a/foreign"), "?").unwrap();
        fs::write(temp.path().join("..victim"), "?").unwrap();
        manifest.extend([("../victim".to_owned(), blake3::hash(b"?"))].into_iter());
        let planned = HashSet::from(["b/z".to_owned()]);
        let stale = manifest.stale(&planned);
        assert_eq!(stale, ["../victim", "a/x", "a/y"]);
        assert_eq!(manifest.guard(stale.len(), false).unwrap_err().code, Code::MassDelete);
        manifest.guard(stale.len(), true).unwrap();
        assert_eq!(manifest.prune(&dir, &stale).unwrap(), (1, 2));
        let there: Vec<bool> = ["a/x", "a/y", "a/foreign", "b/z"].map(|name| temp.path().join(name).exists()).into();
        assert_eq!(there, [false, true, true, true]);
        assert_eq!(manifest.paths().collect::<Vec<_>>(), ["b/z"]);
    }

    #[test]
    fn half_may_go_more_may_not() {
        let (_temp, _dir, manifest) = dir_with(&[("a", "1"), ("b", "2")]);
        assert!(manifest.guard(1, false).is_ok());
        assert!(manifest.guard(2, false).is_err());
    }
}
