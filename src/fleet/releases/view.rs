//! The values that a release gets for a cluster, and where they come from.

use super::{Release, ReleaseSet, values};
use crate::cluster::Cluster;
use crate::layers::{Layers, Overlay};
use crate::origins::Origin;
use crate::values::Step;
use crate::why::ReleaseGivens;
use dropforge_base::diagnostics::{Diagnostics, Result};
use dropforge_helm::chart::Plan;
use dropforge_value::{Data, DataMap};

/// The values that a release gets for a cluster.
#[derive(Debug)]
pub struct ReleaseView {
    /// The values: of a chart with its defaults, of templates all that they see.
    pub values: DataMap,
    /// `false` for a release that the cluster does not want.
    pub is_enabled: bool,
    givens: ReleaseGivens,
    /// The chart, unless the release has templates.
    chart: Option<Plan>,
}

impl ReleaseView {
    /// Returns the origins of the value at a path, highest first, and the place of its default if nothing else gives it.
    pub fn origins(&self, layers: &Layers, cluster: &Cluster, path: &[Step]) -> (Vec<Origin>, Option<String>) {
        let (origins, in_cluster) = self.givens.origins(layers, Some(cluster), path);
        let default = match &self.chart {
            Some(chart) => chart.outermost_value(path).default,
            None => layers.default_place(&in_cluster).filter(|_| origins.is_empty()),
        };
        (origins, default)
    }
}

impl ReleaseSet {
    /// Returns the names of the releases, as they are defined.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.releases.iter().map(|release| release.name.text())
    }

    /// Returns the values that the nth release gets for a cluster.
    ///
    /// # Errors
    /// Errors of values, and of conditions.
    pub fn view(
        &self,
        nth: usize,
        layers: &Layers,
        cluster: &Cluster,
    ) -> std::result::Result<Option<ReleaseView>, Diagnostics> {
        self.releases.get(nth).map(|release| release.view(layers, cluster)).transpose()
    }
}

impl Release {
    fn view(&self, layers: &Layers, cluster: &Cluster) -> std::result::Result<ReleaseView, Diagnostics> {
        let own = self.overlay(layers, cluster)?;
        let chart = self.chart().map(|chart| chart.planned(layers, cluster, &own)).transpose()?;
        let values = match &chart {
            Some(chart) => chart.values().iter().map(|(key, value)| (key.clone(), as_printed(value))).collect(),
            None => merged(own, layers, cluster)?,
        };
        let is_enabled = values::enabled(std::slice::from_ref(self), layers, cluster)? == [true];
        Ok(ReleaseView { values, is_enabled, givens: self.givens(layers, cluster)?, chart })
    }
}

/// Returns a value of a chart as its templates print it: all numbers are floats, and whole ones have no point.
fn as_printed(value: &Data) -> Data {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        #[allow(clippy::cast_possible_truncation, reason = "a whole number below the limit fits")]
        Data::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => Data::Int(*number as i64),
        Data::List(items) => Data::List(items.iter().map(as_printed).collect()),
        Data::Map(map) => Data::Map(map.iter().map(|(key, value)| (key.clone(), as_printed(value))).collect()),
        other => other.clone(),
    }
}

fn merged(own: Overlay<'_>, layers: &Layers, cluster: &Cluster) -> Result<DataMap> {
    match own {
        Overlay::Whole { all, .. } => Ok(all),
        _ => layers.merged(cluster),
    }
}
