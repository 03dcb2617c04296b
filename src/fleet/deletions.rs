//! The files of a state that nothing makes any more.
//!
//! A run only judges the files of its own project. With the templates of the project file it judges all that such runs
//! have made, so that renamed templates leave nothing. Otherwise it judges those of its own templates: those that it was
//! given, and those that it would have been given by the same directory. Several projects, and runs with different
//! templates, can therefore share an output directory.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::destination::{Destination, FileReader};
use super::job::Job;
use super::key_set::SortedKeys;
use super::output_path::check_path;
use super::state::{Entry, Ownership, RunOptions, State};
use dropforge_base::diagnostics::{Result, counted};

/// Files of a state that nothing makes any more.
pub(super) struct Deletions<'j> {
    job: Job<'j>,
    /// The paths that clusters of the whole fleet make.
    made: Vec<Arc<SortedKeys>>,
    /// The names of clusters whose paths are unknown, unless there are none.
    unknown_clusters: Option<SortedKeys>,
    /// What the run is to the files of each former run.
    runs: Vec<Ownership>,
    /// The number of the files.
    pub(super) count: usize,
    /// The number of files that may be among them, but whose clusters were not selected.
    unknown: usize,
    /// The number of files of the run's templates.
    of_run: usize,
    /// The number of the files that come from runs with other fleets, and one of these fleets.
    others: (usize, String),
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    /// Only its cluster could tell.
    Unknown,
    Stale,
}

impl<'j> Deletions<'j> {
    /// Finds the files that are not in `made`, the paths that clusters of the whole fleet make.
    ///
    /// # Errors
    /// Errors of reading clusters and of temporary files.
    pub(super) fn find(job: &Job<'j>, state: &State, made: Vec<Arc<SortedKeys>>) -> Result<Self> {
        let unknown_clusters = job.plan.unknown_clusters(job.fleet)?;
        let others = (0, String::new());
        let runs = state.ownership(job.options.run.as_ref());
        let mut found = Self { job: *job, made, unknown_clusters, runs, count: 0, unknown: 0, of_run: 0, others };
        let (mut count, mut unknown, mut of_run, mut others) = (0, 0, 0, (0, String::new()));
        let fleets = job.options.run.as_ref().map(RunOptions::fleets);
        state.each(&mut |entry| {
            let fate = found.fate(entry)?;
            of_run += usize::from(found.is_of_run(entry));
            count += usize::from(fate == Fate::Stale);
            unknown += usize::from(fate == Fate::Unknown);
            let known = fleets.as_ref().zip(state.fleets(entry).filter(|_| fate == Fate::Stale));
            if let Some((_, other)) = known.filter(|(own, other)| *own != other) {
                others = (others.0 + 1, other.join("`, `"));
            }
            Ok(())
        })?;
        (found.count, found.unknown, found.of_run, found.others) = (count, unknown, of_run, others);
        Ok(found)
    }

    /// Checks that the files are not most of those of the run's templates.
    ///
    /// # Errors
    /// `plan.mass_delete`.
    pub(super) fn guarded(self) -> Result<Self> {
        match State::guard(self.count, self.of_run, self.job.options.prune_force) {
            Ok(()) => Ok(self),
            Err(error) => Err(self.of_others().into_iter().fold(error, |error, note| error.with_note(note))),
        }
    }

    /// Returns `true` if nothing makes the file any more.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub(super) fn contains(&self, entry: Entry<'_>) -> Result<bool> {
        Ok(self.fate(entry)? == Fate::Stale)
    }

    fn fate(&self, entry: Entry<'_>) -> Result<Fate> {
        if !self.is_of_run(entry) {
            return Ok(Fate::Kept);
        }
        for made in &self.made {
            if made.contains(entry.path)? {
                return Ok(Fate::Kept);
            }
        }
        let is_unknown = match (&self.unknown_clusters, entry.maker) {
            (None, _) => false,
            (Some(unknown), Some((cluster, _))) => unknown.contains(cluster)?,
            (Some(_), None) => true,
        };
        Ok(if is_unknown { Fate::Unknown } else { Fate::Stale })
    }

    /// Returns `true` if the run decides on the file. Files of unknown makers are only pruned.
    fn is_of_run(&self, entry: Entry<'_>) -> bool {
        match (entry.ownership(&self.runs), entry.maker) {
            (Ownership::Other | Ownership::Unknown, _) => false,
            _ if !self.job.options.templates.has_release(entry.release) => false,
            (Ownership::Whole, Some(_)) => true,
            (Ownership::Templates, Some((_, template))) => {
                let templates = &self.job.options.templates;
                templates.may_make(entry.release) && templates.covers(template)
            }
            (_, None) => self.job.options.prune,
        }
    }

    /// Removes the files that have not changed since they were written. Returns the number of removed and of changed files.
    ///
    /// # Errors
    /// `file.write_failed`; errors of reading the state.
    pub(super) fn remove<D: Destination>(&self, state: &State, from: &D) -> Result<(usize, usize)> {
        let (mut removed, mut changed) = (0, 0);
        if self.count == 0 {
            return Ok((0, 0));
        }
        state.each(&mut |entry| {
            if !self.contains(entry)? {
                return Ok(());
            }
            // Someone may have edited the state, so paths are checked as for writing.
            let removal = match check_path(entry.path) {
                Ok(()) => from.remove(entry)?,
                Err(_) => Some(false),
            };
            removed += usize::from(removal == Some(true));
            changed += usize::from(removal == Some(false));
            Ok(())
        })?;
        Ok((removed, changed))
    }

    /// Returns notes about the files of other fleets, and those that the run cannot judge.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let files = counted(self.unknown, "file");
        let unknown = (self.unknown > 0).then(|| {
            format!(
                "{files} of clusters that are not selected may be out of date: only a run without `--selector` knows"
            )
        });
        self.of_others().into_iter().chain(unknown)
    }

    /// Returns a note about files that runs with other fleets wrote.
    fn of_others(&self) -> Option<String> {
        let (count, fleet) = &self.others;
        let files = counted(*count, "file");
        let place = if self.job.options.prune { "to be pruned" } else { "that nothing makes any more" };
        (*count > 0).then(|| format!("of the files {place}, {files} came from a run with another fleet: `{fleet}`"))
    }
}

/// Maximum number of leftovers that are looked up in the output directory.
const LOOKED_UP: usize = 1_000;

/// Files that former runs with the options of this one made, and that nothing makes any more. They stay without `--prune`.
pub(super) struct Leftovers<'j, R> {
    job: Job<'j>,
    /// The number of the run in the state.
    run: usize,
    reader: RefCell<R>,
    count: Cell<usize>,
    first: RefCell<String>,
}

impl<'j, R: FileReader> Leftovers<'j, R> {
    /// Begins to look for the leftovers of a run that made all its files. Returns `None` if there are none.
    pub(super) fn of(job: &Job<'j>, state: &State, reader: R) -> Option<Self> {
        let run = job.options.run.as_ref().filter(|_| job.options.leftovers && !job.options.prune)?;
        let (run, reader) = (state.run_with(run)?, RefCell::new(reader));
        Some(Self { job: *job, run, reader, count: Cell::new(0), first: RefCell::default() })
    }

    /// Counts a file that the run does not make, if it is one of these.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub(super) fn see(&self, entry: Entry<'_>) -> Result<()> {
        let is_covered = |(_, template)| self.job.options.templates.covers(template);
        let is_known = self.job.options.templates.has_release(entry.release);
        if !entry.is_of_run(self.run) || !is_known || !entry.maker.is_some_and(is_covered) {
            return Ok(());
        }
        // Someone may have removed it, or edited the state.
        let is_there = self.count.get() >= LOOKED_UP
            || (check_path(entry.path).is_ok() && self.reader.borrow_mut().exists(entry.path)?);
        if is_there {
            self.count.update(|count| count + 1);
            self.first.borrow_mut().push_str(if self.count.get() == 1 { entry.path } else { "" });
        }
        Ok(())
    }

    /// Returns a note about the leftovers.
    pub(super) fn note(&self) -> Option<String> {
        let (count, first) = (self.count.get(), self.first.borrow());
        let files = counted(count, "file");
        match count {
            0 => None,
            1 => Some(format!("{files} of a former run is no longer made: `{first}`; `--prune` removes it")),
            _ => Some(format!("{files} of former runs are no longer made, such as `{first}`; `--prune` removes them")),
        }
    }
}
