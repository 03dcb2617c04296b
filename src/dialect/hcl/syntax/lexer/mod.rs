//! From bytes to tokens, as the reference's scanner cuts them.
//!
//! The lexer is modal: code, quoted text, heredoc text and the text of a template that is a file, on a stack, so
//! that nesting costs memory and not calls. An interpolation is closed by the brace that balances it, not by the
//! first one.
//!
//! ```text
//!   code ──"──▶ quoted ──"──▶ code      code ──<<EOT──▶ heredoc ──EOT──▶ code
//!   quoted, heredoc, template ──${ or %{──▶ code ──}──▶ back
//! ```
//! Invariant: every byte that is not a blank between tokens, nor a byte order mark at the very beginning, is in
//! exactly one token, and the tokens are in the order of the source; the last one is [`TokenKind::End`].

mod check;
mod literal;
mod raw;
mod run;
#[cfg(test)]
mod tests;

use logos::Logos;

use super::token::{Token, TokenKind};
use crate::text::Span;
use raw::{Code, Known, Literal, Quoted, Sequence, Text};

pub use check::check;
pub use literal::scan_string_literal;

/// The byte order mark that a file may begin with.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How many bytes of source there are for each token, about.
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
    Lexer::new(text, Mode::Code).run()
}

/// The tokens of a template that is a file: text outside of `${ … }` and `%{ … }`.
pub fn lex_template(text: &[u8]) -> Vec<Token> {
    Lexer::new(text, Mode::Bare).run()
}

/// Whether `text` is an identifier and nothing else.
pub fn is_identifier(text: &str) -> bool {
    raw::first_identifier(text.as_bytes()) == Some(text.len())
}

/// What is being read.
#[derive(Debug, Clone, Copy)]
enum Mode {
    /// Structure and expressions.
    Code,
    /// Between quotes.
    Quoted,
    /// A heredoc: its marker, and whether a line of it begins here.
    Heredoc { marker: Span, line_start: bool },
    /// A template that is a file, outside of sequences.
    Bare,
}

/// Cuts one source.
struct Lexer<'s> {
    text: &'s [u8],
    at: usize,
    tokens: Vec<Token>,
    /// The modes around the one that is read.
    outer: Vec<Mode>,
    mode: Mode,
    /// How many braces are open; below nothing where more were closed.
    braces: i64,
    /// For each sequence that is open: how many braces there were with its own.
    sequences: Vec<i64>,
    known: Known,
}

impl<'s> Lexer<'s> {
    fn new(text: &'s [u8], mode: Mode) -> Self {
        let at = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let tokens = Vec::with_capacity(text.len() / BYTES_OF_TOKEN + 1);
        let known = Known::default();
        Self { text, at, tokens, outer: Vec::new(), mode, braces: 0, sequences: Vec::new(), known }
    }

    fn run(mut self) -> Vec<Token> {
        while self.at < self.text.len() {
            match self.mode {
                Mode::Code => self.code(),
                Mode::Quoted => self.quoted(),
                Mode::Heredoc { marker, line_start } => self.heredoc(marker, line_start),
                Mode::Bare => self.bare(),
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

    fn enter(&mut self, mode: Mode) {
        self.outer.push(std::mem::replace(&mut self.mode, mode));
    }

    fn leave(&mut self) {
        if let Some(mode) = self.outer.pop() {
            self.mode = mode;
        }
    }

    /// Code up to where another mode begins or ends.
    fn code(&mut self) {
        let base = self.at;
        let mut lexer = Code::lexer_with_extras(self.rest(), self.known);
        while let Some(Ok(code)) = lexer.next() {
            let span = lexer.span();
            self.at = base + span.start;
            let end = base + span.end;
            match code {
                Code::OpenBrace => {
                    self.emit(TokenKind::OpenBrace, end);
                    self.braces += 1;
                }
                Code::CloseBrace if self.close_brace(TokenKind::CloseBrace, end) => return,
                Code::TrimBrace if self.close_brace(TokenKind::CloseSequence, end) => return,
                Code::CloseBrace | Code::TrimBrace => {}
                Code::Quote => {
                    self.emit(TokenKind::OpenQuote, end);
                    return self.enter(Mode::Quoted);
                }
                Code::Plain(TokenKind::OpenHeredoc) => return self.open_heredoc(end),
                Code::Plain(kind) => self.emit(kind, end),
            }
            self.known = lexer.extras;
        }
        self.at = self.text.len();
    }

    /// A closing brace: whether it ends a sequence and code with it. If not, it is a token of kind `otherwise`.
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
        self.enter(Mode::Heredoc { marker, line_start: true });
    }

    /// A sequence opens: `len` bytes behind its first character.
    fn open_sequence(&mut self, kind: TokenKind, len: usize) {
        self.emit(kind, self.at + 1 + len);
        self.braces += 1;
        self.sequences.push(self.braces);
        if let Mode::Heredoc { line_start, .. } = &mut self.mode {
            *line_start = false;
        }
        self.enter(Mode::Code);
    }

    /// Text inside quotes up to their end or to a sequence.
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
            Piece::Sequence(kind, len) => self.open_sequence(kind, len),
            Piece::Line(end) if line_start && self.is_marker(end, marker) => self.close_heredoc(end),
            Piece::Line(end) => {
                self.emit(TokenKind::Text, end);
                self.mode = Mode::Heredoc { marker, line_start: true };
            }
            Piece::Part(end) => {
                self.emit(TokenKind::Text, end);
                self.mode = Mode::Heredoc { marker, line_start: false };
            }
            Piece::BadUtf8(end) => self.emit(TokenKind::BadUtf8, end),
            Piece::Stuck => self.emit(TokenKind::Invalid, self.text.len()),
        }
    }

    fn is_marker(&self, end: usize, marker: Span) -> bool {
        let line = self.text.get(self.at..end).unwrap_or(&[]);
        let marker = self.text.get(marker.range()).unwrap_or(&[]);
        line.len() > marker.len() && trim_space(line) == marker
    }

    /// The marker up to the line's end, and that end.
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
            Piece::Sequence(kind, len) => self.open_sequence(kind, len),
            Piece::Line(end) | Piece::Part(end) => self.emit(TokenKind::Text, end),
            Piece::BadUtf8(end) => self.emit(TokenKind::BadUtf8, end),
            Piece::Stuck => self.emit(TokenKind::Text, self.text.len()),
        }
    }

    /// The next piece of text outside of quotes.
    fn piece(&self) -> Piece {
        let mut lexer = Literal::lexer(self.rest());
        let Some(Ok(literal)) = lexer.next() else { return Piece::Stuck };
        let end = self.at + lexer.span().end;
        match literal {
            Literal::Text(Text::Line) => Piece::Line(end),
            Literal::Text(Text::Part) => Piece::Part(end),
            Literal::Text(Text::BadUtf8) => Piece::BadUtf8(end),
            Literal::Text(Text::Stuck) => Piece::Stuck,
            Literal::Sequence(Sequence::Open(kind, len)) => Piece::Sequence(kind, len),
            Literal::Sequence(Sequence::Escape(len)) => self.with_line_end(end + len),
            Literal::Sequence(Sequence::Character) => self.character(end),
            Literal::Sequence(Sequence::Dangling) => Piece::Stuck,
        }
    }

    /// A piece that ends at `end`, or behind the line's end that follows.
    fn with_line_end(&self, end: usize) -> Piece {
        match self.text.get(end..) {
            Some([b'\n', ..]) => Piece::Line(end + 1),
            Some([b'\r', b'\n', ..]) => Piece::Line(end + 2),
            _ => Piece::Part(end),
        }
    }

    /// A `$` or `%` that begins nothing, and ends at `end`. It is a piece of its own; but the reference's scanner
    /// takes the byte behind it where a line's end comes next, and leaves that (or its `\n`) to the next piece.
    fn character(&self, end: usize) -> Piece {
        match self.text.get(end + 1) {
            Some(b'\n') => Piece::Line(end + 1),
            Some(b'\r') => Piece::Part(end + 1),
            _ => Piece::Part(end),
        }
    }
}

/// A piece of text outside of quotes, by where it ends.
enum Piece {
    /// `${` and the like: the kind, and how long it is behind its first character.
    Sequence(TokenKind, usize),
    /// Text with a line's end.
    Line(usize),
    /// Text before something else.
    Part(usize),
    /// A byte that is not UTF-8.
    BadUtf8(usize),
    /// Nothing can be read from here on.
    Stuck,
}

/// `line` without the Unicode white space at both ends.
fn trim_space(line: &[u8]) -> &[u8] {
    match std::str::from_utf8(line) {
        Ok(line) => line.trim().as_bytes(),
        Err(_) => line.trim_ascii(),
    }
}
