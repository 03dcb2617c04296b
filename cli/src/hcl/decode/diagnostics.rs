//! Diagnostics as JSON, in the format of `hcldec`.

use dropforge::diagnostics::{Diagnostic, Label, Severity};

use super::json::{Doc, object, text};
use super::ranges::Ranges;

/// Formats diagnostics as one document.
pub(crate) fn diagnostics_json(diagnostics: &[Box<Diagnostic>]) -> String {
    let mut ranges = Ranges::default();
    let mut one = |diagnostic: &Diagnostic| {
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        let mut fields = vec![("severity", text(severity)), ("summary", text(&diagnostic.message))];
        let detail = diagnostic.detail.iter().chain(&diagnostic.notes).chain(&diagnostic.help).cloned();
        let detail: Vec<_> = detail.collect();
        if !detail.is_empty() {
            fields.push(("detail", text(&detail.join(" "))));
        }
        if let Some(Label { source, span, .. }) = diagnostic.primary() {
            fields.push(("subject", ranges.range(source, *span)));
        }
        object(fields)
    };
    object([("diagnostics", Doc::List(diagnostics.iter().map(|diagnostic| one(diagnostic)).collect()))]).pretty()
}
