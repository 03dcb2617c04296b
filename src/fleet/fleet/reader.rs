//! Reading single clusters of a fleet.

use std::sync::Arc;

use super::{Clusters, Fleet};
use crate::cluster::Cluster;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

/// A reader of single clusters. It keeps the part of a file that it read last, so the next cluster of it costs nothing.
#[derive(Debug)]
pub struct FleetReader<'f> {
    fleet: &'f Fleet,
    clusters: Arc<[Cluster]>,
    /// The number of clusters before these.
    first: usize,
}

impl<'f> FleetReader<'f> {
    pub(super) fn new(fleet: &'f Fleet) -> Self {
        Self { fleet, clusters: Arc::new([]), first: 0 }
    }

    /// Returns the cluster `at`, counted from 0.
    ///
    /// # Errors
    /// `file.read_failed` if the file cannot be read, or was changed.
    pub fn cluster(&mut self, at: usize) -> Result<&Cluster> {
        if at.checked_sub(self.first).is_none_or(|nth| nth >= self.clusters.len()) {
            self.read(at)?;
        }
        let nth = at.wrapping_sub(self.first);
        self.clusters.get(nth).ok_or_else(|| {
            let clusters = thousands(self.fleet.len());
            Diagnostic::new(Code::Internal, format!("no cluster {} of {clusters}", thousands(at)))
        })
    }

    fn read(&mut self, at: usize) -> Result<()> {
        let Some(part) = self.fleet.part_of(at) else { return Ok(()) };
        (self.first, self.clusters) = match &part.clusters {
            Clusters::Held(clusters) => (part.first, clusters.clone()),
            Clusters::Records(records) => {
                let (first, clusters) = records.part_with(at - part.first)?;
                (part.first + first, clusters)
            }
        };
        Ok(())
    }

    /// Returns the name of the cluster `at`, or an empty string if it cannot be read.
    pub fn name(&mut self, at: usize) -> String {
        self.cluster(at).map_or_else(|_| String::new(), |cluster| cluster.name().to_owned())
    }
}
