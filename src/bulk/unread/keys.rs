//! Groups of clusters with the same keys.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::bulk::cluster::Cluster;
use crate::value::{Data, DataMap};

/// Returns the indexes of the clusters of each group, in the order of their first clusters. There are at most `most`
/// groups; clusters with other keys are left out.
pub(super) fn shapes(clusters: &[&Cluster], most: usize) -> Vec<Vec<usize>> {
    let (mut groups, mut known) = (Vec::<Vec<usize>>::new(), HashMap::new());
    let seed = Hash(RandomState::new().hash_one(0));
    for (at, cluster) in clusters.iter().enumerate() {
        let mut hash = seed;
        match cluster.json() {
            Some(text) => hash.add_text(text),
            None => cluster.inputs().iter().for_each(|map| hash.add_map(map)),
        }
        let group = *known.entry(hash.0).or_insert(groups.len());
        if let Some(group) = groups.get_mut(group) {
            group.push(at);
        } else if group < most {
            groups.push(vec![at]);
        }
    }
    groups
}

/// A hash of keys. It has to be cheap, because all keys of a fleet are hashed, and a collision only hides a warning.
#[derive(Clone, Copy)]
struct Hash(u64);

/// A place in a JSON text.
enum Place {
    Outside,
    String,
    /// Behind a backslash in a string.
    Escape,
    /// Behind a string, which is a key if a colon follows.
    Behind,
}

impl Hash {
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }

    /// Adds the keys of a JSON object, without parsing its values.
    fn add_text(&mut self, text: &str) {
        let (mut place, mut string) = (Place::Outside, *self);
        for byte in text.bytes() {
            place = match (place, byte) {
                (Place::String, b'"') => Place::Behind,
                (Place::String, b'\\') => Place::Escape,
                (Place::String | Place::Escape, _) => {
                    string.add(byte);
                    Place::String
                }
                (_, b'"') => {
                    string = *self;
                    Place::String
                }
                (Place::Behind, b':') => {
                    *self = string;
                    self.add(b'"');
                    Place::Outside
                }
                (_, b'{' | b'}') => {
                    self.add(byte);
                    Place::Outside
                }
                (Place::Behind, b' ' | b'\t') => Place::Behind,
                _ => Place::Outside,
            };
        }
    }

    fn add_map(&mut self, map: &DataMap) {
        self.add(b'{');
        for (key, value) in map {
            key.bytes().chain([b'"']).for_each(|byte| self.add(byte));
            self.add_value(value);
        }
        self.add(b'}');
    }

    fn add_value(&mut self, value: &Data) {
        match value {
            Data::Map(map) => self.add_map(map),
            Data::List(items) => items.iter().for_each(|item| self.add_value(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::{Fleet, FleetOptions, Format};
    use crate::text::Source;

    #[test]
    fn clusters_are_grouped_by_their_keys() {
        let lines = [
            r#"{"name":"a","m":{"x":1},"l":[{"k":1}]}"#,
            r#"{ "name" : "\"m\\" , "m":{"x":"{:\""},"l":[{"k":[2, "z"]}] }"#,
            r#"{"name":"c","m":{},"x":1,"l":[{"k":1}]}"#,
            r#"{"name":"d","m":{"x":":"},"l":[{"k":null}]}"#,
        ];
        let of = |name: &str, text: &str| {
            let fleet =
                Fleet::read(&Source::new(name, text), Format::of(name, text), &FleetOptions::default()).unwrap();
            shapes(&fleet.clusters().iter().collect::<Vec<_>>(), 2)
        };
        let expected = [vec![0, 1, 3], vec![2]];
        assert_eq!(of("f.ndjson", &lines.join("\n")), expected);
        assert_eq!(of("f.json", &format!("[{}]", lines.join(","))), expected);
        assert_eq!(of("f.csv", "name,a\nx,1\ny,\nz,\n"), [vec![0], vec![1, 2]]);
    }
}
