//! Snapshots: what a template rendered when the snapshot was written.
//!
//! They lie beside the test file, in `__snapshot__/NAME.snap`, in the format of helm-unittest: a map of tests, each a map of
//! numbered texts.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use dropforge::bulk::write_file;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge::engine::path_from_here;
use dropforge::files::Files;
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::{Data, yaml};

use super::target::folder_of;
use super::values::{document, json, plain, same, value_of};
use crate::input::{InputFiles, is_below};
use dropforge::files::unreadable;

/// The folder of snapshots.
pub(super) const FOLDER: &str = "__snapshot__";

/// The texts of a test, by number.
type Texts = BTreeMap<usize, String>;

/// The texts of all tests in a file, with the places of their numbers.
type Stored = BTreeMap<String, BTreeMap<usize, (String, Span)>>;

/// The snapshots of a test file.
#[derive(Debug)]
pub(super) struct Snapshots {
    path: PathBuf,
    source: Arc<Source>,
    stored: Stored,
    /// Those of this run.
    current: BTreeMap<String, Texts>,
    /// The number of the latest snapshot of the test that runs.
    number: usize,
    /// Tests that did not get to their snapshots.
    unknown: HashSet<String>,
    updates: bool,
    pub changed: SnapshotCounts,
}

/// Numbers of snapshots that `--update` changes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct SnapshotCounts {
    pub written: usize,
    pub updated: usize,
    pub removed: usize,
}

impl std::ops::AddAssign for SnapshotCounts {
    fn add_assign(&mut self, more: Self) {
        self.written += more.written;
        self.updated += more.updated;
        self.removed += more.removed;
    }
}

/// The result of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Same,
    Missing,
    /// The stored text.
    Differs(String),
}

impl Snapshots {
    /// Reads the snapshots of a test file, or those of its suites with an identifier.
    ///
    /// # Errors
    /// Errors of reading the file; `test.structure` if it is no file of snapshots.
    pub fn of(
        test_file: &Path,
        id: Option<&str>,
        updates: bool,
        files: &mut InputFiles,
    ) -> std::result::Result<Self, Diagnostics> {
        let id = id.map(|id| format!("_{}", id.replace(['/', '\\'], "_"))).unwrap_or_default();
        let name = test_file.file_name().unwrap_or_default().to_string_lossy() + &*id;
        let folder = test_file.parent().unwrap_or(Path::new("")).join(FOLDER);
        let path = folder.join(format!("{name}.snap"));
        if !is_below(&Files::below(folder_of(test_file))?, &path) {
            return Err(unreadable(&path, std::io::Error::other("it is a link that leads out of its folder")).into());
        }
        let source = match path.exists() {
            true => files.read_regular(&path)?,
            false => Source::new(path.display().to_string(), ""),
        };
        let stored = stored(&source)?;
        let (current, unknown) = (BTreeMap::new(), HashSet::new());
        Ok(Self { path, source, stored, current, number: 0, unknown, updates, changed: SnapshotCounts::default() })
    }

    /// Begins a test. Tests of one name have the same snapshots.
    pub fn begin(&mut self) {
        self.number = 0;
    }

    /// Compares the next text of a test with its snapshot. With `is_text`, the text counts; otherwise it is YAML and its
    /// values count. With `keeps`, a snapshot that differs stays even if others are written.
    pub fn compare(&mut self, test: &str, text: &str, (is_text, keeps): (bool, bool)) -> Compared {
        self.number += 1;
        let number = self.number;
        let text = if is_text { text_snapshot(text) } else { text.to_owned() };
        let texts = self.current.entry(test.to_owned()).or_default();
        let other = texts.insert(number, text.clone());
        let stored = self.stored.get(test).and_then(|texts| texts.get(&number)).map(|(text, _)| text.clone());
        let is_same = |stored: &str| match is_text {
            true => stored == text || text_of(stored) == text_of(&text),
            false => stored == text || same_values(stored, &text),
        };
        // What another test of the same name has written cannot be written again.
        if let Some(other) = other.filter(|other| self.updates && !is_same(other)) {
            return Compared::Differs(other);
        }
        match stored {
            Some(stored) if is_same(&stored) => {
                texts.insert(number, stored);
                Compared::Same
            }
            Some(stored) if keeps => {
                texts.insert(number, stored.clone());
                Compared::Differs(stored)
            }
            Some(_) if self.updates => {
                self.changed.updated += 1;
                Compared::Same
            }
            None if self.updates => {
                self.changed.written += 1;
                if keeps { Compared::Differs(String::new()) } else { Compared::Same }
            }
            Some(stored) if is_text => Compared::Differs(text_of(&stored)),
            // The layout of another writer is no difference.
            Some(stored) => Compared::Differs(values(&stored).map_or(stored, |values| document(&values))),
            None => Compared::Missing,
        }
    }

    /// Passes over the next snapshot of a test, which is written but not compared.
    pub fn pass(&mut self, test: &str, text: &str) {
        self.compare(test, text, (false, false));
    }

    /// Takes note of a test that did not run, or failed before its snapshots: they are not obsolete.
    pub fn keep(&mut self, test: &str) {
        self.unknown.insert(test.to_owned());
    }

    /// Removes obsolete snapshots and writes the file, with `--update`; or returns warnings about them.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub fn finish(&mut self) -> Result<Vec<Box<Diagnostic>>> {
        let obsolete = self.obsolete();
        if !self.updates {
            return Ok(obsolete.iter().map(|(test, number, span)| self.warning(test, *number, *span)).collect());
        }
        self.changed.removed = obsolete.len();
        if self.changed != SnapshotCounts::default() {
            self.write(&obsolete.into_iter().map(|(test, number, _)| (test, number)).collect())?;
        }
        Ok(Vec::new())
    }

    /// Returns the snapshots that no test compares with.
    fn obsolete(&self) -> Vec<(String, usize, Span)> {
        let all = self.stored.iter().filter(|(test, _)| !self.unknown.contains(*test));
        let numbered =
            all.flat_map(|(test, texts)| texts.iter().map(move |(number, (_, span))| (test, *number, *span)));
        let is_used =
            |test: &str, number: usize| self.current.get(test).is_some_and(|texts| texts.contains_key(&number));
        numbered
            .filter(|(test, number, _)| !is_used(test, *number))
            .map(|(test, n, at)| (test.clone(), n, at))
            .collect()
    }

    fn warning(&self, test: &str, number: usize, span: Span) -> Box<Diagnostic> {
        let message = format!("no test compares with snapshot {number} of `{test}`");
        let warning = Diagnostic::warning(Code::SnapshotObsolete, message).at(&self.source, span, "");
        warning.with_help("remove it with `dropforge test --update`")
    }

    fn write(&self, obsolete: &HashSet<(String, usize)>) -> Result<()> {
        let mut all: BTreeMap<&str, BTreeMap<usize, &str>> = BTreeMap::new();
        for (test, texts) in &self.stored {
            let kept = texts.iter().filter(|(number, _)| !obsolete.contains(&(test.clone(), **number)));
            all.entry(test).or_default().extend(kept.map(|(number, (text, _))| (*number, text.as_str())));
        }
        for (test, texts) in &self.current {
            let texts = texts.iter().map(|(number, text)| (*number, text.as_str()));
            all.entry(test).or_default().extend(texts);
        }
        all.retain(|_, texts| !texts.is_empty());
        if all.is_empty() {
            return fs::remove_file(&self.path).map_err(|error| unwritable(&self.path, &error));
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        }
        write_file(&self.path, printed(&all).as_bytes(), false).map(|_| ())
    }
}

/// Removes the files of snapshots beside `test_files` whose test files are gone, with `updates`; or returns warnings about
/// them.
///
/// # Errors
/// `file.write_failed`.
pub(super) fn left_over<'f>(test_files: impl Iterator<Item = &'f Path>, updates: bool) -> Result<Vec<Box<Diagnostic>>> {
    let folders: BTreeSet<&Path> = test_files.filter_map(Path::parent).collect();
    let mut warnings = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder.join(FOLDER)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        for name in names {
            let is_gone = |test: &&str| {
                // An identifier may follow the name of the test file.
                let names = test.match_indices('_').filter_map(|(at, _)| test.get(..at)).chain([*test]);
                !names.into_iter().any(|name| folder.join(name).is_file())
            };
            let Some(test) = name.strip_suffix(".snap").filter(is_gone) else { continue };
            let path = folder.join(FOLDER).join(&name);
            if updates {
                fs::remove_file(&path).map_err(|error| unwritable(&path, &error))?;
                continue;
            }
            let message = format!("`{}` has snapshots of `{test}`, which does not exist", path_from_here(&path));
            let warning = Diagnostic::warning(Code::SnapshotObsolete, message);
            warnings.push(warning.with_help("remove the file with `dropforge test --update`"));
        }
    }
    Ok(warnings)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot write `{}`: {error}", path.display()))
}

/// Reads a file of snapshots.
fn stored(source: &Arc<Source>) -> std::result::Result<Stored, Vec<Box<Diagnostic>>> {
    let wrong = |span: Span, message: &str| {
        let error = Diagnostic::new(Code::TestStructure, message).at(source, span, "");
        vec![error.with_help("write it again with `dropforge test --update`, after removing the file")]
    };
    let root = yaml::read_one(source, &Limits::default())?;
    let tests = match (&root.kind, root.as_map()) {
        (yaml::Kind::Null, _) => &[],
        (_, Some(tests)) => tests,
        _ => return Err(wrong(root.span, "a snapshot file must be a map of tests")),
    };
    let mut all = BTreeMap::new();
    for test in tests {
        let Some(texts) = test.value.as_map() else {
            return Err(wrong(test.value.span, "the snapshots of a test must be a map of numbered texts"));
        };
        let mut numbered = BTreeMap::new();
        for text in texts {
            let Ok(number) = text.name.parse() else {
                return Err(wrong(text.key.span, "a snapshot must have a number"));
            };
            numbered.insert(number, (text.value.text.as_ref().to_owned(), text.key.span));
        }
        all.insert(test.name.as_ref().to_owned(), numbered);
    }
    Ok(all)
}

/// Returns `true` if both texts are YAML of the same values. Empty lines at the beginning of a text do not count: helm-unittest
/// leaves them out.
fn same_values(a: &str, b: &str) -> bool {
    let read = |text: &str| values(text).map(trimmed);
    matches!((read(a), read(b)), (Some(a), Some(b)) if same(&a, &b))
}

fn trimmed(value: Value) -> Value {
    match value {
        Value::String(text) => Value::from(text.trim_start_matches('\n')),
        Value::Array(items) => items.into_iter().map(trimmed).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, trimmed(value))).collect(),
        other => other,
    }
}

/// Returns the snapshot of a text: the text as YAML.
fn text_snapshot(text: &str) -> String {
    yaml::to_string(&Data::Str(plain(text)))
}

/// Returns the text of a snapshot. It may be written as it is.
fn text_of(stored: &str) -> String {
    let text = values(stored).and_then(|value| value.as_str().map(str::to_owned));
    plain(text.as_deref().unwrap_or(stored))
}

/// Returns the values of a YAML text.
fn values(text: &str) -> Option<Value> {
    let node = yaml::read_one(&Source::new("snapshot", text), &Limits::default()).ok()?;
    Some(json(&value_of(&node)))
}

/// Prints a file of snapshots.
fn printed(all: &BTreeMap<&str, BTreeMap<usize, &str>>) -> String {
    let mut out = String::new();
    for (test, texts) in all {
        out.push_str(&format!("{}\n", key(test)));
        for (number, text) in texts {
            out.push_str(&format!("  {number}: {}\n", text_below(text)));
        }
    }
    out
}

/// Returns a text as a key with its colon.
fn key(text: &str) -> String {
    let printed = yaml::to_string(&Data::Map([(text.to_owned(), Data::Null)].into_iter().collect()));
    printed.trim_end_matches(" null\n").to_owned()
}

/// Returns a text as the value of a key that is indented by two spaces.
fn text_below(text: &str) -> String {
    let printed = yaml::to_string(&Data::Map([("k".to_owned(), Data::Str(text.to_owned()))].into_iter().collect()));
    let value = printed.strip_prefix("k: ").and_then(|value| value.strip_suffix('\n')).unwrap_or("");
    value.replace('\n', "\n  ").replace("\n  \n", "\n\n").replace("\n  \n", "\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_read_as_they_were_written() {
        let texts = [
            "a: 1\nb:\n  - x\n",
            "no end",
            "",
            "\n\n",
            "  indented\nless\n",
            "tab\there\n\n\n",
            "é\u{7}",
            "- a\n\n- b\n",
            "x: |\n  y\n",
        ];
        let tests = ["plain", "with: colon", "yes", "'quoted' #1", "{{ x }}"];
        let one: BTreeMap<usize, &str> = texts.iter().enumerate().map(|(at, text)| (at + 1, *text)).collect();
        let all: BTreeMap<&str, BTreeMap<usize, &str>> = tests.iter().map(|test| (*test, one.clone())).collect();
        let printed = printed(&all);
        let read = stored(&Source::new("a.snap", printed.as_str()))
            .unwrap_or_else(|errors| panic!("{}\n{printed}", errors[0]));
        for test in tests {
            for (number, text) in &one {
                assert_eq!(read[test][number].0, *text, "{test} {number}\n{printed}");
            }
        }
        assert!(printed.contains("plain:\n  1: |\n    a: 1\n    b:\n      - x\n"), "{printed}");
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["- a\n", "a: b\n", "a:\n  one: x\n", "a: [\n"] {
            assert!(stored(&Source::new("a.snap", text)).is_err(), "{text}");
        }
        assert!(stored(&Source::new("a.snap", "")).unwrap().is_empty());
    }
}
