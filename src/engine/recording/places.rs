//! The place in a template that an instruction stands for.

use std::ops::Range;
use std::sync::Arc;

use super::Recording;
use super::event::Event;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{PieceKind, TextPiece};

impl Recording {
    /// Returns the source and the span of an event. For text, the span is that of the line with the byte `nth` of it.
    pub(super) fn place(&self, event: &Event, nth: usize) -> Option<(Arc<Source>, Span)> {
        let (program, word) = (self.program(event.unit)?, event.at);
        let place = program.whole_place(word)?;
        let source = program.source(place)?;
        let Some((text, is_behind)) = program.text_written(word).filter(|(text, _)| nth < text.len()) else {
            return Some((source.clone(), place.span));
        };
        // The text of a specialised program may come from several places.
        let whole = TextPiece { start: 0, end: None, place, kind: PieceKind::of(is_behind) };
        let piece = program.text_piece(word, nth).unwrap_or(whole);
        let text = text.get(piece.start..piece.end.unwrap_or(text.len()))?;
        let span = piece.place.span;
        let line = |is_behind| line_of(text, nth - piece.start, source.text(), span, is_behind).unwrap_or(span);
        let span = match piece.kind {
            PieceKind::Text => line(true),
            PieceKind::Before => line(false),
            PieceKind::Value => span,
        };
        Some((source.clone(), span))
    }

    /// Returns `true` if byte `nth` of what an event wrote is text of the template.
    pub(super) fn is_text(&self, event: &Event, nth: usize) -> bool {
        let Some(program) = self.program(event.unit) else { return false };
        let piece = || program.text_piece(event.at, nth);
        program.text_written(event.at).is_some_and(|(text, _)| nth < text.len())
            && piece().is_none_or(|piece| piece.kind != PieceKind::Value)
    }
}

/// Returns the span in `source` of the line of `text` with the byte at `at`, without white space around it. The text begins
/// at `place`, or stands before it. Comments may divide it there.
fn line_of(text: &str, at: usize, source: &str, place: Span, is_behind: bool) -> Option<Span> {
    let line = line_at(text, at);
    let part = text.get(line.clone()).filter(|part| !part.is_empty())?;
    let start = place.start as usize;
    let find = |part: &str| match is_behind {
        true => source.get(start..)?.find(part).map(|found| start + found),
        false => source.get(..start)?.rfind(part),
    };
    let found = find(text).map(|found| found + line.start).or_else(|| find(part))?;
    Some(Span::of(found..found + part.len()))
}

/// Returns the line of `text` with the byte at `at`, without white space around it. If there is nothing else in the line,
/// returns the nearest one before it that has more.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let end = memchr::memchr(b'\n', text.as_bytes().get(at..).unwrap_or(&[])).map_or(text.len(), |end| at + end);
    let before = text.get(..end).unwrap_or(text).trim_end();
    let line = before.rsplit('\n').next().unwrap_or("").trim_start();
    before.len() - line.len()..before.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_text_are_found_beside_their_place() {
        let source = "a\nb {{ x }}\n  b {# no #}c\nb";
        let slice = |text: &str, at, place: (u32, u32), is_behind| {
            let span = line_of(text, at, source, Span::new(place.0, place.1), is_behind)?;
            Some((span.start, &source[span.range()]))
        };
        assert_eq!(slice("a\nb ", 3, (7, 8), false), Some((2, "b")));
        assert_eq!(slice("\n  b c\nb", 4, (11, 15), true), None);
        assert_eq!(slice("\n  b c\nb", 7, (11, 15), true), Some((14, "b")));
        assert_eq!(slice("\nb", 0, (24, 26), true), None);
        assert_eq!(slice("x\n\n", 2, (0, 1), true), Some((7, "x")));
    }
}
