//! The charts that a chart makes of those in it: one for each alias, and again for each alias within them. A few hundred
//! bytes of nested aliases ask for millions of charts, so they are counted before any is made.

use std::collections::HashMap;

use super::Stage;
use super::dependencies::is_compatible;
use super::load::Chart;
use super::metadata::{Dependency, Metadata};
use super::source::Bounds;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

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
