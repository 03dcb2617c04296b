//! The inside of one tag. The state [`Expect`] says what may stand next; it alone decides whether `or`, `not`,
//! `in` or `is` is an operator, whether `true` is a literal, and what an opening parenthesis opens.
//!
//! Two oddities of the language live here. `true` and `false` are matched before names are, so a variable cannot
//! begin with them except beside `~` and behind `in`, where literals of that kind do not exist. And `in` and `is`
//! are operators even when glued to what follows them.

use logos::Logos;

use super::token::{Raw, Spanned, Token};
use super::{Tokens, words};
use crate::dialect::tera::syntax::SyntaxError;
use crate::text::Span;

type Lexed<T> = Result<T, Box<SyntaxError>>;

/// What may stand next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// A value that `not` may stand before.
    Logic,
    /// The same, right behind the parenthesis of a group.
    Group,
    /// A value.
    Operand,
    /// A value of `~` or behind `in`: `true` is a variable there.
    Plain,
    /// An operator, or the end.
    Operator,
    /// The name of a filter or macro.
    Name,
    /// The name of a test, or `not`.
    Test,
    /// The name of a test.
    TestName,
    /// The name of an argument, or the end of the list.
    Argument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Group,
    Call,
    Test,
    List,
}

/// Lexes one tag from behind its name.
#[derive(Debug)]
pub struct TagLexer<'s> {
    source: &'s str,
    start: usize,
    at: usize,
    /// Where the closing mark begins.
    end: usize,
    in_value: bool,
    depth: usize,
    open: Vec<Bracket>,
    next_call: Bracket,
    tokens: Vec<Spanned<'s>>,
    /// The error that ended this tag.
    pub(super) failed: Option<Box<SyntaxError>>,
}

impl<'s> TagLexer<'s> {
    pub(super) fn new(source: &'s str, at: usize, in_value: bool, depth: usize) -> Self {
        let (open, tokens) = (Vec::new(), Vec::new());
        Self {
            source,
            start: at,
            at,
            end: source.len(),
            in_value,
            depth,
            open,
            next_call: Bracket::Call,
            tokens,
            failed: None,
        }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn inside(&self) -> &'s str {
        self.source.get(self.start..self.end).unwrap_or("")
    }

    pub(super) fn into_parts(self) -> (Tokens<'s>, Option<Box<SyntaxError>>) {
        let end = Span::of(self.end..self.end).start;
        (Tokens { list: self.tokens, end }, self.failed)
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or("")
    }

    fn push(&mut self, token: Token<'s>, len: usize) {
        let span = Span::of(self.at..self.at + len);
        self.tokens.push((span.start, token, span.end));
        self.at += len;
    }

    /// The next raw token and its text, behind white space.
    fn peek(&mut self) -> Lexed<(Raw, &'s str)> {
        self.at += words::space(self.rest());
        let mut lexer = Raw::lexer(self.rest());
        match lexer.next() {
            Some(Ok(raw)) => Ok((raw, lexer.slice())),
            Some(Err(())) => Err(self.bad_character()),
            None => Err(self.unclosed()),
        }
    }

    fn unclosed(&self) -> Box<SyntaxError> {
        let close = self.close();
        let span = Span::of(self.source.len()..self.source.len());
        SyntaxError::unterminated(
            span,
            format!("the file ends inside a tag: `{close}` is missing"),
            format!("add `{close}`"),
        )
    }

    fn close(&self) -> &'static str {
        if self.in_value { "}}" } else { "%}" }
    }

    fn bad_character(&self) -> Box<SyntaxError> {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        let span = Span::of(self.at..self.at + first.len_utf8());
        if matches!(first, '"' | '\'' | '`') {
            return SyntaxError::unterminated(span, "this text is not closed", format!("add a closing {first}"));
        }
        let help = match first {
            '&' => "write `and`",
            '!' => "write `not`",
            '{' => "there are no map literals; pass the map in as input",
            '.' => "a path has no spaces in it, and a number needs a digit before its point",
            '?' => "write `{% if … %}…{% else %}…{% endif %}`",
            '\\' => "text has no escapes; use another kind of quote",
            _ => "names are made of letters, digits and `_`",
        };
        SyntaxError::character(span, format!("`{first}` means nothing here"), help)
    }

    /// Goes behind the closing mark, if `raw` is it: whether it trims.
    fn closing(&mut self, raw: Raw, text: &str) -> Option<bool> {
        let wanted = if self.in_value { Raw::ValueEnd } else { Raw::TagEnd };
        if raw != wanted {
            return None;
        }
        self.end = self.at;
        self.at += text.len();
        Some(text.starts_with('-'))
    }

    fn expect_close(&mut self) -> Lexed<bool> {
        let (raw, text) = self.peek()?;
        match self.closing(raw, text) {
            Some(right) => Ok(right),
            None => Err(self.expected(&format!("`{}`", self.close()))),
        }
    }

    fn expected(&mut self, what: &str) -> Box<SyntaxError> {
        let len = self.peek().map_or(1, |(_, text)| text.len());
        let span = Span::of(self.at..(self.at + len).min(self.source.len()));
        SyntaxError::unexpected(span, format!("expected {what}"), "")
    }

    pub(super) fn value(&mut self) -> Lexed<bool> {
        let start = Span::of(self.start..self.start).start;
        self.tokens.push((start, Token::Emit, start));
        self.expression(Expect::Logic)
    }

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

    /// Tokens up to the closing mark.
    fn expression(&mut self, mut expect: Expect) -> Lexed<bool> {
        loop {
            let (raw, text) = self.peek()?;
            if let Some(right) = self.closing(raw, text) {
                return Ok(right);
            }
            expect = match raw {
                Raw::Word => self.name_or_operator(expect, text)?,
                Raw::Int => self.operand(Token::Int(text), text),
                Raw::Float => self.operand(Token::Float(text), text),
                Raw::Str => self.operand(Token::Str(unquoted(text)), text),
                Raw::Open | Raw::OpenList => self.opened(raw, expect)?,
                Raw::Close => self.closed(Token::Close),
                Raw::CloseList => self.closed(Token::CloseList),
                _ => self.symbol(raw, text)?,
            };
        }
    }

    fn operand(&mut self, token: Token<'s>, text: &str) -> Expect {
        self.push(token, text.len());
        Expect::Operator
    }

    fn opened(&mut self, raw: Raw, expect: Expect) -> Lexed<Expect> {
        if self.open.len() >= self.depth {
            return Err(SyntaxError::too_deep(Span::of(self.at..self.at + 1)));
        }
        let (bracket, token, next) = match (raw, expect) {
            (Raw::OpenList, _) => (Bracket::List, Token::OpenList, Expect::Logic),
            (_, Expect::Operator) if self.next_call == Bracket::Test => (Bracket::Test, Token::Open, Expect::Logic),
            (_, Expect::Operator) => (Bracket::Call, Token::Open, Expect::Argument),
            _ => (Bracket::Group, Token::Open, Expect::Group),
        };
        self.open.push(bracket);
        self.push(token, 1);
        Ok(next)
    }

    fn closed(&mut self, token: Token<'s>) -> Expect {
        self.open.pop();
        self.next_call = Bracket::Call;
        self.push(token, 1);
        Expect::Operator
    }

    fn symbol(&mut self, raw: Raw, text: &str) -> Lexed<Expect> {
        let digit_follows = self.source.as_bytes().get(self.at + 1).is_some_and(u8::is_ascii_digit);
        let (token, next) = match raw {
            Raw::LessEq => (Token::LessEq, Expect::Operand),
            Raw::GreaterEq => (Token::GreaterEq, Expect::Operand),
            Raw::Less => (Token::Less, Expect::Operand),
            Raw::Greater => (Token::Greater, Expect::Operand),
            Raw::Equal => (Token::Equal, Expect::Operand),
            Raw::NotEqual => (Token::NotEqual, Expect::Operand),
            Raw::Plus => (Token::Plus, Expect::Operand),
            Raw::Minus if digit_follows => (Token::Sign, Expect::Operand),
            Raw::Minus => (Token::Minus, Expect::Operand),
            Raw::Times => (Token::Times, Expect::Operand),
            Raw::Slash => (Token::Slash, Expect::Operand),
            Raw::Percent => (Token::Percent, Expect::Operand),
            Raw::Tilde => (Token::Tilde, Expect::Plain),
            Raw::Pipe => (Token::Pipe, Expect::Name),
            Raw::Colons => (Token::Colons, Expect::Name),
            Raw::Assign => (Token::Assign, Expect::Logic),
            Raw::Comma => match self.open.last() {
                Some(Bracket::Call) => (Token::Comma, Expect::Argument),
                _ => (Token::Comma, Expect::Logic),
            },
            _ => return Err(self.expected(&format!("`{}`", self.close()))),
        };
        self.push(token, text.len());
        Ok(next)
    }

    fn name_or_operator(&mut self, expect: Expect, word: &'s str) -> Lexed<Expect> {
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
        let arithmetic = behind.starts_with([')', '+', '-', '*', '/', '%']);
        expect != Expect::Group || !(arithmetic || tests_and_closes(behind))
    }

    fn variable(&mut self, expect: Expect, word: &'s str) -> Lexed<Expect> {
        let end = self.path_end()?;
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

    /// Where the path that begins here ends: names, `.` and brackets without any space.
    fn path_end(&self) -> Lexed<usize> {
        let bytes = self.source.as_bytes();
        let word_end = |from: usize| from + words::leading(self.source.get(from..).unwrap_or("")).len();
        let (mut at, mut open) = (word_end(self.at), 0usize);
        loop {
            match bytes.get(at) {
                Some(b'.') if word_end(at + 1) > at + 1 => at = word_end(at + 1),
                Some(b'.') => return Err(path_error(at, "expected a name behind `.`")),
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

fn unquoted(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1)).unwrap_or("")
}

/// The Boolean literal that `word` begins with, and its length.
fn literal(word: &str) -> Option<(bool, usize)> {
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
