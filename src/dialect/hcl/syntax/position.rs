//! Places as the reference counts them: line, column in grapheme clusters, byte.

use std::ops::Range;

use super::token::Token;
use crate::stdlib::clusters::clusters;
use crate::text::Span;

/// A place of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in grapheme clusters, from 1.
    pub column: u32,
    /// Offset in bytes, from 0.
    pub byte: u32,
}

/// The lines of a source and its clusters of several bytes, so that a place is found by binary search.
///
/// Clusters are counted in each token for itself, as the reference does: a combining mark that begins a token is a
/// column of its own.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{lexer::lex_config, position::Places};
/// let text = "a = \"é\"\nb = 1";
/// let places = Places::new(text.as_bytes(), &lex_config(text.as_bytes()));
/// let place = places.at(7);
/// assert_eq!((place.line, place.column), (1, 7));
/// assert_eq!(places.at(13).line, 2);
/// ```
#[derive(Debug, Clone)]
pub struct Places {
    /// Where each line begins.
    lines: Vec<u32>,
    /// Each cluster whose bytes are not as many as its columns: its end, and how many bytes more than columns there
    /// are up to there.
    wide: Vec<(u32, i64)>,
}

impl Places {
    /// The places of a source that was cut into `tokens`.
    pub fn new(text: &[u8], tokens: &[Token]) -> Self {
        let mut places = Self::of_lines(text);
        // What stands before the first token and is no blank is a byte order mark, which has no column.
        if text.starts_with(b"\xEF\xBB\xBF") && tokens.first().is_some_and(|token| token.span.start >= 3) {
            places.wide.push((3, 3));
        }
        for token in tokens {
            places.count(text, token.span);
        }
        places
    }

    /// The places of a text that is not cut into tokens.
    pub fn of_text(text: &str) -> Self {
        let mut places = Self::of_lines(text.as_bytes());
        places.count(text.as_bytes(), Span::of(0..text.len()));
        places
    }

    /// The lines of a text, with each byte a column.
    pub(in crate::dialect::hcl) fn of_lines(text: &[u8]) -> Self {
        let behind = memchr::memchr_iter(b'\n', text).map(|at| Span::of(0..at + 1).end);
        Self { lines: std::iter::once(0).chain(behind).collect(), wide: Vec::new() }
    }

    /// Counts the wide clusters at `span`, behind what was counted before.
    pub(in crate::dialect::hcl) fn count(&mut self, text: &[u8], span: Span) {
        let bytes = text.get(span.range()).unwrap_or(&[]);
        if bytes.is_ascii() {
            return;
        }
        let mut at = span.start;
        for chunk in bytes.utf8_chunks() {
            for cluster in clusters(chunk.valid()) {
                let len = Span::of(0..cluster.len()).end;
                at += len;
                if len > 1 && !cluster.ends_with('\n') {
                    self.widen(at, i64::from(len) - 1);
                }
            }
            at += Span::of(0..chunk.invalid().len()).end;
        }
    }

    /// Counts the tabs at `span`, which are two columns, and the carriage returns, which are none.
    pub(in crate::dialect::hcl) fn count_blanks(&mut self, text: &[u8], span: Span) {
        let blanks = text.get(span.range()).unwrap_or(&[]);
        for at in memchr::memchr2_iter(b'\t', b'\r', blanks) {
            let more = if blanks.get(at) == Some(&b'\t') { -1 } else { 1 };
            self.widen(span.start + Span::of(0..at + 1).end, more);
        }
    }

    /// Up to `end` there are `more` further bytes that are no columns.
    fn widen(&mut self, end: u32, more: i64) {
        let before = self.wide.last().map_or(0, |wide| wide.1);
        self.wide.push((end, before + more));
    }

    /// The place of a byte.
    pub fn at(&self, byte: u32) -> Place {
        let line = self.lines.partition_point(|&start| start <= byte);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let columns = i64::from(byte - start) - self.more_bytes(byte) + self.more_bytes(start);
        Place { line: Span::of(0..line).end, column: u32::try_from(columns).unwrap_or(0).saturating_add(1), byte }
    }

    /// The places of a span's two ends.
    pub fn of(&self, span: Span) -> Range<Place> {
        self.at(span.start)..self.at(span.end)
    }

    /// How many bytes more than columns there are before `byte`.
    fn more_bytes(&self, byte: u32) -> i64 {
        let behind = self.wide.partition_point(|wide| wide.0 <= byte);
        behind.checked_sub(1).and_then(|at| self.wide.get(at)).map_or(0, |wide| wide.1)
    }
}

impl Span {
    /// Whether there is nothing between its ends.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The smallest span that covers both; an empty one counts for nothing.
    pub fn over(self, other: Span) -> Span {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => self.to(other),
        }
    }

    /// What both have in common; where that is nothing, the empty span at this one's beginning.
    pub fn overlap(self, other: Span) -> Span {
        let common = Span::new(self.start.max(other.start), self.end.min(other.end));
        if common.start < common.end { common } else { Span::new(self.start, self.start) }
    }

    /// This span in three: before what it has in common with `other`, that, and behind it. Where they have nothing
    /// in common, three times the empty span at this one's beginning.
    pub fn partition_around(self, other: Span) -> [Span; 3] {
        let common = self.overlap(other);
        if common.is_empty() {
            return [common; 3];
        }
        [Span::new(self.start, common.start), common, Span::new(common.end, self.end)]
    }
}
