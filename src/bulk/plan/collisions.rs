//! Invalid paths, and paths that collide.
//!
//! Paths are compared by hashes, of which any number fits. Only those that may collide are compared as texts.

use std::collections::HashMap;

use super::{Placed, Plan};
use crate::bulk::fleet::{Fleet, MAX_REPORTED};
use crate::bulk::key_set::{KeySet, SortedKeys};
use crate::bulk::layers::Layers;
use crate::bulk::output_path::check_path;
use crate::bulk::report::FailureCollector;
use crate::bulk::selection::Selection;
use crate::diagnostics::{Code, Diagnostic, Result};

/// Maximum number of pairs of colliding paths that are remembered.
const PAIRS: usize = 10_000;

/// The paths of a plan while its clusters are read. Letter case does not count.
pub(super) struct Paths {
    keys: KeySet,
    /// `true` if paths are different whenever the names of their clusters are. Then `keys` has names.
    is_of_names: bool,
    path: String,
}

impl Paths {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { keys: KeySet::default(), is_of_names: plan.layout.divides_clusters(), path: String::new() }
    }

    /// Adds the paths of a cluster.
    ///
    /// # Errors
    /// `plan.bad_output_name`; errors of the temporary file.
    pub(super) fn add(&mut self, plan: &Plan, cluster: &Placed<'_>) -> Result<()> {
        for output in 0..plan.known_paths() {
            plan.path(cluster, output, &mut self.path);
            check_path(&self.path).map_err(|error| for_output(error, plan, cluster, output))?;
            if !self.is_of_names {
                self.path.make_ascii_lowercase();
                self.keys.add(&self.path)?;
            }
        }
        if self.is_of_names {
            self.path.clear();
            self.path.push_str(cluster.name());
            self.path.make_ascii_lowercase();
            self.keys.add(&self.path)?;
        }
        Ok(())
    }

    /// Finds collisions.
    ///
    /// # Errors
    /// Errors of reading clusters and of temporary files.
    pub(super) fn finish(
        self,
        plan: &Plan,
        fleet: &Fleet,
        layers: &Layers,
        problems: &mut FailureCollector,
    ) -> Result<()> {
        let mut keys = self.keys.sort()?;
        if self.is_of_names {
            if keys.are_distinct() && own_paths_differ(plan, fleet, layers)? {
                return Ok(());
            }
            keys = sorted(plan, fleet, layers)?;
        }
        equal(&keys, plan, fleet, layers, problems)?;
        nested(&keys, plan, fleet, layers, problems)
    }
}

/// Returns the hashes of all paths.
fn sorted(plan: &Plan, fleet: &Fleet, layers: &Layers) -> Result<SortedKeys> {
    let mut keys = KeySet::default();
    plan.each_path_of(&plan.selection(fleet), layers, &mut |_, _, path| {
        path.make_ascii_lowercase();
        keys.add(path)
    })?;
    keys.sort()
}

/// Returns `true` if the paths of a cluster do not collide. One cluster stands for all.
fn own_paths_differ(plan: &Plan, fleet: &Fleet, layers: &Layers) -> Result<bool> {
    let first = Selection::new(fleet, plan.selected.iter().take(1).collect());
    let mut all = Vec::new();
    plan.each_path_of(&first, layers, &mut |_, _, path| {
        all.push(path.to_ascii_lowercase() + "/");
        Ok(())
    })?;
    all.sort_unstable();
    // A path begins with those of directories, and these stand right before it or before others below them.
    Ok(all.windows(2).all(|pair| !matches!(pair, [one, other] if other.starts_with(one.as_str()))))
}

/// Finds paths that are equal but for letter case.
fn equal(
    keys: &SortedKeys,
    plan: &Plan,
    fleet: &Fleet,
    layers: &Layers,
    problems: &mut FailureCollector,
) -> Result<()> {
    if keys.are_distinct() {
        return Ok(());
    }
    let mut seen: HashMap<String, (String, String)> = HashMap::new();
    plan.each_path_of(&plan.selection(fleet), layers, &mut |cluster, output, path| {
        let folded = path.to_ascii_lowercase();
        if keys.is_repeated(&folded) {
            let described = described(path, plan, cluster, output);
            match seen.get(&folded) {
                Some(first) => {
                    problems.add_up_to(MAX_REPORTED, cluster.at, equal_paths(first, (path, described)));
                }
                None if seen.len() < PAIRS => {
                    seen.insert(folded, (path.clone(), described));
                }
                None => {}
            }
        }
        Ok(())
    })
}

/// Finds paths of files below which there are others.
fn nested(
    keys: &SortedKeys,
    plan: &Plan,
    fleet: &Fleet,
    layers: &Layers,
    problems: &mut FailureCollector,
) -> Result<()> {
    let mut below: HashMap<String, Vec<(usize, String)>> = HashMap::new();
    // A directory without a file of its name. The outputs of a cluster are close together.
    let mut last = String::new();
    plan.each_path_of(&plan.selection(fleet), layers, &mut |cluster, output, path| {
        let directory = path.rfind('/').and_then(|end| path.get(..end)).unwrap_or("").to_ascii_lowercase();
        if directory == last {
            return Ok(());
        }
        for end in directory.match_indices('/').map(|(end, _)| end).chain([directory.len()]) {
            let up = directory.get(..end).unwrap_or("");
            if !up.is_empty() && keys.contains(up)? && (below.len() < PAIRS || below.contains_key(up)) {
                let found = below.entry(up.to_owned()).or_default();
                if found.len() <= MAX_REPORTED {
                    found.push((cluster.at, described(path, plan, cluster, output)));
                }
                return Ok(());
            }
        }
        last = directory;
        Ok(())
    })?;
    if below.is_empty() {
        return Ok(());
    }
    plan.each_path_of(&plan.selection(fleet), layers, &mut |cluster, output, path| {
        for (at, other) in below.remove(&path.to_ascii_lowercase()).into_iter().flatten() {
            let message = format!("path `{path}` is both a file and a directory");
            let error = Diagnostic::new(Code::PrefixCollision, message)
                .with_note(described(path, plan, cluster, output))
                .with_note(other);
            problems.add_up_to(MAX_REPORTED, at, error);
        }
        Ok(())
    })
}

fn for_output(error: Box<Diagnostic>, plan: &Plan, cluster: &Placed<'_>, output: usize) -> Box<Diagnostic> {
    let mut error = error.for_cluster(cluster.name());
    error.template = Some(plan.template(output).to_owned());
    error
}

fn described(path: &str, plan: &Plan, cluster: &Placed<'_>, output: usize) -> String {
    format!("`{path}`: cluster `{}`, template `{}`", cluster.name(), plan.template(output))
}

/// Returns the error of two paths, each given with its description.
fn equal_paths((one, first): &(String, String), (two, second): (&str, String)) -> Box<Diagnostic> {
    let (code, message) = match one == two {
        true => (Code::DuplicateOutput, format!("two outputs have the same path `{one}`")),
        false => (Code::CaseCollision, format!("paths `{one}` and `{two}` differ only in letter case")),
    };
    Diagnostic::new(code, message)
        .with_note(first.clone())
        .with_note(second)
        .with_help("use a `--layout` with both `{cluster}` and `{template}`")
}
