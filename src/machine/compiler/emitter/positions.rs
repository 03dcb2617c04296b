//! Source positions of code.

use std::sync::Arc;

use super::state::Emitter;
use crate::bytecode::{COMPARISON, Region, Spanned, TextPiece, inline_row, piece_part};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};

impl Emitter<'_> {
    /// Sets the position of the next instructions.
    #[inline]
    pub fn at(&mut self, source: &Arc<Source>, span: Span) {
        self.place = Spanned { source: self.tables.source(source, self.place.source), span };
    }

    /// Returns the span of the next instructions.
    pub fn place(&self) -> Span {
        self.place.span
    }

    /// Records the spans of the operands or arguments of the latest instruction, in order.
    pub fn details(&mut self, parts: impl IntoIterator<Item = Span>) {
        let Some(at) = self.last.filter(|_| self.pending.constants.is_empty()) else { return };
        let details = &mut self.tables.parts.details;
        if details.last().is_none_or(|row| row[0] < at) {
            details.extend((0..).zip(parts).map(|(part, span)| [at, part, span.start, span.end]));
        }
    }

    /// Records the place of the comparison that the latest instruction makes of what it reads.
    pub(super) fn compares(&mut self, place: Spanned) {
        let Some(at) = self.last.filter(|_| place.source == self.place.source) else { return };
        self.tables.parts.details.push([at, COMPARISON, place.span.start, place.span.end]);
    }

    /// Records the places of the pieces of the text that the latest instruction writes.
    pub(super) fn pieces(&mut self, pieces: &[TextPiece]) {
        let (Some(at), details) = (self.last, &mut self.tables.parts.details) else { return };
        let own = details.len();
        let same = pieces.iter().filter(|piece| piece.place.source == self.place.source);
        let span = |piece: &TextPiece| piece.place.span;
        details.extend(same.map(|piece| [at, piece_part(piece.kind, piece.start), span(piece).start, span(piece).end]));
        details.get_mut(own..).unwrap_or_default().small_sort_by_key(|row| row[1]);
    }

    /// Begins code that is inlined for a call at the current position.
    pub fn begin_inline(&mut self) -> (u32, Spanned) {
        (self.begin_region(), self.place)
    }

    /// Ends inlined code.
    pub fn end_inline(&mut self, (from, place): (u32, Spanned)) {
        self.fence();
        let to = self.here();
        if from < to {
            self.tables.parts.inlined.push(inline_row(from, to, place));
        }
    }

    /// Begins code that builds a part of a value or sees a name.
    pub fn begin_region(&mut self) -> u32 {
        self.fence();
        self.here()
    }

    /// Ends code that builds the value of `step`.
    pub fn end_step(&mut self, from: u32, step: &str) {
        let name = self.tables.string(step);
        self.end_region(from, Region::Step(name));
    }

    /// Ends code that builds the next gathered element.
    pub fn end_element(&mut self, from: u32) {
        self.end_region(from, Region::Element(self.frame.captures.saturating_sub(1)));
    }

    /// Ends code that sees `name` for the value in `slot`.
    pub fn end_name(&mut self, from: u32, name: &str, slot: u32) {
        let name = self.tables.string(name);
        self.end_region(from, Region::Name(name, slot));
    }

    fn end_region(&mut self, from: u32, region: Region) {
        self.fence();
        let to = self.here();
        if from < to {
            self.tables.parts.regions.push(region.row(from, to));
        }
    }
}
