//! Constructs that end early or are not closed, and traversals, which end at the first error.

use super::wording;
use super::wording::Wording;
use crate::syntax::parser::symbols::level::{ForPart, Inside};
use crate::syntax::parser::symbols::{Symbol, Symbols};
use crate::syntax::{Token, TokenKind};
use dropforge_base::text::Span;

impl Symbols<'_> {
    /// Leaves the innermost construct behind an expression: because of an error in it (`given_up`), or because `token`
    /// cannot follow.
    pub(super) fn leave(&mut self, token: Token, given_up: bool) {
        let open = self.level().open;
        let (at, at_end) = (token.span, token.kind == TokenKind::End);
        match self.level().inside {
            Inside::Value => self.leave_value(token, given_up),
            Inside::Whole => {
                if !at_end {
                    self.report_first(at, None, wording::MORE);
                }
                self.ended = true;
            }
            Inside::Paren => self.leave_paren(token, given_up),
            Inside::Call => self.leave_call(token, given_up),
            Inside::Tuple => {
                if at_end {
                    self.report_first(open, None, wording::UNCLOSED_TUPLE);
                } else {
                    self.report_first(at, Some(open.to(at)), wording::ELEMENTS);
                }
                self.skip_and_close();
            }
            Inside::Index => self.leave_index(token, given_up, wording::UNCLOSED_INDEX),
            Inside::Splat => self.leave_index(token, given_up, wording::UNCLOSED_SPLAT),
            Inside::Object { value } => self.leave_object(token, value),
            Inside::Interpolation => self.leave_interpolation(token),
            Inside::Directive(directive) => self.leave_directive(token, directive),
            Inside::For(part) if self.level().is_sequence() => self.leave_for_directive(token, part),
            Inside::For(part) => self.leave_for(token, given_up, part),
            // These hold no expressions.
            Inside::Item | Inside::Traversal { .. } | Inside::Label | Inside::Text => {}
        }
    }

    fn leave_paren(&mut self, token: Token, given_up: bool) {
        if given_up || self.level().is_wrong() {
            return self.skip_and_drop();
        }
        self.report(token.span, Some(self.level().open.to(token.span)), wording::UNCLOSED_PAREN);
        self.recovery = true;
        self.take(token);
        self.close_with(Symbol::Token(TokenKind::CloseParen), token.span);
    }

    fn leave_call(&mut self, token: Token, given_up: bool) {
        let (callee, open) = (self.level().from, self.level().open);
        if self.last == Symbol::Token(TokenKind::Ellipsis) {
            self.report_first(self.previous, Some(callee.to(self.previous)), wording::ELLIPSIS);
        } else if !given_up {
            self.take(token);
            if token.kind == TokenKind::End {
                self.report(callee.to(open), None, wording::UNCLOSED_CALL);
            } else {
                self.report(token.span, Some(callee.to(token.span)), wording::ARGUMENTS);
            }
        }
        self.skip_and_close();
    }

    fn leave_index(&mut self, token: Token, given_up: bool, wording: Wording) {
        if given_up {
            return self.skip_and_close();
        }
        let (first, mut end) = (!self.recovery, token.span);
        self.take(token);
        if first {
            // Like the reference, points at the bracket that ends the skipped tokens.
            end = self.skip_to(TokenKind::CloseBracket);
            self.report(end, None, wording);
        }
        self.close_with(Symbol::Token(TokenKind::CloseBracket), end);
    }

    fn leave_object(&mut self, token: Token, behind_value: bool) {
        let open = self.level().open;
        let wording = match (behind_value, token.kind) {
            (_, TokenKind::End) => wording::UNCLOSED_OBJECT,
            (true, _) => wording::ENTRIES,
            (false, TokenKind::Newline | TokenKind::Comma) => wording::NO_VALUE,
            (false, TokenKind::Identifier) => wording::KEY_NAME,
            (false, _) => wording::KEY,
        };
        if token.kind == TokenKind::End {
            self.report_first(open, None, wording);
        } else {
            self.report_first(token.span, Some(open.to(token.span)), wording);
        }
        if !behind_value {
            self.insert(Symbol::Missing(token.span));
        }
        self.skip_and_close();
    }

    // `for`

    fn leave_for(&mut self, token: Token, given_up: bool, part: ForPart) {
        let context = Some(self.level().open.to(token.span));
        if given_up || part == ForPart::Value && self.recovery && self.level().is_wrong() {
            return self.drop_for(part);
        }
        if part <= ForPart::Collection {
            self.report_first(token.span, context, expectation(part));
            return self.drop_for(part);
        }
        self.end_for_value();
        self.report_first(token.span, context, wording::FOR_END);
        let close = self.level().close;
        let end = self.skip_to(close);
        self.end_for(end);
        self.close_with(Symbol::Token(close), end);
    }

    /// Completes the innermost `for` so that nothing is left of it.
    pub(super) fn drop_for(&mut self, part: ForPart) {
        let missing = Symbol::Missing(self.previous);
        if matches!(part, ForPart::Names | ForPart::Comma) {
            self.insert(Symbol::Token(TokenKind::Identifier));
        }
        if part < ForPart::Collection {
            self.insert(Symbol::In);
            self.insert(missing);
        }
        if part <= ForPart::Collection && !self.level().is_sequence() {
            self.insert(Symbol::Token(TokenKind::Colon));
            self.insert(missing);
        }
        self.skip_and_drop();
    }

    /// Reports parts of a `for` in brackets that only the other kind has, and a missing key.
    pub(in super::super) fn end_for(&mut self, close: Span) {
        self.end_for_value();
        let level = self.level();
        let (key, value, ellipsis) = (level.key, level.value, level.ellipsis);
        let context = Some(level.open.to(close));
        let object = level.close == TokenKind::CloseBrace;
        let faults = [
            (key.filter(|_| !object), wording::FOR_KEY),
            (value.filter(|_| object && key.is_none()), wording::FOR_NO_KEY),
            (ellipsis.filter(|_| !object), wording::FOR_GROUP),
        ];
        for (span, wording) in faults {
            if let Some(span) = span {
                self.report(span, context, wording);
            }
        }
    }
}

/// The error for a token that cannot follow in a `for`.
pub(super) fn expectation(part: ForPart) -> Wording {
    match part {
        ForPart::Names => wording::FOR_NAME,
        ForPart::Comma => wording::FOR_SECOND_NAME,
        ForPart::Name | ForPart::SecondName => wording::FOR_IN,
        _ => wording::FOR_COLON,
    }
}

impl Symbols<'_> {
    pub(super) fn repair_traversal(&mut self, token: Token) {
        use TokenKind::{CloseBracket, Dot, Identifier, OpenBracket, Star};
        let root = self.level().first.map(|root| root.to(token.span));
        let (context, wording) = match self.last {
            Symbol::Traversal { .. } => (None, wording::NO_ROOT),
            Symbol::Token(Dot | OpenBracket) if token.kind == Star => (root, wording::NO_SPLAT),
            Symbol::Token(Dot) => (root, wording::NO_STEP),
            Symbol::Token(OpenBracket) => (root, wording::NO_KEY),
            Symbol::Token(Identifier | CloseBracket) => (root, wording::STEP),
            _ => (Some(self.level().open.to(token.span)), wording::UNCLOSED_KEY),
        };
        self.report(token.span, context, wording);
        self.insert(Symbol::Missing(token.span));
        self.ended = true;
    }
}
