//! Charts in a build without their language: there are none.

use super::job::Renderer;
use super::kube::KubeSchemas;

/// A chart with everything that its releases share. This build has no charts.
#[derive(Debug)]
pub enum FleetChart {}

/// Calls `body` with the renderer of a chart.
pub(super) fn work(
    chart: &FleetChart,
    _: (&[String], Option<&KubeSchemas>, bool),
    _: &mut dyn FnMut(&mut dyn Renderer),
) -> usize {
    match *chart {}
}
