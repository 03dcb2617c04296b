//! Locations of diagnostics.

use std::sync::Arc;

use crate::diagnostics::Diagnostic;
use crate::text::{Source, Span};

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
    pub(in crate::dialect::hcl) fn position(&self) -> String {
        format!("{}:{}", self.source.name(), self.source.position(self.span.start))
    }
}

/// Labels a diagnostic with a location, if there is one.
pub fn locate(location: Option<Location<'_>>, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
    match location {
        Some(location) => location.label(diagnostic),
        None => diagnostic,
    }
}
