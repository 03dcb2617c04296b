//! The parts of documents, for a reader. Without one they cost nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::Scan;
use super::block::is_gap;
use super::scalar::{FLOW, NAME, is};
use crate::yaml::Style;

/// Receives the parts that a scan recognises, in the order of the file. `None` ends the scan.
pub(crate) trait PartSink {
    /// `true` for a reader. Then duplicate keys are its errors, and texts on several lines except literal ones, tags, and
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

    /// Takes a quoted scalar that ends here.
    #[inline(always)]
    pub(super) fn tell_quoted(&mut self, start: usize, is_verbatim: bool) -> Option<()> {
        if !S::READS {
            return Some(());
        }
        let (style, text) = (self.style(start), self.text.get(start + 1..self.at - 1)?);
        let text = match style {
            _ if is_verbatim => Cow::Borrowed(text),
            _ if text.contains('\n') => return None,
            Style::SingleQuoted => text.replace("''", "'").into(),
            _ => unescaped(text)?.into(),
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

/// Returns a double-quoted text without its escapes, if they are common ones.
fn unescaped(text: &str) -> Option<String> {
    let (mut out, mut chars) = (String::with_capacity(text.len()), text.chars());
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                escaped @ ('"' | '\\') => escaped,
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}
