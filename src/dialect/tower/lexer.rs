//! Two lexers in turn: text up to the next `${`, and the inside of an expression.
//!
//! ```text
//! registry/${params.app}:${context.git_sha}
//! └─ text ─┘└─ expression ─┘…
//! ```
//!
//! Every `${` opens an expression that ends at the first `}`. The extent of an expression is found before its
//! inside is looked at, so that an unterminated or nested one is reported as what it is. `$` alone, `$$`, `\`
//! and `}` are text: the language has no escape.
//!
//! Faults of an expression come behind its `Open` token: the grammar looks one token ahead, and must have
//! judged the expression before it by then.

use std::ops::Range;

use logos::Logos;

use crate::text::Span;

/// What the grammar sees.
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

#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Outside {
    #[token("${")]
    Open,
    #[token("$")]
    #[regex(r"[^$]+")]
    Text,
}

#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    #[regex("[a-z_][a-z0-9_]*", priority = 9)]
    Identifier,
    /// A segment that is no identifier, as far as its characters go.
    #[regex(r"[A-Za-z0-9_\-\u{80}-\u{10FFFF}]+", priority = 3)]
    Word,
    #[token(".")]
    Dot,
}

/// What is wrong with an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Empty, with white space, operators, brackets or an empty segment.
    Syntax,
    /// No `}` follows.
    Unterminated,
    /// Another `${` before the first `}`.
    Nested,
    /// A segment that is not an identifier.
    Identifier,
    /// The first segment is not one of the scopes.
    Scope,
    /// The path is too short or, for `steps`, not `steps.<id>.outputs.<name>`.
    Shape,
}

/// A malformed expression: what is wrong, and its text from `${` to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The whole expression.
    pub span: Span,
}

/// Tokens of a field for the grammar.
pub struct Lexer<'s> {
    source: &'s str,
    mode: Mode<'s>,
    /// The expression that was opened last.
    expression: Range<usize>,
}

enum Mode<'s> {
    Text(logos::Lexer<'s, Outside>, usize),
    /// `${` was handed out; its extent is not known yet.
    Opened,
    Inside(logos::Lexer<'s, Inside>, usize),
}

impl<'s> Lexer<'s> {
    /// A lexer over the text of a field.
    pub fn new(source: &'s str) -> Self {
        Self { source, mode: Mode::Text(Outside::lexer(source), 0), expression: 0..0 }
    }

    /// The whole expression that was opened last.
    pub fn expression(&self) -> Span {
        Span::of(self.expression.clone())
    }

    /// Classifies the malformed expression that was opened last.
    pub fn fault(&self) -> Fault {
        let body = self.source.get(self.expression.start + 2..self.expression.end.saturating_sub(1));
        Fault { kind: classify(body.unwrap_or("")), span: self.expression() }
    }

    fn text(&mut self, at: usize) -> Mode<'s> {
        Mode::Text(Outside::lexer(self.source.get(at..).unwrap_or("")), at)
    }
}

/// What is wrong with the inside of a terminated expression that is not nested.
fn classify(body: &str) -> FaultKind {
    let of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if body.split('.').all(|segment| !segment.is_empty() && segment.chars().all(of_word)) {
        FaultKind::Identifier
    } else {
        FaultKind::Syntax
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<(usize, Token, usize), Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.mode {
            Mode::Text(lexer, base) => {
                // Every character is a token of this lexer, so there is no error arm to take.
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
                    return Some(Err(Fault { kind, span: self.expression() }));
                }
                let base = self.expression.start + 2;
                self.mode = Mode::Inside(Inside::lexer(self.source.get(base..end - 1).unwrap_or("")), base);
                self.next()
            }
            Mode::Inside(lexer, base) => {
                let token = match lexer.next() {
                    Some(Ok(Inside::Identifier)) => Token::Identifier,
                    Some(Ok(Inside::Dot)) => Token::Dot,
                    Some(_) => return Some(Err(self.fault())),
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

/// Where the expression that opens at `open` ends, and the fault that is seen before its inside is read.
///
/// Nested: the text up to the `}` that balances the first `${`, or the end of the field.
pub fn extent(source: &str, open: usize) -> (Option<FaultKind>, usize) {
    let rest = source.as_bytes().get(open + 2..).unwrap_or(&[]);
    let Some(close) = memchr::memchr(b'}', rest) else {
        return (Some(FaultKind::Unterminated), source.len());
    };
    if memchr::memmem::find(rest.get(..close).unwrap_or(&[]), b"${").is_none() {
        return (None, open + 2 + close + 1);
    }
    let (mut depth, mut last) = (1usize, 0u8);
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            b'{' if last == b'$' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (Some(FaultKind::Nested), open + 2 + at + 1);
        }
        last = byte;
    }
    (Some(FaultKind::Nested), source.len())
}

/// The first expression of `source`, well formed or not, with its braces.
pub fn first_expression(source: &str) -> Option<Span> {
    let open = memchr::memmem::find(source.as_bytes(), b"${")?;
    Some(Span::of(open..extent(source, open).1))
}
