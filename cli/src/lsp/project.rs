//! The check of a project. It reads only a snapshot, so that it can run beside the thread that checks changed files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lsp_types::Diagnostic as Finding;

use super::findings::Findings;
use super::guard::guarded;
use super::home::Home;
use super::quick::Ready;
use super::values::MAX_INPUT;
use super::world::{Shared, Snapshot};
use crate::check;
use crate::input::InputFiles;

/// The diagnostics by file.
pub(super) type Found = BTreeMap<PathBuf, Vec<Finding>>;

/// A check that has ended.
pub(super) struct Checked {
    pub(super) home: Home,
    pub(super) snapshot: Snapshot,
    /// The number of jobs before it began.
    pub(super) jobs: u64,
    /// What it found, or the message of a panic.
    pub(super) found: Result<(Found, Option<Ready>), String>,
}

impl std::fmt::Debug for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checked").field("home", &self.home).field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

impl Checked {
    /// Checks a home, and reads its values.
    pub(super) fn new(home: Home, snapshot: Snapshot, jobs: u64, shared: &Shared) -> Self {
        let start = Instant::now();
        let found = guarded(|| find(&home, &snapshot, shared));
        let found = found.map(|(found, ready)| (found, ready.map(|ready| ready.with_time(start.elapsed()))));
        Self { home, snapshot, jobs, found }
    }
}

fn find(home: &Home, snapshot: &Snapshot, shared: &Shared) -> (Found, Option<Ready>) {
    let nowhere = match home {
        Home::Project(path) | Home::Alone(path, _) => path.clone(),
        Home::Chart(chart) => chart.join("Chart.yaml"),
    };
    let uris = |path: &Path| snapshot.documents.get(path).map(|(uri, ..)| uri.clone());
    let mut findings = Findings::new(home.chart(), &nowhere, &uris);
    let (args, console) = match home.arguments(&snapshot.settings) {
        Ok(found) => found,
        Err(errors) => {
            errors.iter().for_each(|error| findings.add(error));
            return (findings.finish(), None);
        }
    };
    let open = snapshot.open_files();
    let mut files = InputFiles::new(MAX_INPUT).with_open(open);
    let ready = match check::find(&args, 0, &mut files, &console) {
        Ok(found) => {
            found.found.iter().for_each(|one| findings.add(one));
            found.failures.iter().for_each(|failure| findings.add(&failure.folded()));
            Ready::new(home, args, &console, found.root, found.outputs, snapshot)
        }
        Err(failed) => {
            failed.diagnostics.iter().for_each(|one| findings.add(one));
            failed.failures.iter().for_each(|failure| findings.add(&failure.folded()));
            Ready::new(home, args, &console, None, Vec::new(), snapshot)
        }
    };
    shared.keep_values(home, ready.values.clone());
    let mut found = findings.finish();
    if let Home::Alone(path, _) = home {
        ready.tell_includes(path, &mut found, snapshot);
    }
    (found, Some(ready))
}
