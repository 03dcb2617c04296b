//! The places of values: the lines of the files that give them.

use std::sync::Arc;

use super::explain::VALUES;
use super::imports::source_and_target;
use super::plan::{Plan, PlannedChart};
use super::user_values::UserValues;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::assign::{InputValue, Step};
use dropforge_value::yaml::{self, Node};
use dropforge_value::{Data, DataMap};

/// The key of the values that all charts share.
pub(super) const GLOBAL: &str = "global";

impl Plan {
    /// Returns the place of a value among the values of the chart `at`: in the last file of the user that gives it, or else
    /// in the values of the outermost chart that does.
    pub(super) fn place(&self, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        let around = self.around(at);
        for file in self.given.iter().rev() {
            let whole = around.iter().skip(1).map(|(_, chart)| Step::Key(chart.name.clone()));
            let whole: Vec<Step> = whole.chain(path.iter().cloned()).collect();
            if let Some(span) = documents(file).and_then(|documents| place_in(&documents, &whole, path)) {
                return Some((file.clone(), span));
            }
        }
        self.default_place(at, path)
    }

    /// Returns the place of a value among those of the chart with this path, unless an option or a cluster gives it.
    pub(super) fn place_in_files(&self, chart: &str, path: &[Step], user: &UserValues) -> Option<(Arc<Source>, Span)> {
        let at = self.charts.iter().position(|known| known.path == chart)?;
        if user.is_from_file(&self.whole(at, path)) { self.place(at, path) } else { None }
    }

    /// Returns the path among the values of the outermost chart of a value of the chart `at`.
    fn whole(&self, at: usize, path: &[Step]) -> Vec<Step> {
        let around = self.around(at);
        let above = around.iter().skip(1).map(|(_, chart)| Step::Key(chart.name.clone()));
        above.filter(|_| !is_global(path)).chain(path.iter().cloned()).collect()
    }

    /// Returns the place of a value in the values of the outermost chart that has it.
    fn default_place(&self, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        self.default_place_in(None, at, path)
    }

    /// Returns the place that the chart `importer` imports from, if it is given: what is outside, and its own imports, do not
    /// count.
    fn default_place_in(&self, importer: Option<usize>, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        let mut around = self.around(at);
        let outside = importer.and_then(|importer| around.iter().position(|(at, _)| *at == importer));
        around.drain(..outside.unwrap_or(0));
        for (depth, (at, chart)) in around.iter().enumerate() {
            let inner = around.iter().skip(depth + 1).map(|(_, chart)| Step::Key(chart.name.clone()));
            let whole: Vec<Step> = inner.chain(path.iter().cloned()).collect();
            let own =
                chart.defaults().and_then(|(file, documents)| Some((file.clone(), place_in(documents, &whole, path)?)));
            let imported = || if importer == Some(*at) { None } else { self.imported_place(*at, &whole) };
            if let Some(found) = own.or_else(imported) {
                return Some(found);
            }
        }
        None
    }

    /// Returns the place of a value that the chart `at` imports from a chart in it.
    fn imported_place(&self, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        let dependencies = &self.charts.get(at)?.metadata.dependencies;
        let imports = dependencies.iter().flat_map(|one| one.import_values.iter().map(|item| (&one.name, item)));
        imports.filter_map(|(name, item)| Some((name, source_and_target(item)?))).find_map(|(name, (from, to))| {
            let steps = |path: &str| path.split('.').map(|key| Step::Key(key.to_owned())).collect::<Vec<_>>();
            let rest = if to == "." { path } else { path.strip_prefix(&*steps(&to))? };
            let child = self.charts.iter().position(|chart| chart.parent == Some(at) && chart.name == *name)?;
            self.default_place_in(Some(at), child, &[&steps(&from), rest].concat())
        })
    }

    /// Returns the value that an input is, with its path among the values of the outermost chart.
    pub fn value_of(&self, input: &[Step]) -> InputValue {
        let at = input.first().and_then(Step::key).and_then(|name| self.chart_named(name));
        let (Some(at), [_, path @ ..]) = (at, input) else {
            return InputValue { name: Step::joined(input), ..InputValue::default() };
        };
        let name = format!(".{}", Step::joined(path));
        let [Step::Key(first), path @ ..] = path else { return InputValue { name, ..InputValue::default() } };
        if first != VALUES {
            return InputValue { name, ..InputValue::default() };
        }
        let whole = self.whole(at, path);
        let default = self.default_place(at, path);
        let default = default.map(|(source, span)| format!("{}:{}", source.path(), source.position(span.start)));
        let schema = self.charts.get(at).and_then(|chart| chart.schema.as_ref());
        InputValue { name, path: whole, default, is_secret: schema.is_some_and(|schema| schema.hides(path)) }
    }

    /// Returns the values of the chart `at`.
    pub fn values_of(&self, at: usize) -> Option<&DataMap> {
        let around = self.around(at);
        around.iter().skip(1).try_fold(&self.values, |map, (_, chart)| map.get(&chart.name)?.as_map())
    }

    /// Returns the value at a path among those of the chart `at`.
    pub(super) fn value(&self, at: usize, path: &[Step]) -> Option<&Data> {
        let map = self.values_of(at)?;
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(map.get(first.key()?)?, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(at) => value.index(*at),
        })
    }

    /// Returns the keys among the values of the chart `at`, at a path of keys. `None` if there is no map.
    pub(super) fn keys(&self, at: usize, path: &[Step]) -> Option<Vec<&str>> {
        let map = match path {
            [] => self.values_of(at),
            _ => self.value(at, path)?.as_map(),
        };
        Some(map?.keys().map(String::as_str).collect())
    }

    /// Returns the charts around the chart `at` and itself, the outermost first.
    fn around(&self, at: usize) -> Vec<(usize, &PlannedChart)> {
        let mut around = Vec::new();
        let mut next = Some(at);
        while let Some((at, chart)) = next.and_then(|at| Some((at, self.charts.get(at)?))) {
            around.push((at, chart));
            next = chart.parent;
        }
        around.reverse();
        around
    }
}

pub(super) fn is_global(path: &[Step]) -> bool {
    path.first().and_then(Step::key) == Some(GLOBAL)
}

/// Reads a file of values. `None` if it is invalid.
pub(super) fn documents(file: &Arc<Source>) -> Option<Vec<Node>> {
    yaml::read(file, &Limits { source_bytes: usize::MAX, ..Limits::default() }).ok()
}

/// Returns the place of the key or item at the end of the path `whole`, in the last document that has it. Global values may
/// be at the path `within_chart`.
fn place_in(documents: &[Node], whole: &[Step], within_chart: &[Step]) -> Option<Span> {
    let find = |path: &[Step]| documents.iter().rev().find_map(|document| within(document, path));
    find(whole).or_else(|| find(within_chart).filter(|_| is_global(within_chart)))
}

fn within(document: &Node, path: &[Step]) -> Option<Span> {
    let (last, way) = path.split_last()?;
    let parent = way.iter().try_fold(document, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Index(at) => node.as_list()?.get(*at),
    })?;
    match last {
        Step::Key(key) => parent.entry(key).map(|entry| entry.key.span),
        Step::Index(at) => parent.as_list()?.get(*at).map(|item| item.span),
    }
}
