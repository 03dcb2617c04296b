//! The origin of each merged value: the file and line, the option or the cluster that gave it, and what it overrode.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use super::cluster::Cluster;
use super::input::Place;
use super::values::{Assignment, Step, value_at};
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::Node;
use dropforge_value::{Data, DataMap};

/// The layers of values, lowest first.
///
/// ```
/// use dropforge::bulk::{Format, Origins, input::{self, Place}, values::{SetKind, Step, parse_set}};
/// use dropforge::text::Source;
/// let source = Source::new("v.yaml", "tag: v1\n");
/// let map = input::map(&source, Format::Yaml)?;
/// let sets = parse_set(SetKind::Typed, "tag=v2", &mut |_| unreachable!())?;
/// let mut origins = Origins::default();
/// origins.add_file(&map, Place::file(&source, Format::Yaml));
/// origins.add_sets(&sets);
/// let found: Vec<String> = origins.of(&[Step::Key("tag".to_owned())]).map(|origin| origin.to_string()).collect();
/// assert_eq!(found, ["--set tag=v2", "v.yaml:1:6"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Origins<'o> {
    layers: Vec<Layer<'o>>,
}

#[derive(Debug)]
enum Layer<'o> {
    Values { values: &'o DataMap, place: Option<Place>, read: OnceCell<Option<Node>>, cluster: Option<&'o str> },
    Set(&'o Assignment),
}

impl<'o> Origins<'o> {
    /// Adds the values of a file over those already there.
    pub fn add_file(&mut self, values: &'o DataMap, place: Place) {
        self.layers.push(Layer::Values { values, place: Some(place), read: OnceCell::new(), cluster: None });
    }

    /// Adds the inputs of a cluster.
    pub fn add_cluster(&mut self, cluster: &'o Cluster, own: &'o DataMap) {
        let (place, name) = (cluster.place(), Some(cluster.name()));
        self.layers.push(Layer::Values { values: own, place, read: OnceCell::new(), cluster: name });
    }

    /// Adds assignments in order.
    pub fn add_sets(&mut self, sets: &'o [Assignment]) {
        self.layers.extend(sets.iter().map(Layer::Set));
    }

    /// Returns the origins of the value at `path`, highest first: the first gave the value, and the others are
    /// overridden.
    pub fn of(&self, path: &[Step]) -> impl Iterator<Item = Origin> {
        self.layers.iter().rev().filter_map(move |layer| layer.origin(path))
    }

    /// Returns the origins of the value at `path` and those of the parts that options set in it, highest first.
    pub(super) fn of_parts(&self, path: &[Step]) -> Vec<(Origin, bool)> {
        let mut found = Vec::new();
        for layer in self.layers.iter().rev() {
            match (layer, layer.origin(path)) {
                (_, Some(origin)) => {
                    found.push((origin, false));
                    break;
                }
                (Layer::Set(set), None) if set.path().starts_with(path) => {
                    found.push((Origin::named(&set.origin), true));
                }
                _ => {}
            }
        }
        found
    }
}

impl Layer<'_> {
    fn origin(&self, path: &[Step]) -> Option<Origin> {
        match self {
            Layer::Set(set) => set.gives(path).then(|| Origin { name: set.origin.clone(), place: None }),
            Layer::Values { values, place, read, cluster } => {
                let depth = given(values, path)?;
                let at = place.as_ref().and_then(|place| place.find_with(read, path.get(..depth)?));
                let place = place.as_ref().map(|place| (place.source().clone(), at));
                Some(Origin { name: cluster.map(|name| format!("cluster `{name}`")).unwrap_or_default().into(), place })
            }
        }
    }
}

/// Returns the length of the part of `path` that leads to a value of this layer: the value at the path, or one that is
/// not a collection on the way to it, which a higher layer replaced.
fn given(values: &DataMap, path: &[Step]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let top = values.get(first.key()?)?;
    (0..=rest.len()).find_map(|length| {
        let value = value_at(top, rest.get(..length)?)?;
        let is_leaf = !matches!(value, Data::Map(_) | Data::List(_));
        (is_leaf || length == rest.len()).then_some(length + 1)
    })
}

/// The origin of a value.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The option or the cluster; empty for a values file.
    name: Arc<str>,
    place: Option<(Arc<Source>, Option<Span>)>,
}

impl Origin {
    /// An origin without a file.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), place: None }
    }

    /// Names the value at `path` of an option instead of all that the option gives.
    pub fn of_value(mut self, path: &[Step]) -> Self {
        if let Some((option, _)) =
            self.name.split_once(' ').filter(|(option, _)| option.starts_with("--") && *option != "--set-file")
        {
            self.name = format!("{option} {}", Step::joined(path)).into();
        }
        self
    }

    /// Returns the file and the span of the value, if it is in a file and found there.
    pub fn place(&self) -> Option<(&Arc<Source>, Span)> {
        self.place.as_ref().and_then(|(source, span)| Some((source, (*span)?)))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let Some((source, span)) = &self.place else { return Ok(()) };
        let (open, close) = if self.name.is_empty() { ("", "") } else { (" (", ")") };
        write!(f, "{open}{}", source.name())?;
        if let Some(span) = span {
            let position = source.position(span.start);
            write!(f, ":{}:{}", position.line, position.column)?;
        }
        f.write_str(close)
    }
}

/// Calls `each` with the path of each leaf of `values`, in order: every scalar and every empty collection.
///
/// ```
/// use dropforge::{bulk::leaves, value::Data};
/// let values = serde_json::from_str::<Data>(r#"{"a": {"b": [1, 2]}, "c": {}}"#)?.into_map().unwrap();
/// let mut count = 0;
/// leaves(&values, &mut |_, _| count += 1);
/// assert_eq!(count, 3);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn leaves(values: &DataMap, each: &mut dyn FnMut(&[Step], &Data)) {
    let mut path = Vec::new();
    for (key, value) in values {
        path.push(Step::Key(key.clone()));
        leaves_of(value, &mut path, each);
        path.pop();
    }
}

fn leaves_of(value: &Data, path: &mut Vec<Step>, each: &mut dyn FnMut(&[Step], &Data)) {
    let mut below = |step: Step, value: &Data| {
        path.push(step);
        leaves_of(value, path, each);
        path.pop();
    };
    match value {
        Data::Map(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| below(Step::Key(key.clone()), value));
        }
        Data::List(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, item)| below(Step::Index(at), item));
        }
        leaf => each(path, leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{SetKind, parse_set};
    use crate::{Fleet, FleetOptions, Format, input};

    fn of(origins: &Origins<'_>, path: &[&str]) -> String {
        let step = |name: &&str| name.parse().map_or_else(|_| Step::Key((*name).to_owned()), Step::Index);
        let path: Vec<Step> = path.iter().map(step).collect();
        origins.of(&path).map(|origin| origin.to_string()).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_highest_layer_gave_the_value_and_the_others_are_overridden() {
        let source = Source::new("v.yaml", "a:\n  b: 1\n  l: [1, 2]\nc: 5\n");
        let values = input::map(&source, Format::Yaml).unwrap();
        let fleet = Source::new("f.ndjson", "{\"name\":\"x\"}\n {\"name\":\"y\",\"a\":{\"b\":2},\"c\":{\"d\":7}}\n");
        let fleet = Fleet::read(&fleet, Format::Ndjson, &FleetOptions::default()).unwrap();
        let mut reader = fleet.reader();
        let cluster = reader.cluster(1).unwrap();
        let own = cluster.inputs().unwrap();
        let sets = parse_set(SetKind::Json, r#"a={"b":3},e.f=null"#, &mut |_| unreachable!()).unwrap();
        let mut origins = Origins::default();
        origins.add_file(&values, Place::file(&source, Format::Yaml));
        origins.add_cluster(cluster, &own);
        origins.add_sets(&sets);
        let set = r#"--set-json a={"b":3},e.f=null"#;
        assert_eq!(of(&origins, &["a", "b"]), format!("{set}, cluster `y` (f.ndjson:2:23), v.yaml:2:6"));
        assert_eq!(of(&origins, &["a", "l", "1"]), "v.yaml:3:10");
        // A value that a map replaced is overridden, too.
        assert_eq!(of(&origins, &["c", "d"]), "cluster `y` (f.ndjson:2:35), v.yaml:4:4");
        assert_eq!(of(&origins, &["e", "f"]), "");
    }

    #[test]
    fn clusters_of_every_format_have_places() {
        let cases = [
            ("f.yaml", "- name: a\n  x: 1\n- name: b\n  x: 2\n", "cluster `b` (f.yaml:4:6)"),
            ("g.yaml", "name: a\nx: 1\n---\nname: b\nx: 2\n", "cluster `b` (g.yaml:5:4)"),
            ("f.json", "[{\"name\":\"a\"},\n{\"name\":\"b\",\"x\":2}]", "cluster `b` (f.json:2:17)"),
            ("f.csv", "name,x\na,1\nb,2\n", "cluster `b` (f.csv:3:3)"),
            ("f.toml", "[cluster.a]\nx = 1\n[cluster.b]\nx = 2\n", "cluster `b` (f.toml:4:5)"),
            ("f.hcl", "cluster \"a\" {\n}\ncluster \"b\" {\n  x = 2\n}\n", "cluster `b` (f.hcl:4:7)"),
        ];
        for (name, text, expected) in cases {
            let source = Source::new(name, text);
            let fleet = Fleet::read(&source, Format::of(name, text), &FleetOptions::default()).unwrap();
            let mut reader = fleet.reader();
            let cluster = reader.cluster(1).unwrap();
            let own = cluster.inputs().unwrap();
            let mut origins = Origins::default();
            origins.add_cluster(cluster, &own);
            assert_eq!(of(&origins, &["x"]), expected);
        }
    }
}
