//! What a test file tests: the templates of a folder, or a chart.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use dropforge::bulk::{Entry, discover_with};
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::stdlib::globs::PathGlob;

use super::charts::Charts;
use super::reader::Reader;
use super::suite::{Placed, Suite, Test};
use crate::options::LanguageArgs;

/// The endings of the names of test files.
pub(super) const ENDINGS: [&str; 2] = [".test.yaml", "_test.yaml"];

/// The templates of a test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// The chart in this folder.
    Chart(PathBuf),
    /// The templates below this folder.
    Folder(PathBuf),
}

/// A test and the templates that it is about.
#[derive(Debug)]
pub(super) struct Job<'s> {
    pub suite: &'s Suite,
    pub test: &'s Test,
    pub target: Rc<Target>,
    /// The folder of the test file.
    pub folder: &'s Path,
    /// The templates to render. Empty for all of a chart.
    pub renders: Vec<String>,
    /// The templates of each assertion.
    pub asserted: Vec<Vec<String>>,
}

/// Returns the chart around a file.
pub(super) fn chart_around(file: &Path) -> Option<&Path> {
    file.ancestors().skip(1).find(|folder| folder.join("Chart.yaml").is_file())
}

/// Returns a path without its part `.`, so that it has ancestors.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Target {
    /// Returns the target of a suite in the test file `file`.
    fn of(suite: &Suite, file: &Path) -> Self {
        let folder = folder_of(file);
        if let Some(root) = &suite.root {
            let root = folder.join(&root.text);
            return if root.join("Chart.yaml").is_file() { Self::Chart(root) } else { Self::Folder(root) };
        }
        match chart_around(file) {
            Some(chart) => Self::Chart(chart.to_owned()),
            None if folder.file_name().is_some_and(|name| name == "tests") => {
                Self::Folder(folder.parent().unwrap_or(folder).to_owned())
            }
            None => Self::Folder(folder.to_owned()),
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
) -> Result<Vec<Job<'s>>, Diagnostics> {
    let target = Rc::new(Target::of(suite, file));
    let mut finder = Finder { reader: Reader::new(&suite.source), target: &target, language, known: Vec::new(), file };
    if let Target::Chart(chart) = &*target {
        finder.known = charts.templates(chart)?;
    } else if let (Some(root), Target::Folder(folder)) = (&suite.root, &*target)
        && !folder.is_dir()
    {
        finder.reader.refuse(root.span, format!("there is no folder `{}`", root.text));
        return Err(finder.reader.errors.into());
    }
    let shared = finder.select(&suite.setup.templates);
    let excluded = finder.select(&suite.exclude);
    let jobs: Vec<Job<'s>> = suite.tests.iter().map(|test| finder.job(suite, test, &shared, &excluded)).collect();
    finder.check_files(suite);
    if finder.reader.errors.is_empty() { Ok(jobs) } else { Err(finder.reader.errors.into()) }
}

/// Finds templates and collects errors.
struct Finder<'f, 's> {
    reader: Reader<'s>,
    target: &'f Rc<Target>,
    language: &'f LanguageArgs,
    /// The templates of a chart.
    known: Vec<String>,
    file: &'s Path,
}

impl<'s> Finder<'_, 's> {
    fn job(&mut self, suite: &'s Suite, test: &'s Test, shared: &[String], excluded: &[String]) -> Job<'s> {
        let needs_default = |assertion: &super::asserts::Assertion| assertion.templates.is_empty();
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
        if let Target::Chart(_) = **self.target {
            // A suite without templates renders the whole chart.
            renders = match suite.setup.templates.is_empty() && suite.exclude.is_empty() {
                true => Vec::new(),
                false => renders.into_iter().chain(shared.iter().cloned()).collect(),
            };
            renders.retain(|name| !excluded.contains(name));
        }
        renders.sort_unstable();
        renders.dedup();
        Job { suite, test, target: self.target.clone(), folder: folder_of(self.file), renders, asserted }
    }

    /// Returns the templates that a test is about if nothing names them: all of a chart, or the one with the name of the
    /// file.
    fn default(&mut self, test: &Test) -> Vec<String> {
        let folder = match &**self.target {
            Target::Chart(_) => return self.known.clone(),
            Target::Folder(folder) => folder,
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
    fn select(&mut self, patterns: &[Placed]) -> Vec<String> {
        let mut names: Vec<String> = patterns.iter().flat_map(|pattern| self.matches(pattern)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn matches(&mut self, pattern: &Placed) -> Vec<String> {
        let text = pattern.text.strip_prefix("./").unwrap_or(&pattern.text);
        let is_pattern = text.contains(['*', '?', '[', '{']);
        let found = match &**self.target {
            Target::Chart(_) => of_chart(text, &self.known),
            Target::Folder(folder) if !is_pattern => {
                if folder.join(text).is_file() {
                    vec![text.to_owned()]
                } else {
                    Vec::new()
                }
            }
            Target::Folder(folder) => self.below(folder, text),
        };
        if found.is_empty() {
            let names = match &**self.target {
                Target::Chart(_) => self.known.clone(),
                Target::Folder(folder) => {
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

    /// Checks that the files exist that tests name.
    fn check_files(&mut self, suite: &Suite) {
        let mut seen = std::collections::HashSet::new();
        let values = suite.tests.iter().flat_map(|test| &test.setup.values);
        let expected =
            suite.tests.iter().flat_map(|test| &test.asserts).filter_map(|assertion| match &assertion.check {
                super::asserts::Check::EqualText(super::asserts::Expected::File(file)) => Some(file),
                _ => None,
            });
        for file in values.chain(expected).filter(|file| seen.insert(file.span)) {
            let path = folder_of(self.file).join(&file.text);
            if !path.is_file() {
                let error = self.reader.error(file.span, format!("there is no file `{}`", file.text));
                let names = path.parent().map(names_in).unwrap_or_default();
                let names = || names.iter().map(String::as_str);
                let base = path.file_name().unwrap_or_default().to_string_lossy();
                self.reader.errors.push(error.with_suggestion(&base, names()));
            }
        }
    }
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
