//! The inside of one tag: symbols, literals, brackets. The state [`Expect`] says what may stand next; it alone
//! decides what a word is (see [`super::names`]) and what an opening parenthesis opens.
//!
//! Invariant: open brackets never pass the depth the lexer was given.

use logos::Logos;

use super::token::{Raw, Spanned, Token};
use super::{Tokens, words};
use crate::dialect::tera::syntax::SyntaxError;
use crate::text::Span;

pub(super) type Lexed<T> = Result<T, Box<SyntaxError>>;

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

/// What an open bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Group,
    Call,
    Test,
    List,
}

/// Lexes one tag after the other, each from behind its name; the tokens of all lie in one list.
#[derive(Debug)]
pub(super) struct TagLexer<'s> {
    pub(super) source: &'s str,
    start: usize,
    pub(super) at: usize,
    /// Where the closing mark begins.
    end: usize,
    in_value: bool,
    /// How many brackets may be open.
    pub(super) depth: usize,
    /// The most brackets that were open in this tag.
    pub(super) deepest: usize,
    pub(super) open: Vec<Bracket>,
    pub(super) next_call: Bracket,
    pub(super) tokens: Vec<Spanned<'s>>,
    /// Index of the tag's first token.
    first: usize,
}

impl<'s> TagLexer<'s> {
    pub(super) fn new(source: &'s str, depth: usize) -> Self {
        Self {
            source,
            start: 0,
            at: 0,
            end: 0,
            in_value: false,
            depth,
            deepest: 0,
            open: Vec::new(),
            next_call: Bracket::Call,
            tokens: Vec::new(),
            first: 0,
        }
    }

    /// Goes to a tag, or to the inside of `{{` where `in_value`.
    pub(super) fn begin(&mut self, at: usize, in_value: bool) {
        (self.start, self.at, self.end, self.in_value) = (at, at, self.source.len(), in_value);
        (self.deepest, self.next_call, self.first) = (0, Bracket::Call, self.tokens.len());
        self.open.clear();
    }

    pub(super) fn inside(&self) -> &'s str {
        self.source.get(self.start..self.end).unwrap_or("")
    }

    /// Ends a sound tag.
    pub(super) fn finish(&mut self) -> Tokens {
        let span = Span::of(self.end..self.at);
        self.tokens.push((span.start, Token::End, span.end));
        Tokens { first: self.first, deepest: self.deepest }
    }

    /// Takes the tokens of a broken tag off the list.
    pub(super) fn give_up(&mut self) -> Vec<Spanned<'s>> {
        self.tokens.split_off(self.first)
    }

    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or("")
    }

    pub(super) fn push(&mut self, token: Token<'s>, len: usize) {
        let span = Span::of(self.at..self.at + len);
        self.tokens.push((span.start, token, span.end));
        self.at += len;
    }

    /// The next raw token and its text, behind white space.
    pub(super) fn peek(&mut self) -> Lexed<(Raw, &'s str)> {
        self.at = words::behind_space(self.source, self.at);
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

    pub(super) fn close(&self) -> &'static str {
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
    pub(super) fn closing(&mut self, raw: Raw, text: &str) -> Option<bool> {
        let wanted = if self.in_value { Raw::ValueEnd } else { Raw::TagEnd };
        if raw != wanted {
            return None;
        }
        self.end = self.at;
        self.at += text.len();
        Some(text.starts_with('-'))
    }

    pub(super) fn expect_close(&mut self) -> Lexed<bool> {
        let (raw, text) = self.peek()?;
        match self.closing(raw, text) {
            Some(right) => Ok(right),
            None => Err(self.expected(&format!("`{}`", self.close()))),
        }
    }

    pub(super) fn expected(&mut self, what: &str) -> Box<SyntaxError> {
        let len = self.peek().map_or(1, |(_, text)| text.len());
        let span = Span::of(self.at..(self.at + len).min(self.source.len()));
        SyntaxError::unexpected(span, format!("expected {what}"), "")
    }

    pub(super) fn value(&mut self) -> Lexed<bool> {
        let start = Span::of(self.start..self.start).start;
        self.tokens.push((start, Token::Emit, start));
        self.expression(Expect::Logic)
    }

    /// Tokens up to the closing mark.
    pub(super) fn expression(&mut self, mut expect: Expect) -> Lexed<bool> {
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

    pub(super) fn operand(&mut self, token: Token<'s>, text: &str) -> Expect {
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
        self.deepest = self.deepest.max(self.open.len());
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
}

/// A text token without its quotes.
pub(super) fn unquoted(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1)).unwrap_or("")
}
