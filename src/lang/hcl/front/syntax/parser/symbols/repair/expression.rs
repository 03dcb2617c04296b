//! Operands, the steps behind them, and conditionals.

use super::wording;
use super::wording::Wording;
use crate::syntax::build::is_number;
use crate::syntax::parser::symbols::level::{ForPart, Inside};
use crate::syntax::parser::symbols::{Directive, Symbol, Symbols};
use crate::syntax::{Token, TokenKind};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

impl Symbols<'_> {
    /// Deals with the error at a refused token.
    pub(in super::super) fn repair(&mut self, token: Token) {
        let inside = self.level().inside;
        match (inside, self.last) {
            (Inside::Item, _) => self.repair_item(token),
            (Inside::Label, _) => self.repair_label(token),
            (Inside::Text, _) => self.repair_text(token),
            (Inside::Traversal { .. }, _) => self.repair_traversal(token),
            (_, Symbol::Token(TokenKind::Identifier)) if self.scoped => self.broken_callee(token, wording::NO_PAREN),
            _ if self.operand && self.level().expects_else() => self.missing_else(token),
            _ if self.operand => self.leave(token, false),
            (_, Symbol::Token(TokenKind::DoubleColon)) => self.broken_callee(token, wording::NO_FUNCTION),
            (_, Symbol::Token(TokenKind::Dot)) => {
                self.report(token.span, None, wording::NO_ATTRIBUTE);
                self.missing(token.span);
            }
            (_, Symbol::Token(TokenKind::Ellipsis)) => self.leave(token, false),
            (Inside::Splat | Inside::Directive(None), _) => self.leave(token, false),
            (Inside::Directive(_), Symbol::Directive(word)) if word != Directive::If => self.leave(token, false),
            (Inside::For(part), _) if part < ForPart::Collection => self.leave(token, false),
            _ => {
                let at_end = token.kind == TokenKind::End;
                let wording = if at_end { wording::NO_EXPRESSION } else { wording::BAD_EXPRESSION };
                self.report_first(token.span, None, wording);
                self.missing(token.span);
            }
        }
    }

    /// Goes on behind an operand if an error before it has the reference read the next token in another way than the
    /// grammar. Returns `false` if it has not.
    pub(in super::super) fn goes_on(&mut self, token: Token) -> bool {
        let level = self.level();
        if level.attributes && token.kind == TokenKind::Dot && self.broken_splat(token) {
            return true;
        }
        let level = self.level();
        let step = matches!(token.kind, TokenKind::Dot | TokenKind::OpenBracket);
        match level.inside {
            _ if !level.is_wrong() => return false,
            Inside::Item | Inside::Label | Inside::Traversal { .. } => return false,
            _ if self.recovery && level.wrong_operand && !step => self.give_up(token),
            Inside::Paren if token.kind == TokenKind::CloseParen => self.leave(token, true),
            Inside::For(ForPart::Value) if self.recovery && self.ends_for_value(token) => self.leave(token, true),
            _ => return false,
        }
        true
    }

    /// Returns `true` for tokens that may follow the value of a `for`.
    fn ends_for_value(&self, token: Token) -> bool {
        token.kind == self.level().close
            || token.kind == TokenKind::Ellipsis
            || token.kind == TokenKind::Identifier && self.slice(token.span) == "if"
    }

    /// Gives up the current expression and the construct that it stands in.
    fn give_up(&mut self, token: Token) {
        self.insert(Symbol::GivenUp);
        self.end_conditionals();
        self.level_mut().end_operand();
        if self.level().inside == Inside::For(ForPart::First) && token.kind == TokenKind::FatArrow {
            // The `for` is given up only behind its value.
            self.operand = true;
        } else {
            self.leave(token, true);
        }
    }

    /// Completes all conditionals of the current expression.
    fn end_conditionals(&mut self) {
        while let Some(conditional) = self.level_mut().conditionals.pop() {
            if !conditional.has_else {
                self.insert(Symbol::Missing(self.previous));
            }
        }
    }

    /// Something was missing before the token at `span`.
    fn missing(&mut self, span: Span) {
        self.recovery = true;
        self.insert(Symbol::Missing(span));
    }

    fn broken_callee(&mut self, token: Token, wording: Wording) {
        self.report(token.span, Some(self.callee.to(token.span)), wording);
        self.take(token);
        self.skip_over_parens();
        self.missing(token.span);
    }

    /// Reports the conditionals without a colon.
    fn missing_else(&mut self, token: Token) {
        while let Some(conditional) = self.level_mut().conditionals.pop() {
            self.level_mut().first = Some(conditional.first);
            if conditional.has_else {
                continue;
            }
            self.report(token.span, Some(conditional.first.to(token.span)), wording::NO_ELSE);
            self.insert(Symbol::Missing(token.span));
            self.operand_end = conditional.condition_end;
            if self.recovery {
                self.end_conditionals();
                return self.leave(token, true);
            }
        }
    }

    // Numbers and steps

    /// Reports a number that is out of bounds, and two indexes in one number.
    pub(in super::super) fn check_number(&mut self, span: Span) {
        let digits = self.slice(span);
        let is_step = self.last == Symbol::Token(TokenKind::Dot);
        if let Some((first, second)) = digits.split_once('.').filter(|_| is_step) {
            let at = if self.level().attributes { self.star } else { span };
            let detail = format!("Two indexes after dots cannot follow each other; write `[{first}][{second}]`.");
            self.report_as(Code::UnexpectedToken, at, None, "Invalid legacy index syntax", detail);
        } else if !is_number(digits) {
            self.report(span, None, wording::NUMBER);
        }
    }

    /// Reports a step that cannot follow `.*`, whose dot is `dot`. Returns `false` if there is none.
    fn broken_splat(&mut self, dot: Token) -> bool {
        let (next, _) = self.look(self.at + 1);
        match next.kind {
            TokenKind::Identifier | TokenKind::Number => return false,
            TokenKind::Star => self.report_first(next.span, None, wording::NESTED_SPLAT),
            _ => self.report_first(self.star, None, wording::NO_ATTRIBUTE),
        }
        self.take(dot);
        self.recovery = true;
        self.level_mut().attributes = false;
        true
    }
}
