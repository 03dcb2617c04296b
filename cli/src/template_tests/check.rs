//! Checks the assertions of a test.

use std::path::Path;

use serde_json::Value;

use super::output::{Selected, TestOutput, select};
use super::snapshot::{Compared, Snapshots};
use super::suite::{Assertion, Expectation, Expected, Suite, Test, TestJob};
use super::values::{document, plain, short};
use super::verdict::{Verdict, of_errors, of_value};
use crate::input::InputFiles;
use dropforge::diagnostics::{Code, Diagnostic, counted};
use dropforge::text::Span;

/// Checks the assertions of a test and collects what does not hold.
struct Checker<'c> {
    suite: &'c Suite,
    test: &'c Test,
    folder: &'c Path,
    outputs: &'c [TestOutput],
    snapshots: &'c mut Snapshots,
    files: &'c mut InputFiles,
    failures: Vec<Box<Diagnostic>>,
    /// `true` if the errors of the render are among the failures.
    tells_errors: bool,
}

/// Returns the errors for which a test cannot run.
pub(super) fn problems(job: &TestJob<'_>) -> Vec<Box<Diagnostic>> {
    let refused = |span: Span| {
        let message = format!("test `{}`: `postRenderer` is not supported", job.test.name);
        let error = Diagnostic::new(Code::TestFailed, message).at(&job.suite.source, span, "");
        error.with_help("no other program is run: check the output before it")
    };
    job.problems.iter().cloned().chain(job.test.setup.post_renderer.map(refused)).collect()
}

/// Checks a test and returns a failure for each thing that does not hold.
pub(super) fn failures(
    job: &TestJob<'_>,
    outputs: &[TestOutput],
    snapshots: &mut Snapshots,
    files: &mut InputFiles,
) -> Vec<Box<Diagnostic>> {
    let (suite, test, folder) = (job.suite, job.test, job.folder);
    let (failures, tells_errors) = (Vec::new(), false);
    let mut checker = Checker { suite, test, folder, outputs, snapshots, files, failures, tells_errors };
    for (assertion, names) in test.asserts.iter().zip(&job.asserted) {
        checker.assertion(assertion, names);
    }
    checker.failures
}

impl Checker<'_> {
    fn assertion(&mut self, assertion: &Assertion, names: &[String]) {
        let outputs = self.outputs.iter().filter(|output| output.is_all || names.contains(&output.template));
        let outputs: Vec<&TestOutput> = outputs.collect();
        if let Expectation::Fails(wanted) = &assertion.check {
            let held = of_errors(wanted, assertion.negative, &outputs);
            return held.into_iter().for_each(|(template, verdict)| self.judge(assertion, template, None, &verdict));
        }
        if let Some(failed) = outputs.iter().find(|output| output.text.is_err()) {
            return self.cannot_render(failed);
        }
        if let Some(name) = names.iter().find(|name| !outputs.iter().any(|output| output.template == **name)) {
            return self.refuse(assertion, &format!("`{name}` is not among the templates that the suite renders"));
        }
        match &assertion.check {
            Expectation::EqualText(_)
            | Expectation::ContainsText { .. }
            | Expectation::MatchesText { .. }
            | Expectation::SnapshotText => {
                outputs.iter().for_each(|output| self.text(assertion, output));
            }
            _ => self.documents(assertion, &outputs),
        }
    }

    /// Adds the errors of a render, once for a test.
    fn cannot_render(&mut self, output: &TestOutput) {
        self.snapshots.keep(&self.test.snapshots);
        if std::mem::replace(&mut self.tells_errors, true) {
            return;
        }
        let errors = output.text.as_ref().err().map(Vec::as_slice).unwrap_or_default();
        let why = errors.first().map_or("", |error| error.message.as_str());
        let message = format!("test `{}` cannot render: {why}", self.test.name);
        let mut failure = self.failure(Code::TestFailed, self.test.span, message, Some(&output.template));
        failure.also = errors.to_vec();
        self.failures.push(failure);
    }

    fn text(&mut self, assertion: &Assertion, output: &TestOutput) {
        let Ok(text) = &output.text else { return };
        let template = Some(output.template.as_str());
        let verdict = match &assertion.check {
            Expectation::EqualText(expected) => match self.expected(expected) {
                Ok(expected) => equal_text(&expected, text),
                Err(error) => return self.failures.push(error),
            },
            Expectation::ContainsText { texts } => {
                // With `not`, none of the texts may be there.
                let found = |wanted: &&String| text.contains(wanted.as_str()) == assertion.negative;
                let missing = texts.iter().find(found);
                let shown = short(&Value::from(missing.unwrap_or(&String::new()).as_str()));
                let holds = missing.is_none() != assertion.negative;
                Verdict::new(holds, format!("a text with {shown}")).with_note("output", text)
            }
            Expectation::MatchesText { pattern } => {
                let is_match = pattern.is_match(text) || pattern.is_match(&plain(text));
                Verdict::new(is_match, format!("a text that matches `{pattern}`")).with_note("output", text)
            }
            _ => return self.snapshot(assertion, template, None, text, true),
        };
        self.judge(assertion, template, None, &verdict);
    }

    fn expected(&mut self, expected: &Expected) -> Result<String, Box<Diagnostic>> {
        match expected {
            Expected::Text(text) => Ok(text.clone()),
            Expected::File(file) => Ok(self.files.read_regular(&self.folder.join(&file.text))?.text().to_owned()),
        }
    }

    fn documents(&mut self, assertion: &Assertion, outputs: &[&TestOutput]) {
        if let Some(errors) = outputs.iter().find_map(|output| output.documents().as_ref().err()) {
            let message = format!("test `{}`: the output is not YAML", self.test.name);
            let mut failure = self.failure(Code::TestFailed, assertion.span, message, None);
            failure.also.clone_from(errors);
            failure.help =
                Some("use `equalRaw`, `containsRaw`, `matchRegexRaw` or `matchSnapshotRaw` for text".to_owned());
            return self.failures.push(failure);
        }
        let wanted = self.test.setup.documents.clone().or(assertion.documents.clone());
        // A selector of the test decides whether assertions without documents are left out.
        let skips = self.test.setup.documents.selector.as_ref().is_some_and(|selector| selector.skips_empty);
        let selected = select(&wanted, outputs);
        if skips && selected.as_ref().is_ok_and(Vec::is_empty) {
            return;
        }
        let has_some = |output: &TestOutput, selected: &[Selected<'_>]| {
            !skips || selected.iter().any(|one| std::ptr::eq(one.output, output))
        };
        if let Expectation::Documents { count, filtered: false } = &assertion.check {
            let counted = outputs.iter().filter(|output| selected.as_ref().map_or(true, |all| has_some(output, all)));
            for output in counted {
                let found = output.documents().as_ref().map_or(0, Vec::len);
                self.count(assertion, output, *count, found);
            }
            return;
        }
        let selected = match selected {
            Ok(selected) => selected,
            Err(why) => return self.refuse(assertion, &why),
        };
        match &assertion.check {
            Expectation::Documents { count, .. } => {
                for output in outputs {
                    let found = selected.iter().filter(|one| std::ptr::eq(one.output, *output)).count();
                    self.count(assertion, output, *count, found);
                }
            }
            Expectation::Document(head) if head.any || assertion.negative && !selected.is_empty() => {
                let fits = |one: &Selected<'_>| of_value(&assertion.check, one.document).iter().all(|v| v.holds);
                let found = if head.any { selected.iter().any(fits) } else { selected.iter().all(fits) };
                let verdict = Verdict::new(found, format!("a document {}", head.describe()));
                self.judge(assertion, None, None, &verdict);
            }
            Expectation::Snapshot { .. } if selected.is_empty() => {}
            _ if selected.is_empty() && !assertion.negative => self.refuse(assertion, "there is no document"),
            _ => selected.iter().for_each(|one| self.document(assertion, one)),
        }
    }

    fn count(&mut self, assertion: &Assertion, output: &TestOutput, wanted: usize, found: usize) {
        let verdict = Verdict::new(found == wanted, counted(wanted, "document")).found(found.to_string());
        self.judge(assertion, Some(&output.template), None, &verdict);
    }

    fn document(&mut self, assertion: &Assertion, one: &Selected<'_>) {
        let (template, at) = (Some(one.output.template.as_str()), Some(one.at));
        let Expectation::Snapshot { path, matches, lacks } = &assertion.check else {
            let verdicts = of_value(&assertion.check, one.document);
            return verdicts.iter().for_each(|verdict| self.judge(assertion, template, at, verdict));
        };
        let found = path.find(one.document);
        if found.is_empty() {
            let verdict = Verdict::new(false, "a value".to_owned()).at(path).found("nothing".to_owned());
            return self.judge(assertion, template, at, &verdict);
        }
        for value in &found {
            let text = document(value);
            if matches.is_none() && lacks.is_none() {
                self.snapshot(assertion, template, at, &text, false);
                continue;
            }
            // What other parts are may change from one render to the next.
            self.snapshots.pass(&self.test.snapshots, &text);
            for (pattern, wanted) in [(matches, true), (lacks, false)] {
                let Some(pattern) = pattern.as_ref().filter(|pattern| pattern.is_match(&text) != wanted) else {
                    continue;
                };
                let not = if wanted { "" } else { "not " };
                let verdict = Verdict::new(false, format!("a value that does {not}match `{pattern}`"));
                self.judge(assertion, template, at, &verdict.at(path).with_note("value", &text));
            }
        }
    }

    fn snapshot(
        &mut self,
        assertion: &Assertion,
        template: Option<&str>,
        at: Option<usize>,
        text: &str,
        is_text: bool,
    ) {
        match self.snapshots.compare(&self.test.snapshots, text, (is_text, assertion.negative)) {
            Compared::Same => {
                let verdict = Verdict::new(true, "the snapshot".to_owned());
                self.judge(assertion, template, at, &verdict);
            }
            Compared::Missing => {
                let message = format!("test `{}` has no snapshot to compare with", self.test.name);
                let failure = self.failure(Code::SnapshotMissing, assertion.span, message, template);
                self.failures.push(failure.with_help(self.update()));
            }
            Compared::Differs(stored) => {
                let verdict = Verdict::new(false, "the snapshot".to_owned()).with_difference(&stored, text);
                self.judge(assertion, template, at, &verdict);
                let help = format!("if the new output is right: {}", self.update());
                if let Some(failure) = self.failures.last_mut().filter(|_| !assertion.negative) {
                    failure.help = Some(help);
                }
            }
        }
    }

    /// Returns the command that writes snapshots.
    fn update(&self) -> String {
        format!("`dropforge test {} --update`", self.suite.source.path())
    }

    /// Adds a failure unless a verdict is as the assertion wants it.
    fn judge(&mut self, assertion: &Assertion, template: Option<&str>, at: Option<usize>, verdict: &Verdict) {
        if verdict.holds != assertion.negative && !verdict.is_unfit {
            return;
        }
        let message = format!("test `{}`: {}", self.test.name, verdict.sentence(assertion.name, assertion.negative));
        let mut failure = self.failure(Code::TestFailed, assertion.span, message, template);
        if let Some(at) = at {
            failure.notes.push(format!("document {at}"));
            failure = failure.with_field("document", at.to_string());
        }
        failure.notes.extend(verdict.notes.iter().cloned());
        for (key, value) in verdict.fields() {
            failure = failure.with_field(key, value);
        }
        self.failures.push(failure.with_field("assertion", assertion.name));
    }

    fn refuse(&mut self, assertion: &Assertion, why: &str) {
        let message = format!("test `{}`: `{}`: {why}", self.test.name, assertion.name);
        let failure = self.failure(Code::TestFailed, assertion.span, message, None);
        self.failures.push(failure.with_field("assertion", assertion.name));
    }

    fn failure(&self, code: Code, span: Span, message: String, template: Option<&str>) -> Box<Diagnostic> {
        let mut failure = Diagnostic::new(code, message).at(&self.suite.source, span, "");
        failure.template = template.filter(|name| !name.is_empty()).map(str::to_owned);
        failure.with_field("suite", self.suite.name.clone()).with_field("test", self.test.name.clone())
    }
}

/// Compares whole texts. Line ends do not count, nor do blanks before them and empty lines at the beginning.
fn equal_text(expected: &str, text: &str) -> Verdict {
    let (expected, text) = (expected.replace("\r\n", "\n"), text.replace("\r\n", "\n"));
    let verdict = Verdict::new(expected == text || expected == plain(&text), "the whole text".to_owned());
    if verdict.holds { verdict } else { verdict.with_difference(&expected, &text) }
}
