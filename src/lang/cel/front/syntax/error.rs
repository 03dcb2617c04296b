//! Syntax errors before they become diagnostics.

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The code.
    pub code: Code,
    /// The position.
    pub span: Span,
    /// The message.
    pub message: String,
    /// The help line.
    pub help: Option<String>,
}

impl SyntaxError {
    /// Makes an error at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), help: None }
    }

    /// Makes the error of nesting beyond a limit.
    pub fn too_deep(span: Span, limit: usize) -> Self {
        let message = format!("the expression nests too deep: the limit is {limit} levels");
        Self::new(Code::LimitDepth, span, message)
    }

    /// Adds a help line.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Converts to a diagnostic.
    pub fn into_diagnostic(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let diagnostic = Diagnostic::new(self.code, self.message).at(source, self.span, "");
        match self.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}
