//! Dependencies: which are there, which are enabled, under which names, and the values that a chart imports from them
//! (`import-values`).
//!
//! A chart makes one chart for each alias of those in it, and again for each alias within them. A few hundred bytes of nested
//! aliases ask for millions of charts, so they are counted before any is made.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Stage;
use super::load::Chart;
use super::merging::{MergedMap, Merging, Nulls, View, shared};
use super::metadata::{Dependency, Metadata, place_of_dependency};
use super::source::Bounds;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, nearest, thousands};
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

/// Maximum number of names of a path that are shown.
const SHOWN: usize = 12;

/// The charts that dependencies ask for.
#[derive(Debug)]
pub(super) struct Matches {
    /// The chart of each dependency.
    pub of_dependencies: Vec<Option<usize>>,
    /// `true` for each chart that a dependency declares. The others stay as they are.
    pub declared: Vec<bool>,
}

impl Matches {
    /// Finds the first chart that fits each dependency, by name and version.
    pub fn of<'m>(dependencies: &[Dependency], charts: impl Iterator<Item = &'m Metadata>) -> Self {
        let charts: Vec<&Metadata> = charts.collect();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, chart) in charts.iter().enumerate() {
            by_name.entry(&chart.name).or_default().push(at);
        }
        let mut found = Self { of_dependencies: Vec::new(), declared: vec![false; charts.len()] };
        for dependency in dependencies {
            let mut first = None;
            for at in by_name.get(&*dependency.name).into_iter().flatten().copied() {
                let version = charts.get(at).map_or("", |chart| &chart.version);
                if let Some(declared) =
                    found.declared.get_mut(at).filter(|_| is_compatible(&dependency.version, version))
                {
                    *declared = true;
                    first.get_or_insert(at);
                }
            }
            found.of_dependencies.push(first);
        }
        found
    }
}

/// The size of a chart with all charts that it makes.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    charts: u64,
    files: u64,
    bytes: u64,
}

impl Size {
    /// Returns the size of a chart alone: of everything that each alias of it has again.
    fn of_one(chart: &Chart) -> Self {
        let templates = chart.templates.iter().map(|template| template.text.as_str().len());
        let crds = chart.files.iter().filter(|(name, _)| name.starts_with("crds/")).map(|(_, bytes)| bytes.len());
        let metadata = chart.metadata.dependencies.len() * size_of::<Dependency>() + size_of::<Chart>();
        let values = chart.defaults.as_ref().map_or(0, |text| text.as_str().len());
        let files = chart.templates.len() + 1;
        let bytes = templates.chain(crds).sum::<usize>() + metadata + values;
        Self { charts: 1, files: files as u64, bytes: bytes as u64 }
    }

    fn add(&mut self, times: u64, other: Size) {
        let add = |to: &mut u64, more: u64| *to = to.saturating_add(more.saturating_mul(times));
        add(&mut self.charts, other.charts);
        add(&mut self.files, other.files);
        add(&mut self.bytes, other.bytes);
    }

    /// Returns the bound that is exceeded: its size, its unit and its name.
    fn exceeded(&self, bounds: Bounds) -> Option<(Code, u64, &'static str, &'static str)> {
        let all = [
            (self.charts, Code::LimitTemplates, bounds.charts as u64, "charts", "charts"),
            (self.files, Code::LimitTemplates, bounds.files as u64, "templates", "files"),
            (self.bytes, Code::LimitSourceBytes, bounds.total_bytes, "bytes", "total_bytes"),
        ];
        let (_, code, most, unit, name) = all.into_iter().find(|(size, _, most, ..)| size > most)?;
        Some((code, most, unit, name))
    }
}

/// Checks that a chart stays within its bounds with all the charts that it makes, enabled or not.
///
/// # Errors
/// `limit.templates` for too many charts or templates, `limit.source_bytes` for too large ones.
pub(super) fn check(chart: &Chart, bounds: Bounds) -> Result<()> {
    let (size, path) = sized(chart, &chart.metadata.name);
    let Some((code, most, unit, bound)) = size.exceeded(bounds) else { return Ok(()) };
    Err(too_large(&path, code, (most, unit, bound)))
}

#[cold]
fn too_large(path: &[String], code: Code, (most, unit, bound): (u64, &str, &str)) -> Box<Diagnostic> {
    let most = thousands(usize::try_from(most).unwrap_or(usize::MAX));
    let message = format!("the chart makes too much of its dependencies: the limit is {most} {unit}");
    let more = if path.len() > SHOWN { "/…" } else { "" };
    let path = path.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("/");
    Stage::Dependencies
        .error(code, message)
        .with_note(format!(
            "the largest part is `{path}{more}`: each alias makes a chart of its own, with all charts in it"
        ))
        .with_help(format!("declare fewer dependencies, or raise `Bounds::{bound}`"))
}

/// Returns the size of a chart and the path to what is largest in it. Loading bounds the nesting.
fn sized(chart: &Chart, name: &str) -> (Size, Vec<String>) {
    let mut size = Size::of_one(chart);
    let dependencies = &chart.metadata.dependencies;
    let matches = Matches::of(dependencies, chart.charts().map(Chart::metadata));
    let (mut times, mut names) = (vec![0u64; matches.declared.len()], vec![None; matches.declared.len()]);
    for (dependency, at) in dependencies.iter().zip(&matches.of_dependencies) {
        if let Some((times, name)) = at.and_then(|at| Some((times.get_mut(at)?, names.get_mut(at)?))) {
            *times += 1;
            name.get_or_insert(if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias });
        }
    }
    let mut largest: (u64, Vec<String>) = <_>::default();
    for (((child, declared), times), name) in chart.charts().zip(&matches.declared).zip(times).zip(names) {
        let times = if *declared { times } else { 1 };
        let (inner, path) = sized(child, name.unwrap_or(&child.metadata.name));
        size.add(times, inner);
        let part = inner.charts.saturating_mul(times);
        if part > largest.0 {
            largest = (part, path);
        }
    }
    let path = std::iter::once(name.to_owned()).chain(largest.1).collect();
    (size, path)
}
