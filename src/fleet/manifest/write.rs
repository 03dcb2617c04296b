//! Places of manifests, and writing one: the new rows, and the old entries that are kept.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;

use serde::Serialize;

use super::Manifest;
use super::rows::{Entry, OLD_TAG, Row, Rows, SAME_TAG, SortedRows, VERSION};
use super::runs::{Of, RunOptions, Runs};
use crate::output_files::{Change, WriteParts};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::stdlib::strings::push_hex;

/// The number of bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// The files of dropforge's own in a place. Their names begin with `.dropforge-`, which no output's does.
pub trait OwnFiles: Sync {
    /// Opens a file for reading, if it exists.
    ///
    /// # Errors
    /// `file.read_failed`, `file.symbolic_link`; errors of the store.
    fn open_own(&self, name: &str) -> Result<Option<File>>;

    /// Replaces a file at once, unless it has this content. With `fsync` it survives a power failure.
    ///
    /// # Errors
    /// `file.write_failed`; errors of the store; errors of `write`.
    fn write_own(&self, name: &str, fsync: bool, write: WriteParts<'_>) -> Result<Change>;

    /// Calls `each` with the path of every file below `directory`, which may be missing.
    ///
    /// # Errors
    /// Errors of reading, and of `each`.
    fn each_own(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// `file.write_failed`; errors of the store.
    fn remove_own(&self, name: &str) -> Result<()>;
}

/// A manifest to write, or a part of one.
pub struct NewManifest<'a> {
    pub to: &'a dyn OwnFiles,
    pub name: &'a str,
    pub fsync: bool,
    /// Mark it as that of a run that ended early.
    pub incomplete: bool,
    /// The run that made the rows.
    pub run: Option<RunOptions>,
}

/// Writes a manifest, or a part of one: `rows`, whose templates are indexes of `templates`, and the entries of `old` that are kept.
///
/// # Errors
/// `file.write_failed`; errors of reading the old manifest and of temporary files.
pub fn write(
    old: &Manifest,
    kept: &dyn Fn(Entry<'_>) -> Result<bool>,
    (mut rows, templates): (Rows, Vec<String>),
    new: &NewManifest<'_>,
) -> Result<Change> {
    let (mut unknown, mut runs) = (BTreeMap::new(), old.runs.clone());
    let run = new.run.clone().map(|run| runs.add_run(run, &templates));
    // The templates of the run, then those of what is kept, each with its run.
    let mut index = HashMap::from([(run, templates.iter().cloned().zip(0..).collect::<HashMap<_, _>>())]);
    let mut all: Vec<_> = templates.into_iter().map(|template| (template, run)).collect();
    old.each(&mut |entry| {
        if !kept(entry)? {
            return match entry.maker {
                Some((cluster, _)) if !entry.tag.is_empty() => rows.add(Row::of(entry, cluster, OLD_TAG)),
                _ => Ok(()),
            };
        }
        let Some((cluster, template)) = entry.maker else {
            unknown.insert(entry.path.to_owned(), entry.hash);
            return Ok(());
        };
        let of_run = index.entry(entry.run).or_default();
        let template = of_run.get(template).copied().unwrap_or_else(|| {
            of_run.insert(template.to_owned(), all.len() as u32);
            all.push((template.to_owned(), entry.run));
            all.len() as u32 - 1
        });
        rows.add(Row::of(entry, cluster, template))
    })?;
    let of = |at: &u32| {
        let (template, run) = all.get(*at as usize)?;
        Some((template.as_str(), run.and_then(|run| runs.get(run))))
    };
    let mut sorted: Vec<_> = rows.templates().iter().filter_map(|at| Some((of(at)?, *at))).collect();
    sorted.small_sort_by(|(a, _), (b, _)| a.cmp(b));
    let (mut names, mut place) = (Vec::<Of<'_>>::new(), vec![0; all.len()]);
    for (name, at) in sorted {
        if names.last() != Some(&name) {
            names.push(name);
        }
        place.get_mut(at as usize).into_iter().for_each(|place| *place = names.len() - 1);
    }
    let mut rows = rows.sort()?;
    new.to.write_own(new.name, new.fsync, &mut |to| {
        let mut file = ManifestFile { to, place: &place, cluster: None, bytes: Vec::new() };
        file.begin(&names, new.incomplete, &runs);
        file.rows(&mut rows)?;
        file.end(&unknown)
    })
}

/// A manifest that is being written.
struct ManifestFile<'w> {
    to: &'w mut dyn FnMut(&[u8]) -> Result<()>,
    /// The places of templates in the list of the file.
    place: &'w [usize],
    /// The cluster of the current line.
    cluster: Option<String>,
    /// What is not written yet.
    bytes: Vec<u8>,
}

impl ManifestFile<'_> {
    fn begin(&mut self, templates: &[Of<'_>], incomplete: bool, runs: &Runs) {
        self.bytes.extend_from_slice(format!("{{\"version\":{VERSION},\"hash\":\"blake3\",").as_bytes());
        self.bytes.extend_from_slice(if incomplete { b"\"incomplete\":true," } else { b"" });
        let stored = runs.stored(templates);
        if !stored.is_empty() {
            self.bytes.extend_from_slice(b"\"runs\":");
            push_json(&mut self.bytes, &stored);
            self.bytes.push(b',');
        }
        self.bytes.extend_from_slice(b"\"templates\":");
        push_json(&mut self.bytes, &templates.iter().map(|(template, _)| template).collect::<Vec<_>>());
        let digests = runs.digests(templates);
        if !digests.is_empty() {
            self.bytes.extend_from_slice(b",\n\"digests\":");
            push_json(&mut self.bytes, &digests);
        }
        self.bytes.extend_from_slice(b",\"clusters\":{\n");
    }

    fn rows(&mut self, rows: &mut SortedRows) -> Result<()> {
        let mut last: Option<Row> = None;
        while let Some(row) = rows.next()? {
            let is_of = |last: &&mut Row| (&last.path, &last.cluster) == (&row.path, &row.cluster);
            match last.as_mut().filter(is_of) {
                Some(last) if row.template == OLD_TAG && last.tag == SAME_TAG && last.hash == row.hash => {
                    last.tag = row.tag;
                }
                // Parts of several plans may have the same file.
                Some(_) => {}
                None if row.template == OLD_TAG => {}
                None => {
                    if let Some(done) = last.replace(row) {
                        self.row(&done);
                        self.flush(BUFFER)?;
                    }
                }
            }
        }
        last.map_or(Ok(()), |last| {
            self.row(&last);
            self.flush(BUFFER)
        })
    }

    /// Adds a file to the line of its cluster.
    fn row(&mut self, row: &Row) {
        if self.cluster.as_ref() == Some(&row.cluster) {
            self.bytes.push(b',');
        } else {
            self.bytes.extend_from_slice(if self.cluster.is_some() { b"],\n" } else { b"" });
            push_json(&mut self.bytes, &row.cluster);
            self.bytes.extend_from_slice(b":[");
            self.cluster = Some(row.cluster.clone());
        }
        self.bytes.push(b'[');
        push_json(&mut self.bytes, &row.path);
        self.bytes.push(b',');
        push_json(&mut self.bytes, &self.place.get(row.template as usize));
        self.bytes.push(b',');
        push_hash(&mut self.bytes, &row.hash);
        // Without the old tag the next run puts the object again.
        if !row.tag.is_empty() && row.tag != SAME_TAG {
            self.bytes.push(b',');
            push_json(&mut self.bytes, &row.tag);
        }
        self.bytes.push(b']');
    }

    fn end(&mut self, unknown: &BTreeMap<String, blake3::Hash>) -> Result<()> {
        self.bytes.extend_from_slice(if self.cluster.is_some() { b"]\n},\"files\":{" } else { b"\n},\"files\":{" });
        for (at, (path, hash)) in unknown.iter().enumerate() {
            self.bytes.extend_from_slice(if at == 0 { b"" } else { b",\n" });
            push_json(&mut self.bytes, path);
            self.bytes.push(b':');
            push_hash(&mut self.bytes, hash.as_bytes());
        }
        self.bytes.extend_from_slice(b"}}\n");
        self.flush(0)
    }

    /// Writes what is there if it is longer than `most`.
    fn flush(&mut self, most: usize) -> Result<()> {
        if self.bytes.len() > most {
            (self.to)(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }
}

fn push_hash(out: &mut Vec<u8>, hash: &[u8]) {
    out.push(b'"');
    push_hex(hash, out);
    out.push(b'"');
}

fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Strings, numbers and lists are written without errors.
    let _ = serde_json::to_writer(out, value);
}
