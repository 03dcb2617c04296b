//! The content of a test file.

use std::sync::Arc;

use dropforge::text::{Source, Span};
use dropforge::value::{Data, DataMap};

use super::asserts::Assertion;

/// A text and its place in the test file.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub text: String,
    pub span: Span,
}

/// A document of a test file: tests of the same templates.
#[derive(Debug)]
pub(super) struct Suite {
    pub source: Arc<Source>,
    /// The name. That of the file if there is none.
    pub name: String,
    /// The folder of the templates, relative to the test file.
    pub root: Option<Placed>,
    /// The settings of all tests.
    pub setup: Setup,
    /// Templates to leave out.
    pub exclude: Vec<Placed>,
    pub tests: Vec<Test>,
}

/// A test: one render and assertions about it.
#[derive(Debug)]
pub(super) struct Test {
    pub name: String,
    /// The place of the name, or of the test.
    pub span: Span,
    /// The settings of the suite with those of the test over them.
    pub setup: Setup,
    pub asserts: Vec<Assertion>,
}

/// The settings of a render.
#[derive(Debug, Clone, Default)]
pub(super) struct Setup {
    pub templates: Vec<Placed>,
    /// Values files, relative to the test file.
    pub values: Vec<Placed>,
    /// Values by path.
    pub set: Vec<(Placed, Data)>,
    /// The keys of the cluster.
    pub cluster: DataMap,
    pub release: ReleaseSetup,
    pub capabilities: CapabilitiesSetup,
    /// Replaced keys of `Chart.yaml`.
    pub chart: DataMap,
    /// The reason not to run.
    pub skip: Option<String>,
    pub documents: Documents,
}

/// Settings of `.Release`.
#[derive(Debug, Clone, Default)]
pub(super) struct ReleaseSetup {
    pub name: Option<String>,
    pub namespace: Option<String>,
    pub revision: Option<i64>,
    pub upgrade: Option<bool>,
}

/// Settings of `.Capabilities`.
#[derive(Debug, Clone, Default)]
pub(super) struct CapabilitiesSetup {
    pub major: Option<String>,
    pub minor: Option<String>,
    pub apis: Vec<String>,
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
    pub path: super::path::ValuePath,
    /// The value. Without one, the path has to exist.
    pub value: Option<serde_json::Value>,
    /// `true` if several documents may match.
    pub many: bool,
    /// `true` if templates without such a document are left out.
    pub skips_empty: bool,
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
            set: self.set.iter().cloned().chain(test.set).collect(),
            cluster,
            release: ReleaseSetup {
                name: test.release.name.or_else(|| self.release.name.clone()),
                namespace: test.release.namespace.or_else(|| self.release.namespace.clone()),
                revision: test.release.revision.or(self.release.revision),
                upgrade: test.release.upgrade.or(self.release.upgrade),
            },
            capabilities: CapabilitiesSetup {
                major: test.capabilities.major.or_else(|| self.capabilities.major.clone()),
                minor: test.capabilities.minor.or_else(|| self.capabilities.minor.clone()),
                apis: self.capabilities.apis.iter().cloned().chain(test.capabilities.apis).collect(),
            },
            chart,
            skip: self.skip.clone().or(test.skip),
            documents: self.documents.clone().or(test.documents),
        }
    }
}

impl Documents {
    /// Returns the documents that `inner` selects, or else these.
    pub fn or(self, inner: Documents) -> Documents {
        if inner.index.is_some() || inner.selector.is_some() { inner } else { self }
    }
}
