//! Values of releases that nothing reads: in their files, and below `releases` in the values of layers and clusters.

use std::collections::{BTreeMap, BTreeSet};

use super::{RELEASES, ReleaseSet};
use crate::input::Place;
use crate::layer_files::ValuesFile;
use crate::layers::Layers;
use crate::unread::ReadValues;
use crate::view::Merge;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_value::DataMap;

/// The numbers of the releases that have a file.
type Users = BTreeSet<usize>;

impl ReleaseSet {
    /// Adds what charts read to `read`, below `releases` and their names.
    pub(super) fn add_reads_of_charts(&self, read: &mut ReadValues) {
        let are_known = !self.is_part && self.releases.iter().all(|release| release.name.is_constant());
        if !are_known {
            return read.add(RELEASES);
        }
        for (at, release) in self.releases.iter().enumerate().filter(|(_, release)| release.chart().is_some()) {
            self.graft(read, &[RELEASES, release.name.text()], at);
        }
    }

    /// Adds what the set of a release reads to `read`, below `keys`.
    fn graft(&self, read: &mut ReadValues, keys: &[&str], at: usize) {
        if let (Some(release), Some(of_set)) = (self.releases.get(at), self.reads.get(at)) {
            read.graft(keys, of_set.get_or_init(|| release.set.reads(None)));
        }
    }

    /// Returns a warning for each name in the values files of releases that none of the releases with the file reads.
    pub(super) fn unread_in_files(&self) -> Vec<Box<Diagnostic>> {
        if self.is_part {
            // Releases that are left out may read the same files.
            return Vec::new();
        }
        let mut by_users: BTreeMap<Users, Vec<(DataMap, Place)>> = BTreeMap::new();
        for (users, file) in self.files().into_values() {
            by_users.entry(users).or_default().push(file);
        }
        let unread = |(users, files): (Users, Vec<(DataMap, Place)>)| {
            let mut read = ReadValues::default();
            users.iter().for_each(|user| self.graft(&mut read, &[], *user));
            let alone = files.into_iter().map(|file| vec![file]);
            read.unread(&Layers::of_groups(Vec::new(), alone, Vec::new(), Merge::Deep))
        };
        by_users.into_iter().flat_map(unread).collect()
    }

    /// Returns the values files of all releases by their names, apart from templates.
    fn files(&self) -> BTreeMap<String, (Users, (DataMap, Place))> {
        let mut files = BTreeMap::new();
        for (at, release) in self.releases.iter().enumerate() {
            for file in release.values.files.files().flatten() {
                let ValuesFile::Map(map, place) = file else { continue };
                let name = place.source().name().to_owned();
                let (users, _) = files.entry(name).or_insert_with(|| (Users::new(), (map.clone(), place.clone())));
                users.insert(at);
            }
        }
        files
    }
}
