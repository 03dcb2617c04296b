//! The values that a chart knows: those that templates read, that `values.yaml` or a schema has, or that decide about
//! dependencies; and the names that a JSON Schema declares.

use std::collections::HashSet;

use super::dependencies::{self, Tree};
use super::explain::{GLOBAL, VALUES};
use super::imports::source_and_target;
use super::load::Chart;
use super::schema::ChartSchema;
use dropforge_base::stdlib::paths::names;
use dropforge_value::{Data, DataMap, ReadPaths};

/// The key of the data of the charts in a chart.
const SUBCHARTS: &str = "Subcharts";

impl Chart {
    /// Returns the known paths below `.Values` of the chart, with those of all charts in it, enabled or not. `read` are the
    /// reads of the program of [`Chart::whole`], which changes maps or not.
    pub fn known_values(&self, read: &ReadPaths, changes_maps: bool) -> ReadPaths {
        let mut tree = Tree::of(self);
        dependencies::enable_all(&mut tree);
        let mut known = KnownPaths { read, changes_maps, paths: ReadPaths::default() };
        known.paths.everything = read.everything;
        known.chart(&tree, &[], &tree.name);
        known.paths
    }
}

struct KnownPaths<'k> {
    read: &'k ReadPaths,
    changes_maps: bool,
    paths: ReadPaths,
}

impl KnownPaths<'_> {
    /// Adds what a chart knows, whose values are at `place`. Loading bounds the nesting.
    fn chart(&mut self, tree: &Tree<'_>, place: &[&str], path: &str) {
        let templates = tree.chart.templates.iter().map(|template| format!("{path}/{}", template.path));
        let inputs = if self.changes_maps { vec![path.to_owned()] } else { templates.collect() };
        for input in inputs {
            if let Some(node) = self.read.node(ReadPaths::ROOT, &input) {
                self.data(tree, place, node);
            }
        }
        self.defaults(place, &tree.chart.values);
        let declared = tree.chart.schema.iter().flat_map(|schema| schema.declared());
        declared.for_each(|path| self.add(place, path));
        self.dependencies(tree, place);
        for child in &tree.children {
            let inner = below(place, &child.name);
            // Global values are those of all charts.
            self.paths.add(below(&inner, GLOBAL));
            self.chart(child, &inner, &format!("{path}/charts/{}", child.name));
        }
    }

    /// Adds what is read of the data of a chart's templates.
    fn data(&mut self, tree: &Tree<'_>, place: &[&str], node: u32) {
        if self.read.is_marked(node) {
            self.paths.add(place.iter().copied());
            return self.paths.add([GLOBAL]);
        }
        if let Some(values) = self.read.node(node, VALUES) {
            self.graft(place, values);
            let global = self.read.node(values, GLOBAL);
            global.into_iter().for_each(|global| self.graft(&[GLOBAL], global));
        }
        let Some(charts) = self.read.node(node, SUBCHARTS) else { return };
        for child in &tree.children {
            let nodes = [child.name.as_str(), ReadPaths::ITEM].map(|name| self.read.node(charts, name));
            let whole = self.read.is_marked(charts).then_some(charts);
            nodes
                .into_iter()
                .flatten()
                .chain(whole)
                .for_each(|node| self.data(child, &below(place, &child.name), node));
        }
    }

    fn graft(&mut self, place: &[&str], node: u32) {
        if let Some(to) = self.paths.make(place) {
            self.paths.graft(to, self.read, node);
        }
    }

    /// Adds a path with all below it.
    fn add<'p>(&mut self, place: &[&'p str], path: Vec<&'p str>) {
        if path.first() == Some(&GLOBAL) {
            self.paths.add(path.iter().copied());
        }
        self.paths.add(place.iter().copied().chain(path));
    }

    /// Adds the paths of default values. Empty maps and lists are open.
    fn defaults(&mut self, place: &[&str], values: &DataMap) {
        for (key, value) in values {
            let places = [below(place, key), vec![GLOBAL]];
            let is_global = key == GLOBAL && !place.is_empty();
            for place in places.iter().take(if is_global { 2 } else { 1 }) {
                match value {
                    Data::Map(map) if !map.is_empty() => self.defaults(place, map),
                    _ => self.paths.add(place.iter().copied()),
                }
            }
        }
    }

    /// Adds the values that enable dependencies, and those that are imported from them.
    fn dependencies(&mut self, tree: &Tree<'_>, place: &[&str]) {
        for dependency in &tree.dependencies {
            let conditions = dependency.condition.split(',').map(|path| path.trim().split('.').collect());
            conditions.for_each(|path| self.add(place, path));
            dependency.tags.iter().for_each(|tag| self.paths.add(["tags", tag]));
            let inner = below(place, &dependency.name);
            let Some(child) = tree.children.iter().find(|child| child.name == dependency.name) else {
                self.paths.add(inner);
                continue;
            };
            for (from, to) in dependency.import_values.iter().filter_map(source_and_target) {
                let mut keys = from.split('.');
                let first = keys.next().and_then(|key| child.chart.values.get(key));
                let found = keys.try_fold(first, |value, key| Some(value?.get(key))).flatten();
                match found {
                    Some(Data::Map(map)) if to == "." => self.defaults(place, map),
                    _ => self.add(place, to.split('.').collect()),
                }
                self.add(&inner, from.split('.').collect());
            }
        }
    }
}

/// Returns a place with one more key.
fn below<'p>(place: &[&'p str], key: &'p str) -> Vec<&'p str> {
    place.iter().copied().chain([key]).collect()
}

/// The keywords whose schemas apply to the same object.
const SAME: [&str; 6] = ["allOf", "anyOf", "oneOf", "then", "else", "if"];

/// Maximum number of schemas to look at.
const SEARCHED: usize = 10_000;

impl ChartSchema {
    /// Returns `true` if the schema declares the property at a path, or any property of an object on the way to it.
    pub fn declares(&self, path: &[&str]) -> bool {
        serde_json::from_str::<Data>(self.text()).is_ok_and(|root| declares(&root, path))
    }
}

fn declares(root: &Data, path: &[&str]) -> bool {
    let (mut open, mut seen) = (vec![(root, path)], HashSet::new());
    while let Some((schema, path)) = open.pop() {
        if !seen.insert((std::ptr::from_ref(schema), path.len())) || seen.len() > SEARCHED {
            continue;
        }
        let Some((name, rest)) = path.split_first() else { return true };
        match schema.get("properties").and_then(|properties| properties.get(name)) {
            Some(_) if rest.is_empty() => return true,
            Some(inner) => open.push((inner, rest)),
            None => {
                let open_keys = ["additionalProperties", "patternProperties"].map(|key| schema.get(key));
                if open_keys.into_iter().flatten().any(|declared| declared.as_map().is_some()) {
                    return true;
                }
            }
        }
        open.extend(target(root, schema).map(|target| (target, path)));
        for key in SAME {
            match schema.get(key) {
                Some(Data::List(items)) => open.extend(items.iter().map(|item| (item, path))),
                Some(one @ Data::Map(_)) => open.push((one, path)),
                _ => {}
            }
        }
    }
    false
}

/// Returns the schema that `$ref` names, in the same file.
fn target<'d>(root: &'d Data, schema: &Data) -> Option<&'d Data> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    names(pointer).try_fold(root, |data, name| data.get(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_found_through_references_and_combinations() {
        let schema = r##"{"properties": {"image": {"$ref": "#/$defs/image"}, "labels": {"additionalProperties": {}}},
            "allOf": [{"properties": {"extra": {}}}], "$defs": {"image": {"properties": {"tag": {}}, "$ref": "#/$defs/image"}}}"##;
        let root: Data = serde_json::from_str(schema).unwrap();
        for (path, known) in [
            (&["image"][..], true),
            (&["image", "tag"], true),
            (&["image", "tga"], false),
            (&["labels", "x"], true),
            (&["extra"], true),
            (&["imge"], false),
        ] {
            assert_eq!(declares(&root, path), known, "{path:?}");
        }
    }
}
