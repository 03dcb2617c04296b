//! The test files: those that are named, those in folders, and those that the templates of a chart write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args};

use super::snapshot::FOLDER;
use super::target::{ENDINGS, chart_around, parent_chart, path_in_chart};
use crate::chart::with_documents;
use crate::stderr::Stderr;
use dropforge::bulk::{Entry, STATE, discover_with};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::engine::{Engine, dialect_of, path_from_here};
use dropforge::stdlib::globs::PathGlob;
use dropforge::text::{Source, Text};

/// The options that select test files.
#[derive(Debug, Args)]
pub(super) struct FileArgs {
    /// Run the test files of charts that match GLOB, a path from the chart, instead of those in `tests` and `unittests`
    #[arg(long, short, value_name = "GLOB")]
    file: Vec<String>,
    /// Run the tests of charts in the folder `charts` of another
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = ArgAction::Set)]
    with_subchart: bool,
    /// Run the suites that a chart in the folder DIR of a chart renders, too
    #[arg(long, value_name = "DIR")]
    chart_tests_path: Option<PathBuf>,
}

/// Returns the test files that `paths` name, or that lie below folders among them, sorted.
///
/// # Errors
/// `file.read_failed` for a path that cannot be read; `usage` if there is no test file.
pub(super) fn test_files(
    paths: &[PathBuf],
    args: &FileArgs,
    engine: &Engine,
    stderr: &Stderr,
) -> Result<Vec<TestFile>, Diagnostics> {
    let rendered = args.chart_tests_path.as_ref().map(|below| files(paths, below, engine));
    let rendered = rendered.transpose()?.unwrap_or_default();
    let globs = args.file.iter().map(|glob| parsed(glob)).collect::<Result<Vec<_>, _>>()?;
    let is_wanted = |entry: Entry<'_>| match entry.is_dir {
        true => !entry.name.starts_with('.') && entry.name != FOLDER && !is_output(entry.path),
        false if !args.with_subchart && is_in_subchart(entry.path) => false,
        false if !globs.is_empty() => is_match(entry.path, &globs),
        false => is_test(entry.path, entry.name, stderr),
    };
    if let Some(path) = paths.iter().find(|path| path.is_file() && is_template(path)) {
        let message = format!("`{}` is a template, not a test file", path.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help(NAMES).into());
    }
    match discover_with(paths, None, &is_wanted) {
        Ok(set) => {
            set.skipped.warnings().for_each(|warning| stderr.diagnostic(&warning));
            Ok(set.files.iter().map(|file| TestFile::at(set.root.join(&file.name))).chain(rendered).collect())
        }
        Err(error) if error.code == Code::NoTemplates && !rendered.is_empty() => Ok(rendered),
        Err(error) if error.code == Code::NoTemplates => Err(no_test_file(paths).into()),
        Err(error) => Err(error.into()),
    }
}

/// Returns `true` for a folder that `stamp` writes to, which may have many files.
fn is_output(folder: &Path) -> bool {
    folder.join(STATE).is_dir()
}

fn parsed(glob: &str) -> Result<PathGlob, Box<Diagnostic>> {
    let wrong = || Diagnostic::new(Code::Usage, format!("`--file {glob}` is not a pattern of paths"));
    PathGlob::parse(glob.strip_prefix("./").unwrap_or(glob)).ok_or_else(wrong)
}

/// Returns `true` for a file whose path from its chart, or from the current directory, matches.
fn is_match(path: &Path, globs: &[PathGlob]) -> bool {
    let paths = path_in_chart(path).into_iter().chain([path.to_owned()]);
    let mut texts = paths.map(|path| path.to_string_lossy().replace('\\', "/"));
    texts.any(|text| globs.iter().any(|glob| glob.matches(text.strip_prefix("./").unwrap_or(&text))))
}

/// Returns `true` for a file of a chart in another chart.
fn is_in_subchart(path: &Path) -> bool {
    chart_around(path).is_some_and(|chart| parent_chart(&chart).is_some())
}

/// The folders of a chart with suites of helm-unittest.
const OF_CHARTS: [&str; 2] = ["tests", "unittests"];

/// Returns `true` for a test file. Those of helm-unittest lie in the folder `tests` or `unittests` of a chart.
fn is_test(path: &Path, name: &str, stderr: &Stderr) -> bool {
    let [ours, theirs] = ENDINGS.map(|ending| name.ends_with(ending));
    if !ours && !theirs {
        return false;
    }
    let place = path_in_chart(path);
    let is_in = |folder: &str| place.as_ref().is_some_and(|place| place.starts_with(folder));
    if ours && is_in("templates") {
        stderr.warning(&format!(
            "`{}` is a template for Helm, as all of `templates/`: move the test to the chart's folder `tests`",
            path_from_here(path)
        ));
        return false;
    }
    ours || OF_CHARTS.into_iter().any(is_in)
}

fn no_test_file(paths: &[PathBuf]) -> Box<Diagnostic> {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let error = Diagnostic::new(Code::Usage, format!("there is no test file in {}", paths.join(", ")));
    error.with_help(NAMES)
}

const NAMES: &str = "the name of a test file ends in `.test.yaml`; in the folders `tests` and `unittests` of a chart also in `_test.yaml`; `--file GLOB` names others";

/// Returns `true` for a file whose name ends in a language, and not as that of a test file.
fn is_template(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    dialect_of(&name).is_some() && !ENDINGS.iter().any(|ending| name.ends_with(ending))
}

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
