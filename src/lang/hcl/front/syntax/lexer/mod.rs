//! The lexer: bytes to tokens, with the reference scanner's boundaries.
//!
//! The lexer is modal: code, quoted text, heredoc text and the text of a template that is a file, on a stack, so
//! that nesting costs memory and not calls. The brace that balances an interpolation closes it, not the first one.
//!
//! ```text
//!   code ──"──▶ quoted ──"──▶ code      code ──<<EOT──▶ heredoc ──EOT──▶ code
//!   quoted, heredoc, template ──${ or %{──▶ code ──}──▶ back
//! ```
//! Invariant: every byte that is not a blank between tokens, nor a byte order mark at the very beginning, is in
//! exactly one token, and the tokens are in the order of the source; the last one is `TokenKind::End`.

mod patterns;

use std::sync::Arc;

use super::{Token, TokenKind};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};
use logos::Logos;
use patterns::{Comments, Literal, Quoted, Sequence, first_identifier};

/// The byte order mark that a file may begin with.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The typical number of bytes for each token.
const BYTES_OF_TOKEN: usize = 5;

/// The tokens of a configuration or of an expression.
///
/// ```
/// use dropforge::dialect::hcl::syntax::lexer::lex_config;
/// use dropforge::dialect::hcl::syntax::token::TokenKind::{End, Equal, Identifier, Number};
/// let kinds: Vec<_> = lex_config(b"a = 1").iter().map(|token| token.kind).collect();
/// assert_eq!(kinds, [Identifier, Equal, Number, End]);
/// ```
pub fn lex_config(text: &[u8]) -> Vec<Token> {
    Lexer::new(text, LexerMode::Code).run()
}

/// The tokens of a template that is a file: text outside of `${ … }` and `%{ … }`.
pub fn lex_template(text: &[u8]) -> Vec<Token> {
    Lexer::new(text, LexerMode::Bare).run()
}

/// Returns `true` if `text` is an identifier.
pub fn is_identifier(text: &str) -> bool {
    first_identifier(text.as_bytes()) == Some(text.len())
}

/// The mode of the lexer.
#[derive(Debug, Clone, Copy)]
enum LexerMode {
    /// Structure and expressions.
    Code,
    /// Between quotes.
    Quoted,
    /// A heredoc: its marker, and whether a line of it begins here.
    Heredoc { marker: Span, line_start: bool },
    /// A template that is a file, outside of sequences.
    Bare,
}

/// The lexer of one source.
struct Lexer<'s> {
    text: &'s [u8],
    at: usize,
    tokens: Vec<Token>,
    /// The modes around the current one.
    outer: Vec<LexerMode>,
    mode: LexerMode,
    /// The number of open braces. Negative if more were closed.
    braces: i64,
    /// The number of open braces at each open sequence, including its own.
    sequences: Vec<i64>,
    comments: Comments,
}

impl<'s> Lexer<'s> {
    fn new(text: &'s [u8], mode: LexerMode) -> Self {
        let at = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let tokens = Vec::with_capacity(text.len() / BYTES_OF_TOKEN + 1);
        let comments = Comments::default();
        Self { text, at, tokens, outer: Vec::new(), mode, braces: 0, sequences: Vec::new(), comments }
    }

    fn run(mut self) -> Vec<Token> {
        while self.at < self.text.len() {
            match self.mode {
                LexerMode::Code => self.code(),
                LexerMode::Quoted => self.quoted(),
                LexerMode::Heredoc { marker, line_start } => self.heredoc(marker, line_start),
                LexerMode::Bare => self.bare(),
            }
        }
        self.emit(TokenKind::End, self.text.len());
        self.tokens
    }

    fn rest(&self) -> &'s [u8] {
        self.text.get(self.at..).unwrap_or(&[])
    }

    /// A token from here to `end`.
    fn emit(&mut self, kind: TokenKind, end: usize) {
        self.tokens.push(Token { kind, span: Span::of(self.at..end) });
        self.at = end;
    }

    fn enter(&mut self, mode: LexerMode) {
        self.outer.push(std::mem::replace(&mut self.mode, mode));
    }

    fn leave(&mut self) {
        if let Some(mode) = self.outer.pop() {
            self.mode = mode;
        }
    }

    /// Code up to a change of mode.
    fn code(&mut self) {
        let base = self.at;
        let mut lexer = patterns::Code::lexer_with_extras(self.rest(), self.comments);
        while let Some(Ok(code)) = lexer.next() {
            let span = lexer.span();
            self.at = base + span.start;
            let end = base + span.end;
            match code {
                patterns::Code::OpenBrace => {
                    self.emit(TokenKind::OpenBrace, end);
                    self.braces += 1;
                }
                patterns::Code::CloseBrace if self.close_brace(TokenKind::CloseBrace, end) => return,
                patterns::Code::TrimBrace if self.close_brace(TokenKind::CloseSequence, end) => return,
                patterns::Code::CloseBrace | patterns::Code::TrimBrace => {}
                patterns::Code::Quote => {
                    self.emit(TokenKind::OpenQuote, end);
                    return self.enter(LexerMode::Quoted);
                }
                patterns::Code::Plain(TokenKind::OpenHeredoc) => return self.open_heredoc(end),
                patterns::Code::Plain(kind) => self.emit(kind, end),
            }
            self.comments = lexer.extras;
        }
        self.at = self.text.len();
    }

    /// A closing brace. Returns `true` if it ends a sequence; otherwise it is a token of kind `otherwise`.
    fn close_brace(&mut self, otherwise: TokenKind, end: usize) -> bool {
        let ends = self.sequences.last() == Some(&self.braces);
        self.emit(if ends { TokenKind::CloseSequence } else { otherwise }, end);
        self.braces -= 1;
        if ends {
            self.sequences.pop();
            self.leave();
        }
        ends
    }

    fn open_heredoc(&mut self, end: usize) {
        let (start, text) = (self.at, self.text);
        let intro = text.get(start..end).unwrap_or(&[]);
        let name = intro.iter().position(|&byte| byte != b'<' && byte != b'-').unwrap_or(0);
        let marker = Span::of(start + name..start + intro.trim_ascii_end().len());
        self.emit(TokenKind::OpenHeredoc, end);
        self.enter(LexerMode::Heredoc { marker, line_start: true });
    }

    /// Opens a sequence, with `len` bytes after its first character.
    fn open_sequence(&mut self, kind: TokenKind, len: usize) {
        self.emit(kind, self.at + 1 + len);
        self.braces += 1;
        self.sequences.push(self.braces);
        if let LexerMode::Heredoc { line_start, .. } = &mut self.mode {
            *line_start = false;
        }
        self.enter(LexerMode::Code);
    }

    /// Text inside quotes up to the closing quote or a sequence.
    fn quoted(&mut self) {
        let base = self.at;
        let mut lexer = Quoted::lexer(self.rest());
        while let Some(Ok(piece)) = lexer.next() {
            let end = base + lexer.span().end;
            match piece {
                Quoted::Quote => {
                    self.emit(TokenKind::CloseQuote, end);
                    return self.leave();
                }
                Quoted::Sequence(Sequence::Open(kind, len)) => return self.open_sequence(kind, len),
                Quoted::Sequence(Sequence::Escape(len)) => {
                    lexer.bump(len);
                    self.emit(TokenKind::QuotedText, end + len);
                }
                Quoted::Sequence(Sequence::Character) => self.emit(TokenKind::QuotedText, end),
                Quoted::Sequence(Sequence::Dangling) => self.emit(TokenKind::Invalid, end),
                Quoted::Newlines => self.emit(TokenKind::QuotedNewline, end),
                Quoted::Text(kind) => self.emit(kind, end),
            }
        }
    }

    /// One piece of a heredoc.
    fn heredoc(&mut self, marker: Span, line_start: bool) {
        match self.piece() {
            (patterns::Piece::Sequence(kind, len), _) => self.open_sequence(kind, len),
            (patterns::Piece::Line, end) if line_start && self.is_marker(end, marker) => self.close_heredoc(end),
            (patterns::Piece::Line, end) => {
                self.emit(TokenKind::Text, end);
                self.mode = LexerMode::Heredoc { marker, line_start: true };
            }
            (patterns::Piece::Part, end) => {
                self.emit(TokenKind::Text, end);
                self.mode = LexerMode::Heredoc { marker, line_start: false };
            }
            (patterns::Piece::BadUtf8, end) => self.emit(TokenKind::BadUtf8, end),
            (patterns::Piece::Stuck, _) => self.emit(TokenKind::Invalid, self.text.len()),
        }
    }

    fn is_marker(&self, end: usize, marker: Span) -> bool {
        let line = self.text.get(self.at..end).unwrap_or(&[]);
        let marker = self.text.get(marker.range()).unwrap_or(&[]);
        line.len() > marker.len() && trim_space(line) == marker
    }

    /// The marker, and its line end.
    fn close_heredoc(&mut self, end: usize) {
        let line = self.text.get(self.at..end).unwrap_or(&[]);
        let inside = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).unwrap_or(line);
        self.emit(TokenKind::CloseHeredoc, self.at + inside.len());
        self.emit(TokenKind::Newline, end);
        self.leave();
    }

    /// One piece of a template that is a file.
    fn bare(&mut self) {
        match self.piece() {
            (patterns::Piece::Sequence(kind, len), _) => self.open_sequence(kind, len),
            (patterns::Piece::Line | patterns::Piece::Part, end) => self.emit(TokenKind::Text, end),
            (patterns::Piece::BadUtf8, end) => self.emit(TokenKind::BadUtf8, end),
            (patterns::Piece::Stuck, _) => self.emit(TokenKind::Text, self.text.len()),
        }
    }

    /// The next piece of text outside of quotes, and its end.
    fn piece(&self) -> (patterns::Piece, usize) {
        let mut lexer = Literal::lexer(self.rest());
        match lexer.next() {
            Some(Ok(Literal::Piece(piece))) => (piece, self.at + lexer.span().end),
            _ => (patterns::Piece::Stuck, self.at),
        }
    }
}

/// `line` without the Unicode white space at both ends.
fn trim_space(line: &[u8]) -> &[u8] {
    match std::str::from_utf8(line) {
        Ok(line) => line.trim().as_bytes(),
        Err(_) => line.trim_ascii(),
    }
}

/// The largest number of bitwise operators that are reported.
const MOST_BITWISE: usize = 4;

/// Reports tokens that no source may have, up to `most` of them. Most kinds are reported once; of quotes that are not
/// quotes, every other one.
pub fn check(source: &Arc<Source>, tokens: impl IntoIterator<Item = Token>, most: usize) -> Vec<Box<Diagnostic>> {
    let mut seen = [0_usize; 5];
    let mut is_news = |token: &Token| {
        let (group, reported): (usize, fn(usize) -> bool) = match token.kind {
            TokenKind::BitAnd | TokenKind::BitOr | TokenKind::BitXor | TokenKind::BitNot => (0, |n| n <= MOST_BITWISE),
            // Each of these opens a pair. Behind the third, the reference has stopped counting, at an odd number.
            TokenKind::Backtick => (1, |n| matches!(n, 1 | 3)),
            TokenKind::Apostrophe => (2, |n| matches!(n, 1 | 3)),
            TokenKind::Semicolon => (3, |n| n == 1),
            TokenKind::BadUtf8 => (4, |n| n == 1),
            kind => return matches!(kind, TokenKind::QuotedNewline | TokenKind::Invalid),
        };
        let Some(count) = seen.get_mut(group) else { return false };
        *count += 1;
        reported(*count)
    };
    let wrong = tokens.into_iter().filter(|token| is_news(token));
    wrong.filter_map(|token| diagnostic(source, token)).take(most).collect()
}

fn diagnostic(source: &Arc<Source>, token: Token) -> Option<Box<Diagnostic>> {
    let (summary, detail) = words(token.kind, source.slice(token.span))?;
    let code = match token.kind {
        TokenKind::BadUtf8 => Code::NotUtf8,
        TokenKind::QuotedNewline => Code::UnexpectedToken,
        _ => Code::UnknownCharacter,
    };
    let diagnostic = Diagnostic::new(code, summary).at(source, token.span, "").with_detail(detail);
    Some(match instead(token.kind) {
        Some(operator) => diagnostic.with_help(format!("did you mean `{operator}`?")),
        None => diagnostic,
    })
}

/// The logical operator that a bitwise one is often written for.
fn instead(kind: TokenKind) -> Option<&'static str> {
    match kind {
        TokenKind::BitAnd => Some("&&"),
        TokenKind::BitOr => Some("||"),
        TokenKind::BitNot => Some("!"),
        _ => None,
    }
}

/// Returns the summary and the detail of a wrong token.
fn words(kind: TokenKind, text: &str) -> Option<(&'static str, &'static str)> {
    let operator = "Unsupported operator";
    let character = "Invalid character";
    Some(match kind {
        TokenKind::BitAnd | TokenKind::BitOr | TokenKind::BitXor | TokenKind::BitNot => {
            (operator, "HCL has no bitwise operators.")
        }
        TokenKind::Backtick => (character, "Backticks cannot quote strings. For a multi-line string, use a heredoc."),
        TokenKind::Apostrophe => (character, "Single quotes cannot quote strings. Use double quotes."),
        TokenKind::Semicolon => (
            character,
            "Semicolons separate nothing. Use new lines between arguments and blocks, and commas between elements.",
        ),
        TokenKind::BadUtf8 => ("Invalid character encoding", "The source must be UTF-8."),
        TokenKind::QuotedNewline => {
            ("Invalid multi-line string", "A quoted string cannot contain a line end. Write `\\n`, or use a heredoc.")
        }
        TokenKind::Invalid if matches!(text, "“" | "”") => {
            (character, "Curly quotes cannot quote strings. Use straight quotes: `\"`.")
        }
        TokenKind::Invalid => (character, "This character is not used in HCL."),
        _ => return None,
    })
}

// `QuotedPiece` and `PlainPiece`, from `grammar/tokens/hcl-literal.rs`.
include!("literal.generated");

/// Splits the literal text of a token into escapes, `$${`-like pieces, line ends, and the plain text between them.
///
/// ```
/// use dropforge::dialect::hcl::syntax::lexer::scan_string_literal;
/// let text = r"a\n$${";
/// let pieces = |quoted| scan_string_literal(text, quoted).map(|span| &text[span.range()]).collect::<Vec<_>>();
/// assert_eq!(pieces(true), ["a", r"\n", "$${"]);
/// assert_eq!(pieces(false), [r"a\n", "$${"]);
/// ```
pub fn scan_string_literal(text: &str, quoted: bool) -> impl Iterator<Item = Span> {
    let bytes = text.as_bytes();
    let mut in_quotes = QuotedPiece::lexer(if quoted { bytes } else { &[] });
    let mut plain = PlainPiece::lexer(if quoted { &[] } else { bytes });
    std::iter::from_fn(move || match quoted {
        true => in_quotes.next().map(|_| Span::of(in_quotes.span())),
        false => plain.next().map(|_| Span::of(plain.span())),
    })
}

/// The meaning of a piece of literal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::syntax) enum LiteralPiece {
    /// Itself.
    Plain,
    /// A character.
    Char(char),
    /// This character and a brace.
    Template(char),
    /// Nothing: the escape is not valid.
    Wrong(Wrong),
}

/// The fault of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::syntax) enum Wrong {
    /// The text ends after the backslash.
    Cut,
    /// `\u` without four hexadecimal digits.
    Short,
    /// `\U` without eight.
    Long,
    /// An invalid code point.
    NoCharacter,
    /// An unknown character after the backslash.
    Unknown,
}

/// The meaning of a piece of literal text from the lexer.
pub(in crate::front::syntax) fn escape_of(text: &str, quoted: bool) -> LiteralPiece {
    match text.as_bytes() {
        b"$${" => LiteralPiece::Template('$'),
        b"%%{" => LiteralPiece::Template('%'),
        [b'\\', escape @ ..] if quoted => match escape {
            [] => LiteralPiece::Wrong(Wrong::Cut),
            b"n" => LiteralPiece::Char('\n'),
            b"r" => LiteralPiece::Char('\r'),
            b"t" => LiteralPiece::Char('\t'),
            b"\"" => LiteralPiece::Char('"'),
            b"\\" => LiteralPiece::Char('\\'),
            [b'u', ..] if text.len() != 6 => LiteralPiece::Wrong(Wrong::Short),
            [b'U', ..] if text.len() != 10 => LiteralPiece::Wrong(Wrong::Long),
            [b'u' | b'U', ..] => {
                let code = text.get(2..).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                code.and_then(char::from_u32).map_or(LiteralPiece::Wrong(Wrong::NoCharacter), LiteralPiece::Char)
            }
            _ => LiteralPiece::Wrong(Wrong::Unknown),
        },
        _ => LiteralPiece::Plain,
    }
}

#[cfg(test)]
mod tests;
