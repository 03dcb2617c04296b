//! Items of bodies: what is wrong with one, what is left of it, and where the next one begins.

use super::Faults;
use crate::diagnostics::Code;
use crate::dialect::hcl::syntax::build::Header;
use crate::dialect::hcl::syntax::token::{Token, TokenKind};
use crate::dialect::hcl::syntax::tree::{ExprId, Label};
use crate::text::Span;

/// What a body needs that begins with something else.
const ITEM: &str = "Argument or block definition required";

/// An argument: name, equals sign, value and end.
type Argument = (Span, Span, ExprId, u32);

impl Faults<'_, '_> {
    /// Reads one item of the innermost body, as far as that can be done, into the tree; of a block its header alone where
    /// the rest of it is in order so far. Whether the item was read up to its end.
    pub fn item(&mut self) -> bool {
        while self.reader.read_if(TokenKind::Newline).is_some() {}
        let next = self.reader.peek();
        let in_block = self.build.bodies.len() > 1;
        match next.kind {
            TokenKind::CloseBrace if in_block => {
                self.reader.read();
                self.end_body(next.span);
            }
            TokenKind::Identifier => return self.named_item(),
            _ => self.no_item(in_block),
        }
        true
    }

    /// Ends the body of a block at `end`, and the block with what was read last.
    fn end_body(&mut self, end: Span) {
        let name = self.build.bodies.last().and_then(|open| open.block.as_ref()).map(|block| block.name_span);
        let close = self.reader.previous();
        let name = name.map_or(end, |name| self.build.unplace(name));
        self.build.end_block(self.build.place(end), self.build.place(close));
        self.end_of_block(name);
    }

    /// The line's end behind a block that begins with `name`.
    fn end_of_block(&mut self, name: Span) {
        let next = self.reader.peek();
        if matches!(next.kind, TokenKind::Newline | TokenKind::End) {
            self.reader.read();
            return;
        }
        let context = Some(name.to(next.span));
        let detail = "A block ends with its line.";
        self.report_first(next.span, context, "Missing newline after block definition", detail);
        self.reader.recover_behind_item();
    }

    /// Something that begins no item: the body is given up.
    fn no_item(&mut self, in_block: bool) {
        let bad = self.reader.read();
        let open = self.build.bodies.last().and_then(|open| open.block.as_ref()).map(|block| block.open);
        let opened = open.map(|open| self.build.unplace(open));
        match (bad.kind, opened) {
            (TokenKind::OpenQuote, _) => {
                let detail = "Names of arguments stand without quotes.";
                self.report_first(bad.span, None, "Invalid argument name", detail);
            }
            (TokenKind::End, Some(opened)) if !self.reader.recovery => self.unclosed_block(opened, None),
            _ => {
                self.report_first(bad.span, None, ITEM, "An argument or a block has to begin here.");
            }
        }
        let end = self.reader.previous();
        if in_block {
            self.reader.recover(TokenKind::CloseBrace);
            self.end_body(end);
        } else {
            self.reader.recover(TokenKind::End);
            self.build.end_file(end);
        }
    }

    fn unclosed_block(&mut self, open: Span, context: Option<Span>) {
        let detail = "The file ends before the brace that closes this block; a brace may be missing further in.";
        self.report(Code::Unterminated, open, context, "Unclosed configuration block", detail);
    }

    fn named_item(&mut self) -> bool {
        let name = self.reader.read().span;
        match self.reader.peek().kind {
            TokenKind::Equal => {
                let (name, equals, value, end) = self.argument(name, false);
                self.build.set(name, equals, value, end);
            }
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier => return self.block(name),
            _ => self.only_a_name(name),
        }
        true
    }

    fn only_a_name(&mut self, name: Span) {
        self.reader.recover_behind_item();
        let detail = "An equals sign before a value, or the rest of a block, has to follow this name.";
        self.unexpected(name, None, ITEM, detail);
    }

    /// The rest of an argument; one of a block on a single line has no line's end of its own.
    fn argument(&mut self, name: Span, single: bool) -> Argument {
        let equals = self.reader.read().span;
        let got = self.expression();
        let mut end = self.reader.previous();
        if self.gives_up(got) {
            self.reader.recover_behind_item();
        } else if !single {
            end = self.end_of_argument(name);
        }
        (name, equals, got.expr, end.end)
    }

    fn end_of_argument(&mut self, name: Span) -> Span {
        let (end, next) = (self.reader.previous(), self.reader.peek());
        if matches!(next.kind, TokenKind::Newline | TokenKind::End) {
            self.reader.read();
            return end;
        }
        let (summary, detail) = match next.kind {
            TokenKind::Comma => {
                ("Unexpected comma after argument", "Arguments are separated by line ends, not by commas.")
            }
            _ => ("Missing newline after argument", "An argument ends with its line."),
        };
        self.report_first(next.span, Some(name.to(next.span)), summary, detail);
        self.reader.recover_behind_item();
        end
    }

    // Blocks

    fn block(&mut self, name: Span) -> bool {
        let labels = self.build.labels.len();
        loop {
            let next = self.reader.peek();
            match next.kind {
                TokenKind::OpenBrace => {
                    self.reader.read();
                    return self.block_body(Header { name, labels, open: next.span });
                }
                TokenKind::OpenQuote => self.label(),
                TokenKind::Identifier => {
                    self.reader.read();
                    self.build.plain_label(next.span);
                }
                _ => {
                    self.broken_header(Header { name, labels, open: name }, next);
                    return true;
                }
            }
        }
    }

    fn broken_header(&mut self, header: Header, next: Token) {
        let context = Some(header.name.to(next.span));
        let summary = "Invalid block definition";
        match next.kind {
            TokenKind::Equal => {
                let detail = "The equals sign belongs to arguments; a block has none.";
                self.unexpected(next.span, context, summary, detail);
            }
            TokenKind::Newline => {
                let detail = "The opening brace of a block stands on the line of its header.";
                self.unexpected(next.span, context, summary, detail);
            }
            _ => {
                let detail = "A label or an opening brace has to follow.";
                self.report_first(next.span, context, summary, detail);
            }
        }
        self.reader.recover_behind_item();
        let close = self.build.labels.get(header.labels..).and_then(<[_]>::last).map(|label| label.span);
        let place = self.build.place(header.name);
        let mut block = self.build.block_of(header, header.name);
        block.close = close.unwrap_or(place);
        self.build.finish_placeholder(block, place, place);
    }

    /// A label in quotes, which may hold nothing but text.
    pub(in super::super) fn label(&mut self) {
        let open = self.reader.read().span;
        let parts = self.build.parts.len();
        let end = loop {
            let next = self.reader.read();
            let context = Some(open.to(next.span));
            match next.kind {
                TokenKind::CloseQuote => break next.span,
                TokenKind::QuotedText => {
                    self.escapes(next.span, true);
                    self.build.text(next.span, true);
                }
                TokenKind::OpenInterpolation | TokenKind::OpenDirective => {
                    let detail = "This string is taken as it stands; double the sign before the brace to have both.";
                    self.unexpected(next.span, context, "Invalid string literal", detail);
                    self.build.placeholder_text(next.span);
                    self.reader.recover(TokenKind::CloseSequence);
                }
                TokenKind::End => {
                    let detail = "The text ends before the closing quote.";
                    self.report(Code::Unterminated, next.span, context, "Unterminated string literal", detail);
                    break next.span;
                }
                _ => {
                    self.unexpected(next.span, context, "Invalid string literal", "This cannot stand in a string.");
                    self.reader.recover(TokenKind::CloseQuote);
                    break next.span;
                }
            }
        };
        let text = self.build.literal_text(parts, Span::new(open.end, open.end));
        let span = self.build.place(open.to(end));
        self.build.labels.push(Label { text, span });
    }

    /// What is behind the brace of a block; whether the block was read up to its end.
    fn block_body(&mut self, header: Header) -> bool {
        if matches!(self.reader.peek().kind, TokenKind::Newline | TokenKind::End | TokenKind::CloseBrace) {
            // The grammar goes on with what is in it.
            self.build.begin_block(header);
            return false;
        }
        let before = self.found.len();
        let argument = self.single_argument();
        let of_body = self.found.split_off(before);
        self.end_single(header.name, header.open);
        self.found.extend(of_body);
        let close = self.reader.previous();
        let block = self.build.block_of(header, close);
        match argument {
            Some(argument) => self.build.finish_short(block, argument),
            None => {
                let close = self.build.place(close);
                let span = block.open.to(close);
                self.build.finish_placeholder(block, span, close);
            }
        }
        self.end_of_block(header.name);
        true
    }

    /// The only argument of a block on one line.
    fn single_argument(&mut self) -> Option<Argument> {
        let name = self.reader.read();
        if name.kind != TokenKind::Identifier {
            self.reader.recover_behind_item();
            self.unexpected(name.span, None, ITEM, "An argument has to begin here.");
            return None;
        }
        let next = self.reader.peek();
        match next.kind {
            TokenKind::Equal => return Some(self.argument(name.span, true)),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier => {
                self.reader.recover_behind_item();
                let detail = "A block on one line holds one argument; a block in it needs lines of its own.";
                self.unexpected(name.span.to(next.span), None, "Argument definition required", detail);
            }
            _ => self.only_a_name(name.span),
        }
        None
    }

    /// The brace that closes a block on one line.
    fn end_single(&mut self, name: Span, open: Span) {
        const INVALID: &str = "Invalid single-argument block definition";
        let next = self.reader.peek();
        match next.kind {
            TokenKind::CloseBrace => {
                self.reader.read();
                return;
            }
            TokenKind::Comma => {
                let detail = "A block on one line holds one argument; more of them stand on lines of their own.";
                self.unexpected(next.span, None, INVALID, detail);
            }
            TokenKind::Newline => {
                let detail = "A block whose argument stands on the line of its header ends on that line.";
                self.unexpected(next.span, None, INVALID, detail);
            }
            TokenKind::End if !self.reader.recovery => self.unclosed_block(open, Some(name.to(open))),
            _ => {
                let detail = "Behind the argument of a block on one line stands the closing brace.";
                self.report_first(next.span, None, INVALID, detail);
            }
        }
        self.reader.recover(TokenKind::CloseBrace);
    }
}
