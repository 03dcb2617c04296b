//! The charts of a plan: a working copy with enabled dependencies, their names and imported values.

use std::sync::Arc;

use super::load::Chart;
use super::merged::{MergedMap, View, shared};
use super::metadata::Dependency;
use dropforge_value::Data;

/// A chart of a plan.
#[derive(Debug, Clone)]
pub(super) struct Tree<'c> {
    pub(super) chart: &'c Chart,
    /// The alias, or the chart's own name.
    pub(super) name: String,
    /// Default values, with imported ones.
    pub(super) values: MergedMap<'c>,
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
            values: shared(&chart.values),
            dependencies: chart.metadata.dependencies.clone(),
            children: chart.charts.iter().map(|chart: &'c Arc<Chart>| Tree::of(chart)).collect(),
        }
    }

    /// Returns `true` if a chart in this one has the name.
    pub(super) fn has_child(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.name == name)
    }
}

/// Returns the map at a dotted path.
pub(super) fn table<'m, 'v>(values: View<'m, 'v>, path: &str) -> Option<View<'m, 'v>> {
    path.split('.').try_fold(values, |map, key| map.get(key).filter(|value| value.is_map()))
}

/// Returns the value at a dotted path that is not a map.
pub(super) fn leaf<'v>(values: View<'_, 'v>, path: &str) -> Option<&'v Data> {
    let (map, last) = match path.rsplit_once('.') {
        Some((way, last)) => (table(values, way)?, last),
        None => (values, path),
    };
    map.get(last)?.scalar()
}
