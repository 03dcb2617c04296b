//! Reads files line by line that use only the common notations of YAML, which most files do.
//!
//! These are block and flow collections, plain and quoted scalars of one line, literal block scalars, anchors and aliases of
//! values in blocks, comments and the marker `---`. A text with anything else is left to the parser, and so is every text with an error.

use super::builder::Builder;
use crate::yaml::Style;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::Span;

/// Maximum nesting, far below the limit of the parser.
pub(super) const DEPTH: usize = 64;
/// Maximum length of a key, below the limit of the parser.
pub(super) const KEY: usize = 1_000;

/// Reads a text. Returns `false` if it has other notations or errors: the parts so far are then meaningless.
///
/// # Errors
/// The errors of the builder.
pub(super) fn read(text: &str, builder: &mut Builder<'_>) -> Result<bool> {
    if !is_common(text) {
        return Ok(false);
    }
    let lines = Lines {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 0,
        open: Vec::new(),
        start: None,
        has_root: false,
        anchors: Vec::new(),
        before: 1,
        builder,
    };
    match lines.documents() {
        Ok(()) => Ok(true),
        Err(None) => Ok(false),
        Err(Some(error)) => Err(error),
    }
}

/// Returns `true` if all characters are common ones.
fn is_common(text: &str) -> bool {
    let control = |byte: u8| (byte < b' ' && byte != b'\n') || byte == 0x7F;
    let special =
        |c: char| matches!(c, '\u{80}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}'..='\u{FFFF}');
    !text.bytes().fold(false, |found, byte| found | control(byte)) && (text.is_ascii() || !text.chars().any(special))
}

/// What is read of a line. The error `None` leaves the text to the parser: it has another notation, or an error.
pub(super) type LineResult<T = ()> = std::result::Result<T, Option<Box<Diagnostic>>>;

/// An open block collection.
pub(super) struct OpenBlock {
    indent: usize,
    is_list: bool,
    /// Set for a list in a map that is not indented more than its key.
    is_flat: bool,
    /// The place of the value that a key or `-` before waits for.
    waits: Option<usize>,
    /// The anchor of that value.
    pub anchor: Option<usize>,
}

/// A text during its reading.
pub(super) struct Lines<'t, 'b, 's> {
    text: &'t str,
    pub bytes: &'t [u8],
    pub at: usize,
    /// The start of the current line.
    line: usize,
    pub open: Vec<OpenBlock>,
    /// The place after the marker that the document begins with.
    start: Option<usize>,
    has_root: bool,
    /// The anchors of the document, and the number of those before.
    pub anchors: Vec<&'t str>,
    pub before: usize,
    pub builder: &'b mut Builder<'s>,
}

impl<'t> Lines<'t, '_, '_> {
    /// Returns the byte at a place; 0 at the end.
    pub fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Returns `true` for a blank, a line end or the end of the text.
    pub fn is_space(&self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\n' | 0)
    }

    pub fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or("")
    }

    pub fn skip_blanks(&mut self) {
        while self.byte(self.at) == b' ' {
            self.at += 1;
        }
    }

    pub fn null(&mut self, at: usize) -> LineResult {
        Ok(self.builder.plain_scalar("~", Style::Plain, Span::of(at..at))?)
    }

    fn documents(mut self) -> LineResult {
        while self.at < self.bytes.len() {
            self.line = self.at;
            self.skip_blanks();
            match self.byte(self.at) {
                b'\n' | b'#' | 0 => self.skip_line(),
                _ if self.at == self.line && self.marker()? => {}
                _ => self.content()?,
            }
        }
        self.end_document()
    }

    /// Moves past the end of the line.
    pub fn skip_line(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |end| self.at + end + 1);
    }

    /// Ends a line after blanks and a comment.
    pub fn end_line(&mut self) -> LineResult {
        let from = self.at;
        self.skip_blanks();
        match self.byte(self.at) {
            b'\n' | 0 => {}
            b'#' if self.at > from => {}
            _ => return Err(None),
        }
        self.skip_line();
        Ok(())
    }

    /// Begins a document if the line is `---`.
    fn marker(&mut self) -> LineResult<bool> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        if rest.starts_with(b"---") {
            if !matches!(self.byte(self.at + 3), b'\n' | 0) {
                return Err(None);
            }
            self.end_document()?;
            self.start = Some(self.at + 3);
            self.skip_line();
            return Ok(true);
        }
        if rest.starts_with(b"...") || rest.starts_with(b"%") { Err(None) } else { Ok(false) }
    }

    fn end_document(&mut self) -> LineResult {
        while !self.open.is_empty() {
            self.close()?;
        }
        if let (Some(start), false) = (self.start.take(), self.has_root) {
            self.null(start)?;
        }
        self.has_root = false;
        self.before += self.anchors.len();
        self.anchors.clear();
        Ok(())
    }

    /// Closes the innermost block collection.
    fn close(&mut self) -> LineResult {
        if let Some(open) = self.open.pop() {
            self.end_entry(open.waits, open.anchor)?;
        }
        Ok(self.builder.end()?)
    }

    /// Reads the entries of a line.
    fn content(&mut self) -> LineResult {
        let mut column = self.at - self.line;
        let mut is_item = self.byte(self.at) == b'-' && self.is_space(self.at + 1);
        let mut is_new = self.find_place(column, is_item)?;
        while is_item {
            let behind = self.behind_dash();
            self.begin_entry(true, is_new, column, behind)?;
            self.at = behind;
            match self.byte(self.at) {
                // The parser has other places for these.
                b'#' => return Err(None),
                b'\n' | 0 if is_new && self.open.last().is_some_and(|open| open.is_flat) => return Err(None),
                b'\n' | 0 => {
                    self.skip_line();
                    return Ok(());
                }
                _ => {}
            }
            (column, is_new) = (self.at - self.line, true);
            is_item = self.byte(self.at) == b'-' && self.is_space(self.at + 1);
        }
        self.entry_or_value(column, is_new)
    }

    /// Closes what ends before a line with this indentation. Returns `true` if a new collection begins.
    fn find_place(&mut self, column: usize, is_item: bool) -> LineResult<bool> {
        while self.open.last().is_some_and(|open| open.indent > column) {
            self.close()?;
        }
        if self.open.last().is_some_and(|open| open.is_flat && open.indent == column) && !is_item {
            self.close()?;
        }
        let Some(open) = self.open.last() else { return if self.has_root { Err(None) } else { Ok(true) } };
        match (open.indent == column, open.waits) {
            (false, None) => Err(None),
            (false, Some(_)) => Ok(true),
            (true, waits) => match (open.is_list, is_item) {
                (false, true) if waits.is_some() => Ok(true),
                (list, item) if list != item => Err(None),
                _ => {
                    let anchor = open.anchor;
                    self.end_entry(waits, anchor).map(|()| false)
                }
            },
        }
    }

    /// Begins an entry or item, whose value is `waits` if there is none, and the collection before it if it `is_new`.
    fn begin_entry(&mut self, is_list: bool, is_new: bool, indent: usize, waits: usize) -> LineResult {
        if is_new {
            let (mut is_flat, mut anchor) = (false, None);
            if let Some(parent) = self.open.last_mut() {
                parent.waits = None;
                (is_flat, anchor) = (parent.indent == indent, parent.anchor.take());
            }
            if self.open.len() >= DEPTH {
                return Err(None);
            }
            self.has_root = true;
            let at = if is_flat { self.behind_dash() } else { self.at };
            let span = Span::of(at..at);
            if let Some(anchor) = anchor {
                self.builder.anchor = anchor;
            }
            self.builder.begin(is_list, span)?;
            self.open.push(OpenBlock { indent, is_list, is_flat, waits: None, anchor: None });
        }
        if let Some(open) = self.open.last_mut() {
            open.waits = Some(waits);
        }
        Ok(())
    }

    /// Returns the place after `-` and blanks.
    fn behind_dash(&self) -> usize {
        let rest = self.bytes.get(self.at + 1..).unwrap_or(&[]);
        self.at + 1 + rest.iter().take_while(|byte| **byte == b' ').count()
    }

    /// Reads a key with its value, or the value of an item.
    fn entry_or_value(&mut self, column: usize, is_new: bool) -> LineResult {
        if matches!(self.byte(self.at), b'[' | b'{' | b'|' | b'*') {
            return self.item_value(is_new);
        }
        let start = self.at;
        let scalar = self.scalar(false)?;
        let Some(colon) = scalar.colon else {
            self.at = start;
            return self.item_value(is_new);
        };
        if scalar.span.range().len() > KEY {
            return Err(None);
        }
        self.at = start;
        self.begin_entry(false, is_new, column, colon)?;
        self.builder.plain_scalar(&scalar.text, scalar.style, scalar.span)?;
        self.at = colon + 1;
        self.skip_blanks();
        match self.byte(self.at) {
            b'\n' | b'#' | 0 => {
                self.skip_line();
                Ok(())
            }
            b'-' if self.is_space(self.at + 1) => Err(None),
            b'&' => self.anchored(),
            _ => self.value(),
        }
    }

    /// Tells of a value that is not there.
    fn end_entry(&mut self, waits: Option<usize>, anchor: Option<usize>) -> LineResult {
        match (waits, anchor) {
            (Some(at), None) => self.null(at),
            // The parser has another place for a null with an anchor.
            (Some(_), Some(_)) => Err(None),
            (None, _) => Ok(()),
        }
    }

    /// Reads the value of an item on the line of its `-`.
    fn item_value(&mut self, is_new: bool) -> LineResult {
        let is_item = self.open.last().is_some_and(|open| open.is_list && open.waits.is_some_and(|at| at > self.line));
        if is_item && is_new { self.value() } else { Err(None) }
    }

    /// Reads the value that the innermost collection waits for, to the end of the line.
    pub fn value(&mut self) -> LineResult {
        let indent = self.open.last_mut().map_or(0, |open| {
            open.waits = None;
            open.indent
        });
        match self.byte(self.at) {
            b'|' => return self.literal(indent),
            b'[' | b'{' => self.flow()?,
            b'*' => self.alias(false)?,
            _ => {
                let scalar = self.scalar(false)?;
                if scalar.colon.is_some() {
                    return Err(None);
                }
                self.builder.plain_scalar(&scalar.text, scalar.style, scalar.span)?;
            }
        }
        self.end_line()
    }
}
