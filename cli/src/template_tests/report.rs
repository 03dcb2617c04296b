//! Results of tests: printed, and as JUnit XML; the lines and outcomes that tests cover.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::snapshot::SnapshotCounts;
use super::suite::TestTarget;
use dropforge::bulk::write_file;
use dropforge::diagnostics::{Code, Diagnostic, counted, thousands};
use dropforge::engine::coverage::{Coverage, FileCoverage};
use dropforge::text::{Position, one_line};

/// The result of a test.
#[derive(Debug)]
pub(super) enum Status {
    Passed,
    Failed(Vec<Box<Diagnostic>>),
    Skipped(String),
}

/// A test that ran, or was skipped.
#[derive(Debug)]
pub(super) struct Case {
    pub suite: String,
    pub name: String,
    pub at: Position,
    pub status: Status,
    pub time: Duration,
}

/// The results of a test file.
#[derive(Debug)]
pub(super) struct FileReport {
    /// The path from the current directory.
    pub path: String,
    pub cases: Vec<Case>,
    /// Errors of the file itself. Its tests did not run.
    pub errors: Vec<Box<Diagnostic>>,
    pub snapshots: SnapshotCounts,
}

/// The results of all files.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub files: Vec<FileReport>,
}

impl FileReport {
    /// Returns the number of failed tests.
    pub fn failed(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.status, Status::Failed(_))).count()
    }

    /// Returns a line for the file, with a line for each test if `verbose`.
    pub fn lines(&self, verbose: bool) -> String {
        let (failed, all) = (self.failed(), self.cases.len());
        let mut text = match (failed, self.errors.len()) {
            (0, errors) if errors > 0 => format!("FAIL  {}: {}\n", self.path, counted(errors, "error")),
            (0, _) => format!("ok    {}: {}\n", self.path, counted(all, "test")),
            _ => format!("FAIL  {}: {} of {} failed\n", self.path, thousands(failed), counted(all, "test")),
        };
        for case in &self.cases {
            match &case.status {
                Status::Passed if verbose => text.push_str(&format!("  ok    {}\n", case.name)),
                Status::Failed(_) if verbose => text.push_str(&format!("  FAIL  {}\n", case.name)),
                Status::Skipped(why) => text.push_str(&format!("  skip  {}: {why}\n", case.name)),
                _ => {}
            }
        }
        text
    }
}

impl Results {
    /// Returns `true` if every test passed and every file could be read.
    pub fn passed(&self) -> bool {
        self.files.iter().all(|file| file.failed() == 0 && file.errors.is_empty())
    }

    /// Returns the number of tests that ran or were skipped.
    pub fn len(&self) -> usize {
        self.files.iter().map(|file| file.cases.len()).sum()
    }

    /// Returns a sentence about all tests.
    pub fn summary(&self) -> String {
        let count = |is: fn(&Status) -> bool| {
            self.files.iter().flat_map(|file| &file.cases).filter(|case| is(&case.status)).count()
        };
        let parts = [
            (count(|status| matches!(status, Status::Passed)), "passed"),
            (count(|status| matches!(status, Status::Failed(_))), "failed"),
            (count(|status| matches!(status, Status::Skipped(_))), "skipped"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, word)| format!("{} {word}", thousands(*count))).collect();
        let unread = self.files.iter().filter(|file| !file.errors.is_empty()).count();
        let unread = (unread > 0).then(|| format!("{} with errors", counted(unread, "test file")));
        let tests = if parts.is_empty() { "no tests ran".to_owned() } else { parts.join(", ") };
        [Some(tests), unread, self.snapshots()].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Returns what happened to snapshots.
    fn snapshots(&self) -> Option<String> {
        let sum = |of: fn(&SnapshotCounts) -> usize| self.files.iter().map(|file| of(&file.snapshots)).sum::<usize>();
        let parts = [
            (sum(|one| one.written), "written"),
            (sum(|one| one.updated), "updated"),
            (sum(|one| one.removed), "removed"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, word)| format!("{} {word}", thousands(*count))).collect();
        (!parts.is_empty()).then(|| format!("snapshots: {}", parts.join(", ")))
    }

    /// Writes JUnit XML: a suite for each test file.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub fn write_junit(&self, path: &Path) -> Result<(), Box<Diagnostic>> {
        let mut report = Report::new("dropforge test");
        report.add_test_suites(self.files.iter().map(suite));
        let failed = |error: &dyn std::fmt::Display| {
            Diagnostic::new(Code::WriteFailed, format!("cannot write `{}`: {error}", path.display()))
        };
        let text = report.to_string().map_err(|error| failed(&error))?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        write_file(path, text.as_bytes(), false).map(|_| ())
    }
}

fn suite(file: &FileReport) -> TestSuite {
    let mut suite = TestSuite::new(file.path.as_str());
    if !file.errors.is_empty() {
        let mut case = TestCase::new("the test file", failure(&file.errors, NonSuccessKind::Error));
        case.set_classname(file.path.as_str());
        suite.add_test_case(case);
    }
    for one in &file.cases {
        let status = match &one.status {
            Status::Passed => TestCaseStatus::success(),
            Status::Failed(errors) => failure(errors, NonSuccessKind::Failure),
            Status::Skipped(why) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(why.as_str());
                status
            }
        };
        let mut case = TestCase::new(one.name.as_str(), status);
        case.set_classname(one.suite.as_str()).set_time(one.time);
        case.extra.insert("file".into(), file.path.as_str().into());
        case.extra.insert("line".into(), one.at.line.to_string().into());
        suite.add_test_case(case);
    }
    suite
}

/// Returns a status with the messages of errors, and the errors as people read them.
fn failure(errors: &[Box<Diagnostic>], kind: NonSuccessKind) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    let name = errors.first().map_or("", |error| error.code.name());
    let text: String = errors.iter().map(|error| error.render(false)).collect();
    status.set_message(messages.join("\n")).set_type(name).set_description(text);
    status
}

/// Maximum number of characters of a condition.
const SHOWN: usize = 60;

/// Options of coverage.
#[derive(Debug, Args)]
#[command(next_help_heading = "Coverage")]
pub(super) struct CoverageArgs {
    /// Print the lines that no test runs, and the conditions and loops with an outcome that no test has
    #[arg(long, conflicts_with = "list")]
    coverage: bool,
    /// Fail if less than PERCENT of the lines and outcomes are covered
    #[arg(long, value_name = "PERCENT", conflicts_with = "list", value_parser = percent)]
    coverage_min: Option<f64>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse().ok();
    number.filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

/// The coverage of each target.
#[derive(Debug)]
pub(super) struct Coverages {
    min: Option<f64>,
    of: Vec<(TestTarget, Coverage)>,
}

impl Coverages {
    /// Returns `None` if no option asks for it.
    pub fn wanted(args: &CoverageArgs) -> Option<Self> {
        (args.coverage || args.coverage_min.is_some()).then(|| Self { min: args.coverage_min, of: Vec::new() })
    }

    /// Returns the coverage of a target.
    pub fn of(&mut self, target: &TestTarget) -> Coverage {
        if let Some((_, coverage)) = self.of.iter().find(|(known, _)| known == target) {
            return coverage.clone();
        }
        let coverage = Coverage::new();
        self.of.push((target.clone(), coverage.clone()));
        coverage
    }

    /// Returns the targets with their coverages.
    pub fn all(&self) -> impl Iterator<Item = (&TestTarget, &Coverage)> {
        self.of.iter().map(|(target, coverage)| (target, coverage))
    }

    /// Returns the report: what is missed in each template, and a total.
    pub fn report(&self) -> String {
        let mut text = String::from("coverage:\n");
        for (_, coverage) in self.all() {
            for file in coverage.files() {
                let _ = writeln!(text, "  {}: {}", file.source.path(), Counts::of(&file).sentence());
                missed(&file, &mut text);
            }
        }
        let _ = writeln!(text, "total: {}", self.total().sentence());
        text
    }

    fn total(&self) -> Counts {
        let files = self.all().flat_map(|(_, coverage)| coverage.files());
        files.fold(Counts::default(), |sum, file| sum.plus(Counts::of(&file)))
    }

    /// Returns the error of a coverage that is too low.
    pub fn too_low(&self) -> Option<Box<Diagnostic>> {
        let (found, min) = (self.total().percent(), self.min?);
        (found < min).then(|| {
            let message = format!("the tests cover {} of lines and outcomes, less than {}", shown(found), shown(min));
            Diagnostic::new(Code::LowCoverage, message).with_help("`--coverage` prints what is missing")
        })
    }
}

/// Adds the lines that never ran, and the outcomes that never occurred.
fn missed(file: &FileCoverage, text: &mut String) {
    let lines = file.missed_lines();
    if !lines.is_empty() {
        let noun = if lines.len() == 1 { "line" } else { "lines" };
        let _ = writeln!(text, "    {noun} {} never ran", ranges(&lines));
    }
    for branch in file.branches.iter().filter(|branch| !branch.missed().is_empty()) {
        let condition = one_line(file.source.slice(branch.span), SHOWN);
        let at = file.source.position(branch.span.start);
        let _ = writeln!(text, "    {at}: `{condition}` is never {}", branch.missed().join(" and never "));
    }
}

/// Returns numbers with runs of them as ranges.
fn ranges(lines: &[u32]) -> String {
    let runs = lines.chunk_by(|a, b| a + 1 == *b);
    let shown = runs.filter_map(|run| match (run.first()?, run.last()?) {
        (first, last) if first == last => Some(first.to_string()),
        (first, last) => Some(format!("{first}-{last}")),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Numbers of lines and outcomes: covered, and all.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    lines: (usize, usize),
    outcomes: (usize, usize),
}

impl Counts {
    fn of(file: &FileCoverage) -> Self {
        Self { lines: file.line_counts(), outcomes: file.outcome_counts() }
    }

    fn plus(self, other: Self) -> Self {
        let sum = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        Self { lines: sum(self.lines, other.lines), outcomes: sum(self.outcomes, other.outcomes) }
    }

    /// Returns the share of all lines and outcomes. Nothing is covered wholly.
    fn percent(self) -> f64 {
        let (covered, all) = (self.lines.0 + self.outcomes.0, self.lines.1 + self.outcomes.1);
        if all == 0 { 100.0 } else { covered as f64 * 100.0 / all as f64 }
    }

    fn sentence(self) -> String {
        let (lines, outcomes) = (self.lines, self.outcomes);
        let branches = match outcomes.1 {
            0 => String::new(),
            all => format!(", {} of {}", outcomes.0, counted(all, "outcome")),
        };
        format!("{} of {}{branches} ({})", lines.0, counted(lines.1, "line"), shown(self.percent()))
    }
}

/// Shows a percentage. It is rounded down, so that 100% is all.
fn shown(percent: f64) -> String {
    let rounded = (percent * 10.0).floor() / 10.0;
    format!("{rounded}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_ranges_and_shares() {
        assert_eq!(ranges(&[1, 3, 4, 5, 9]), "1, 3-5, 9");
        assert_eq!((shown(99.99), shown(100.0), shown(66.666)), ("99.9%".into(), "100%".into(), "66.6%".into()));
        assert_eq!(percent("80%"), Ok(80.0));
        assert!(percent("101").is_err() && percent("NaN").is_err() && percent("-1").is_err());
    }
}
