//! The test files, and what each tests: the templates of a folder, or a chart.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::asserts::{Assertion, Expectation, Expected, PlacedText};
use super::render::Charts;
use super::snapshot::FOLDER;
use super::suite::{NodeReader, Suite, Test, TestJob, TestTarget};
use crate::input::is_below;
use crate::options::LanguageArgs;
use crate::stderr::Stderr;
use dropforge::bulk::{Entry, discover_with};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::engine::{dialect_of, path_from_here};
use dropforge::files::Files;
use dropforge::stdlib::globs::PathGlob;

/// The endings of the names of test files.
const ENDINGS: [&str; 2] = [".test.yaml", "_test.yaml"];

/// Returns the chart around a file.
fn chart_around(file: &Path) -> Option<&Path> {
    file.ancestors().skip(1).find(|folder| folder.join("Chart.yaml").is_file())
}

/// Returns a path without its part `.`, so that it has ancestors.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the folder that a test file is about: its chart, or its own folder, or the one with that if it is called `tests`.
fn own_folder(file: &Path) -> &Path {
    let folder = folder_of(file);
    match chart_around(file) {
        Some(chart) => chart,
        None if folder.file_name().is_some_and(|name| name == "tests") => folder.parent().unwrap_or(folder),
        None => folder,
    }
}

impl TestTarget {
    /// Returns the target of a suite in the test file `file`.
    fn of(suite: &Suite, file: &Path) -> Self {
        let folder = folder_of(file);
        if let Some(root) = &suite.root {
            let root = folder.join(&root.text);
            return if root.join("Chart.yaml").is_file() { Self::Chart(root) } else { Self::Folder(root) };
        }
        let own = own_folder(file).to_owned();
        if chart_around(file).is_some() { Self::Chart(own) } else { Self::Folder(own) }
    }

    /// Returns the path of the chart or folder.
    fn path(&self) -> &Path {
        match self {
            Self::Chart(path) | Self::Folder(path) => path,
        }
    }
}

/// Finds the templates of the tests of a suite.
///
/// # Errors
/// All errors of the suite: templates that do not exist; errors of reading the chart.
pub(super) fn jobs<'s>(
    suite: &'s Suite,
    file: &'s Path,
    language: &LanguageArgs,
    charts: &mut Charts<'_>,
) -> Result<Vec<TestJob<'s>>, Diagnostics> {
    let target = Rc::new(TestTarget::of(suite, file));
    let mut finder =
        Finder { reader: NodeReader::new(&suite.source), target: &target, language, known: Rc::default(), file };
    if let Some(root) = &suite.root
        && ![own_folder(file), Path::new(".")].iter().any(|folder| is_in(folder, target.path()))
    {
        let message =
            format!("the root `{}` leads out of the folder of the test and of the working directory", root.text);
        finder.reader.refuse(root.span, message);
        return Err(finder.reader.errors.into());
    }
    if let TestTarget::Chart(chart) = &*target {
        finder.known = charts.templates(chart)?;
    } else if let (Some(root), TestTarget::Folder(folder)) = (&suite.root, &*target)
        && !folder.is_dir()
    {
        finder.reader.refuse(root.span, format!("there is no folder `{}`", root.text));
        return Err(finder.reader.errors.into());
    }
    let shared = finder.select(&suite.setup.templates);
    let excluded = finder.select(&suite.exclude);
    let jobs: Vec<TestJob<'s>> = suite.tests.iter().map(|test| finder.job(suite, test, &shared, &excluded)).collect();
    finder.check_files(suite);
    if finder.reader.errors.is_empty() { Ok(jobs) } else { Err(finder.reader.errors.into()) }
}

/// Finds templates and collects errors.
struct Finder<'f, 's> {
    reader: NodeReader<'s>,
    target: &'f Rc<TestTarget>,
    language: &'f LanguageArgs,
    /// The templates of a chart.
    known: Rc<[String]>,
    file: &'s Path,
}

impl<'s> Finder<'_, 's> {
    fn job(&mut self, suite: &'s Suite, test: &'s Test, shared: &[String], excluded: &[String]) -> TestJob<'s> {
        let needs_default = |assertion: &Assertion| assertion.templates.is_empty();
        let mut own = match test.setup.templates.is_empty() {
            false => self.select(&test.setup.templates),
            true if test.asserts.iter().any(needs_default) => self.default(test),
            true => Vec::new(),
        };
        own.retain(|name| !excluded.contains(name));
        let mut renders = own.clone();
        let asserted = test.asserts.iter().map(|assertion| match assertion.templates.is_empty() {
            true => own.clone(),
            false => {
                let names = self.select(&assertion.templates);
                renders.extend(names.iter().cloned());
                names
            }
        });
        let asserted = asserted.collect();
        if let TestTarget::Chart(_) = **self.target {
            // A suite without templates renders the whole chart.
            renders = match suite.setup.templates.is_empty() && suite.exclude.is_empty() {
                true => Vec::new(),
                false => renders.into_iter().chain(shared.iter().cloned()).collect(),
            };
            renders.retain(|name| !excluded.contains(name));
        }
        renders.sort_unstable();
        renders.dedup();
        TestJob { suite, test, target: self.target.clone(), folder: folder_of(self.file), renders, asserted }
    }

    /// Returns the templates that a test is about if nothing names them: all of a chart, or the one with the name of the
    /// file.
    fn default(&mut self, test: &Test) -> Vec<String> {
        let folder = match &**self.target {
            TestTarget::Chart(_) => return self.known.to_vec(),
            TestTarget::Folder(folder) => folder,
        };
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        let stem = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(&file);
        let names = names_in(folder);
        let is_own = |name: &&String| {
            let rest = name.strip_prefix(stem);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) && self.language.is_template(name)
        };
        let found: Vec<String> = names.iter().filter(is_own).cloned().collect();
        if found.len() == 1 {
            return found;
        }
        let message = match found.as_slice() {
            [] => format!("no template beside the test is named `{stem}`"),
            _ => format!("several templates beside the test are named `{stem}`"),
        };
        let available = names.iter().filter(|name| self.language.is_template(name)).cloned();
        let error = self.reader.error(test.span, message).with_available(available);
        // Each test of the file has this error.
        if !self.reader.errors.iter().any(|known| known.message == error.message) {
            self.reader.errors.push(error.with_help("name it with `template`"));
        }
        Vec::new()
    }

    /// Returns the names of the templates that patterns stand for.
    fn select(&mut self, patterns: &[PlacedText]) -> Vec<String> {
        let mut names: Vec<String> = patterns.iter().flat_map(|pattern| self.matches(pattern)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn matches(&mut self, pattern: &PlacedText) -> Vec<String> {
        let text = pattern.text.strip_prefix("./").unwrap_or(&pattern.text);
        let is_pattern = text.contains(['*', '?', '[', '{']);
        let found = match &**self.target {
            TestTarget::Chart(_) => of_chart(text, &self.known),
            TestTarget::Folder(folder) if !is_pattern => {
                if folder.join(text).is_file() {
                    vec![text.to_owned()]
                } else {
                    Vec::new()
                }
            }
            TestTarget::Folder(folder) => self.below(folder, text),
        };
        if found.is_empty() {
            let names = match &**self.target {
                TestTarget::Chart(_) => self.known.to_vec(),
                TestTarget::Folder(folder) => {
                    names_in(folder).into_iter().filter(|name| self.language.is_template(name)).collect()
                }
            };
            let what = if is_pattern { "no template matches" } else { "there is no template" };
            let error = self.reader.error(pattern.span, format!("{what} `{}`", pattern.text));
            let error = error.with_suggestion(text, names.iter().map(String::as_str)).with_available(names.clone());
            self.reader.errors.push(error);
        }
        found
    }

    /// Returns the templates below a folder that match a pattern.
    fn below(&mut self, folder: &Path, pattern: &str) -> Vec<String> {
        let Some(glob) = PathGlob::parse(pattern) else { return Vec::new() };
        let is_wanted = |entry: Entry<'_>| match entry.is_dir {
            true => !entry.name.starts_with('.'),
            false => self.language.is_template(entry.name),
        };
        match discover_with(&[folder.to_owned()], Some(folder), &is_wanted) {
            Ok(set) => set.files.into_iter().map(|file| file.name).filter(|name| glob.matches(name)).collect(),
            Err(error) if error.code == Code::NoTemplates => Vec::new(),
            Err(error) => {
                self.reader.errors.push(error);
                Vec::new()
            }
        }
    }

    /// Checks that the files exist that tests name, below the folders of the test and of its templates. Values may be anywhere
    /// below the working directory; the text of an expected file is printed if it differs.
    fn check_files(&mut self, suite: &Suite) {
        let mut seen = std::collections::HashSet::new();
        let values = suite.tests.iter().flat_map(|test| &test.setup.values);
        let expected =
            suite.tests.iter().flat_map(|test| &test.asserts).filter_map(|assertion| match &assertion.check {
                Expectation::EqualText(Expected::File(file)) => Some(file),
                _ => None,
            });
        let values = values.map(|file| (file, Some(Path::new("."))));
        let files = values.chain(expected.map(|file| (file, None)));
        for (file, more) in files.filter(|(file, _)| seen.insert(file.span)) {
            let path = folder_of(self.file).join(&file.text);
            let mut folders = [own_folder(self.file), self.target.path()].into_iter().chain(more);
            if !folders.any(|folder| is_in(folder, &path)) {
                let folder = path_from_here(own_folder(self.file));
                let message = format!("`{}` leads out of `{folder}`, whose files the test may read", file.text);
                self.reader.refuse(file.span, message);
            } else if !path.is_file() {
                let error = self.reader.error(file.span, format!("there is no file `{}`", file.text));
                let names = path.parent().map(names_in).unwrap_or_default();
                let names = || names.iter().map(String::as_str);
                let base = path.file_name().unwrap_or_default().to_string_lossy();
                self.reader.errors.push(error.with_suggestion(&base, names()));
            }
        }
    }
}

/// Returns `true` if a path leads to a place below a folder.
fn is_in(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Files::below(folder).is_ok_and(|folder| is_below(&folder, path))
}

/// Returns the templates of a chart that a pattern stands for. `templates/` may be left out.
fn of_chart(pattern: &str, known: &[String]) -> Vec<String> {
    let wanted = [pattern.to_owned(), format!("templates/{pattern}")];
    let globs: Vec<PathGlob> = wanted.iter().filter_map(|one| PathGlob::parse(one)).collect();
    let is_match = |name: &&String| wanted.contains(name) || globs.iter().any(|glob| glob.matches(name));
    known.iter().filter(is_match).cloned().collect()
}

/// Returns the names of the files in a folder, sorted.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// Returns the test files that `paths` name, or that lie below folders among them, sorted.
///
/// # Errors
/// `file.read_failed` for a path that cannot be read; `usage` if there is no test file.
pub(super) fn test_files(paths: &[PathBuf], stderr: &Stderr) -> Result<Vec<PathBuf>, Box<Diagnostic>> {
    let is_wanted = |entry: Entry<'_>| match entry.is_dir {
        true => !entry.name.starts_with('.') && entry.name != FOLDER,
        false => is_test(entry.path, entry.name, stderr),
    };
    if let Some(path) = paths.iter().find(|path| path.is_file() && is_template(path)) {
        let message = format!("`{}` is a template, not a test file", path.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help(NAMES));
    }
    match discover_with(paths, None, &is_wanted) {
        Ok(set) => {
            set.skipped.warnings().for_each(|warning| stderr.diagnostic(&warning));
            Ok(set.files.iter().map(|file| set.root.join(&file.name)).collect())
        }
        Err(error) if error.code == Code::NoTemplates => Err(no_test_file(paths)),
        Err(error) => Err(error),
    }
}

/// Returns `true` for a test file. Those of helm-unittest lie in the folder `tests` of a chart.
fn is_test(path: &Path, name: &str, stderr: &Stderr) -> bool {
    let [ours, theirs] = ENDINGS.map(|ending| name.ends_with(ending));
    if !ours && !theirs {
        return false;
    }
    let place = chart_around(path).and_then(|chart| path.strip_prefix(chart).ok());
    let is_in = |folder: &str| place.is_some_and(|place| place.starts_with(folder));
    if ours && is_in("templates") {
        stderr.warning(&format!(
            "`{}` is a template for Helm, as all of `templates/`: move the test to the chart's folder `tests`",
            path_from_here(path)
        ));
        return false;
    }
    ours || is_in("tests")
}

fn no_test_file(paths: &[PathBuf]) -> Box<Diagnostic> {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let error = Diagnostic::new(Code::Usage, format!("there is no test file in {}", paths.join(", ")));
    error.with_help(NAMES)
}

const NAMES: &str =
    "the name of a test file ends in `.test.yaml`; in the folder `tests` of a chart also in `_test.yaml`";

/// Returns `true` for a file whose name ends in a language, and not as that of a test file.
fn is_template(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    dialect_of(&name).is_some() && !ENDINGS.iter().any(|ending| name.ends_with(ending))
}
