//! Errors of bodies and their locations. The summaries are the reference's.

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// An error of the structure of a body.
pub fn structure(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputStructure, summary).with_detail(detail)
}

/// An error of the type of a value.
pub fn mistyped(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputType, summary).with_detail(detail)
}

pub fn missing_argument(name: &str, location: Option<Location<'_>>) -> Box<Diagnostic> {
    locate(location, structure("Missing required argument", format!("The argument `{name}` is required, but not set.")))
}

pub fn duplicate_argument(name: &str, before: Location<'_>, location: Location<'_>) -> Box<Diagnostic> {
    let detail = format!("The argument `{name}` is already set at {}.", before.position());
    location.label(Diagnostic::new(Code::DuplicateDefinition, "Duplicate argument").with_detail(detail))
}

/// A block with too many or too few labels.
pub fn label_count(
    summary: String,
    name: &str,
    labels: &[String],
    location: Location<'_>,
    header: Span,
) -> Box<Diagnostic> {
    let detail = match labels {
        [] => format!("Blocks of type `{name}` have no labels."),
        [label] => format!("Blocks of type `{name}` have one label ({label})."),
        _ => format!("Blocks of type `{name}` have {} labels ({}).", labels.len(), labels.join(", ")),
    };
    location.label(structure(summary, detail)).with_context(header)
}

/// Collected diagnostics.
pub type DiagnosticList = Vec<Box<Diagnostic>>;

/// A span of a source.
#[derive(Debug, Clone, Copy)]
pub struct Location<'r> {
    /// The source.
    pub source: &'r Arc<Source>,
    /// The span in the source.
    pub span: Span,
}

impl Location<'_> {
    /// Labels a diagnostic with this location.
    pub fn label(self, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
        diagnostic.at(self.source, self.span, "")
    }

    /// Formats the start as `file:line:column`.
    pub fn position(&self) -> String {
        format!("{}:{}", self.source.path(), self.source.position(self.span.start))
    }
}

/// Labels a diagnostic with a location, if there is one.
pub fn locate(location: Option<Location<'_>>, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
    match location {
        Some(location) => location.label(diagnostic),
        None => diagnostic,
    }
}
