//! What does not fit: a patch, or an object.

use std::sync::Arc;

use super::tree::At;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;

/// An error at a place of a patch.
#[derive(Debug)]
pub(super) struct Failure {
    pub at: At,
    details: Box<Details>,
}

#[derive(Debug, Default)]
struct Details {
    message: String,
    note: Option<String>,
    help: Option<String>,
    /// The name that is not there, and those that are.
    wanted: Option<String>,
    available: Vec<String>,
    /// The operation that failed, with its path.
    operation: Option<String>,
}

impl Failure {
    pub fn new(at: At, message: impl Into<String>) -> Self {
        Self { at, details: Box::new(Details { message: message.into(), ..Details::default() }) }
    }

    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.details.note = Some(note.into());
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.details.help = Some(help.into());
        self
    }

    /// Adds the name that is not there.
    pub fn with_wanted(mut self, wanted: &str) -> Self {
        self.details.wanted = Some(wanted.to_owned());
        self
    }

    /// Adds the names that are there.
    pub fn with_available<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.details.available = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Names the operation that failed, which is at a place of its own.
    pub fn of_operation(mut self, at: At, name: &str, path: &str) -> Self {
        let path = if path.is_empty() { "all" } else { path };
        // The value of an operation may have been copied from the document.
        self.at = if self.at.patch == at.patch { self.at } else { at };
        self.details.operation = Some(format!("{name} `{path}`"));
        self
    }

    /// Returns the error of a patch that is written wrongly.
    pub fn in_patch(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let message = self.details.message.clone();
        self.error(source, message)
    }

    /// Returns the error of a patch that does not fit an object.
    pub fn of_object(self, source: &Arc<Source>, object: &str) -> Box<Diagnostic> {
        let what = match &self.details.operation {
            Some(operation) => format!("{operation} of"),
            None => "merge a patch into".to_owned(),
        };
        let message = format!("cannot {what} `{object}`: {}", self.details.message);
        self.error(source, message)
    }

    fn error(self, source: &Arc<Source>, message: String) -> Box<Diagnostic> {
        let Details { note, help, wanted, available, .. } = *self.details;
        let mut error = Diagnostic::new(Code::UnfitPatch, message).at(source, self.at.span, "");
        if let Some(wanted) = &wanted {
            error = error.with_suggestion(wanted, available.iter().map(String::as_str));
        }
        if !available.is_empty() {
            error = error.with_available(&available);
        }
        error = note.into_iter().fold(error, Diagnostic::with_note);
        help.into_iter().fold(error, Diagnostic::with_help)
    }
}
