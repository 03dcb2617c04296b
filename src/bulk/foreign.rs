//! Files in the output directory that dropforge did not write. A run overwrites them only by force.
//!
//! Ours are the files that the manifest lists, and those that an unfinished run recorded before its first write.
//! A file with the content that the run would write is adopted.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader};

use roaring::RoaringBitmap;

use super::job::{Job, Options, Stamp, Watch};
use super::key_set::{KeySet, SortedKeys};
use super::manifest::Manifest;
use super::output_dir::OutputDir;
use super::output_files::OutputReader;
use super::output_path::check_path;
use super::pieces::Piece;
use super::plan::Placed;
use super::scratch::Scratch;
use super::sinks::Outputs;
use super::workers::{Sink, SinkError, SinkResult, drive};
use crate::diagnostics::{Code, Diagnostic, Result, counted, listed};

/// Maximum number of files to name.
const NAMED: usize = 5;

/// The files of an output directory that are ours.
pub(super) struct Ours<'m> {
    manifest: &'m Manifest,
    record: Record,
}

impl<'m> Ours<'m> {
    /// Reads the record of an unfinished run, if there is one.
    ///
    /// # Errors
    /// Errors of reading it.
    pub(super) fn read(dir: Option<&OutputDir>, manifest: &'m Manifest) -> Result<Self> {
        let file = dir.map_or(Ok(None), OutputDir::record)?;
        let record = file.map_or_else(|| Ok(Record::default()), |file| Record::parse(&mut BufReader::new(file)))?;
        Ok(Self { manifest, record })
    }

    /// Returns `true` if the file at `path` is ours.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub(super) fn contains(&self, path: &str) -> Result<bool> {
        Ok(self.manifest.contains(path)? || self.record.contains(path)?)
    }
}

/// The files that a run may write and that its manifest does not list yet. It is written before the first of them.
///
/// A line is a path, or a directory with a `/` at its end for files whose names are known only after rendering, or `!`
/// and the path of a file in such a directory that was there before the run.
#[derive(Debug, Default)]
pub(super) struct Record {
    lines: Scratch,
    files: SortedKeys,
    directories: SortedKeys,
    before: SortedKeys,
}

impl Record {
    fn parse(reader: &mut dyn BufRead) -> Result<Self> {
        let (mut lines, mut line) = (Scratch::default(), Vec::new());
        let [mut files, mut directories, mut before] = [(); 3].map(|()| KeySet::default());
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(unreadable)?;
            // A run that was killed while it wrote the record has written nothing else, but the last line may be cut off.
            let Some((b'\n', text)) = line.split_last() else { break };
            let text = String::from_utf8_lossy(text);
            match (text.strip_prefix('!'), text.strip_suffix('/')) {
                (Some(path), _) => before.add(path)?,
                (None, Some(path)) => directories.add(path)?,
                (None, None) => files.add(&text)?,
            }
            lines.push(&line)?;
        }
        Ok(Self { lines, files: files.sort()?, directories: directories.sort()?, before: before.sort()? })
    }

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
    files: HashSet<String>,
    /// The indexes of their clusters.
    clusters: RoaringBitmap,
}

impl Candidates {
    fn add(&mut self, at: usize, path: String) {
        self.files.insert(path);
        self.clusters.extend(u32::try_from(at));
    }
}

/// Checks that the run overwrites no file that is not ours, unless it is forced to. Adds what the run may write to the
/// record of `ours`, and returns the text of it.
///
/// # Errors
/// `plan.foreign_file`; errors of reading directories.
pub(super) fn check<S: Stamp>(stamp: &S, job: &Job<'_>, dir: &OutputDir, ours: &mut Ours<'_>) -> Result<Scratch> {
    let mut record = std::mem::take(&mut ours.record.lines);
    let candidates = match job.plan.is_of_documents() {
        true => candidates_of_documents(job, dir, ours, &mut record)?,
        false => candidates(job, dir, ours, &mut record)?,
    };
    if job.options.force || candidates.clusters.is_empty() {
        return Ok(record);
    }
    match foreign(stamp, job, dir, candidates)? {
        found if found.is_empty() => Ok(record),
        found => Err(error(&found)),
    }
}

/// Finds planned paths of files that exist and are not ours.
fn candidates(job: &Job<'_>, dir: &OutputDir, ours: &Ours<'_>, record: &mut Scratch) -> Result<Candidates> {
    let (mut found, mut path) = (Candidates::default(), String::new());
    let mut reader = OutputReader::new((!dir.is_fresh()).then_some(dir));
    job.plan.selection(job.fleet).each(&mut |at, cluster| {
        let placed = job.plan.place(at, cluster, job.layers)?;
        for output in 0..job.plan.outputs().len() {
            job.plan.path(&placed, output, &mut path);
            if ours.contains(&path)? {
                continue;
            }
            push_line(record, &[&path])?;
            if reader.exists(&path) {
                found.add(at, path.clone());
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Finds files that are not ours in the directories of clusters, where the paths of documents are still unknown.
fn candidates_of_documents(
    job: &Job<'_>,
    dir: &OutputDir,
    ours: &Ours<'_>,
    record: &mut Scratch,
) -> Result<Candidates> {
    let mut found = Candidates::default();
    job.plan.selection(job.fleet).each(&mut |at, cluster| {
        let directory = job.plan.cluster_directory(&job.plan.place(at, cluster, job.layers)?);
        if !ours.record.directories.contains(&directory)? {
            push_line(record, &[&directory, "/"])?;
        }
        if dir.is_fresh() {
            return Ok(());
        }
        dir.each_file(&directory, &mut |path, _| {
            // Names that no output can have are our own, such as the manifest's.
            if !ours.contains(path)? && check_path(path).is_ok() {
                push_line(record, &["!", path])?;
                found.add(at, path.to_owned());
            }
            Ok(())
        })
    })?;
    Ok(found)
}

/// Renders the clusters of these files. Returns the files whose content differs, in order of the plan.
fn foreign<S: Stamp>(stamp: &S, job: &Job<'_>, dir: &OutputDir, candidates: Candidates) -> Result<Vec<String>> {
    let plan = job.plan.only(candidates.clusters);
    let options = Options { fail_fast: false, ..job.options.clone() };
    let job = Job { plan: &plan, options: &options, watch: Watch { done: &|| {}, ..job.watch }, ..*job };
    let sink = || CompareSink {
        outputs: Outputs::new(&job),
        reader: OutputReader::new(Some(dir)),
        files: &candidates.files,
        differing: Vec::new(),
    };
    // Clusters that fail here fail again in the run, and write nothing.
    let (done, _) = drive(stamp, &job, &|_| {}, &sink)?;
    let mut found: Vec<(usize, String)> = done.into_iter().flatten().collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn error(files: &[String]) -> Box<Diagnostic> {
    let count = counted(files.len(), "file");
    let message = format!("{count} in the output directory would be overwritten, but dropforge did not write them");
    let message = if files.len() == 1 { message.replace("write them", "write it") } else { message };
    Diagnostic::new(Code::ForeignFile, message)
        .with_note(format!("files: {}", listed(files, NAMED)))
        .with_help("move them, use another directory, or overwrite them with `--force`")
}

/// Returns the warning of a preview that found files that a run would refuse to overwrite.
pub(super) fn warning(files: usize) -> String {
    format!("{} that dropforge did not write would change: a run needs `--force`", counted(files, "file"))
}

/// Compares outputs with existing files.
struct CompareSink<'j> {
    outputs: Outputs<'j>,
    reader: OutputReader<'j>,
    files: &'j HashSet<String>,
    differing: Vec<(usize, String)>,
}

impl Sink for CompareSink<'_> {
    type Done = Vec<(usize, String)>;

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        let (reader, files, differing) = (&mut self.reader, self.files, &mut self.differing);
        self.outputs.each(cluster, text, pieces, |_, path, new| {
            if files.contains(path) && reader.read(path).map_err(SinkError::Cluster)?.is_some_and(|old| old != new) {
                differing.push((cluster.at, path.to_owned()));
            }
            Ok(())
        })
    }

    fn skip(&mut self, _: usize) {}

    fn done(self) -> Self::Done {
        self.differing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_files_and_directories() {
        let parse = |text: &[u8]| Record::parse(&mut &*text).unwrap();
        let record = parse(b"a/x\nb/\n!b/mine\nc/cut");
        for (path, is_ours) in
            [("a/x", true), ("a/y", false), ("b/x", true), ("b/s/x", true), ("b/mine", false), ("c/cut", false)]
        {
            assert_eq!(record.contains(path).unwrap(), is_ours, "{path}");
        }
        let mut lines = Vec::new();
        record.lines.each_part(&mut |part| Ok(lines.extend_from_slice(part))).unwrap();
        assert_eq!(lines, b"a/x\nb/\n!b/mine\n");
        assert!(parse(b"/\n").contains("any/path").unwrap());
        assert!(parse(b"cut").lines.len() == 0 && parse(&[0xff, b'\n']).directories.is_empty());
    }
}
