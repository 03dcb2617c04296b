//! What does not fit: a patch, or an object.

use std::sync::Arc;

use super::tree::At;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;

/// An error at a place of a patch.
#[derive(Debug)]
pub(super) struct Failure {
    pub at: At,
    message: String,
    note: Option<String>,
    help: Option<String>,
    wanted: Option<String>,
    available: Vec<String>,
    /// The operation that failed, with its path.
    operation: Option<String>,
}

impl Failure {
    pub fn new(at: At, message: impl Into<String>) -> Self {
        let (message, available) = (message.into(), Vec::new());
        Self { at, message, note: None, help: None, wanted: None, available, operation: None }
    }

    pub fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Adds the name that is not there.
    pub fn with_wanted(self, wanted: &str) -> Self {
        Self { wanted: Some(wanted.to_owned()), ..self }
    }

    /// Adds the names that are there.
    pub fn with_available<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        Self { available: names.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// Names the operation that failed, which is at a place of its own.
    pub fn of_operation(self, at: At, name: &str, path: &str) -> Self {
        let path = if path.is_empty() { "all" } else { path };
        // The value of an operation may have been copied from the document.
        let at = if self.at.patch == at.patch { self.at } else { at };
        Self { at, operation: Some(format!("{name} `{path}`")), ..self }
    }

    /// Returns the error of a patch that is written wrongly.
    pub fn in_patch(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let message = self.message.clone();
        self.error(source, message)
    }

    /// Returns the error of a patch that does not fit an object.
    pub fn of_object(self, source: &Arc<Source>, object: &str) -> Box<Diagnostic> {
        let what = match &self.operation {
            Some(operation) => format!("{operation} of"),
            None => "merge a patch into".to_owned(),
        };
        let message = format!("cannot {what} `{object}`: {}", self.message);
        self.error(source, message)
    }

    fn error(self, source: &Arc<Source>, message: String) -> Box<Diagnostic> {
        let mut error = Diagnostic::new(Code::UnfitPatch, message).at(source, self.at.span, "");
        if let Some(wanted) = &self.wanted {
            error = error.with_suggestion(wanted, self.available.iter().map(String::as_str));
        }
        if !self.available.is_empty() {
            error = error.with_available(&self.available);
        }
        error = self.note.into_iter().fold(error, Diagnostic::with_note);
        self.help.into_iter().fold(error, Diagnostic::with_help)
    }
}
