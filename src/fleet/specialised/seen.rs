//! The values that clusters set themselves, as far as they have been looked at.

use std::collections::BTreeMap;

use dropforge_value::{Data, DataMap};

/// Maximum number of values of a path that divides clusters into classes.
const VALUES: usize = 32;

/// Maximum number of keys below each other.
const DEPTH: usize = 4;

/// Stands for a value that is not among those of a path.
pub(super) const OTHER: u8 = u8::MAX;

/// The keys of a path, the name of an input first.
pub(super) type Keys = Vec<String>;

/// The values at one path.
#[derive(Debug, Default)]
pub(super) struct PathValues<'d> {
    /// The number of strings.
    texts: usize,
    /// Distinct values that are neither null, list nor map.
    pub values: Vec<&'d Data>,
    /// By cluster: the index of its value, or [`OTHER`].
    pub of: Vec<u8>,
    /// The keys of maps, with the number of clusters that have them.
    keys: Vec<(Vec<&'d str>, usize)>,
    below: BTreeMap<&'d str, PathValues<'d>>,
}

/// Returns `true` for nearly all of the clusters.
fn is_most(count: usize, clusters: usize) -> bool {
    count >= clusters - clusters / 16
}

impl<'d> PathValues<'d> {
    /// Looks at the inputs of clusters.
    pub fn new(clusters: &[&'d DataMap]) -> Self {
        let mut seen = Self::default();
        for (cluster, own) in clusters.iter().enumerate() {
            seen.add_entries(own, cluster, 0);
        }
        seen
    }

    fn add_entries(&mut self, map: &'d DataMap, cluster: usize, depth: usize) {
        for (name, value) in map {
            self.below.entry(name).or_default().add(value, cluster, depth + 1);
        }
    }

    fn add(&mut self, value: &'d Data, cluster: usize, depth: usize) {
        self.of.resize(cluster, OTHER);
        match value {
            Data::Map(map) if depth < DEPTH => {
                let keys: Vec<&str> = map.keys().map(String::as_str).collect();
                let found = self.keys.iter().position(|(known, _)| *known == keys);
                match found {
                    Some(nth) => self.keys[nth].1 += 1,
                    None if self.keys.len() < VALUES => self.keys.push((keys, 1)),
                    None => {}
                }
                self.of.push(OTHER);
                self.add_entries(map, cluster, depth);
            }
            Data::Null | Data::List(_) | Data::Map(_) => self.of.push(OTHER),
            value => {
                self.texts += usize::from(matches!(value, Data::Str(_)));
                let found = self.values.iter().position(|one| *one == value);
                let nth = found.unwrap_or(self.values.len());
                if found.is_none() && nth < VALUES {
                    self.values.push(value);
                }
                self.of.push(if nth < VALUES { u8::try_from(nth).unwrap_or(OTHER) } else { OTHER });
            }
        }
    }

    /// Calls `see` with each path and its values.
    pub fn each<'s>(&'s self, keys: &mut Keys, see: &mut impl FnMut(&Keys, &'s PathValues<'d>)) {
        for (name, below) in &self.below {
            keys.push((*name).to_owned());
            see(keys, below);
            below.each(keys, see);
            keys.pop();
        }
    }

    /// Returns `true` if nearly all clusters have one of few values.
    pub fn is_choice(&self, clusters: usize) -> bool {
        let is_few = 4 * self.values.len() <= clusters;
        is_few && is_most(self.of.iter().filter(|nth| **nth != OTHER).count(), clusters)
    }

    /// Returns the keys that nearly all clusters have, in this order, if all of their values are strings or choices. The
    /// flags tell which are strings.
    pub fn entries(&self, clusters: usize) -> Option<Vec<(&'d str, bool)>> {
        let (keys, _) = self.keys.iter().find(|(_, count)| is_most(*count, clusters))?;
        let entry = |key: &&'d str| {
            let below = self.below.get(key)?;
            let is_text = is_most(below.texts, clusters);
            (is_text || below.is_choice(clusters)).then_some((*key, is_text))
        };
        keys.iter().map(entry).collect()
    }
}
