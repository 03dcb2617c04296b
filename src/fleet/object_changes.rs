//! The changes between two documents: operations at paths, as those of JSON Patch.

use std::sync::Arc;

use serde_json::{Value, json};

use super::volatile::{Volatile, is_chart_version, is_version_label};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_value::yaml::{self, Entry, Kind, Node, Tags};

/// The name of an object of Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its `kind`.
    pub kind: String,
    /// Its namespace, or an empty string.
    pub namespace: String,
    /// Its name, or an empty string.
    pub name: String,
}

impl ObjectName {
    fn of(document: &Node) -> Option<Self> {
        let text = |node: Option<&Node>| node.and_then(Node::as_str).unwrap_or("").to_owned();
        let (api_version, kind) = (text(document.get("apiVersion")), text(document.get("kind")));
        let of_metadata = |key: &str| text(document.get("metadata").and_then(|metadata| metadata.get(key)));
        let name = Self { api_version, kind, namespace: of_metadata("namespace"), name: of_metadata("name") };
        (!name.api_version.is_empty() && !name.kind.is_empty()).then_some(name)
    }

    /// Returns `true` for names of the same object, whatever the version of its group.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let group = |name: &Self| name.api_version.split_once('/').map(|(group, _)| group.to_owned());
        (&self.kind, &self.namespace, &self.name) == (&other.kind, &other.namespace, &other.name)
            && group(self) == group(other)
    }
}

/// A document of a file.
pub(super) struct Document<'t> {
    pub(super) text: &'t str,
    /// The number of lines before it.
    pub(super) before: usize,
    /// The value, unless the text is not valid.
    node: Option<Node>,
    pub(super) object: Option<ObjectName>,
}

impl<'t> Document<'t> {
    /// Reads a document of `file`.
    pub(super) fn read(file: &str, text: &'t str) -> Self {
        let start = (text.as_ptr() as usize).saturating_sub(file.as_ptr() as usize);
        let before = memchr::memchr_iter(b'\n', file.as_bytes().get(..start).unwrap_or(&[])).count();
        let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
        let source: Arc<Source> = Source::new("", text);
        let node = yaml::read_with(&source, &limits, Tags::Kept).ok().and_then(|nodes| nodes.into_iter().next());
        let object = node.as_ref().and_then(ObjectName::of);
        Self { text, before, node, object }
    }
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A value comes.
    Add,
    /// A value goes.
    Remove,
    /// A value takes the place of another one.
    Replace,
}

impl Op {
    /// Returns the name, as in JSON Patch.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Replace => "replace",
        }
    }
}

/// A change of a value in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// What it does.
    pub op: Op,
    /// The path as a JSON pointer: `/spec/template/spec/containers/0/image`.
    pub path: String,
    /// The path in titles, with items of lists by their names: `spec.template.spec.containers[web].image`.
    pub place: String,
    /// The old value, but for [`Op::Add`].
    pub from: Option<Value>,
    /// The new value, but for [`Op::Remove`].
    pub value: Option<Value>,
}

/// The differences between two documents.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) operations: Vec<Operation>,
    /// The keys of volatile values that differ.
    pub(super) volatile: Vec<String>,
    /// The old text with the new volatile values.
    pub(super) old: Option<String>,
}

/// Compares two documents. Returns `None` if one of them is not valid.
pub(super) fn compare(old: &Document<'_>, new: &Document<'_>, volatile: &Volatile) -> Option<Differences> {
    let mut walk = Walk { volatile, path: Vec::new(), found: Vec::new() };
    walk.value(Some(old.node.as_ref()?), Some(new.node.as_ref()?));
    let found = walk.found;
    let text = |node: Option<&Node>| node.map_or(String::new(), |node| node.text.to_string());
    let is_upgraded = found.iter().any(|one| is_chart_version(&one.keys(), &text(one.old), &text(one.new)));
    let is_volatile = |one: &Found<'_>| {
        let keys = one.keys();
        one.is_volatile
            || is_chart_version(&keys, &text(one.old), &text(one.new))
            || is_upgraded && is_version_label(&keys)
    };
    let (folded, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_volatile);
    Some(Differences {
        operations: others.iter().map(Found::operation).collect(),
        volatile: folded.iter().filter_map(|one| one.keys().pop()).collect(),
        old: with_new(old.text, new.text, &folded),
    })
}

/// Returns the old text with the new texts of these values. `None` if they change nothing.
fn with_new(old: &str, new: &str, found: &[Found<'_>]) -> Option<String> {
    let spans = found.iter().filter_map(|one| Some((one.old?.span.range(), one.new?.span.range())));
    let mut spans: Vec<_> = spans
        .filter_map(|(a, b)| Some((a.clone(), old.get(a)?, new.get(b)?)))
        .filter(|(_, a, b)| !a.contains('\n') && !b.contains('\n'))
        .collect();
    spans.sort_by_key(|(range, ..)| range.start);
    let (mut text, mut end) = (String::with_capacity(old.len()), 0);
    for (range, _, new) in &spans {
        text.push_str(old.get(end..range.start)?);
        text.push_str(new);
        end = range.end;
    }
    text.push_str(old.get(end..)?);
    (!spans.is_empty()).then_some(text)
}

/// A step to a member: its key or index, and what titles have for it.
#[derive(Clone)]
struct PathStep {
    key: String,
    /// The name of an item, or its index.
    item: Option<String>,
}

/// A value that differs.
struct Found<'n> {
    path: Vec<PathStep>,
    old: Option<&'n Node>,
    new: Option<&'n Node>,
    is_volatile: bool,
}

impl Found<'_> {
    /// Returns the keys of the path, with items by their names.
    fn keys(&self) -> Vec<String> {
        keys(&self.path)
    }

    fn operation(&self) -> Operation {
        let escaped = |step: &PathStep| format!("/{}", step.key.replace('~', "~0").replace('/', "~1"));
        let mut place = String::new();
        for step in &self.path {
            match &step.item {
                Some(item) => place.push_str(&format!("[{item}]")),
                None if place.is_empty() => place.push_str(&step.key),
                None => place.push_str(&format!(".{}", step.key)),
            }
        }
        Operation {
            op: match (self.old, self.new) {
                (None, _) => Op::Add,
                (_, None) => Op::Remove,
                _ => Op::Replace,
            },
            path: self.path.iter().map(escaped).collect(),
            place,
            from: self.old.map(value),
            value: self.new.map(value),
        }
    }
}

fn keys(path: &[PathStep]) -> Vec<String> {
    path.iter().map(|step| step.item.as_ref().unwrap_or(&step.key).clone()).collect()
}

fn value(node: &Node) -> Value {
    serde_json::to_value(node.to_data()).unwrap_or_else(|_| json!(&*node.text))
}

/// A walk through two documents at once. The reader bounds their depth.
struct Walk<'n, 'v> {
    volatile: &'v Volatile,
    path: Vec<PathStep>,
    found: Vec<Found<'n>>,
}

impl<'n> Walk<'n, '_> {
    fn value(&mut self, old: Option<&'n Node>, new: Option<&'n Node>) {
        match (old.map(|old| &old.kind), new.map(|new| &new.kind)) {
            (Some(Kind::Map(old)), Some(Kind::Map(new))) => self.map(old, new),
            (Some(Kind::List(old)), Some(Kind::List(new))) => self.list(old, new),
            _ if old.zip(new).is_some_and(|(old, new)| is_same(old, new)) => {}
            _ => {
                let is_volatile = self.volatile.is_key(&keys(&self.path));
                self.found.push(Found { path: self.path.clone(), old, new, is_volatile });
            }
        }
    }

    fn at(&mut self, step: PathStep, old: Option<&'n Node>, new: Option<&'n Node>) {
        self.path.push(step);
        self.value(old, new);
        self.path.pop();
    }

    fn map(&mut self, old: &'n [Entry], new: &'n [Entry]) {
        let find = |entries: &'n [Entry]| {
            entries.iter().map(|entry| (&*entry.name, &entry.value)).collect::<std::collections::HashMap<_, _>>()
        };
        let (olds, news) = (find(old), find(new));
        let step = |entry: &Entry| PathStep { key: entry.name.to_string(), item: None };
        for entry in old {
            self.at(step(entry), Some(&entry.value), news.get(&*entry.name).copied());
        }
        for entry in new.iter().filter(|entry| !olds.contains_key(&*entry.name)) {
            self.at(step(entry), None, Some(&entry.value));
        }
    }

    fn list(&mut self, old: &'n [Node], new: &'n [Node]) {
        if let (Some(olds), Some(news)) = (names(old), names(new)) {
            let step = |at: usize, name: &str| PathStep { key: at.to_string(), item: Some(name.to_owned()) };
            let find = |names: &[&str], name: &str| names.iter().position(|other| *other == name);
            for (at, (node, name)) in old.iter().zip(&olds).enumerate() {
                let other = find(&news, name);
                self.at(step(other.unwrap_or(at), name), Some(node), other.and_then(|other| new.get(other)));
            }
            let come = new.iter().zip(&news).enumerate().filter(|(_, (_, name))| find(&olds, name).is_none());
            come.for_each(|(at, (node, name))| self.at(step(at, name), None, Some(node)));
            return;
        }
        let head = old.iter().zip(new).take_while(|(a, b)| is_same(a, b)).count();
        let rest = old.len().min(new.len()) - head;
        let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| is_same(a, b)).count();
        for at in head..(old.len() - tail).max(new.len() - tail) {
            let step = PathStep { key: at.to_string(), item: Some(at.to_string()) };
            let (old, new) =
                (old.get(at).filter(|_| at < old.len() - tail), new.get(at).filter(|_| at < new.len() - tail));
            self.at(step, old, new);
        }
    }
}

/// Maximum number of items that are found by their names.
const NAMED: usize = 256;

/// Returns the names of the items of a list, if each has one of its own.
fn names(items: &[Node]) -> Option<Vec<&str>> {
    let names = items.iter().map(|item| item.get("name")?.as_str()).collect::<Option<Vec<_>>>()?;
    let distinct: std::collections::HashSet<&&str> = names.iter().collect();
    (distinct.len() == names.len() && !names.is_empty() && names.len() <= NAMED).then_some(names)
}

/// Returns `true` for the same values, wherever they stand.
fn is_same(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Map(a), Kind::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.name == b.name && is_same(&a.value, &b.value))
        }
        (Kind::List(a), Kind::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b)),
        (a_kind, b_kind) => std::mem::discriminant(a_kind) == std::mem::discriminant(b_kind) && a.text == b.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(old: &str, new: &str) -> Vec<String> {
        let (old, new) = (Document::read(old, old), Document::read(new, new));
        let found = compare(&old, &new, &Volatile::default()).unwrap();
        let shown = |one: &Operation| {
            let values = [&one.from, &one.value].into_iter().flatten().map(Value::to_string).collect::<Vec<_>>();
            format!("{} {} {}", one.op.name(), one.path, values.join(" "))
        };
        found.operations.iter().map(shown).collect()
    }

    #[test]
    fn operations_have_pointers() {
        let old = "a: {b/c: 1, d: [1, 2, 3]}\ne: x\nl: [{name: a, v: 1}, {name: b, v: 1}]\n";
        let new = "a: {b/c: 2, d: [1, 3]}\nf: [y]\nl: [{name: c}, {name: b, v: 2}]\n";
        assert_eq!(
            operations(old, new),
            [
                "replace /a/b~1c 1 2",
                "remove /a/d/1 2",
                "remove /e \"x\"",
                "remove /l/0 {\"name\":\"a\",\"v\":1}",
                "replace /l/1/v 1 2",
                "add /l/0 {\"name\":\"c\"}",
                "add /f [\"y\"]",
            ]
        );
        assert!(operations("a: 1\nb: 2\n", "b: 2 # x\na: 1\n").is_empty());
        assert_eq!(operations("a: '1'\n", "a: 1\n"), ["replace /a \"1\" 1"]);
    }

    #[test]
    fn volatile_values_are_left_out_and_replaced_in_the_old_text() {
        let text = |sum: &str, chart: &str, version: &str, n: u32| {
            format!(
                "metadata:\n  labels: {{helm.sh/chart: {chart}, app.kubernetes.io/version: {version}}}\n  annotations:\n    checksum/x: {sum}\nn: {n}\n"
            )
        };
        let (old, new) = (text("aa", "w-1.0.0", "1", 1), text("bb", "w-1.1.0", "2", 2));
        let (a, b) = (Document::read(&old, &old), Document::read(&new, &new));
        let found = compare(&a, &b, &Volatile::default()).unwrap();
        assert_eq!(found.operations.iter().map(|one| one.place.as_str()).collect::<Vec<_>>(), ["n"]);
        assert_eq!(found.volatile, ["helm.sh/chart", "app.kubernetes.io/version", "checksum/x"]);
        assert_eq!(found.old.unwrap(), text("bb", "w-1.1.0", "2", 1));
        // Another chart, and a version without one, are changes of their own.
        let other = text("aa", "v-1.1.0", "2", 1);
        let found = compare(&a, &Document::read(&other, &other), &Volatile::default()).unwrap();
        assert_eq!(found.operations.len(), 2);
    }
}
