//! Two alternating lexers: text up to the next `${`, and the inside of an expression.
//!
//! ```text
//! registry/${params.app}:${context.git_sha}
//! └─ text ─┘└─ expression ─┘…
//! ```
//!
//! Every `${` opens an expression that ends at the first `}`. The extent of an expression is found before its inside is
//! lexed, so that an unterminated or nested one is reported as such. `$` alone, `$$`, `\` and `}` are text: the
//! language has no escapes.
//!
//! The error of an expression comes after its `Open` token: the grammar looks one token ahead, and must by then have
//! read the expression before it.

use std::ops::Range;

use logos::Logos;

use super::{SyntaxError, SyntaxErrorKind};
use dropforge_base::text::Span;

/// A token of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// Text outside expressions.
    Text,
    /// `${`
    Open,
    /// `[a-z_][a-z0-9_]*`
    Identifier,
    /// `.`
    Dot,
    /// `}`
    Close,
}

// `Outside` and `Inside`, from `grammar/tokens/tower.rs`.
include!("tokens.generated");

/// Tokens of a field for the grammar.
pub struct Lexer<'s> {
    source: &'s str,
    mode: Mode<'s>,
    /// The last opened expression.
    expression: Range<usize>,
}

enum Mode<'s> {
    Text(logos::Lexer<'s, Outside>, usize),
    /// `${` was returned. Its extent is not known yet.
    Opened,
    Inside(logos::Lexer<'s, Inside>, usize),
}

impl<'s> Lexer<'s> {
    /// Returns a lexer of a field's text.
    pub fn new(source: &'s str) -> Self {
        Self { source, mode: Mode::Text(Outside::lexer(source), 0), expression: 0..0 }
    }

    /// Returns the last opened expression.
    pub fn expression(&self) -> Span {
        Span::of(self.expression.clone())
    }

    /// Classifies the malformed expression that was opened last.
    pub fn error(&self) -> SyntaxError {
        let body = self.source.get(self.expression.start + 2..self.expression.end.saturating_sub(1));
        SyntaxError { kind: classify(body.unwrap_or("")), span: self.expression() }
    }

    fn text(&mut self, at: usize) -> Mode<'s> {
        Mode::Text(Outside::lexer(self.source.get(at..).unwrap_or("")), at)
    }
}

/// Classifies the inside of a malformed expression that is terminated and not nested.
fn classify(body: &str) -> SyntaxErrorKind {
    let of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if body.split('.').all(|segment| !segment.is_empty() && segment.chars().all(of_word)) {
        SyntaxErrorKind::Identifier
    } else {
        SyntaxErrorKind::Syntax
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<(usize, Token, usize), SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.mode {
            Mode::Text(lexer, base) => {
                // Every character is a token of this lexer, so errors cannot occur.
                let token = lexer.next()?.unwrap_or(Outside::Text);
                let (start, end) = (*base + lexer.span().start, *base + lexer.span().end);
                if token == Outside::Text {
                    return Some(Ok((start, Token::Text, end)));
                }
                self.expression = start..end;
                self.mode = Mode::Opened;
                Some(Ok((start, Token::Open, end)))
            }
            Mode::Opened => {
                let (kind, end) = extent(self.source, self.expression.start);
                self.expression.end = end;
                if let Some(kind) = kind {
                    return Some(Err(SyntaxError { kind, span: self.expression() }));
                }
                let base = self.expression.start + 2;
                self.mode = Mode::Inside(Inside::lexer(self.source.get(base..end - 1).unwrap_or("")), base);
                self.next()
            }
            Mode::Inside(lexer, base) => {
                let token = match lexer.next() {
                    Some(Ok(Inside::Identifier)) => Token::Identifier,
                    Some(Ok(Inside::Dot)) => Token::Dot,
                    Some(_) => return Some(Err(self.error())),
                    None => {
                        let end = self.expression.end;
                        self.mode = self.text(end);
                        return Some(Ok((end - 1, Token::Close, end)));
                    }
                };
                let span = lexer.span();
                Some(Ok((*base + span.start, token, *base + span.end)))
            }
        }
    }
}

/// Returns the end of the expression that opens at `open`, and its error if it is unterminated or nested.
///
/// An expression with another one inside is nested, whether it is terminated or not. It ends at the `}` that balances the
/// first `${`, or at the end of the field.
fn extent(source: &str, open: usize) -> (Option<SyntaxErrorKind>, usize) {
    let rest = source.as_bytes().get(open + 2..).unwrap_or(&[]);
    let close = memchr::memchr(b'}', rest);
    let body = close.and_then(|close| rest.get(..close)).unwrap_or(rest);
    if memchr::memmem::find(body, b"${").is_none() {
        return match close {
            Some(close) => (None, open + 2 + close + 1),
            None => (Some(SyntaxErrorKind::Unterminated), source.len()),
        };
    }
    let (mut depth, mut last) = (1usize, 0u8);
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            b'{' if last == b'$' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (Some(SyntaxErrorKind::Nested), open + 2 + at + 1);
        }
        last = byte;
    }
    (Some(SyntaxErrorKind::Nested), source.len())
}

/// Returns the first expression of `source`, well formed or not, including its braces.
pub(crate) fn first_expression(source: &str) -> Option<Span> {
    let open = memchr::memmem::find(source.as_bytes(), b"${")?;
    Some(Span::of(open..extent(source, open).1))
}
