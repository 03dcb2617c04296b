//! Invalid paths, and paths that collide.
//!
//! Paths are compared by hashes, of which any number fits. Only those that may collide are compared as texts.

use std::collections::HashMap;

use super::{Output, Placed, Plan};
use crate::fleet::{Fleet, MAX_REPORTED};
use crate::key_set::{KeySet, SortedKeys};
use crate::layers::Layers;
use crate::layout::Layout;
use crate::output_path::check_path;
use crate::pieces::{Piece, in_document, with_files};
use crate::report::FailureCollector;
use crate::selector::Selection;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Maximum number of pairs of colliding paths that are remembered.
const PAIRS: usize = 10_000;

impl Plan {
    /// Finds invalid paths and collisions among the documents of a cluster that make files.
    pub(crate) fn document_collisions(&self, cluster: &Placed<'_>, pieces: &[Piece]) -> Vec<Box<Diagnostic>> {
        let (mut seen, mut path): (HashMap<String, &Piece>, _) = (HashMap::new(), String::new());
        let described = |piece: &Piece| format!("document {} of `{}`", piece.document, self.template(piece.output));
        let problems = with_files(pieces).filter_map(|(piece, _)| {
            self.path_of(cluster, piece, &mut path);
            let mut error = match check_path(&path) {
                Err(error) => in_document(error, piece.document),
                Ok(()) => {
                    let first = seen.insert(path.to_ascii_lowercase(), piece)?;
                    let message = format!("two documents have the same path `{path}`");
                    Diagnostic::new(Code::DuplicateOutput, message)
                        .with_note(format!("{} and {}", described(first), described(piece)))
                        .with_help(self.fields_to_add(first.output != piece.output))
                }
            };
            error.template = Some(self.template(piece.output).to_owned());
            Some(error)
        });
        problems.collect()
    }

    /// Returns `true` for the error of a template whose own name is no path, whatever the cluster.
    pub(super) fn is_of_template(&self, error: &Diagnostic) -> bool {
        let is_of = |output: &Output| error.template.as_ref() == Some(&output.template);
        error.code == Code::BadOutputName
            && self.outputs.iter().any(|output| is_of(output) && check_path(&output.name).is_err())
    }

    /// Returns a help for documents with the same path. `true`: they are of two templates.
    fn fields_to_add(&self, are_of_two: bool) -> String {
        let has = |field: &str| self.layout.fields().any(|known| known.rsplit('.').next() == Some(field));
        let missing = ["kind", "name", "namespace"].into_iter().filter(|field| !has(field));
        let template = (are_of_two && !self.layout.names_template()).then_some("template");
        let missing: Vec<String> = missing.chain(template).map(|name| format!("`{{{name}}}`")).collect();
        match missing.split_last() {
            None => "rename one of the documents".to_owned(),
            Some((only, [])) => format!("add {only} to the `--layout`"),
            Some((last, others)) => format!("add {} or {last} to the `--layout`", others.join(", ")),
        }
    }
}

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
        for output in (0..plan.known_paths()).filter(|output| plan.makes(cluster, *output)) {
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
    let mut seen: HashMap<String, OutputMaker> = HashMap::new();
    plan.each_path_of(&plan.selection(fleet), layers, &mut |cluster, output, path| {
        let folded = path.to_ascii_lowercase();
        if keys.is_repeated(&folded) {
            let described = described(path, plan, cluster, output);
            let maker = OutputMaker { path: path.clone(), described, cluster: cluster.at, output };
            match seen.get(&folded) {
                Some(first) => {
                    let error = cluster.cluster.label(equal_paths(first, &maker, &plan.layout), "");
                    problems.add_up_to(MAX_REPORTED, cluster.at, error);
                }
                None if seen.len() < PAIRS => {
                    seen.insert(folded, maker);
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
                .with_note(other)
                .with_help("rename the template of the file, or the directory");
            problems.add_up_to(MAX_REPORTED, at, error);
        }
        Ok(())
    })
}

fn for_output(error: Box<Diagnostic>, plan: &Plan, cluster: &Placed<'_>, output: usize) -> Box<Diagnostic> {
    let own = plan.outputs.get(output).and_then(|output| check_path(&output.name).err());
    let mut error = own.unwrap_or(error).for_cluster(cluster.name());
    error.template = Some(plan.template(output).to_owned());
    error
}

/// An output, and what makes it.
struct OutputMaker {
    path: String,
    described: String,
    /// The index of the cluster in the fleet.
    cluster: usize,
    output: usize,
}

fn described(path: &str, plan: &Plan, cluster: &Placed<'_>, output: usize) -> String {
    format!("`{path}`: cluster `{}`, template `{}`", cluster.name(), plan.template(output))
}

/// Returns the error of two outputs with the same path.
fn equal_paths(one: &OutputMaker, two: &OutputMaker, layout: &Layout) -> Box<Diagnostic> {
    let (code, message) = match one.path == two.path {
        true => (Code::DuplicateOutput, format!("two outputs have the same path `{}`", one.path)),
        false => (Code::CaseCollision, format!("paths `{}` and `{}` differ only in letter case", one.path, two.path)),
    };
    let help = match one.cluster == two.cluster {
        false if !layout.names_cluster() => "add `{cluster}` to the `--layout`",
        true if !layout.names_template() && one.output != two.output => "add `{template}` to the `--layout`",
        false => "rename one of the clusters",
        true => "rename one of the templates",
    };
    Diagnostic::new(code, message).with_note(one.described.as_str()).with_note(two.described.as_str()).with_help(help)
}
