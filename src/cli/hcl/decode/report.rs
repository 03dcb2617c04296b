//! Diagnostics as the JSON document that drivers of the tool read.

use std::sync::Arc;

use super::json::{Doc, number, object, text};
use crate::diagnostics::{Diagnostic, Label, Severity};
use crate::dialect::hcl::syntax::lexer::lex_config;
use crate::dialect::hcl::syntax::position::{Place, Places};
use crate::text::{Source, Span};

/// What an argument of `--vars` is called that is JSON itself.
pub(super) fn argument_name(at: usize) -> String {
    format!("<vars argument {at}>")
}

/// Whether a source is such an argument.
pub(super) fn is_argument(name: &str) -> bool {
    name.starts_with("<vars argument ")
}

/// Places in sources; what is counted once is kept.
#[derive(Default)]
pub(super) struct Ranges {
    known: Vec<(Arc<Source>, Places)>,
}

impl Ranges {
    /// A place as `{"filename", "start", "end"}`.
    pub(super) fn range(&mut self, source: &Arc<Source>, span: Span) -> Doc {
        let at = self.known.iter().position(|(known, _)| Arc::ptr_eq(known, source)).unwrap_or_else(|| {
            self.known.push((source.clone(), places(source)));
            self.known.len() - 1
        });
        let ends = self.known.get(at).map(|(_, places)| places.of(span));
        let end = |place: Option<Place>| {
            let place = place.unwrap_or(Place { line: 1, column: 1, byte: 0 });
            object([("line", number(place.line)), ("column", number(place.column)), ("byte", number(place.byte))])
        };
        let (start, stop) = (ends.as_ref().map(|ends| ends.start), ends.as_ref().map(|ends| ends.end));
        object([("filename", text(source.name())), ("start", end(start)), ("end", end(stop))])
    }
}

fn places(source: &Source) -> Places {
    let name = source.name();
    match name.ends_with(".json") || is_argument(name) {
        true => Places::of_text(source.text()),
        false => Places::new(source.text().as_bytes(), &lex_config(source.text().as_bytes())),
    }
}

/// All diagnostics as one document.
pub(super) fn json(diagnostics: &[Box<Diagnostic>]) -> String {
    let mut ranges = Ranges::default();
    let mut one = |diagnostic: &Diagnostic| {
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        let mut fields = vec![("severity", text(severity)), ("summary", text(&diagnostic.message))];
        let detail = [diagnostic.detail.as_deref(), diagnostic.help.as_deref()];
        let detail: Vec<_> = detail.into_iter().flatten().collect();
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
