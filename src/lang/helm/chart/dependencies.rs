//! Dependencies: which are there, which are enabled, under which names, and the values that a chart imports from them
//! (`import-values`).

use std::collections::HashSet;
use std::sync::Arc;

use super::Stage;
use super::expanded::Matches;
use super::load::Chart;
use super::merged::{MergedMap, View, shared};
use super::merging::{Merging, Nulls};
use super::metadata::Dependency;
use super::metadata_checks::place_of_dependency;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, nearest};
use dropforge_base::stdlib::semver::LenientVersion;
use dropforge_value::Data;

/// A chart of a plan.
#[derive(Debug, Clone)]
pub(super) struct Tree<'c> {
    pub(super) chart: &'c Chart,
    /// The alias, or the chart's own name.
    pub(super) name: String,
    /// Default values, with imported ones.
    pub(super) values: Arc<MergedMap<'c>>,
    /// The enabled dependencies, under their aliases.
    pub(super) dependencies: Vec<Dependency>,
    pub(super) children: Vec<Tree<'c>>,
}

impl<'c> Tree<'c> {
    /// Returns the chart with all charts in it. Loading bounds the nesting.
    pub(super) fn of(chart: &'c Chart) -> Self {
        Self {
            chart,
            name: chart.metadata.name.clone(),
            values: Arc::new(shared(&chart.values)),
            dependencies: chart.metadata.dependencies.clone(),
            children: chart.charts.iter().map(|chart: &'c Arc<Chart>| Tree::of(chart)).collect(),
        }
    }

    /// Returns `true` if a chart in this one has the name.
    pub(super) fn has_child(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.name == name)
    }
}

/// Returns an error if a chart in `Chart.yaml` is not in `charts/`.
pub(super) fn missing(tree: &Tree<'_>) -> Option<Box<Diagnostic>> {
    let is_missing = |dependency: &&Dependency| !tree.has_child(&dependency.name);
    let names: Vec<&str> =
        tree.dependencies.iter().filter(is_missing).map(|dependency| dependency.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!("found in Chart.yaml, but missing in charts/ directory: {}", names.join(", "));
    let error = Stage::Dependencies.error(Code::InputStructure, message);
    let there = || tree.children.iter().map(|child| child.name.as_str());
    let declared = |name: &str| tree.dependencies.iter().any(|dependency| dependency.name == name);
    let first = names.first().copied().unwrap_or_default();
    let mut error = match nearest(first, there().filter(|name| !declared(name))) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")).with_replacement(first, near),
        None => {
            let folder = tree.chart.folder.as_deref().unwrap_or("CHART");
            error.with_help(format!("run `dropforge deps build {folder}`, or put the chart into `charts/`"))
        }
    };
    if let Some(source) = &tree.chart.declared
        && let Some(span) = place_of_dependency(source, first)
    {
        error = error.at(source, span, "");
    }
    Some(error.with_available(there()))
}

/// Returns `true` if a version fulfils a constraint. Malformed ones do not.
pub(super) fn is_compatible(constraint: &str, version: &str) -> bool {
    LenientVersion::parse(version).is_ok_and(|version| version.version.fulfils(constraint) == Ok(true))
}

/// Applies aliases and removes disabled charts, also in the charts that remain. `given` are the values of the user, `path`
/// leads to the values of this chart and ends with a dot.
///
/// # Errors
/// See [`Merging::coalesce`].
pub(super) fn enable<'v, 'c: 'v>(
    merging: Merging<'_, '_>,
    tree: &mut Tree<'c>,
    given: &MergedMap<'v>,
    path: &str,
) -> Result<()> {
    if tree.dependencies.is_empty() {
        return Ok(());
    }
    resolve(tree);
    merging.lent(|| {
        let mut merged = merging.copied(given)?;
        merging.coalesce(tree, &mut merged, Nulls::Delete)?;
        let is_disabled = |dependency: &&Dependency| !is_enabled(dependency, View::Map(&merged), path);
        let disabled: HashSet<String> =
            tree.dependencies.iter().filter(is_disabled).map(|dependency| dependency.name.clone()).collect();
        tree.children.retain(|child| !disabled.contains(&child.name));
        tree.dependencies.retain(|dependency| !disabled.contains(&dependency.name));
        tree.children.iter_mut().try_for_each(|child| {
            let path = format!("{path}{}.", child.name);
            enable(merging, child, &merged, &path).map_err(|error| Merging::in_chart(error, &child.name))
        })
    })
}

/// Applies aliases and enables every chart, also in the charts inside.
pub(super) fn enable_all(tree: &mut Tree<'_>) {
    resolve(tree);
    tree.children.iter_mut().for_each(enable_all);
}

/// Makes a chart of each dependency, under its alias. Charts that are not declared stay. Loading bounds their number.
fn resolve(tree: &mut Tree<'_>) {
    let matches = Matches::of(&tree.dependencies, tree.children.iter().map(|child| &child.chart.metadata));
    let children = tree.children.iter().zip(&matches.declared);
    let mut made: Vec<Tree<'_>> =
        children.filter(|(_, declared)| !**declared).map(|(child, _)| child.clone()).collect();
    for (dependency, at) in tree.dependencies.iter_mut().zip(&matches.of_dependencies) {
        if !dependency.alias.is_empty() {
            dependency.name = dependency.alias.clone();
        }
        let found = at.and_then(|at| tree.children.get(at));
        made.extend(found.map(|child| Tree { name: dependency.name.clone(), ..child.clone() }));
    }
    tree.children = made;
}

/// Returns `true` if conditions and tags enable a dependency. The first condition that is a boolean decides; without
/// one, some tag has to be true if any is a boolean.
fn is_enabled(dependency: &Dependency, values: View<'_, '_>, path: &str) -> bool {
    let conditions = dependency.condition.trim().split(',').filter(|condition| !condition.is_empty());
    let flag = |data: &Data| if let Data::Bool(flag) = data { Some(*flag) } else { None };
    let mut decided = conditions.filter_map(|condition| leaf(values, &format!("{path}{condition}")).and_then(flag));
    decided.next().unwrap_or_else(|| {
        let tags = table(values, "tags");
        let mut flags = dependency.tags.iter().filter_map(|tag| tags?.get(tag)?.scalar().and_then(flag)).peekable();
        flags.peek().is_none() || flags.any(|flag| flag)
    })
}

/// Returns the map at a dotted path.
pub(super) fn table<'m, 'v>(values: View<'m, 'v>, path: &str) -> Option<View<'m, 'v>> {
    path.split('.').try_fold(values, |map, key| map.get(key).filter(|value| value.is_map()))
}

/// Returns the value at a dotted path that is not a map.
fn leaf<'v>(values: View<'_, 'v>, path: &str) -> Option<&'v Data> {
    let (map, last) = match path.rsplit_once('.') {
        Some((way, last)) => (table(values, way)?, last),
        None => (values, path),
    };
    map.get(last)?.scalar()
}
