//! The content of a test file, its assertions, and the reader of its nodes, which collects all errors.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::path::ValuePath;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::text::{Source, Span};
use dropforge::value::yaml::{Entry, Kind, Node};
use dropforge::value::{Data, DataMap};
use regex::Regex;
use serde_json::Value;

/// A document of a test file: tests of the same templates.
#[derive(Debug)]
pub(super) struct Suite {
    pub source: Arc<Source>,
    /// The name. Default: that of the file.
    pub name: String,
    /// The folder of the templates, relative to the test file.
    pub root: Option<PlacedText>,
    /// The settings of all tests.
    pub setup: Setup,
    /// Templates to leave out.
    pub exclude: Vec<PlacedText>,
    /// Names a file of snapshots of its own.
    pub snapshot_id: Option<String>,
    pub tests: Vec<Test>,
}

/// A test: one render and assertions about it.
#[derive(Debug)]
pub(super) struct Test {
    pub name: String,
    /// The name of its snapshots. A test without a name has an empty one.
    pub snapshots: String,
    /// The place of the name, or of the test.
    pub span: Span,
    /// The settings of the suite with those of the test over them.
    pub setup: Setup,
    pub asserts: Vec<Assertion>,
    /// The errors for which the test cannot run.
    pub problems: Vec<Box<Diagnostic>>,
}

/// The settings of a render.
#[derive(Debug, Clone, Default)]
pub(super) struct Setup {
    pub templates: Vec<PlacedText>,
    /// Values files, relative to the test file.
    pub values: Vec<PlacedText>,
    /// Values by path.
    pub set: Vec<SetValue>,
    /// The keys of the cluster.
    pub cluster: DataMap,
    /// The name of a cluster of the project's fleet.
    pub cluster_name: Option<PlacedText>,
    /// The name of a release of the project.
    pub estate_release: Option<PlacedText>,
    pub release: ReleaseSetup,
    pub capabilities: CapabilitiesSetup,
    /// Replaced keys of `Chart.yaml`.
    pub chart: DataMap,
    /// `true` if definitions of resources are among the templates.
    pub crds: bool,
    /// The place of a program that would change the output.
    pub post_renderer: Option<Span>,
    /// The objects that `lookup` finds.
    pub objects: Vec<Data>,
    /// The reason not to run.
    pub skip: Option<String>,
    pub documents: Documents,
}

/// A value by path.
#[derive(Debug, Clone)]
pub(super) struct SetValue {
    pub path: PlacedText,
    pub value: Data,
    /// The value as Kubernetes reads it, for charts.
    pub of_chart: Data,
    /// `true` if a test gives it, and not the suite.
    pub is_of_test: bool,
}

/// Settings of `.Release`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReleaseSetup {
    pub name: Option<String>,
    pub namespace: Option<String>,
    pub revision: Option<i64>,
    pub upgrade: Option<bool>,
}

/// Settings of `.Capabilities`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CapabilitiesSetup {
    pub major: Option<String>,
    pub minor: Option<String>,
    /// The available APIs: `null` in a test stands for none, not even those of the suite.
    pub apis: Vec<String>,
    pub has_no_apis: bool,
}

impl Setup {
    /// Returns the settings of a suite with those of a test over them.
    pub fn over(&self, test: Setup) -> Setup {
        let mut cluster = self.cluster.clone();
        dropforge::bulk::values::merge(&mut cluster, test.cluster);
        let mut chart = self.chart.clone();
        chart.extend(test.chart);
        Setup {
            templates: if test.templates.is_empty() { self.templates.clone() } else { test.templates },
            values: self.values.iter().cloned().chain(test.values).collect(),
            set: {
                let own = test.set.into_iter().map(|set| SetValue { is_of_test: true, ..set });
                self.set.iter().cloned().chain(own).collect()
            },
            cluster,
            cluster_name: test.cluster_name.or_else(|| self.cluster_name.clone()),
            estate_release: self.estate_release.clone(),
            release: ReleaseSetup {
                name: test.release.name.or_else(|| self.release.name.clone()),
                namespace: test.release.namespace.or_else(|| self.release.namespace.clone()),
                revision: test.release.revision.or(self.release.revision),
                upgrade: test.release.upgrade.or(self.release.upgrade),
            },
            capabilities: CapabilitiesSetup {
                major: test.capabilities.major.or_else(|| self.capabilities.major.clone()),
                minor: test.capabilities.minor.or_else(|| self.capabilities.minor.clone()),
                apis: match test.capabilities.has_no_apis {
                    true => Vec::new(),
                    false => self.capabilities.apis.iter().cloned().chain(test.capabilities.apis).collect(),
                },
                has_no_apis: false,
            },
            chart,
            crds: self.crds || test.crds,
            post_renderer: test.post_renderer.or(self.post_renderer),
            objects: test.objects.into_iter().chain(self.objects.iter().cloned()).collect(),
            skip: self.skip.clone().or(test.skip),
            documents: self.documents.clone().or(test.documents),
        }
    }
}

/// Reads nodes and collects errors.
#[derive(Debug)]
pub(super) struct NodeReader<'s> {
    pub source: &'s Arc<Source>,
    pub errors: Vec<Box<Diagnostic>>,
    pub warnings: Vec<Box<Diagnostic>>,
}

impl<'s> NodeReader<'s> {
    pub fn new(source: &'s Arc<Source>) -> Self {
        Self { source, errors: Vec::new(), warnings: Vec::new() }
    }

    /// Returns an error of the file.
    pub fn error(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(Code::TestStructure, message).at(self.source, span, "")
    }

    /// Adds an error of the file.
    pub fn refuse(&mut self, span: Span, message: impl Into<String>) {
        let error = self.error(span, message);
        self.errors.push(error);
    }

    /// Returns the entries of a map whose keys are known. Others are warnings, as their only effect is that they have none.
    /// `what` is what the map stands for. Null is an empty map.
    pub fn fields<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Vec<&'n Entry> {
        self.fields_that(node, what, known, |key, name| key == name)
    }

    /// Works like [`NodeReader::fields`] for keys whose capital letters do not matter.
    pub fn parameters<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Vec<&'n Entry> {
        self.fields_that(node, what, known, str::eq_ignore_ascii_case)
    }

    fn fields_that<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        known: &[&str],
        is_same: fn(&str, &str) -> bool,
    ) -> Vec<&'n Entry> {
        let Some(entries) = self.map(node, what) else { return Vec::new() };
        let is_known = |one: &&Entry| known.iter().any(|key| is_same(key, &one.name));
        let (good, bad): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(is_known);
        for entry in bad {
            let message = format!("unknown key `{}` of {what}, which has no effect", entry.name);
            let warning = Diagnostic::warning(Code::TestStructure, message).at(self.source, entry.key.span, "");
            let warning = warning.with_available(known.iter().copied());
            self.warnings.push(warning.with_suggestion(&entry.name, known.iter().copied()));
        }
        good
    }

    /// Returns the entries of a map. Null is an empty map.
    pub fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        match &node.kind {
            Kind::Map(entries) => Some(entries),
            Kind::Null => Some(&[]),
            _ => self.unfit(node, what, "a map"),
        }
    }

    /// Returns the items of a list. Null is an empty list.
    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.kind {
            Kind::List(items) => Some(items),
            Kind::Null => Some(&[]),
            _ => self.unfit(node, what, "a list"),
        }
    }

    /// Returns a text, or a number or boolean as it is written.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<PlacedText> {
        match &node.kind {
            Kind::Null | Kind::List(_) | Kind::Map(_) => self.unfit(node, what, "a text"),
            _ => Some(PlacedText { text: node.text.as_ref().to_owned(), span: node.span }),
        }
    }

    /// Returns one text or a list of them.
    pub fn texts(&mut self, node: &Node, what: &str) -> Vec<PlacedText> {
        match node.as_str() {
            Some(_) => self.text(node, what).into_iter().collect(),
            None => {
                let items = self.list(node, what).unwrap_or(&[]);
                items.iter().filter_map(|item| self.text(item, what)).collect()
            }
        }
    }

    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.kind {
            Kind::Bool(value) => Some(value),
            _ => self.unfit(node, what, "`true` or `false`"),
        }
    }

    pub fn integer(&mut self, node: &Node, what: &str) -> Option<i64> {
        match node.kind {
            Kind::Int(value) => Some(value),
            _ => self.unfit(node, what, "an integer"),
        }
    }

    /// Returns a number of things.
    pub fn count(&mut self, node: &Node, what: &str) -> Option<usize> {
        let count = self.integer(node, what)?;
        usize::try_from(count).map_err(|_| self.refuse(node.span, format!("{what} is negative"))).ok()
    }

    fn unfit<T>(&mut self, node: &Node, what: &str, wanted: &str) -> Option<T> {
        self.refuse(node.span, format!("{what} must be {wanted}, found {}", node.kind_name()));
        None
    }
}

/// What a test file is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TestTarget {
    /// The chart in this folder.
    Chart(PathBuf),
    /// The templates below this folder.
    Folder(PathBuf),
    /// The release of the project with this name.
    Release(String),
}

/// A test and the templates that it is about.
#[derive(Debug)]
pub(super) struct TestJob<'s> {
    pub suite: &'s Suite,
    pub test: &'s Test,
    pub target: Rc<TestTarget>,
    /// The chart in the chart that the test is about: `charts/db/`. Empty for the chart itself.
    pub route: Rc<str>,
    /// The folder of the test file.
    pub folder: &'s Path,
    /// The templates to render. Empty for all of a chart.
    pub renders: Vec<String>,
    /// The templates of each assertion.
    pub asserted: Vec<Vec<String>>,
    /// The errors for which the test cannot run.
    pub problems: Vec<Box<Diagnostic>>,
    /// The reason not to run.
    pub skip: Option<String>,
}

/// An assertion.
#[derive(Debug)]
pub(super) struct Assertion {
    /// The key of the file: `equal`.
    pub name: &'static str,
    /// The place of the key.
    pub span: Span,
    pub check: Expectation,
    /// `true` if the check must not hold.
    pub negative: bool,
    /// The templates, if they are others than those of the test.
    pub templates: Vec<PlacedText>,
    pub documents: Documents,
}

/// What an assertion checks.
#[derive(Debug)]
pub(super) enum Expectation {
    Equal {
        path: ValuePath,
        value: Value,
        base64: bool,
    },
    AtLeast {
        path: ValuePath,
        value: Value,
    },
    AtMost {
        path: ValuePath,
        value: Value,
    },
    Contains {
        path: ValuePath,
        content: Value,
        count: Option<usize>,
        any: bool,
    },
    Subset {
        path: ValuePath,
        content: Value,
    },
    Matches {
        path: ValuePath,
        pattern: Regex,
        base64: bool,
    },
    Exists {
        path: ValuePath,
    },
    /// The value exists and is not null.
    Some {
        path: ValuePath,
    },
    /// The value is null, false, zero, or has no content.
    Empty {
        path: ValuePath,
    },
    Type {
        path: ValuePath,
        name: String,
    },
    /// Lists have this length, or else the same.
    Length {
        paths: Vec<ValuePath>,
        count: Option<usize>,
    },
    Documents {
        count: usize,
        filtered: bool,
    },
    Document(DocumentHead),
    Fails(Failing),
    EqualText(Expected),
    ContainsText {
        texts: Vec<String>,
    },
    MatchesText {
        pattern: Regex,
    },
    Snapshot {
        path: ValuePath,
        matches: Option<Regex>,
        lacks: Option<Regex>,
    },
    SnapshotText,
}

/// The head of a document of Kubernetes.
#[derive(Debug)]
pub(super) struct DocumentHead {
    pub kind: String,
    pub api_version: String,
    pub name: Option<String>,
    pub namespace: Option<String>,
    /// `true` if one document is enough.
    pub any: bool,
}

/// An expected error.
#[derive(Debug, Default)]
pub(super) struct Failing {
    pub message: Option<String>,
    pub pattern: Option<ErrorPattern>,
    pub code: Option<Code>,
    pub line: Option<i64>,
}

/// A pattern of messages: a regular expression, or the text itself.
#[derive(Debug)]
pub(super) struct ErrorPattern {
    pub text: String,
    /// `None` if the text is no regular expression.
    pub regex: Option<Regex>,
}

impl ErrorPattern {
    /// Returns `true` if the pattern is in a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.is_match(text)) || text.contains(&self.text)
    }
}

/// An expected text.
#[derive(Debug)]
pub(super) enum Expected {
    Text(String),
    File(PlacedText),
}

/// A text and its place in the test file.
#[derive(Debug, Clone)]
pub(super) struct PlacedText {
    pub text: String,
    pub span: Span,
}

/// The documents that an assertion is about. All, if nothing is given.
#[derive(Debug, Clone, Default)]
pub(super) struct Documents {
    pub index: Option<usize>,
    pub selector: Option<Selector>,
}

/// Selects documents by a value in them.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    pub path: ValuePath,
    /// The value. Without one, the path has to exist.
    pub value: Option<Value>,
    /// `true` if several documents may match.
    pub many: bool,
    /// `true` if templates without such a document are left out.
    pub skips_empty: bool,
}

impl Documents {
    /// Returns these documents with what `inner` selects over them. An index does not replace a selector.
    pub fn or(self, inner: Documents) -> Documents {
        Documents { index: inner.index.or(self.index), selector: inner.selector.or(self.selector) }
    }
}
