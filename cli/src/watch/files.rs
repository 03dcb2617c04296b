//! The files that a run reads, and changes to them.
//!
//! Their times are read again and again: that needs no library, and also sees changes on network and container mounts,
//! which report none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dropforge::bulk::{Cluster, Fleet, Layers, Plan, RunSet};
use dropforge::diagnostics::Result;
use dropforge::value::{Data, DataMap};

/// Shortest time between two looks. A tenth of the time is spent looking at most.
const PAUSE: Duration = Duration::from_millis(20);
/// Time for a program that writes a file to finish.
const SETTLE: Duration = Duration::from_millis(5);

/// The state of a file: seconds and nanoseconds of its time, its length and its number, which a replaced file changes.
type FileState = (i64, i64, u64, u64);

/// Files and folders to look at.
#[derive(Debug, Default)]
pub(super) struct Files {
    roots: Vec<PathBuf>,
    /// A folder that is left out: the outputs.
    except: Option<PathBuf>,
    seen: BTreeMap<PathBuf, FileState>,
    pause: Duration,
}

impl Files {
    /// Looks at `roots`, but not at what is below `except`.
    pub(super) fn new(roots: Vec<PathBuf>, except: Option<PathBuf>) -> Self {
        let mut files = Self::default();
        files.watch(roots, except);
        files
    }

    /// Looks at other roots from now on. Changes since the last look are still found.
    pub(super) fn watch(&mut self, roots: Vec<PathBuf>, except: Option<PathBuf>) {
        if (&roots, &except) == (&self.roots, &self.except) {
            return;
        }
        (self.roots, self.except) = (roots, except);
        let before = std::mem::take(&mut self.seen);
        self.seen = self.look();
        for (path, state) in &mut self.seen {
            *state = before.get(path).copied().unwrap_or(*state);
        }
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// Returns the time to wait before the next look.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Returns the files that were changed, added or removed since the last look, sorted.
    pub(super) fn changed(&mut self) -> Vec<PathBuf> {
        let mut now = self.look();
        if now == self.seen {
            return Vec::new();
        }
        // A file that is still being written changes again. One that never rests is read as it is.
        for _ in 0..20 {
            std::thread::sleep(SETTLE);
            let then = std::mem::replace(&mut now, self.look());
            if then == now {
                break;
            }
        }
        let before = std::mem::replace(&mut self.seen, now);
        let mut changed: Vec<PathBuf> = before
            .iter()
            .filter(|(path, state)| self.seen.get(*path) != Some(state))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(self.seen.keys().filter(|path| !before.contains_key(*path)).cloned());
        changed.sort_unstable();
        changed
    }

    fn look(&mut self) -> BTreeMap<PathBuf, FileState> {
        let (started, mut found) = (Instant::now(), BTreeMap::new());
        let mut left = self.roots.clone();
        while let Some(path) = left.pop() {
            let Ok(meta) = std::fs::metadata(&path) else { continue };
            if meta.is_dir() {
                left.extend(self.entries(&path));
            } else {
                found.insert(from_here(&path).to_owned(), state(&meta));
            }
        }
        self.pause = PAUSE.max(started.elapsed() * 9);
        found
    }

    /// Returns the entries of a folder. Hidden folders and links to folders, which may lead back, are left out.
    fn entries(&self, dir: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let is_left_out = |path: &Path| {
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            self.except.as_deref().map(from_here) == Some(from_here(path))
                || (path.is_dir() && (is_hidden || path.is_symlink()))
        };
        entries.map(|entry| entry.path()).filter(|path| !is_left_out(path)).collect()
    }
}

/// Returns a path without `./` before it.
fn from_here(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

fn state(meta: &Metadata) -> FileState {
    (meta.mtime(), meta.mtime_nsec(), meta.len(), meta.ino())
}

/// The state of the last complete run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    is_watching: bool,
    is_narrowed: bool,
    lacks_outputs: bool,
    sources: BTreeSet<String>,
    /// The fleets, and the values files that clusters have.
    values: BTreeSet<String>,
    last: Option<State>,
    next: Option<State>,
}

/// Templates and clusters by name, with hashes of their content. The values that a cluster shares are part of its own. The
/// templates of a chart depend on values and on one another: there are none.
#[derive(Debug)]
struct State {
    has_chart: bool,
    templates: HashMap<String, Option<u64>>,
    clusters: HashMap<String, Option<u64>>,
    /// The names of the values files that only some clusters have.
    files: BTreeSet<String>,
}

impl Seen {
    /// Starts to take notes. A single run needs none.
    pub(super) fn watching() -> Self {
        Self { is_watching: true, ..Self::default() }
    }

    /// Returns `true` if runs are compared with the last one of this process.
    pub(crate) fn is_watching(&self) -> bool {
        self.is_watching
    }

    /// Takes the outputs and clusters out of `plan` that are as in the last complete run. With `all`, that is only done
    /// if no template and no cluster is gone, as the files of those have to be found.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(crate) fn narrow(
        &mut self,
        plan: Plan,
        fleet: &Fleet,
        layers: &Layers,
        set: &dyn RunSet,
        all: bool,
    ) -> Result<Plan> {
        if !self.is_watching {
            return Ok(plan);
        }
        let next = State::new(fleet, layers, set, &plan)?;
        let templates = set.templates();
        let sources = templates.iter().flat_map(|template| template.program().sources());
        self.sources = sources.map(|source| source.name().to_owned()).collect();
        let files = fleet.files().chain(layers.places().flatten().map(|place| place.source().name()));
        let files = files.chain(next.files.iter().map(String::as_str));
        self.values = files.filter_map(|name| Some(from_here(Path::new(name)).to_str()?.to_owned())).collect();
        let last = self.last.as_ref();
        let last = last.filter(|last| !(all && last.has_more(&next)));
        self.is_narrowed = last.is_some();
        let outputs = plan.outputs().len();
        let plan = match last {
            Some(last) => last.narrow(&next, plan, fleet)?,
            None => plan,
        };
        self.lacks_outputs = plan.outputs().len() < outputs;
        self.next = Some(next);
        Ok(plan)
    }

    /// Notes that the run was carried out, or that it has to be repeated in full.
    pub(super) fn done(&mut self, is_complete: bool) {
        self.last = self.next.take().filter(|_| is_complete);
    }

    /// Returns `true` if the plan of the current run is not the whole one.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.is_narrowed
    }

    /// Returns `true` if some of the outputs of a cluster are not in the plan of the current run.
    pub(crate) fn lacks_outputs(&self) -> bool {
        self.lacks_outputs
    }

    /// Returns `true` for a fleet or a values file of the last run: another content of it changes clusters.
    pub(super) fn is_of_clusters(&self, path: &Path) -> bool {
        from_here(path).to_str().is_some_and(|path| self.values.contains(path))
    }

    /// Returns the names of all sources of templates.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(String::as_str)
    }
}

impl State {
    fn new(fleet: &Fleet, layers: &Layers, set: &dyn RunSet, plan: &Plan) -> Result<Self> {
        let names = plan.outputs().iter().map(|output| output.template.clone());
        let (mut clusters, mut files) = (HashMap::new(), BTreeSet::new());
        let mut shared: HashMap<usize, Option<u64>> = HashMap::new();
        fleet.each(&mut |_, cluster| {
            let mut of_group = || {
                let mut hasher = DefaultHasher::new();
                of_map(layers.shared_by(cluster).clone())?.hash(&mut hasher);
                for file in set.values_files(cluster) {
                    (file.name(), file.text()).hash(&mut hasher);
                    files.insert(file.name().to_owned());
                }
                Some(hasher.finish())
            };
            let shared = *shared.entry(cluster.group()).or_insert_with(&mut of_group);
            clusters.insert(cluster.name().to_owned(), of_cluster(cluster, shared));
            Ok(())
        })?;
        let has_chart = set.is_planned_by_values();
        let names = names.filter(|_| !has_chart);
        let templates = names.map(|name| (name.clone(), set.fingerprint(&name))).collect();
        Ok(Self { has_chart, templates, clusters, files })
    }

    fn has_more(&self, other: &Self) -> bool {
        self.templates.keys().any(|name| !other.templates.contains_key(name))
            || self.clusters.keys().any(|name| !other.clusters.contains_key(name))
    }

    /// Takes out of `plan` what is the same in `next`. If both templates and clusters differ, every output of such a
    /// cluster and every cluster of such a template is needed, which is everything.
    fn narrow(&self, next: &Self, plan: Plan, fleet: &Fleet) -> Result<Plan> {
        let differs = |last: &HashMap<String, Option<u64>>, next: &HashMap<String, Option<u64>>, name: &str| {
            let hash = next.get(name).copied().flatten();
            hash.is_none() || last.get(name).copied().flatten() != hash
        };
        let template = |name: &str| differs(&self.templates, &next.templates, name);
        let cluster = |cluster: &Cluster| differs(&self.clusters, &next.clusters, cluster.name());
        let templates = !next.has_chart && plan.outputs().iter().any(|output| template(&output.template));
        let mut clusters = false;
        fleet.each(&mut |_, one| {
            clusters |= cluster(one);
            Ok(())
        })?;
        match (templates, clusters) {
            (true, true) => Ok(plan),
            (true, false) => plan.narrowed(fleet, &template, &|_| true),
            (false, _) => plan.narrowed(fleet, &|_| true, &cluster),
        }
    }
}

/// Returns a hash of a cluster's own inputs and the shared ones, which have the hash `shared`.
fn of_cluster(cluster: &Cluster, shared: Option<u64>) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    shared?.hash(&mut hasher);
    match cluster.json() {
        Some(text) => text.hash(&mut hasher),
        None => of_map(cluster.inputs().ok()?.into_owned())?.hash(&mut hasher),
    }
    Some(hasher.finish())
}

fn of_map(map: DataMap) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&Data::Map(map)).ok()?.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_additions_and_removals_are_found_once() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name);
        for dir in ["t/sub", "t/out", "t/.git"] {
            std::fs::create_dir_all(path(dir)).unwrap();
        }
        std::os::unix::fs::symlink(".", path("t/loop")).unwrap();
        std::fs::write(path("t/a"), "1").unwrap();
        std::fs::write(path("v"), "1").unwrap();
        let mut files = Files::new(vec![path("t"), path("v"), path("none")], Some(path("t/out")));
        assert_eq!((files.len(), files.changed()), (2, vec![]));
        std::fs::write(path("t/sub/b"), "").unwrap();
        std::fs::write(path("t/out/x"), "").unwrap();
        std::fs::write(path("t/.git/x"), "").unwrap();
        std::fs::write(path("v"), "22").unwrap();
        assert_eq!((files.changed(), files.changed()), (vec![path("t/sub/b"), path("v")], vec![]));
        // A replaced file of the same length and time is another file.
        std::fs::write(path("w"), "33").unwrap();
        let time = std::fs::metadata(path("v")).unwrap().modified().unwrap();
        std::fs::File::open(path("w")).unwrap().set_modified(time).unwrap();
        std::fs::rename(path("w"), path("v")).unwrap();
        std::fs::remove_file(path("t/a")).unwrap();
        std::fs::write(path("none"), "").unwrap();
        assert_eq!(files.changed(), [path("none"), path("t/a"), path("v")]);
    }
}
