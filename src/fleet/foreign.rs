//! Files in the output directory that dropforge did not write, or wrote for another project. A run overwrites them only by
//! force, and adopts those with the content that it would write, unless they are another project's.

use roaring::RoaringBitmap;

use super::destination::{Destination, FileReader};
use super::job::{Job, Options, Stamp, Watch};
use super::key_set::{KeySet, SortedKeys};
use super::known_files::KnownFiles;
use super::output_path::check_path;
use super::pieces::Piece;
use super::plan::Placed;
use super::scratch::Scratch;
use super::sinks::Outputs;
use super::workers::{Late, Sink, SinkError, SinkResult, drive};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, listed_of};
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// Maximum number of files to name.
const NAMED: usize = 5;

fn push_line(lines: &mut Scratch, parts: &[&str]) -> Result<()> {
    parts.iter().chain(&["\n"]).try_for_each(|part| lines.push(part.as_bytes()))
}

/// Existing files that dropforge did not write and that the run may write.
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

/// Checks that the run overwrites no file that dropforge did not write, unless it is forced to. Adds what the run may write
/// to the record of `known`, and returns the text of it.
///
/// # Errors
/// `plan.foreign_file`; errors of reading directories.
pub(super) fn check<D: Destination>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    to: &D,
    known: &mut KnownFiles<'_>,
) -> Result<Scratch> {
    let mut record = std::mem::take(&mut known.record.lines);
    let candidates = match job.plan.is_of_documents() {
        true => candidates_of_documents(job, to, known, &mut record)?,
        false => candidates(job, to, known, &mut record)?,
    };
    if job.options.force || candidates.clusters.is_empty() {
        return Ok(record);
    }
    match foreign(stamp, job, to, (candidates, known))? {
        (0, _) => Ok(record),
        (count, first) => Err(error(count, &first, known)?),
    }
}

/// Finds planned paths of files that exist and that dropforge did not write.
fn candidates<D: Destination>(
    job: &Job<'_>,
    to: &D,
    known: &KnownFiles<'_>,
    record: &mut Scratch,
) -> Result<Candidates> {
    let (mut found, mut path) = (Candidates::default(), String::new());
    let mut reader = (!to.is_fresh()).then(|| to.reader());
    job.plan.selection(job.fleet).each(&mut |at, cluster| {
        let placed = job.plan.place(at, cluster, job.layers)?;
        for output in 0..job.plan.outputs().len() {
            job.plan.path(&placed, output, &mut path);
            if known.contains(&path)? {
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

/// Finds files that dropforge did not write in the directories of clusters, where the paths of documents are still unknown.
fn candidates_of_documents<D: Destination>(
    job: &Job<'_>,
    to: &D,
    known: &KnownFiles<'_>,
    record: &mut Scratch,
) -> Result<Candidates> {
    let mut found = Candidates::default();
    job.plan.selection(job.fleet).each(&mut |at, cluster| {
        let directory = job.plan.cluster_directory(&job.plan.place(at, cluster, job.layers)?);
        if !known.record.directories.contains(&directory)? {
            push_line(record, &[&directory, "/"])?;
        }
        if to.is_fresh() {
            return Ok(());
        }
        to.each_file(&directory, &mut |path| {
            // Names that no output can have are our own, such as those of the state.
            if !known.contains(path)? && check_path(path).is_ok() {
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
    (candidates, known): (Candidates, &KnownFiles<'_>),
) -> Result<(usize, Vec<String>)> {
    let files = candidates.files.sort()?;
    let plan = job.plan.only(candidates.clusters);
    let options = Options { fail_fast: false, ..job.options.clone() };
    let job = Job { plan: &plan, options: &options, watch: Watch { done: &|| {}, ..job.watch }, ..*job };
    let sink = || {
        let (outputs, reader) = (Outputs::new(&job), to.reader());
        CompareSink { outputs, reader, files: &files, known, count: 0, first: Vec::new() }
    };
    // Clusters that fail here fail again in the run, and write nothing.
    let (done, _) = drive(stamp, &job, &|_| {}, &sink)?;
    let count = done.iter().map(|(count, _)| count).sum();
    let mut first: Vec<(usize, String)> = done.into_iter().flat_map(|(_, first)| first).collect();
    first.small_sort_by(Ord::cmp);
    Ok((count, first.into_iter().map(|(_, path)| path).collect()))
}

fn error(count: usize, first: &[String], known: &KnownFiles<'_>) -> Result<Box<Diagnostic>> {
    let (files, them) = (counted(count, "file"), if count == 1 { "it" } else { "them" });
    let owner = first.iter().take(NAMED).find_map(|path| known.owner(path).transpose()).transpose()?;
    let reason = match &owner {
        Some(project) => format!("the project {project} wrote {them}"),
        None => format!("dropforge did not write {them}"),
    };
    let error = Diagnostic::new(
        Code::ForeignFile,
        format!("{files} in the output directory would be overwritten, but {reason}"),
    )
    .with_note(format!("files: {}", listed_of(first, count, NAMED)));
    Ok(match owner {
        Some(_) => error.with_help(
            "use another directory or layout, or another `id` for a copied project; after moving a project, take its files over \
             with `--force`",
        ),
        None => error.with_help("move them, use another directory, or overwrite them with `--force`"),
    })
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
    known: &'j KnownFiles<'j>,
    /// The number of files whose content differs, or that are another project's.
    count: usize,
    /// The first of them, with the indexes of their clusters.
    first: Vec<(usize, String)>,
}

impl<R: FileReader> Sink for CompareSink<'_, R> {
    type Done = (usize, Vec<(usize, String)>);

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        let (reader, files, known) = (&mut self.reader, self.files, self.known);
        let (count, first) = (&mut self.count, &mut self.first);
        self.outputs.each(cluster, text, pieces, |_, path, new| {
            let differs = |old: Option<(&[u8], _)>| old.is_some_and(|(old, _)| old != new);
            let is_candidate = files.contains(path).map_err(SinkError::Run)?;
            let is_other = is_candidate && known.is_of_other(path).map_err(SinkError::Run)?;
            if is_other || (is_candidate && differs(reader.read(path).map_err(SinkError::Cluster)?)) {
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
