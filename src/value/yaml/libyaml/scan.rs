//! Splits a text into tokens. Keys without an indicator are found when their colon is, so tokens wait in a queue.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::{is_blank, is_break};

/// Maximum length of a key in the line of its value, in characters.
const LONGEST_KEY: usize = 1024;

/// The message about a character that begins nothing, such as a tab that indents.
pub const NO_TOKEN: &str = "found character that cannot start any token";

pub(super) type Result<T> = std::result::Result<T, String>;

/// Returns the message of a problem, with the line that it names, unless that is zero.
pub(super) fn problem_at(line: usize, message: &str) -> String {
    match line {
        0 => format!("yaml: {message}"),
        line => format!("yaml: line {line}: {message}"),
    }
}

/// A place in the text, counted in characters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    pub index: usize,
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'t> {
    StreamEnd,
    Version(u32, u32),
    TagHandle(&'t str, String),
    DocumentStart,
    DocumentEnd,
    BlockSequence,
    BlockMapping,
    BlockEnd,
    FlowSequence,
    FlowSequenceEnd,
    FlowMapping,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'t str),
    Anchor(&'t str),
    Tag(&'t str, String),
    /// `true` for a plain one.
    Scalar(Cow<'t, str>, bool),
}

/// A place where a key may begin.
#[derive(Debug, Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    required: bool,
    token: usize,
    mark: Mark,
}

#[derive(Debug)]
pub(super) struct TokenScanner<'t> {
    pub(super) text: &'t str,
    /// The position in bytes.
    pub(super) at: usize,
    pub(super) mark: Mark,
    tokens: VecDeque<(Token<'t>, Mark)>,
    /// The number of tokens that left the queue.
    taken: usize,
    started: bool,
    ended: bool,
    /// `true` if the first token in the queue is certain.
    ready: bool,
    /// The column of the innermost block; -1 outside.
    pub(super) indent: isize,
    indents: Vec<isize>,
    key_allowed: bool,
    /// One for each level of flow collections, and one for blocks.
    keys: Vec<SimpleKey>,
    /// Maximum number of open collections.
    depth: usize,
    /// `true` if `\n` is the only line break in the text.
    usual: bool,
}

impl<'t> TokenScanner<'t> {
    /// Creates a scanner. `usual` means that `\n` is the only line break in the text.
    pub fn new(text: &'t str, depth: usize, usual: bool) -> Self {
        Self {
            text,
            at: 0,
            mark: Mark::default(),
            tokens: VecDeque::new(),
            taken: 0,
            started: false,
            ended: false,
            ready: false,
            indent: -1,
            indents: Vec::new(),
            key_allowed: true,
            keys: vec![SimpleKey::default()],
            depth,
            usual,
        }
    }

    /// Returns the next token and its place, leaving it in the queue.
    #[inline]
    pub fn peek(&mut self) -> Result<(&Token<'t>, Mark)> {
        self.fill()?;
        match self.tokens.front() {
            Some((token, mark)) => Ok((token, *mark)),
            None => Ok((&Token::StreamEnd, self.mark)),
        }
    }

    /// Removes the next token.
    pub fn take(&mut self) -> Result<Token<'t>> {
        self.fill()?;
        self.taken += 1;
        self.ready = false;
        Ok(self.tokens.pop_front().map_or(Token::StreamEnd, |(token, _)| token))
    }

    #[inline]
    fn fill(&mut self) -> Result<()> {
        if self.ready { Ok(()) } else { self.fetch_first() }
    }

    /// Fetches tokens until the first one in the queue is certain.
    fn fetch_first(&mut self) -> Result<()> {
        while !self.ended && (self.tokens.is_empty() || self.key_may_begin()?) {
            self.fetch()?;
        }
        self.ready = true;
        Ok(())
    }

    /// Returns `true` if the first token in the queue may turn out to be a key.
    fn key_may_begin(&mut self) -> Result<bool> {
        for at in 0..self.keys.len() {
            let found = self.keys.get(at).is_some_and(|key| key.possible && key.token == self.taken);
            if found && self.is_valid(at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns `true` if a key may still begin at the place of a level.
    fn is_valid(&mut self, at: usize) -> Result<bool> {
        let mark = self.mark;
        let Some(key) = self.keys.get_mut(at) else { return Ok(false) };
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line < mark.line || key.mark.index + LONGEST_KEY < mark.index {
            if key.required {
                let context = key.mark.line;
                return Err(self.problem_in(context, "could not find expected ':'"));
            }
            key.possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns a problem at the current place.
    pub(super) fn problem(&self, message: &str) -> String {
        self.problem_in(0, message)
    }

    /// Returns a problem at the current place, within something that began in line `context`.
    pub(super) fn problem_in(&self, context: usize, message: &str) -> String {
        // Lines are counted from one here, except for the first one, which is not named.
        let line = if self.mark.line != 0 { self.mark.line } else { context };
        problem_at(if line == 0 { 0 } else { line + 1 }, message)
    }

    #[inline]
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    #[inline]
    pub(super) fn here(&self) -> Option<char> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            Some(_) => self.rest().chars().next(),
            None => None,
        }
    }

    /// Returns the character after the current one.
    pub(super) fn next_char(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    /// Returns `true` if the character at `ahead` bytes ends a word: a blank, a line break, the end.
    pub(super) fn ends_word(&self, ahead: usize) -> bool {
        match self.text.get(self.at + ahead..).and_then(|rest| rest.chars().next()) {
            Some(c) => is_blank(c) || is_break(c) || c == '\0',
            None => true,
        }
    }

    pub(super) fn advance(&mut self) {
        if let Some(c) = self.here() {
            self.at += c.len_utf8();
            self.mark.index += 1;
            self.mark.column += 1;
        }
    }

    /// Moves over `count` ASCII characters.
    pub(super) fn advance_ascii(&mut self, count: usize) {
        self.at += count;
        self.mark.index += count;
        self.mark.column += count;
    }

    /// Moves over a line break, if one is here. Returns it as it counts in a text.
    #[inline]
    pub(super) fn line_break(&mut self) -> Option<char> {
        match self.text.as_bytes().get(self.at)? {
            b'\n' => {
                self.at += 1;
                self.mark = Mark { index: self.mark.index + 1, line: self.mark.line + 1, column: 0 };
                Some('\n')
            }
            b'\r' | 0x80.. => self.rare_break(),
            _ => None,
        }
    }

    fn rare_break(&mut self) -> Option<char> {
        let c = self.here().filter(|c| is_break(*c))?;
        let length = if self.rest().starts_with("\r\n") { 2 } else { c.len_utf8() };
        self.at += length;
        self.mark.index += if length == 2 && c == '\r' { 2 } else { 1 };
        self.mark.line += 1;
        self.mark.column = 0;
        Some(if matches!(c, '\u{2028}' | '\u{2029}') { c } else { '\n' })
    }

    fn push(&mut self, token: Token<'t>) {
        self.tokens.push_back((token, self.mark));
    }

    fn is_flow(&self) -> bool {
        self.keys.len() > 1
    }

    /// Adds at least one token to the queue.
    fn fetch(&mut self) -> Result<()> {
        if !self.started {
            self.started = true;
            if self.rest().starts_with('\u{feff}') {
                self.at += '\u{feff}'.len_utf8();
            }
        }
        self.skip_to_token();
        let column = isize::try_from(self.mark.column).unwrap_or(isize::MAX);
        self.unroll(column);
        let Some(c) = self.here().filter(|c| *c != '\0') else { return self.fetch_end() };
        let opens_line = self.mark.column == 0;
        if opens_line && c == '%' {
            self.unroll(-1);
            self.remove_key()?;
            self.key_allowed = false;
            return self.directive();
        }
        if opens_line && (self.rest().starts_with("---") || self.rest().starts_with("...")) && self.ends_word(3) {
            return self.fetch_document(if c == '-' { Token::DocumentStart } else { Token::DocumentEnd });
        }
        match c {
            '[' => self.fetch_open(Token::FlowSequence),
            '{' => self.fetch_open(Token::FlowMapping),
            ']' => self.fetch_close(Token::FlowSequenceEnd),
            '}' => self.fetch_close(Token::FlowMappingEnd),
            ',' => {
                self.remove_key()?;
                self.key_allowed = true;
                self.indicator(Token::FlowEntry);
                Ok(())
            }
            '-' if self.ends_word(1) => self.fetch_block_entry(),
            '?' if self.is_flow() || self.ends_word(1) => self.fetch_key(),
            ':' if self.is_flow() || self.ends_word(1) => self.fetch_value(),
            '*' | '&' => self.fetch_anchor(c),
            '!' => self.fetch_tag(),
            '|' | '>' if !self.is_flow() => self.fetch_block_scalar(c == '|'),
            '\'' | '"' => self.fetch_quoted(c),
            _ if self.begins_plain(c) => self.fetch_plain(),
            _ => Err(self.problem(NO_TOKEN)),
        }
    }

    fn begins_plain(&self, c: char) -> bool {
        match c {
            '-' => !self.next_char().is_some_and(is_blank),
            '?' | ':' => !self.is_flow() && !self.ends_word(1),
            ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => false,
            c => !is_blank(c) && !is_break(c),
        }
    }

    /// Moves over white space, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            let tabs = self.is_flow() || !self.key_allowed;
            let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
            let white = rest.iter().take_while(|byte| **byte == b' ' || (**byte == b'\t' && tabs)).count();
            self.advance_ascii(white);
            if rest.get(white) == Some(&b'#') {
                self.skip_line();
            }
            if self.line_break().is_none() {
                return;
            }
            if !self.is_flow() {
                self.key_allowed = true;
            }
        }
    }

    /// Moves to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        if self.usual {
            // The exact column of the end of a line does not matter.
            return self.advance_ascii(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
        }
        let end = memchr::memchr3(b'\n', b'\r', 0, rest).unwrap_or(rest.len());
        if rest.get(..end).is_some_and(<[u8]>::is_ascii) {
            return self.advance_ascii(end);
        }
        // Other characters may be line breaks.
        while self.here().is_some_and(|c| !is_break(c) && c != '\0') {
            self.advance();
        }
    }

    /// Opens a block at `column`, whose token stands before token number `before` if that is in the queue.
    fn roll(&mut self, column: usize, before: Option<usize>, token: Token<'t>, mark: Mark) -> Result<()> {
        let column = isize::try_from(column).unwrap_or(isize::MAX);
        if self.is_flow() || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        self.check_depth()?;
        match before {
            Some(number) => self.tokens.insert(number.saturating_sub(self.taken).min(self.tokens.len()), (token, mark)),
            None => self.tokens.push_back((token, mark)),
        }
        Ok(())
    }

    fn check_depth(&self) -> Result<()> {
        if self.indents.len() + self.keys.len() <= self.depth + 1 {
            return Ok(());
        }
        let message = format!("exceeded max depth of {}", self.depth);
        Err(self.problem(&message))
    }

    /// Closes the blocks that are further right than `column`.
    fn unroll(&mut self, column: isize) {
        if self.is_flow() {
            return;
        }
        while self.indent > column {
            self.push(Token::BlockEnd);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Remembers that a key may begin here.
    fn save_key(&mut self) -> Result<()> {
        if !self.key_allowed {
            return Ok(());
        }
        self.remove_key()?;
        let column = isize::try_from(self.mark.column).unwrap_or(isize::MAX);
        let required = !self.is_flow() && self.indent == column;
        let token = self.taken + self.tokens.len();
        let mark = self.mark;
        if let Some(key) = self.keys.last_mut() {
            *key = SimpleKey { possible: true, required, token, mark };
        }
        Ok(())
    }

    fn remove_key(&mut self) -> Result<()> {
        let Some(key) = self.keys.last_mut() else { return Ok(()) };
        if key.possible && key.required {
            let context = key.mark.line;
            return Err(self.problem_in(context, "could not find expected ':'"));
        }
        key.possible = false;
        Ok(())
    }

    fn fetch_end(&mut self) -> Result<()> {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.unroll(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.push(Token::StreamEnd);
        self.ended = true;
        Ok(())
    }

    fn fetch_document(&mut self, token: Token<'t>) -> Result<()> {
        self.unroll(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.push(token);
        self.advance_ascii(3);
        Ok(())
    }

    fn indicator(&mut self, token: Token<'t>) {
        self.push(token);
        self.advance_ascii(1);
    }

    fn fetch_open(&mut self, token: Token<'t>) -> Result<()> {
        self.save_key()?;
        self.keys.push(SimpleKey::default());
        self.check_depth()?;
        self.key_allowed = true;
        self.indicator(token);
        Ok(())
    }

    fn fetch_close(&mut self, token: Token<'t>) -> Result<()> {
        self.remove_key()?;
        if self.is_flow() {
            self.keys.pop();
        }
        self.key_allowed = false;
        self.indicator(token);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<()> {
        if !self.is_flow() {
            if !self.key_allowed {
                return Err(self.problem("block sequence entries are not allowed in this context"));
            }
            self.roll(self.mark.column, None, Token::BlockSequence, self.mark)?;
        }
        self.remove_key()?;
        self.key_allowed = true;
        self.indicator(Token::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<()> {
        if !self.is_flow() {
            if !self.key_allowed {
                return Err(self.problem("mapping keys are not allowed in this context"));
            }
            self.roll(self.mark.column, None, Token::BlockMapping, self.mark)?;
        }
        self.remove_key()?;
        self.key_allowed = !self.is_flow();
        self.indicator(Token::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<()> {
        let level = self.keys.len() - 1;
        if self.is_valid(level)? {
            let Some(key) = self.keys.last_mut() else { return Ok(()) };
            key.possible = false;
            let key = *key;
            let place = key.token.saturating_sub(self.taken).min(self.tokens.len());
            self.tokens.insert(place, (Token::Key, key.mark));
            self.roll(key.mark.column, Some(key.token), Token::BlockMapping, key.mark)?;
            self.key_allowed = false;
        } else {
            if !self.is_flow() {
                if !self.key_allowed {
                    return Err(self.problem("mapping values are not allowed in this context"));
                }
                self.roll(self.mark.column, None, Token::BlockMapping, self.mark)?;
            }
            self.key_allowed = !self.is_flow();
        }
        self.indicator(Token::Value);
        Ok(())
    }

    fn fetch_anchor(&mut self, indicator: char) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        let mark = self.mark;
        let name = self.anchor_name()?;
        let token = if indicator == '&' { Token::Anchor(name) } else { Token::Alias(name) };
        self.tokens.push_back((token, mark));
        Ok(())
    }

    fn fetch_tag(&mut self) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        let mark = self.mark;
        let (handle, suffix) = self.tag()?;
        self.tokens.push_back((Token::Tag(handle, suffix), mark));
        Ok(())
    }

    fn fetch_block_scalar(&mut self, literal: bool) -> Result<()> {
        self.remove_key()?;
        self.key_allowed = true;
        let mark = self.mark;
        let text = self.block_scalar(literal)?;
        self.tokens.push_back((Token::Scalar(text.into(), false), mark));
        Ok(())
    }

    fn fetch_quoted(&mut self, quote: char) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        let mark = self.mark;
        let text = self.quoted(quote)?;
        self.tokens.push_back((Token::Scalar(text, false), mark));
        Ok(())
    }

    fn fetch_plain(&mut self) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        let mark = self.mark;
        let flow = self.is_flow();
        let (text, ends_line) = self.plain(flow)?;
        if ends_line {
            self.key_allowed = true;
        }
        self.tokens.push_back((Token::Scalar(text, true), mark));
        Ok(())
    }

    fn directive(&mut self) -> Result<()> {
        let (mark, line) = (self.mark, self.mark.line);
        self.advance_ascii(1);
        let name = self.word();
        if name.is_empty() {
            return Err(self.problem_in(line, "could not find expected directive name"));
        }
        if !self.ends_word(0) {
            return Err(self.problem_in(line, "found unexpected non-alphabetical character"));
        }
        let token = match name {
            "YAML" => self.version(line)?,
            "TAG" => self.tag_directive(line)?,
            _ => return Err(self.problem_in(line, "found unknown directive name")),
        };
        self.skip_blanks();
        if self.here() == Some('#') {
            self.skip_line();
        }
        if !self.here().is_none_or(|c| is_break(c) || c == '\0') {
            return Err(self.problem_in(line, "did not find expected comment or line break"));
        }
        self.line_break();
        self.tokens.push_back((token, mark));
        Ok(())
    }
}
