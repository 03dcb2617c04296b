//! Plain, quoted and block scalars.

use super::Scan;
use super::block::is_gap;
use super::bytes::{END, FIRST, FLOW, is};

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
    /// Checks that a plain scalar begins here, and that it is no float that some readers refuse.
    #[inline(always)]
    pub(super) fn begin_plain(&self) -> Option<()> {
        let first = self.here();
        let is_dash = || first == b'-' && !is_gap(self.byte(self.at + 1)) && !is(self.byte(self.at + 1), FLOW);
        let begins = is(first, FIRST) || is_dash();
        (begins && !(matches!(first, b'.' | b'+' | b'-') && self.may_be_infinite())).then_some(())
    }

    /// Returns `true` if infinity, or no number at all, may begin here: `.inf`, `-.inf`, `.nan`.
    fn may_be_infinite(&self) -> bool {
        let sign = usize::from(matches!(self.here(), b'+' | b'-'));
        let word = self.bytes.get(self.at + sign..self.at + sign + 4).unwrap_or(&[]);
        let is_word = word.eq_ignore_ascii_case(b".inf") || word.eq_ignore_ascii_case(b".nan");
        is_word && !self.byte(self.at + sign + 4).is_ascii_alphanumeric()
    }

    /// Scans a plain scalar in a block up to the end of its line.
    #[inline(always)]
    pub(super) fn plain(&mut self) -> Option<Stop> {
        loop {
            match self.skip_until(b':', b'#') {
                b':' if is_gap(self.byte(self.at + 1)) => return Some(Stop::Colon),
                b'#' if self.byte(self.at - 1) == b' ' => return Some(Stop::Comment),
                b':' | b'#' => self.at += 1,
                b'\n' | END => return Some(Stop::End),
                _ => return None,
            }
        }
    }

    /// Scans a plain scalar in a flow collection up to the end of its line.
    #[inline]
    pub(super) fn plain_in_flow(&mut self) -> Option<Stop> {
        loop {
            match self.skip_until_class(FLOW) {
                b':' => match self.byte(self.at + 1) {
                    next if is_gap(next) => return Some(Stop::Colon),
                    next if is(next, FLOW) => return None,
                    _ => self.at += 1,
                },
                b'#' if self.byte(self.at - 1) == b' ' => return Some(Stop::Comment),
                b'#' => self.at += 1,
                b'\t' => return None,
                _ => return Some(Stop::End),
            }
        }
    }

    /// Scans a further line of the plain scalar that the line before left open.
    pub(super) fn further_line(&mut self) -> Option<()> {
        if !matches!(self.here(), b'"' | b'\'') {
            self.begin_plain()?;
        }
        self.rest_of_plain()
    }

    /// Scans a line of a plain scalar that is no key.
    #[inline(always)]
    pub(super) fn rest_of_plain(&mut self) -> Option<()> {
        match self.plain()? {
            Stop::Colon => None,
            stop => self.end_plain(stop),
        }
    }

    /// Ends a line of a plain scalar. Without a comment, deeper lines continue it.
    #[inline(always)]
    pub(super) fn end_plain(&mut self, stop: Stop) -> Option<()> {
        self.open = matches!(stop, Stop::End);
        self.skip_line();
        Some(())
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
        let (quote, escape) = if self.here() == b'"' { (b'"', b'\\') } else { (b'\'', b'\'') };
        let mut is_verbatim = true;
        self.at += 1;
        loop {
            match self.skip_until(quote, escape) {
                b'\\' => self.escape()?,
                b'\t' => {
                    self.at += 1;
                    continue;
                }
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
            b'0' | b'a' | b'b' | b't' | b'n' | b'v' | b'f' | b'r' | b'e' | b'"' | b'\\' | b' ' => 0,
            // The line goes on in the next one.
            b'\n' => {
                self.at += 1;
                return Some(());
            }
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
