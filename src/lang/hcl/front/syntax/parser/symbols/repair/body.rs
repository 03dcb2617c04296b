//! Items of bodies.

use super::wording;
use crate::syntax::parser::symbols::level::{Item, ItemPart};
use crate::syntax::parser::symbols::{Symbol, Symbols};
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
                self.report(name, None, wording::ONLY_A_NAME);
                self.drop_item();
            }
            ItemPart::Labels => {
                let context = Some(name.to(token.span));
                match token.kind {
                    TokenKind::Equal => self.report(token.span, context, wording::HEADER_EQUALS),
                    TokenKind::Newline => self.report(token.span, context, wording::HEADER_LINE),
                    _ => self.report_first(token.span, context, wording::HEADER),
                }
                self.drop_item();
            }
            ItemPart::Open => {
                self.report(token.span, None, wording::NO_ARGUMENT);
                self.take(token);
                self.drop_argument();
            }
            ItemPart::Inner => {
                if matches!(token.kind, TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier) {
                    self.report(self.item.inner.to(token.span), None, wording::SINGLE_BLOCK);
                } else {
                    self.report(self.item.inner, None, wording::ONLY_A_NAME);
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
            (TokenKind::OpenQuote, _) => self.report_first(bad.span, None, wording::QUOTED_NAME),
            (TokenKind::End, Some(Item { open, .. })) => self.report_first(open, None, wording::UNCLOSED_BLOCK),
            _ => self.report_first(bad.span, None, wording::NO_ITEM),
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

    /// Something stands behind the closing brace of the block `name`.
    fn missing_line(&mut self, token: Token, name: Span) {
        self.report_first(token.span, Some(name.to(token.span)), wording::BLOCK_LINE);
        let line = self.skip_item();
        self.give(LINE, line);
    }

    pub(super) fn leave_value(&mut self, token: Token, given_up: bool) {
        self.pop();
        if self.item.part == ItemPart::Inner {
            if given_up {
                self.skip_item();
            }
            return self.end_single();
        }
        let comma = token.kind == TokenKind::Comma;
        let wording = if comma { wording::ARGUMENT_COMMA } else { wording::ARGUMENT_LINE };
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
            TokenKind::Comma => self.report(next.span, None, wording::SINGLE_COMMA),
            TokenKind::Newline => self.report(next.span, None, wording::SINGLE_LINE),
            TokenKind::End => self.report_first(open, Some(name.to(open)), wording::UNCLOSED_BLOCK),
            _ => self.report_first(next.span, None, wording::SINGLE_END),
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
                self.report(token.span, context, wording::LABEL_SEQUENCE);
                self.skip_to(TokenKind::CloseSequence);
                return self.insert(Symbol::Missing(token.span));
            }
            TokenKind::End => self.report(token.span, context, wording::UNCLOSED_LABEL),
            _ => {
                self.report(token.span, context, wording::LABEL);
                self.skip_to(TokenKind::CloseQuote);
            }
        }
        self.close_with(Symbol::Token(TokenKind::CloseQuote), token.span);
    }
}
