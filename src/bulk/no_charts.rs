//! Stands in for charts in builds without them: there are none.

use super::cluster::Cluster;
use super::kube::KubeSchemas;
use super::layers::Overlay;
use super::pieces::Piece;
use crate::diagnostics::{Diagnostic, Result};

/// A chart, of which there is none.
#[derive(Debug, Clone, Copy)]
pub enum FleetChart {}

/// The renderer of a chart, of which there is none.
pub(super) struct Releases<'f>(&'f FleetChart);

impl<'f> Releases<'f> {
    pub fn new(chart: &'f FleetChart, _: &[String], _: Option<&KubeSchemas>) -> Self {
        match *chart {}
    }

    pub fn render(&mut self, _: &Cluster, _: &Overlay<'_>, _: &mut String, _: &mut Vec<Result<usize>>) {
        match *self.0 {}
    }

    pub fn check(&self, _: &str, _: &str) -> Vec<Box<Diagnostic>> {
        match *self.0 {}
    }

    pub fn take_pieces(&mut self, _: &mut Vec<Piece>) {
        match *self.0 {}
    }
}
