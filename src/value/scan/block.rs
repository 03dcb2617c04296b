//! Documents and block collections, line by line, and flow collections on one or several lines.

use std::ops::Range;

use super::repeats::Within;
use super::scalar::RunEnd;
use super::scalar::{END, FIRST, NAME, is};
use super::{Mark, PartSink, Scan};
use crate::yaml::is_own_name;

/// Maximum length of a key. Readers allow a little more.
pub(super) const LONGEST_KEY: usize = 1000;

/// Returns `true` if `byte` ends an indicator such as `-` or `:`.
#[inline(always)]
pub(super) fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | END)
}

/// Returns `true` for words such as `null`, `true`, `False`, and perhaps for others.
#[inline(always)]
fn may_be_word(name: &[u8]) -> bool {
    let start = name.first_chunk().map(|&[first, second]: &[u8; 2]| [first | 0x20, second | 0x20]);
    start.is_some_and(|start| matches!(&start, b"nu" | b"tr" | b"fa"))
}

impl<'s, S: PartSink> Scan<'s, S> {
    /// Scans all documents.
    pub(super) fn documents(&mut self) -> Option<()> {
        while self.at < self.bytes.len() {
            self.any_line()?;
        }
        self.end_document()
    }

    /// Scans a line, and with some values further lines.
    #[inline(always)]
    pub(super) fn any_line(&mut self) -> Option<()> {
        self.line = self.at;
        self.skip_spaces();
        match self.here() {
            b'\n' => self.at += 1,
            b'#' => {
                self.open = false;
                self.skip_text();
            }
            END => {}
            _ => self.content()?,
        }
        Some(())
    }

    /// Scans a line with content, and with some values further lines.
    #[inline(always)]
    fn content(&mut self) -> Option<()> {
        let column = self.at - self.line;
        if std::mem::take(&mut self.open) && self.parent().is_some_and(|parent| column > parent) {
            return self.further_line();
        }
        if column == 0 && matches!(self.here(), b'-' | b'.') && self.marker()? {
            return Some(());
        }
        self.close_beyond(column)?;
        if self.is_dash() { self.items(column) } else { self.entry_or_scalar(column) }
    }

    /// Scans `---`. Returns `false` if there is no marker.
    fn marker(&mut self) -> Option<bool> {
        let rest = self.bytes.get(self.at..)?;
        if rest.starts_with(b"...") {
            return None;
        }
        if !rest.starts_with(b"---") {
            return Some(false);
        }
        self.end_document()?;
        self.at += 3;
        self.null = self.at;
        if S::READS && !matches!(self.here(), b'\n' | END) {
            return None;
        }
        self.end_line()?;
        self.pending = true;
        self.markers += 1;
        if !S::READS {
            self.marks.push(Mark::Marker(self.line, self.at));
        }
        Some(true)
    }

    /// Closes the collections that do not go on in a line that begins at `column`.
    #[inline(always)]
    fn close_beyond(&mut self, column: usize) -> Option<()> {
        while let Some(top) = self.nest.top() {
            let ends_here = top.column as usize == column && !top.is_map && !self.is_dash();
            if top.column as usize <= column && !ends_here {
                break;
            }
            self.close()?;
        }
        Some(())
    }

    /// Ends the innermost collection.
    fn close(&mut self) -> Option<()> {
        self.tell_null()?;
        self.pending = false;
        self.sink.end()?;
        self.nest.close()
    }

    /// Ends all collections.
    pub(super) fn end_document(&mut self) -> Option<()> {
        while self.nest.depth() > 0 {
            self.close()?;
        }
        if self.markers > 0 {
            self.tell_null()?;
        }
        self.sink.end_document();
        Some(())
    }

    /// Opens a collection that begins at `start`.
    #[inline]
    fn begin(&mut self, is_map: bool, column: usize, span: Range<usize>) -> Option<()> {
        self.nest.open(is_map, column)?;
        self.sink.begin(!is_map, span)
    }

    #[inline(always)]
    fn is_dash(&self) -> bool {
        self.here() == b'-' && is_gap(self.byte(self.at + 1))
    }

    /// Scans list items that begin at `column`, and what is in the innermost.
    fn items(&mut self, mut column: usize) -> Option<()> {
        while self.is_dash() {
            let is_flat = self.item(column)?;
            self.at += 1;
            self.skip_spaces();
            if self.is_line_over() {
                // The parser has other places for these.
                let is_unread = S::READS && (is_flat || self.here() == b'#');
                return if is_unread { None } else { self.end_line() };
            }
            column = self.at - self.line;
        }
        self.branch();
        self.entry_or_scalar(column)
    }

    /// Scans the dash of an item. Returns `true` for the first one of a list in the column of the keys around it.
    fn item(&mut self, column: usize) -> Option<bool> {
        let after = if S::READS { self.after_dash() } else { 0 };
        let mut is_flat = false;
        match self.nest.top() {
            Some(top) if !top.is_map && top.column as usize == column => self.tell_null()?,
            // The items of a list in a map may be in the column of the map's keys.
            top if self.pending && top.is_none_or(|top| top.column as usize <= column) => {
                is_flat = top.is_some_and(|top| top.column as usize == column);
                let start = if is_flat { after } else { self.at };
                self.begin(false, column, start..start)?;
            }
            _ => return None,
        }
        self.pending = true;
        self.null = after;
        Some(is_flat)
    }

    #[inline(always)]
    pub(super) fn entry_or_scalar(&mut self, column: usize) -> Option<()> {
        let start = self.at;
        match self.here() {
            b'"' | b'\'' => {
                let is_verbatim = self.quoted(self.parent())?;
                if self.here() != b':' {
                    self.fill(column)?;
                    self.slot(start, Within::Line);
                    self.tell_quoted(start, is_verbatim)?;
                    return self.end_line();
                }
                let name = self.bytes.get(start + 1..self.at - 1).filter(|_| is_verbatim)?;
                self.entry(column, start, name)
            }
            b'[' | b'{' | b'&' | b'!' | b'|' | b'>' | b'*' => {
                self.fill(column)?;
                self.other_value()
            }
            _ => self.plain_entry_or_scalar(column, start),
        }
    }

    #[inline(always)]
    fn plain_entry_or_scalar(&mut self, column: usize, start: usize) -> Option<()> {
        self.begin_plain()?;
        match self.plain()? {
            RunEnd::Colon => {
                let name = self.plain_key(start)?;
                self.entry(column, start, name)
            }
            stop => {
                self.fill(column)?;
                self.end_plain(start, stop)
            }
        }
    }

    /// Returns the name of a plain key that begins at `start` and ends here.
    #[inline(always)]
    pub(super) fn plain_key(&self, start: usize) -> Option<&'s [u8]> {
        let name = self.bytes.get(start..self.at)?;
        let is_own = name.first().is_some_and(u8::is_ascii_alphabetic) && !may_be_word(name);
        if self.byte(self.at - 1) == b' ' || !(S::READS || is_own || self.is_own_name(start)) {
            return None;
        }
        Some(name)
    }

    /// Returns `true` if the plain key that begins at `start` and ends here is a name as it is written.
    #[inline(never)]
    fn is_own_name(&self, start: usize) -> bool {
        // Some readers refuse null.
        self.text.get(start..self.at).is_some_and(|text| is_own_name(text) && text != "null")
    }

    /// Takes the value at `column` for the innermost collection.
    #[inline]
    fn fill(&mut self, column: usize) -> Option<()> {
        let fits = self.pending && self.nest.top().is_none_or(|top| (top.column as usize) < column);
        self.pending = false;
        fits.then_some(())
    }

    /// Scans the rest of an entry, from its colon on.
    #[inline(always)]
    fn entry(&mut self, column: usize, start: usize, name: &[u8]) -> Option<()> {
        match self.nest.top() {
            Some(top) if top.is_map && top.column as usize == column => self.tell_null()?,
            top if self.pending && top.is_none_or(|top| (top.column as usize) < column) => {
                self.begin(true, column, start..start)?;
            }
            _ => return None,
        }
        if name.len() > LONGEST_KEY || !is_gap(self.byte(self.at + 1)) {
            return None;
        }
        self.key(start, name)?;
        self.null = self.at;
        self.pending = false;
        self.at += 1;
        if column == 0 {
            self.outline.push((self.line, name.len()));
            self.mark(name, false);
        }
        self.branch();
        self.after_colon()
    }

    /// Scans the rest of an entry after its colon.
    #[inline(always)]
    pub(super) fn after_colon(&mut self) -> Option<()> {
        self.skip_spaces();
        self.pending = self.is_line_over();
        if self.pending { self.end_line() } else { self.value() }
    }

    /// Scans a value that is not an entry, and the rest of its last line.
    #[inline(always)]
    fn value(&mut self) -> Option<()> {
        if !is(self.here(), FIRST) {
            return self.other_value();
        }
        self.begin_plain()?;
        self.rest_of_plain()
    }

    /// Scans a value that begins with an indicator.
    fn other_value(&mut self) -> Option<()> {
        if matches!(self.here(), b'&' | b'!') {
            self.properties()?;
            if S::READS && (self.parent().is_none() || matches!(self.here(), b'#' | b'|' | b'*')) {
                return None;
            }
            if self.is_line_over() {
                self.pending = true;
                self.end_line()?;
                return (S::READS || self.is_deeper()).then_some(());
            }
        }
        match self.here() {
            b'|' if S::READS => self.literal(),
            b'|' | b'>' if !S::READS => self.block_scalar(),
            b'*' if S::READS => {
                self.alias()?;
                self.end_line()
            }
            b'"' | b'\'' => {
                let start = self.at;
                let is_verbatim = self.quoted(self.parent())?;
                self.slot(start, Within::Line);
                self.tell_quoted(start, is_verbatim)?;
                self.end_line()
            }
            b'[' | b'{' => {
                self.flow()?;
                self.end_line()
            }
            b':' if !S::READS && !is_gap(self.byte(self.at + 1)) => self.rest_of_plain(),
            _ => self.further_line(),
        }
    }

    /// Returns the column of the innermost block collection.
    #[inline]
    pub(super) fn parent(&self) -> Option<usize> {
        self.nest.top().map(|top| top.column as usize)
    }

    /// Scans an anchor, a tag, or both.
    fn properties(&mut self) -> Option<()> {
        let (mut anchor, mut tag) = (false, false);
        loop {
            let given = match self.here() {
                b'&' => &mut anchor,
                b'!' => &mut tag,
                _ => return Some(()),
            };
            if std::mem::replace(given, true) {
                return None;
            }
            self.at += 1;
            let start = self.at;
            while is(self.here(), NAME) {
                self.at += 1;
            }
            if self.at == start || !is_gap(self.here()) || S::READS && tag {
                return None;
            }
            self.sink.anchor(self.text.get(start..self.at)?)?;
            self.skip_spaces();
        }
    }

    /// Returns `true` if the next line with content is indented deeper than the innermost collection.
    fn is_deeper(&mut self) -> bool {
        let Some(parent) = self.parent() else { return false };
        self.ahead = true;
        let lines = self.bytes.get(self.at..).unwrap_or(&[]).split(|&byte| byte == b'\n');
        let indents = lines.map(|line| (line.iter().take_while(|&&byte| byte == b' ').count(), line));
        let mut content = indents.filter(|(indent, line)| !matches!(line.get(*indent), None | Some(b'#')));
        content.next().is_some_and(|(indent, line)| indent > parent && line.get(indent).is_some_and(|&b| is(b, FIRST)))
    }
}

impl<S: PartSink> Scan<'_, S> {
    /// Scans a flow collection with all it contains.
    pub(super) fn flow(&mut self) -> Option<()> {
        let (around, parent) = (self.nest.depth(), self.parent());
        self.open_flow(parent)?;
        self.rest_of_flow(parent, around)
    }

    /// Scans entries until the collections beyond the depth `around` are closed.
    pub(super) fn rest_of_flow(&mut self, parent: Option<usize>, around: usize) -> Option<()> {
        while self.nest.depth() > around {
            self.skip_gap(parent)?;
            let is_map = self.nest.top()?.is_map;
            match self.here() {
                b'}' if is_map => self.close_flow(parent, around)?,
                b']' if !is_map => self.close_flow(parent, around)?,
                _ => {
                    if is_map {
                        self.flow_key()?;
                    }
                    self.flow_value(parent, around)?;
                }
            }
        }
        Some(())
    }

    fn open_flow(&mut self, parent: Option<usize>) -> Option<()> {
        let (is_map, start) = (self.here() == b'{', self.at);
        self.at += 1;
        self.begin(is_map, parent.unwrap_or(0), start..self.at)
    }

    fn close_flow(&mut self, parent: Option<usize>, around: usize) -> Option<()> {
        self.at += 1;
        self.close()?;
        self.end_flow_entry(parent, around)
    }

    /// Scans the comma after an entry, if there is one.
    pub(super) fn end_flow_entry(&mut self, parent: Option<usize>, around: usize) -> Option<()> {
        if self.nest.depth() == around {
            return Some(());
        }
        self.skip_gap(parent)?;
        match self.here() {
            b',' => self.at += 1,
            b'}' | b']' => {}
            _ => return None,
        }
        Some(())
    }

    /// Scans a key and its colon.
    fn flow_key(&mut self) -> Option<()> {
        let start = self.at;
        let name = match self.here() {
            b'"' | b'\'' => {
                let is_verbatim = self.quoted(None)?;
                self.bytes.get(start + 1..self.at - 1).filter(|_| is_verbatim && self.here() == b':')?
            }
            _ => {
                self.begin_plain()?;
                let RunEnd::Colon = self.plain_in_flow()? else { return None };
                self.plain_key(start)?
            }
        };
        if name.len() > LONGEST_KEY {
            return None;
        }
        self.key(start, name)?;
        self.at += 1;
        self.mark(name, true);
        self.skip_spaces();
        Some(())
    }

    /// Notes the entry `kind` of a document, after its colon.
    #[inline(always)]
    fn mark(&mut self, name: &[u8], is_flow: bool) {
        if !S::READS && name == b"kind" && self.nest.depth() == 1 {
            self.marks.push(Mark::Kind(self.at, is_flow));
        }
    }

    /// Scans a scalar with the comma after it, or the start of a collection.
    pub(super) fn flow_value(&mut self, parent: Option<usize>, around: usize) -> Option<()> {
        if matches!(self.here(), b'{' | b'[') {
            return self.open_flow(parent);
        }
        let start = self.at;
        self.flow_scalar()?;
        self.slot(start, Within::Flow(around as u32));
        self.end_flow_entry(parent, around)
    }

    #[inline]
    pub(super) fn flow_scalar(&mut self) -> Option<()> {
        let start = self.at;
        match self.here() {
            b'"' | b'\'' => {
                let is_verbatim = self.quoted(None)?;
                self.tell_quoted(start, is_verbatim)?;
            }
            b'*' if S::READS => self.alias()?,
            _ => {
                self.begin_plain()?;
                let RunEnd::End = self.plain_in_flow()? else { return None };
                self.tell_plain(start)?;
            }
        }
        Some(())
    }

    /// Skips spaces, line ends and comments. Further lines are indented deeper than `parent`.
    #[inline]
    fn skip_gap(&mut self, parent: Option<usize>) -> Option<()> {
        self.skip_spaces();
        while self.is_line_over() {
            if self.here() == END {
                return None;
            }
            self.skip_line();
            let line = self.at;
            self.skip_spaces();
            let column = self.at - line;
            if !is_gap(self.here()) && (parent.is_some_and(|parent| column <= parent) || self.is_marker(column)) {
                return None;
            }
        }
        Some(())
    }

    fn is_marker(&self, column: usize) -> bool {
        column == 0 && matches!(self.here(), b'-' | b'.')
    }
}
