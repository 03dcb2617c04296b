//! Results of tests: printed, and as JUnit XML.

use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use dropforge::bulk::write_file;
use dropforge::diagnostics::{Code, Diagnostic, Result, counted, thousands};
use dropforge::text::Position;

use super::snapshot::Changed;

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
    pub snapshots: Changed,
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
            (_, errors) if errors > 0 => format!("FAIL  {}: {}\n", self.path, counted(errors, "error")),
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
        let sum = |of: fn(&Changed) -> usize| self.files.iter().map(|file| of(&file.snapshots)).sum::<usize>();
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
    pub fn write_junit(&self, path: &Path) -> Result<()> {
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
