//! Findings about templates and rendered text.

use serde::Serialize;

use dropforge::diagnostics::{Diagnostic, LOOKED_UP};
use dropforge::text::Position;

/// Maximum characters of a message, and of a name. Both may quote what they are about.
pub(crate) const MAX_MESSAGE: usize = 1000;
const MAX_NAME: usize = 200;

/// Shortens a text to `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A warning about a template or rendered text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Finding {
    /// Machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// Line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The name that nothing gives or reads, or that is not declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    /// The memory that it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let optional = self.name.iter().chain(&self.help).map(String::len).sum::<usize>();
        size_of::<Self>() + self.code.len() + self.message.len() + optional
    }

    /// A finding without a position.
    pub(super) fn new(code: &str, name: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, line: None, column: None, name: Some(name.to_owned()), help: None }
    }

    /// Adds a position.
    pub(super) fn at(self, at: Option<Position>) -> Self {
        Self { line: at.map(|at| at.line), column: at.map(|at| at.column), ..self }
    }

    /// Adds a suggested fix.
    pub(super) fn with_help(self, help: String) -> Self {
        Self { help: Some(help), ..self }
    }

    /// Converts a diagnostic.
    pub(crate) fn from_diagnostic(diagnostic: &Diagnostic, code: &str) -> Self {
        let at = diagnostic.position();
        Self {
            code: code.to_owned(),
            message: shortened(&diagnostic.message, MAX_MESSAGE),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            name: diagnostic.fields.get(LOOKED_UP).map(|name| shortened(name, MAX_NAME)),
            help: diagnostic.help.clone(),
        }
    }
}

/// The result of a review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Review {
    /// Parameters that the template may read, sorted.
    pub inputs: Vec<String>,
    /// Findings.
    pub findings: Vec<Finding>,
}
