//! The plan of a run: clusters, outputs and paths. It finds every problem with them before a byte is written.

mod collisions;

use std::sync::Arc;

use roaring::RoaringBitmap;

use self::collisions::Paths;
use super::cluster::Cluster;
use super::fleet::{Fleet, MAX_REPORTED};
use super::key_set::{KeySet, SortedKeys};
use super::layers::Layers;
use super::layout::Layout;
use super::output_names::output_name;
use super::output_path::check_value;
use super::pattern::Pattern;
use super::pieces::Piece;
use super::report::{Failure, FailureCollector};
use super::selector::Selection;
use super::selector::Selector;
use super::shards::Shard;
use super::view::{Merge, Reach, View};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::DataMap;

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
    /// The number of the release that it belongs to, in a run with several.
    pub release: Option<usize>,
}

impl Output {
    /// Creates the output of `template`, with the name that [`output_name`] returns.
    pub fn new(template: String, extensions: &[&str]) -> Self {
        Self { name: output_name(&template, extensions), template, executable: false, bytes: None, release: None }
    }
}

/// The clusters and outputs of a run, and their paths.
#[derive(Debug, Clone)]
pub struct Plan {
    outputs: Vec<Output>,
    layout: Layout,
    /// The indexes of the clusters to stamp.
    selected: RoaringBitmap,
    /// The indexes of clusters that the selector leaves out and whose paths are known.
    unselected: RoaringBitmap,
    releases: Vec<PlannedRelease>,
}

/// A release of a run with several.
#[derive(Debug, Clone)]
struct PlannedRelease {
    name: Pattern,
    /// The indexes of the clusters that have it.
    clusters: RoaringBitmap,
}

/// A cluster, and what its paths depend on.
#[derive(Debug, Clone)]
pub struct Placed<'c> {
    /// The index in the fleet.
    pub(super) at: usize,
    pub(super) cluster: &'c Cluster,
    /// The layout's inputs.
    values: Vec<String>,
    /// The names of the releases, of those that the cluster has.
    releases: Vec<Option<String>>,
}

impl Placed<'_> {
    /// Returns the name of the cluster.
    pub fn name(&self) -> &str {
        self.cluster.name()
    }
}

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
        Self::of_releases(fleet, (layers, selector), (outputs, layout), (&[], &|_| Ok(Vec::new())))
    }

    /// Works like [`Plan::new`], for outputs of several releases with these names. `enabled` tells which of them a cluster
    /// has.
    ///
    /// # Errors
    /// Same as [`Plan::new`]; errors of `enabled`.
    pub(super) fn of_releases(
        fleet: &Fleet,
        (layers, selector): (&Layers, &Selector),
        (outputs, layout): (Vec<Output>, Layout),
        (names, enabled): (&[Pattern], Enabled<'_>),
    ) -> std::result::Result<Self, Vec<Failure>> {
        let (selected, unselected) = (RoaringBitmap::new(), RoaringBitmap::new());
        let releases = names.iter().map(|name| PlannedRelease { name: name.clone(), clusters: RoaringBitmap::new() });
        let mut plan = Self { outputs, layout, selected, unselected, releases: releases.collect() };
        let (mut problems, mut paths) = (FailureCollector::default(), Paths::new(&plan));
        let reach = Reach::of(selector.paths().chain(plan.inputs()));
        let read = fleet.each(&mut |at, cluster| {
            plan.add((at, cluster), layers, (selector, reach, enabled), &mut paths).unwrap_or_else(|error| {
                let is_of_cluster = error.primary().is_none() && !plan.is_of_template(&error);
                problems.add_up_to(MAX_REPORTED, at, if is_of_cluster { cluster.label(error, "") } else { error });
            });
            Ok(())
        });
        let checked = read.and_then(|()| match problems.is_empty() {
            true => paths.finish(&plan, fleet, layers, &mut problems),
            false => Ok(()),
        });
        plan.selected.optimize();
        plan.unselected.optimize();
        match checked {
            Err(diagnostic) => Err(vec![Failure::new(diagnostic)]),
            Ok(()) if problems.is_empty() => Ok(plan),
            Ok(()) => {
                let mut reader = fleet.reader();
                let mut failures = problems.into_failures(|at| reader.name(at));
                layers.hide_in_failures(fleet, &mut failures).map_err(|error| vec![Failure::new(error)])?;
                Err(failures)
            }
        }
    }

    fn add(
        &mut self,
        (at, cluster): (usize, &Cluster),
        layers: &Layers,
        (selector, reach, enabled): (&Selector, Reach, Enabled<'_>),
        paths: &mut Paths,
    ) -> Result<()> {
        let inputs = layers.view_of(cluster, reach).map_err(|error| error.for_cluster(cluster.name()))?;
        let is_selected = inputs.as_ref().is_none_or(|inputs| selector.matches(inputs));
        let number = u32::try_from(at).map_err(|_| too_many())?;
        let enabled = enabled(cluster).map_err(|error| error.for_cluster(cluster.name()));
        // Whatever a cluster that is left out may have stays known.
        let enabled = if is_selected { enabled? } else { enabled.unwrap_or_else(|_| vec![true; self.releases.len()]) };
        for (release, _) in self.releases.iter_mut().zip(enabled).filter(|(_, is_enabled)| *is_enabled) {
            release.clusters.insert(number);
        }
        let named = if self.layout.is_of_one() { Ok(()) } else { check_value(cluster.name(), "cluster name") };
        match (is_selected, named.and_then(|()| self.placed(at, cluster, inputs.as_ref()))) {
            (true, placed) => {
                let placed = placed?;
                self.selected.insert(number);
                paths.add(self, &placed)?;
            }
            (false, Ok(_)) => {
                self.unselected.insert(number);
            }
            (false, Err(_)) => {}
        }
        Ok(())
    }

    /// Returns a cluster with what its paths depend on.
    ///
    /// # Errors
    /// Errors of reading the cluster, and of [`Layout::values`].
    #[doc(hidden)]
    pub fn place<'c>(&self, at: usize, cluster: &'c Cluster, layers: &Layers) -> Result<Placed<'c>> {
        let inputs = layers.view_of(cluster, Reach::of(self.inputs()))?;
        self.placed(at, cluster, inputs.as_ref())
    }

    /// Returns a cluster whose layout inputs are among `inputs`. `None` if there are none.
    fn placed<'c>(&self, at: usize, cluster: &'c Cluster, inputs: Option<&View<'_>>) -> Result<Placed<'c>> {
        let (empty, merge) = (DataMap::default(), Merge::default());
        let none = View::new(&empty, &empty, merge);
        let inputs = inputs.unwrap_or(&none);
        let number = u32::try_from(at).map_err(|_| too_many())?;
        let name = |release: &PlannedRelease| match release.clusters.contains(number) {
            true => release.name.text_for(cluster.name(), inputs).map(Some),
            false => Ok(None),
        };
        let releases = self.releases.iter().map(name).collect::<Result<_>>();
        let releases = releases.map_err(|error| error.for_cluster(cluster.name()))?;
        Ok(Placed { at, cluster, values: self.layout.values(cluster.name(), inputs)?, releases })
    }

    /// Returns the paths of the values that paths of outputs have.
    fn inputs(&self) -> impl Iterator<Item = &str> {
        self.layout.inputs().chain(self.releases.iter().flat_map(|release| release.name.inputs()))
    }

    /// Returns `true` if a cluster has an output: all of them, but those of releases that it does not have.
    pub(super) fn makes(&self, cluster: &Placed<'_>, output: usize) -> bool {
        let release = self.outputs.get(output).and_then(|output| output.release);
        release.is_none_or(|release| cluster.releases.get(release).is_some_and(Option::is_some))
    }

    /// Leaves out the outputs of templates, and the clusters, for which these return `false`. The paths of such clusters
    /// stay known.
    ///
    /// # Errors
    /// Errors of reading clusters.
    #[doc(hidden)]
    pub fn narrowed(
        mut self,
        fleet: &Fleet,
        is_template: &dyn Fn(&str) -> bool,
        is_cluster: &dyn Fn(&Cluster) -> bool,
    ) -> Result<Self> {
        self.outputs.retain(|output| is_template(&output.template));
        let mut kept = RoaringBitmap::new();
        self.selection(fleet).each(&mut |at, cluster| {
            kept.extend(is_cluster(cluster).then_some(at as u32));
            Ok(())
        })?;
        self.unselected |= &self.selected - &kept;
        self.selected = kept;
        Ok(self)
    }

    /// Leaves out the clusters of other shards. Their paths stay known.
    ///
    /// # Errors
    /// Errors of reading clusters.
    #[doc(hidden)]
    pub fn of_shard(self, fleet: &Fleet, shard: Shard) -> Result<Self> {
        self.narrowed(fleet, &|_| true, &|cluster| shard.has(cluster.name()))
    }

    /// Returns the number of clusters to stamp.
    pub fn clusters(&self) -> usize {
        usize::try_from(self.selected.len()).unwrap_or(usize::MAX)
    }

    /// Returns `true` if the cluster `at` of the fleet is to be stamped.
    pub(super) fn selects(&self, at: usize) -> bool {
        u32::try_from(at).is_ok_and(|at| self.selected.contains(at))
    }

    /// Returns the clusters to stamp of each of `count` groups, the first of which is for those without a group.
    pub(super) fn groups(&self, fleet: &Fleet, count: usize) -> Vec<RoaringBitmap> {
        if count == 1 {
            return vec![self.selected.clone()];
        }
        let mut groups = vec![RoaringBitmap::new(); count];
        for at in &self.selected {
            if let Some(group) = groups.get_mut(fleet.group_of(at as usize)) {
                group.insert(at);
            }
        }
        groups
    }

    /// Returns the clusters to stamp.
    #[doc(hidden)]
    pub fn selection<'f>(&self, fleet: &'f Fleet) -> Selection<'f> {
        Selection::new(fleet, self.selected.clone())
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

    /// Writes the path of an output of a cluster to `path`.
    #[doc(hidden)]
    pub fn path(&self, cluster: &Placed<'_>, output: usize, path: &mut String) {
        self.fill(cluster, (output, &[]), path);
    }

    /// Writes the path of a piece of a cluster's text to `path`.
    #[doc(hidden)]
    pub fn path_of(&self, cluster: &Placed<'_>, piece: &Piece, path: &mut String) {
        self.fill(cluster, (piece.output, &piece.fields), path);
    }

    fn fill(&self, cluster: &Placed<'_>, (output, fields): (usize, &[String]), path: &mut String) {
        if let Some(output) = self.outputs.get(output) {
            let release = output.release.and_then(|release| cluster.releases.get(release)?.as_deref());
            let names = [cluster.name(), release.unwrap_or(""), &output.name];
            self.layout.fill(names, &cluster.values, fields, path);
        }
    }

    /// Returns the layout of the paths.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns `true` if each document goes to its own file. The set of files is then known only after rendering.
    #[doc(hidden)]
    pub fn is_of_documents(&self) -> bool {
        self.layout.is_of_documents()
    }

    /// Returns the names of clusters whose paths are unknown, because the selector left them out. `None` if there are none.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(super) fn unknown_clusters(&self, fleet: &Fleet) -> Result<Option<SortedKeys>> {
        let mut unknown = RoaringBitmap::new();
        unknown.insert_range(0..u32::try_from(fleet.len()).map_err(|_| too_many())?);
        unknown -= &self.selected;
        if !self.is_of_documents() {
            unknown -= &self.unselected;
        }
        if unknown.is_empty() {
            return Ok(None);
        }
        let mut names = KeySet::default();
        Selection::new(fleet, unknown).each(&mut |_, cluster| names.add(cluster.name()))?;
        names.sort().map(Some)
    }

    /// Returns a plan of some of the selected clusters, by their indexes in the fleet.
    pub(super) fn only(&self, clusters: RoaringBitmap) -> Self {
        Self { selected: clusters, unselected: RoaringBitmap::new(), ..self.clone() }
    }

    /// Returns the directory of a cluster, for a plan with a file for each document. Its layout has one, unless there is
    /// only one cluster.
    pub(super) fn cluster_directory(&self, cluster: &Placed<'_>) -> String {
        let mut path = String::new();
        self.path(cluster, 0, &mut path);
        let end = path
            .match_indices('/')
            .map(|(end, _)| end)
            .find(|end| path.get(..*end).is_some_and(|directory| directory.rsplit('/').next() == Some(cluster.name())));
        end.and_then(|end| path.get(..end)).unwrap_or("").to_owned()
    }

    /// Returns the number of outputs of a cluster whose paths to check before rendering. With a file for each document,
    /// one path stands for all of them.
    fn known_paths(&self) -> usize {
        if self.is_of_documents() { self.outputs.len().min(1) } else { self.outputs.len() }
    }

    /// Calls `each` with every path of the fleet, including those of clusters that were not selected, until one fails.
    ///
    /// # Errors
    /// Errors of reading clusters and of `each`.
    #[doc(hidden)]
    pub fn each_path(&self, fleet: &Fleet, layers: &Layers, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let all = Selection::new(fleet, &self.selected | &self.unselected);
        self.each_path_of(&all, layers, &mut |_, _, path| each(path))
    }

    /// Works like [`Plan::each_path`], for the clusters that were not selected.
    ///
    /// # Errors
    /// Same as [`Plan::each_path`].
    pub(super) fn each_unselected_path(
        &self,
        fleet: &Fleet,
        layers: &Layers,
        each: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let others = Selection::new(fleet, self.unselected.clone());
        self.each_path_of(&others, layers, &mut |_, _, path| each(path))
    }

    /// Calls `each` with every path of these clusters, its cluster and output.
    fn each_path_of(
        &self,
        clusters: &Selection<'_>,
        layers: &Layers,
        each: &mut dyn FnMut(&Placed<'_>, usize, &mut String) -> Result<()>,
    ) -> Result<()> {
        let mut path = String::new();
        clusters.each(&mut |at, cluster| {
            let placed = self.place(at, cluster, layers)?;
            (0..self.known_paths()).filter(|output| self.makes(&placed, *output)).try_for_each(|output| {
                self.path(&placed, output, &mut path);
                each(&placed, output, &mut path)
            })
        })
    }

    fn template(&self, output: usize) -> &str {
        self.outputs.get(output).map_or("", |output| &output.template)
    }
}

/// Tells which releases a cluster has.
type Enabled<'e> = &'e dyn Fn(&Cluster) -> Result<Vec<bool>>;

fn too_many() -> Box<Diagnostic> {
    Diagnostic::new(Code::BadFleet, "a fleet has at most 4,294,967,295 clusters").with_help("divide the fleet")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_value::Data;

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
                release: None,
            })
            .collect();
        let selector = if selector.is_empty() { Selector::default() } else { Selector::parse(selector).unwrap() };
        let plan = Plan::new(&fleet, &Layers::default(), &selector, outputs, Layout::parse(layout).unwrap())
            .map_err(|failures| failures.iter().map(|failure| failure.diagnostic.code).collect::<Vec<_>>())?;
        let (mut paths, mut path) = (Vec::new(), String::new());
        let each = &mut |at, cluster: &Cluster| {
            let placed = plan.place(at, cluster, &Layers::default())?;
            for output in 0..plan.outputs().len() {
                plan.path(&placed, output, &mut path);
                paths.push(path.clone());
            }
            Ok(())
        };
        plan.selection(&fleet).each(each).map_err(|error| vec![error.code])?;
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
        assert_eq!(plan(&["a"], &["x*y"], "{template}/{cluster}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a", "b"], &["x"], "{m}/{template}", ""), Err(vec![Code::BadLayout]));
        assert_eq!(plan(&["a"], &["x"], "/{cluster}", ""), Err(vec![Code::BadOutputName]));
        assert_eq!(plan(&["a"], &["x"], "../{cluster}", ""), Err(vec![Code::BadOutputName]));
    }

    #[test]
    fn a_fleet_of_bad_names_has_one_error() {
        let names: Vec<String> = (0..100).map(|n| format!("../{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(plan(&names, &["x"], "{cluster}", ""), Err(vec![Code::BadOutputName]));
    }
}
