//! The division of a fleet's inputs into those that its clusters share and those that they set themselves.

use std::collections::{BTreeMap, HashSet};

use crate::shared_values::SharedValues;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_machine::specialise::Known;
use dropforge_value::{Data, DataMap, Map, Value};

/// The share of the clusters, as a divisor, that may be left to the original templates so that more is known to the
/// others.
const LEFT: usize = 8;

/// The shared entries that clusters set, replace or remove: a tree.
#[derive(Debug, Default)]
struct SetEntries {
    /// The clusters that do.
    by: Vec<usize>,
    /// The number of clusters that merge a map over it.
    merged: usize,
    below: BTreeMap<String, SetEntries>,
}

impl SetEntries {
    /// Adds the entries of a cluster. `base` are the inputs without them, and `shared` those parts of it over which maps are
    /// merged: a map of the cluster takes the place of a default.
    fn add(&mut self, own: &DataMap, base: &DataMap, shared: &DataMap, cluster: usize) {
        for (name, value) in own {
            let Some(below) = base.get(name) else { continue };
            let entry = self.below.entry(name.clone()).or_default();
            match (below.as_map(), shared.get(name).and_then(Data::as_map), value.as_map()) {
                (Some(below), Some(shared), Some(value)) => {
                    entry.merged += 1;
                    entry.add(value, below, shared, cluster);
                }
                _ => entry.by.push(cluster),
            }
        }
    }

    fn each<'o>(&'o self, see: &mut impl FnMut(&'o [usize])) {
        see(&self.by);
        self.below.values().for_each(|own| own.each(see));
    }

    /// Returns `true` if more than `most` clusters set the entry or one below it.
    fn is_open(&self, most: usize) -> bool {
        self.by.len() > most || self.below.values().any(|own| own.is_open(most))
    }
}

/// The entries that clusters of a fleet set.
#[derive(Debug, Default)]
pub(super) struct Division {
    own: SetEntries,
    /// The number of clusters looked at.
    pub(super) clusters: usize,
    /// An entry that more clusters set is not known.
    most: usize,
}

impl Division {
    /// Looks at the inputs of clusters. `names` are top-level inputs that templates read.
    pub(super) fn new<'d>(
        layers: &SharedValues,
        names: &HashSet<&str>,
        clusters: impl Iterator<Item = &'d DataMap>,
    ) -> Self {
        let (base, shared) = (layers.base(), layers.merged_by_entry());
        let mut division = Self::default();
        for own in clusters {
            let cluster = division.clusters;
            division.own.add(own, base, &shared, cluster);
            for name in own.keys().filter(|name| names.contains(name.as_str()) && !base.contains_key(*name)) {
                division.own.below.entry(name.clone()).or_default().by.push(cluster);
            }
            division.clusters += 1;
        }
        division.most = division.most();
        division
    }

    /// Returns the greatest number such that not too many clusters set entries that no more clusters set.
    fn most(&self) -> usize {
        let mut entries: Vec<&[usize]> = Vec::new();
        self.own.each(&mut |by| entries.push(by));
        entries.small_sort_by_key(|by| by.len());
        let (mut left, mut most) = (HashSet::<usize>::new(), 0);
        for alike in entries.chunk_by(|a, b| a.len() == b.len()) {
            left.extend(alike.iter().flat_map(|by| by.iter()));
            if left.len() > self.clusters / LEFT {
                break;
            }
            most = alike.first().map_or(0, |by| by.len());
        }
        most
    }

    /// Returns the known inputs: the values of `base`, and those of `names` that are missing.
    pub(super) fn known<'v>(&self, base: &Map<'v>, names: impl Iterator<Item = &'v str>) -> Known<'v> {
        let Known::Fields(mut fields) = self.fields(base, &self.own) else { return Known::Open };
        let is_set = |name: &str| self.own.below.get(name).is_some_and(|own| own.by.len() > self.most);
        let absent = names.filter(|name| base.get(name).is_none() && !is_set(name));
        fields.extend(absent.map(|name| (name, Known::Absent)));
        Known::Fields(fields)
    }

    fn fields<'v>(&self, shared: &Map<'v>, own: &SetEntries) -> Known<'v> {
        let field = |(name, value): (&'v str, Value<'v>)| {
            let known = match (own.below.get(name), value) {
                (Some(own), _) if own.by.len() > self.most => return None,
                (Some(own), Value::Map(map)) if own.merged > self.most || own.is_open(self.most) => {
                    self.fields(map, own)
                }
                _ => Known::Value(value),
            };
            Some((name, known))
        };
        Known::Fields(shared.iter().filter_map(field).collect())
    }

    /// Returns the dotted paths of shared entries that are not known, with the number of clusters that set each.
    pub(super) fn open(&self, layers: &SharedValues) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        for (name, own) in self.own.below.iter().filter(|(name, _)| layers.base().contains_key(*name)) {
            self.add_open(name, own, &mut found);
        }
        found
    }

    fn add_open(&self, path: &str, own: &SetEntries, found: &mut Vec<(String, usize)>) {
        if own.by.len() > self.most {
            found.push((path.to_owned(), own.by.len()));
            return;
        }
        own.below.iter().for_each(|(name, own)| self.add_open(&format!("{path}.{name}"), own, found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Merge;
    use dropforge_value::{Arena, InputBuilder, Shapes};

    fn map(text: &str) -> DataMap {
        serde_json::from_str::<Data>(text).unwrap().into_map().unwrap()
    }

    /// The known inputs of a fleet, as a text.
    fn known(merge: Merge, clusters: &[&str]) -> String {
        fn show(known: &Known<'_>) -> String {
            let Known::Fields(fields) = known else {
                return if matches!(known, Known::Absent) { "-" } else { "+" }.to_owned();
            };
            let fields = fields.iter().map(|(name, known)| format!("{name}{}", show(known)));
            format!("({})", fields.collect::<Vec<_>>().join(" "))
        }
        let layers = SharedValues::new([map(r#"{"a":{"x":1,"y":{"z":2}},"b":[3],"c":4}"#)], [].into(), merge);
        let clusters: Vec<DataMap> = clusters.iter().map(|text| map(text)).collect();
        let names = HashSet::from(["a", "d"]);
        let division = Division::new(&layers, &names, clusters.iter());
        let (arena, keys) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&keys);
        let shared = InputBuilder::new(&arena, &shapes).data_map(layers.shared()).unwrap();
        show(&division.known(shared.as_map().unwrap(), ["a", "d"].into_iter()))
    }

    #[test]
    fn shared_entries_that_clusters_leave_alone_are_known() {
        let clusters = [r#"{"name":1}"#, r#"{"a":{"y":{"z":null}},"e":1}"#];
        assert_eq!(known(Merge::Deep, &clusters), "(a(x+ y()) b+ c+ d-)");
        assert_eq!(known(Merge::Replace, &clusters), "(b+ c+ d-)");
        assert_eq!(known(Merge::Deep, &[r#"{"a":null,"d":1}"#, r#"{"b":{}}"#]), "(c+)");
    }

    #[test]
    fn clusters_add_to_known_maps() {
        let clusters = [r#"{"a":{"own":1}}"#, r#"{"a":{"y":{"own":2}}}"#];
        assert_eq!(known(Merge::Deep, &clusters), "(a(x+ y(z+)) b+ c+ d-)");
    }

    #[test]
    fn a_few_odd_clusters_do_not_count() {
        let mut clusters = vec!["{}"; 15];
        clusters.push(r#"{"a":1,"c":2}"#);
        assert_eq!(known(Merge::Deep, &clusters), "(a+ b+ c+ d-)");
        clusters.extend([r#"{"a":{"x":1}}"#; 3]);
        assert_eq!(known(Merge::Deep, &clusters), "(a(y+) b+ c+ d-)");
    }
}
