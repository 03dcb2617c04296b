//! Reads test files.

use std::path::Path;
use std::sync::Arc;

use dropforge::bulk::values::Assignment;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::yaml::{self, Entry, Node};
use dropforge::value::{Data, DataMap};

use super::parameters;
use super::suite::{CapabilitiesSetup, NodeReader, PlacedText, ReleaseSetup, SetValue, Setup, Suite, Test};
use super::values::{of_set, value_of};

/// Keys of settings, of a suite and of a test.
const SETTINGS: [&str; 14] = [
    "template",
    "templates",
    "values",
    "set",
    "cluster",
    "release",
    "capabilities",
    "chart",
    "skip",
    "documentIndex",
    "documentSelector",
    "includeCrds",
    "kubernetesProvider",
    "postRenderer",
];
const OF_SUITES: [&str; 5] = ["suite", "root", "excludeTemplates", "snapshotId", "tests"];
const OF_TESTS: [&str; 2] = ["it", "asserts"];

/// The suites of a test file, and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct SuitesRead {
    /// The suites without errors of their own. Their tests can have some.
    pub suites: Vec<Suite>,
    pub errors: Vec<Box<Diagnostic>>,
    pub warnings: Vec<Box<Diagnostic>>,
}

impl SuitesRead {
    /// Gives each suite snapshots of its own.
    pub fn number_snapshots(&mut self) {
        for (at, suite) in self.suites.iter_mut().enumerate() {
            suite.snapshot_id.get_or_insert_with(|| at.to_string());
        }
    }
}

/// Reads the suites of a test file, one for each document.
pub(super) fn suites(source: &Arc<Source>, limits: &Limits) -> SuitesRead {
    let documents = match yaml::read_with(source, limits, yaml::Tags::Kept) {
        Ok(documents) => documents,
        Err(errors) => return SuitesRead { errors, ..SuitesRead::default() },
    };
    let mut reader = NodeReader::new(source);
    let filled: Vec<&Node> = documents.iter().filter(|node| !matches!(node.kind, yaml::Kind::Null)).collect();
    let suites = filled.iter().filter_map(|node| suite(&mut reader, node)).collect();
    if filled.is_empty() {
        reader.refuse(Default::default(), "the file has no tests");
    }
    SuitesRead { suites, errors: reader.errors, warnings: reader.warnings }
}

/// Reads a suite. `None` if it has errors of its own.
fn suite(reader: &mut NodeReader<'_>, node: &Node) -> Option<Suite> {
    let before = reader.errors.len();
    let known: Vec<&str> = OF_SUITES.into_iter().chain(SETTINGS).collect();
    let fields = reader.fields(node, "a test file", &known);
    let setup = setup(reader, node, &fields);
    let file = Path::new(reader.source.name()).file_name().unwrap_or_default().to_string_lossy();
    let mut suite = Suite {
        source: reader.source.clone(),
        name: file.into_owned(),
        root: None,
        setup,
        exclude: Vec::new(),
        snapshot_id: None,
        tests: Vec::new(),
    };
    let mut nodes = None;
    for Entry { name, value, .. } in fields {
        match &**name {
            "suite" if !is_null(value) => {
                suite.name = reader.text(value, "`suite`").map_or(suite.name, |placed| placed.text);
            }
            "root" => suite.root = reader.text(value, "`root`"),
            "excludeTemplates" => suite.exclude = reader.texts(value, "`excludeTemplates`"),
            "snapshotId" if !is_null(value) => {
                suite.snapshot_id = reader.text(value, "`snapshotId`").map(|placed| placed.text);
            }
            "tests" => nodes = reader.list(value, "`tests`"),
            _ => {}
        }
    }
    let nodes = nodes.unwrap_or(&[]);
    if nodes.is_empty() && node.as_map().is_some() {
        reader.refuse(node.span, "a test file without `tests`");
    }
    let is_good = reader.errors.len() == before;
    suite.tests = nodes.iter().enumerate().map(|(at, one)| test(reader, &suite.setup, one, at)).collect();
    is_good.then_some(suite)
}

fn is_null(node: &Node) -> bool {
    matches!(node.kind, yaml::Kind::Null)
}

/// Reads a test, with its errors, for which it cannot run.
fn test(reader: &mut NodeReader<'_>, shared: &Setup, node: &Node, at: usize) -> Test {
    let before = reader.errors.len();
    let known: Vec<&str> = OF_TESTS.into_iter().chain(SETTINGS).collect();
    let fields = reader.fields(node, "a test", &known);
    let own = setup(reader, node, &fields);
    if let Some(release) = &own.estate_release {
        reader.refuse(release.span, "the release of a project stands above the tests of its suite");
    }
    let mut test = Test {
        name: format!("test {}", at + 1),
        snapshots: String::new(),
        span: fields.first().map_or(node.span, |entry| entry.key.span),
        setup: shared.over(own),
        asserts: Vec::new(),
        problems: Vec::new(),
    };
    for Entry { name, value, .. } in fields {
        match &**name {
            "it" if !is_null(value) => {
                if let Some(placed) = reader.text(value, "`it`") {
                    (test.snapshots, test.name, test.span) = (placed.text.clone(), placed.text, placed.span);
                }
            }
            "asserts" => {
                let nodes = reader.list(value, "`asserts`").unwrap_or(&[]);
                let filled = nodes.iter().filter(|node| !is_null(node));
                test.asserts = filled.filter_map(|one| parameters::assertion(reader, one)).collect();
            }
            _ => {}
        }
    }
    let is_empty = |key: &str| node.get(key).is_none_or(|asserts| asserts.as_list().is_some_and(<[Node]>::is_empty));
    if node.as_map().is_some() && is_empty("asserts") {
        reader.refuse(test.span, "a test without `asserts` checks nothing");
    }
    test.problems = reader.errors.split_off(before);
    test
}

fn setup(reader: &mut NodeReader<'_>, node: &Node, fields: &[&Entry]) -> Setup {
    let mut setup = Setup { documents: parameters::documents(reader, node), ..Setup::default() };
    for Entry { name, value, key, .. } in fields {
        match &**name {
            _ if is_null(value) => {}
            "template" | "templates" => setup.templates.extend(reader.texts(value, &format!("`{name}`"))),
            "values" => setup.values = reader.texts(value, "`values`"),
            "set" => setup.set = set(reader, value),
            "cluster" if value.as_str().is_some() => setup.cluster_name = reader.text(value, "`cluster`"),
            "cluster" => setup.cluster = data_map(reader, value, "`cluster`"),
            "release" if value.as_str().is_some() => setup.estate_release = reader.text(value, "`release`"),
            "release" => setup.release = release(reader, value),
            "capabilities" => setup.capabilities = capabilities(reader, value),
            "chart" => setup.chart = chart(reader, value),
            "skip" => setup.skip = skip(reader, value),
            "includeCrds" => setup.crds = reader.boolean(value, "`includeCrds`").unwrap_or(false),
            "postRenderer" => setup.post_renderer = Some(key.span),
            "kubernetesProvider" => setup.objects = objects(reader, value),
            _ => {}
        }
    }
    setup
}

/// Reads the objects that `lookup` finds. What the plugin has to know of their kinds says nothing more.
fn objects(reader: &mut NodeReader<'_>, node: &Node) -> Vec<Data> {
    let fields = reader.fields(node, "`kubernetesProvider`", &["scheme", "objects"]);
    let objects = fields.iter().find(|entry| &*entry.name == "objects").map(|entry| &entry.value);
    let objects = objects.and_then(|node| reader.list(node, "`objects`")).unwrap_or(&[]);
    objects.iter().map(value_of).collect()
}

fn set(reader: &mut NodeReader<'_>, node: &Node) -> Vec<SetValue> {
    let mut values = Vec::new();
    for entry in reader.map(node, "`set`").unwrap_or(&[]) {
        if entry.name.starts_with('.') {
            let message = format!("`set: {}` begins with a dot: it sets nothing that templates read", entry.name);
            reader.warnings.push(Diagnostic::warning(Code::TestStructure, message).at(
                reader.source,
                entry.key.span,
                "",
            ));
            continue;
        }
        let path = PlacedText { text: of_set(&entry.name), span: entry.key.span };
        let value = entry.value.to_data();
        match Assignment::of_value(&path.text, value.clone(), &origin(&path)) {
            Ok(_) => {
                let of_chart = value_of(&entry.value);
                values.push(SetValue { path, value, of_chart, is_of_test: false });
            }
            Err(error) => reader.errors.push(error.at(reader.source, entry.key.span, "")),
        }
    }
    values
}

/// Returns the origin of a value, for errors.
pub(super) fn origin(path: &PlacedText) -> String {
    format!("set: {}", path.text)
}

fn data_map(reader: &mut NodeReader<'_>, node: &Node, what: &str) -> DataMap {
    let entries = reader.map(node, what).unwrap_or(&[]);
    entries.iter().map(|entry| (entry.name.as_ref().to_owned(), entry.value.to_data())).collect()
}

fn release(reader: &mut NodeReader<'_>, node: &Node) -> ReleaseSetup {
    let mut release = ReleaseSetup::default();
    for Entry { name, value, .. } in reader.fields(node, "`release`", &["name", "namespace", "revision", "upgrade"]) {
        if is_null(value) {
            continue;
        }
        match &**name {
            "name" => release.name = reader.text(value, "`name`").map(|placed| placed.text),
            "namespace" => release.namespace = reader.text(value, "`namespace`").map(|placed| placed.text),
            "revision" => release.revision = reader.integer(value, "`revision`"),
            _ => release.upgrade = reader.boolean(value, "`upgrade`"),
        }
    }
    release
}

fn capabilities(reader: &mut NodeReader<'_>, node: &Node) -> CapabilitiesSetup {
    let mut capabilities = CapabilitiesSetup::default();
    let known = ["majorVersion", "minorVersion", "apiVersions"];
    for Entry { name, value, .. } in reader.fields(node, "`capabilities`", &known) {
        if is_null(value) {
            capabilities.has_no_apis |= &**name == "apiVersions";
            continue;
        }
        match &**name {
            "majorVersion" => capabilities.major = reader.text(value, "`majorVersion`").map(|placed| placed.text),
            "minorVersion" => capabilities.minor = reader.text(value, "`minorVersion`").map(|placed| placed.text),
            _ => {
                let apis = reader.texts(value, "`apiVersions`");
                capabilities.apis = apis.into_iter().map(|placed| placed.text).collect();
            }
        }
    }
    capabilities
}

fn chart(reader: &mut NodeReader<'_>, node: &Node) -> DataMap {
    let fields = reader.fields(node, "`chart`", &["version", "appVersion"]);
    let text = |entry: &&Entry| {
        if is_null(&entry.value) {
            return None;
        }
        let text = reader.text(&entry.value, &format!("`{}`", entry.name))?.text;
        Some((entry.name.as_ref().to_owned(), Data::Str(text)))
    };
    fields.iter().filter_map(text).collect()
}

fn skip(reader: &mut NodeReader<'_>, node: &Node) -> Option<String> {
    // A minimum version of the plugin says nothing about this command.
    let fields = reader.fields(node, "`skip`", &["reason", "minimumVersion"]);
    let reason = fields.iter().find(|entry| &*entry.name == "reason").map(|entry| &entry.value);
    reason.and_then(|node| reader.text(node, "`reason`")).map(|placed| placed.text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let read = suites(&Source::new("a.test.yaml", text), &Limits::default());
        let of_tests = read.suites.iter().flat_map(|suite| &suite.tests).flat_map(|test| &test.problems);
        let all = read.errors.iter().chain(of_tests).chain(&read.warnings);
        all.map(|error| format!("{}: {}", error.position().unwrap(), error.message)).collect()
    }

    #[test]
    fn all_errors_of_a_file_are_found() {
        let text = "\
suite: a
templtes: [a.tera]
release: {nam: x}
tests:
  - it: one
    asserts:
      - equals: {path: a, value: 1}
      - equal: {path: 'a[', value: 1}
      - matchRegex: {path: a, pattern: '('}
      - isKind: {}
      - failedTemplate: {code: E0999999}
      - equal: {path: a, valu: 1}
        exists: {path: b}
  - it: two
  - x
---
suite: b
release: {revision: one}
set: {'a..b': 1}
tests: [{asserts: [{exists: {path: a}}]}]
";
        let found = errors(text).join("\n");
        for part in [
            "2:1: unknown key `templtes` of a test file, which has no effect",
            "3:11: unknown key `nam` of `release`, which has no effect",
            "7:9: unknown key `equals` of an assertion",
            "8:23: `a[` is not a path: a bracket is not closed",
            "9:40: `(` is not a regular expression: ",
            "10:9: `isKind` needs `of`",
            "11:32: there is no error `E0999999`",
            "12:26: unknown key `valu` of `equal`, which has no effect",
            "12:9: `equal` without `value` compares with null",
            "13:9: a second check beside `equal`",
            "14:9: a test without `asserts` checks nothing",
            "15:5: a test must be a map, found string",
            "18:21: `revision` must be an integer, found string",
            "19:7: `set: a..b`: empty name",
        ] {
            assert!(found.contains(part), "no {part:?} in:\n{found}");
        }
    }

    #[test]
    fn files_without_tests_are_refused() {
        for text in ["", "# nothing\n", "suite: a\n", "tests: []\n", "- a\n", "suite: a\n---\n"] {
            assert!(!errors(text).is_empty(), "{text:?}");
        }
        assert_eq!(
            errors("tests: [{asserts: [{matchSnapshot: }]}]\n---\ntests: [{asserts: [{isKind: {of: A}}]}]\n"),
            [""; 0]
        );
    }
}
