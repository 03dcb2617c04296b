//! The place in a template that wrote a part of its output.

use std::ops::Range;
use std::sync::Arc;

use crate::bytecode::{CodeView, Op, PieceKind, Program, TextPiece};
use crate::text::{Source, Span};
use crate::vm::{Heights, Hooks};

/// Records during a render which instruction wrote each part of the output.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The start of each part and the word of its instruction.
    parts: Vec<(usize, u32)>,
    /// The word of the instruction that runs.
    running: u32,
    len: usize,
}

impl Hooks for Written {
    fn step<'p>(&mut self, at: usize, _: Op, state: impl FnOnce() -> (CodeView<'p>, Heights)) {
        self.end(state().1.output);
        self.running = u32::try_from(at).unwrap_or(u32::MAX);
    }
}

impl Written {
    /// Takes note of the length of the output after an instruction.
    pub fn end(&mut self, len: usize) {
        // Captured text is taken back, and written elsewhere.
        while self.parts.pop_if(|(start, _)| *start >= len).is_some() {}
        if len > self.len {
            self.parts.push((self.len, self.running));
        }
        self.len = len;
    }

    /// Returns the source and the span that wrote the byte at `at` of the output.
    pub fn place<'p>(&self, program: &'p Program, at: usize) -> Option<(&'p Arc<Source>, Span)> {
        let part = self.parts.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
        let &(start, word) = self.parts.get(part)?;
        let place = program.place(word)?;
        let source = program.source(place)?;
        let Some((text, is_behind)) = text_of(program, word).filter(|(text, _)| at < start + text.len()) else {
            return Some((source, place.span));
        };
        // The text of a specialised program may come from several places.
        let (nth, whole) = (at - start, TextPiece { start: 0, end: None, place, kind: PieceKind::of(is_behind) });
        let piece = program.text_piece(word, nth).unwrap_or(whole);
        let text = text.get(piece.start..piece.end.unwrap_or(text.len()))?;
        let span = piece.place.span;
        let line = |is_behind| line_of(text, nth - piece.start, source.text(), span, is_behind).unwrap_or(span);
        Some((
            source,
            match piece.kind {
                PieceKind::Text => line(true),
                PieceKind::Before => line(false),
                PieceKind::Value => span,
            },
        ))
    }
}

/// Returns the string that an instruction writes, and `true` if its span is that of the string, `false` if it is that of a
/// value written after the string.
fn text_of(program: &Program, word: u32) -> Option<(&str, bool)> {
    let code = program.words().get(word as usize..)?;
    match (Op::of(*code.first()?), code) {
        (Op::Text, [text, ..]) => Some((program.str(text >> 8), true)),
        (Op::TextPath, [_, _, text, ..]) => Some((program.str(*text), false)),
        _ => None,
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
