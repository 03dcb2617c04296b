//! The plan of a run: clusters, outputs and paths. It finds every problem with them before a byte is written.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::cluster::Cluster;
use super::fleet::{Fleet, MAX_REPORTED};
use super::key_hashes::KeyHashes;
use super::layers::Layers;
use super::layout::Layout;
use super::output_names::output_name;
use super::output_path::{check_path, check_value};
use super::pieces::{Piece, in_document};
use super::report::{Failure, FailureCollector};
use super::selector::Selector;
use super::view::Reach;
use crate::diagnostics::{Code, Diagnostic, Result};

/// A template that makes an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The template's name, relative to the include root.
    pub template: String,
    /// The output name, `{template}` in the layout.
    pub name: String,
    /// `true` if the owner of its file may execute it.
    pub executable: bool,
    /// The content of a file that is copied, if it is not text.
    pub bytes: Option<Arc<[u8]>>,
}

impl Output {
    /// Creates the output of `template`, with the name that [`output_name`] returns.
    pub fn new(template: String, extensions: &[&str]) -> Self {
        Self { name: output_name(&template, extensions), template, executable: false, bytes: None }
    }
}

/// The clusters and outputs of a run, and their paths.
#[derive(Debug, Clone)]
pub struct Plan {
    outputs: Vec<Output>,
    layout: Layout,
    selected: Clusters,
    /// Clusters that the selector leaves out and whose paths are known.
    unselected: Clusters,
}

/// Indexes of clusters in the fleet, and the layout's inputs for each, in one list.
#[derive(Debug, Clone, Default)]
struct Clusters {
    indexes: Vec<usize>,
    values: Vec<String>,
}

impl Clusters {
    fn push(&mut self, index: usize, values: Vec<String>) {
        self.indexes.push(index);
        self.values.extend(values);
    }

    fn get(&self, at: usize) -> Option<(usize, &[String])> {
        let index = *self.indexes.get(at)?;
        let each = self.values.len() / self.indexes.len();
        Some((index, self.values.get(at * each..(at + 1) * each)?))
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[String])> {
        (0..self.indexes.len()).filter_map(|at| self.get(at))
    }
}

/// The position of an output in a plan: the selected cluster and the output.
type Position = (usize, usize);

impl Plan {
    /// Selects the clusters, names every output and checks all names and paths.
    ///
    /// # Errors
    /// One failure for each cause, at most twenty: `plan.bad_output_name`, `plan.bad_layout`,
    /// `plan.duplicate_output`, `plan.case_collision`, `plan.prefix_collision`; errors of reading a cluster.
    pub fn new(
        fleet: &Fleet,
        layers: &Layers,
        selector: &Selector,
        outputs: Vec<Output>,
        layout: Layout,
    ) -> std::result::Result<Self, Vec<Failure>> {
        let (selected, unselected) = (Clusters::default(), Clusters::default());
        let mut plan = Self { outputs, layout, selected, unselected };
        let mut problems = FailureCollector::default();
        let reach = Reach::of(selector.paths().chain(plan.layout.inputs()));
        for (at, cluster) in fleet.clusters().iter().enumerate() {
            if let Err(error) = plan.add(at, cluster, layers, (selector, reach)) {
                problems.add_up_to(MAX_REPORTED, at, error);
            }
        }
        if problems.is_empty() && !plan.is_sound(fleet) {
            plan.collisions(fleet, &mut problems);
        }
        let name = |at: usize| fleet.clusters().get(at).map_or("", Cluster::name).to_owned();
        if problems.is_empty() { Ok(plan) } else { Err(problems.into_failures(name)) }
    }

    fn add(
        &mut self,
        at: usize,
        cluster: &Cluster,
        layers: &Layers,
        (selector, reach): (&Selector, Reach),
    ) -> Result<()> {
        let inputs = layers.view_of(cluster, reach).map_err(|error| error.for_cluster(cluster.name()))?;
        let is_selected = inputs.as_ref().is_none_or(|inputs| selector.matches(inputs));
        let values = inputs.map_or(Ok(Vec::new()), |inputs| self.layout.values(cluster.name(), &inputs));
        let named = if self.layout.is_of_one() { Ok(()) } else { check_value(cluster.name(), "cluster name") };
        let checked = named.and(values);
        match (is_selected, checked) {
            (true, values) => self.selected.push(at, values?),
            (false, Ok(values)) => self.unselected.push(at, values),
            (false, Err(_)) => {}
        }
        Ok(())
    }

    /// Leaves out the outputs of templates, and the clusters, for which these return `false`. The paths of such clusters
    /// stay known.
    pub fn narrowed(
        mut self,
        fleet: &Fleet,
        is_template: &dyn Fn(&str) -> bool,
        is_cluster: &dyn Fn(&Cluster) -> bool,
    ) -> Self {
        self.outputs.retain(|output| is_template(&output.template));
        for (index, values) in std::mem::take(&mut self.selected).iter() {
            let is_kept = fleet.clusters().get(index).is_some_and(is_cluster);
            let to = if is_kept { &mut self.selected } else { &mut self.unselected };
            to.push(index, values.to_vec());
        }
        self
    }

    /// Returns the number of clusters to stamp.
    pub fn clusters(&self) -> usize {
        self.selected.indexes.len()
    }

    /// Returns the templates that make outputs.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Returns `true` if the owner of the files of an output may execute them.
    pub(super) fn is_executable(&self, output: usize) -> bool {
        self.outputs.get(output).is_some_and(|output| output.executable)
    }

    /// Returns the content of an output that is not text.
    pub(super) fn bytes(&self, output: usize) -> Option<&[u8]> {
        self.outputs.get(output)?.bytes.as_deref()
    }

    /// Returns the `at`-th cluster to stamp.
    pub fn cluster<'f>(&self, fleet: &'f Fleet, at: usize) -> Option<&'f Cluster> {
        fleet.clusters().get(*self.selected.indexes.get(at)?)
    }

    /// Writes the path of an output of the `at`-th cluster to `path`.
    pub fn path(&self, fleet: &Fleet, at: usize, output: usize, path: &mut String) {
        if let Some(cluster) = self.selected.get(at) {
            self.fill(fleet, cluster, (output, &[]), path);
        }
    }

    /// Writes the path of a piece of the `at`-th cluster's text to `path`.
    pub fn path_of(&self, fleet: &Fleet, at: usize, piece: &Piece, path: &mut String) {
        if let Some(cluster) = self.selected.get(at) {
            self.fill(fleet, cluster, (piece.output, &piece.fields), path);
        }
    }

    fn fill(
        &self,
        fleet: &Fleet,
        (index, values): (usize, &[String]),
        (output, fields): (usize, &[String]),
        path: &mut String,
    ) {
        if let (Some(cluster), Some(output)) = (fleet.clusters().get(index), self.outputs.get(output)) {
            self.layout.fill(cluster.name(), &output.name, values, fields, path);
        }
    }

    /// Returns the layout of the paths.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns `true` if each document goes to its own file. The set of files is then known only after rendering.
    pub fn is_of_documents(&self) -> bool {
        self.layout.is_of_documents()
    }

    /// Returns the names of clusters whose paths are unknown, because the selector left them out.
    pub(super) fn unknown_clusters<'f>(&self, fleet: &'f Fleet) -> HashSet<&'f str> {
        let mut known: HashSet<usize> = self.selected.indexes.iter().copied().collect();
        if !self.is_of_documents() {
            known.extend(&self.unselected.indexes);
        }
        let clusters = fleet.clusters().iter().enumerate().filter(|(at, _)| !known.contains(at));
        clusters.map(|(_, cluster)| cluster.name()).collect()
    }

    /// Returns a plan of some of the selected clusters.
    pub(super) fn only(&self, clusters: &[usize]) -> Self {
        let mut selected = Clusters::default();
        for (index, values) in clusters.iter().filter_map(|at| self.selected.get(*at)) {
            selected.push(index, values.to_vec());
        }
        let (outputs, layout) = (self.outputs.clone(), self.layout.clone());
        Self { outputs, layout, selected, unselected: Clusters::default() }
    }

    /// Returns the directory of the `at`-th cluster, for a plan with a file for each document. Its layout has one, unless
    /// there is only one cluster.
    pub(super) fn cluster_directory(&self, fleet: &Fleet, at: usize) -> String {
        let (path, name) = (self.path_at(fleet, (at, 0)), self.cluster_name(fleet, at));
        let end = path
            .match_indices('/')
            .map(|(end, _)| end)
            .find(|end| path.get(..*end).is_some_and(|directory| directory.rsplit('/').next() == Some(name)));
        end.and_then(|end| path.get(..end)).unwrap_or("").to_owned()
    }

    /// Returns the number of outputs of a cluster whose paths to check before rendering. With a file for each document,
    /// one path stands for all of them.
    fn known_paths(&self) -> usize {
        if self.is_of_documents() { self.outputs.len().min(1) } else { self.outputs.len() }
    }

    /// Calls `each` with every path of the fleet, including those of clusters that were not selected.
    pub fn each_path(&self, fleet: &Fleet, mut each: impl FnMut(&str)) {
        self.each_path_of(fleet, self.selected.iter().chain(self.unselected.iter()), |path| each(path));
    }

    /// Calls `each` with every path of these clusters, in a buffer that it may change.
    fn each_path_of<'p>(
        &self,
        fleet: &Fleet,
        clusters: impl Iterator<Item = (usize, &'p [String])>,
        mut each: impl FnMut(&mut String),
    ) {
        let mut path = String::new();
        for cluster in clusters {
            for output in 0..self.known_paths() {
                self.fill(fleet, cluster, (output, &[]), &mut path);
                each(&mut path);
            }
        }
    }

    /// Returns `true` if all paths are valid and do not collide. May return `false` for a valid plan, as it compares
    /// hashes, which is cheap for any number of paths.
    fn is_sound(&self, fleet: &Fleet) -> bool {
        let mut sound = true;
        let all = |add: &mut dyn FnMut(&str)| {
            self.each_path_of(fleet, self.selected.iter(), |path| {
                sound &= check_path(path).is_ok();
                path.make_ascii_lowercase();
                add(path);
            });
        };
        let Some(hashes) = KeyHashes::distinct(self.clusters() * self.known_paths(), all) else { return false };
        self.each_path_of(fleet, self.selected.iter(), |path| {
            path.make_ascii_lowercase();
            sound &= !path.match_indices('/').any(|(end, _)| path.get(..end).is_some_and(|up| hashes.may_contain(up)));
        });
        sound
    }

    /// Finds invalid paths and collisions.
    fn collisions(&self, fleet: &Fleet, problems: &mut FailureCollector) {
        let mut seen: HashMap<String, Position> = HashMap::new();
        let positions = || (0..self.clusters()).flat_map(|at| (0..self.known_paths()).map(move |output| (at, output)));
        let mut add = |position: Position, error: Box<Diagnostic>| {
            let index = self.selected.indexes.get(position.0).copied().unwrap_or_default();
            problems.add_up_to(MAX_REPORTED, index, error);
        };
        for position in positions() {
            let path = self.path_at(fleet, position);
            match check_path(&path) {
                Err(error) => add(position, self.for_output(error, fleet, position)),
                Ok(()) => {
                    if let Some(first) = seen.insert(path.to_ascii_lowercase(), position) {
                        add(position, self.equal_paths(fleet, first, position));
                    }
                }
            }
        }
        for position in positions() {
            let path = self.path_at(fleet, position).to_ascii_lowercase();
            if let Some(file) = path.match_indices('/').find_map(|(end, _)| seen.get(path.get(..end)?)) {
                add(position, self.nested_paths(fleet, *file, position));
            }
        }
    }

    fn path_at(&self, fleet: &Fleet, (at, output): Position) -> String {
        let mut path = String::new();
        self.path(fleet, at, output, &mut path);
        path
    }

    fn for_output(&self, error: Box<Diagnostic>, fleet: &Fleet, (at, output): Position) -> Box<Diagnostic> {
        let mut error = error.for_cluster(self.cluster_name(fleet, at));
        error.template = Some(self.template(output).to_owned());
        error
    }

    /// Returns the name of the `at`-th cluster to stamp.
    pub(super) fn cluster_name<'f>(&self, fleet: &'f Fleet, at: usize) -> &'f str {
        self.cluster(fleet, at).map_or("", Cluster::name)
    }

    fn template(&self, output: usize) -> &str {
        self.outputs.get(output).map_or("", |output| &output.template)
    }

    fn described(&self, fleet: &Fleet, position: Position) -> String {
        let (path, cluster) = (self.path_at(fleet, position), self.cluster_name(fleet, position.0));
        format!("`{path}`: cluster `{cluster}`, template `{}`", self.template(position.1))
    }

    fn equal_paths(&self, fleet: &Fleet, first: Position, second: Position) -> Box<Diagnostic> {
        let (one, two) = (self.path_at(fleet, first), self.path_at(fleet, second));
        let (code, message) = match one == two {
            true => (Code::DuplicateOutput, format!("two outputs have the same path `{one}`")),
            false => (Code::CaseCollision, format!("paths `{one}` and `{two}` differ only in letter case")),
        };
        Diagnostic::new(code, message)
            .with_note(self.described(fleet, first))
            .with_note(self.described(fleet, second))
            .with_help("use a `--layout` with both `{cluster}` and `{template}`")
    }

    fn nested_paths(&self, fleet: &Fleet, file: Position, below: Position) -> Box<Diagnostic> {
        let message = format!("path `{}` is both a file and a directory", self.path_at(fleet, file));
        Diagnostic::new(Code::PrefixCollision, message)
            .with_note(self.described(fleet, file))
            .with_note(self.described(fleet, below))
    }

    /// Finds invalid paths and collisions among the documents of the `at`-th cluster.
    pub(super) fn document_collisions(&self, fleet: &Fleet, at: usize, pieces: &[Piece]) -> Vec<Box<Diagnostic>> {
        let (mut seen, mut path): (HashMap<String, &Piece>, _) = (HashMap::new(), String::new());
        let described = |piece: &Piece| format!("document {} of `{}`", piece.document, self.template(piece.output));
        let problems = pieces.iter().filter_map(|piece| {
            self.path_of(fleet, at, piece, &mut path);
            let mut error = match check_path(&path) {
                Err(error) => in_document(error, piece.document),
                Ok(()) => {
                    let first = seen.insert(path.to_ascii_lowercase(), piece)?;
                    let message = format!("two documents have the same path `{path}`");
                    Diagnostic::new(Code::DuplicateOutput, message)
                        .with_note(format!("{} and {}", described(first), described(piece)))
                        .with_help("add `{kind}`, `{namespace}` or `{template}` to the `--layout`")
                }
            };
            error.template = Some(self.template(piece.output).to_owned());
            Some(error)
        });
        problems.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Data, DataMap};

    fn plan(
        names: &[&str],
        templates: &[&str],
        layout: &str,
        selector: &str,
    ) -> std::result::Result<Vec<String>, Vec<Code>> {
        let clusters = names
            .iter()
            .map(|name| Cluster::new(*name, DataMap::from_iter([("n".into(), Data::Str(name.to_string()))])));
        let fleet = Fleet::new(clusters.collect()).unwrap();
        let outputs = templates
            .iter()
            .map(|name| Output {
                template: format!("{name}.t"),
                name: name.to_string(),
                executable: false,
                bytes: None,
            })
            .collect();
        let selector = if selector.is_empty() { Selector::default() } else { Selector::parse(selector).unwrap() };
        let plan = Plan::new(&fleet, &Layers::default(), &selector, outputs, Layout::parse(layout).unwrap())
            .map_err(|failures| failures.iter().map(|failure| failure.diagnostic.code).collect::<Vec<_>>())?;
        let mut paths = Vec::new();
        for at in 0..plan.clusters() {
            for output in 0..plan.outputs().len() {
                let mut path = String::new();
                plan.path(&fleet, at, output, &mut path);
                paths.push(path);
            }
        }
        Ok(paths)
    }

    #[test]
    fn paths_in_order_of_fleet_and_templates() {
        let paths = plan(&["b", "a"], &["x.yaml", "s/y.yaml"], "{cluster}/{template}", "");
        assert_eq!(paths.unwrap(), ["b/x.yaml", "b/s/y.yaml", "a/x.yaml", "a/s/y.yaml"]);
        assert_eq!(plan(&["b", "a"], &["x"], "{n}-{template}", "n=a").unwrap(), ["a-x"]);
    }

    #[test]
    fn collisions_are_found() {
        assert_eq!(plan(&["a", "b"], &["x"], "{template}", ""), Err(vec![Code::DuplicateOutput]));
        assert_eq!(plan(&["A", "a"], &["x"], "{cluster}/{template}", ""), Err(vec![Code::CaseCollision]));
        assert_eq!(plan(&["a"], &["x", "x/y"], "{cluster}/{template}", ""), Err(vec![Code::PrefixCollision]));
        assert_eq!(plan(&["a", "b/c"], &["x"], "{template}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a"], &["x y"], "{template}/{cluster}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a", "b"], &["x"], "{m}/{template}", ""), Err(vec![Code::BadLayout]));
        assert_eq!(plan(&["a"], &["x"], "/{cluster}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a"], &["x"], "../{cluster}", ""), Err(vec![Code::BadOutputName]));
    }

    #[test]
    fn a_fleet_of_bad_names_reports_the_first_twenty() {
        let names: Vec<String> = (0..100).map(|n| format!("../{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(plan(&names, &["x"], "{cluster}", "").unwrap_err().len(), 20);
    }
}
