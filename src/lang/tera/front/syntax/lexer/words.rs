//! Classifies words as operators, variables, literals and names. No word is reserved: the position decides.
//!
//! Two oddities of the language: `true` and `false` are matched before names, so a variable cannot begin with them
//! except next to `~` and after `in`, where these literals do not exist. And `in` and `is` are operators even if no
//! space separates them from the next word.

use logos::Logos;

use super::bytes;
use super::tag::{Bracket, Expect, Lexed, TagLexer};
use super::token::Token;
use crate::syntax::error::SyntaxError;
use dropforge_base::text::Span;

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
                    _ => return Err(path_error(at, "expected a name behind `.`")),
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
