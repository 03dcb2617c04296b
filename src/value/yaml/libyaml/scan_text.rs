//! Scans scalars, anchors, tags and directives.

use std::borrow::Cow;

use super::scan::{Result, Token, TokenScanner};
use super::{is_blank, is_break};

/// Maximum number of digits of a version number.
const DIGITS: usize = 2;

impl<'t> TokenScanner<'t> {
    pub(super) fn skip_blanks(&mut self) {
        while self.here().is_some_and(is_blank) {
            self.advance_ascii(1);
        }
    }

    /// Takes letters, digits, `_` and `-`.
    pub(super) fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = rest.bytes().take_while(is_part).count();
        self.advance_ascii(length);
        rest.get(..length).unwrap_or("")
    }

    pub(super) fn version(&mut self, line: usize) -> Result<Token<'t>> {
        self.skip_blanks();
        let major = self.version_number(line)?;
        if self.here() != Some('.') {
            return Err(self.problem_in(line, "did not find expected digit or '.' character"));
        }
        self.advance_ascii(1);
        Ok(Token::Version(major, self.version_number(line)?))
    }

    fn version_number(&mut self, line: usize) -> Result<u32> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if digits > DIGITS {
            return Err(self.problem_in(line, "found extremely long version number"));
        }
        let number = self.rest().get(..digits).and_then(|digits| digits.parse().ok());
        self.advance_ascii(digits);
        number.ok_or_else(|| self.problem_in(line, "did not find expected version number"))
    }

    pub(super) fn tag_directive(&mut self, line: usize) -> Result<Token<'t>> {
        self.skip_blanks();
        let handle = self.tag_handle(line, true)?;
        if !self.here().is_some_and(is_blank) {
            return Err(self.problem_in(line, "did not find expected whitespace"));
        }
        self.skip_blanks();
        let prefix = self.tag_uri(line, "")?;
        if !self.ends_word(0) {
            return Err(self.problem_in(line, "did not find expected whitespace or line break"));
        }
        Ok(Token::TagHandle(handle, prefix))
    }

    pub(super) fn anchor_name(&mut self) -> Result<&'t str> {
        let line = self.mark.line;
        self.advance_ascii(1);
        let name = self.word();
        let ends = self.here().is_none_or(|c| {
            is_blank(c) || is_break(c) || matches!(c, '\0' | '?' | ':' | ',' | ']' | '}' | '%' | '@' | '`')
        });
        if name.is_empty() || !ends {
            return Err(self.problem_in(line, "did not find expected alphabetic or numeric character"));
        }
        Ok(name)
    }

    /// Scans a tag: its handle and suffix.
    pub(super) fn tag(&mut self) -> Result<(&'t str, String)> {
        let line = self.mark.line;
        if self.rest().starts_with("!<") {
            self.advance_ascii(2);
            let suffix = self.tag_uri(line, "")?;
            if self.here() != Some('>') {
                return Err(self.problem_in(line, "did not find the expected '>'"));
            }
            self.advance_ascii(1);
            return self.tag_end(line, ("", suffix));
        }
        let handle = self.tag_handle(line, false)?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.tag_uri(line, "")?;
            return self.tag_end(line, (handle, suffix));
        }
        let suffix = self.tag_uri(line, handle.strip_prefix('!').unwrap_or(handle))?;
        // A lone `!` is the tag of a scalar that must not be resolved by its style.
        let tag = if suffix.is_empty() { ("", "!".to_owned()) } else { ("!", suffix) };
        self.tag_end(line, tag)
    }

    fn tag_end(&self, line: usize, tag: (&'t str, String)) -> Result<(&'t str, String)> {
        if self.ends_word(0) {
            return Ok(tag);
        }
        Err(self.problem_in(line, "did not find expected whitespace or line break"))
    }

    fn tag_handle(&mut self, line: usize, directive: bool) -> Result<&'t str> {
        if self.here() != Some('!') {
            return Err(self.problem_in(line, "did not find expected '!'"));
        }
        let start = self.at;
        self.advance_ascii(1);
        self.word();
        if self.here() == Some('!') {
            self.advance_ascii(1);
        } else if directive && self.at - start > 1 {
            return Err(self.problem_in(line, "did not find expected '!'"));
        }
        Ok(self.text.get(start..self.at).unwrap_or(""))
    }

    /// Scans a tag's address, which begins with `head`.
    fn tag_uri(&mut self, line: usize, head: &str) -> Result<String> {
        let mut bytes = head.as_bytes().to_vec();
        while let Some(c) = self.here() {
            match c {
                '%' => bytes.push(self.percent(line)?),
                c if c.is_ascii_alphanumeric() || "_-;/?:@&=+$.!~*'()[]".contains(c) => {
                    bytes.push(c as u8);
                    self.advance_ascii(1);
                }
                ',' => {
                    bytes.push(b',');
                    self.advance_ascii(1);
                }
                _ => break,
            }
        }
        String::from_utf8(bytes).map_err(|_| self.problem_in(line, "found an incorrect leading UTF-8 octet"))
    }

    fn percent(&mut self, line: usize) -> Result<u8> {
        let digits = self.rest().get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let byte = digits.ok_or_else(|| self.problem_in(line, "did not find URI escaped octet"))?;
        self.advance_ascii(3);
        Ok(byte)
    }

    /// Scans a literal or folded block.
    pub(super) fn block_scalar(&mut self, literal: bool) -> Result<String> {
        let line = self.mark.line;
        self.advance_ascii(1);
        let (chomping, increment) = self.block_header(line)?;
        let mut indent = if increment > 0 { self.indent.max(0) + increment } else { 0 };
        let (mut text, mut leading, mut trailing) = (String::new(), String::new(), String::new());
        self.block_breaks(line, &mut indent, &mut trailing)?;
        let mut leading_blank = false;
        while self.column() == indent && self.here().is_some_and(|c| c != '\0') {
            let trailing_blank = self.here().is_some_and(is_blank);
            if !literal && !leading_blank && !trailing_blank && leading.starts_with('\n') {
                if trailing.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&leading);
            }
            leading.clear();
            text.push_str(&trailing);
            trailing.clear();
            leading_blank = trailing_blank;
            let start = self.at;
            self.skip_line();
            text.push_str(self.text.get(start..self.at).unwrap_or(""));
            leading.extend(self.line_break());
            self.block_breaks(line, &mut indent, &mut trailing)?;
        }
        if chomping != Some(false) {
            text.push_str(&leading);
        }
        if chomping == Some(true) {
            text.push_str(&trailing);
        }
        Ok(text)
    }

    fn column(&self) -> isize {
        isize::try_from(self.mark.column).unwrap_or(isize::MAX)
    }

    /// Scans what follows `|`. Returns whether breaks at the end are kept or removed, and the indentation.
    fn block_header(&mut self, line: usize) -> Result<(Option<bool>, isize)> {
        let (mut chomping, mut increment) = (None, 0);
        for _ in 0..2 {
            match self.here() {
                Some(c @ ('+' | '-')) if chomping.is_none() => chomping = Some(c == '+'),
                Some('0') if increment == 0 => {
                    return Err(self.problem_in(line, "found an indentation indicator equal to 0"));
                }
                Some(c @ '1'..='9') if increment == 0 => increment = c as isize - '0' as isize,
                _ => break,
            }
            self.advance_ascii(1);
        }
        self.skip_blanks();
        if self.here() == Some('#') {
            self.skip_line();
        }
        if !self.here().is_none_or(|c| is_break(c) || c == '\0') {
            return Err(self.problem_in(line, "did not find expected comment or line break"));
        }
        self.line_break();
        Ok((chomping, increment))
    }

    /// Scans indentation and empty lines, and finds out the indentation of the block if it is not known.
    fn block_breaks(&mut self, line: usize, indent: &mut isize, breaks: &mut String) -> Result<()> {
        let mut most = 0;
        loop {
            while (*indent == 0 || self.column() < *indent) && self.here() == Some(' ') {
                self.advance_ascii(1);
            }
            most = most.max(self.column());
            if (*indent == 0 || self.column() < *indent) && self.here() == Some('\t') {
                return Err(self.problem_in(line, "found a tab character where an indentation space is expected"));
            }
            match self.line_break() {
                Some(c) => breaks.push(c),
                None => break,
            }
        }
        if *indent == 0 {
            *indent = most.max(self.indent + 1).max(1);
        }
        Ok(())
    }

    /// Scans a quoted scalar.
    pub(super) fn quoted(&mut self, quote: char) -> Result<Cow<'t, str>> {
        let line = self.mark.line;
        self.advance_ascii(1);
        if let Some(text) = self.short_quoted(quote) {
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::new();
        loop {
            let rest = self.rest();
            if self.mark.column == 0 && (rest.starts_with("---") || rest.starts_with("...")) && self.ends_word(3) {
                return Err(self.problem_in(line, "found unexpected document indicator"));
            }
            if self.here().is_none_or(|c| c == '\0') {
                return Err(self.problem_in(line, "found unexpected end of stream"));
            }
            let folds = self.quoted_word(quote, line, &mut text)?;
            if !folds && self.here() == Some(quote) {
                self.advance_ascii(1);
                return Ok(Cow::Owned(text));
            }
            self.quoted_white(folds, &mut text);
        }
    }

    /// Scans a quoted scalar in one line without escapes.
    fn short_quoted(&mut self, quote: char) -> Option<&'t str> {
        let rest = self.rest();
        let is_end = |byte: u8| byte == quote as u8 || byte == b'\\' || !(b' '..0x7f).contains(&byte);
        let length = rest.bytes().position(is_end)?;
        let after = rest.as_bytes().get(length + 1);
        if rest.as_bytes().get(length) != Some(&(quote as u8)) || (quote == '\'' && after == Some(&b'\'')) {
            return None;
        }
        self.advance_ascii(length + 1);
        rest.get(..length)
    }

    /// Scans up to white space or the end. Returns `true` after an escaped line break.
    fn quoted_word(&mut self, quote: char, line: usize, text: &mut String) -> Result<bool> {
        while let Some(c) = self.here().filter(|c| !is_blank(*c) && !is_break(*c) && *c != '\0') {
            match c {
                '\'' if quote == '\'' && self.next_char() == Some('\'') => {
                    text.push('\'');
                    self.advance_ascii(2);
                }
                c if c == quote => return Ok(false),
                '\\' if quote == '"' && self.next_char().is_some_and(is_break) => {
                    self.advance_ascii(1);
                    self.line_break();
                    return Ok(true);
                }
                '\\' if quote == '"' => self.escape(line, text)?,
                c => {
                    text.push(c);
                    self.advance();
                }
            }
        }
        Ok(false)
    }

    /// Scans white space between words. Behind an escaped line break (`folded`) leading blanks are dropped.
    fn quoted_white(&mut self, folded: bool, text: &mut String) {
        let start = self.at;
        let (mut blanks, mut breaks, mut first) = (start..start, String::new(), None);
        let mut folds = folded;
        loop {
            if self.here().is_some_and(is_blank) {
                self.advance_ascii(1);
                if !folds {
                    blanks.end = self.at;
                }
            } else if let Some(c) = self.line_break() {
                match first {
                    None if !folds => first = Some(c),
                    _ => breaks.push(c),
                }
                folds = true;
            } else {
                break;
            }
        }
        if !folds {
            return text.push_str(self.text.get(blanks).unwrap_or(""));
        }
        join(first, &breaks, text);
    }

    fn escape(&mut self, line: usize, text: &mut String) -> Result<()> {
        let digits = match self.next_char() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            other => {
                let Some(c) = other.and_then(unescaped) else {
                    return Err(self.problem_in(line, "found unknown escape character"));
                };
                text.push(c);
                self.advance_ascii(2);
                return Ok(());
            }
        };
        self.advance_ascii(2);
        let code = self.rest().get(..digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(code) = code.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return Err(self.problem_in(line, "did not find expected hexdecimal number"));
        };
        let Some(c) = char::from_u32(code) else {
            return Err(self.problem_in(line, "found invalid Unicode character escape code"));
        };
        text.push(c);
        self.advance_ascii(digits);
        Ok(())
    }

    /// Scans a plain scalar. Also returns `true` if a line break followed it.
    pub(super) fn plain(&mut self, flow: bool) -> Result<(Cow<'t, str>, bool)> {
        let line = self.mark.line;
        let indent = self.indent + 1;
        let (mut text, mut first, mut breaks) = (Cow::Borrowed(""), None, String::new());
        let mut blanks = self.at..self.at;
        let mut ends_line = false;
        loop {
            let rest = self.rest();
            if self.mark.column == 0 && (rest.starts_with("---") || rest.starts_with("...")) && self.ends_word(3) {
                break;
            }
            if self.here() == Some('#') {
                break;
            }
            let start = self.at;
            self.plain_word(flow);
            if self.at > start {
                let word = self.text.get(start..self.at).unwrap_or("");
                if text.is_empty() {
                    text = Cow::Borrowed(word);
                } else {
                    let text = text.to_mut();
                    match ends_line {
                        true => join(first.take(), &std::mem::take(&mut breaks), text),
                        false => text.push_str(self.text.get(blanks).unwrap_or("")),
                    }
                    text.push_str(word);
                }
                ends_line = false;
            }
            if !self.here().is_some_and(|c| is_blank(c) || is_break(c)) {
                break;
            }
            blanks = self.at..self.at;
            while let Some(c) = self.here().filter(|c| is_blank(*c) || is_break(*c)) {
                if is_blank(c) {
                    if ends_line && self.column() < indent && c == '\t' {
                        return Err(self.problem_in(line, "found a tab character that violates indentation"));
                    }
                    let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or(&[]);
                    self.advance_ascii(1 + rest.iter().take_while(|byte| **byte == b' ').count());
                    if !ends_line {
                        blanks.end = self.at;
                    }
                } else {
                    let c = self.line_break();
                    match ends_line {
                        false => first = c,
                        true => breaks.extend(c),
                    }
                    ends_line = true;
                }
            }
            if !flow && self.column() < indent {
                break;
            }
        }
        Ok((text, ends_line))
    }

    /// Moves over a word of a plain scalar.
    fn plain_word(&mut self, flow: bool) {
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
            self.advance_ascii(rest.iter().take_while(|byte| is_word(**byte)).count());
            let Some(c) = self.here() else { return };
            let ends = match c {
                ':' => self.ends_word(1),
                ',' | '?' | '[' | ']' | '{' | '}' => flow,
                c => is_blank(c) || is_break(c) || c == '\0',
            };
            if ends {
                return;
            }
            self.advance();
        }
    }
}

/// Returns `true` for bytes that never end a word of a plain scalar.
#[inline]
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')
}

/// Joins two lines: one break is a space, more are breaks less one.
fn join(first: Option<char>, breaks: &str, text: &mut String) {
    match first {
        Some('\n') if breaks.is_empty() => text.push(' '),
        Some('\n') | None => text.push_str(breaks),
        Some(c) => {
            text.push(c);
            text.push_str(breaks);
        }
    }
}

const fn unescaped(c: char) -> Option<char> {
    Some(match c {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '\'' | '\\' => c,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}
