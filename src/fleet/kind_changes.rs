//! Warnings for values that replace ones of another kind: `env: prod` over `env: {name: prod}`. All that the map held is lost.
//! So are the items of a list that a table gives by its columns: `env[1]` alone is a list that begins with null.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::cluster::Cluster;
use super::layers::Layers;
use super::origins::Origins;
use super::report::Failure;
use super::selector::Selection;
use super::shared_values::SharedValues;
use super::values::{Step, merge};
use super::view::Merge;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, kind_change, with_article};
use dropforge_value::{Data, DataMap, json_entries};

/// Maximum number of changes to report.
const REPORTED: usize = 20;

impl Layers {
    /// Returns a warning for each value of a values file or a cluster that replaces one of another kind: a map, a list or a
    /// scalar. Null removes a value, and so has no kind.
    ///
    /// # Errors
    /// Errors of reading clusters.
    #[doc(hidden)]
    pub fn kind_changes(&self, clusters: &Selection<'_>) -> Result<Vec<Failure>> {
        let mut found: Vec<Failure> = Vec::new();
        for values in self.all() {
            for change in values.changes_of_files() {
                let is_known = |known: &Failure| known.diagnostic.message == change.diagnostic.message;
                if !found.iter().any(is_known) {
                    found.push(change);
                }
            }
        }
        found.iter_mut().for_each(|failure| self.mask(None).hide_in(&mut failure.diagnostic));
        if self.all().all(|values| values.shared().is_empty()) {
            return Ok(found);
        }
        let keys = clusters.keys()?;
        if !self.all().any(|values| keys.may_change_kinds(values.shared())) {
            return Ok(found);
        }
        let mut changes = Changes { is_deep: self.merge() == Merge::Deep, ..Changes::default() };
        clusters.each(&mut |at, cluster| {
            changes.cluster = u32::try_from(at).unwrap_or(u32::MAX);
            changes.compare_cluster(self.of(cluster).shared(), cluster)
        })?;
        let mut reader = clusters.fleet().reader();
        for change in changes.found.into_iter().take(REPORTED) {
            let first = reader.cluster(change.clusters.min().unwrap_or_default() as usize)?;
            let mut warning = None;
            self.origins(Some(first), &mut |origins| warning = Some(change.warning(origins)));
            let Some(warning) = warning else { continue };
            let mut warning = warning.for_cluster(first.name());
            self.mask(Some(first)).hide_in(&mut warning);
            found.push(Failure::of_clusters(warning, &change.clusters, &mut |at| reader.name(at)));
        }
        Ok(found)
    }
}

impl SharedValues {
    /// Compares each values file with the ones before it.
    fn changes_of_files(&self) -> Vec<Failure> {
        let (mut before, mut found) = (DataMap::default(), Vec::new());
        let maps: Vec<DataMap> = self.places.iter().map(super::input::Place::map).collect();
        let mut origins = Origins::default();
        for (map, place) in maps.iter().zip(&self.places) {
            let mut changes = Changes { is_deep: true, ..Changes::default() };
            changes.compare(
                &before,
                map.iter().map(|(key, value)| (key.as_str(), Given::Data(value))),
                &mut Vec::new(),
            );
            origins.add_file(map, place.clone());
            found.extend(changes.found.iter().map(|change| Failure::new(change.warning(&origins))));
            merge(&mut before, map.clone());
        }
        found
    }
}

/// A value of a layer: an owned one, or its JSON text.
#[derive(Clone, Copy)]
enum Given<'d> {
    Data(&'d Data),
    Json(&'d str),
}

impl Given<'_> {
    fn kind(self) -> &'static str {
        match self {
            Given::Data(Data::Int(_) | Data::Uint(_)) => "number",
            Given::Data(data) => data.kind(),
            Given::Json(text) => match text.trim_start().as_bytes().first() {
                Some(b'{') => "map",
                Some(b'[') => "list",
                Some(b'"') => "string",
                Some(b't' | b'f') => "boolean",
                Some(b'n') => "null",
                _ => "number",
            },
        }
    }
}

/// Values that replace ones of another kind.
#[derive(Default)]
struct Changes {
    found: Vec<Change>,
    /// The positions of the paths in `found`.
    known: HashMap<String, usize>,
    cluster: u32,
    /// `true` if maps are merged key by key.
    is_deep: bool,
}

struct Change {
    path: Vec<Step>,
    /// The kinds before and after.
    kinds: [&'static str; 2],
    /// A key of a map that is replaced.
    key: Option<String>,
    clusters: RoaringBitmap,
}

impl Changes {
    fn compare_cluster(&mut self, shared: &DataMap, cluster: &Cluster) -> Result<()> {
        let path = &mut Vec::new();
        if let Some(text) = cluster.json()
            && self.compare_json(shared, text, path).is_some()
        {
            return Ok(());
        }
        let own = cluster.inputs()?;
        self.compare(shared, own.iter().map(|(key, value)| (key.as_str(), Given::Data(value))), path);
        Ok(())
    }

    /// Compares an object. Returns `None` if its keys have escapes.
    fn compare_json(&mut self, shared: &DataMap, text: &str, path: &mut Vec<Step>) -> Option<()> {
        json_entries(text, |key, value| self.entry(shared, key, Given::Json(value), path))
    }

    fn compare<'d>(&mut self, shared: &DataMap, own: impl Iterator<Item = (&'d str, Given<'d>)>, path: &mut Vec<Step>) {
        own.for_each(|(key, value)| self.entry(shared, key, value, path));
    }

    fn entry(&mut self, shared: &DataMap, key: &str, own: Given<'_>, path: &mut Vec<Step>) {
        let Some(old) = shared.get(key) else { return };
        let kinds = [Given::Data(old).kind(), own.kind()];
        let is_inner = kinds[0] == "list" || kinds[0] == "map" && self.is_deep;
        if !is_change(kinds) && !is_inner {
            return;
        }
        path.push(Step::Key(key.to_owned()));
        match (old, own) {
            (Data::List(old), Given::Data(Data::List(own))) if loses_item(old, own) => {
                self.note(path, kinds, &Data::Null);
            }
            _ if is_change(kinds) => self.note(path, kinds, old),
            (Data::Map(old), Given::Json(text)) => drop(self.compare_json(old, text, path)),
            (Data::Map(old), Given::Data(Data::Map(own))) => {
                self.compare(old, own.iter().map(|(key, value)| (key.as_str(), Given::Data(value))), path);
            }
            _ => {}
        }
        path.pop();
    }

    fn note(&mut self, path: &[Step], kinds: [&'static str; 2], old: &Data) {
        let next = self.found.len();
        let at = *self.known.entry(Step::joined(path)).or_insert(next);
        if at == next && next < REPORTED {
            let key = old.as_map().and_then(|map| map.iter().next()).map(|(key, _)| key.clone());
            self.found.push(Change { path: path.to_vec(), kinds, key, clusters: RoaringBitmap::new() });
        }
        if let Some(change) = self.found.get_mut(at) {
            change.clusters.insert(self.cluster);
        }
    }
}

/// Returns `true` if one of two kinds is a map or a list and the other is not.
fn is_change(kinds: [&str; 2]) -> bool {
    let [old, new] = kinds.map(|kind| if matches!(kind, "map" | "list") { kind } else { "scalar" });
    old != new && !kinds.contains(&"null")
}

/// Returns `true` for a list that has null in place of an item of `old`, and something after it.
fn loses_item(old: &[Data], own: &[Data]) -> bool {
    let is_null = |item: &Data| matches!(item, Data::Null);
    own.last().is_some_and(|last| !is_null(last)) && old.iter().zip(own).any(|(old, own)| !is_null(old) && is_null(own))
}

impl Change {
    fn warning(&self, origins: &Origins<'_>) -> Box<Diagnostic> {
        let ([old, new], path) = (self.kinds.map(with_article), Step::joined(&self.path));
        let help = format!("make both {old}, or give one another name; null removes a value");
        let warning = match self.kinds {
            ["list", "list"] => {
                let message = format!("a list with null items replaces the list `{path}`");
                let help = "lists are not merged: give all items, such as a column for each of them";
                Diagnostic::warning(Code::KindChange, message).with_help(help)
            }
            kinds => kind_change((&path, ""), kinds, self.key.as_deref().ok_or(help)),
        };
        let given: Vec<_> = origins.of(&self.path).take(2).collect();
        let places = given.iter().filter_map(|origin| origin.place());
        places.zip([new, old]).fold(warning, |warning, ((source, span), kind)| warning.at(source, span, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{self, Place};
    use crate::{Fleet, FleetOptions, Format, Selector};
    use dropforge_base::text::Source;

    /// Returns the warnings about the values of two files and a fleet.
    fn warnings(files: &[&str], fleet: (&str, &str), merge: Merge) -> Vec<(String, Vec<String>)> {
        let sources: Vec<_> =
            ["a.yaml", "b.yaml"].iter().zip(files).map(|(name, text)| Source::new(*name, *text)).collect();
        let maps: Vec<_> = sources.iter().map(|source| input::map(source, Format::Yaml).unwrap()).collect();
        let places = sources.iter().map(|source| Place::file(source, Format::Yaml)).collect();
        let layers = Layers::new(maps, Vec::new(), merge).with_places(places);
        let (name, text) = fleet;
        let fleet = Fleet::read(&Source::new(name, text), Format::of(name, text), &FleetOptions::default()).unwrap();
        let clusters = Selection::of(&fleet, &layers, &Selector::default()).unwrap();
        let shown = |failure: Failure| {
            let places: Vec<_> = failure
                .diagnostic
                .labels
                .iter()
                .map(|label| format!("{}:{}", label.source.name(), label.position()))
                .collect();
            (format!("{} ({})", failure.diagnostic.message, places.join(", ")), failure.clusters)
        };
        layers.kind_changes(&clusters).unwrap().into_iter().map(shown).collect()
    }

    #[test]
    fn changes_of_kinds_are_found_with_both_places_in_every_format() {
        let shared = "env: {name: prod}\nl: [1]\nm: {n: {o: 1}, p: 2}\ns: x\nz: null\n";
        let expected = [
            ("a string replaces the map `env` (f:1:20, a.yaml:1:6)", vec!["c1", "c2"]),
            ("a list replaces the map `m.n` (f:1:33, a.yaml:3:8)", vec!["c1"]),
            ("a map replaces the string `s` (f:1:52, a.yaml:4:4)", vec!["c1"]),
        ];
        let lines = [
            r#"{"name":"c1","env":"x","m":{"n":[],"p":"text"},"s":{},"l":null,"z":{}}"#,
            r#"{"name":"c2","env":"x","l":[],"s":5,"new":[],"m":{"n":{"o":true}}}"#,
        ];
        let list = format!("[{}]", lines.join(","));
        for (name, text) in [("f.ndjson", lines.join("\n")), ("f.json", list)] {
            let offset = usize::from(name == "f.json");
            let found = warnings(&[shared], (name, &text), Merge::Deep);
            let expected: Vec<(String, Vec<String>)> = expected
                .iter()
                .map(|(text, clusters)| {
                    let (before, column) = text.split_once("(f:1:").unwrap();
                    let (column, rest) = column.split_once(',').unwrap();
                    let column = column.parse::<usize>().unwrap() + offset;
                    (format!("{before}({name}:1:{column},{rest}"), clusters.iter().map(ToString::to_string).collect())
                })
                .collect();
            assert_eq!(found, expected, "{name}");
        }
        let replaced = warnings(&[shared], ("f.ndjson", lines[0]), Merge::Replace);
        assert_eq!(replaced.len(), 2, "{replaced:?}");
        let escaped = warnings(&[shared], ("f.ndjson", r#"{"name":"c1","e\u006ev":"x"}"#), Merge::Deep);
        assert_eq!(escaped.len(), 1, "{escaped:?}");
    }

    #[test]
    fn a_table_that_gives_a_part_of_a_list_loses_the_rest() {
        let shared = "env: [{n: A}, {n: B}]\nl: [1, 2]\n";
        let found = |text: &str| warnings(&[shared], ("f.csv", text), Merge::Deep);
        let wanted =
            ("a list with null items replaces the list `env` (f.csv:2:3, a.yaml:1:6)".to_owned(), vec!["c".to_owned()]);
        assert_eq!(found("name,env[1].n\nc,9\nd,\n"), [wanted]);
        for whole in
            ["name,env[0].n,env[1].n\nc,1,2\n", "name,l[2]\nc,\n", "name,new[1]\nc,1\n", "name,l[0],l[1]\nc,1,\n"]
        {
            assert_eq!(found(whole), [], "{whole}");
        }
        assert_eq!(found("name,l[0],l[1]\nc,,2\n").len(), 1);
        assert_eq!(warnings(&[shared], ("f.ndjson", r#"{"name":"c","l":[null,2]}"#), Merge::Deep), []);
    }

    #[test]
    fn files_are_compared_with_the_ones_before_them() {
        let found = warnings(&["a: {b: 1}\nc: 1\n", "a: [1]\nc: 2\n"], ("f.json", "[]"), Merge::Deep);
        assert_eq!(found, [("a list replaces the map `a` (b.yaml:1:4, a.yaml:1:4)".to_owned(), Vec::new())]);
        assert_eq!(warnings(&["a: {b: 1}\n", "a: null\n"], ("f.json", "[]"), Merge::Deep), []);
    }
}
