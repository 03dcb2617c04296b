//! Templates, and the escapes in their text.

use super::{Faults, Frame, Got, Next};
use crate::diagnostics::{Code, nearest};
use crate::dialect::hcl::syntax::build::{Directive, ForNames, unbalanced};
use crate::dialect::hcl::syntax::escape::{self, Piece, Wrong};
use crate::dialect::hcl::syntax::lexer::scan_string_literal;
use crate::dialect::hcl::syntax::token::{Token, TokenKind};
use crate::dialect::hcl::syntax::tree::ExprId;
use crate::text::Span;

/// A template that is being read.
#[derive(Debug)]
pub(super) struct TemplateFrame {
    /// The token that ends it.
    end: TokenKind,
    /// What opens it, where it is part of an expression.
    open: Option<Span>,
    /// Its first token.
    first: Span,
    /// The `${` or `%{` that is open.
    sequence: Span,
    /// The directive that is open.
    directive: Option<Directive>,
    names: ForNames,
    /// Where its parts begin on their stack.
    list: usize,
    directives: Vec<(Directive, Span)>,
    wrong: bool,
}

impl TemplateFrame {
    /// A template from `first` to a token of kind `end`.
    pub fn new(end: TokenKind, open: Option<Span>, first: Span, list: usize) -> Self {
        let names = ForNames { key: None, value: first };
        let (directive, directives) = (None, Vec::new());
        Self { end, open, first, sequence: first, directive, names, list, directives, wrong: false }
    }
}

/// All words a directive may begin with.
const DIRECTIVES: [Directive; 5] =
    [Directive::If, Directive::For, Directive::Else, Directive::EndIf, Directive::EndFor];

impl Faults<'_, '_> {
    pub(super) fn begin_template(&mut self, end: TokenKind) -> Next {
        let open = self.reader.read().span;
        let first = self.reader.peek().span;
        Next::Template(Box::new(TemplateFrame::new(end, Some(open), first, self.build.parts.len())))
    }

    /// The parts up to the next expression, or the template's end.
    pub(super) fn parts(&mut self, mut frame: Box<TemplateFrame>) -> Next {
        loop {
            let next = self.reader.read();
            match next.kind {
                kind if kind == frame.end => return self.end_template(&frame, next.span),
                TokenKind::QuotedText | TokenKind::Text => {
                    let quoted = next.kind == TokenKind::QuotedText;
                    frame.wrong |= self.escapes(next.span, quoted);
                    self.build.text(next.span, quoted);
                }
                TokenKind::OpenInterpolation => {
                    (frame.sequence, frame.directive) = (next.span, None);
                    self.reader.push_lines(false);
                    self.frames.push(Frame::Template(frame));
                    return Next::Expression;
                }
                TokenKind::OpenDirective => {
                    frame.sequence = next.span;
                    self.reader.push_lines(false);
                    if self.directive(&mut frame) {
                        self.frames.push(Frame::Template(frame));
                        return Next::Expression;
                    }
                }
                _ => {
                    let detail = "The text ends before this string does.";
                    let context = Some(frame.first.to(next.span));
                    frame.wrong |= self.report_first(next.span, context, "Unterminated template string", detail);
                    let end = self.reader.recover(frame.end);
                    return self.end_template(&frame, end.span);
                }
            }
        }
    }

    fn end_template(&mut self, frame: &TemplateFrame, end: Span) -> Next {
        let mut wrong = frame.wrong;
        for (span, directive, around) in unbalanced(frame.directives.iter().copied(), end) {
            wrong = true;
            let (summary, detail) = match (directive, around) {
                (None, around) => (
                    "Unexpected end of template".to_owned(),
                    format!("The directive `{}` has no end.", around.map_or("", Directive::name)),
                ),
                (Some(directive), None) => {
                    (format!("Unexpected {} directive", directive.name()), "No directive is open here.".to_owned())
                }
                (Some(directive), Some(around)) => (
                    format!("Unexpected {} directive", directive.name()),
                    format!("It stands in the directive `{}`, which has to end first.", around.name()),
                ),
            };
            self.report(Code::MisplacedTag, span, None, &summary, detail);
        }
        let span = frame.open.unwrap_or(frame.first).to(end);
        let expr = match frame.end {
            TokenKind::CloseHeredoc => self.build.heredoc(frame.list, span),
            _ => self.build.quoted(frame.list, span),
        };
        Next::Return(Got { wrong, expr })
    }

    /// The word of a directive and what is behind it; whether an expression follows.
    fn directive(&mut self, frame: &mut TemplateFrame) -> bool {
        let word = self.reader.peek();
        let context = Some(frame.sequence.to(word.span));
        if word.kind != TokenKind::Identifier {
            let detail = "A directive begins with a word: `if`, `for` and their like.";
            frame.wrong |= self.report_first(word.span, context, "Invalid template directive", detail);
            self.give_up_sequence();
            return false;
        }
        self.reader.read();
        let written = self.reader.slice(word.span);
        let Some(directive) = DIRECTIVES.into_iter().find(|directive| directive.name() == written) else {
            let detail = match nearest(written, DIRECTIVES.map(Directive::name)) {
                Some(near) => format!("There is no directive `{written}`; did you mean `{near}`?"),
                None => format!("There is no directive `{written}`."),
            };
            frame.wrong |= self.report_first(word.span, context, "Invalid template control keyword", &detail);
            self.give_up_sequence();
            return false;
        };
        frame.directive = Some(directive);
        match directive {
            Directive::If => true,
            Directive::For => self.for_names(frame),
            _ => {
                self.end_directive(frame, directive, None);
                false
            }
        }
    }

    fn for_names(&mut self, frame: &mut TemplateFrame) -> bool {
        let mut expected = None;
        if let Some(first) = self.reader.read_if(TokenKind::Identifier) {
            frame.names = ForNames { key: None, value: first.span };
            if self.reader.read_if(TokenKind::Comma).is_some() {
                match self.reader.read_if(TokenKind::Identifier) {
                    Some(second) => frame.names = ForNames { key: Some(first.span), value: second.span },
                    None => expected = Some("Behind the comma stands the name of the value's variable."),
                }
            }
        } else {
            expected = Some("Behind `for` stands the name of a variable.");
        }
        if expected.is_none() && !self.reader.at_word("in") {
            expected = Some("Behind the names of variables stands `in`.");
        }
        if let Some(detail) = expected {
            let next = self.reader.peek().span;
            frame.wrong |= self.report_first(next, None, "Invalid 'for' directive", detail);
            self.give_up_sequence();
            return false;
        }
        self.reader.read();
        true
    }

    fn give_up_sequence(&mut self) {
        self.reader.recover(TokenKind::CloseSequence);
        self.reader.pop_lines();
    }

    /// The expression of a sequence was read.
    pub(super) fn sequence(&mut self, mut frame: Box<TemplateFrame>, got: Got) -> Next {
        frame.wrong |= got.wrong;
        if let Some(directive) = frame.directive {
            self.end_directive(&mut frame, directive, Some(got.expr));
            return Next::Template(frame);
        }
        let close = self.reader.peek();
        if close.kind == TokenKind::CloseSequence {
            self.reader.read();
        } else {
            frame.wrong |= self.unclosed_interpolation(&frame, close);
            self.reader.recover(TokenKind::CloseSequence);
        }
        self.reader.pop_lines();
        self.build.interpolation(frame.sequence, got.expr, close.span);
        Next::Template(frame)
    }

    fn unclosed_interpolation(&mut self, frame: &TemplateFrame, close: Token) -> bool {
        let quote = matches!(close.kind, TokenKind::OpenQuote | TokenKind::CloseQuote);
        if close.kind == TokenKind::End || quote && frame.end == TokenKind::CloseQuote {
            let detail = "The text or the string ends before the brace that closes the interpolation.";
            let first = !self.reader.recovery;
            if first {
                self.unterminated(frame.first, "Unclosed template interpolation sequence", detail);
            }
            return first;
        }
        let detail =
            "A closing brace has to end the interpolation. If `${` is meant for another language, write `$${`.";
        let context = Some(frame.first.to(close.span));
        self.report_first(close.span, context, "Extra characters after interpolation expression", detail)
    }

    fn end_directive(&mut self, frame: &mut TemplateFrame, directive: Directive, value: Option<ExprId>) {
        let close = self.reader.peek();
        frame.directives.push((directive, frame.sequence.to(close.span)));
        if close.kind == TokenKind::CloseSequence {
            self.reader.read();
        } else {
            let context = Some(frame.first.to(close.span));
            let summary = format!("Extra characters in {} marker", directive.name());
            let detail = "A closing brace has to end the directive.";
            frame.wrong |= self.report_first(close.span, context, &summary, detail);
            self.reader.recover(TokenKind::CloseSequence);
        }
        self.reader.pop_lines();
        let open = frame.sequence;
        match (directive, value) {
            (Directive::If, Some(condition)) => self.build.if_directive(open, condition, close.span),
            (Directive::For, Some(collection)) => {
                self.build.for_directive(open, frame.names, collection, close.span);
            }
            (Directive::Else, _) => self.build.else_directive(open, close.span),
            (Directive::EndIf, _) => self.build.endif_directive(open, close.span),
            _ => self.build.endfor_directive(open, close.span),
        }
    }

    /// Reports the escapes of literal text that are none; whether there are any.
    pub(super) fn escapes(&mut self, span: Span, quoted: bool) -> bool {
        let text = self.reader.slice(span);
        let mut wrong = false;
        for at in scan_string_literal(text, quoted) {
            let written = text.get(at.range()).unwrap_or("");
            let Piece::Wrong(what) = escape::piece(written, quoted) else { continue };
            wrong = true;
            let detail = match what {
                Wrong::Cut => "A character has to follow the backslash.".to_owned(),
                Wrong::Short => "Four hexadecimal digits follow `\\u`.".to_owned(),
                Wrong::Long => "Eight hexadecimal digits follow `\\U`.".to_owned(),
                Wrong::NoCharacter => format!("`{written}` is the number of no character."),
                Wrong::Unknown => format!("There is no escape `{written}`."),
            };
            let place = Span::new(span.start + at.start, span.start + at.end);
            self.unexpected(place, None, "Invalid escape sequence", detail);
        }
        wrong
    }
}
