//! What a word is: an operator, a variable, a literal, a name. No word is reserved; where it stands decides.
//!
//! Two oddities of the language live here. `true` and `false` are matched before names are, so a variable cannot
//! begin with them except beside `~` and behind `in`, where literals of that kind do not exist. And `in` and `is`
//! are operators even when glued to what follows them.

use logos::Logos;

use super::tag::{Bracket, Expect, Lexed, TagLexer};
use super::token::{Raw, Token};
use super::words;
use crate::dialect::tera::syntax::SyntaxError;
use crate::text::Span;

impl<'s> TagLexer<'s> {
    /// Lexes a word; says what may stand next.
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
        self.source.get(self.at + len..).is_some_and(|rest| words::space(rest) > 0)
    }

    fn test(&mut self, word: &'s str) -> Expect {
        let behind = self.source.get(self.at + 3..).unwrap_or("");
        let behind = if word == "not" { &behind[words::space(behind)..] } else { behind };
        if word.starts_with("not") && behind.bytes().next().is_some_and(words::is_word_start) {
            self.push(Token::Not, 3);
            return Expect::TestName;
        }
        self.test_name(word)
    }

    fn test_name(&mut self, word: &'s str) -> Expect {
        self.next_call = Bracket::Test;
        self.operand(Token::Name(word), word)
    }

    /// Whether `word` is the operator `not`. Right behind a group's parenthesis it is a variable where the group
    /// reads as arithmetic that way, because that reading is tried first.
    fn negates(&self, word: &str, expect: Expect) -> bool {
        if word != "not" || !self.space_behind(3) {
            return false;
        }
        let behind = self.source.get(self.at + 3..).unwrap_or("");
        let behind = &behind[words::space(behind)..];
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
        let next = &behind[words::space(behind)..];
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

    /// Where the path ends whose first name ends at `at`: names, `.` and brackets without any space.
    fn path_end(&mut self, mut at: usize) -> Lexed<usize> {
        let bytes = self.source.as_bytes();
        let mut open = 0usize;
        loop {
            match bytes.get(at) {
                Some(b'.') => match words::word_end(bytes, at + 1) {
                    end if end > at + 1 => at = end,
                    _ => return Err(path_error(at, "expected a name behind `.`")),
                },
                Some(b'[') => {
                    let (next, closed) = self.bracket(at + 1)?;
                    (at, open) = (next, if closed { open } else { open + 1 });
                    self.deepest = self.deepest.max(self.open.len() + open);
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

    /// Behind `[`: a number or text up to its `]` (then `true`), or the first name of a path in brackets.
    fn bracket(&self, at: usize) -> Lexed<(usize, bool)> {
        let rest = self.source.get(at..).unwrap_or("");
        let negative = usize::from(rest.starts_with('-'));
        let mut lexer = Raw::lexer(rest.get(negative..).unwrap_or(""));
        let end = |lexer: &logos::Lexer<'_, Raw>| at + negative + lexer.span().end;
        match lexer.next() {
            Some(Ok(Raw::Int)) if self.source[end(&lexer)..].starts_with(']') => Ok((end(&lexer) + 1, true)),
            Some(Ok(Raw::Str)) if negative == 0 && self.source[end(&lexer)..].starts_with(']') => {
                Ok((end(&lexer) + 1, true))
            }
            Some(Ok(Raw::Word)) if negative == 0 => Ok((end(&lexer), false)),
            _ => Err(path_error(
                at - 1,
                "expected a whole number, text in quotes or a variable, without spaces, then `]`",
            )),
        }
    }
}

fn path_error(at: usize, message: &str) -> Box<SyntaxError> {
    SyntaxError::unexpected(Span::of(at..at + 1), message, "a path has no spaces and no calculations in it")
}

/// The Boolean literal that `word` begins with, and its length.
pub(super) fn literal(word: &str) -> Option<(bool, usize)> {
    if !word.starts_with(['t', 'T', 'f', 'F']) {
        return None;
    }
    let begins = |words: [&str; 2]| words.iter().any(|literal| word.starts_with(literal));
    if begins(["true", "True"]) {
        Some((true, 4))
    } else if begins(["false", "False"]) {
        Some((false, 5))
    } else {
        None
    }
}

/// Whether an operator is glued to the literal before: `trueor x` reads as `true or x`.
fn operator_glued(rest: &str) -> bool {
    let word = words::leading(rest);
    let spaced = words::space(&rest[word.len()..]) > 0;
    word.starts_with("in") || (spaced && matches!(word, "or" | "and" | "not"))
}

/// Whether `text` is `is name)` or `is not name)`: then `not` before it is the variable that is tested.
fn tests_and_closes(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("is") else { return false };
    let rest = &rest[words::space(rest)..];
    let name = words::leading(rest);
    let rest = &rest[name.len()..];
    let rest = &rest[words::space(rest)..];
    let second = if name == "not" { words::leading(rest) } else { "" };
    let rest = &rest[second.len()..];
    name.bytes().next().is_some_and(words::is_word_start) && rest[words::space(rest)..].starts_with(')')
}

/// Whether `text` goes on with nothing but arithmetic on numbers and names up to its `)`.
fn sums_and_closes(text: &str) -> bool {
    let inside = text.split(')').next().unwrap_or("");
    let plain = |byte: u8| words::is_word(byte) || b" \t\r\n.+-*/%[]".contains(&byte);
    let operator = |word: &str| matches!(word, "and" | "or" | "not" | "in" | "is");
    inside.len() < text.len() && inside.bytes().all(plain) && !inside.split([' ', '\t', '\r', '\n']).any(operator)
}
