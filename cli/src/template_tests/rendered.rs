//! Suites that the templates of a chart write: a chart of tests within the chart that they are about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::snapshot::FOLDER;
use crate::chart::with_documents;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::engine::{Engine, path_from_here};
use dropforge::text::{Source, Text};

/// A test file.
#[derive(Debug)]
pub(super) struct TestFile {
    pub path: PathBuf,
    /// The text, and the chart that it is about, if a template has written it.
    pub written: Option<(Arc<Source>, PathBuf)>,
}

impl TestFile {
    /// Returns a file as it is.
    pub fn at(path: PathBuf) -> Self {
        Self { path, written: None }
    }
}

/// Renders the charts of tests in the folder `below` of charts among `paths`.
///
/// # Errors
/// Errors of reading and rendering them; `usage` if no chart has one.
pub(super) fn files(paths: &[PathBuf], below: &Path, engine: &Engine) -> Result<Vec<TestFile>, Diagnostics> {
    let mut found = Vec::new();
    for chart in paths.iter().filter(|path| path.join("Chart.yaml").is_file()) {
        let tests = chart.join(below);
        if tests.join("Chart.yaml").is_file() {
            found.extend(of_chart(chart, &tests, engine)?);
        }
    }
    if found.is_empty() {
        let message = format!("no chart has a chart of tests in `{}`", below.display());
        let error = Diagnostic::new(Code::Usage, message);
        return Err(error.with_help("`--chart-tests-path` is a path from the chart that the tests are about").into());
    }
    Ok(found)
}

fn of_chart(chart: &Path, tests: &Path, engine: &Engine) -> Result<Vec<TestFile>, Diagnostics> {
    let folder = path_from_here(tests);
    let source = ChartSource::open(tests)?.in_folder(&folder);
    let template = engine.chart(&with_documents(source, tests, &BTreeMap::new())?)?;
    let release =
        Release { name: "TEST-SUITE-RELEASE".to_owned(), namespace: "NAMESPACE".to_owned(), ..Release::default() };
    let mut values = UserValues::default();
    values.of_test();
    let render = template.render(&values, &release, &Capabilities::default())?;
    let root = render.plan().charts().first().map_or("", |chart| chart.path());
    let file = |(name, text): &(String, Text)| {
        let path = Path::new(&folder).join(name.strip_prefix(root).unwrap_or(name).trim_start_matches('/'));
        let source = Source::new(path.display().to_string(), text.as_str());
        TestFile { path, written: Some((source, chart.to_owned())) }
    };
    let is_suite = |name: &str| !name.contains(FOLDER) && [".yaml", ".yml"].iter().any(|ending| name.ends_with(ending));
    Ok(render.files().iter().filter(|(name, _)| is_suite(name)).map(file).collect())
}
