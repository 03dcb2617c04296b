//! Templates, and the escapes in their text.

use super::constructs::expectation;
use super::wording;
use super::wording::Wording;
use crate::syntax::lexer::{Piece, Wrong, escape_of};
use crate::syntax::parser::symbols::level::ForPart;
use crate::syntax::parser::symbols::{Directive, Symbol, Symbols};
use crate::syntax::{Token, TokenKind, scan_string_literal};
use dropforge_base::diagnostics::{Code, nearest};
use dropforge_base::text::Span;

impl Symbols<'_> {
    /// Reports unknown and incomplete escapes of text in quotes.
    pub(in super::super) fn check_escapes(&mut self, quoted: Span) {
        let text = self.slice(quoted);
        if memchr::memchr(b'\\', text.as_bytes()).is_none() {
            return;
        }
        for at in scan_string_literal(text, true) {
            let written = text.get(at.range()).unwrap_or("");
            let Piece::Wrong(what) = escape_of(written, true) else { continue };
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
    pub(super) fn repair_text(&mut self, token: Token) {
        let close = self.level().close;
        let context = self.level().first.map(|first| first.to(token.span));
        self.report_first(token.span, context, wording::UNCLOSED_TEMPLATE);
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
            self.report_first(first, None, wording::UNCLOSED_INTERPOLATION);
        } else {
            self.report_first(token.span, Some(first.to(token.span)), wording::INTERPOLATION);
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
            self.report_first(word.span, context, wording::NO_DIRECTIVE);
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
        let wording = Wording { summary: wording::FOR_DIRECTIVE, ..expectation(part) };
        self.report_first(token.span, None, wording);
        self.drop_for(part);
    }
}
