//! Plain, quoted and block scalars.

use super::Scan;
use super::block::is_gap;
use super::bytes::{BLOCK, DOUBLE, END, FIRST, FLOW, SINGLE, is};

/// The end of the run of a plain scalar in its line.
pub(super) enum Stop {
    /// A colon that ends a key.
    Colon,
    /// A comment.
    Comment,
    /// The end of the line, or an indicator of a flow collection.
    End,
}

/// A quoted scalar.
pub(super) struct Quoted {
    /// `true` if its text is what stands between the quotes, on one line.
    pub is_verbatim: bool,
}

impl Scan<'_> {
    /// Checks that a plain scalar begins here.
    #[inline(always)]
    pub(super) fn begin_plain(&self, context: u8) -> Option<()> {
        let first = self.here();
        let next = self.byte(self.at + 1);
        let dash = first == b'-' && !is_gap(next) && !is(next, context);
        (is(first, FIRST) || dash).then_some(())
    }

    /// Scans a plain scalar up to the end of its line.
    #[inline(always)]
    pub(super) fn plain(&mut self, context: u8) -> Option<Stop> {
        loop {
            match self.skip_until(context) {
                b':' if is_gap(self.byte(self.at + 1)) => return Some(Stop::Colon),
                b':' if is(self.byte(self.at + 1), FLOW) && self.is_flow_or_tab(context) => return None,
                b'#' if self.byte(self.at - 1) == b' ' => return Some(Stop::Comment),
                b':' | b'#' => self.at += 1,
                b'\t' => return None,
                _ => return Some(Stop::End),
            }
        }
    }

    /// Returns `true` if a tab or, in a flow collection, an indicator is behind the current colon.
    fn is_flow_or_tab(&self, context: u8) -> bool {
        let next = self.byte(self.at + 1);
        next == b'\t' || (context == FLOW && !matches!(next, b':' | b'#'))
    }

    /// Scans the further lines of a plain scalar, which are indented deeper than the innermost collection.
    #[inline]
    pub(super) fn further_lines(&mut self) -> Option<()> {
        loop {
            let Some(first) = self.next_content() else { return Some(()) };
            let (column, parent) = (self.at - self.line, self.parent());
            if first == b'#' || parent.is_none_or(|parent| column <= parent) {
                self.at = self.line;
                return Some(());
            }
            self.begin_plain(BLOCK)?;
            match self.plain(BLOCK)? {
                Stop::Colon => return None,
                Stop::Comment => return self.end_line(),
                Stop::End => {}
            }
        }
    }

    /// Moves from the end of a line to the first byte of the next line that is not blank, and returns it.
    fn next_content(&mut self) -> Option<u8> {
        loop {
            if self.here() == END {
                return None;
            }
            self.at += 1;
            self.line = self.at;
            self.skip_spaces();
            match self.here() {
                b'\n' => {}
                END => return None,
                first => return Some(first),
            }
        }
    }

    /// Scans a quoted scalar. Its further lines are indented deeper than `parent`; without one there are none.
    #[inline]
    pub(super) fn quoted(&mut self, parent: Option<usize>) -> Option<Quoted> {
        let (quote, ends) = if self.here() == b'"' { (b'"', DOUBLE) } else { (b'\'', SINGLE) };
        let mut is_verbatim = true;
        self.at += 1;
        loop {
            match self.skip_until(ends) {
                b'\\' => self.escape()?,
                b'\n' => {
                    self.next_content()?;
                    if parent.is_none_or(|parent| self.at - self.line <= parent) || self.here() == b'\t' {
                        return None;
                    }
                }
                END => return None,
                _ if quote == b'\'' && self.byte(self.at + 1) == quote => self.at += 2,
                _ => {
                    self.at += 1;
                    return Some(Quoted { is_verbatim });
                }
            }
            is_verbatim = false;
        }
    }

    /// Scans an escape in a double-quoted scalar.
    fn escape(&mut self) -> Option<()> {
        let digits = match self.byte(self.at + 1) {
            b'0' | b'a' | b'b' | b't' | b'n' | b'v' | b'f' | b'r' | b'e' | b'"' | b'/' | b'\\' => 0,
            b'x' => 2,
            b'u' => 4,
            _ => return None,
        };
        self.at += 2;
        self.hex(digits)
    }

    /// Scans hexadecimal digits that are not those of a surrogate.
    pub(super) fn hex(&mut self, digits: usize) -> Option<()> {
        let number = self.bytes.get(self.at..self.at + digits)?;
        let is_surrogate = digits == 4 && matches!(number, [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
        self.at += digits;
        (number.iter().all(u8::is_ascii_hexdigit) && !is_surrogate).then_some(())
    }

    /// Scans a literal or folded block scalar.
    pub(super) fn block_scalar(&mut self) -> Option<()> {
        self.at += 1;
        if matches!(self.here(), b'+' | b'-') {
            self.at += 1;
        }
        let parent = self.parent()?;
        self.end_line()?;
        let (mut content, mut blank) = (None, 0);
        while self.at < self.bytes.len() {
            self.line = self.at;
            self.skip_spaces();
            let column = self.at - self.line;
            match (self.here(), content) {
                (b'\n', None) => blank = blank.max(column),
                (b'\n', _) => {}
                (b'\t', None) => return None,
                (b'\t', Some(content)) if column < content => return None,
                (_, None) if column <= parent => return self.leave_line(),
                (_, None) if blank > column => return None,
                (_, None) => content = Some(column),
                (_, Some(content)) if column < content => return self.leave_line(),
                _ => {}
            }
            self.skip_line();
        }
        Some(())
    }

    /// Moves back to the start of the line.
    fn leave_line(&mut self) -> Option<()> {
        self.at = self.line;
        Some(())
    }
}
