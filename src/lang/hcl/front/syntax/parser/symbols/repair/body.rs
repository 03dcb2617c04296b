//! Repairs of items of bodies, of constructs that end early or are not closed, and of traversals, which end at the first
//! error.

use super::Wording;
use crate::syntax::parser::symbols::tokens::{ForPart, Inside, Item, ItemPart};
use crate::syntax::parser::symbols::{Symbol, Symbols, repair};
use crate::syntax::{Token, TokenKind};
use dropforge_base::text::Span;

const BRACE: Symbol = Symbol::Token(TokenKind::CloseBrace);
const LINE: Symbol = Symbol::Token(TokenKind::Newline);

impl Symbols<'_> {
    pub(super) fn repair_item(&mut self, token: Token) {
        let name = self.item.name;
        match self.item.part {
            ItemPart::Start => self.no_item(token),
            ItemPart::Name => {
                self.report(name, None, repair::ONLY_A_NAME);
                self.drop_item();
            }
            ItemPart::Labels => {
                let context = Some(name.to(token.span));
                match token.kind {
                    TokenKind::Equal => self.report(token.span, context, repair::HEADER_EQUALS),
                    TokenKind::Newline => self.report(token.span, context, repair::HEADER_LINE),
                    _ => self.report_first(token.span, context, repair::HEADER),
                }
                self.drop_item();
            }
            ItemPart::Open => {
                self.report(token.span, None, repair::NO_ARGUMENT);
                self.take(token);
                self.drop_argument();
            }
            ItemPart::Inner => {
                if matches!(token.kind, TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier) {
                    self.report(self.item.inner.to(token.span), None, repair::SINGLE_BLOCK);
                } else {
                    self.report(self.item.inner, None, repair::ONLY_A_NAME);
                }
                self.drop_argument();
            }
            ItemPart::EndShort => self.missing_line(token, name),
            ItemPart::EndBlock => self.missing_line(token, self.blocks.last().map_or(name, |block| block.name)),
        }
    }

    /// Something begins no item: the body is given up.
    fn no_item(&mut self, bad: Token) {
        self.take(bad);
        let block = self.blocks.last().copied();
        match (bad.kind, block) {
            (TokenKind::OpenQuote, _) => self.report_first(bad.span, None, repair::QUOTED_NAME),
            (TokenKind::End, Some(Item { open, .. })) => self.report_first(open, None, repair::UNCLOSED_BLOCK),
            _ => self.report_first(bad.span, None, repair::NO_ITEM),
        }
        self.insert(Symbol::Missing(bad.span));
        if block.is_some() {
            let close = self.skip_to(TokenKind::CloseBrace);
            self.give(BRACE, close);
            self.item.part = ItemPart::EndBlock;
        } else {
            let end = self.skip_to(TokenKind::End);
            self.give(LINE, end);
            self.ended = true;
        }
    }

    /// Ends an item without its rest.
    fn drop_item(&mut self) {
        let line = self.skip_item();
        self.insert(Symbol::Missing(self.previous));
        self.give(LINE, line);
    }

    /// Something stands after the closing brace of the block `name`.
    fn missing_line(&mut self, token: Token, name: Span) {
        self.report_first(token.span, Some(name.to(token.span)), repair::BLOCK_LINE);
        let line = self.skip_item();
        self.give(LINE, line);
    }

    fn leave_value(&mut self, token: Token, given_up: bool) {
        self.pop();
        if self.item.part == ItemPart::Inner {
            if given_up {
                self.skip_item();
            }
            return self.end_single();
        }
        let comma = token.kind == TokenKind::Comma;
        let wording = if comma { repair::ARGUMENT_COMMA } else { repair::ARGUMENT_LINE };
        self.report_first(token.span, Some(self.item.name.to(token.span)), wording);
        let line = self.skip_item();
        self.give(LINE, line);
    }

    // Blocks on one line

    /// Ends a block on one line without its argument.
    fn drop_argument(&mut self) {
        self.skip_item();
        self.insert(Symbol::Missing(self.previous));
        self.end_single();
    }

    /// The brace that closes a block on one line. Errors about it come before those about the argument.
    fn end_single(&mut self) {
        let Item { name, open, inner_reports, .. } = self.item;
        self.item.part = ItemPart::EndShort;
        let (next, at) = self.look(self.at);
        self.at = at;
        let (reports, recovery) = (self.reports.len(), self.recovery);
        match next.kind {
            TokenKind::CloseBrace => {}
            TokenKind::Comma => self.report(next.span, None, repair::SINGLE_COMMA),
            TokenKind::Newline => self.report(next.span, None, repair::SINGLE_LINE),
            TokenKind::End => self.report_first(open, Some(name.to(open)), repair::UNCLOSED_BLOCK),
            _ => self.report_first(next.span, None, repair::SINGLE_END),
        }
        self.reports.bring_forward(reports, inner_reports);
        let close = self.skip_to(TokenKind::CloseBrace);
        self.recovery = recovery || next.kind != TokenKind::CloseBrace;
        self.give(BRACE, close);
    }

    // Labels

    pub(super) fn repair_label(&mut self, token: Token) {
        let context = Some(self.level().open.to(token.span));
        self.take(token);
        match token.kind {
            TokenKind::OpenInterpolation | TokenKind::OpenDirective => {
                self.report(token.span, context, repair::LABEL_SEQUENCE);
                self.skip_to(TokenKind::CloseSequence);
                return self.insert(Symbol::Missing(token.span));
            }
            TokenKind::End => self.report(token.span, context, repair::UNCLOSED_LABEL),
            _ => {
                self.report(token.span, context, repair::LABEL);
                self.skip_to(TokenKind::CloseQuote);
            }
        }
        self.close_with(Symbol::Token(TokenKind::CloseQuote), token.span);
    }
}

impl Symbols<'_> {
    /// Leaves the innermost construct after an expression: because of an error in it (`given_up`), or because `token`
    /// cannot follow.
    pub(super) fn leave(&mut self, token: Token, given_up: bool) {
        let open = self.level().open;
        let (at, at_end) = (token.span, token.kind == TokenKind::End);
        match self.level().inside {
            Inside::Value => self.leave_value(token, given_up),
            Inside::Whole => {
                if !at_end {
                    self.report_first(at, None, repair::MORE);
                }
                self.ended = true;
            }
            Inside::Paren => self.leave_paren(token, given_up),
            Inside::Call => self.leave_call(token, given_up),
            Inside::Tuple => {
                if at_end {
                    self.report_first(open, None, repair::UNCLOSED_TUPLE);
                } else {
                    self.report_first(at, Some(open.to(at)), repair::ELEMENTS);
                }
                self.skip_and_close();
            }
            Inside::Index => self.leave_index(token, given_up, repair::UNCLOSED_INDEX),
            Inside::Splat => self.leave_index(token, given_up, repair::UNCLOSED_SPLAT),
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
        self.report(token.span, Some(self.level().open.to(token.span)), repair::UNCLOSED_PAREN);
        self.recovery = true;
        self.take(token);
        self.close_with(Symbol::Token(TokenKind::CloseParen), token.span);
    }

    fn leave_call(&mut self, token: Token, given_up: bool) {
        let (callee, open) = (self.level().from, self.level().open);
        if self.last == Symbol::Token(TokenKind::Ellipsis) {
            self.report_first(self.previous, Some(callee.to(self.previous)), repair::ELLIPSIS);
        } else if !given_up {
            self.take(token);
            if token.kind == TokenKind::End {
                self.report(callee.to(open), None, repair::UNCLOSED_CALL);
            } else {
                self.report(token.span, Some(callee.to(token.span)), repair::ARGUMENTS);
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
            (_, TokenKind::End) => repair::UNCLOSED_OBJECT,
            (true, _) => repair::ENTRIES,
            (false, TokenKind::Newline | TokenKind::Comma) => repair::NO_VALUE,
            (false, TokenKind::Identifier) => repair::KEY_NAME,
            (false, _) => repair::KEY,
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
        self.report_first(token.span, context, repair::FOR_END);
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
            (key.filter(|_| !object), repair::FOR_KEY),
            (value.filter(|_| object && key.is_none()), repair::FOR_NO_KEY),
            (ellipsis.filter(|_| !object), repair::FOR_GROUP),
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
        ForPart::Names => repair::FOR_NAME,
        ForPart::Comma => repair::FOR_SECOND_NAME,
        ForPart::Name | ForPart::SecondName => repair::FOR_IN,
        _ => repair::FOR_COLON,
    }
}

impl Symbols<'_> {
    pub(super) fn repair_traversal(&mut self, token: Token) {
        use TokenKind::{CloseBracket, Dot, Identifier, OpenBracket, Star};
        let root = self.level().first.map(|root| root.to(token.span));
        let (context, wording) = match self.last {
            Symbol::Traversal { .. } => (None, repair::NO_ROOT),
            Symbol::Token(Dot | OpenBracket) if token.kind == Star => (root, repair::NO_SPLAT),
            Symbol::Token(Dot) => (root, repair::NO_STEP),
            Symbol::Token(OpenBracket) => (root, repair::NO_KEY),
            Symbol::Token(Identifier | CloseBracket) => (root, repair::STEP),
            _ => (Some(self.level().open.to(token.span)), repair::UNCLOSED_KEY),
        };
        self.report(token.span, context, wording);
        self.insert(Symbol::Missing(token.span));
        self.ended = true;
    }
}
