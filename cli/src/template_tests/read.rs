//! Reads test files.

use std::path::Path;
use std::sync::Arc;

use dropforge::bulk::values::Assignment;
use dropforge::diagnostics::Diagnostic;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::yaml::{self, Entry, Node};
use dropforge::value::{Data, DataMap};

use super::asserts::{Expectation, PlacedText};
use super::parameters;
use super::suite::{CapabilitiesSetup, NodeReader, ReleaseSetup, Setup, Suite, Test};
use super::values::of_set;

/// Keys of settings, of a suite and of a test.
const SETTINGS: [&str; 11] = [
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
];
const OF_SUITES: [&str; 4] = ["suite", "root", "excludeTemplates", "tests"];
const OF_TESTS: [&str; 2] = ["it", "asserts"];

/// Reads the suites of a test file, one for each document.
///
/// # Errors
/// All errors of the file.
pub(super) fn suites(source: &Arc<Source>, limits: &Limits) -> Result<Vec<Suite>, Vec<Box<Diagnostic>>> {
    let documents = yaml::read(source, limits)?;
    let mut reader = NodeReader::new(source);
    let filled: Vec<&Node> = documents.iter().filter(|node| !matches!(node.kind, yaml::Kind::Null)).collect();
    let suites: Vec<Suite> = filled.iter().filter_map(|node| suite(&mut reader, node)).collect();
    if filled.is_empty() {
        reader.refuse(Default::default(), "the file has no tests");
    }
    reject_doubles(&mut reader, &suites);
    if reader.errors.is_empty() { Ok(suites) } else { Err(reader.errors) }
}

fn suite(reader: &mut NodeReader<'_>, node: &Node) -> Option<Suite> {
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
        tests: Vec::new(),
    };
    let mut nodes = None;
    for Entry { name, value, .. } in fields {
        match &**name {
            "suite" => suite.name = reader.text(value, "`suite`").map_or(suite.name, |placed| placed.text),
            "root" => suite.root = reader.text(value, "`root`"),
            "excludeTemplates" => suite.exclude = reader.texts(value, "`excludeTemplates`"),
            "tests" => nodes = reader.list(value, "`tests`"),
            _ => {}
        }
    }
    match nodes {
        Some(nodes) if !nodes.is_empty() => {
            suite.tests =
                nodes.iter().enumerate().filter_map(|(at, one)| test(reader, &suite.setup, one, at)).collect();
        }
        _ if node.as_map().is_some() => reader.refuse(node.span, "a test file without `tests`"),
        _ => {}
    }
    Some(suite)
}

fn test(reader: &mut NodeReader<'_>, shared: &Setup, node: &Node, at: usize) -> Option<Test> {
    let known: Vec<&str> = OF_TESTS.into_iter().chain(SETTINGS).collect();
    let fields = reader.fields(node, "a test", &known);
    let own = setup(reader, node, &fields);
    let mut test = Test {
        name: format!("test {}", at + 1),
        span: fields.first().map_or(node.span, |entry| entry.key.span),
        setup: shared.over(own),
        asserts: Vec::new(),
    };
    for Entry { name, value, .. } in fields {
        match &**name {
            "it" => {
                if let Some(placed) = reader.text(value, "`it`") {
                    (test.name, test.span) = (placed.text, placed.span);
                }
            }
            "asserts" => {
                let nodes = reader.list(value, "`asserts`").unwrap_or(&[]);
                test.asserts = nodes.iter().filter_map(|one| parameters::assertion(reader, one)).collect();
            }
            _ => {}
        }
    }
    let is_empty = |key: &str| node.get(key).is_none_or(|asserts| asserts.as_list().is_some_and(<[Node]>::is_empty));
    if node.as_map().is_some() && is_empty("asserts") {
        reader.refuse(test.span, "a test without `asserts` checks nothing");
    }
    Some(test)
}

/// Refuses tests of one name with snapshots, which would share them.
fn reject_doubles(reader: &mut NodeReader<'_>, suites: &[Suite]) {
    let mut seen = std::collections::HashSet::new();
    let has_snapshot = |test: &&Test| {
        let is_one = |check: &Expectation| matches!(check, Expectation::Snapshot { .. } | Expectation::SnapshotText);
        test.asserts.iter().any(|assertion| is_one(&assertion.check))
    };
    for test in suites.iter().flat_map(|suite| &suite.tests).filter(has_snapshot) {
        if !seen.insert(test.name.as_str()) {
            reader.refuse(test.span, format!("a second test `{}` with snapshots, which go by name", test.name));
        }
    }
}

fn setup(reader: &mut NodeReader<'_>, node: &Node, fields: &[&Entry]) -> Setup {
    let mut setup = Setup { documents: parameters::documents(reader, node), ..Setup::default() };
    for Entry { name, value, .. } in fields {
        match &**name {
            "template" | "templates" => setup.templates.extend(reader.texts(value, &format!("`{name}`"))),
            "values" => setup.values = reader.texts(value, "`values`"),
            "set" => setup.set = set(reader, value),
            "cluster" => setup.cluster = data_map(reader, value, "`cluster`"),
            "release" => setup.release = release(reader, value),
            "capabilities" => setup.capabilities = capabilities(reader, value),
            "chart" => setup.chart = chart(reader, value),
            "skip" => setup.skip = skip(reader, value),
            _ => {}
        }
    }
    setup
}

fn set(reader: &mut NodeReader<'_>, node: &Node) -> Vec<(PlacedText, Data)> {
    let mut values = Vec::new();
    for entry in reader.map(node, "`set`").unwrap_or(&[]) {
        let path = PlacedText { text: of_set(&entry.name), span: entry.key.span };
        let value = entry.value.to_data();
        match Assignment::of_value(&path.text, value.clone(), &origin(&path)) {
            Ok(_) => values.push((path, value)),
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
        if matches!(value.kind, yaml::Kind::Null) {
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
        if matches!(value.kind, yaml::Kind::Null) {
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
        let text = reader.text(&entry.value, &format!("`{}`", entry.name))?.text;
        Some((entry.name.as_ref().to_owned(), Data::Str(text)))
    };
    fields.iter().filter_map(text).collect()
}

fn skip(reader: &mut NodeReader<'_>, node: &Node) -> Option<String> {
    let fields = reader.fields(node, "`skip`", &["reason"]);
    let reason = fields.first().map(|entry| &entry.value);
    reason.and_then(|node| reader.text(node, "`reason`")).map(|placed| placed.text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let source = Source::new("a.test.yaml", text);
        let errors = suites(&source, &Limits::default()).err().unwrap_or_default();
        errors.iter().map(|error| format!("{}: {}", error.position().unwrap(), error.message)).collect()
    }

    #[test]
    fn all_errors_of_a_file_are_found() {
        let text = "\
suite: a
templtes: [a.tera]
release: {nam: x, revision: one}
set: {'a..b': 1}
postRenderer: {cmd: sed}
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
      - matchSnapshot: {}
        not: true
  - it: two
  - x
";
        let found = errors(text).join("\n");
        for part in [
            "2:1: unknown key `templtes` of a test file",
            "3:11: unknown key `nam` of `release`",
            "3:29: `revision` must be an integer, found string",
            "4:7: `set: a..b`: empty name",
            "5:1: `postRenderer` of helm-unittest is not supported",
            "9:9: unknown key `equals` of an assertion",
            "10:23: `a[` is not a path: a bracket is not closed",
            "11:40: `(` is not a regular expression: ",
            "12:9: `isKind` needs `of`",
            "13:32: there is no error `E0999999`",
            "14:26: unknown key `valu` of `equal`",
            "14:9: `equal` needs `value`",
            "15:9: a second check beside `equal`",
            "16:9: a snapshot cannot be asserted with `not`",
            "18:9: a test without `asserts` checks nothing",
            "19:5: a test must be a map, found string",
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
