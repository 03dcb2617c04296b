//! Parentheses, calls, tuples, objects and `for`.

use super::{Faults, Frame, Got, Next};
use crate::dialect::hcl::syntax::build::{Callee, ForNames};
use crate::dialect::hcl::syntax::token::{Token, TokenKind};
use crate::dialect::hcl::syntax::tree::ExprId;
use crate::text::Span;

/// A `for` that is being read.
#[derive(Debug)]
pub(super) struct ForFrame {
    open: Span,
    object: bool,
    part: ForPart,
    names: ForNames,
    collection: Option<ExprId>,
    key: Option<ExprId>,
    value: Option<ExprId>,
    condition: Option<ExprId>,
    ellipsis: Option<Span>,
    wrong: bool,
}

/// Which expression of a `for` is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ForPart {
    Collection,
    /// The value, or the key of an object.
    First,
    Value,
    Condition,
}

const INVALID_FOR: &str = "Invalid 'for' expression";

impl Faults<'_, '_> {
    // Parentheses and calls

    pub(super) fn paren(&mut self, open: Span, got: Got) -> Next {
        if got.wrong {
            self.reader.recover(TokenKind::CloseParen);
            self.reader.pop_lines();
            return Next::Return(got);
        }
        let close = self.reader.peek();
        let wrong = close.kind != TokenKind::CloseParen;
        if wrong {
            let detail = "A closing parenthesis has to end the expression.";
            self.unexpected(close.span, Some(open.to(close.span)), "Unbalanced parentheses", detail);
            self.reader.recovery = true;
        }
        self.reader.read();
        self.reader.pop_lines();
        Next::Return(Got { wrong, expr: self.build.paren(got.expr, open.to(close.span)) })
    }

    pub(super) fn begin_call(&mut self, name: Span) -> Next {
        let mut open = self.reader.read();
        let mut callee = self.build.callee(name);
        while open.kind == TokenKind::DoubleColon {
            let next = self.reader.read();
            if next.kind != TokenKind::Identifier {
                let detail = "Behind :: stands the name of a function.";
                return self.broken_callee(name, next.span, "Missing function name", detail);
            }
            callee = self.build.scoped(callee, next.span);
            open = self.reader.read();
        }
        if open.kind != TokenKind::OpenParen {
            let detail = "Behind the name of a function in a namespace stands an opening parenthesis.";
            return self.broken_callee(name, open.span, "Missing open parenthesis", detail);
        }
        self.reader.push_lines(false);
        self.next_argument(callee, open.span, self.build.list.len(), false)
    }

    fn broken_callee(&mut self, name: Span, at: Span, summary: &'static str, detail: &str) -> Next {
        let span = name.to(at);
        self.unexpected(at, Some(span), summary, detail);
        self.reader.recover_over_parens();
        Next::Return(Got { wrong: true, expr: self.build.broken(span, at, summary) })
    }

    fn next_argument(&mut self, callee: Callee, open: Span, list: usize, wrong: bool) -> Next {
        if self.reader.read_if(TokenKind::CloseParen).is_some() {
            return self.end_call(callee, open, list, (false, wrong));
        }
        self.frames.push(Frame::Call { callee, open, list, wrong });
        Next::Expression
    }

    fn end_call(&mut self, callee: Callee, open: Span, list: usize, (expand, wrong): (bool, bool)) -> Next {
        self.reader.pop_lines();
        let expr = self.build.call(callee, list, expand, open.start, self.reader.previous());
        Next::Return(Got { wrong, expr })
    }

    pub(super) fn call(&mut self, callee: Callee, open: Span, list: usize, wrong: bool, got: Got) -> Next {
        let mut wrong = wrong | got.wrong;
        self.build.list.push(got.expr);
        if self.gives_up(got) {
            self.reader.recover(TokenKind::CloseParen);
            return self.end_call(callee, open, list, (false, wrong));
        }
        let next = self.reader.read();
        let context = Some(callee.span.to(next.span));
        match next.kind {
            TokenKind::CloseParen => return self.end_call(callee, open, list, (false, wrong)),
            TokenKind::Comma => return self.next_argument(callee, open, list, wrong),
            TokenKind::Ellipsis if self.reader.read_if(TokenKind::CloseParen).is_some() => {
                return self.end_call(callee, open, list, (true, wrong));
            }
            TokenKind::Ellipsis => {
                let detail = "Behind an argument that is expanded with ... stands the closing parenthesis.";
                wrong |= self.report_first(next.span, context, "Missing closing parenthesis", detail);
            }
            TokenKind::End => {
                wrong = true;
                let detail = "The text ends before the closing parenthesis of this call.";
                self.unterminated(callee.span.to(open), "Unterminated function call", detail);
            }
            _ => {
                wrong = true;
                let detail = "Arguments are separated by commas.";
                self.unexpected(next.span, context, "Missing argument separator", detail);
            }
        }
        self.reader.recover(TokenKind::CloseParen);
        self.end_call(callee, open, list, (next.kind == TokenKind::Ellipsis, wrong))
    }

    // Tuples

    pub(super) fn begin_tuple(&mut self) -> Next {
        let open = self.reader.read().span;
        self.reader.push_lines(false);
        if self.reader.at_word("for") {
            return self.begin_for(open, false);
        }
        self.next_element(open, self.build.list.len(), false)
    }

    fn next_element(&mut self, open: Span, list: usize, wrong: bool) -> Next {
        if self.reader.read_if(TokenKind::CloseBracket).is_some() {
            return self.end_tuple(open, list, wrong);
        }
        self.frames.push(Frame::Tuple { open, list, wrong });
        Next::Expression
    }

    fn end_tuple(&mut self, open: Span, list: usize, wrong: bool) -> Next {
        let span = self.end_brackets(open);
        Next::Return(Got { wrong, expr: self.build.tuple(list, span) })
    }

    /// From `open` to what was read last.
    fn end_brackets(&mut self, open: Span) -> Span {
        self.reader.pop_lines();
        open.to(self.reader.previous())
    }

    pub(super) fn tuple(&mut self, open: Span, list: usize, wrong: bool, got: Got) -> Next {
        let mut wrong = wrong | got.wrong;
        self.build.list.push(got.expr);
        if !self.gives_up(got) {
            let next = self.reader.peek();
            match next.kind {
                TokenKind::CloseBracket => return self.next_element(open, list, wrong),
                TokenKind::Comma => {
                    self.reader.read();
                    return self.next_element(open, list, wrong);
                }
                TokenKind::End => wrong |= self.unclosed(open, "Unterminated tuple constructor expression"),
                _ => {
                    let (context, detail) = (Some(open.to(next.span)), "Elements are separated by commas.");
                    wrong |= self.report_first(next.span, context, "Missing item separator", detail);
                }
            }
        }
        self.reader.recover(TokenKind::CloseBracket);
        self.end_tuple(open, list, wrong)
    }

    fn unclosed(&mut self, open: Span, summary: &str) -> bool {
        let first = !self.reader.recovery;
        if first {
            self.unterminated(open, summary, "The text ends before the bracket that closes this one.");
        }
        first
    }

    // Objects

    pub(super) fn begin_object(&mut self) -> Next {
        let open = self.reader.read().span;
        self.reader.push_lines(false);
        if self.reader.at_word("for") {
            return self.begin_for(open, true);
        }
        self.reader.pop_lines();
        self.reader.push_lines(true);
        self.next_entry(open, self.build.entries.len(), false)
    }

    fn next_entry(&mut self, open: Span, list: usize, wrong: bool) -> Next {
        while self.reader.read_if(TokenKind::Newline).is_some() {}
        if self.reader.read_if(TokenKind::CloseBrace).is_some() {
            return self.end_object(open, list, wrong);
        }
        self.frames.push(Frame::Object { open, list, key: None, wrong });
        Next::Expression
    }

    fn end_object(&mut self, open: Span, list: usize, wrong: bool) -> Next {
        let span = self.end_brackets(open);
        Next::Return(Got { wrong, expr: self.build.object(list, span) })
    }

    pub(super) fn object(&mut self, open: Span, list: usize, key: Option<ExprId>, wrong: bool, got: Got) -> Next {
        let mut wrong = wrong | got.wrong;
        if let Some(key) = key {
            self.build.next_entry(list, key, got.expr);
        }
        if !self.gives_up(got) {
            let next = self.reader.peek();
            match (key, next.kind) {
                (None, TokenKind::Equal | TokenKind::Colon) => {
                    self.reader.read();
                    self.frames.push(Frame::Object { open, list, key: Some(got.expr), wrong });
                    return Next::Expression;
                }
                (Some(_), TokenKind::CloseBrace) => return self.next_entry(open, list, wrong),
                (Some(_), TokenKind::Comma | TokenKind::Newline) => {
                    self.reader.read();
                    return self.next_entry(open, list, wrong);
                }
                (_, TokenKind::End) => wrong |= self.unclosed(open, "Unterminated object constructor expression"),
                _ => wrong |= self.broken_entry(open, key.is_none(), next),
            }
        }
        self.reader.recover(TokenKind::CloseBrace);
        self.end_object(open, list, wrong)
    }

    fn broken_entry(&mut self, open: Span, behind_key: bool, next: Token) -> bool {
        let (summary, detail) = match (behind_key, next.kind) {
            (true, TokenKind::Newline | TokenKind::Comma) => {
                ("Missing attribute value", "An attribute has a value, behind an equals sign.")
            }
            (true, TokenKind::Identifier) => (
                "Missing key/value separator",
                "An equals sign stands before the value. A name with periods or spaces has to be put in quotes.",
            ),
            (true, _) => ("Missing key/value separator", "An equals sign stands before the value."),
            (false, _) => ("Missing attribute separator", "Attributes are separated by commas or line ends."),
        };
        self.report_first(next.span, Some(open.to(next.span)), summary, detail)
    }

    // `for`

    fn begin_for(&mut self, open: Span, object: bool) -> Next {
        self.reader.read();
        let Some(first) = self.reader.read_if(TokenKind::Identifier) else {
            return self.broken_for(open, object, false, "Behind `for` stands the name of a variable.");
        };
        let mut names = ForNames { key: None, value: first.span };
        if self.reader.read_if(TokenKind::Comma).is_some() {
            let Some(second) = self.reader.read_if(TokenKind::Identifier) else {
                let detail = "Behind the comma stands the name of the value's variable.";
                return self.broken_for(open, object, false, detail);
            };
            names = ForNames { key: Some(first.span), value: second.span };
        }
        if !self.reader.at_word("in") {
            return self.broken_for(open, object, false, "Behind the names of variables stands `in`.");
        }
        self.reader.read();
        let frame = ForFrame {
            open,
            object,
            part: ForPart::Collection,
            names,
            collection: None,
            key: None,
            value: None,
            condition: None,
            ellipsis: None,
            wrong: false,
        };
        self.frames.push(Frame::For(Box::new(frame)));
        Next::Expression
    }

    /// Reports what is wrong at the next token and gives the `for` up.
    fn broken_for(&mut self, open: Span, object: bool, wrong: bool, detail: &str) -> Next {
        let next = self.reader.peek().span;
        let wrong = wrong | self.report_first(next, Some(open.to(next)), INVALID_FOR, detail);
        self.give_up_for(open, object, wrong)
    }

    fn give_up_for(&mut self, open: Span, object: bool, wrong: bool) -> Next {
        self.reader.recover(closer(object));
        let span = self.end_brackets(open);
        Next::Return(self.nothing(span, wrong))
    }

    pub(super) fn for_part(&mut self, mut frame: Box<ForFrame>, got: Got) -> Next {
        // A key that is wrong is a reason to give up only once the value is there, too.
        let key_follows = frame.part == ForPart::First && self.reader.peek().kind == TokenKind::FatArrow;
        let wrong_here = Got { wrong: got.wrong | (frame.part == ForPart::Value && frame.wrong), ..got };
        frame.wrong |= got.wrong;
        if !key_follows && self.gives_up(wrong_here) {
            return self.give_up_for(frame.open, frame.object, frame.wrong);
        }
        match frame.part {
            ForPart::Collection => {
                if self.reader.read_if(TokenKind::Colon).is_none() {
                    let detail = "Behind the collection stands a colon.";
                    return self.broken_for(frame.open, frame.object, frame.wrong, detail);
                }
                frame.collection = Some(got.expr);
                frame.part = ForPart::First;
            }
            ForPart::First if key_follows => {
                self.reader.read();
                frame.key = Some(got.expr);
                frame.part = ForPart::Value;
            }
            ForPart::First | ForPart::Value => {
                frame.value = Some(got.expr);
                frame.ellipsis = self.reader.read_if(TokenKind::Ellipsis).map(|token| token.span);
                if !self.reader.at_word("if") {
                    return self.end_for(&frame);
                }
                self.reader.read();
                frame.part = ForPart::Condition;
            }
            ForPart::Condition => {
                frame.condition = Some(got.expr);
                return self.end_for(&frame);
            }
        }
        self.frames.push(Frame::For(frame));
        Next::Expression
    }

    fn end_for(&mut self, frame: &ForFrame) -> Next {
        let mut wrong = frame.wrong;
        if self.reader.read_if(closer(frame.object)).is_none() {
            let next = self.reader.peek().span;
            let detail = "The `for` expression is complete, and there is more behind it.";
            wrong |= self.report_first(next, Some(frame.open.to(next)), INVALID_FOR, detail);
            self.reader.recover(closer(frame.object));
        }
        let span = self.end_brackets(frame.open);
        wrong |= self.misfit(frame, span);
        let value = frame.value.unwrap_or_else(|| self.build.invalid(span));
        let collection = frame.collection.unwrap_or_else(|| self.build.invalid(span));
        let parts = (frame.key, value, frame.ellipsis.is_some());
        let expr = self.build.for_expr(frame.names, frame.open.end, collection, parts, frame.condition, span);
        Next::Return(Got { wrong, expr })
    }

    /// Whether a `for` has what only the other kind has, or has no key.
    fn misfit(&mut self, frame: &ForFrame, context: Span) -> bool {
        let before = self.found.len();
        let keys = match (frame.object, frame.key, frame.value) {
            (false, Some(key), _) => Some((key, "A `for` that makes a tuple has no keys.")),
            (true, None, Some(value)) => Some((value, "A `for` that makes an object has a key, before =>.")),
            _ => None,
        };
        if let Some((expr, detail)) = keys {
            let span = self.build.unplace(self.build.tree.span(expr));
            self.unexpected(span, Some(context), INVALID_FOR, detail);
        }
        if let Some(ellipsis) = frame.ellipsis.filter(|_| !frame.object) {
            let detail = "A `for` that makes a tuple cannot group.";
            self.unexpected(ellipsis, Some(context), INVALID_FOR, detail);
        }
        self.found.len() > before
    }
}

fn closer(object: bool) -> TokenKind {
    if object { TokenKind::CloseBrace } else { TokenKind::CloseBracket }
}
