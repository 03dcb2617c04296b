//! Plain, quoted and block scalars; classes of bytes, and steps over them: eight at a time where most are skipped.

use super::block::is_gap;
use super::repeats::Within;
use super::{PartSink, Scan};
use dropforge_base::stdlib::byte_search::{all, first_place, first_special};

/// Ends a run of a plain scalar in a flow collection.
pub(super) const FLOW: u8 = 1;
/// May begin a plain scalar.
pub(super) const FIRST: u8 = 2;
/// May be in the name of an anchor or a tag.
pub(super) const NAME: u8 = 4;
/// Never ends a plain scalar and begins no indicator, wherever it is, or only outside flow collections.
pub(super) const INNER: u8 = 8;
pub(super) const OUTER: u8 = 16;

/// What a byte after the end of the text counts as. The text of a YAML scan has no such byte.
pub(super) const END: u8 = 0;

const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte: u8 = 0;
    loop {
        let mut class = 0;
        if matches!(byte, b':' | b'#' | b'\n' | b'\t' | END) {
            class |= FLOW;
        }
        // Some readers take a question mark there for a key.
        if matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b'?') {
            class |= FLOW;
        }
        if byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'/' | b'.' | b'$' | b'(' | b')') {
            class |= FIRST;
        }
        if matches!(byte, b'+' | b'<' | b'=' | b'^' | b'~' | b';' | b'\\') {
            class |= FIRST;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            class |= NAME;
        }
        if byte.is_ascii_graphic() && !matches!(byte, b':' | b'#') {
            class |= if class & FLOW == 0 { INNER } else { OUTER };
        }
        classes[byte as usize] = class;
        if byte == u8::MAX {
            return classes;
        }
        byte += 1;
    }
}

/// Returns `true` if `byte` has one of the classes.
#[inline(always)]
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Returns the length of a plain scalar of usual characters. They have one of the classes.
#[inline(always)]
pub(super) fn plain_end(bytes: &[u8], class: u8) -> usize {
    let run = |bytes: &[u8]| bytes.iter().take_while(|byte| is(**byte, class)).count();
    let mut at = run(bytes);
    while let Some([b' ' | b':' | b'#', rest @ ..]) = bytes.get(at..) {
        match run(rest) {
            0 => break,
            more => at += 1 + more,
        }
    }
    at
}

/// Bytes that are checked at once.
const CHUNK: usize = 64;

/// Returns `true` if the byte is neither printable ASCII nor a line end or a tab.
#[inline(always)]
const fn is_odd(byte: u8) -> bool {
    (byte.wrapping_sub(b' ') >= 0x5F) & (byte != b'\n') & (byte != b'\t')
}

/// Returns `true` if no character is a control, a byte order mark, or a line end other than `\n`.
pub(crate) fn is_usual(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = first_odd(rest.as_bytes()) {
        let Some(c) = rest.get(at..).and_then(|rest| rest.chars().next()) else { return false };
        if matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}') || !matches!(c, '\u{A0}'..='\u{FFFD}' | '\u{10000}'..) {
            return false;
        }
        rest = rest.get(at + c.len_utf8()..).unwrap_or("");
    }
    true
}

/// Returns the place of the first odd byte.
fn first_odd(bytes: &[u8]) -> Option<usize> {
    // Without a branch for each byte, the compiler looks at many at once.
    let has_odd = |chunk: &[u8; CHUNK]| chunk.iter().fold(false, |found, byte| found | is_odd(*byte));
    let (chunks, _) = bytes.as_chunks();
    let usual = CHUNK * chunks.iter().take_while(|chunk| !has_odd(chunk)).count();
    bytes.get(usual..)?.iter().position(|byte| is_odd(*byte)).map(|at| usual + at)
}

impl<S: PartSink> Scan<'_, S> {
    #[inline(always)]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(END)
    }

    /// Returns the current byte.
    #[inline(always)]
    pub(super) fn here(&self) -> u8 {
        self.byte(self.at)
    }

    /// Returns the next eight bytes, the first of them lowest.
    #[inline(always)]
    fn eight(&self) -> Option<u64> {
        self.bytes.get(self.at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Moves to the next `a`, `b`, line end or other control character, and returns it.
    #[inline(always)]
    pub(super) fn skip_until(&mut self, a: u8, b: u8) -> u8 {
        while let Some(eight) = self.eight() {
            let found = first_special(eight, a, b);
            if found != 0 {
                self.at += first_place(found);
                return self.here();
            }
            self.at += 8;
        }
        loop {
            let byte = self.here();
            if byte < b' ' || byte == a || byte == b {
                return byte;
            }
            self.at += 1;
        }
    }

    /// Moves to the next byte of a class, and returns it.
    #[inline(always)]
    pub(super) fn skip_until_class(&mut self, class: u8) -> u8 {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at += rest.iter().position(|&byte| is(byte, class)).unwrap_or(rest.len());
        self.here()
    }

    #[inline(always)]
    pub(super) fn skip_spaces(&mut self) {
        while let Some(eight) = self.eight() {
            let other = eight ^ all(0x20);
            if other != 0 {
                self.at += other.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        while self.here() == b' ' {
            self.at += 1;
        }
    }

    /// Moves past the current line.
    #[inline(always)]
    pub(super) fn skip_line(&mut self) {
        if self.here() == b'\n' {
            self.at += 1;
            return;
        }
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |end| self.at + end + 1);
    }

    /// Returns `true` if nothing but a comment is left in the line. Spaces are skipped.
    #[inline(always)]
    pub(super) fn is_line_over(&self) -> bool {
        match self.here() {
            b'\n' | END => true,
            b'#' => self.byte(self.at.wrapping_sub(1)) == b' ',
            _ => false,
        }
    }

    /// Moves past a line of which nothing but spaces and a comment is left.
    #[inline]
    pub(super) fn end_line(&mut self) -> Option<()> {
        self.skip_spaces();
        if !self.is_line_over() {
            return None;
        }
        if self.here() == b'#' {
            self.skip_text();
        } else {
            self.skip_line();
        }
        Some(())
    }
}

/// The end of the run of a plain scalar in its line.
pub(super) enum RunEnd {
    /// A colon that ends a key.
    Colon,
    /// A comment.
    Comment,
    /// The end of the line, or an indicator of a flow collection.
    End,
}

impl<S: PartSink> Scan<'_, S> {
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
    pub(super) fn plain(&mut self) -> Option<RunEnd> {
        loop {
            match self.skip_until(b':', b'#') {
                b':' if is_gap(self.byte(self.at + 1)) => return Some(RunEnd::Colon),
                b'#' if self.byte(self.at - 1) == b' ' => return Some(RunEnd::Comment),
                b':' | b'#' => self.at += 1,
                b'\n' | END => return Some(RunEnd::End),
                _ => return None,
            }
        }
    }

    /// Scans a plain scalar in a flow collection up to the end of its line.
    #[inline]
    pub(super) fn plain_in_flow(&mut self) -> Option<RunEnd> {
        loop {
            match self.skip_until_class(FLOW) {
                b':' => match self.byte(self.at + 1) {
                    next if is_gap(next) => return Some(RunEnd::Colon),
                    next if is(next, FLOW) => return None,
                    _ => self.at += 1,
                },
                b'#' if self.byte(self.at - 1) == b' ' => return Some(RunEnd::Comment),
                b'#' => self.at += 1,
                b'\t' => return None,
                _ => return Some(RunEnd::End),
            }
        }
    }

    /// Scans a further line of the plain scalar that the line before left open.
    pub(super) fn further_line(&mut self) -> Option<()> {
        self.begin_further()?;
        self.rest_of_plain()
    }

    /// Checks that a further line of a plain scalar begins here.
    pub(super) fn begin_further(&self) -> Option<()> {
        // No indicator of a value means one there.
        if matches!(self.here(), b'"' | b'\'' | b'[' | b'{') { Some(()) } else { self.begin_plain() }
    }

    /// Scans a line of a plain scalar that is no key.
    #[inline(always)]
    pub(super) fn rest_of_plain(&mut self) -> Option<()> {
        let start = self.at;
        match self.plain()? {
            RunEnd::Colon => None,
            stop => self.end_plain(start, stop),
        }
    }

    /// Ends a line of a plain scalar, which begins at `start`. Without a comment, deeper lines continue it.
    #[inline(always)]
    pub(super) fn end_plain(&mut self, start: usize, stop: RunEnd) -> Option<()> {
        self.open = matches!(stop, RunEnd::End);
        if S::READS {
            self.tell_whole_plain(start)?;
        } else if self.open {
            self.slot(start, Within::Line);
        }
        self.skip_line();
        Some(())
    }

    /// Moves from the end of a line to the first byte of the next line that is not blank, and returns it.
    pub(super) fn next_content(&mut self) -> Option<u8> {
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

    /// Scans a quoted scalar. Its further lines are indented deeper than `parent`; without one it has to end in its line.
    /// Returns `true` if the bytes between the quotes are its text.
    #[inline]
    pub(super) fn quoted(&mut self, parent: Option<usize>) -> Option<bool> {
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
                    return Some(is_verbatim);
                }
            }
            is_verbatim = false;
        }
    }

    /// Scans an escape in a double-quoted scalar.
    fn escape(&mut self) -> Option<()> {
        let digits = match self.byte(self.at + 1) {
            b'0' | b'a' | b'b' | b't' | b'n' | b'v' | b'f' | b'r' | b'e' | b'"' | b'\\' | b' ' => 0,
            // The text continues in the next line.
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
        self.ahead = true;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_classified_together_as_each_is() {
        for (byte, at, around) in (0..=u8::MAX).flat_map(|byte| {
            let places = [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK].into_iter();
            let places = places.flat_map(move |at| [b'a', b'\n', b' ', b'\t', b'~'].map(|around| (at, around)));
            places.map(move |(at, around)| (byte, at, around))
        }) {
            let mut bytes = [around; 2 * CHUNK + 5];
            bytes[at] = byte;
            let is_usual = matches!(byte, b'\n' | b'\t' | b' '..=b'~');
            assert_eq!(first_odd(&bytes), (!is_usual).then_some(at), "{bytes:?}");
        }
    }
}
