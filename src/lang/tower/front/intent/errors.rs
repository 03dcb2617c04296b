//! The errors found while reading a file.

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// The errors found so far.
pub struct Errors<'s> {
    pub source: &'s Arc<Source>,
    pub list: Vec<Box<Diagnostic>>,
}

impl<'s> Errors<'s> {
    /// Creates an empty list for `source`.
    pub fn of(source: &'s Arc<Source>) -> Self {
        Self { source, list: Vec::new() }
    }

    /// Returns an error at `span`.
    pub fn error(&self, code: Code, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(code, message).at(self.source, span, "")
    }

    /// Adds an error in the structure of the intent.
    pub fn structure(&mut self, span: Span, message: impl Into<String>) {
        self.list.push(self.error(Code::IntentStructure, span, message));
    }

    /// Adds an error in the declaration of a parameter.
    pub fn declaration(&mut self, span: Span, message: impl Into<String>) {
        self.list.push(self.error(Code::ParameterDeclaration, span, message));
    }
}
