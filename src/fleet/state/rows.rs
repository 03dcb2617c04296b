//! Rows of a state, sorted by cluster and path. A few are in memory, the others in a temporary file.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use super::runs::Ownership;
use crate::key_set::{KeySet, SortedKeys};
use crate::scratch::Scratch;
use dropforge_base::diagnostics::Result;

/// The number of bytes that are sorted in memory.
const SORTED: usize = 4 << 20;
/// The number of bytes of a run that are read at once.
const READ: usize = 1 << 14;

/// A file that a run has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'s> {
    /// The path below the output folder.
    pub path: &'s str,
    /// The digest of the content. After a merge of two branches, those of both sides with commas between.
    pub(crate) digests: &'s str,
    /// The release that the file is of, or an empty string.
    pub release: &'s str,
    /// The cluster and the template that make the file, or `None` if a state of the first version has it. Templates are named
    /// by their paths, as in [`TemplatePaths`](crate::TemplatePaths).
    pub maker: Option<(&'s str, &'s str)>,
    /// The number of the run that wrote it, if it is known.
    pub(super) run: Option<usize>,
    /// The ETag of an object, or empty.
    pub tag: &'s str,
}

impl<'s> Entry<'s> {
    /// Returns `true` if a run has written a content with this digest.
    pub fn has_content(&self, hash: &blake3::Hash) -> bool {
        let hash = hash.to_hex();
        self.digests.split(',').any(|digest| digest == hash.as_str())
    }

    /// Returns the digests of the content.
    pub(crate) fn hashes(self) -> impl Iterator<Item = blake3::Hash> + use<'s> {
        self.digests.split(',').filter_map(|digest| blake3::Hash::from_hex(digest).ok())
    }

    /// Returns `true` if the run with this number made the file.
    pub(crate) fn is_of_run(&self, run: usize) -> bool {
        self.run == Some(run)
    }

    /// Returns what a run is to the file, by what it is to each former run.
    pub(crate) fn ownership(&self, runs: &[Ownership]) -> Ownership {
        self.run.and_then(|run| runs.get(run)).copied().unwrap_or(Ownership::Templates)
    }

    /// Returns `true` if it is no file, but has the digest of the values that the cluster had in the run as its tag.
    pub(crate) fn is_of_values(&self) -> bool {
        self.path.is_empty()
    }
}

/// A file that a run has written, or with an empty path the digest of the cluster's values, which is its tag. Rows are ordered
/// by cluster and path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The cluster.
    pub cluster: String,
    /// The path below the output folder.
    pub path: String,
    /// The index of the template in a list of the caller's.
    pub template: u32,
    /// The digest of the content.
    pub hash: [u8; 32],
    /// The ETag of an object, or empty, or `SAME_TAG`.
    pub tag: String,
}

/// The tag of an object that has the one in the old state.
pub(crate) const SAME_TAG: &str = "=";
/// The hash of a digest of values that is kept. It comes after one that the run adds.
const KEPT_VALUES: [u8; 32] = [1; 32];
/// The template of rows that only pass on the tag of the old state. They come after the others of their path.
pub(super) const OLD_TAG: u32 = u32::MAX;

impl Row {
    /// Returns the rows of an entry, which this cluster and template make.
    pub fn of<'e>(entry: Entry<'e>, cluster: &'e str, template: u32) -> impl Iterator<Item = Self> + use<'e> {
        let row = move |hash: [u8; 32]| {
            let (cluster, path, tag) = (cluster.to_owned(), entry.path.to_owned(), entry.tag.to_owned());
            Self { cluster, path, template, hash, tag }
        };
        let of_values = entry.is_of_values().then_some(KEPT_VALUES);
        let of_file = entry.hashes();
        of_values.into_iter().chain(of_file.map(|hash| *hash.as_bytes())).map(row)
    }

    /// Returns the row with the digest of a cluster's values. `template` is the index of the run's values.
    pub fn of_values(cluster: &str, template: u32, digest: String) -> Self {
        Self { cluster: cluster.to_owned(), path: String::new(), template, hash: [0; 32], tag: digest }
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.cluster.len() + self.path.len() + self.tag.len()
    }

    fn write(&self, to: &mut Vec<u8>) {
        let length = |text: &str| (text.len() as u32).to_le_bytes();
        to.extend_from_slice(&length(&self.cluster));
        to.extend_from_slice(&length(&self.path));
        to.extend_from_slice(&length(&self.tag));
        to.extend_from_slice(&self.template.to_le_bytes());
        to.extend_from_slice(&self.hash);
        to.extend_from_slice(self.cluster.as_bytes());
        to.extend_from_slice(self.path.as_bytes());
        to.extend_from_slice(self.tag.as_bytes());
    }

    /// Reads a row and the number of its bytes. Returns `None` if some of them are missing.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let text = |range: Range<usize>| Some(str::from_utf8(bytes.get(range)?).ok()?.to_owned());
        let (template, hash, start) = (number(12)?, bytes.get(16..48)?.try_into().ok()?, 48);
        let path = start + number(0)? as usize;
        let tag = path + number(4)? as usize;
        let end = tag + number(8)? as usize;
        let (cluster, path, tag) = (text(start..path)?, text(path..tag)?, text(tag..end)?);
        Some((Self { cluster, path, template, hash, tag }, end))
    }
}

/// Rows in any order.
#[derive(Debug, Default)]
pub struct Rows {
    unsorted: Vec<Row>,
    bytes: usize,
    /// Sorted rows, one run after the other.
    sorted: Scratch,
    runs: Vec<Range<u64>>,
    templates: BTreeSet<u32>,
    clusters: KeySet,
}

impl Rows {
    /// Takes the names of the clusters of all rows.
    pub(super) fn take_clusters(&mut self) -> Result<SortedKeys> {
        std::mem::take(&mut self.clusters).sort()
    }

    /// Returns the templates of all rows.
    pub(super) fn templates(&self) -> &BTreeSet<u32> {
        &self.templates
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Errors of the temporary file.
    pub fn add(&mut self, row: Row) -> Result<()> {
        if row.template != OLD_TAG {
            self.templates.insert(row.template);
        }
        if self.unsorted.last().is_none_or(|last| last.cluster != row.cluster) {
            self.clusters.add(&row.cluster)?;
        }
        self.bytes += row.size();
        self.unsorted.push(row);
        if self.bytes < SORTED { Ok(()) } else { self.end_run() }
    }

    fn end_run(&mut self) -> Result<()> {
        self.unsorted.sort_unstable();
        let (start, mut bytes) = (self.sorted.len(), Vec::new());
        for row in self.unsorted.drain(..) {
            row.write(&mut bytes);
            if bytes.len() >= READ {
                self.sorted.push(&bytes)?;
                bytes.clear();
            }
        }
        self.sorted.push(&bytes)?;
        self.runs.push(start..self.sorted.len());
        self.bytes = 0;
        Ok(())
    }

    /// Sorts all rows.
    ///
    /// # Errors
    /// Errors of the temporary file.
    pub fn sort(mut self) -> Result<SortedRows> {
        if self.runs.is_empty() {
            self.unsorted.sort_unstable();
            self.unsorted.reverse();
            return Ok(SortedRows { last: self.unsorted, ..SortedRows::default() });
        }
        self.end_run()?;
        let runs = self.runs.into_iter().map(|left| RowRun { left, bytes: Vec::new(), at: 0 }).collect();
        let mut rows = SortedRows { last: Vec::new(), of: self.sorted, runs, heap: BinaryHeap::new() };
        (0..rows.runs.len()).try_for_each(|nth| rows.refill(nth))?;
        Ok(rows)
    }
}

/// Rows in order.
#[derive(Debug, Default)]
pub struct SortedRows {
    /// The rows if all are in memory, the first one last.
    last: Vec<Row>,
    of: Scratch,
    runs: Vec<RowRun>,
    /// The first rows of the runs.
    heap: BinaryHeap<Reverse<(Row, usize)>>,
}

/// The rest of a run.
#[derive(Debug)]
struct RowRun {
    left: Range<u64>,
    bytes: Vec<u8>,
    /// The position of the next row in the bytes.
    at: usize,
}

impl SortedRows {
    /// Takes the first row.
    ///
    /// # Errors
    /// Errors of the temporary file.
    pub fn next(&mut self) -> Result<Option<Row>> {
        if let Some(row) = self.last.pop() {
            return Ok(Some(row));
        }
        let Some(Reverse((row, nth))) = self.heap.pop() else { return Ok(None) };
        self.refill(nth)?;
        Ok(Some(row))
    }

    /// Puts the next row of a run on the heap.
    fn refill(&mut self, nth: usize) -> Result<()> {
        let Some(run) = self.runs.get_mut(nth) else { return Ok(()) };
        loop {
            if let Some((row, size)) = run.bytes.get(run.at..).and_then(Row::read) {
                run.at += size;
                self.heap.push(Reverse((row, nth)));
                return Ok(());
            }
            if run.left.is_empty() {
                return Ok(());
            }
            run.bytes.drain(..run.at);
            run.at = 0;
            let (old, more) = (run.bytes.len(), (run.left.end - run.left.start).min(READ as u64));
            run.bytes.resize(old + more as usize, 0);
            self.of.read(run.left.start, run.bytes.get_mut(old..).unwrap_or_default())?;
            run.left.start += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(nth: usize, long: usize) -> Row {
        let hash = *blake3::hash(&nth.to_le_bytes()).as_bytes();
        Row {
            cluster: format!("c{:07}", nth / 5),
            path: format!("{}{nth:09}", "p".repeat(long)),
            template: nth as u32,
            hash,
            tag: "t".repeat(nth % 3),
        }
    }

    #[test]
    fn rows_come_in_order_whether_there_are_few_or_many() {
        // Rows longer than what is read at once, too.
        for (count, long) in [(0, 0), (7, 3), (120_000, 20), (300, READ * 3)] {
            let mut rows = Rows::default();
            (0..count).for_each(|nth| rows.add(row((nth * 7_919) % count, long)).unwrap());
            let is_long = rows.bytes + rows.runs.len() * SORTED > SORTED;
            assert_eq!(is_long, count > 100, "{count}");
            let mut sorted = rows.sort().unwrap();
            for nth in 0..count {
                assert_eq!(sorted.next().unwrap(), Some(row(nth, long)), "{nth} of {count}");
            }
            assert_eq!(sorted.next().unwrap(), None);
        }
    }
}
