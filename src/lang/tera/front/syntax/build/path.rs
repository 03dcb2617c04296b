//! The steps of a path: `a.b[0]["k"][other.path]`. The lexer has checked the text, so splitting it cannot fail. Nested
//! brackets recurse no deeper than the lexer allowed.

use bumpalo::Bump;

use crate::syntax::lexer::word_end;
use crate::syntax::tree::{Name, Path, Segment};
use dropforge_base::text::Span;

/// A cursor in the text of one path.
pub(super) struct Cutter<'a, 's> {
    pub(super) arena: &'a Bump,
    pub(super) text: &'a str,
    /// The offset of the text in its source.
    pub(super) base: u32,
    pub(super) at: usize,
    /// The steps of the open paths, inner ones above outer ones.
    pub(super) segments: &'s mut Vec<Segment<'a>>,
}

impl<'a> Cutter<'a, '_> {
    pub(super) fn path(&mut self) -> &'a Path<'a> {
        let start = self.at;
        let root = self.word();
        let first = self.segments.len();
        loop {
            match self.peek() {
                Some(b'.') => {
                    self.at += 1;
                    let name = self.word();
                    self.segments.push(Segment::Key(name));
                }
                Some(b'[') => {
                    self.at += 1;
                    let step = self.bracket();
                    self.segments.push(step);
                    self.at += 1;
                }
                _ => break,
            }
        }
        let span = self.span(start, self.at);
        let text = self.text.get(start..self.at).unwrap_or("");
        let segments = self.arena.alloc_slice_copy(self.segments.get(first..).unwrap_or(&[]));
        self.segments.truncate(first);
        self.arena.alloc(Path { text, root, segments, span })
    }

    fn bracket(&mut self) -> Segment<'a> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                self.at += 1;
                let name = self.take(|byte| byte != quote);
                self.at += 1;
                Segment::Key(name)
            }
            Some(b'-') => Segment::Negative(self.take(|byte| byte.is_ascii_digit() || byte == b'-')),
            Some(b'0'..=b'9') => Segment::Key(self.take(|byte| byte.is_ascii_digit())),
            _ => Segment::Lookup(self.path()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn word(&mut self) -> Name<'a> {
        self.name(word_end(self.text.as_bytes(), self.at))
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> Name<'a> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        self.name(self.at + rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len()))
    }

    fn name(&mut self, end: usize) -> Name<'a> {
        let start = std::mem::replace(&mut self.at, end);
        Name { text: self.text.get(start..end).unwrap_or(""), span: self.span(start, end) }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let span = Span::of(start..end);
        Span::new(self.base + span.start, self.base + span.end)
    }
}
