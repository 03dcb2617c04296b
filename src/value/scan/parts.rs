//! The parts of documents, for a reader. Without one they cost nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::Scan;
use super::block::is_gap;
use super::scalar::{FLOW, NAME, RunEnd, is};
use crate::yaml::Style;

/// Receives the parts that a scan recognises, in the order of the file. `None` ends the scan.
pub(crate) trait PartSink {
    /// `true` for a reader. Then duplicate keys are its errors, and folded texts, tags, and
    /// notations that the parser gives other places are outside the subset.
    const READS: bool;

    /// Takes a scalar after unquoting.
    fn scalar(&mut self, _: &str, _: Style, _: Range<usize>) -> Option<()> {
        Some(())
    }

    /// Takes the null at a place without a value.
    fn null(&mut self, _: usize) -> Option<()> {
        Some(())
    }

    /// Takes the beginning of a list, or of a map.
    fn begin(&mut self, _is_list: bool, _: Range<usize>) -> Option<()> {
        Some(())
    }

    /// Takes the end of the innermost collection.
    fn end(&mut self) -> Option<()> {
        Some(())
    }

    /// Takes the anchor of the next scalar or collection.
    fn anchor(&mut self, _name: &str) -> Option<()> {
        Some(())
    }

    /// Takes an alias.
    fn alias(&mut self, _name: &str, _: Range<usize>) -> Option<()> {
        Some(())
    }

    /// Takes the end of a document.
    fn end_document(&mut self) {}
}

impl PartSink for () {
    const READS: bool = false;
}

impl<S: PartSink> Scan<'_, S> {
    /// Takes a key that ends here.
    #[inline(always)]
    pub(super) fn key(&mut self, start: usize, name: &[u8]) -> Option<()> {
        if !S::READS {
            return self.nest.key(name);
        }
        match self.style(start) {
            Style::Plain => self.tell_plain(start),
            _ => self.tell_quoted(start, true),
        }
    }

    /// Takes the null of a value that is missing.
    #[inline(always)]
    pub(super) fn tell_null(&mut self) -> Option<()> {
        if S::READS && self.pending { self.sink.null(self.null) } else { Some(()) }
    }

    /// Takes a plain scalar that ends here, or before spaces.
    #[inline(always)]
    pub(super) fn tell_plain(&mut self, start: usize) -> Option<()> {
        if !S::READS {
            return Some(());
        }
        let text = self.text.get(start..self.at)?.trim_end_matches(' ');
        self.sink.scalar(text, Style::Plain, start..start + text.len())
    }

    /// Takes the plain scalar whose first line ends here, with the deeper lines that continue it. Ends at the end of the last of
    /// them.
    pub(super) fn tell_whole_plain(&mut self, start: usize) -> Option<()> {
        let first = self.text.get(start..self.at)?.trim_end_matches(' ');
        let (mut end, mut text) = (start + first.len(), Cow::Borrowed(first));
        while std::mem::take(&mut self.open) {
            let (from, line) = (self.at, self.line);
            let is_further = self.next_content().is_some_and(|first| first != b'#')
                && self.parent().is_some_and(|parent| self.at - self.line > parent);
            if !is_further {
                (self.at, self.line) = (from, line);
                break;
            }
            self.begin_further()?;
            let (begun, breaks) =
                (self.at, self.bytes.get(from..self.line)?.iter().filter(|byte| **byte == b'\n').count());
            match self.plain()? {
                RunEnd::Colon => return None,
                stop => self.open = matches!(stop, RunEnd::End),
            }
            let further = self.text.get(begun..self.at)?.trim_end_matches(' ');
            let text = text.to_mut();
            if breaks == 1 {
                text.push(' ');
            }
            text.extend(std::iter::repeat_n('\n', breaks - 1));
            text.push_str(further);
            end = begun + further.len();
        }
        self.sink.scalar(&text, Style::Plain, start..end)
    }

    /// Takes a quoted scalar that ends here.
    #[inline(always)]
    pub(super) fn tell_quoted(&mut self, start: usize, is_verbatim: bool) -> Option<()> {
        if !S::READS {
            return Some(());
        }
        let (style, text) = (self.style(start), self.text.get(start + 1..self.at - 1)?);
        let text = match style {
            _ if is_verbatim => Cow::Borrowed(text),
            style => folded(text, style)?.into(),
        };
        self.sink.scalar(&text, style, start..self.at)
    }

    /// Returns the style of the scalar at `start`.
    fn style(&self, start: usize) -> Style {
        match self.byte(start) {
            b'"' => Style::DoubleQuoted,
            b'\'' => Style::SingleQuoted,
            _ => Style::Plain,
        }
    }

    /// Returns the place after a dash and the spaces after it.
    pub(super) fn after_dash(&self) -> usize {
        let rest = self.bytes.get(self.at + 1..).unwrap_or(&[]);
        self.at + 1 + rest.iter().take_while(|byte| **byte == b' ').count()
    }

    /// Scans an alias.
    pub(super) fn alias(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        while is(self.here(), NAME) {
            self.at += 1;
        }
        let name = self.text.get(start + 1..self.at).filter(|name| !name.is_empty())?;
        let ends = is_gap(self.here()) || is(self.here(), FLOW);
        self.sink.alias(name, start..self.at).filter(|()| ends)
    }

    /// Scans a literal block scalar whose first line is not blank.
    pub(super) fn literal(&mut self) -> Option<()> {
        self.at += 1;
        let (chomp, parent) = (self.here(), self.parent()?);
        self.at += usize::from(matches!(chomp, b'-' | b'+'));
        if self.here() != b'\n' {
            return None;
        }
        self.at += 1;
        self.line = self.at;
        self.skip_spaces();
        let (start, indent) = (self.at, self.at - self.line);
        if indent <= parent || self.here() == b'\n' {
            return None;
        }
        self.at = self.line;
        let text = self.literal_text(indent, chomp)?;
        // The span ends where the next line begins, after its indentation.
        let line = self.at;
        self.skip_spaces();
        let end = std::mem::replace(&mut self.at, line.max(start)).max(start);
        self.sink.scalar(&text, Style::Literal, start..end)
    }

    fn literal_text(&mut self, indent: usize, chomp: u8) -> Option<String> {
        let (mut text, mut breaks) = (String::new(), 0);
        while let Some(line) = self.literal_line(indent)? {
            match line {
                "" => breaks += 1,
                line => {
                    text.extend(std::iter::repeat_n('\n', breaks));
                    text.push_str(line);
                    breaks = 1;
                }
            }
        }
        let kept = match chomp {
            b'-' => 0,
            b'+' => breaks,
            _ => 1,
        };
        text.extend(std::iter::repeat_n('\n', kept));
        Some(text)
    }

    /// Scans a line of a literal block scalar and returns its text, empty for a blank line. `Some(None)` after its end.
    fn literal_line(&mut self, indent: usize) -> Option<Option<&'_ str>> {
        self.line = self.at;
        self.skip_spaces();
        let found = self.at - self.line;
        match self.here() {
            b'\n' if found <= indent => {
                self.at += 1;
                return Some(Some(""));
            }
            _ if self.at == self.bytes.len() && found == 0 => return Some(None),
            b'#' if found < indent => return None,
            _ if self.at == self.bytes.len() || self.here() == b'\n' => return None,
            _ if found < indent => {
                self.at = self.line;
                return Some(None);
            }
            _ => {}
        }
        self.skip_line();
        // A last line without its end is left to the parser.
        let end = self.at - 1;
        (self.byte(end) == b'\n').then(|| self.text.get(self.line + indent..end))
    }
}

/// Returns the text of a quoted scalar: without its escapes, and with its lines joined by spaces, or by the empty lines
/// between them.
fn folded(text: &str, style: Style) -> Option<String> {
    let (mut out, mut lines) = (String::with_capacity(text.len()), text.split('\n').peekable());
    let mut line = lines.next()?;
    while lines.peek().is_some() {
        let (content, is_joined) = content_of(line, style);
        unescaped(content, style, &mut out)?;
        let mut is_next = true;
        loop {
            line = lines.next()?.trim_start_matches(' ');
            if !line.is_empty() || lines.peek().is_none() {
                break;
            }
            out.push('\n');
            is_next = false;
        }
        if is_next && !is_joined {
            out.push(' ');
        }
    }
    unescaped(line, style, &mut out)?;
    Some(out)
}

/// Returns a line of a quoted scalar, which another follows, without the white space at its end and without the backslash
/// that joins it to the next one. Tells whether there was one.
fn content_of(line: &str, style: Style) -> (&str, bool) {
    let is_escape = |text: &str| {
        let plain = text.trim_end_matches('\\');
        style == Style::DoubleQuoted && (text.len() - plain.len()) % 2 == 1
    };
    if let Some(content) = line.strip_suffix('\\').filter(|_| is_escape(line)) {
        return (content, true);
    }
    let content = line.trim_end_matches([' ', '\t']);
    // An escaped blank is none at the end.
    let kept = content.len() + usize::from(is_escape(content));
    (line.get(..kept).unwrap_or(content), false)
}

/// Appends a quoted text of one line without its escapes.
fn unescaped(text: &str, style: Style, out: &mut String) -> Option<()> {
    if style == Style::SingleQuoted {
        out.extend(text.split("''").enumerate().flat_map(|(at, part)| [if at > 0 { "'" } else { "" }, part]));
        return Some(());
    }
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let (digits, c) = match *escape.as_bytes().first()? {
            b'x' => (2, None),
            b'u' => (4, None),
            byte => (0, Some(escaped(byte)?)),
        };
        let number = || u32::from_str_radix(escape.get(1..=digits)?, 16).ok().and_then(char::from_u32);
        out.push(c.or_else(number)?);
        rest = escape.get(1 + digits..)?;
    }
    out.push_str(rest);
    Some(())
}

/// Returns the character that an escape of one character stands for.
fn escaped(byte: u8) -> Option<char> {
    Some(match byte {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'0' => '\0',
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b'v' => '\u{b}',
        b'f' => '\u{c}',
        b'e' => '\u{1b}',
        b'"' | b'\\' | b' ' => char::from(byte),
        _ => return None,
    })
}
