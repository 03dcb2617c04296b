//! Splits a file into text and actions, and an action into tokens.

use bumpalo::Bump;
use logos::Logos;

use super::action::{Mistake, quoted};
use super::literal;
use super::token::{Raw, Token, Tokens};
use super::tree::Number;
use dropforge_base::stdlib::byte_search::first;
use dropforge_base::text::Span;

/// The delimiters of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiters<'d> {
    /// `{{`
    pub left: &'d str,
    /// `}}`
    pub right: &'d str,
}

impl Default for Delimiters<'_> {
    fn default() -> Self {
        Self { left: "{{", right: "}}" }
    }
}

impl<'d> Delimiters<'d> {
    /// Returns these delimiters. An empty one stands for the usual one.
    pub fn new(left: &'d str, right: &'d str) -> Self {
        let usual = Self::default();
        let or = |text: &'d str, usual| if text.is_empty() { usual } else { text };
        Self { left: or(left, usual.left), right: or(right, usual.right) }
    }
}

/// The messages of an action and of a parenthesis without an end.
pub(super) const UNCLOSED_ACTION: &str = "unclosed action";
pub(super) const UNCLOSED_PAREN: &str = "unclosed left paren";

/// A part of a file.
#[derive(Debug)]
pub enum Piece<'a> {
    /// Text, trimmed.
    Text(&'a str, Span),
    /// The start of an action, which follows: the offset of its delimiter.
    Action(usize),
    /// An error outside of actions.
    Mistake(Mistake),
}

/// A number in place of one that is malformed.
const STAND_IN: Token<'static> =
    Token::Number(&Number { int: Some(0), uint: None, float: None, complex: None, text: "" });

/// Splits a file into its parts.
pub struct Lexer<'a, 'd> {
    arena: &'a Bump,
    text: &'a str,
    delimiters: Delimiters<'d>,
    /// The start of an action that has been opened.
    opened: Option<usize>,
    /// The offset after the last closing delimiter, and `true` if it trims the text after it.
    closed: (usize, bool),
    at: usize,
}

impl<'a, 'd> Lexer<'a, 'd> {
    pub fn new(arena: &'a Bump, text: &'a str, delimiters: Delimiters<'d>) -> Self {
        Self { arena, text, delimiters, opened: None, closed: (0, false), at: 0 }
    }

    /// Returns the next part. An action has to be read before the part after it.
    pub fn piece(&mut self) -> Option<Piece<'a>> {
        loop {
            if let Some(start) = self.opened.take() {
                if !self.bytes().starts_with(b"/*") {
                    return Some(Piece::Action(start));
                }
                if let Err(mistake) = self.comment(start) {
                    return Some(Piece::Mistake(mistake));
                }
            }
            let rest = self.rest();
            if rest.is_empty() {
                return None;
            }
            let Some(found) = find(rest, self.delimiters.left) else {
                self.at = self.text.len();
                return Some(Piece::Text(rest, Span::of(self.text.len() - rest.len()..self.text.len())));
            };
            let (start, open) = (self.at, self.at + found);
            self.at = open + self.delimiters.left.len();
            let trims = matches!(self.bytes(), [b'-', next, ..] if is_blank(*next));
            let before = self.text.get(start..open).unwrap_or("");
            let before = if trims { trimmed(before) } else { before };
            self.at += if trims { 2 } else { 0 };
            self.opened = Some(open);
            if !before.is_empty() {
                return Some(Piece::Text(before, Span::of(start..start + before.len())));
            }
        }
    }

    /// Returns the offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the text up to the end of the next closing delimiter.
    pub fn ahead(&self) -> Option<&'a str> {
        let end = find(self.rest(), self.delimiters.right)?;
        self.rest().get(..end + self.delimiters.right.len())
    }

    /// Returns the offset after the last closing delimiter, and `true` if it trims the text after it.
    pub fn closed(&self) -> (usize, bool) {
        self.closed
    }

    /// Moves over an action of `len` bytes up to the end of its closing delimiter.
    pub fn skip(&mut self, len: usize, trims: bool) {
        self.close((len, trims));
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    /// Returns the length of the closing delimiter here, and `true` if it trims the text after it.
    fn closing(&self) -> Option<(usize, bool)> {
        let (rest, right) = (self.bytes(), self.delimiters.right.as_bytes());
        match rest {
            [first, b'-', marked @ ..] if is_blank(*first) && begins(marked, right) => Some((2 + right.len(), true)),
            [first, ..] if Some(first) == right.first() && begins(rest, right) => Some((right.len(), false)),
            _ => None,
        }
    }

    /// Moves past the closing delimiter here, and past the white space that it trims.
    fn close(&mut self, (len, trims): (usize, bool)) {
        self.at += len;
        self.closed = (self.at, trims);
        if trims {
            self.at += self.bytes().iter().take_while(|byte| is_blank(**byte)).count();
        }
    }

    /// Skips a comment and its closing delimiter.
    fn comment(&mut self, start: usize) -> Result<(), Mistake> {
        let Some(end) = self.rest().get(2..).and_then(|rest| rest.find("*/")) else {
            let span = Span::of(self.at..self.at + 2);
            self.at = self.text.len();
            return Err(Mistake { span, message: "unclosed comment".into() });
        };
        self.at += end + 4;
        match self.closing() {
            Some(closing) => {
                self.close(closing);
                Ok(())
            }
            None => {
                let span = Span::of(start..self.at);
                self.skip_action();
                Err(Mistake { span, message: "comment ends before closing delimiter".into() })
            }
        }
    }

    /// Moves past the next closing delimiter.
    fn skip_action(&mut self) {
        match find(self.rest(), self.delimiters.right) {
            Some(end) => self.at += end + self.delimiters.right.len(),
            None => self.at = self.text.len(),
        }
    }

    /// Reads the tokens of an action, and its closing delimiter.
    pub fn action(&mut self, action: &mut Tokens<'a>) {
        action.clear();
        loop {
            if let Some(closing) = self.closing() {
                let end = self.at;
                if action.depth > 0 {
                    action.broken(Span::of(end..end + closing.0), UNCLOSED_PAREN.into());
                }
                self.close(closing);
                break;
            }
            if self.at >= self.text.len() {
                action.broken(Span::of(self.at..self.at), UNCLOSED_ACTION.into());
                break;
            }
            if let Some(space) = self.space() {
                action.space = Some(space);
            } else if !self.token(action) {
                self.skip_action();
                break;
            }
        }
    }

    /// Moves past white space. Leaves the blank that a marker before the closing delimiter needs.
    fn space(&mut self) -> Option<Span> {
        let (start, bytes) = (self.at, self.bytes());
        let mut len = bytes.iter().take_while(|byte| is_blank(**byte)).count();
        if let Some([b'-', rest @ ..]) = bytes.get(len..)
            && len > 0
            && begins(rest, self.delimiters.right.as_bytes())
        {
            len -= 1;
        }
        self.at += len;
        (len > 0).then(|| Span::of(start..start + len))
    }

    /// Reads one token. Returns `false` if it is broken, and with it the action.
    fn token(&mut self, action: &mut Tokens<'a>) -> bool {
        let start = self.at;
        let mut lexer = Raw::lexer(self.rest());
        let raw = lexer.next();
        match self.read(raw, lexer.span().end, action) {
            Ok(token) => {
                action.push(token, Span::of(start..self.at));
                true
            }
            Err(message) => {
                action.broken(Span::of(start..self.at.max(start + 1).min(self.text.len())), message);
                false
            }
        }
    }

    /// Returns the token of a raw one of `len` bytes and moves past it.
    fn read(&mut self, raw: Option<Result<Raw, ()>>, len: usize, action: &mut Tokens<'a>) -> Result<Token<'a>, String> {
        let start = self.at;
        let Some(Ok(raw)) = raw else { return self.odd() };
        self.at += len;
        // The text without its first and last byte.
        let inner = || self.text.get(start + 1..start + len - 1).unwrap_or("");
        Ok(match raw {
            Raw::Declare => Token::Declare,
            Raw::Assign => Token::Assign,
            Raw::Comma => Token::Comma,
            Raw::Pipe => Token::Pipe,
            Raw::Dot if self.is_word_here() => return self.name(start).map(|name| Token::Field(after_first(name))),
            Raw::Dot if self.ends_word() => Token::Dot,
            Raw::Dot => return self.name(start).map(|_| Token::Dot),
            Raw::Field => return self.name(start).map(|name| Token::Field(after_first(name))),
            Raw::Variable => return self.name(start).map(Token::Variable),
            Raw::Word => return self.name(start).map(Token::of_word),
            Raw::Number => return self.number(start, action),
            Raw::Quoted => self.string(start, inner(), action),
            Raw::Verbatim => Token::Str(match inner() {
                inner if inner.contains('\r') => self.arena.alloc_slice_copy(inner.replace('\r', "").as_bytes()),
                inner => inner.as_bytes(),
            }),
            Raw::Character => match literal::character(self.text.get(start..self.at).unwrap_or("")) {
                Ok(number) => Token::Number(self.arena.alloc(number)),
                Err(message) => {
                    action.mistakes.push(Mistake { span: Span::of(start..self.at), message });
                    STAND_IN
                }
            },
            Raw::Open => {
                action.depth += 1;
                action.deepest = action.deepest.max(action.depth);
                Token::Open
            }
            Raw::Close if action.depth == 0 => return Err("unexpected right paren".into()),
            Raw::Close => {
                action.depth -= 1;
                Token::Close
            }
        })
    }

    /// Returns the token of a string, or a stand-in if it is malformed.
    fn string(&self, start: usize, inner: &'a str, action: &mut Tokens<'a>) -> Token<'a> {
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Token::Str(inner.as_bytes());
        }
        let bytes = literal::unescape(inner, '"');
        if bytes.is_none() {
            action.mistakes.push(Mistake { span: Span::of(start..self.at), message: "invalid syntax".into() });
        }
        Token::Str(self.arena.alloc_slice_copy(&bytes.unwrap_or_default()))
    }

    /// Reads what is no raw token: words of other alphabets, unterminated literals, other characters.
    fn odd(&mut self) -> Result<Token<'a>, String> {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(Token::Broken) };
        if is_word(first) {
            return self.name(start).map(Token::of_word);
        }
        self.at += first.len_utf8();
        match first {
            '"' => Err(self.unterminated("quoted string")),
            '`' => Err("unterminated raw quoted string".into()),
            '\'' => Err(self.unterminated("character constant")),
            ':' => Err("expected :=".into()),
            '!'..='~' => Ok(Token::Other),
            _ => Err(format!("unrecognized character in action: {}", code_point(first))),
        }
    }

    /// Moves to the end of the line, which ends a literal.
    fn unterminated(&mut self, what: &str) -> String {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        format!("unterminated {what}")
    }

    /// Reads the rest of a word that began at `start`.
    fn name(&mut self, start: usize) -> Result<&'a str, String> {
        // The raw token has the ASCII letters of the word, nearly always all of it.
        if self.next_byte().is_some_and(ends_word) {
            return Ok(self.text.get(start..self.at).unwrap_or(""));
        }
        if !self.next_byte().is_none_or(|next| next.is_ascii()) {
            let rest = self.rest();
            self.at += rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        }
        let name = self.text.get(start..self.at).unwrap_or("");
        match self.rest().chars().next() {
            Some(next) if !self.ends_word() => Err(format!("bad character {}", code_point(next))),
            _ => Ok(name),
        }
    }

    fn is_word_here(&self) -> bool {
        self.rest().starts_with(is_word)
    }

    /// Returns `true` if a word may end here.
    fn ends_word(&self) -> bool {
        self.next_byte().is_none_or(ends_word) || self.rest().starts_with(self.delimiters.right)
    }

    fn next_byte(&self) -> Option<u8> {
        self.bytes().first().copied()
    }

    /// Reads the rest of a number: it may be complex.
    fn number(&mut self, start: usize, action: &mut Tokens<'a>) -> Result<Token<'a>, String> {
        self.end_number(start)?;
        if self.rest().starts_with(['+', '-']) {
            let mut lexer = Raw::lexer(self.rest());
            let more = lexer.next() == Some(Ok(Raw::Number));
            self.at += if more { lexer.span().end } else { 0 };
            self.end_number(start)?;
            if !self.text.get(..self.at).is_some_and(|text| more && text.ends_with('i')) {
                return Err(self.bad_number(start));
            }
        }
        let text = self.text.get(start..self.at).unwrap_or("");
        match literal::number(text) {
            Ok(number) => Ok(Token::Number(self.arena.alloc(number))),
            Err(message) => {
                action.mistakes.push(Mistake { span: Span::of(start..self.at), message });
                Ok(STAND_IN)
            }
        }
    }

    fn end_number(&mut self, start: usize) -> Result<(), String> {
        match self.rest().chars().next() {
            Some(next) if is_word(next) => {
                self.at += next.len_utf8();
                Err(self.bad_number(start))
            }
            _ => Ok(()),
        }
    }

    fn bad_number(&self, start: usize) -> String {
        format!("bad number syntax: {}", quoted(self.text.get(start..self.at).unwrap_or("")))
    }
}

/// Returns `true` for the white space that trim markers remove.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Returns a text without white space at its end.
fn trimmed(text: &str) -> &str {
    let mut bytes = text.as_bytes();
    while let [before @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = before;
    }
    text.get(..bytes.len()).unwrap_or("")
}

/// Returns `true` if a text begins with a delimiter. The usual ones have two bytes.
#[inline(always)]
fn begins(text: &[u8], delimiter: &[u8]) -> bool {
    match (text, delimiter) {
        ([first, second, ..], [one, other]) => first == one && second == other,
        _ => text.starts_with(delimiter),
    }
}

/// Returns the offset of the first delimiter in a text. Most are near.
fn find(text: &str, delimiter: &str) -> Option<usize> {
    let (text, delimiter) = (text.as_bytes(), delimiter.as_bytes());
    let mut at = 0;
    loop {
        at += first(text.get(at..)?, *delimiter.first()?)?;
        if begins(text.get(at..)?, delimiter) {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns `true` for the bytes that may follow a word, besides a closing delimiter.
fn ends_word(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'.' | b',' | b'|' | b':' | b'(' | b')')
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii() && c.is_alphanumeric()
}

fn after_first(text: &str) -> &str {
    text.get(1..).unwrap_or("")
}

/// Returns a character as `U+0041 'A'`. One that cannot be printed is not shown.
fn code_point(c: char) -> String {
    let code = u32::from(c);
    match c.is_control() || c.is_whitespace() {
        true => format!("U+{code:04X}"),
        false => format!("U+{code:04X} '{c}'"),
    }
}
