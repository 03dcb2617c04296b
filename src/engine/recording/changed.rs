//! The entries that functions put into maps which others hold, too. A later read of such a map gives them.

use hashbrown::{HashMap, HashSet};

use super::event::Edge;
use super::known::{each_member, members_of, step_of};
use dropforge_value::{Step, Value};

/// Maximum number of entries of one key. The origins of older ones are not kept: they may be any inputs.
const ENTRIES: usize = 64;
/// Maximum depth and number of lists and maps that are looked at in a value. In a larger one, any map that was changed may be.
const DEPTH: usize = 4;
const LOOKS: usize = 256;
/// Maximum number of entries that may be in a larger value. Of more, the origins may be any inputs.
const ORIGINS: usize = 256;

/// Stands for the addresses of maps that are not known any more.
const ANY_MAP: usize = 0;

/// An origin, and the steps to a member of it.
pub(super) type Origin = (Edge, Vec<Step>);

/// The entries that were put into maps.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Tells which imports of which programs put entries into maps.
    changing: HashMap<(u32, u32), bool>,
    entries: HashMap<String, Vec<Entry>>,
}

#[derive(Debug, PartialEq)]
struct Entry {
    /// The address of the map.
    map: usize,
    from: Edge,
    /// The step within the origin.
    within: Option<Step>,
}

impl Changes {
    /// Returns `true` if an import puts entries into its first argument. `find` finds that out.
    pub fn is_changing(&mut self, import: (u32, u32), find: impl FnOnce() -> bool) -> bool {
        *self.changing.entry(import).or_insert_with(find)
    }

    /// Takes note of a call that puts entries into its first argument: a value under a key, or those of maps.
    pub fn note(&mut self, values: &[Value<'_>], edges: &[Edge]) {
        let ([map, values @ ..], [_, edges @ ..]) = (values, edges) else { return };
        let Some(map) = address(*map) else { return };
        if let ([key, _], [of_key, from]) = (values, edges)
            && let Some(key) = key.as_str()
        {
            // A key may have been made from a secret, too.
            [from, of_key].into_iter().for_each(|from| self.add(key, Entry { map, from: *from, within: None }));
            return;
        }
        for (value, from) in values.iter().zip(edges) {
            for step in members_of(*value) {
                let key = step.key().unwrap_or_default().to_owned();
                self.add(&key, Entry { map, from: *from, within: Some(step) });
            }
            // It may have entries of this kind itself.
            let own: Vec<String> = self.keys_of(address(*value));
            own.into_iter().for_each(|key| self.add(&key, Entry { map, from: *from, within: None }));
        }
    }

    fn add(&mut self, key: &str, entry: Entry) {
        let entries = self.entries.entry_ref(key).or_default();
        if entries.contains(&entry) {
            return;
        }
        if entries.len() >= ENTRIES {
            entries.truncate(ENTRIES - 2);
            entries.push(Entry { map: ANY_MAP, from: Edge::Any, within: None });
        }
        entries.insert(0, entry);
    }

    fn keys_of(&self, map: Option<usize>) -> Vec<String> {
        let has = |entries: &Vec<Entry>| entries.iter().any(|entry| entry.map == ANY_MAP || Some(entry.map) == map);
        self.entries.iter().filter(|(_, entries)| has(entries)).map(|(key, _)| key.clone()).collect()
    }

    /// Returns where the value at the end of a path may come from: the map on the way that was changed is not known, so it is
    /// any with such a key.
    pub fn along(&self, path: &[Step]) -> Vec<Origin> {
        let mut found = Vec::new();
        for (at, step) in path.iter().enumerate().filter(|_| !self.entries.is_empty()) {
            for Entry { from, within, .. } in step.key().and_then(|key| self.entries.get(key)).into_iter().flatten() {
                let rest = path.get(at + 1..).unwrap_or(&[]);
                found.push((*from, within.iter().chain(rest).cloned().collect()));
            }
        }
        found
    }

    /// Returns what was put into the maps among these values and in them, and under the keys among them.
    pub fn within(&self, values: &[Value<'_>]) -> Vec<Origin> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let (maps, are_all) = maps_in(values);
        let is_in = |entry: &&Entry| !are_all || entry.map == ANY_MAP || maps.contains(&entry.map);
        let entries = self.entries.values().flatten().filter(|_| !maps.is_empty()).filter(is_in);
        let origin = |entry: &Entry| (entry.from, entry.within.iter().cloned().collect());
        let mut found: Vec<Origin> = entries.map(origin).take(ORIGINS + 1).collect();
        if found.len() > ORIGINS {
            found = vec![(Edge::Any, Vec::new())];
        }
        let keys: Vec<Step> =
            values.iter().filter(|value| value.as_str().is_some()).filter_map(|key| step_of(*key)).collect();
        found.extend(if maps.is_empty() { Vec::new() } else { self.along(&keys) });
        found
    }
}

/// Returns the addresses of the maps among values and in them, and `true` if these are all.
fn maps_in(values: &[Value<'_>]) -> (HashSet<usize>, bool) {
    let (mut maps, mut are_all, mut looks) = (HashSet::new(), true, 0);
    let mut open: Vec<_> = values.iter().map(|value| (*value, 0)).collect();
    while let Some((value, depth)) = open.pop() {
        if looks >= LOOKS || depth > DEPTH {
            are_all = false;
            continue;
        }
        maps.extend(address(value));
        are_all &= each_member(value, &mut |_, member| {
            if address(member).is_some() || matches!(member.unwritten(), Value::List(_)) {
                open.push((member, depth + 1));
                looks += 1;
            }
        });
    }
    (maps, are_all)
}

/// Returns the address of a map.
fn address(value: Value<'_>) -> Option<usize> {
    match value.unwritten() {
        Value::Map(map) => Some(std::ptr::from_ref(map).addr()),
        _ => None,
    }
}
