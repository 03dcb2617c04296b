//! Repairs of operands and the steps after them, of conditionals, and of templates and the escapes in their text.

use super::Wording;
use super::body::expectation;
use crate::syntax::build::is_number;
use crate::syntax::lexer::{LiteralPiece, Wrong, escape_of};
use crate::syntax::parser::symbols::tokens::{ForPart, Inside};
use crate::syntax::parser::symbols::{Directive, Symbol, Symbols, repair};
use crate::syntax::{Token, TokenKind, scan_string_literal};
use dropforge_base::diagnostics::{Code, nearest};
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
            (_, Symbol::Token(TokenKind::Identifier)) if self.scoped => self.broken_callee(token, repair::NO_PAREN),
            _ if self.operand && self.level().expects_else() => self.missing_else(token),
            _ if self.operand => self.leave(token, false),
            (_, Symbol::Token(TokenKind::DoubleColon)) => self.broken_callee(token, repair::NO_FUNCTION),
            (_, Symbol::Token(TokenKind::Dot)) => {
                self.report(token.span, None, repair::NO_ATTRIBUTE);
                self.missing(token.span);
            }
            (_, Symbol::Token(TokenKind::Ellipsis)) => self.leave(token, false),
            (Inside::Splat | Inside::Directive(None), _) => self.leave(token, false),
            (Inside::Directive(_), Symbol::Directive(word)) if word != Directive::If => self.leave(token, false),
            (Inside::For(part), _) if part < ForPart::Collection => self.leave(token, false),
            _ => {
                let at_end = token.kind == TokenKind::End;
                let wording = if at_end { repair::NO_EXPRESSION } else { repair::BAD_EXPRESSION };
                self.report_first(token.span, None, wording);
                self.missing(token.span);
            }
        }
    }

    /// Continues after an operand if an error before it has the reference read the next token in another way than the
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
            // The `for` is given up only after its value.
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
            self.report(token.span, Some(conditional.first.to(token.span)), repair::NO_ELSE);
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
            self.report(span, None, repair::NUMBER);
        }
    }

    /// Reports a step that cannot follow `.*`, whose dot is `dot`. Returns `false` without such a step.
    fn broken_splat(&mut self, dot: Token) -> bool {
        let (next, _) = self.look(self.at + 1);
        match next.kind {
            TokenKind::Identifier | TokenKind::Number => return false,
            TokenKind::Star => self.report_first(next.span, None, repair::NESTED_SPLAT),
            _ => self.report_first(self.star, None, repair::NO_ATTRIBUTE),
        }
        self.take(dot);
        self.recovery = true;
        self.level_mut().attributes = false;
        true
    }
}

impl Symbols<'_> {
    /// Reports unknown and incomplete escapes of text in quotes.
    pub(in super::super) fn check_escapes(&mut self, quoted: Span) {
        let text = self.slice(quoted);
        if memchr::memchr(b'\\', text.as_bytes()).is_none() {
            return;
        }
        for at in scan_string_literal(text, true) {
            let written = text.get(at.range()).unwrap_or("");
            let LiteralPiece::Wrong(what) = escape_of(written, true) else { continue };
            let detail = match what {
                Wrong::Cut => "Expected a character after the backslash.".to_owned(),
                Wrong::Short => "Expected four hexadecimal digits after `\\u`.".to_owned(),
                Wrong::Long => "Expected eight hexadecimal digits after `\\U`.".to_owned(),
                Wrong::NoCharacter => format!("`{written}` is not a valid code point."),
                Wrong::Unknown => format!("Unknown escape `{written}`."),
            };
            let place = Span::new(quoted.start + at.start, quoted.start + at.end);
            self.report_as(Code::UnexpectedToken, place, None, "Invalid escape sequence", detail);
        }
    }

    /// Reports the directives without a counterpart in the innermost template, which ends at `end`. Returns the symbol
    /// that closes the template.
    pub(in super::super) fn end_template(&mut self, end: Span) -> Symbol {
        let mut symbol = Symbol::Token(self.level().close);
        // The open directives, and whether they may have an `else`.
        let mut open: Vec<(Directive, bool)> = Vec::new();
        for (directive, span) in std::mem::take(&mut self.level_mut().directives) {
            match (directive, open.last_mut()) {
                (Directive::If | Directive::For, _) => open.push((directive, true)),
                (Directive::Else, Some((Directive::If, may_have_else @ true))) => *may_have_else = false,
                (Directive::EndIf, Some((Directive::If, _))) | (Directive::EndFor, Some((Directive::For, _))) => {
                    open.pop();
                }
                _ => {
                    symbol = Symbol::BadEnd;
                    self.misplaced(span, Some(directive), open.pop());
                }
            }
        }
        while let Some(around) = open.pop() {
            symbol = Symbol::BadEnd;
            self.misplaced(end, None, Some(around));
        }
        symbol
    }

    /// Reports a directive, or the end of a template, that cannot stand inside the directive `around`.
    fn misplaced(&mut self, span: Span, directive: Option<Directive>, around: Option<(Directive, bool)>) {
        let summary = match directive {
            None => "Unexpected end of template".to_owned(),
            Some(directive) => format!("Unexpected {} directive", directive.name()),
        };
        let detail = match (directive, around) {
            (_, None) => "No directive is open here.".to_owned(),
            (None, Some((around, _))) => format!("The directive `{}` is not closed.", around.name()),
            (Some(_), Some((around, _))) => {
                format!("It is inside the directive `{}`, which must be closed first.", around.name())
            }
        };
        self.report_as(Code::MisplacedTag, span, None, &summary, detail);
    }

    /// A token that cannot stand in a template ends it.
    fn repair_text(&mut self, token: Token) {
        let close = self.level().close;
        let context = self.level().first.map(|first| first.to(token.span));
        self.report_first(token.span, context, repair::UNCLOSED_TEMPLATE);
        self.take(token);
        let end = self.skip_to(close);
        if close == TokenKind::End {
            self.end_text(end);
        } else {
            let symbol = self.end_template(end);
            self.close_with(symbol, end);
        }
    }

    /// Ends a template that is a text of its own.
    pub(in super::super) fn end_text(&mut self, end: Span) {
        let symbol = self.end_template(end);
        if symbol == Symbol::BadEnd {
            self.give(symbol, end);
        }
        self.ended = true;
    }

    pub(super) fn leave_interpolation(&mut self, token: Token) {
        let text = self.around();
        let first = text.first.unwrap_or(token.span);
        let quote = matches!(token.kind, TokenKind::OpenQuote | TokenKind::CloseQuote);
        if token.kind == TokenKind::End || quote && text.close == TokenKind::CloseQuote {
            self.report_first(first, None, repair::UNCLOSED_INTERPOLATION);
        } else {
            self.report_first(token.span, Some(first.to(token.span)), repair::INTERPOLATION);
        }
        self.close_sequence(token);
    }

    /// Closes a sequence that should have ended before `token`.
    fn close_sequence(&mut self, token: Token) {
        self.skip_to(TokenKind::CloseSequence);
        self.close_with(Symbol::Token(TokenKind::CloseSequence), token.span);
    }

    pub(super) fn leave_directive(&mut self, token: Token, directive: Option<Directive>) {
        let Some(directive) = directive else { return self.repair_directive(token) };
        if !self.recovery {
            let context = Some(self.around().first.unwrap_or(token.span).to(token.span));
            let summary = format!("Extra characters in {} marker", directive.name());
            let detail = "Expected the closing brace of the directive.";
            self.report_as(Code::UnexpectedToken, token.span, context, &summary, detail);
        }
        self.end_directive(token.span);
        self.close_sequence(token);
    }

    /// A directive that begins with no word, or with an unknown one.
    fn repair_directive(&mut self, word: Token) {
        let context = Some(self.level().open.to(word.span));
        if word.kind == TokenKind::Identifier {
            self.take(word);
            self.report_directive(word.span, context);
        } else {
            self.report_first(word.span, context, repair::NO_DIRECTIVE);
        }
        self.insert(Symbol::Missing(word.span));
        self.skip_and_close();
    }

    fn report_directive(&mut self, word: Span, context: Option<Span>) {
        let written = self.slice(word);
        let detail = match nearest(written, Directive::ALL.map(Directive::name)) {
            Some(near) => format!("Unknown directive `{written}`; did you mean `{near}`?"),
            None => format!("Unknown directive `{written}`."),
        };
        if !self.recovery {
            self.report_as(Code::UnexpectedToken, word, context, "Invalid template control keyword", detail);
        }
    }

    pub(super) fn leave_for_directive(&mut self, token: Token, part: ForPart) {
        if part >= ForPart::Collection {
            return self.leave_directive(token, Some(Directive::For));
        }
        let wording = Wording { summary: repair::FOR_DIRECTIVE, ..expectation(part) };
        self.report_first(token.span, None, wording);
        self.drop_for(part);
    }
}
