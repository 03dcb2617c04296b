//! Errors of a source before its file is known. A [`SyntaxError`] becomes a [`Diagnostic`] when the parser reports it.

use std::sync::Arc;

use crate::hints;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// An error in one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub code: Code,
    pub span: Span,
    pub message: String,
    /// The likely fix; may be empty.
    pub help: String,
    /// Another span that explains the error, and its label.
    pub related: Option<(Span, String)>,
}

impl SyntaxError {
    /// Returns an error of `code` at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Box::new(Self { code, span, message: message.into(), help: help.into(), related: None })
    }

    /// Returns the error of an unexpected token.
    pub fn unexpected(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::UnexpectedToken, span, message, help)
    }

    /// Returns the error of a file that ends inside a construct.
    pub fn unterminated(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::Unterminated, span, message, help)
    }

    /// Returns the error of a character that starts no token.
    pub fn character(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::UnknownCharacter, span, message, help)
    }

    /// Returns the error of a misplaced tag.
    pub fn misplaced(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::MisplacedTag, span, message, help)
    }

    /// Returns the error of excessive nesting. Nothing after `span` is read.
    pub fn too_deep(span: Span) -> Box<Self> {
        Self::new(Code::LimitDepth, span, "", "")
    }

    /// Adds a label at `span`.
    pub fn related(mut self: Box<Self>, span: Span, text: impl Into<String>) -> Box<Self> {
        self.related = Some((span, text.into()));
        self
    }

    /// Converts the error to a diagnostic.
    pub fn into_diagnostic(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let mut diagnostic = Diagnostic::new(self.code, self.message).at(source, self.span, "");
        if let Some((span, text)) = self.related {
            diagnostic = diagnostic.at(source, span, text);
        }
        let help = hints::syntax(source.text(), self.span.range().start).unwrap_or(self.help);
        if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }
    }
}
