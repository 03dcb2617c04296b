//! The manifest: the files that runs have written, with their hashes. Pruning removes only files in this list.
//!
//! It is sorted and written last, by rename. A file that a run did not write stays in the list until it is pruned, so
//! a partial run forgets nothing.

use std::collections::{BTreeMap, HashSet};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::output_dir::OutputDir;
use super::output_files::{Change, OutputReader, OutputWriter, remove};
use super::output_path::check_path;
use crate::diagnostics::{Code, Diagnostic, Result, counted, thousands};

/// The manifest's name in the output directory.
pub const MANIFEST: &str = ".dropforge-manifest.json";
/// Maximum size of a manifest.
const MAX_BYTES: usize = 1 << 30;

/// Paths and the BLAKE3 hashes of their content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    files: BTreeMap<String, blake3::Hash>,
}

impl Manifest {
    /// Reads the manifest of the last run. Returns an empty one if there is none.
    ///
    /// # Errors
    /// `file.bad_manifest` if it is not a manifest; errors of reading it.
    pub fn read(dir: Option<&OutputDir>) -> Result<Self> {
        let mut reader = OutputReader::new(dir);
        let Some(bytes) = reader.read(MANIFEST)? else { return Ok(Self::default()) };
        Self::parse(bytes).ok_or_else(|| {
            let message = format!("`{MANIFEST}` in the output directory is not a valid manifest");
            Diagnostic::new(Code::BadManifest, message)
                .with_help("delete it; the next run writes a new one and prunes nothing")
        })
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

    /// Returns the paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Adds files, in one batch because that is cheaper than one by one.
    pub(super) fn extend(&mut self, files: impl Iterator<Item = (String, blake3::Hash)>) {
        self.files.append(&mut files.collect());
    }

    /// Returns the files to prune: those that are no longer planned.
    pub(super) fn stale(&self, planned: &HashSet<String>) -> Vec<String> {
        self.files.keys().filter(|path| !planned.contains(*path)).cloned().collect()
    }

    /// Guards against pruning most of the files by accident, for example with an empty fleet.
    ///
    /// # Errors
    /// `plan.mass_delete` for more than half of the files, unless `force` is set.
    pub(super) fn guard(&self, stale: usize, force: bool) -> Result<()> {
        if force || stale * 2 <= self.files.len() {
            return Ok(());
        }
        let message = format!("pruning would delete {} of {}", thousands(stale), counted(self.files.len(), "file"));
        Err(Diagnostic::new(Code::MassDelete, message)
            .with_note("the fleet, the selector or the templates may be wrong")
            .with_help("use `--prune-force` to prune anyway"))
    }

    /// Removes the stale files that have not changed since they were written, and forgets all stale files. Returns the
    /// number of removed and of changed files.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub(super) fn prune(&mut self, dir: &OutputDir, stale: &[String]) -> Result<(usize, usize)> {
        let (mut removed, mut changed) = (0, 0);
        for path in stale {
            let Some(hash) = self.files.get(path).copied() else { continue };
            // Someone may have edited the manifest, so paths are checked as for writing.
            let removal = match check_path(path) {
                Ok(()) => remove(dir, path, |content| blake3::hash(content) == hash)?,
                Err(_) => Some(false),
            };
            removed += usize::from(removal == Some(true));
            changed += usize::from(removal == Some(false));
            self.files.remove(path);
        }
        Ok((removed, changed))
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub(super) fn write(&self, writer: &mut OutputWriter<'_>) -> Result<Change> {
        let json = ManifestJson { files: &self.files, hash: "blake3", version: 1 };
        let mut text = serde_json::to_string_pretty(&json).unwrap_or_default();
        text.push('\n');
        let change = writer.stage(MANIFEST, text.as_bytes())?;
        writer.commit()?;
        Ok(change)
    }
}

/// The content of the manifest file.
#[derive(Serialize)]
struct ManifestJson<'m> {
    #[serde(serialize_with = "hex_hashes")]
    files: &'m BTreeMap<String, blake3::Hash>,
    hash: &'static str,
    version: u32,
}

fn hex_hashes<S: Serializer>(
    files: &BTreeMap<String, blake3::Hash>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(files.iter().map(|(path, hash)| (path, hash.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn dir_with(files: &[(&str, &str)]) -> (tempfile::TempDir, OutputDir, Manifest) {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut manifest = Manifest::default();
        let mut writer = OutputWriter::new(&dir, false);
        for (path, text) in files {
            writer.stage(path, text.as_bytes()).unwrap();
            manifest.extend([(path.to_string(), blake3::hash(text.as_bytes()))].into_iter());
        }
        writer.commit().unwrap();
        drop(writer);
        (temp, dir, manifest)
    }

    #[test]
    fn entries_survive_a_round_trip_and_damaged_ones_are_refused() {
        let (temp, dir, manifest) = dir_with(&[("b/x", "1"), ("a", "2")]);
        manifest.write(&mut OutputWriter::new(&dir, false)).unwrap();
        assert_eq!(Manifest::read(Some(&dir)).unwrap(), manifest);
        assert_eq!(manifest.paths().collect::<Vec<_>>(), ["a", "b/x"]);
        for text in ["", "{}", "[1]", r#"{"version":2,"files":{}}"#, r#"{"version":1,"files":{"a":"zz"}}"#, "\u{0}"] {
            fs::write(temp.path().join(MANIFEST), text).unwrap();
            assert_eq!(Manifest::read(Some(&dir)).unwrap_err().code, Code::BadManifest, "{text}");
        }
    }

    #[test]
    fn only_listed_and_unchanged_files_are_removed() {
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
