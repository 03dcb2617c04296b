//! Reports, skipped tokens, and the symbols that replace them.

use super::wording::Wording;
use crate::syntax::parser::symbols::{Symbol, Symbols};
use crate::syntax::{Token, TokenKind};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

impl Symbols<'_> {
    // Reports

    /// Reports an error in the current operand.
    pub(super) fn report(&mut self, span: Span, context: Option<Span>, wording: Wording) {
        self.report_as(wording.code, span, context, wording.summary, wording.detail);
    }

    /// Reports an error, unless it may follow from one that was reported before.
    pub(super) fn report_first(&mut self, span: Span, context: Option<Span>, wording: Wording) {
        if !self.recovery {
            self.report(span, context, wording);
        }
    }

    /// Reports an error in other words.
    pub(super) fn report_as(
        &mut self,
        code: Code,
        span: Span,
        context: Option<Span>,
        summary: &str,
        detail: impl Into<String>,
    ) {
        self.reports.report(code, span, context, summary, detail);
        self.level_mut().wrong_operand = true;
    }

    // Skipping

    /// Skips the next token, whatever it is.
    fn skip(&mut self) -> Token {
        let end = Token { kind: TokenKind::End, span: self.previous };
        let token = self.tokens.get(self.at).copied().unwrap_or(end);
        self.take(token);
        token
    }

    /// Skips tokens up to and with `close`, over pairs of it and its opposite. Returns the place of the last token.
    pub(super) fn skip_to(&mut self, close: TokenKind) -> Span {
        self.recovery = true;
        let mut open = 0_usize;
        loop {
            let token = self.skip();
            match token.kind {
                TokenKind::End => return token.span,
                kind if kind == close && open == 0 => return token.span,
                kind if kind == close => open -= 1,
                kind if closer(kind) == Some(close) => open += 1,
                _ => {}
            }
        }
    }

    /// Skips tokens up to the next parenthesis, and its contents.
    pub(super) fn skip_over_parens(&mut self) {
        while !matches!(self.skip().kind, TokenKind::OpenParen | TokenKind::End) {}
        self.skip_to(TokenKind::CloseParen);
    }

    /// Skips tokens up to the end of a line that is outside of all brackets opened on the way. Returns its place.
    pub(super) fn skip_item(&mut self) -> Span {
        self.recovery = true;
        let mut open: Vec<TokenKind> = Vec::new();
        loop {
            let token = self.skip();
            if token.kind == TokenKind::End || open.is_empty() && self.is_line_end(token) {
                return token.span;
            }
            match closer(token.kind) {
                Some(close) => open.push(close),
                None if is_closer(token.kind) => while open.pop().is_some_and(|top| top != token.kind) {},
                None => {}
            }
        }
    }

    // Symbols

    /// Gives the grammar a symbol that stands for no token.
    pub(super) fn insert(&mut self, symbol: Symbol) {
        let at = self.previous.end;
        self.give(symbol, Span::new(at, at));
    }

    /// Gives the grammar a symbol in the place of the tokens at `span`.
    pub(super) fn give(&mut self, symbol: Symbol, span: Span) {
        self.repairs.push_back((span.start, symbol, span.end));
        self.remember(symbol, span);
    }

    /// Skips the rest of the innermost construct and closes it.
    pub(super) fn skip_and_close(&mut self) {
        let close = self.level().close;
        let end = self.skip_to(close);
        self.close_with(Symbol::Token(close), end);
    }

    /// The same, where the grammar has to drop the contents.
    pub(super) fn skip_and_drop(&mut self) {
        let end = self.skip_to(self.level().close);
        self.close_with(Symbol::BadEnd, end);
    }

    /// Closes the innermost construct.
    pub(super) fn close_with(&mut self, symbol: Symbol, span: Span) {
        let close = self.level().close;
        self.pop();
        self.repairs.push_back((span.start, symbol, span.end));
        self.remember(Symbol::Token(close), span);
    }
}

/// Tokens that open something, with those that close it.
const PAIRS: [(TokenKind, TokenKind); 7] = [
    (TokenKind::OpenBrace, TokenKind::CloseBrace),
    (TokenKind::OpenBracket, TokenKind::CloseBracket),
    (TokenKind::OpenParen, TokenKind::CloseParen),
    (TokenKind::OpenQuote, TokenKind::CloseQuote),
    (TokenKind::OpenHeredoc, TokenKind::CloseHeredoc),
    (TokenKind::OpenInterpolation, TokenKind::CloseSequence),
    (TokenKind::OpenDirective, TokenKind::CloseSequence),
];

/// The kind of token that closes what a token opens.
fn closer(open: TokenKind) -> Option<TokenKind> {
    PAIRS.into_iter().find(|pair| pair.0 == open).map(|pair| pair.1)
}

fn is_closer(kind: TokenKind) -> bool {
    PAIRS.into_iter().any(|pair| pair.1 == kind)
}
