//! The state of a render thread: inputs, checks of YAML text under the limits of the render or request that it belongs
//! to, and errors of renders.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::error::{CatalogError, Result};
use crate::review::{Finding, MAX_MESSAGE, PARAMETERS_ONLY, shortened};
use crate::validation;
use dropforge::diagnostics::{Code, Diagnostic, caught, panicked};
use dropforge::engine::{OutputCheck, OutputSyntax};
use dropforge::limits::{Deadline, Limits};
use dropforge::text::Source;
use dropforge::value::{InputSpace, Inputs, Scanner, yaml};
use dropforge::vm::Session;

/// Maximum number of errors or warnings about one text.
const MAX_DIAGNOSTICS: usize = 20;

/// State that a thread reuses between jobs, and the deadline of the current one.
pub struct Scratch {
    pub(super) session: Session,
    /// The memory of parameters. `None` while it is in use.
    inputs: Option<InputSpace>,
    pub(super) check: OutputCheck,
    scanner: Scanner,
    /// Maximum bytes of a check.
    pub(super) memory: u64,
    deadline: Option<Arc<Deadline>>,
    /// `true` if the job waited for more than half of its time.
    waited: bool,
}

impl Scratch {
    /// Creates an empty state.
    pub(super) fn new(memory: u64) -> Self {
        let (session, inputs, check, scanner) = Default::default();
        Self { session, inputs, check, scanner, memory, deadline: None, waited: false }
    }

    /// Runs a job that has `time` in all, waiting included, and has to end at its deadline.
    pub(super) fn within<R>(&mut self, deadline: Arc<Deadline>, time: Duration, job: impl FnOnce(&mut Self) -> R) -> R {
        self.waited = deadline.remaining() < time / 2;
        self.session.set_deadline(Some(deadline.clone()));
        self.deadline = Some(deadline);
        let done = job(self);
        self.session.set_deadline(None);
        self.deadline = None;
        done
    }

    /// Renders. A panic is an error of the render: what it left half done is dropped, and the thread goes on.
    ///
    /// # Errors
    /// Those of the render; `template_render_failed` for a panic.
    pub(super) fn guarded<R>(&mut self, render: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        caught(|| render(self)).unwrap_or_else(|_| {
            let deadline = self.deadline.take();
            *self = Self { deadline: deadline.clone(), waited: self.waited, ..Self::new(self.memory) };
            self.session.set_deadline(deadline);
            Err(failed(panicked("rendering")))
        })
    }

    /// Reads the inputs of a render in the memory that the thread keeps for them.
    pub(super) fn with_inputs<R>(
        &mut self,
        parameters: &str,
        render: impl FnOnce(&mut Self, Inputs<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut space = self.inputs.take().unwrap_or_default();
        let result = space.with(|builder| {
            let inputs = builder.json(builder.arena().copy_str(parameters)).map_err(failed)?;
            render(self, Inputs::new(inputs))
        });
        self.inputs = Some(space);
        result
    }

    /// Returns `true` if the job is out of time because it had to wait. A job that had all the time has itself to blame.
    pub(super) fn is_late(&self) -> bool {
        self.waited && self.deadline.as_ref().is_some_and(|deadline| deadline.is_over())
    }

    /// The limits of checking a text: the remaining time, and `memory`.
    pub(super) fn limits(&self, memory: u64) -> Limits {
        let time = self.deadline.as_ref().map(|deadline| deadline.remaining());
        Limits { source_bytes: usize::MAX, time, memory, diagnostics: MAX_DIAGNOSTICS, ..Limits::default() }
    }
}

/// Name of checked texts in diagnostics.
const NAME: &str = "output";
/// Code of warnings about text that is not YAML.
const NOT_YAML: &str = "output.not_yaml";

impl Scratch {
    /// The errors of the text of the last render, which has as much memory left as the check may use.
    pub(super) fn output_errors(&mut self, text: &str) -> Vec<Box<Diagnostic>> {
        let limits = self.limits(self.session.memory_left());
        self.check.errors_within(&limits, OutputSyntax::Yaml, NAME, text)
    }

    /// Warnings about the text of the last render.
    pub(super) fn output_warnings(&mut self, text: &str) -> Vec<Finding> {
        self.output_errors(text).iter().map(|error| Finding::from_diagnostic(error, NOT_YAML)).collect()
    }

    /// Requires YAML with at least one document.
    ///
    /// # Errors
    /// `invalid_deployment_object`.
    pub(crate) fn require_yaml(&mut self, text: &str) -> Result<()> {
        validation::yaml(text)?;
        if has_content(text) && self.scanner.is_yaml(text) {
            return Ok(());
        }
        let invalid = |message: &str| CatalogError::invalid("invalid_deployment_object", message);
        match count_documents(text, &self.limits(self.memory)) {
            Ok(0) => Err(invalid("YAML content has no documents")),
            Ok(_) => Ok(()),
            Err(findings) => {
                let first = findings.first().map_or("", |first| first.message.as_str());
                Err(invalid(&format!("invalid YAML: {first}")).with_details(json!({ "findings": findings })))
            }
        }
    }
}

/// Returns `true` if a line has more than a comment.
fn has_content(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Counts the non-empty documents of a text, or returns its errors.
fn count_documents(text: &str, limits: &Limits) -> Result<usize, Vec<Finding>> {
    match yaml::read_with(&Source::new(NAME, text), limits, yaml::Tags::Kept) {
        Ok(documents) => Ok(documents.len()),
        Err(errors) => Err(errors.iter().map(|error| Finding::from_diagnostic(error, NOT_YAML)).collect()),
    }
}

/// Formats an error in one line with its position.
pub(super) fn error_line(error: &Diagnostic) -> String {
    let place = error.position().map_or_else(String::new, |at| format!(" (line {}, column {})", at.line, at.column));
    format!("{}{place}", shortened(&error.message, MAX_MESSAGE))
}

/// Writes an error as JSON. Long texts, such as those that a template throws, are shortened.
pub(super) fn error_json(error: &Diagnostic) -> Json {
    let mut json = error.to_json();
    shorten_texts(&mut json);
    json
}

fn shorten_texts(json: &mut Json) {
    match json {
        Json::String(text) if text.len() > MAX_MESSAGE => *text = shortened(text, MAX_MESSAGE),
        Json::Array(items) => items.iter_mut().for_each(shorten_texts),
        Json::Object(map) => map.values_mut().for_each(shorten_texts),
        _ => {}
    }
}

/// The error of a render.
pub(super) fn failed(mut error: Box<Diagnostic>) -> CatalogError {
    // Users of a catalog cannot change capabilities or limits.
    error.help = match error.code {
        Code::CapabilityOff => Some(PARAMETERS_ONLY.to_owned()),
        code if code.is_limit() => None,
        _ => error.help,
    };
    CatalogError::invalid("template_render_failed", format!("Template rendering failed: {}", error_line(&error)))
        .with_details(json!({ "diagnostics": [error_json(&error)] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<String> {
        Scratch::new(64 << 20).require_yaml(text).err().map(|error| format!("{}: {}", error.code, error.message))
    }

    #[test]
    fn the_quick_check_and_the_full_one_agree() {
        for good in ["a: 1", "---", "# c\na: 1", "? complex\n: key", "a: !Sub x", "--- # c\n...\n", "%YAML 1.2\n---\na"]
        {
            assert_eq!(code(good), None, "{good}");
            assert!(count_documents(good, &Limits::default()).is_ok_and(|count| count > 0), "{good}");
        }
        for none in ["# only a comment", "\n# a\n  # b\n"] {
            assert_eq!(code(none).as_deref(), Some("invalid_deployment_object: YAML content has no documents"));
        }
        assert!(code("a: [").is_some_and(|error| error.contains("invalid YAML: ")));
    }

    #[test]
    fn a_text_full_of_errors_has_few_and_short_ones() {
        let text = format!("? {}\n: 1\n", "k".repeat(50_000)).repeat(40);
        let error = Scratch::new(64 << 20).require_yaml(&text).unwrap_err();
        let body = serde_json::to_string(&error).unwrap();
        assert!(body.len() < 20_000, "{} bytes", body.len());
        assert_eq!(error.details.unwrap()["findings"].as_array().unwrap().len(), MAX_DIAGNOSTICS);
    }

    #[test]
    fn a_text_that_needs_too_much_memory_is_refused() {
        // Outside of what the scanner takes. A node takes much more memory than its two bytes of text.
        let text = format!("? x\n: [{}]\n", "1,".repeat(2 << 20));
        let error = code(&text).unwrap();
        assert!(error.contains("needs too much memory"), "{error}");
    }
}
