//! The manifest: the files that runs have written, with their hashes, clusters and templates. Pruning removes only
//! files in this list.
//!
//! It is sorted and written last, by rename. A file that a run did not write stays in the list until it is pruned, so
//! a partial run forgets nothing. The file has a line for each cluster, so a change of one cluster changes one line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::output_dir::OutputDir;
use super::output_files::{Change, OutputReader, OutputWriter, remove};
use super::output_path::check_path;
use crate::diagnostics::{Code, Diagnostic, Result, counted, thousands};
use crate::stdlib::strings::push_hex;

/// The manifest's name in the output directory.
pub const MANIFEST: &str = ".dropforge-manifest.json";
/// Maximum size of a manifest.
const MAX_BYTES: usize = 1 << 30;
/// The usual size of the entry of a file, for the first allocation.
const ROW_BYTES: usize = 128;
/// The version of the format. Version 1 had no clusters and templates.
const VERSION: u32 = 2;

/// Paths, the BLAKE3 hashes of their content, and their makers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Sorted by path. There are many, and lists are cheaper to make and to merge than trees.
    files: Vec<(String, Entry)>,
}

/// A file that a run has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) hash: blake3::Hash,
    /// The maker of the file, or `None` if it comes from a manifest of version 1.
    pub(super) maker: Option<Maker>,
}

/// The cluster and the template that make a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Maker {
    pub(super) cluster: Arc<str>,
    /// The path of the template, as in [`TemplatePaths`](super::TemplatePaths).
    pub(super) template: Arc<str>,
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
        let json: ManifestJson<'_> = serde_json::from_slice(bytes).ok()?;
        if !(1..=VERSION).contains(&json.version) {
            return None;
        }
        let entry = |hash: &str, maker| Some(Entry { hash: blake3::Hash::from_hex(hash).ok()?, maker });
        let mut files = Vec::new();
        for (path, hash) in json.files {
            files.push((path, entry(hash, None)?));
        }
        let templates: Vec<Arc<str>> = json.templates.into_iter().map(Arc::from).collect();
        for (cluster, rows) in json.clusters {
            let cluster: Arc<str> = cluster.into();
            for (path, template, hash) in rows {
                let template = templates.get(template)?.clone();
                files.push((path, entry(hash, Some(Maker { cluster: cluster.clone(), template }))?));
            }
        }
        let mut manifest = Self::default();
        manifest.extend(files.into_iter());
        Some(manifest)
    }

    /// Returns the paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries().map(|(path, _)| path)
    }

    /// Returns the entries, sorted by path.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.files.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// Returns the entry of a path.
    pub(super) fn get(&self, path: &str) -> Option<&Entry> {
        let at = self.files.binary_search_by(|(known, _)| known.as_str().cmp(path)).ok()?;
        self.files.get(at).map(|(_, entry)| entry)
    }

    /// Adds files. They replace the entries of their paths.
    pub(super) fn extend(&mut self, files: impl Iterator<Item = (String, Entry)>) {
        let mut all: Vec<_> = files.collect();
        all.append(&mut self.files);
        // The new ones stay the first of their paths.
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|(other, _), (first, _)| other == first);
        self.files = all;
    }

    /// Guards against pruning most of the `total` files of the run's templates by accident, for example with an empty
    /// fleet.
    ///
    /// # Errors
    /// `plan.mass_delete` for more than half of the files, unless `force` is set.
    pub(super) fn guard(stale: usize, total: usize, force: bool) -> Result<()> {
        if force || stale * 2 <= total {
            return Ok(());
        }
        let message = format!("pruning would delete {} of {}", thousands(stale), counted(total, "file"));
        Err(Diagnostic::new(Code::MassDelete, message)
            .with_note("the fleet, the selector or the templates may be wrong")
            .with_help("use `--prune-force` to prune anyway"))
    }

    /// Removes the stale files that have not changed since they were written, and forgets all stale files, which are
    /// sorted. Returns the number of removed and of changed files.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub(super) fn prune(&mut self, dir: &OutputDir, stale: &[String]) -> Result<(usize, usize)> {
        let (mut removed, mut changed) = (0, 0);
        for path in stale {
            let Some(hash) = self.get(path).map(|entry| entry.hash) else { continue };
            // Someone may have edited the manifest, so paths are checked as for writing.
            let removal = match check_path(path) {
                Ok(()) => remove(dir, path, |content| blake3::hash(content) == hash)?,
                Err(_) => Some(false),
            };
            removed += usize::from(removal == Some(true));
            changed += usize::from(removal == Some(false));
        }
        self.files.retain(|(path, _)| stale.binary_search(path).is_err());
        Ok((removed, changed))
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub(super) fn write(&self, writer: &mut OutputWriter<'_>) -> Result<Change> {
        let change = writer.stage(MANIFEST, &self.to_json())?;
        writer.commit()?;
        Ok(change)
    }

    /// Returns the content of the file.
    fn to_json(&self) -> Vec<u8> {
        let known = self.entries().filter_map(|(path, entry)| Some((entry.maker.as_ref()?, path, entry.hash)));
        let mut known: Vec<Row<'_>> = known.collect();
        // The files of a cluster stay sorted by path.
        known.sort_by(|(one, ..), (other, ..)| one.cluster.cmp(&other.cluster));
        let mut templates = BTreeSet::new();
        templates.extend(known.iter().map(|(maker, ..)| &*maker.template));
        let index: BTreeMap<&str, usize> = templates.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let unknown = self.files.iter().filter(|(_, entry)| entry.maker.is_none());

        let mut out = Vec::with_capacity(self.files.len() * ROW_BYTES);
        out.extend_from_slice(format!("{{\"version\":{VERSION},\"hash\":\"blake3\",\"templates\":").as_bytes());
        push_json(&mut out, &templates);
        out.extend_from_slice(b",\"clusters\":{\n");
        let clusters = known.chunk_by(|(one, ..), (other, ..)| one.cluster == other.cluster);
        push_all(&mut out, clusters, b",\n", |out, rows| push_cluster(out, rows, &index));
        out.extend_from_slice(b"\n},\"files\":{");
        push_all(&mut out, unknown, b",\n", |out, (path, entry)| {
            push_json(out, path);
            out.push(b':');
            push_hash(out, entry.hash);
        });
        out.extend_from_slice(b"}}\n");
        out
    }
}

/// The maker, the path and the hash of a file.
type Row<'m> = (&'m Maker, &'m str, blake3::Hash);

/// Appends the line of a cluster: its name and its files. `index` has the indexes of templates.
fn push_cluster(out: &mut Vec<u8>, rows: &[Row<'_>], index: &BTreeMap<&str, usize>) {
    let Some((maker, ..)) = rows.first() else { return };
    push_json(out, &*maker.cluster);
    out.extend_from_slice(b":[");
    push_all(out, rows.iter(), b",", |out, (maker, path, hash)| {
        out.push(b'[');
        push_json(out, path);
        out.push(b',');
        push_json(out, &index.get(&*maker.template));
        out.push(b',');
        push_hash(out, *hash);
        out.push(b']');
    });
    out.push(b']');
}

/// Appends items with a separator between them.
fn push_all<T>(
    out: &mut Vec<u8>,
    items: impl Iterator<Item = T>,
    separator: &[u8],
    mut push: impl FnMut(&mut Vec<u8>, T),
) {
    for (at, item) in items.enumerate() {
        out.extend_from_slice(if at == 0 { b"" } else { separator });
        push(out, item);
    }
}

fn push_hash(out: &mut Vec<u8>, hash: blake3::Hash) {
    out.push(b'"');
    push_hex(hash.as_bytes(), out);
    out.push(b'"');
}

fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Strings, numbers and lists are written without errors.
    let _ = serde_json::to_writer(out, value);
}

/// The content of the manifest file.
#[derive(Deserialize)]
struct ManifestJson<'j> {
    version: u32,
    /// The templates of all files, sorted.
    #[serde(default)]
    templates: Vec<String>,
    /// The files of each cluster: path, index of the template, hash.
    #[serde(default, borrow)]
    clusters: BTreeMap<String, Vec<(String, usize, &'j str)>>,
    /// Files without a known cluster, with their hashes. Required in version 1.
    files: BTreeMap<String, &'j str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(text: &str, maker: Option<(&str, &str)>) -> Entry {
        let maker = maker.map(|(cluster, template)| Maker { cluster: cluster.into(), template: template.into() });
        Entry { hash: blake3::hash(text.as_bytes()), maker }
    }

    fn dir_with(files: &[(&str, &str)]) -> (tempfile::TempDir, OutputDir, Manifest) {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut manifest = Manifest::default();
        let mut writer = OutputWriter::new(&dir, false);
        for (path, text) in files {
            writer.stage(path, text.as_bytes()).unwrap();
            manifest.extend([(path.to_string(), entry(text, None))].into_iter());
        }
        writer.commit().unwrap();
        drop(writer);
        (temp, dir, manifest)
    }

    #[test]
    fn entries_survive_a_round_trip_and_damaged_ones_are_refused() {
        let (temp, dir, mut manifest) = dir_with(&[("b/x", "1"), ("a", "2")]);
        let made = [("eu/y", "us", "t/b"), ("eu/x", "eu", "t/b"), ("us/\"", "eu", "t/a")];
        let made = made.map(|(path, cluster, template)| (path.to_owned(), entry("3", Some((cluster, template)))));
        manifest.extend(made.into_iter());
        manifest.write(&mut OutputWriter::new(&dir, false)).unwrap();
        assert_eq!(Manifest::read(Some(&dir)).unwrap(), manifest);
        assert_eq!(manifest.paths().collect::<Vec<_>>(), ["a", "b/x", "eu/x", "eu/y", "us/\""]);
        let lines = fs::read_to_string(temp.path().join(MANIFEST)).unwrap();
        assert!(
            lines.starts_with("{\"version\":2,\"hash\":\"blake3\",\"templates\":[\"t/a\",\"t/b\"],\"clusters\":{\n")
        );
        assert!(lines.contains("\n\"us\":[[\"eu/y\",1,\""), "{lines}");
        let bad = [
            "",
            "{}",
            "[1]",
            r#"{"version":2,"files":[]}"#,
            r#"{"version":3,"files":{}}"#,
            r#"{"version":1,"files":{"a":"zz"}}"#,
            r#"{"version":2,"files":{},"templates":[],"clusters":{"c":[["c/a",0,""]]}}"#,
            "\u{0}",
        ];
        for text in bad {
            fs::write(temp.path().join(MANIFEST), text).unwrap();
            assert_eq!(Manifest::read(Some(&dir)).unwrap_err().code, Code::BadManifest, "{text}");
        }
    }

    #[test]
    fn the_first_version_is_read() {
        let (temp, dir, manifest) = dir_with(&[("a", "1")]);
        let old = format!("{{\"files\": {{\"a\": \"{}\"}}, \"hash\": \"blake3\", \"version\": 1}}", blake3::hash(b"1"));
        fs::write(temp.path().join(MANIFEST), old).unwrap();
        assert_eq!(Manifest::read(Some(&dir)).unwrap(), manifest);
    }

    #[test]
    fn only_listed_and_unchanged_files_are_removed() {
        let (temp, dir, mut manifest) = dir_with(&[("a/x", "1"), ("a/y", "2"), ("b/z", "3")]);
        fs::write(temp.path().join("a/y"), "edited").unwrap();
        fs::write(temp.path().join("a/foreign"), "?").unwrap();
        fs::write(temp.path().join("..victim"), "?").unwrap();
        manifest.extend([("../victim".to_owned(), entry("?", None))].into_iter());
        let stale = ["../victim", "a/x", "a/y"].map(str::to_owned);
        assert_eq!(manifest.prune(&dir, &stale).unwrap(), (1, 2));
        let there: Vec<bool> = ["a/x", "a/y", "a/foreign", "b/z"].map(|name| temp.path().join(name).exists()).into();
        assert_eq!(there, [false, true, true, true]);
        assert_eq!(manifest.paths().collect::<Vec<_>>(), ["b/z"]);
    }

    #[test]
    fn half_may_go_more_may_not() {
        assert!(Manifest::guard(1, 2, false).is_ok());
        assert_eq!(Manifest::guard(2, 2, false).unwrap_err().code, Code::MassDelete);
        assert!(Manifest::guard(2, 2, true).is_ok());
    }
}
