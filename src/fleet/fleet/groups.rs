//! The clusters of a fleet that have the same layers, and the values files that one cluster has alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Clusters, Fleet, MAX_REPORTED};
use crate::cluster::Cluster;
use crate::report::{Failure, FailureCollector};
use crate::state::short_digest;
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Source;

/// The keys of groups, or the failures of clusters.
type GroupKeys = std::result::Result<Vec<Vec<usize>>, Vec<Failure>>;

impl Fleet {
    /// Puts the clusters into groups with equal keys. Returns the keys: the first one is that of group 1.
    ///
    /// # Errors
    /// The errors of `key` and of reading clusters, at most twenty.
    pub(crate) fn group(&mut self, key: &mut dyn FnMut(&Cluster) -> Result<Vec<usize>>) -> GroupKeys {
        let (mut known, mut keys): (HashMap<Vec<usize>, u32>, Vec<Vec<usize>>) = (HashMap::new(), Vec::new());
        let (mut groups, mut problems) = (Vec::with_capacity(self.len()), FailureCollector::default());
        let read = self.each(&mut |at, cluster| {
            let key = key(cluster).unwrap_or_else(|error| {
                problems.add_up_to(MAX_REPORTED, at, error);
                Vec::new()
            });
            let next = || {
                keys.push(key.clone());
                u32::try_from(keys.len()).unwrap_or(u32::MAX)
            };
            groups.push(*known.entry(key.clone()).or_insert_with(next));
            Ok(())
        });
        read.map_err(|error| vec![Failure::new(error)])?;
        if !problems.is_empty() {
            let mut reader = self.reader();
            return Err(problems.into_failures(|at| reader.name(at)));
        }
        for part in &mut self.parts {
            match &mut part.clusters {
                Clusters::Held(clusters) => {
                    let groups = groups.get(part.first..).unwrap_or_default();
                    let own = Arc::make_mut(clusters);
                    own.iter_mut().zip(groups).for_each(|(cluster, group)| cluster.put_into(*group));
                }
                Clusters::Records(records) => {
                    let end = part.first + records.len();
                    records.put_into(groups.get(part.first..end).unwrap_or_default().to_vec());
                }
            }
        }
        Ok(keys)
    }

    /// Sets the values files that one cluster has alone, by its group.
    pub(crate) fn set_own_files(&mut self, files: BTreeMap<usize, Vec<Arc<Source>>>) {
        self.own_files = files;
    }

    /// Returns the names of the values files that one cluster has alone.
    pub(crate) fn own_files(&self) -> impl Iterator<Item = &str> {
        self.own_files.values().flatten().map(|file| file.name())
    }

    /// Returns a short digest of what a cluster has alone: its own inputs, as they were written, and values files.
    #[doc(hidden)]
    pub fn digest(&self, cluster: &Cluster) -> String {
        let own = cluster.digest();
        match self.own_files_of(cluster) {
            [] => own,
            files => {
                let texts: Vec<_> = files.iter().map(|file| file.text()).chain([own.as_str()]).collect();
                short_digest(texts.join("\0").as_bytes())
            }
        }
    }

    /// Returns the values files that a cluster has alone.
    #[doc(hidden)]
    pub fn own_files_of(&self, cluster: &Cluster) -> &[Arc<Source>] {
        self.own_files.get(&cluster.group()).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of the group of a cluster.
    pub(crate) fn group_of(&self, at: usize) -> usize {
        let Some(part) = self.part_of(at) else { return 0 };
        match &part.clusters {
            Clusters::Held(clusters) => clusters.get(at - part.first).map_or(0, Cluster::group),
            Clusters::Records(records) => records.group_of(at - part.first),
        }
    }
}
