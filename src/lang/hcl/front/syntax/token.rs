//! Tokens of the native syntax, and positions with the reference's counts: line, column in grapheme clusters, byte.

use std::ops::Range;

use dropforge_base::stdlib::characters::clusters;
use dropforge_base::text::Span;

/// The kind of a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `"` that begins a quoted template.
    OpenQuote,
    /// `"` that ends one.
    CloseQuote,
    /// `<<EOT` or `<<-EOT` with the line's end.
    OpenHeredoc,
    /// The closing marker with the blanks before it.
    CloseHeredoc,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `%`
    Percent,
    /// `=`
    Equal,
    /// `==`
    EqualEqual,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `!`
    Bang,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `::`
    DoubleColon,
    /// `...`
    Ellipsis,
    /// `=>`
    FatArrow,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `${` or `${~`
    OpenInterpolation,
    /// `%{` or `%{~`
    OpenDirective,
    /// `}` or `~}` that ends one of those.
    CloseSequence,
    /// Literal text inside quotes, escapes as written.
    QuotedText,
    /// Literal text of a heredoc or of a template that is a file; ends at every line's end.
    Text,
    /// Digits, with fraction and exponent.
    Number,
    /// A name; keywords are names.
    Identifier,
    /// `# …`, `// …` (with the line's end) or `/* … */`.
    Comment,
    /// The end of a line.
    Newline,
    /// The end of the file; empty.
    #[default]
    End,
    /// `&` alone.
    BitAnd,
    /// `|` alone.
    BitOr,
    /// `~`
    BitNot,
    /// `^`
    BitXor,
    /// `'`
    Apostrophe,
    /// A backtick.
    Backtick,
    /// `;`
    Semicolon,
    /// A character that begins no token.
    Invalid,
    /// A byte that is not UTF-8.
    BadUtf8,
    /// A line's end inside quotes.
    QuotedNewline,
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The place in bytes.
    pub span: Span,
}

/// A position in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in grapheme clusters, from 1.
    pub column: u32,
    /// Offset in bytes, from 0.
    pub byte: u32,
}

/// An index of the lines and the wide clusters of a source, to find positions by binary search.
///
/// Clusters are counted in each token for itself, as the reference does: a combining mark that begins a token is a
/// column of its own.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{lexer::lex_config, token::PositionIndex};
/// let text = "a = \"é\"\nb = 1";
/// let places = PositionIndex::new(text.as_bytes(), &lex_config(text.as_bytes()));
/// let place = places.at(7);
/// assert_eq!((place.line, place.column), (1, 7));
/// assert_eq!(places.at(13).line, 2);
/// ```
#[derive(Debug, Clone)]
pub struct PositionIndex {
    /// The start of each line.
    lines: Vec<u32>,
    /// Each cluster with more or fewer bytes than columns: its end, and the difference between bytes and columns up to
    /// there.
    wide: Vec<(u32, i64)>,
}

impl PositionIndex {
    /// The positions of a source with these tokens.
    pub fn new(text: &[u8], tokens: &[Token]) -> Self {
        let mut places = Self::of_lines(text);
        // A byte order mark before the first token has no column.
        if text.starts_with(b"\xEF\xBB\xBF") && tokens.first().is_some_and(|token| token.span.start >= 3) {
            places.wide.push((3, 3));
        }
        for token in tokens {
            places.count(text, token.span);
        }
        places
    }

    /// The positions of a text without tokens.
    pub fn of_text(text: &str) -> Self {
        let mut places = Self::of_lines(text.as_bytes());
        places.count(text.as_bytes(), Span::of(0..text.len()));
        places
    }

    /// The lines of a text, with each byte a column.
    pub fn of_lines(text: &[u8]) -> Self {
        let behind = memchr::memchr_iter(b'\n', text).map(|at| Span::of(0..at + 1).end);
        Self { lines: std::iter::once(0).chain(behind).collect(), wide: Vec::new() }
    }

    /// Counts the wide clusters at `span`, after what was counted before.
    pub fn count(&mut self, text: &[u8], span: Span) {
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

    /// Counts the tabs at `span` as two columns, and the carriage returns as none.
    pub(crate) fn count_blanks(&mut self, text: &[u8], span: Span) {
        let blanks = text.get(span.range()).unwrap_or(&[]);
        for at in memchr::memchr2_iter(b'\t', b'\r', blanks) {
            let more = if blanks.get(at) == Some(&b'\t') { -1 } else { 1 };
            self.widen(span.start + Span::of(0..at + 1).end, more);
        }
    }

    /// Adds `more` bytes without a column up to `end`.
    fn widen(&mut self, end: u32, more: i64) {
        let before = self.wide.last().map_or(0, |wide| wide.1);
        self.wide.push((end, before + more));
    }

    /// The position of a byte.
    pub fn at(&self, byte: u32) -> Position {
        let line = self.lines.partition_point(|&start| start <= byte);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let columns = i64::from(byte - start) - self.more_bytes(byte) + self.more_bytes(start);
        Position { line: Span::of(0..line).end, column: u32::try_from(columns).unwrap_or(0).saturating_add(1), byte }
    }

    /// The positions of the start and the end of a span.
    pub fn of(&self, span: Span) -> Range<Position> {
        self.at(span.start)..self.at(span.end)
    }

    /// The difference between bytes and columns before `byte`.
    fn more_bytes(&self, byte: u32) -> i64 {
        let behind = self.wide.partition_point(|wide| wide.0 <= byte);
        behind.checked_sub(1).and_then(|at| self.wide.get(at)).map_or(0, |wide| wide.1)
    }
}
