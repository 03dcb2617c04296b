//! The state of an output directory: the files that runs have written, with their digests, clusters and templates. Pruning
//! removes only files in this list.
//!
//! It lies in files that other tools ignore, and that git merges: `.dropforge/clusters/CLUSTER.state` for each cluster,
//! and `.dropforge/runs` for the runs' options. They are written last, each by rename and only if it changed. A file that a run
//! did not write stays in the list until it is pruned, so a partial run forgets nothing. The state is never held in memory: it is
//! read once into a temporary file, and merged with sorted rows.
//!
//! | module | content |
//! |---|---|
//! | `lines` | the text of a cluster's file |
//! | `runs` | the runs' options, and what they read |
//! | `read`, `old` | reading a state, and the one file that it was before |
//! | `rows`, `write` | sorting rows, and writing them |
//! | `read_log` | notes of the files that a run reads |

mod lines;
mod old;
mod read;
mod read_log;
mod rows;
mod runs;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use self::read::{MAX_SECTION, OLD_STATE, damaged};
pub use self::read_log::{ReadFiles, ReadLog, short_digest};
#[cfg(feature = "remote")]
pub(crate) use self::rows::SAME_TAG;
pub use self::rows::{Entry, Row, Rows};
pub(super) use self::runs::Ownership;
pub use self::runs::{Owner, PROJECT_FILE, RunOptions, StoredRun, Withheld};
pub(super) use self::write::{MadeBy, NewState, write};
pub use self::write::{OwnFiles, PutFile, ReadFile};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use memchr::memmem;

use self::lines::{FileLine, Line, split};
use self::read::Reader;
use self::runs::Runs;
use super::key_set::{KeySet, SortedKeys};
use super::output_dir::OutputDir;
use super::scratch::Scratch;
use super::shards::{PARTS, PlanShard};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, thousands};

/// The directory of dropforge's own files in an output directory.
pub const STATE: &str = ".dropforge";
/// The directory with a file for each cluster.
const CLUSTERS: &str = ".dropforge/clusters";
/// The file of the runs.
pub(crate) const RUNS: &str = ".dropforge/runs";
/// The extension of files of clusters.
const EXTENSION: &str = ".state";

/// Paths, the BLAKE3 digests of their content, and their makers.
#[derive(Debug, Default)]
pub struct State {
    /// The sections of all clusters, then those of the parts of shards that are not finished.
    text: Scratch,
    /// The files of clusters, with hashes of those that are as they would be written.
    files: BTreeMap<String, Option<u128>>,
    /// The seed of these hashes.
    seed: u64,
    /// `true` if shards are not finished.
    has_parts: bool,
    paths: SortedKeys,
    /// `true` if the last run ended early.
    incomplete: bool,
    /// `true` if it has the conflicts of a merge.
    conflicts: bool,
    /// `true` if it is still, or also, one file.
    is_old: bool,
    /// The runs that made the files.
    runs: Runs,
}

/// Stands before the next section.
const NEXT: &[u8] = b"\n# cluster ";

/// The section of a cluster.
struct Section<'s> {
    state: &'s State,
    cluster: Cow<'s, str>,
    lines: &'s str,
}

impl Section<'_> {
    /// Calls `each` with the digests of the values of the cluster, then with its files.
    fn each(&self, each: &mut dyn FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        // Most files are of the same run as the one before.
        let mut last = ("", None);
        let mut number = |run| {
            if last.0 != run {
                last = (run, self.state.runs.number(run));
            }
            last.1
        };
        split(self.lines, b'\n').filter_map(Line::parse).try_for_each(|line| match line {
            Line::Cluster(_) => Ok(()),
            Line::Values { digest, run } => {
                let (maker, run) = (Some((&*self.cluster, "")), number(run));
                each(Entry { path: "", digests: "", release: "", maker, run, tag: digest })
            }
            Line::File(FileLine { path, release, template, digests, run, tag }) => {
                let maker = (!template.is_empty()).then_some((&*self.cluster, &*template));
                each(Entry { path: &path, digests, release: &release, maker, run: number(run), tag: &tag })
            }
        })
    }
}

/// The maker of a file of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maker {
    /// The name of the cluster.
    pub cluster: String,
    /// The path of the template.
    pub template: String,
    /// The release that it is of, or an empty string.
    pub release: String,
    /// `true` if the file is as it was written.
    pub is_unchanged: bool,
    /// The run that wrote it, if it is known.
    pub run: Option<RunOptions>,
    /// The digest of the cluster's own values in that run, if it is known: that of [`Cluster::digest`](crate::Cluster::digest).
    pub values: Option<String>,
}

impl State {
    /// Reads the state that the last run left, and the parts of shards that are not finished. Returns an empty one if there is
    /// none.
    ///
    /// # Errors
    /// `file.bad_manifest` if it is not a state; errors of reading it.
    pub fn read(dir: Option<&OutputDir>) -> Result<Self> {
        Self::of(dir.map(|dir| dir as &dyn OwnFiles))
    }

    /// Works like [`State::read`], for any destination.
    ///
    /// # Errors
    /// Same as [`State::read`].
    pub fn of(from: Option<&dyn OwnFiles>) -> Result<Self> {
        let Some(from) = from else { return Ok(Self::default()) };
        let (mut reader, mut parts) = (Reader::default(), Vec::new());
        from.each_own(PARTS, &mut |path| {
            parts.push(path.to_owned());
            Ok(())
        })?;
        reader.runs(from, RUNS)?;
        parts.iter().filter(|part| part.ends_with(".runs")).try_for_each(|part| reader.runs(from, part))?;
        reader.clusters(from)?;
        parts.iter().filter(|part| part.ends_with(EXTENSION)).try_for_each(|part| reader.part(from, part))?;
        reader.old(from)?;
        Ok(Self { has_parts: !parts.is_empty(), ..reader.finish()? })
    }

    /// Reads the part of a shard, if it is done. Its paths are not looked up.
    pub(super) fn of_part(from: &dyn OwnFiles, shard: &PlanShard) -> Result<Option<Self>> {
        let (mut reader, part) = (Reader::default(), shard.part());
        if from.open_own(&part)?.is_none() {
            return Ok(None);
        }
        reader.runs(from, &shard.runs())?;
        reader.part(from, &part)?;
        reader.finish().map(Some)
    }

    /// Returns `true` if there is a state in a directory.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(RUNS).is_file() || directory.join(OLD_STATE).is_file()
    }

    /// Calls `each` with every file, by cluster and path.
    ///
    /// # Errors
    /// Errors of temporary files; errors of `each`.
    pub fn each(&self, each: &mut dyn FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        self.each_with_values(&mut |entry| if entry.is_of_values() { Ok(()) } else { each(entry) })
    }

    /// Works like [`State::each`]. Before the files of a cluster come the digests of its values.
    pub(super) fn each_with_values(&self, each: &mut dyn FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        self.each_section(&mut |section| section.each(each))
    }

    /// Calls `each` with the section of every cluster.
    fn each_section(&self, each: &mut dyn FnMut(&Section<'_>) -> Result<()>) -> Result<()> {
        let mut rest = Vec::new();
        self.text.each_part(&mut |part| {
            // The start of a section may lie in two parts.
            let from = rest.len().saturating_sub(NEXT.len());
            rest.extend_from_slice(part);
            let Some(end) = memmem::rfind(rest.get(from..).unwrap_or_default(), NEXT) else { return Ok(()) };
            self.sections(rest.get(..=from + end).unwrap_or_default(), each)?;
            rest.drain(..=from + end);
            Ok(())
        })?;
        self.sections(&rest, each)
    }

    fn sections(&self, text: &[u8], each: &mut dyn FnMut(&Section<'_>) -> Result<()>) -> Result<()> {
        // Reading has refused other texts.
        let text = str::from_utf8(text).unwrap_or_default();
        let ends = memmem::find_iter(text.as_bytes(), NEXT).map(|end| end + 1).chain([text.len()]);
        let mut start = 0;
        for end in ends {
            let lines = text.get(std::mem::replace(&mut start, end)..end).unwrap_or_default();
            if let Some(Line::Cluster(cluster)) = split(lines, b'\n').next().and_then(Line::parse) {
                each(&Section { state: self, cluster, lines })?;
            }
        }
        Ok(())
    }

    /// Returns the maker of the file at `path` with this content.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn maker(&self, path: &str, content: &[u8]) -> Result<Option<Maker>> {
        let (mut found, hash, mut values) = (None, blake3::hash(content), Vec::new());
        self.each_with_values(&mut |entry| {
            let Some((cluster, template)) = entry.maker else { return Ok(()) };
            if entry.is_of_values() {
                values.retain(|(other, ..): &(String, _, _)| other == cluster);
                values.push((cluster.to_owned(), entry.run, entry.tag.to_owned()));
            } else if entry.path == path {
                let run = entry.run.and_then(|run| self.runs.get(run)).map(|run| run.of_template(template));
                let of_run = values.iter().find(|(other, run, _)| other == cluster && *run == entry.run);
                let values = of_run.map(|(.., digest)| digest.clone());
                let (cluster, template, is_unchanged) =
                    (cluster.to_owned(), template.to_owned(), entry.has_content(&hash));
                let release = entry.release.to_owned();
                found = Some(Maker { cluster, template, release, is_unchanged, run, values });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns `true` if all runs and shards that wrote it have ended, and it has no conflicts.
    pub(super) fn is_settled(&self) -> bool {
        !(self.incomplete || self.conflicts || self.is_old || self.has_parts)
    }

    /// Returns notes about a state that is not as a whole run leaves it.
    pub(super) fn notes(&self) -> impl Iterator<Item = &'static str> {
        let was_cut = self.incomplete.then_some("the last run ended early, so the state is incomplete");
        let conflicts = self.conflicts.then_some("the state has the conflicts of a merge: stamp to resolve them");
        was_cut.into_iter().chain(conflicts)
    }

    /// Returns the number of the run with these options, if it made files.
    pub fn run_with(&self, options: &RunOptions) -> Option<usize> {
        self.runs.find(options)
    }

    /// Returns what a run is to the files of each former run, by number. A file without a run belongs to its template.
    pub(super) fn ownership(&self, run: Option<&RunOptions>) -> Vec<Ownership> {
        self.runs.ownership(run)
    }

    /// Returns the files of other projects than that of `run`, if there are any.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub(super) fn of_others(&self, run: Option<&RunOptions>) -> Result<Option<SortedKeys>> {
        let ownership = self.ownership(run);
        if !ownership.contains(&Ownership::Other) {
            return Ok(None);
        }
        let mut others = KeySet::default();
        self.each(&mut |entry| match entry.ownership(&ownership) {
            Ownership::Other => others.add(entry.path),
            _ => Ok(()),
        })?;
        others.sort().map(Some)
    }

    /// Returns the project that owns the file at `path`, if it is known.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub(super) fn project_of(&self, path: &str) -> Result<Option<Owner>> {
        let mut found = None;
        self.each(&mut |entry| {
            if entry.path == path {
                found = entry.run.and_then(|run| self.runs.get(run)).and_then(|run| run.options.project.clone());
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the options `--fleet` of the run that wrote a file, if it is known.
    pub(super) fn fleets(&self, entry: Entry<'_>) -> Option<Vec<&str>> {
        Some(self.runs.get(entry.run?)?.options.fleets())
    }

    /// Returns `true` if the file at `path` is in the list, and its run is not lost.
    ///
    /// # Errors
    /// Errors of the temporary file.
    pub(super) fn contains(&self, path: &str) -> Result<bool> {
        self.paths.contains(path)
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
}

/// Returns the path of the file of a cluster.
fn path_of(cluster: &str) -> String {
    format!("{CLUSTERS}/{}{EXTENSION}", lines::file_name(cluster))
}

/// Returns `true` for the path of a file of the state, not of a record or of the part of a shard.
#[cfg(feature = "remote")]
pub(crate) fn is_of_state(path: &str) -> bool {
    path == RUNS || path.starts_with(CLUSTERS)
}
