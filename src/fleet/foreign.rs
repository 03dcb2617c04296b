//! Files in the output directory that dropforge did not write. A run overwrites them only by force.
//!
//! Ours are the files that the manifest lists, and those that an unfinished run recorded before its first write.
//! A file with the content that the run would write is adopted.

use std::io::{self, BufRead, BufReader};

use roaring::RoaringBitmap;

use super::destination::{Destination, FileReader};
use super::job::{Job, Options, Stamp, Watch};
use super::key_set::{KeySet, SortedKeys};
use super::manifest::Manifest;
use super::output_path::check_path;
use super::pieces::Piece;
use super::plan::Placed;
use super::scratch::Scratch;
use super::shards::PARTS;
use super::sinks::Outputs;
use super::workers::{Late, Sink, SinkError, SinkResult, drive};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, listed_of};
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// The record of a run, which exists until the run ends. If it exists at the start, an earlier run was killed.
pub(super) const RECORD: &str = ".dropforge-run.tmp";
/// Maximum number of files to name.
const NAMED: usize = 5;

/// The files of an output directory that are ours.
pub struct Ours<'m> {
    manifest: &'m Manifest,
    record: Record,
}

impl<'m> Ours<'m> {
    /// Reads the records of unfinished runs and shards. The one called `own` will be written again.
    ///
    /// # Errors
    /// Errors of reading them.
    pub(super) fn read<D: Destination>(from: Option<&D>, manifest: &'m Manifest, own: &str) -> Result<Self> {
        let (mut names, mut record) = (vec![RECORD.to_owned()], RecordReader::default());
        let Some(from) = from else { return Ok(Self { manifest, record: record.finish()? }) };
        from.each_own(PARTS, &mut |path| {
            names.extend(path.ends_with(".run").then(|| path.to_owned()));
            Ok(())
        })?;
        for name in names {
            if let Some(file) = from.open_own(&name)? {
                record.read(&mut BufReader::new(file), name == own)?;
            }
        }
        Ok(Self { manifest, record: record.finish()? })
    }

    /// Returns `true` if the file at `path` is ours.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn contains(&self, path: &str) -> Result<bool> {
        Ok(self.manifest.contains(path)? || self.record.contains(path)?)
    }
}

/// The files that a run may write and that its manifest does not list yet. It is written before the first of them.
///
/// A line is a path, or a directory with a `/` at its end for files whose names are known only after rendering, or `!`
/// and the path of a file in such a directory that was there before the run.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The lines of the run's own record.
    lines: Scratch,
    files: SortedKeys,
    directories: SortedKeys,
    before: SortedKeys,
}

/// Reads the records of several runs as one.
#[derive(Default)]
struct RecordReader {
    lines: Scratch,
    files: KeySet,
    directories: KeySet,
    before: KeySet,
}

impl RecordReader {
    /// Reads a record. The lines of the run's own are kept.
    fn read(&mut self, reader: &mut dyn BufRead, is_own: bool) -> Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(unreadable)?;
            // A run that was killed while it wrote the record has written nothing else, but the last line may be cut off.
            let Some((b'\n', text)) = line.split_last() else { return Ok(()) };
            let text = String::from_utf8_lossy(text);
            match (text.strip_prefix('!'), text.strip_suffix('/')) {
                (Some(path), _) => self.before.add(path)?,
                (None, Some(path)) => self.directories.add(path)?,
                (None, None) => self.files.add(&text)?,
            }
            if is_own {
                self.lines.push(&line)?;
            }
        }
    }

    fn finish(self) -> Result<Record> {
        let Self { lines, files, directories, before } = self;
        Ok(Record { lines, files: files.sort()?, directories: directories.sort()?, before: before.sort()? })
    }
}

impl Record {
    fn contains(&self, path: &str) -> Result<bool> {
        if self.files.contains(path)? {
            return Ok(true);
        }
        if self.directories.is_empty() || self.before.contains(path)? {
            return Ok(false);
        }
        let parents = path.rmatch_indices('/').filter_map(|(end, _)| path.get(..end)).chain([""]);
        for parent in parents {
            if self.directories.contains(parent)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn unreadable(error: io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::ReadFailed, format!("cannot read the record of an unfinished run: {error}")).caused_by(error)
}

fn push_line(lines: &mut Scratch, parts: &[&str]) -> Result<()> {
    parts.iter().chain(&["\n"]).try_for_each(|part| lines.push(part.as_bytes()))
}

/// Existing files that are not ours and that the run may write.
#[derive(Debug, Default)]
struct Candidates {
    files: KeySet,
    /// The indexes of their clusters.
    clusters: RoaringBitmap,
}

impl Candidates {
    fn add(&mut self, at: usize, path: &str) -> Result<()> {
        self.clusters.extend(u32::try_from(at));
        self.files.add(path)
    }
}

/// Checks that the run overwrites no file that is not ours, unless it is forced to. Adds what the run may write to the
/// record of `ours`, and returns the text of it.
///
/// # Errors
/// `plan.foreign_file`; errors of reading directories.
pub(super) fn check<D: Destination>(stamp: &dyn Stamp, job: &Job<'_>, to: &D, ours: &mut Ours<'_>) -> Result<Scratch> {
    let mut record = std::mem::take(&mut ours.record.lines);
    let candidates = match job.plan.is_of_documents() {
        true => candidates_of_documents(job, to, ours, &mut record)?,
        false => candidates(job, to, ours, &mut record)?,
    };
    if job.options.force || candidates.clusters.is_empty() {
        return Ok(record);
    }
    match foreign(stamp, job, to, candidates)? {
        (0, _) => Ok(record),
        (count, first) => Err(error(count, &first)),
    }
}

/// Finds planned paths of files that exist and are not ours.
fn candidates<D: Destination>(job: &Job<'_>, to: &D, ours: &Ours<'_>, record: &mut Scratch) -> Result<Candidates> {
    let (mut found, mut path) = (Candidates::default(), String::new());
    let mut reader = (!to.is_fresh()).then(|| to.reader());
    job.plan.selection(job.fleet).each(&mut |at, cluster| {
        let placed = job.plan.place(at, cluster, job.layers)?;
        for output in 0..job.plan.outputs().len() {
            job.plan.path(&placed, output, &mut path);
            if ours.contains(&path)? {
                continue;
            }
            push_line(record, &[&path])?;
            if reader.exists(&path)? {
                found.add(at, &path)?;
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Finds files that are not ours in the directories of clusters, where the paths of documents are still unknown.
fn candidates_of_documents<D: Destination>(
    job: &Job<'_>,
    to: &D,
    ours: &Ours<'_>,
    record: &mut Scratch,
) -> Result<Candidates> {
    let mut found = Candidates::default();
    job.plan.selection(job.fleet).each(&mut |at, cluster| {
        let directory = job.plan.cluster_directory(&job.plan.place(at, cluster, job.layers)?);
        if !ours.record.directories.contains(&directory)? {
            push_line(record, &[&directory, "/"])?;
        }
        if to.is_fresh() {
            return Ok(());
        }
        to.each_file(&directory, &mut |path| {
            // Names that no output can have are our own, such as the manifest's.
            if !ours.contains(path)? && check_path(path).is_ok() {
                push_line(record, &["!", path])?;
                found.add(at, path)?;
            }
            Ok(())
        })
    })?;
    Ok(found)
}

/// Renders the clusters of these files. Returns the number of files whose content differs, and the first of them in order
/// of the plan.
fn foreign<D: Destination>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    to: &D,
    candidates: Candidates,
) -> Result<(usize, Vec<String>)> {
    let files = candidates.files.sort()?;
    let plan = job.plan.only(candidates.clusters);
    let options = Options { fail_fast: false, ..job.options.clone() };
    let job = Job { plan: &plan, options: &options, watch: Watch { done: &|| {}, ..job.watch }, ..*job };
    let sink =
        || CompareSink { outputs: Outputs::new(&job), reader: to.reader(), files: &files, count: 0, first: Vec::new() };
    // Clusters that fail here fail again in the run, and write nothing.
    let (done, _) = drive(stamp, &job, &|_| {}, &sink)?;
    let count = done.iter().map(|(count, _)| count).sum();
    let mut first: Vec<(usize, String)> = done.into_iter().flat_map(|(_, first)| first).collect();
    first.small_sort_by(Ord::cmp);
    Ok((count, first.into_iter().map(|(_, path)| path).collect()))
}

fn error(count: usize, first: &[String]) -> Box<Diagnostic> {
    let (files, them) = (counted(count, "file"), if count == 1 { "it" } else { "them" });
    let message = format!("{files} in the output directory would be overwritten, but dropforge did not write {them}");
    Diagnostic::new(Code::ForeignFile, message)
        .with_note(format!("files: {}", listed_of(first, count, NAMED)))
        .with_help("move them, use another directory, or overwrite them with `--force`")
}

/// Returns the warning of a preview that found files that a run would refuse to overwrite.
pub(super) fn warning(files: usize) -> String {
    format!("{} that dropforge did not write would change: a run needs `--force`", counted(files, "file"))
}

/// Compares outputs with existing files.
struct CompareSink<'j, R> {
    outputs: Outputs<'j>,
    reader: R,
    files: &'j SortedKeys,
    /// The number of files whose content differs.
    count: usize,
    /// The first of them, with the indexes of their clusters.
    first: Vec<(usize, String)>,
}

impl<R: FileReader> Sink for CompareSink<'_, R> {
    type Done = (usize, Vec<(usize, String)>);

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        let (reader, files, count, first) = (&mut self.reader, self.files, &mut self.count, &mut self.first);
        self.outputs.each(cluster, text, pieces, |_, path, new| {
            let differs = |old: Option<(&[u8], _)>| old.is_some_and(|(old, _)| old != new);
            let is_candidate = files.contains(path).map_err(SinkError::Run)?;
            if is_candidate && differs(reader.read(path).map_err(SinkError::Cluster)?) {
                *count += 1;
                // A worker takes clusters in order.
                first.extend((first.len() < NAMED).then(|| (cluster.at, path.to_owned())));
            }
            Ok(())
        })
    }

    fn skip(&mut self, _: usize) {}

    fn done(self, _: Late<'_>) -> Self::Done {
        (self.count, self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_files_and_directories() {
        let parse = |text: &[u8]| {
            let mut reader = RecordReader::default();
            reader.read(&mut &*text, true).unwrap();
            reader.finish().unwrap()
        };
        let record = parse(b"a/x\nb/\n!b/mine\nc/cut");
        for (path, is_ours) in
            [("a/x", true), ("a/y", false), ("b/x", true), ("b/s/x", true), ("b/mine", false), ("c/cut", false)]
        {
            assert_eq!(record.contains(path).unwrap(), is_ours, "{path}");
        }
        let mut lines = Vec::new();
        record
            .lines
            .each_part(&mut |part| {
                lines.extend_from_slice(part);
                Ok(())
            })
            .unwrap();
        assert_eq!(lines, b"a/x\nb/\n!b/mine\n");
        assert!(parse(b"/\n").contains("any/path").unwrap());
        assert!(parse(b"cut").lines.len() == 0 && parse(&[0xff, b'\n']).directories.is_empty());
    }
}
