//! `dropforge test`: tests of templates and charts.
//!
//! | module | content |
//! |---|---|
//! | `suite`, `read`, `parameters` | a test file, and how it is read |
//! | `files`, `target` | the test files, and the templates that each is about |
//! | `folders`, `charts`, `estate`, `output` | renders of templates in folders, of charts and of releases, their documents |
//! | `path`, `conditions`, `values` | paths in documents, comparison of values |
//! | `check`, `verdict` | assertions |
//! | `snapshot` | snapshots |
//! | `report` | results, JUnit, the lines and outcomes that tests cover |

mod charts;
mod check;
mod conditions;
mod estate;
mod files;
mod folders;
mod output;
mod parameters;
mod path;
mod read;
mod report;
mod snapshot;
mod suite;
mod target;
mod values;
mod verdict;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use self::charts::Charts;
use self::estate::{Estate, EstateArgs, EstateOptions};
use self::files::FileArgs;
use self::folders::Folders;
use self::read::SuitesRead;
use self::report::{Case, CoverageArgs, Coverages, FileReport, Results, Status};
use self::snapshot::Snapshots;
use self::suite::{TestJob, TestTarget};
use self::target::SuitePlace;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::options::{AllowArgs, LanguageArgs};
use crate::output::print;
use crate::project::key;
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::engine::path_from_here;
use dropforge::function::Capabilities;
use files::TestFile;

/// Test templates and charts
///
///     dropforge test
///     dropforge test templates/ --update
///     dropforge test chart/ --filter ingress --junit report.xml
///
/// Runs the tests in files named `*.test.yaml`, beside templates or in a folder
/// `tests`, and those of helm-unittest in the folder `tests` or `unittests` of a
/// chart. A test renders a template or a chart with its own values, or a release of
/// the project for a cluster, and checks the text, values in the documents, an
/// expected error, or a snapshot. docs/testing.md describes the files.
///
/// A snapshot that is missing, or differs, fails its test; --update writes it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TestArgs {
    /// Test files, or folders with test files
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Run only tests whose name, or that of their suite, contains TEXT
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// List the tests instead of running them
    #[arg(long)]
    list: bool,
    /// Write missing and changed snapshots, and remove those that no test compares with
    #[arg(long, short, visible_alias = "update-snapshot", conflicts_with = "list")]
    update: bool,
    /// Write a report in JUnit XML to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    junit: Option<PathBuf>,
    /// Treat warnings as errors: values that no template reads, snapshots that no test compares with
    #[arg(long, add = key("checks"))]
    strict: bool,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    language: LanguageArgs,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    schema: SchemaArgs,
    #[command(flatten)]
    estate: EstateArgs,
    #[command(flatten)]
    coverage: CoverageArgs,
}

/// Runs the command.
pub(crate) fn run(args: &TestArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let builder = || args.allow.grant(args.language.engine());
    // What a test of a chart checks does not depend on the time or on random numbers, or else it is no test.
    let engine = builder()?.allow(Capabilities::CLOCK.and(Capabilities::RANDOM)).build();
    let found = files::test_files(&args.paths, &args.files, &engine, stderr)?;
    let mut run = TestRun {
        args,
        files,
        stderr,
        charts: Charts::new(&engine, args.schema.is_off()),
        folders: Folders::new(&args.language, &args.schema, builder),
        estate: Estate::new(
            EstateOptions { args: &args.estate, language: &args.language, allow: &args.allow, schema: &args.schema },
            stderr,
        ),
        coverages: Coverages::wanted(&args.coverage),
    };
    let mut results = Results::default();
    for file in &found {
        let report = run.file(file)?;
        if !args.list && !stderr.quiet && !report.is_empty() {
            print(report.lines(stderr.verbose))?;
        }
        results.files.push(report);
    }
    if !args.list {
        let paths = found.iter().map(|file| file.path.as_path());
        stderr.diagnostics(snapshot::left_over(paths, args.update)?);
    }
    let low = run.coverage()?;
    let exit = finish(args, &results, stderr)?;
    low.iter().for_each(|error| stderr.diagnostic(error));
    Ok(if low.is_some() && exit == Exit::Ok { Exit::Error } else { exit })
}

/// Writes the report and returns the exit.
fn finish(args: &TestArgs, results: &Results, stderr: &Stderr) -> Result<Exit, Failed> {
    if results.len() == 0 && results.passed() {
        let text = args.filter.as_deref().unwrap_or("");
        let error = Diagnostic::new(Code::Usage, format!("no test has a name with `{text}`"));
        return Err(error.with_help("`dropforge test --list` lists the tests").into());
    }
    if let Some(path) = &args.junit {
        results.write_junit(path)?;
    }
    if !args.list {
        stderr.note(&results.summary());
    }
    let is_refused = args.strict && stderr.warnings() > 0;
    Ok(if results.passed() && !is_refused { Exit::Ok } else { Exit::Error })
}

/// A run of test files.
struct TestRun<'r> {
    args: &'r TestArgs,
    files: &'r mut InputFiles,
    stderr: &'r Stderr,
    charts: Charts<'r>,
    folders: Folders<'r>,
    estate: Estate<'r>,
    coverages: Option<Coverages>,
}

impl TestRun<'_> {
    /// Runs the tests of a file, and prints their failures.
    ///
    /// # Errors
    /// Errors of writing.
    fn file(&mut self, file: &TestFile) -> Result<FileReport, Failed> {
        let mut report = FileReport::new(path_from_here(&file.path));
        let path = PathBuf::from(&report.path);
        let source = match &file.written {
            Some((source, _)) => Ok(source.clone()),
            None => self.files.read_regular(&path),
        };
        let mut read = match source {
            Ok(source) => read::suites(&source, &crate::options::limits()),
            Err(error) => SuitesRead { errors: vec![error], ..SuitesRead::default() },
        };
        if file.written.is_some() {
            read.number_snapshots();
        }
        read.warnings.iter().for_each(|warning| self.stderr.diagnostic(warning));
        report.errors = read.errors;
        let mut jobs = Vec::new();
        for suite in &read.suites {
            let place = SuitePlace {
                file: &path,
                chart: file.written.as_ref().map(|(_, chart)| chart.as_path()),
                paths: &self.args.paths,
            };
            match target::jobs(suite, place, &self.args.language, (&mut self.charts, &mut self.estate, self.files)) {
                Ok((found, warnings)) => {
                    warnings.iter().for_each(|warning| self.stderr.diagnostic(warning));
                    jobs.extend(found);
                }
                Err(more) => report.errors.extend(more.into_vec()),
            }
        }
        self.jobs(&path, &jobs, &mut report)?;
        report.errors.iter().for_each(|error| self.stderr.diagnostic(error));
        Ok(report)
    }

    /// Runs the tests of a file. Those of each identifier of snapshots have their own.
    fn jobs(&mut self, path: &Path, jobs: &[TestJob<'_>], report: &mut FileReport) -> Result<(), Failed> {
        let mut all: BTreeMap<Option<&str>, Snapshots> = BTreeMap::new();
        for job in jobs {
            let snapshots = match all.entry(job.suite.snapshot_id.as_deref()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => match Snapshots::of(path, *new.key(), self.args.update, self.files) {
                    Ok(snapshots) => new.insert(snapshots),
                    Err(errors) => {
                        report.errors.extend(errors.into_vec());
                        return Ok(());
                    }
                },
            };
            if !self.is_selected(job) {
                snapshots.keep(&job.test.snapshots);
                continue;
            }
            let case = if self.args.list { self.list(job)? } else { self.case(job, snapshots) };
            report.cases.push(case);
        }
        for snapshots in all.values_mut().filter(|_| !self.args.list) {
            snapshots.finish()?.iter().for_each(|warning| self.stderr.diagnostic(warning));
            report.snapshots += snapshots.changed;
        }
        Ok(())
    }

    /// Prints the coverage, and returns the error if it is too low. Templates that no test renders count, too.
    ///
    /// # Errors
    /// Errors of writing.
    fn coverage(&mut self) -> Result<Option<Box<Diagnostic>>, Failed> {
        let Some(coverages) = self.coverages.take() else { return Ok(None) };
        for (target, coverage) in coverages.all() {
            match target {
                TestTarget::Chart(chart) => self.charts.cover(chart, coverage),
                TestTarget::Folder(folder) => self.folders.cover(folder, coverage),
                TestTarget::Release(_) => {}
            }
        }
        print(coverages.report())?;
        Ok(coverages.too_low())
    }

    fn is_selected(&self, job: &TestJob<'_>) -> bool {
        let wanted = self.args.filter.as_deref().unwrap_or("");
        job.test.name.contains(wanted) || job.suite.name.contains(wanted)
    }

    fn list(&self, job: &TestJob<'_>) -> Result<Case, Failed> {
        let case = Case::new(job, Status::Passed, Duration::ZERO);
        print(format!("{}:{}: {}: {}\n", job.suite.source.path(), case.at.line, case.suite, case.name))?;
        Ok(case)
    }

    /// Runs a test and prints its failures.
    fn case(&mut self, job: &TestJob<'_>, snapshots: &mut Snapshots) -> Case {
        let started = Instant::now();
        snapshots.begin();
        if let Some(why) = &job.skip {
            snapshots.keep(&job.test.snapshots);
            return Case::new(job, Status::Skipped(why.clone()), Duration::ZERO);
        }
        let problems = check::problems(job);
        if !problems.is_empty() {
            snapshots.keep(&job.test.snapshots);
            problems.iter().for_each(|problem| self.stderr.diagnostic(problem));
            return Case::new(job, Status::Failed(problems), Duration::ZERO);
        }
        let is_covered = !matches!(*job.target, TestTarget::Release(_));
        let coverage = self.coverages.as_mut().filter(|_| is_covered).map(|all| all.of(&job.target));
        let outputs = match &*job.target {
            TestTarget::Release(release) => self.estate.render(release, job, self.files),
            TestTarget::Chart(chart) => self.charts.render(chart, job, coverage.as_ref(), self.files),
            TestTarget::Folder(folder) => {
                self.stderr.diagnostics(self.folders.unread(folder, job, self.files));
                self.folders.render(folder, job, coverage.as_ref(), self.files)
            }
        };
        let mut failures = check::failures(job, &outputs, snapshots, self.files);
        if !failures.is_empty() {
            let mask = match &*job.target {
                TestTarget::Release(release) => self.estate.mask(release, job, self.files),
                TestTarget::Chart(chart) => self.charts.mask(chart, job, self.files),
                TestTarget::Folder(folder) => self.folders.mask(folder, job, self.files),
            };
            mask.hide_in_all(&mut failures);
        }
        failures.iter().for_each(|failure| self.stderr.diagnostic(failure));
        let status = if failures.is_empty() { Status::Passed } else { Status::Failed(failures) };
        Case::new(job, status, started.elapsed())
    }
}

impl Case {
    fn new(job: &TestJob<'_>, status: Status, time: Duration) -> Self {
        let at = job.suite.source.position(job.test.span.start);
        Self { suite: job.suite.name.clone(), name: job.test.name.clone(), at, status, time }
    }
}

impl FileReport {
    fn new(path: String) -> Self {
        Self { path, cases: Vec::new(), errors: Vec::new(), snapshots: Default::default() }
    }

    /// Returns `true` if the filter left nothing.
    fn is_empty(&self) -> bool {
        self.cases.is_empty() && self.errors.is_empty()
    }
}
