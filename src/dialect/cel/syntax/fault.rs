//! What is wrong with an expression, before it is a diagnostic.

use std::sync::Arc;

use super::tree::DEPTH;
use crate::diagnostics::{Code, Diagnostic};
use crate::text::{Source, Span};

/// An error of the syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Its code.
    pub code: Code,
    /// Where it is.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Fault {
    /// An error at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), help: None }
    }

    /// What nests deeper than [`DEPTH`].
    pub fn too_deep(span: Span) -> Self {
        let message = format!("the expression nests too deep: the limit is {DEPTH} levels");
        Self::new(Code::LimitDepth, span, message)
    }

    /// The same with what to do about it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error for a person.
    pub fn into_diagnostic(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let diagnostic = Diagnostic::new(self.code, self.message).at(source, self.span, "");
        match self.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}
