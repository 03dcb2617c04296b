//! Words: the parts of statements before their expressions, the spaces that the language requires or forbids, and words
//! as operators, variables, literals and names. No word is reserved: the position decides.
//!
//! Two oddities of the language: `true` and `false` are matched before names, so a variable cannot begin with them
//! except next to `~` and after `in`, where these literals do not exist. And `in` and `is` are operators even if no
//! space separates them from the next word.

use logos::Logos;

use super::tag::{Bracket, Expect, Lexed, TagLexer};
use super::{Token, bytes};
use crate::syntax::SyntaxError;
use dropforge_base::text::Span;

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
            return Err(self.expected(&format!("a space after {behind}")));
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
            return Err(self.expected("a literal right after `=`, without a space"));
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

impl<'s> TagLexer<'s> {
    /// Lexes a word. Returns the next expected token.
    pub(super) fn name_or_operator(&mut self, expect: Expect, word: &'s str) -> Lexed<Expect> {
        match expect {
            Expect::Operator => Ok(self.operator(word)),
            Expect::Name | Expect::Argument => {
                self.next_call = Bracket::Call;
                Ok(self.operand(Token::Name(word), word))
            }
            Expect::Test => Ok(self.test(word)),
            Expect::TestName => Ok(self.test_name(word)),
            Expect::Logic | Expect::Group if self.negates(word, expect) => {
                self.push(Token::Not, word.len());
                Ok(Expect::Operand)
            }
            _ => self.variable(expect, word),
        }
    }

    fn operator(&mut self, word: &'s str) -> Expect {
        let (token, len, next) = match word {
            "or" if self.space_behind(2) => (Token::Or, 2, Expect::Logic),
            "and" if self.space_behind(3) => (Token::And, 3, Expect::Logic),
            "not" if self.space_behind(3) => (Token::Not, 3, Expect::Operator),
            _ if word.starts_with("is") => (Token::Is, 2, Expect::Test),
            _ if word.starts_with("in") => (Token::In, 2, Expect::Plain),
            _ => (Token::Name(word), word.len(), Expect::Operator),
        };
        self.push(token, len);
        next
    }

    fn space_behind(&self, len: usize) -> bool {
        self.source.get(self.at + len..).is_some_and(bytes::begins_with_space)
    }

    fn test(&mut self, word: &'s str) -> Expect {
        let behind = self.source.get(self.at + 3..).unwrap_or("");
        let behind = if word == "not" { bytes::skip_space(behind) } else { behind };
        if word.starts_with("not") && behind.bytes().next().is_some_and(bytes::is_word_start) {
            self.push(Token::Not, 3);
            return Expect::TestName;
        }
        self.test_name(word)
    }

    fn test_name(&mut self, word: &'s str) -> Expect {
        self.next_call = Bracket::Test;
        self.operand(Token::Name(word), word)
    }

    /// Returns `true` if `word` is the operator `not`. At the start of a group it is a variable if that makes the group
    /// arithmetic, because this reading is tried first.
    fn negates(&self, word: &str, expect: Expect) -> bool {
        if word != "not" || !self.space_behind(3) {
            return false;
        }
        let behind = self.source.get(self.at + 3..).unwrap_or("");
        let behind = bytes::skip_space(behind);
        let number = behind.starts_with('-') && behind.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let arithmetic =
            if number { sums_and_closes(behind) } else { behind.starts_with([')', '+', '-', '*', '/', '%']) };
        expect != Expect::Group || !(arithmetic || tests_and_closes(behind))
    }

    fn variable(&mut self, expect: Expect, word: &'s str) -> Lexed<Expect> {
        let end = self.path_end(self.at + word.len())?;
        let text = self.source.get(self.at..end).unwrap_or(word);
        self.next_call = Bracket::Call;
        let Some((value, len)) = literal(word).filter(|_| expect != Expect::Plain) else {
            return Ok(self.operand(Token::Path(text), text));
        };
        let behind = &self.source[end..];
        let glued = operator_glued(&self.source[self.at + len..]);
        let next = bytes::skip_space(behind);
        if next.starts_with('~') || next.starts_with('(') && !glued {
            return Ok(self.operand(Token::Path(text), text));
        }
        if text.len() > len && !glued {
            let span = Span::of(self.at..end);
            let literal = &word[..len];
            return Err(SyntaxError::unexpected(
                span,
                format!("a variable's name cannot begin with `{literal}`"),
                "rename the variable",
            ));
        }
        self.push(Token::Bool(value), len);
        Ok(Expect::Operator)
    }

    /// Returns the end of the path whose first name ends at `at`: names, `.` and brackets without spaces.
    fn path_end(&mut self, mut at: usize) -> Lexed<usize> {
        let bytes = self.source.as_bytes();
        let mut open = 0usize;
        loop {
            match bytes.get(at) {
                Some(b'.') => match bytes::word_end(bytes, at + 1) {
                    end if end > at + 1 => at = end,
                    _ => return Err(path_error(at, "expected a name after `.`")),
                },
                Some(b'[') => {
                    let (next, closed) = self.bracket(at + 1)?;
                    (at, open) = (next, if closed { open } else { open + 1 });
                    if self.open.len() + open > self.depth {
                        return Err(SyntaxError::too_deep(Span::of(at..at)));
                    }
                }
                Some(b']') if open > 0 => (at, open) = (at + 1, open - 1),
                _ if open > 0 => return Err(path_error(at, "expected `]`")),
                _ => return Ok(at),
            }
        }
    }

    /// Lexes a number or string between `[` and `]` (the result is then `true`), or the first name of an inner path.
    fn bracket(&self, at: usize) -> Lexed<(usize, bool)> {
        let rest = self.source.get(at..).unwrap_or("");
        let negative = usize::from(rest.starts_with('-'));
        let mut lexer = Token::lexer(rest.get(negative..).unwrap_or(""));
        let token = lexer.next();
        let end = at + negative + lexer.span().end;
        let closes = self.source[end..].starts_with(']');
        match token {
            Some(Ok(Token::Int(_))) if closes => Ok((end + 1, true)),
            Some(Ok(Token::Str(_))) if closes && negative == 0 => Ok((end + 1, true)),
            Some(Ok(Token::Name(_))) if negative == 0 => Ok((end, false)),
            _ => {
                let message = "expected a whole number, text in quotes or a variable, without spaces, then `]`";
                Err(path_error(at - 1, message))
            }
        }
    }
}

fn path_error(at: usize, message: &str) -> Box<SyntaxError> {
    SyntaxError::unexpected(Span::of(at..at + 1), message, "a path has no spaces and no calculations in it")
}

/// Returns the boolean literal that `word` begins with, and its length.
pub(super) fn literal(word: &str) -> Option<(bool, usize)> {
    match word.split_at_checked(1)? {
        ("t" | "T", rest) if rest.starts_with("rue") => Some((true, 4)),
        ("f" | "F", rest) if rest.starts_with("alse") => Some((false, 5)),
        _ => None,
    }
}

/// Returns `true` if an operator directly follows the literal before it: `trueor x` means `true or x`.
fn operator_glued(rest: &str) -> bool {
    let word = bytes::leading(rest);
    let spaced = bytes::begins_with_space(&rest[word.len()..]);
    word.starts_with("in") || (spaced && matches!(word, "or" | "and" | "not"))
}

/// Returns `true` if `text` is `is name)` or `is not name)`. A `not` before it is the tested variable.
fn tests_and_closes(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("is") else { return false };
    let rest = bytes::skip_space(rest);
    let name = bytes::leading(rest);
    let rest = &rest[name.len()..];
    let rest = bytes::skip_space(rest);
    let second = if name == "not" { bytes::leading(rest) } else { "" };
    let rest = &rest[second.len()..];
    name.bytes().next().is_some_and(bytes::is_word_start) && bytes::skip_space(rest).starts_with(')')
}

/// Returns `true` if `text` contains only arithmetic on numbers and names up to its `)`.
fn sums_and_closes(text: &str) -> bool {
    let inside = text.split(')').next().unwrap_or("");
    let plain = |byte: u8| bytes::is_word(byte) || b" \t\r\n.+-*/%[]".contains(&byte);
    let operator = |word: &str| matches!(word, "and" | "or" | "not" | "in" | "is");
    inside.len() < text.len() && inside.bytes().all(plain) && !inside.split([' ', '\t', '\r', '\n']).any(operator)
}
