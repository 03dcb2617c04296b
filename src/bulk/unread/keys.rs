//! Groups of clusters with the same keys.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::bulk::cluster::Cluster;
use crate::value::{Data, DataMap};

/// Returns the indexes of the clusters of each group, in the order of their first clusters. There are at most `most`
/// groups; clusters with other keys are left out.
pub(super) fn shapes(clusters: &[&Cluster], most: usize) -> Vec<Vec<usize>> {
    let (state, mut groups, mut known) = (RandomState::new(), Vec::<Vec<usize>>::new(), HashMap::new());
    for (at, cluster) in clusters.iter().enumerate() {
        let mut hasher = state.build_hasher();
        match cluster.json() {
            Some(text) => hash_text(text.as_bytes(), &mut hasher),
            None => cluster.inputs().iter().for_each(|map| hash_map(map, &mut hasher)),
        }
        let group = *known.entry(hasher.finish()).or_insert(groups.len());
        if let Some(group) = groups.get_mut(group) {
            group.push(at);
        } else if group < most {
            groups.push(vec![at]);
        }
    }
    groups
}

/// Hashes the keys of a JSON object, without parsing its values.
fn hash_text(text: &[u8], hasher: &mut impl Hasher) {
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'"', b'{', b'}', text.get(at..).unwrap_or_default()) {
        let start = at + found + 1;
        if text.get(start - 1) != Some(&b'"') {
            hasher.write_u8(text.get(start - 1).copied().unwrap_or(0));
            at = start;
            continue;
        }
        let end = end_of_string(text, start);
        let rest = text.get(end + 1..).unwrap_or_default();
        if rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':') {
            hasher.write(text.get(start..end).unwrap_or_default());
            hasher.write_u8(b'"');
        }
        at = end + 1;
    }
}

/// Returns the position of the quote that ends the string that begins at `start`.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        let end = at + found;
        if text.get(end) == Some(&b'"') {
            return end;
        }
        at = end + 2;
    }
    text.len()
}

fn hash_map(map: &DataMap, hasher: &mut impl Hasher) {
    hasher.write_u8(b'{');
    for (key, value) in map {
        hasher.write(key.as_bytes());
        hasher.write_u8(b'"');
        hash_value(value, hasher);
    }
    hasher.write_u8(b'}');
}

fn hash_value(value: &Data, hasher: &mut impl Hasher) {
    match value {
        Data::Map(map) => hash_map(map, hasher),
        Data::List(items) => items.iter().for_each(|item| hash_value(item, hasher)),
        _ => {}
    }
}
