//! The values of files that are read line by line: scalars, flow collections, literal block scalars, aliases.

use std::borrow::Cow;

use super::lines::{DEPTH, KEY, LineResult, Lines};
use crate::yaml::Style;
use dropforge_base::text::Span;

/// Maximum number of anchors of a document, among which each alias is searched.
const ANCHORS: usize = 100;

/// A scalar of one line, and the place of the `:` if it is a key.
pub(super) struct Scalar<'t> {
    pub text: Cow<'t, str>,
    pub style: Style,
    pub span: Span,
    pub colon: Option<usize>,
}

/// Returns `true` for a character that ends a plain scalar in a flow collection.
pub(super) fn is_flow(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

impl<'t> Lines<'t, '_, '_> {
    /// Reads a scalar of one line, and finds the `:` after it.
    pub fn scalar(&mut self, in_flow: bool) -> LineResult<Scalar<'t>> {
        let start = self.at;
        let (text, style) = match self.byte(start) {
            b'\'' => (self.single_quoted()?, Style::SingleQuoted),
            b'"' => (self.double_quoted()?, Style::DoubleQuoted),
            _ => return self.plain(in_flow),
        };
        let span = Span::of(start..self.at);
        let mut behind = self.at;
        while self.byte(behind) == b' ' {
            behind += 1;
        }
        let colon = match (self.byte(behind), self.is_space(behind + 1)) {
            (b':', true) => Some(behind),
            (b':', false) => return Err(None),
            _ => None,
        };
        Ok(Scalar { text, style, span, colon })
    }

    fn plain(&mut self, in_flow: bool) -> LineResult<Scalar<'t>> {
        let start = self.at;
        let begins = match self.byte(start) {
            b'-' => !(self.is_space(start + 1) || in_flow && is_flow(self.byte(start + 1))),
            b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@'
            | b'`' => false,
            byte => byte > b' ',
        };
        if !begins {
            return Err(None);
        }
        let (mut at, mut end) = (start, start);
        let colon = loop {
            match self.byte(at) {
                b'\n' | 0 => break None,
                b' ' => {}
                b'#' if end < at => break None,
                b':' if self.is_space(at + 1) => break Some(at),
                b':' if in_flow && is_flow(self.byte(at + 1)) => return Err(None),
                byte if in_flow && is_flow(byte) => break None,
                _ => end = at + 1,
            }
            at += 1;
        };
        self.at = end;
        Ok(Scalar { text: self.slice(start, end).into(), style: Style::Plain, span: Span::of(start..end), colon })
    }

    fn single_quoted(&mut self) -> LineResult<Cow<'t, str>> {
        let start = self.at + 1;
        let (mut at, mut doubled) = (start, false);
        loop {
            match (self.byte(at), self.byte(at + 1)) {
                (b'\'', b'\'') => (at, doubled) = (at + 1, true),
                (b'\'', _) => break,
                (b'\n' | 0, _) => return Err(None),
                _ => {}
            }
            at += 1;
        }
        self.at = at + 1;
        let text = self.slice(start, at);
        Ok(if doubled { text.replace("''", "'").into() } else { text.into() })
    }

    fn double_quoted(&mut self) -> LineResult<Cow<'t, str>> {
        let mut start = self.at + 1;
        let (mut at, mut text) = (start, Cow::Borrowed(""));
        loop {
            match self.byte(at) {
                b'"' => break,
                b'\\' => {
                    let escaped = match self.byte(at + 1) {
                        b'n' => "\n",
                        b't' => "\t",
                        b'"' => "\"",
                        b'\\' => "\\",
                        _ => return Err(None),
                    };
                    text.to_mut().push_str(self.slice(start, at));
                    text.to_mut().push_str(escaped);
                    (at, start) = (at + 2, at + 2);
                    continue;
                }
                b'\n' | 0 => return Err(None),
                _ => {}
            }
            at += 1;
        }
        self.at = at + 1;
        let rest = self.slice(start, at);
        if text.is_empty() {
            return Ok(rest.into());
        }
        text.to_mut().push_str(rest);
        Ok(text)
    }

    /// Reads a flow collection of one line.
    pub fn flow(&mut self) -> LineResult {
        // `true` for each open map.
        let mut open: Vec<bool> = Vec::new();
        loop {
            self.skip_blanks();
            let span = Span::of(self.at..self.at + 1);
            match (self.byte(self.at), open.last()) {
                (b'[' | b'{', _) if self.open.len() + open.len() >= DEPTH => return Err(None),
                (byte @ (b'[' | b'{'), last) if last.is_none_or(|is_map| !is_map) => {
                    self.at += 1;
                    self.builder.begin(byte == b'[', span)?;
                    open.push(byte == b'{');
                    continue;
                }
                (b']', Some(false)) | (b'}', Some(true)) => {
                    self.at += 1;
                    self.builder.end()?;
                    open.pop();
                }
                (_, Some(true)) => {
                    if let Some(is_map) = self.flow_entry()? {
                        open.push(is_map);
                        continue;
                    }
                }
                (b'*', Some(false)) => self.alias(true)?,
                (_, Some(false)) => {
                    let scalar = self.scalar(true)?;
                    if scalar.colon.is_some() {
                        return Err(None);
                    }
                    self.builder.plain_scalar(&scalar.text, scalar.style, scalar.span)?;
                }
                _ => return Err(None),
            }
            if !self.behind_flow(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Reads a key and its value. Returns the kind of a value that begins a collection.
    fn flow_entry(&mut self) -> LineResult<Option<bool>> {
        let key = self.scalar(true)?;
        let Some(colon) = key.colon.filter(|_| key.span.range().len() <= KEY) else {
            return Err(None);
        };
        self.builder.plain_scalar(&key.text, key.style, key.span)?;
        self.at = colon + 1;
        self.skip_blanks();
        let span = Span::of(self.at..self.at + 1);
        match self.byte(self.at) {
            b',' | b'}' => self.null(colon)?,
            b'*' => self.alias(true)?,
            byte @ (b'[' | b'{') => {
                self.at += 1;
                self.builder.begin(byte == b'[', span)?;
                return Ok(Some(byte == b'{'));
            }
            _ => {
                let scalar = self.scalar(true)?;
                if scalar.colon.is_some() {
                    return Err(None);
                }
                self.builder.plain_scalar(&scalar.text, scalar.style, scalar.span)?;
            }
        }
        Ok(None)
    }

    /// Moves past the end of an element: a comma, or the ends of collections. Returns `false` after the outermost.
    fn behind_flow(&mut self, open: &mut Vec<bool>) -> LineResult<bool> {
        while let Some(is_map) = open.last() {
            self.skip_blanks();
            match (self.byte(self.at), is_map) {
                (b',', _) => {
                    self.at += 1;
                    return Ok(true);
                }
                (b']', false) | (b'}', true) => {
                    self.at += 1;
                    self.builder.end()?;
                    open.pop();
                }
                _ => return Err(None),
            }
        }
        Ok(false)
    }

    /// Reads a literal block scalar in a collection with this indentation.
    pub fn literal(&mut self, parent: usize) -> LineResult {
        self.at += 1;
        let chomp = self.byte(self.at);
        if matches!(chomp, b'-' | b'+') {
            self.at += 1;
        }
        if self.byte(self.at) != b'\n' {
            return Err(None);
        }
        self.at += 1;
        let first = self.at;
        self.skip_blanks();
        let (start, indent) = (self.at, self.at - first);
        if indent <= parent || self.byte(start) == b'\n' {
            return Err(None);
        }
        self.at = first;
        let (mut text, mut breaks) = (String::new(), 0);
        while self.at < self.bytes.len() {
            let line = self.at;
            self.skip_blanks();
            let found = self.at - line;
            self.at = line;
            match self.byte(line + found) {
                b'\n' if found > indent => return Err(None),
                b'\n' => {
                    breaks += 1;
                    self.at = line + found + 1;
                    continue;
                }
                0 => return Err(None),
                b'#' if found < indent => return Err(None),
                _ if found < indent => break,
                _ => {}
            }
            text.extend(std::iter::repeat_n('\n', breaks));
            self.skip_line();
            if self.byte(self.at - 1) != b'\n' {
                return Err(None);
            }
            text.push_str(self.slice(line + indent, self.at - 1));
            breaks = 1;
        }
        let kept = match chomp {
            b'-' => 0,
            b'+' => breaks,
            _ => 1,
        };
        text.extend(std::iter::repeat_n('\n', kept));
        // The span ends where the next line begins, after its indentation.
        let line = self.at;
        self.skip_blanks();
        let span = Span::of(start..self.at);
        self.at = line;
        Ok(self.builder.plain_scalar(&text, Style::Literal, span)?)
    }

    /// Returns the name of an anchor after its mark.
    fn anchor_name(&mut self, in_flow: bool) -> LineResult<&'t str> {
        let start = self.at + 1;
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
        self.at = start + length;
        if length == 0 || !(self.is_space(self.at) || in_flow && is_flow(self.byte(self.at))) {
            return Err(None);
        }
        Ok(self.slice(start, self.at))
    }

    /// Reads an anchor, and its value if that is on this line.
    pub fn anchored(&mut self) -> LineResult {
        let name = self.anchor_name(false)?;
        if self.anchors.len() >= ANCHORS {
            return Err(None);
        }
        self.anchors.push(name);
        let anchor = self.before + self.anchors.len();
        self.skip_blanks();
        match self.byte(self.at) {
            b'#' | b'|' | b'*' => Err(None),
            b'-' if self.is_space(self.at + 1) => Err(None),
            b'\n' | 0 => {
                if let Some(open) = self.open.last_mut() {
                    open.anchor = Some(anchor);
                }
                self.skip_line();
                Ok(())
            }
            _ => {
                self.builder.anchor = anchor;
                self.value()
            }
        }
    }

    /// Reads an alias.
    pub fn alias(&mut self, in_flow: bool) -> LineResult {
        let start = self.at;
        let name = self.anchor_name(in_flow)?;
        let known = self.anchors.iter().rposition(|anchor| *anchor == name).ok_or(None)?;
        Ok(self.builder.earlier(self.before + known + 1, Span::of(start..self.at))?)
    }
}
