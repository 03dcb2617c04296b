//! Statements: the parts before their expressions, and the spaces that the language requires or forbids.

use super::bytes;
use super::tag::{Expect, Lexed, TagLexer};
use super::token::Token;
use super::words::literal;

const LITERAL: &str = "a literal: text, a number, `true` or `false`";

impl<'s> TagLexer<'s> {
    /// Lexes the end of a tag, with an optional name that has no effect. Returns `true` if the closing mark trims.
    pub(super) fn name_without_meaning(&mut self) -> Lexed<bool> {
        if let (Token::Name(word), _) = self.peek()? {
            self.at += word.len();
        }
        self.expect_close()
    }

    /// Lexes the content of the tag that `head` begins. Returns `true` if the closing mark trims.
    pub(super) fn content(&mut self, head: Token<'_>) -> Lexed<bool> {
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
        let end = bytes::behind_space(self.source, self.at);
        if std::mem::replace(&mut self.at, end) == end {
            return Err(self.expected(&format!("a space behind {behind}")));
        }
        Ok(())
    }

    fn name(&mut self) -> Lexed<()> {
        match self.peek()? {
            (name @ Token::Name(_), text) => {
                self.push(name, text.len());
                Ok(())
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn text(&mut self) -> Lexed<()> {
        match self.peek()? {
            (name @ Token::Str(_), text) => {
                self.push(name, text.len());
                Ok(())
            }
            _ => Err(self.expected("the name of a template, in quotes")),
        }
    }

    fn word(&mut self, word: &str, token: Token<'s>) -> Lexed<()> {
        match self.peek()? {
            (Token::Name(name), text) if name == word => {
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
        if self.peek()?.0 == Token::Comma {
            return Err(self.expected("`in` (a comma must touch the first name)"));
        }
        self.word("in", Token::In)?;
        self.need_space("`in`")?;
        self.expression(Expect::Operand)
    }

    fn set_head(&mut self) -> Lexed<bool> {
        self.name()?;
        self.at = bytes::behind_space(self.source, self.at);
        if !self.rest().starts_with('=') {
            return Err(self.expected("`=`"));
        }
        self.push(Token::Assign, 1);
        self.expression(Expect::Logic)
    }

    fn macro_head(&mut self) -> Lexed<bool> {
        self.name()?;
        loop {
            let (token, text) = self.peek()?;
            if let Some(right) = self.close(token, text) {
                return Ok(right);
            }
            match token {
                Token::Open | Token::Close | Token::Comma => self.push(token, 1),
                Token::Name(_) => {
                    self.push(token, text.len());
                    self.default_literal()?;
                }
                _ => return Err(self.expected("a parameter or `)`")),
            }
        }
    }

    /// Lexes `=literal` directly after a parameter. The language does not allow spaces around the `=`.
    fn default_literal(&mut self) -> Lexed<()> {
        if !self.rest().starts_with('=') {
            return Ok(());
        }
        self.push(Token::Assign, 1);
        if bytes::begins_with_space(self.rest()) {
            return Err(self.expected("a literal right behind `=`, without a space"));
        }
        let sign = self.rest().starts_with('-') && self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if sign {
            self.push(Token::Sign, 1);
        }
        let (token, text) = self.peek()?;
        let token = match token {
            Token::Int(_) | Token::Float(_) | Token::Str(_) => token,
            Token::Name(word) => match literal(word) {
                Some((value, len)) if len == word.len() => Token::Bool(value),
                _ => return Err(self.expected(LITERAL)),
            },
            _ => return Err(self.expected(LITERAL)),
        };
        self.push(token, text.len());
        Ok(())
    }

    fn include_head(&mut self) -> Lexed<bool> {
        loop {
            let (token, text) = self.peek()?;
            if let Some(right) = self.close(token, text) {
                return Ok(right);
            }
            match token {
                Token::Str(_) | Token::OpenList | Token::CloseList | Token::Comma => self.push(token, text.len()),
                Token::Name("ignore") => {
                    let start = self.at;
                    self.at += text.len();
                    match self.peek()? {
                        (Token::Name("missing"), _) => self.ignore_missing(start),
                        _ => return Err(self.expected("`missing`")),
                    }
                }
                Token::Name("ignoremissing") => {
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
