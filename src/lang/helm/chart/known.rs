//! The values that a chart knows: those that templates read, that `values.yaml` or a schema has, or that decide about
//! dependencies; and the names that a JSON Schema declares.
//!
//! Values of another kind than a chart expects get a warning: a map where it has none by default, a scalar in place of a map, or
//! a condition that is no boolean. Helm renders with them, and says so in its log.

use std::collections::HashSet;
use std::sync::Arc;

use super::dependencies::{self, Tree};
use super::explain::{GLOBAL, VALUES};
use super::imports::source_and_target;
use super::load::Chart;
use super::metadata::Dependency;
use super::plan::Plan;
use super::schema::ChartSchema;
use dropforge_base::diagnostics::{Code, Diagnostic, kind_change, with_article};
use dropforge_base::stdlib::paths::names;
use dropforge_base::text::Source;
use dropforge_value::yaml::{Entry, Kind, Node};
use dropforge_value::{Data, DataMap, ReadPaths, Step};

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

/// Maximum number of warnings.
const REPORTED: usize = 20;

/// The default values of a map, the outermost chart's first, each in its file.
type Defaults<'p> = Vec<(&'p Arc<Source>, &'p Node)>;

impl Plan {
    /// Returns a warning for each value of another kind than its default, for conditions of dependencies that are no booleans,
    /// and for imports of values that are no maps.
    pub fn kind_changes(&self) -> Vec<Box<Diagnostic>> {
        let mut found = Vec::new();
        for (at, chart) in self.charts.iter().enumerate() {
            if let Some(values) = self.values_of(at) {
                self.compare(at, (values, self.defaults_of(at)), &mut Vec::new(), &mut found);
                let of_dependencies = chart.metadata.dependencies.iter().flat_map(|one| self.of_dependency(at, one));
                found.extend(of_dependencies);
            }
        }
        found.truncate(REPORTED);
        found
    }

    /// Returns the maps of all default values of the chart `at`.
    fn defaults_of(&self, at: usize) -> Defaults<'_> {
        let around = self.around(at);
        let maps = around.iter().enumerate().filter_map(|(depth, (_, chart))| {
            let (file, documents) = chart.defaults()?;
            let names = around.iter().skip(depth + 1).map(|(_, chart)| chart.name.as_str());
            let mut names = names.collect::<Vec<_>>().into_iter();
            Some((file, names.try_fold(documents.last()?, |node, name| node.get(name))?))
        });
        maps.collect()
    }

    fn compare(
        &self,
        at: usize,
        (values, defaults): (&DataMap, Defaults<'_>),
        path: &mut Vec<Step>,
        found: &mut Vec<Box<Diagnostic>>,
    ) {
        let is_apart = |key: &str| path.is_empty() && (key == GLOBAL || self.has_chart(at, key));
        let keys: Vec<&String> = values.keys().filter(|key| !is_apart(key)).collect();
        for key in keys {
            let below: Defaults<'_> = defaults.iter().filter_map(|(file, map)| Some((*file, map.get(key)?))).collect();
            let (Some(value), Some((file, default))) = (values.get(key), below.first()) else { continue };
            path.push(Step::Key(key.clone()));
            match (value, &default.kind) {
                (Data::Map(map), Kind::Map(_)) if found.len() < REPORTED => self.compare(at, (map, below), path, found),
                (value, kind) if is_change(value, kind) => {
                    let own = defaults.iter().find_map(|(_, map)| map.entry(key));
                    found.push(self.change(at, path, value, (file, default, own)));
                }
                _ => {}
            }
            path.pop();
        }
    }

    fn has_chart(&self, at: usize, name: &str) -> bool {
        self.charts.iter().any(|chart| chart.parent == Some(at) && chart.name == name)
    }

    fn change(
        &self,
        at: usize,
        path: &[Step],
        value: &Data,
        (file, default, entry): (&Arc<Source>, &Node, Option<&Entry>),
    ) -> Box<Diagnostic> {
        let (kinds, name) = ([default.kind_name(), value.kind()], Step::joined(&self.whole(at, path)));
        let [old, new] = kinds.map(with_article);
        let key = default.as_map().and_then(<[Entry]>::first).map(|entry| &*entry.name);
        let help = format!("give {old}, as the chart expects");
        let warning = kind_change((&name, " of the chart"), kinds, key.ok_or(help));
        let own = entry.map(|entry| entry.key.span);
        let given = self.place(at, path).filter(|(source, span)| source.name() != file.name() || Some(*span) != own);
        let warning = given.iter().fold(warning, |warning, (source, span)| warning.at(source, *span, new.as_str()));
        own.iter().fold(warning, |warning, span| warning.at(file, *span, old.as_str()))
    }

    fn of_dependency(&self, at: usize, dependency: &Dependency) -> Vec<Box<Diagnostic>> {
        let steps = |path: &str| path.split('.').map(|key| Step::Key(key.to_owned())).collect::<Vec<_>>();
        let name = if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias };
        let conditions = dependency.condition.split(',').map(|path| steps(path.trim()));
        let mut given = conditions.filter_map(|path| Some((self.value(at, &path)?, path)));
        let condition = given.next().filter(|(value, _)| !matches!(value, Data::Bool(_) | Data::Null));
        let of_condition = condition.map(|(value, path)| {
            let shown = Step::joined(&self.whole(at, &path));
            let message =
                format!("`{shown}` is {}, so it does not enable or disable `{name}`", with_article(value.kind()));
            let warning = Diagnostic::warning(Code::KindChange, message).with_help("a condition is `true` or `false`");
            self.place(at, &path).iter().fold(warning, |warning, (source, span)| warning.at(source, *span, ""))
        });
        let child = self.charts.iter().position(|chart| chart.parent == Some(at) && chart.name == *name);
        let imports = dependency.import_values.iter().filter_map(source_and_target).filter_map(|(from, _)| {
            let is_map = matches!(self.value(child?, &steps(&from)), Some(Data::Map(_)));
            (!is_map).then(|| {
                let message = format!("`import-values` of `{name}` imports nothing: it has no map `{from}`");
                let file = self.charts.get(at).map_or("", |chart| &chart.path);
                let warning =
                    Diagnostic::warning(Code::KindChange, message).with_note(format!("in `{file}/Chart.yaml`"));
                warning.with_help("name a map among the values of the dependency")
            })
        });
        of_condition.into_iter().chain(imports).collect()
    }
}

/// Returns `true` if one is a map with entries and the other a value that is none.
fn is_change(value: &Data, default: &Kind) -> bool {
    match (value, default) {
        (Data::Null, _) | (_, Kind::Null) | (Data::Map(_), Kind::Map(_)) => false,
        (Data::Map(map), _) => !map.is_empty(),
        (_, Kind::Map(entries)) => !entries.is_empty(),
        _ => false,
    }
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
