//! The keys of all clusters.

use std::borrow::Cow;
use std::collections::HashMap;

use roaring::RoaringBitmap;

use crate::cluster::Cluster;
use crate::selector::Selection;
use crate::values::Step;
use dropforge_base::diagnostics::Result;
use dropforge_value::{Data, DataMap, JsonPart, json_parts};

/// Maximum number of keys at different paths. More are left out.
const KEYS: usize = 1 << 16;

/// The key of the items of a list.
const ITEM: &str = "\0";

/// The index of a key in a [`Keys`].
pub(crate) type KeyId = usize;

/// Tells how a key counts for the groups of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    Not,
    /// It divides clusters that have a key that counts alone.
    Beside,
    /// Clusters that have it are in a group.
    Alone,
}

/// Stands for a key that is left out, and for none.
const NONE: KeyId = usize::MAX;

/// The keys of all clusters, as a tree. All items of a list have the same keys below them.
#[derive(Debug, Clone)]
pub struct Keys {
    nodes: Vec<Node>,
    /// `true` if a cluster is no text, so that the kinds of its values are not known.
    is_vague: bool,
}

#[derive(Debug, Clone)]
struct Node {
    /// As it is written in JSON text.
    key: Box<str>,
    /// `true` if the key has a map, a list, or another value but null.
    kinds: [bool; 3],
    parent: KeyId,
    below: HashMap<Box<str>, KeyId>,
    /// The key that came first in a map at this key, and the one that came after this key in its map. They are likely to
    /// come again.
    first: KeyId,
    next: KeyId,
}

impl Node {
    fn new(key: &str, parent: KeyId) -> Self {
        Self { key: key.into(), kinds: [false; 3], parent, below: HashMap::new(), first: NONE, next: NONE }
    }

    fn key(&self) -> Option<Cow<'_, str>> {
        (*self.key != *ITEM).then(|| unescaped(&self.key))
    }
}

impl Keys {
    /// Collects the keys of clusters.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(crate) fn of(clusters: &Selection<'_>) -> Result<Self> {
        let mut all = Self { nodes: vec![Node::new("", NONE)], is_vague: false };
        clusters.each(&mut |_, cluster| {
            all.walk(cluster, |_| ());
            Ok(())
        })?;
        Ok(all)
    }

    /// The key that stands for a whole cluster.
    pub(crate) const ROOT: KeyId = 0;

    /// Returns the keys but the root with their parents, parents first. `None` stands for the items of a list.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (KeyId, KeyId, Option<Cow<'_, str>>)> {
        self.nodes.iter().enumerate().skip(1).map(|(id, node)| (id, node.parent, node.key()))
    }

    /// Returns `true` if a key may have a value of another kind than the one in `shared` at its path.
    pub(crate) fn may_change_kinds(&self, shared: &DataMap) -> bool {
        let mut found: Vec<Option<&Data>> = vec![None];
        let is_vague = self.is_vague || self.nodes.len() >= KEYS;
        is_vague
            || self.iter().zip(self.nodes.iter().skip(1)).any(|((_, parent, key), node)| {
                let map = if parent == Self::ROOT {
                    Some(shared)
                } else {
                    found.get(parent).and_then(|at| at.as_ref()?.as_map())
                };
                let old = map.zip(key).and_then(|(map, key)| map.get(&*key));
                found.push(old);
                let kinds = match old {
                    None | Some(Data::Null) => [false; 3],
                    Some(Data::Map(_)) => [false, true, true],
                    Some(Data::List(_)) => [true, false, true],
                    Some(_) => [true, true, false],
                };
                kinds.iter().zip(node.kinds).any(|(other, has)| *other && has)
            })
    }

    /// Returns the path of a key.
    pub(crate) fn path(&self, mut id: KeyId) -> Vec<Step> {
        let mut path = Vec::new();
        while let Some(node) = self.nodes.get(id).filter(|_| id != Self::ROOT) {
            path.push(node.key().map_or(Step::Index(0), |key| Step::Key(key.into_owned())));
            id = node.parent;
        }
        path.reverse();
        path
    }

    /// Returns the clusters of each group, in the order of their first clusters. Clusters of a group have the same of the keys
    /// that count. There are at most `most` groups.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(crate) fn groups(
        &mut self,
        clusters: &Selection<'_>,
        counts: &[Counts],
        most: usize,
    ) -> Result<Vec<RoaringBitmap>> {
        let (mut groups, mut known) = (Vec::<RoaringBitmap>::new(), HashMap::new());
        let mut last = vec![NONE; self.nodes.len()];
        clusters.each(&mut |at, cluster| {
            let (mut set, mut is_grouped) = (Vec::new(), false);
            self.walk(cluster, |id| {
                let count = counts.get(id).copied().unwrap_or(Counts::Not);
                if count != Counts::Not && last.get_mut(id).is_some_and(|last| std::mem::replace(last, at) != at) {
                    set.push(id);
                    is_grouped |= count == Counts::Alone;
                }
            });
            if !is_grouped {
                return Ok(());
            }
            set.sort_unstable();
            let nth = match known.get(&set) {
                Some(nth) => *nth,
                None if groups.len() == most => return Ok(()),
                None => {
                    known.insert(set, groups.len());
                    groups.push(RoaringBitmap::new());
                    groups.len() - 1
                }
            };
            groups.get_mut(nth).into_iter().for_each(|group| group.extend(u32::try_from(at)));
            Ok(())
        })?;
        Ok(groups)
    }

    /// Calls `see` with each key of a cluster.
    fn walk(&mut self, cluster: &Cluster, see: impl FnMut(KeyId)) {
        let mut walk = Walk { keys: self, open: Vec::new(), here: Self::ROOT, see };
        match cluster.json() {
            Some(text) => json_parts(text, |part| walk.part(part)),
            // A cluster that cannot be read fails later.
            None => {
                cluster.inputs().iter().for_each(|map| walk.map(map));
                self.is_vague = true;
            }
        }
    }

    /// Returns the key `key` at `parent`, which came after `before`.
    fn below(&mut self, parent: KeyId, before: KeyId, key: &str) -> KeyId {
        let Some(likely) = self.likely(parent, before) else { return NONE };
        let likely = *likely;
        if self.nodes.get(likely).is_some_and(|node| node.parent == parent && *node.key == *key) {
            return likely;
        }
        let id = self.found(parent, key);
        if let Some(likely) = self.likely(parent, before) {
            *likely = id;
        }
        id
    }

    fn likely(&mut self, parent: KeyId, before: KeyId) -> Option<&mut KeyId> {
        match before {
            NONE => self.nodes.get_mut(parent).map(|node| &mut node.first),
            before => self.nodes.get_mut(before).map(|node| &mut node.next),
        }
    }

    fn found(&mut self, parent: KeyId, key: &str) -> KeyId {
        let new = self.nodes.len();
        let Some(node) = self.nodes.get_mut(parent) else { return NONE };
        match node.below.get(key) {
            Some(id) => *id,
            None if new >= KEYS => NONE,
            None => {
                node.below.insert(key.into(), new);
                self.nodes.push(Node::new(key, parent));
                new
            }
        }
    }
}

fn unescaped(key: &str) -> Cow<'_, str> {
    let decoded = if key.contains('\\') { serde_json::from_str(&format!("\"{key}\"")).ok() } else { None };
    decoded.map_or(Cow::Borrowed(key), Cow::Owned)
}

/// A walk through the keys of a cluster.
struct Walk<'k, F> {
    keys: &'k mut Keys,
    /// The maps and lists around the current place: their keys, and the last key in each.
    open: Vec<(KeyId, KeyId)>,
    /// The key of the next value.
    here: KeyId,
    see: F,
}

impl<F: FnMut(KeyId)> Walk<'_, F> {
    fn part(&mut self, part: JsonPart<'_>) {
        match part {
            JsonPart::Key(key, first) => {
                self.key(key);
                let kind = match first {
                    b'{' => 0,
                    b'[' => 1,
                    b'n' => return,
                    _ => 2,
                };
                if let Some(node) = self.keys.nodes.get_mut(self.here) {
                    node.kinds[kind] = true;
                }
            }
            JsonPart::Map => self.open.push((self.here, NONE)),
            JsonPart::List => {
                let items = self.keys.below(self.here, NONE, ITEM);
                self.open.push((items, NONE));
                self.go(items);
            }
            JsonPart::End => {
                self.open.pop();
                self.here = self.open.last().map_or(Keys::ROOT, |(at, _)| *at);
            }
        }
    }

    fn key(&mut self, key: &str) {
        if let Some((at, last)) = self.open.last_mut() {
            let id = self.keys.below(*at, *last, key);
            *last = id;
            self.go(id);
        }
    }

    fn go(&mut self, id: KeyId) {
        self.here = id;
        if id != NONE {
            (self.see)(id);
        }
    }

    fn map(&mut self, map: &DataMap) {
        self.part(JsonPart::Map);
        for (key, value) in map {
            self.key(key);
            self.value(value);
        }
        self.part(JsonPart::End);
    }

    fn value(&mut self, value: &Data) {
        match value {
            Data::Map(map) => self.map(map),
            Data::List(items) => {
                self.part(JsonPart::List);
                items.iter().for_each(|item| self.value(item));
                self.part(JsonPart::End);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fleet, FleetOptions, Format, Layers, Selector};
    use dropforge_base::text::Source;

    /// Returns the paths of all keys, and the groups by those that `counts` accepts.
    fn of(name: &str, text: &str, counts: impl Fn(&str) -> Counts) -> (Vec<String>, Vec<Vec<usize>>) {
        let fleet = Fleet::read(&Source::new(name, text), Format::of(name, text), &FleetOptions::default()).unwrap();
        let clusters = Selection::of(&fleet, &Layers::default(), &Selector::default()).unwrap();
        let mut keys = Keys::of(&clusters).unwrap();
        let mut paths = vec![String::new()];
        for (_, parent, key) in keys.iter() {
            paths.push(format!("{}.{}", paths[parent], key.as_deref().unwrap_or("[]")));
        }
        let counts: Vec<Counts> = paths.iter().map(|path| counts(path)).collect();
        let groups = keys.groups(&clusters, &counts, 2).unwrap();
        let groups = groups.iter().map(|group| group.iter().map(|at| at as usize).collect()).collect();
        paths.sort();
        (paths, groups)
    }

    #[test]
    fn clusters_are_grouped_by_their_keys() {
        let lines = [
            r#"{"name":"a","m":{"x":1},"l":[{"k":1}]}"#,
            r#"{ "name" : "\"m\\" , "m":{"x":"{:\""},"l":[{"k":[2, "z", {}]}, 3, {"k" : ["y:"]}] }"#,
            r#"{"name":"c","m":{},"x":1,"l":[{"k":1},[[{"x":1}]]]}"#,
            r#"{"name":"d","l":[],"m":{"x":":"},"name":"d","l":[{"k":null}]}"#,
        ];
        let all = ["", ".l", ".l.[]", ".l.[].[]", ".l.[].[].[]", ".l.[].[].[].x", ".l.[].k", ".l.[].k.[]", ".m"];
        let mut all: Vec<String> = all.into_iter().chain([".m.x", ".name", ".x"]).map(str::to_owned).collect();
        all.sort();
        let alone = |of: &'static str| move |path: &str| if path == of { Counts::Alone } else { Counts::Not };
        // A file may not give a key twice.
        let list = format!("[{}]", lines.join(",")).replace(r#""name":"d","l":[],"m""#, r#""m""#);
        for (name, text) in [("f.ndjson", lines.join("\n")), ("f.json", list)] {
            let (paths, groups) = of(name, &text, |_| Counts::Alone);
            assert_eq!((paths, groups), (all.clone(), vec![vec![0, 3], vec![1]]), "{name}");
            assert_eq!(of(name, &text, alone(".x")).1, [[2]], "{name}");
            assert_eq!(of(name, &text, alone(".m.x")).1, [[0, 1, 3]], "{name}");
            assert_eq!(of(name, &text, |_| Counts::Beside).1, Vec::<Vec<usize>>::new(), "{name}");
            let beside = |path: &str| if path == ".x" { Counts::Beside } else { alone(".l")(path) };
            assert_eq!(of(name, &text, beside).1, [vec![0, 1, 3], vec![2]], "{name}");
        }
        assert_eq!(of("f.csv", "name,a\nx,1\ny,\nz,\n", |_| Counts::Alone).1, [vec![0], vec![1, 2]]);
    }

    #[test]
    fn there_are_bounds_on_keys() {
        let entries =
            |range: std::ops::Range<usize>| range.map(|at| format!(",\"k{at}\":{{\"x\":1}}")).collect::<String>();
        let line = |name: &str, range| format!("{{\"name\":\"{name}\"{}}}\n", entries(range));
        let text = line("a", 0..KEYS / 2) + &line("b", KEYS / 2..KEYS) + &line("c", 0..9);
        let (paths, groups) = of("f.ndjson", &text, |path| if path == ".k8" { Counts::Alone } else { Counts::Not });
        assert_eq!((paths.len(), groups), (KEYS, vec![vec![0, 2]]));
        let deep = format!("{{\"name\":\"a\",\"l\":{}{}}}", "[".repeat(120), "]".repeat(120));
        assert_eq!(of("f.ndjson", &deep, |_| Counts::Alone).0.len(), 123);
    }
}
