//! Tokens for reading a faulty item again: line ends are there or not, as a stack says, and tokens are skipped up to a
//! place where reading can go on.

use crate::dialect::hcl::syntax::token::{Token, TokenKind};
use crate::text::Span;

/// The tokens of a text, from some place on.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    text: &'t str,
    tokens: &'t [Token],
    /// The next token.
    pub next: usize,
    /// Whether line ends mean something: in what is open around here, the innermost last.
    lines: Vec<bool>,
    /// Whether tokens were skipped: what looks wrong from then on may be a consequence, and most of it is not reported.
    pub recovery: bool,
}

impl<'t> Reader<'t> {
    /// The tokens of a text, from its beginning on.
    pub fn new(text: &'t str, tokens: &'t [Token]) -> Self {
        Self { text, tokens, next: 0, lines: vec![true], recovery: false }
    }

    /// The text at a span.
    pub fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Opens something in which line ends mean something, or nothing.
    pub fn push_lines(&mut self, lines: bool) {
        self.lines.push(lines);
    }

    /// Closes it.
    pub fn pop_lines(&mut self) {
        self.lines.pop();
    }

    fn end(&self) -> Token {
        let none = Token { kind: TokenKind::End, span: Span::default() };
        self.tokens.last().copied().unwrap_or(none)
    }

    fn look(&self) -> (Token, usize) {
        let lines = self.lines.last().copied().unwrap_or(true);
        for (at, &token) in self.tokens.iter().enumerate().skip(self.next) {
            match token.kind {
                TokenKind::Comment if lines && self.slice(token.span).ends_with('\n') => {
                    return (Token { kind: TokenKind::Newline, ..token }, at + 1);
                }
                TokenKind::Comment => {}
                TokenKind::Newline if !lines => {}
                _ => return (token, at + 1),
            }
        }
        (self.end(), self.tokens.len())
    }

    /// The next token, which stays the next one.
    pub fn peek(&self) -> Token {
        self.look().0
    }

    /// The next token.
    pub fn read(&mut self) -> Token {
        let (token, next) = self.look();
        self.next = next;
        token
    }

    /// The next token, if it is of this kind.
    pub fn read_if(&mut self, kind: TokenKind) -> Option<Token> {
        let (token, next) = self.look();
        if token.kind != kind {
            return None;
        }
        self.next = next;
        Some(token)
    }

    /// The token before the next one, whatever it is.
    pub fn previous(&self) -> Span {
        self.next.checked_sub(1).and_then(|at| self.tokens.get(at)).unwrap_or(&self.end()).span
    }

    /// Whether the next token is this word.
    pub fn at_word(&self, word: &str) -> bool {
        let next = self.peek();
        next.kind == TokenKind::Identifier && self.slice(next.span) == word
    }

    /// Skips tokens up to and with `end`, over pairs of it and its opposite; gives back what it stopped at.
    pub fn recover(&mut self, end: TokenKind) -> Token {
        self.recovery = true;
        let opens = |kind| match end {
            TokenKind::CloseSequence => matches!(kind, TokenKind::OpenInterpolation | TokenKind::OpenDirective),
            _ => opposite(end) == Some(kind),
        };
        let mut open = 0_usize;
        loop {
            let token = self.read();
            match token.kind {
                TokenKind::End => return token,
                kind if opens(kind) => open += 1,
                kind if kind == end => match open.checked_sub(1) {
                    None => return token,
                    Some(left) => open = left,
                },
                _ => {}
            }
        }
    }

    /// Skips tokens up to the next parenthesis, and what is inside.
    pub fn recover_over_parens(&mut self) {
        while !matches!(self.read().kind, TokenKind::OpenParen | TokenKind::End) {}
        self.recover(TokenKind::CloseParen);
    }

    /// Skips tokens up to the end of a line that is outside of all brackets opened on the way.
    pub fn recover_behind_item(&mut self) {
        self.recovery = true;
        let mut open: Vec<TokenKind> = Vec::new();
        loop {
            let token = self.read();
            match token.kind {
                TokenKind::End => return,
                TokenKind::Newline if open.is_empty() => return,
                TokenKind::OpenBrace
                | TokenKind::OpenBracket
                | TokenKind::OpenParen
                | TokenKind::OpenQuote
                | TokenKind::OpenHeredoc
                | TokenKind::OpenInterpolation => open.push(token.kind),
                TokenKind::OpenDirective => open.push(TokenKind::OpenInterpolation),
                kind => {
                    if let Some(opener) = opposite(kind) {
                        while open.pop().is_some_and(|top| top != opener) {}
                    }
                }
            }
        }
    }
}

/// What a closing token closes.
fn opposite(close: TokenKind) -> Option<TokenKind> {
    Some(match close {
        TokenKind::CloseBrace => TokenKind::OpenBrace,
        TokenKind::CloseBracket => TokenKind::OpenBracket,
        TokenKind::CloseParen => TokenKind::OpenParen,
        TokenKind::CloseQuote => TokenKind::OpenQuote,
        TokenKind::CloseHeredoc => TokenKind::OpenHeredoc,
        TokenKind::CloseSequence => TokenKind::OpenInterpolation,
        _ => return None,
    })
}
