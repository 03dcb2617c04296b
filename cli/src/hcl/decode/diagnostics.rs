//! Diagnostics as JSON, in the format of `hcldec`.

use dropforge::diagnostics::{Diagnostic, Label, parts};

use super::document::{Doc, object, text};
use super::ranges::{Ranges, range};

/// Formats diagnostics as one document.
pub(crate) fn diagnostics_json(diagnostics: &[Box<Diagnostic>]) -> String {
    let mut ranges = Ranges::new();
    let mut one = |diagnostic: &Diagnostic| {
        let mut fields = vec![("severity", text(diagnostic.severity.name())), ("summary", text(&diagnostic.message))];
        let detail = diagnostic.written(parts::HCLDEC, " ");
        if !detail.is_empty() {
            fields.push(("detail", text(&detail)));
        }
        if let Some(Label { source, span, .. }) = diagnostic.primary() {
            fields.push(("subject", range(&mut ranges, source, *span)));
        }
        object(fields)
    };
    object([("diagnostics", Doc::List(diagnostics.iter().map(|diagnostic| one(diagnostic)).collect()))]).pretty()
}
