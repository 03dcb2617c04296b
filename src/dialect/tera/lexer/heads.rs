//! The tags that are more than an expression: where the language wants spaces, where it forbids them, and what
//! stands before the expression.

use super::names::literal;
use super::tag::{Expect, Lexed, TagLexer, unquoted};
use super::token::{Raw, Token};
use super::words;
use crate::text::Span;

impl<'s> TagLexer<'s> {
    /// A tag without content; `named` allows a name, which means nothing.
    pub(super) fn bare(&mut self, named: bool) -> Lexed<bool> {
        if named && let (Raw::Word, text) = self.peek()? {
            self.at += text.len();
        }
        self.expect_close()
    }

    pub(super) fn head(&mut self, head: Token<'s>, name: (usize, usize)) -> Lexed<bool> {
        let span = Span::of(name.0..name.1);
        self.tokens.push((span.start, head, span.end));
        self.need_space("the name of the tag")?;
        match head {
            Token::For => self.for_head(),
            Token::Set | Token::SetGlobal => self.set_head(),
            Token::Filter => self.expression(Expect::Name),
            Token::Block => self.name().and_then(|()| self.expect_close()),
            Token::Macro => self.macro_head(),
            Token::Include => self.include_head(),
            Token::Extends => self.text().and_then(|()| self.expect_close()),
            Token::Import => self.import_head(),
            _ => self.expression(Expect::Logic),
        }
    }

    fn need_space(&mut self, behind: &str) -> Lexed<()> {
        match words::space(self.rest()) {
            0 => Err(self.expected(&format!("a space behind {behind}"))),
            len => {
                self.at += len;
                Ok(())
            }
        }
    }

    fn name(&mut self) -> Lexed<()> {
        match self.peek()? {
            (Raw::Word, text) => {
                self.push(Token::Name(text), text.len());
                Ok(())
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn text(&mut self) -> Lexed<()> {
        match self.peek()? {
            (Raw::Str, text) => {
                self.push(Token::Str(unquoted(text)), text.len());
                Ok(())
            }
            _ => Err(self.expected("the name of a template, in quotes")),
        }
    }

    fn word(&mut self, word: &str, token: Token<'s>) -> Lexed<()> {
        match self.peek()? {
            (Raw::Word, text) if text == word => {
                self.push(token, text.len());
                Ok(())
            }
            _ => Err(self.expected(&format!("`{word}`"))),
        }
    }

    fn for_head(&mut self) -> Lexed<bool> {
        self.name()?;
        if self.rest().starts_with(',') {
            self.push(Token::Comma, 1);
            self.name()?;
        }
        if self.peek()?.0 == Raw::Comma {
            return Err(self.expected("`in` (a comma must touch the first name)"));
        }
        self.word("in", Token::In)?;
        self.need_space("`in`")?;
        self.expression(Expect::Operand)
    }

    fn set_head(&mut self) -> Lexed<bool> {
        self.name()?;
        self.at += words::space(self.rest());
        if !self.rest().starts_with('=') {
            return Err(self.expected("`=`"));
        }
        self.push(Token::Assign, 1);
        self.expression(Expect::Logic)
    }

    fn macro_head(&mut self) -> Lexed<bool> {
        self.name()?;
        loop {
            let (raw, text) = self.peek()?;
            if let Some(right) = self.closing(raw, text) {
                return Ok(right);
            }
            match raw {
                Raw::Open => self.push(Token::Open, 1),
                Raw::Close => self.push(Token::Close, 1),
                Raw::Comma => self.push(Token::Comma, 1),
                Raw::Word => {
                    self.push(Token::Name(text), text.len());
                    self.default_literal()?;
                }
                _ => return Err(self.expected("a parameter or `)`")),
            }
        }
    }

    /// `=literal` right behind a parameter; spaces around the `=` are an error of the language.
    fn default_literal(&mut self) -> Lexed<()> {
        if !self.rest().starts_with('=') {
            return Ok(());
        }
        self.push(Token::Assign, 1);
        if words::space(self.rest()) > 0 {
            return Err(self.expected("a literal right behind `=`, without a space"));
        }
        let sign = self.rest().starts_with('-') && self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if sign {
            self.push(Token::Sign, 1);
        }
        let (raw, text) = self.peek()?;
        match raw {
            Raw::Int => self.push(Token::Int(text), text.len()),
            Raw::Float => self.push(Token::Float(text), text.len()),
            Raw::Str => self.push(Token::Str(unquoted(text)), text.len()),
            Raw::Word if literal(text).is_some_and(|(_, len)| len == text.len()) => {
                self.push(Token::Bool(text.ends_with("rue")), text.len());
            }
            _ => return Err(self.expected("a literal: text, a number, `true` or `false`")),
        }
        Ok(())
    }

    fn include_head(&mut self) -> Lexed<bool> {
        loop {
            let (raw, text) = self.peek()?;
            if let Some(right) = self.closing(raw, text) {
                return Ok(right);
            }
            match raw {
                Raw::Str => self.text()?,
                Raw::OpenList => self.push(Token::OpenList, 1),
                Raw::CloseList => self.push(Token::CloseList, 1),
                Raw::Comma => self.push(Token::Comma, 1),
                Raw::Word if text == "ignore" => {
                    let start = self.at;
                    self.at += text.len();
                    match self.peek()? {
                        (Raw::Word, "missing") => self.ignore_missing(start),
                        _ => return Err(self.expected("`missing`")),
                    }
                }
                Raw::Word if text == "ignoremissing" => {
                    self.at += "ignore".len();
                    self.ignore_missing(self.at - "ignore".len());
                }
                _ => return Err(self.expected("the name of a template in quotes, a list of them, or `ignore missing`")),
            }
        }
    }

    fn ignore_missing(&mut self, start: usize) {
        let len = self.at - start + "missing".len();
        self.at = start;
        self.push(Token::IgnoreMissing, len);
    }

    fn import_head(&mut self) -> Lexed<bool> {
        self.text()?;
        self.need_space("the template's name")?;
        self.word("as", Token::As)?;
        self.need_space("`as`")?;
        self.name()?;
        self.expect_close()
    }
}
