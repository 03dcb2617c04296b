//! The inside of a tag: symbols, literals, brackets. The state [`Expect`] names the next allowed token. It alone
//! decides the meaning of words (see [`super::words`]) and of opening parentheses.
//!
//! Invariant: open brackets never exceed the depth that the lexer was given.

use logos::Logos;

use super::{End, Spanned, Token, bytes, push};
use crate::syntax::SyntaxError;
use dropforge_base::text::Span;

pub(super) type Lexed<T> = Result<T, Box<SyntaxError>>;

/// The next allowed token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// A value, or `not` before one.
    Logic,
    /// A value after the parenthesis of a group.
    Group,
    /// A value.
    Operand,
    /// An operand of `~` or `in`, where `true` is a variable.
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

/// The content of an open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Group,
    Call,
    Test,
    List,
}

/// The usual maximum number of tokens of a tag.
const TOKENS: usize = 16;

/// The lexer of one tag, starting after its name.
#[derive(Debug)]
pub(super) struct TagLexer<'s> {
    pub source: &'s str,
    start: usize,
    pub at: usize,
    /// The offset of the closing mark.
    end: usize,
    closing: End,
    /// Maximum number of open brackets.
    pub depth: usize,
    pub open: Vec<Bracket>,
    pub next_call: Bracket,
    /// The tokens of the tag.
    pub tokens: Vec<Spanned<'s>>,
}

impl<'s> TagLexer<'s> {
    pub fn new(source: &'s str) -> Self {
        let (open, next_call, tokens) = (Vec::with_capacity(8), Bracket::Call, Vec::with_capacity(TOKENS));
        Self { source, start: 0, at: 0, end: 0, closing: End::Value, depth: 0, open, next_call, tokens }
    }

    /// Moves to the content of a tag that ends with `closing`. At most `depth` brackets may be open in it.
    pub fn begin(&mut self, at: usize, closing: End, depth: usize) {
        (self.start, self.at, self.end) = (at, at, self.source.len());
        (self.closing, self.depth, self.next_call) = (closing, depth, Bracket::Call);
        self.open.clear();
        self.tokens.clear();
    }

    /// Returns `true` if the tag just lexed contains `super()` and nothing else.
    pub(crate) fn is_super(&self) -> bool {
        // The head, a name and two parentheses.
        if self.tokens.len() != 4 {
            return false;
        }
        let inside = bytes::skip_space(self.source.get(self.start..self.end).unwrap_or(""));
        inside.strip_prefix("super()").is_some_and(|rest| bytes::skip_space(rest).is_empty())
    }

    /// Ends a valid tag.
    pub fn finish(&mut self) {
        push(&mut self.tokens, self.end..self.at, Token::End(self.closing));
    }

    /// Ends a broken tag at its error. Returns `false` if it has no tokens.
    pub(crate) fn break_off(&mut self, error: u32) -> bool {
        let Some(&(_, _, last)) = self.tokens.last() else { return false };
        let at = error.max(last);
        self.tokens.push((at, Token::Broken(self.closing), at));
        true
    }

    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or("")
    }

    /// Pushes a token of `len` bytes and moves past it.
    pub(super) fn push(&mut self, token: Token<'s>, len: usize) {
        let start = self.at;
        self.at += len;
        push(&mut self.tokens, start..self.at, token);
    }

    /// Returns the next raw token after white space, and its text.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Lexed<(Token<'s>, &'s str)> {
        self.at = bytes::behind_space(self.source, self.at);
        let mut lexer = Token::lexer(self.rest());
        match lexer.next() {
            Some(Ok(token)) => Ok((token, lexer.slice())),
            Some(Err(())) => Err(self.bad_character()),
            None => Err(self.unclosed()),
        }
    }

    #[cold]
    fn unclosed(&self) -> Box<SyntaxError> {
        let span = Span::of(self.source.len()..self.source.len());
        let message = format!("the file ends inside a tag: `{}` is missing", self.closing.mark());
        SyntaxError::unterminated(span, message, format!("add `{}`", self.closing.mark()))
    }

    #[cold]
    fn bad_character(&self) -> Box<SyntaxError> {
        let first = self.rest().chars().next().unwrap_or(' ');
        let span = Span::of(self.at..self.at + first.len_utf8());
        let help = match first {
            '"' | '\'' | '`' => {
                return SyntaxError::unterminated(span, "this text is not closed", format!("add a closing {first}"));
            }
            '}' => {
                let help = format!("this tag ends with `{}`", self.closing.mark());
                return SyntaxError::character(span, "a single `}` does not end a tag", help);
            }
            '&' => "write `and`",
            '!' => "write `not`",
            '{' => "there are no map literals; pass the map in as input",
            '.' => "a path has no spaces in it, and a number needs a digit before its point",
            '?' => "write `{% if … %}…{% else %}…{% endif %}`",
            '\\' => "text has no escapes; use another kind of quote",
            _ => "names are made of ASCII letters, digits and `_`",
        };
        SyntaxError::character(span, format!("`{first}` means nothing here"), help)
    }

    /// Moves past the closing mark if `token` is one. Returns `true` if it trims.
    pub(super) fn close(&mut self, token: Token<'s>, text: &str) -> Option<bool> {
        match token {
            Token::End(end) if end == self.closing => {
                self.end = self.at;
                self.at += text.len();
                Some(text.starts_with('-'))
            }
            _ => None,
        }
    }

    pub(super) fn expect_close(&mut self) -> Lexed<bool> {
        let (token, text) = self.peek()?;
        self.close(token, text).ok_or_else(|| self.expected(&format!("`{}`", self.closing.mark())))
    }

    pub(super) fn expected(&mut self, what: &str) -> Box<SyntaxError> {
        let len = self.peek().map_or(1, |(_, text)| text.len());
        let span = Span::of(self.at..(self.at + len).min(self.source.len()));
        SyntaxError::unexpected(span, format!("expected {what}"), "")
    }

    /// Lexes an expression up to the closing mark. Returns `true` if the mark trims.
    pub(super) fn expression(&mut self, mut expect: Expect) -> Lexed<bool> {
        loop {
            let (token, text) = self.peek()?;
            if let Some(right) = self.close(token, text) {
                return Ok(right);
            }
            expect = match token {
                Token::Name(word) => self.name_or_operator(expect, word)?,
                Token::Int(_) | Token::Float(_) | Token::Str(_) => self.operand(token, text),
                Token::Open | Token::OpenList => self.opened(token, expect)?,
                Token::Close | Token::CloseList => self.closed(token),
                Token::End(_) => return self.expect_close(),
                _ => self.symbol(token, text),
            };
        }
    }

    pub(super) fn operand(&mut self, token: Token<'s>, text: &str) -> Expect {
        self.push(token, text.len());
        Expect::Operator
    }

    fn opened(&mut self, token: Token<'s>, expect: Expect) -> Lexed<Expect> {
        if self.open.len() >= self.depth {
            return Err(SyntaxError::too_deep(Span::of(self.at..self.at + 1)));
        }
        let (bracket, next) = match (token, expect) {
            (Token::OpenList, _) => (Bracket::List, Expect::Logic),
            (_, Expect::Operator) if self.next_call == Bracket::Test => (Bracket::Test, Expect::Logic),
            (_, Expect::Operator) => (Bracket::Call, Expect::Argument),
            _ => (Bracket::Group, Expect::Group),
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

    fn symbol(&mut self, token: Token<'s>, text: &str) -> Expect {
        let digit_follows = self.source.as_bytes().get(self.at + 1).is_some_and(u8::is_ascii_digit);
        let token = if token == Token::Minus && digit_follows { Token::Sign } else { token };
        self.push(token, text.len());
        match (token, self.open.last()) {
            (Token::Tilde, _) => Expect::Plain,
            (Token::Pipe | Token::Colons, _) => Expect::Name,
            (Token::Comma, Some(Bracket::Call)) => Expect::Argument,
            (Token::Comma | Token::Assign, _) => Expect::Logic,
            _ => Expect::Operand,
        }
    }
}
