//! Places of errors in what was typed, rather than in the template that is compiled for it.

use dropforge::diagnostics::{Diagnostic, Label};
use dropforge::engine::Dialect;
use dropforge::text::{Source, Span};

use super::evaluate::{CHART_FILE, NAME};
use super::language::between;
use crate::exit::Failed;

/// A typed line within the template that is compiled for it.
pub(super) struct Placed<'t> {
    pub(super) language: Dialect,
    /// The lines before it that stay in force.
    pub(super) kept: &'t str,
    /// The start of the line in the template.
    pub(super) start: usize,
    pub(super) line: &'t str,
}

impl Placed<'_> {
    /// Moves errors to their places in the line, or in an earlier one that stays in force.
    pub(super) fn moved(&self, mut failed: Failed) -> Failed {
        failed.diagnostics.iter_mut().for_each(|error| self.move_error(error));
        failed
    }

    fn move_error(&self, error: &mut Diagnostic) {
        let is_typed = |label: &Label| label.source.name() == NAME || label.source.name().ends_with(CHART_FILE);
        if let Some(first) = error.labels.first().filter(|label| is_typed(label)) {
            let part = self.part(first.span);
            error.context = error.context.map(|context| within(context, part));
        }
        for label in error.labels.iter_mut().filter(|label| is_typed(label)) {
            let part = self.part(label.span);
            label.span = within(label.span, part);
            label.source = Source::new(NAME, part.1);
        }
        error.also.iter_mut().for_each(|other| self.move_error(other));
    }

    /// Returns the typed line that a span is in, and where it starts.
    fn part(&self, span: Span) -> (usize, &str) {
        let (at, end) = (span.start as usize, between(self.language));
        let Some((before, behind)) = self.kept.split_at_checked(at).filter(|(_, behind)| !behind.is_empty()) else {
            return (self.start, self.line);
        };
        let start = before.rfind(end).map_or(0, |found| found + end.len());
        let length = behind.find(end).map_or(self.kept.len(), |found| at + found) - start;
        (start, self.kept.get(start..start + length).unwrap_or(""))
    }
}

/// Returns a span within a part that starts there. What is around the part is at its edges.
fn within(span: Span, (start, text): (usize, &str)) -> Span {
    let [first, last] = [span.start, span.end].map(|at| (at as usize).saturating_sub(start).min(text.len()));
    Span::of(first..last)
}
