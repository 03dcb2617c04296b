//! What a test file tests: the templates of a folder, or a chart.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use regex::Regex;

use super::charts::Charts;
use super::estate::Estate;
use super::suite::{Expectation, Expected, NodeReader, PlacedText, Suite, Test, TestJob, TestTarget};
use crate::input::{InputFiles, is_below, repository};
use crate::options::LanguageArgs;
use dropforge::bulk::{Entry, discover_with};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::engine::path_from_here;
use dropforge::files::Files;
use dropforge::stdlib::globs::PathGlob;

/// The endings of the names of test files.
pub(super) const ENDINGS: [&str; 2] = [".test.yaml", "_test.yaml"];

/// Returns the chart around a file, which may be around the current directory, too.
pub(super) fn chart_around(file: &Path) -> Option<PathBuf> {
    let is_chart = |folder: &&Path| folder.join("Chart.yaml").is_file();
    if let Some(chart) = file.ancestors().skip(1).find(is_chart) {
        return Some(if chart.as_os_str().is_empty() { PathBuf::from(".") } else { chart.to_owned() });
    }
    std::path::absolute(file).ok()?.ancestors().skip(1).find(is_chart).map(Path::to_owned)
}

/// Returns the path of a file from its chart.
pub(super) fn path_in_chart(file: &Path) -> Option<PathBuf> {
    let (chart, file) = (std::path::absolute(chart_around(file)?).ok()?, std::path::absolute(file).ok()?);
    file.strip_prefix(chart).ok().map(Path::to_owned)
}

/// Returns a path without its part `.`, so that it has ancestors.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the folder that a test file is about: its chart, or its own folder, or the one with that if it is called `tests`.
fn own_folder(file: &Path) -> PathBuf {
    let folder = folder_of(file);
    let is_tests = folder.file_name().is_some_and(|name| name == "tests");
    let own = if is_tests { folder.parent().unwrap_or(folder) } else { folder };
    chart_around(file).unwrap_or_else(|| own.to_owned())
}

/// Returns the chart in whose folder `charts` another is.
pub(super) fn parent_chart(chart: &Path) -> Option<PathBuf> {
    let charts = chart.canonicalize().ok()?.parent()?.to_owned();
    let parent = charts.parent().filter(|_| charts.file_name().is_some_and(|name| name == "charts"))?;
    parent.join("Chart.yaml").is_file().then(|| parent.to_owned())
}

impl TestTarget {
    /// Returns the target of a suite in the test file `file`, and the route of its chart in that. A chart in another is
    /// tested within that if a folder among `paths` has both.
    fn of(suite: &Suite, SuitePlace { file, chart, paths }: SuitePlace<'_>) -> (Self, String) {
        if let Some(release) = &suite.setup.estate_release {
            return (Self::Release(release.text.clone()), String::new());
        }
        if let Some(chart) = chart {
            return (Self::Chart(chart.to_owned()), String::new());
        }
        let folder = folder_of(file);
        if let Some(root) = &suite.root {
            let root = folder.join(&root.text);
            let is_chart = root.join("Chart.yaml").is_file();
            return (if is_chart { Self::Chart(root) } else { Self::Folder(root) }, String::new());
        }
        let Some(mut chart) = chart_around(file) else { return (Self::Folder(own_folder(file)), String::new()) };
        let mut route = String::new();
        let given: Vec<PathBuf> =
            paths.iter().filter(|path| path.is_dir()).filter_map(|path| path.canonicalize().ok()).collect();
        while let Some(parent) = parent_chart(&chart).filter(|parent| given.iter().any(|path| parent.starts_with(path)))
        {
            let name =
                chart.canonicalize().ok().and_then(|chart| Some(chart.file_name()?.to_string_lossy().into_owned()));
            route = format!("charts/{}/{route}", name.unwrap_or_default());
            chart = PathBuf::from(path_from_here(&parent));
        }
        (Self::Chart(chart), route)
    }

    /// Returns the path of the chart or folder. The paths of a project are relative to the working directory.
    fn path(&self) -> &Path {
        match self {
            Self::Chart(path) | Self::Folder(path) => path,
            Self::Release(_) => Path::new("."),
        }
    }
}

/// The place of a suite.
#[derive(Debug, Clone, Copy)]
pub(super) struct SuitePlace<'s> {
    pub file: &'s Path,
    /// The chart that it is about, if that is not the one around it.
    pub chart: Option<&'s Path>,
    /// The paths that the command was given.
    pub paths: &'s [PathBuf],
}

/// The tests of a suite, with warnings.
pub(super) type FoundJobs<'s> = (Vec<TestJob<'s>>, Vec<Box<Diagnostic>>);

/// Finds the templates of the tests of a suite.
///
/// # Errors
/// All errors of the suite; errors of reading the chart. Those of a test are its problems.
pub(super) fn jobs<'s>(
    suite: &'s Suite,
    place: SuitePlace<'s>,
    language: &LanguageArgs,
    (charts, estate, files): (&mut Charts<'_>, &mut Estate<'_>, &mut InputFiles),
) -> Result<FoundJobs<'s>, Diagnostics> {
    let (file, (target, route)) = (place.file, TestTarget::of(suite, place));
    let (target, route, known, skip) = (Rc::new(target), Rc::from(route), Rc::default(), None);
    let reader = NodeReader::new(&suite.source);
    let mut finder = Finder { reader, target: &target, route, language, known, file, skip };
    finder.check_root(suite)?;
    if let TestTarget::Chart(chart) = &*target {
        let within = charts.templates(chart)?;
        let is_within = |name: &String| name.starts_with(&*finder.route);
        // A chart that its name does not lead to is tested alone.
        if within.iter().any(is_within) {
            finder.known = within;
            finder.skip = charts.disabled(chart, &finder.route);
        } else {
            let alone = Rc::new(TestTarget::Chart(own_folder(file)));
            (finder.route, finder.known) = (Rc::from(""), charts.templates(alone.path())?);
            return finder.of_target(&alone).found(suite);
        }
    }
    if let TestTarget::Release(name) = &*target {
        finder.known = estate.templates(name, files).map_err(|errors| finder.at_release(suite, errors))?;
    }
    finder.found(suite)
}

/// Finds templates and collects errors.
struct Finder<'f, 's> {
    reader: NodeReader<'s>,
    target: &'f Rc<TestTarget>,
    /// The chart in the chart: `charts/db/`.
    route: Rc<str>,
    language: &'f LanguageArgs,
    /// The templates of a chart.
    known: Rc<[String]>,
    file: &'s Path,
    /// The reason not to run any test.
    skip: Option<String>,
}

impl<'f, 's> Finder<'f, 's> {
    fn of_target<'t>(self, target: &'t Rc<TestTarget>) -> Finder<'t, 's>
    where
        'f: 't,
    {
        Finder { target, ..self }
    }

    fn found(mut self, suite: &'s Suite) -> Result<FoundJobs<'s>, Diagnostics> {
        let shared = self.select(&suite.setup.templates);
        let mut missing = std::mem::take(&mut self.reader.errors);
        let excluded = self.select(&suite.exclude);
        let not_excluded = std::mem::take(&mut self.reader.errors);
        let jobs: Vec<TestJob<'s>> =
            suite.tests.iter().map(|test| self.job(suite, test, (&shared, &missing), &excluded)).collect();
        // In a chart, it depends on the test whether it matters that a template does not exist.
        if let TestTarget::Folder(_) = &**self.target {
            missing.extend(not_excluded);
            if !missing.is_empty() {
                missing.extend(jobs.into_iter().flat_map(|job| job.problems));
                return Err(dropforge::diagnostics::without_duplicates(missing).into());
            }
        }
        Ok((jobs, self.reader.warnings))
    }

    /// Adds the place that names a release to the errors of reading it.
    fn at_release(&self, suite: &Suite, errors: Diagnostics) -> Diagnostics {
        let Some(PlacedText { span, .. }) = &suite.setup.estate_release else { return errors };
        let placed = |error: Box<Diagnostic>| match error.primary().is_some() {
            true => error,
            false => error.at(&suite.source, *span, ""),
        };
        errors.into_vec().into_iter().map(placed).collect::<Vec<_>>().into()
    }

    /// Checks that a test has no settings that its target does not have.
    fn check_settings(&mut self, test: &Test) {
        let setup = &test.setup;
        if let TestTarget::Release(_) = &**self.target {
            let has_capabilities = setup.capabilities != Default::default();
            let has_release = setup.release != Default::default();
            let given = [
                ("capabilities", has_capabilities),
                ("chart", !setup.chart.is_empty()),
                ("includeCrds", setup.crds),
                ("kubernetesProvider", !setup.objects.is_empty()),
                ("release", has_release),
            ];
            for (key, _) in given.iter().filter(|(_, is_given)| *is_given) {
                let message = format!("`{key}` has no effect on a release of a project: its file sets what it renders");
                self.reader.refuse(test.span, message);
            }
        } else if let Some(PlacedText { text, span }) = &setup.cluster_name {
            let error = self.reader.error(*span, format!("the cluster `{text}` needs a release of a project"));
            let help = "write `release: NAME` above the tests, or the keys of a cluster instead of its name";
            self.reader.errors.push(error.with_help(help));
        }
    }

    /// Checks the folder that a suite names.
    fn check_root(&mut self, suite: &Suite) -> Result<(), Diagnostics> {
        let Some(root) = &suite.root else { return Ok(()) };
        if let TestTarget::Release(_) = &**self.target {
            let message = "`root` has no effect on a release of a project";
            return Err(self.reader.error(root.span, message).into());
        }
        if ![own_folder(self.file), PathBuf::from(".")].iter().any(|folder| is_in(folder, self.target.path())) {
            let message =
                format!("the root `{}` leads out of the folder of the test and of the working directory", root.text);
            self.reader.refuse(root.span, message);
        } else if !self.target.path().is_dir() {
            self.reader.refuse(root.span, format!("there is no folder `{}`", root.text));
        }
        let errors = std::mem::take(&mut self.reader.errors);
        if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
    }

    fn job(
        &mut self,
        suite: &'s Suite,
        test: &'s Test,
        (shared, missing): (&[String], &[Box<Diagnostic>]),
        excluded: &[String],
    ) -> TestJob<'s> {
        let is_own =
            test.setup.templates.iter().map(|one| one.span).ne(suite.setup.templates.iter().map(|one| one.span));
        let needs_default = test.asserts.iter().any(|assertion| assertion.templates.is_empty());
        let mut own = match test.setup.templates.is_empty() {
            _ if !needs_default && !is_own => Vec::new(),
            false if is_own => self.select(&test.setup.templates),
            false => {
                self.reader.errors.extend(missing.iter().cloned());
                shared.to_vec()
            }
            true => self.default(test),
        };
        own.retain(|name| !excluded.contains(name));
        let mut renders = own.clone();
        let asserted = test.asserts.iter().map(|assertion| match assertion.templates.is_empty() {
            true => own.iter().filter(|name| !is_hidden(name)).cloned().collect(),
            false => {
                let names = self.select(&assertion.templates);
                renders.extend(names.iter().cloned());
                names
            }
        });
        let asserted = asserted.collect();
        if let TestTarget::Chart(_) | TestTarget::Release(_) = **self.target {
            // A suite without templates renders the whole chart.
            renders = match suite.setup.templates.is_empty() && suite.exclude.is_empty() {
                true if self.route.is_empty() => Vec::new(),
                true => self.known.iter().filter(|name| name.starts_with(&*self.route)).cloned().collect(),
                false => renders.into_iter().chain(shared.iter().cloned()).collect(),
            };
            renders.retain(|name| !excluded.contains(name));
        }
        renders.sort_unstable();
        renders.dedup();
        self.check_files(test);
        self.check_settings(test);
        let problems = test.problems.iter().cloned().chain(std::mem::take(&mut self.reader.errors)).collect();
        let (target, route, folder) = (self.target.clone(), self.route.clone(), folder_of(self.file));
        let skip = self.skip.clone().or_else(|| test.setup.skip.clone());
        TestJob { suite, test, target, route, folder, renders, asserted, problems, skip }
    }

    /// Returns the templates that a test is about if nothing names them: all of a chart, or the one with the name of the
    /// file.
    fn default(&mut self, test: &Test) -> Vec<String> {
        let folder = match &**self.target {
            TestTarget::Chart(_) | TestTarget::Release(_) => {
                let is_own = |name: &&String| name.starts_with(&*self.route) && !is_partial(name);
                return self.known.iter().filter(is_own).cloned().collect();
            }
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
        self.reader.errors.push(error.with_help("name it with `template`"));
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
            TestTarget::Chart(_) => of_chart(text, &self.route, &self.known),
            TestTarget::Release(_) => match of_pattern(text, &self.known) {
                found if found.is_empty() => of_chart(text, "", &self.known),
                found => found,
            },
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
                TestTarget::Chart(_) | TestTarget::Release(_) => self.known.to_vec(),
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

    /// Checks that the files exist that a test names, below the folders of the test and of its templates. Values may be
    /// anywhere below the working directory and in the repository of a chart; the text of an expected file is printed if it differs.
    fn check_files(&mut self, test: &Test) {
        let expected = test.asserts.iter().filter_map(|assertion| match &assertion.check {
            Expectation::EqualText(Expected::File(file)) => Some((file, None)),
            _ => None,
        });
        let more = match &**self.target {
            TestTarget::Chart(chart) => repository(chart),
            TestTarget::Folder(_) | TestTarget::Release(_) => None,
        };
        let values = test.setup.values.iter().map(|file| (file, Some(PathBuf::from("."))));
        for (file, here) in values.chain(expected) {
            let path = folder_of(self.file).join(&file.text);
            let more = here.into_iter().flat_map(|here| [Some(here), more.clone()]).flatten();
            let folders = [own_folder(self.file), self.target.path().to_owned()].into_iter();
            if !folders.chain(more).any(|folder| is_in(&folder, &path)) {
                let folder = path_from_here(&own_folder(self.file));
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

/// The folders that a name of a template can begin with. Any other name is one below `templates/`.
const ROOTS: [&str; 4] = ["templates", "charts", "crds", "**"];

/// Returns the templates of a chart that a pattern stands for: names, folders, and `*`, which includes `/`.
fn of_chart(pattern: &str, route: &str, known: &[String]) -> Vec<String> {
    let is_whole = ROOTS.iter().any(|root| pattern.starts_with(root));
    let found = of_pattern(&format!("{route}{}{pattern}", if is_whole { "" } else { "templates/" }), known);
    // A folder below `templates/` can have the name of another root.
    if found.is_empty() && is_whole { of_pattern(&format!("{route}templates/{pattern}"), known) } else { found }
}

fn of_pattern(wanted: &str, known: &[String]) -> Vec<String> {
    let (glob, regex) = (PathGlob::parse(wanted), Regex::new(&format!("^{}(/.*)?$", in_regex(wanted))));
    let is_match = |name: &&String| {
        **name == wanted
            || glob.as_ref().is_some_and(|glob| glob.matches(name))
            || regex.as_ref().is_ok_and(|regex| regex.is_match(name))
    };
    known.iter().filter(is_match).cloned().collect()
}

/// Returns the regular expression of a pattern.
fn in_regex(pattern: &str) -> String {
    let names = |part: &str| part.split('*').map(regex::escape).collect::<Vec<_>>().join(r"[\w\-/.]*");
    pattern.split("**").map(names).collect::<Vec<_>>().join(r"[\w\-/.]+")
}

/// Returns `true` for a template without an output of its own.
pub(super) fn is_hidden(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

/// Returns `true` for a template that only defines others, as far as its name says.
fn is_partial(path: &str) -> bool {
    is_hidden(path) || path.ends_with(".tpl")
}

/// Returns the names of the files in a folder, sorted.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}
