//! What the writers write into: bytes of text, short texts copied whole, and whoever asked is told how many there are.

use crate::value::{BLOCK, Block, Text};

/// Blanks, as many as a block has.
const BLANKS: [u8; BLOCK] = [b' '; BLOCK];

/// A newline and the same.
const LINE: [u8; BLOCK + 1] = {
    let mut line = [b' '; BLOCK + 1];
    line[0] = b'\n';
    line
};

/// How much room is made beyond what is needed.
const ROOM: usize = 1024;

/// Bytes that a line is written into that has a mark, a text and a mark, or two texts.
const MARKED: usize = 64;
const ENTRY: usize = 80;
const PAIR: usize = 112;

/// Sets the bytes of `place` at `at`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn set<const N: usize, const M: usize>(place: &mut [u8; N], at: usize, bytes: &[u8; M]) {
    place[at..at + M].copy_from_slice(bytes);
}

/// Text that is being written.
#[derive(Debug)]
pub(in crate::value) struct Buffer {
    /// The text, and behind it room: bytes that were set once so that they can be written over in pieces of fixed
    /// length, which takes no call.
    bytes: Vec<u8>,
    /// How many of them are text.
    len: usize,
    /// How many bytes stand before these.
    before: usize,
}

impl Buffer {
    /// Appends to `out` what `write` writes.
    pub fn append<R>(out: &mut String, write: impl FnOnce(&mut Buffer) -> R) -> R {
        // What is there already is not looked at again.
        let (bytes, before) =
            if out.is_empty() { (std::mem::take(out).into_bytes(), 0) } else { (Vec::new(), out.len()) };
        let mut buffer = Buffer { bytes, len: 0, before };
        let result = write(&mut buffer);
        buffer.bytes.truncate(buffer.len);
        let text = String::from_utf8(buffer.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        if before == 0 {
            *out = text;
        } else {
            out.push_str(&text);
        }
        result
    }

    /// How many bytes there are, those before included.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn len(&self) -> usize {
        self.before + self.len
    }

    /// Lets `write` write into the `N` bytes behind the text; as many of them as it says become part of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write<const N: usize>(&mut self, write: impl Fn(&mut [u8; N]) -> usize) {
        loop {
            let behind = self.bytes.get_mut(self.len..self.len.wrapping_add(N));
            if let Some(place) = behind.and_then(<[u8]>::first_chunk_mut) {
                self.len += write(place);
                return;
            }
            self.make_room(N);
        }
    }

    /// Writes all of `bytes` behind the text, of which the first `count` become part of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], count: usize) {
        self.write(|place| {
            *place = *bytes;
            count
        });
    }

    /// Room for `count` bytes more, and no more than is soon written: room is set before it is.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, count: usize) {
        self.bytes.resize(self.len + count + ROOM, 0);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push(&mut self, ascii: u8) {
        self.put(&[ascii], 1);
    }

    /// Appends a text whose length is known where this is called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_all<const N: usize>(&mut self, ascii: &[u8; N]) {
        self.put(ascii, N);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_str(&mut self, text: &str) {
        let end = self.len + text.len();
        if end > self.bytes.len() {
            self.make_room(text.len());
        }
        if let Some(place) = self.bytes.get_mut(self.len..end) {
            place.copy_from_slice(text.as_bytes());
            self.len = end;
        }
    }

    /// Appends a text, as a block where it is one: a copy of fixed length costs less than a call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_text(&mut self, text: &Text<'_>) {
        match text.block() {
            Some(block) => self.put(block, text.as_str().len()),
            None => self.push_str(text.as_str()),
        }
    }

    /// Appends a blank and a text.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_apart(&mut self, text: &Text<'_>) {
        let Some(block) = text.block() else {
            self.push(b' ');
            return self.push_str(text.as_str());
        };
        self.write::<{ 1 + BLOCK }>(|place| {
            place[0] = b' ';
            set(place, 1, block);
            1 + text.as_str().len()
        });
    }

    /// Appends a text between double quotes, as it is.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_quoted(&mut self, text: &Text<'_>) {
        let Some(block) = text.block() else {
            self.push(b'"');
            self.push_str(text.as_str());
            return self.push(b'"');
        };
        let len = text.as_str().len();
        self.write::<{ 2 + BLOCK }>(|place| {
            place[0] = b'"';
            set(place, 1, block);
            place[1 + len] = b'"';
            2 + len
        });
    }

    /// Appends `count` blanks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn pad(&mut self, count: usize) {
        match count <= BLOCK {
            true => self.put(&BLANKS, count),
            false => self.pad_far(count),
        }
    }

    #[cold]
    #[inline(never)]
    fn pad_far(&mut self, count: usize) {
        (0..count).for_each(|_| self.push(b' '));
    }

    /// Appends the first `lead` bytes of a new line, which is a newline and blanks, and `mark`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_line<const M: usize>(&mut self, lead: usize, mark: &[u8; M]) {
        let lead = self.near(lead);
        self.write::<MARKED>(|place| {
            set(place, 0, &LINE);
            set(place, lead, mark);
            lead + M
        });
    }

    /// The same with a text before `mark`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_text_line<const M: usize>(&mut self, lead: usize, text: &Text<'_>, mark: &[u8; M]) {
        let Some(block) = text.block() else {
            self.push_line(lead, b"");
            self.push_str(text.as_str());
            return self.push_all(mark);
        };
        let (lead, len) = (self.near(lead), text.as_str().len());
        self.write::<ENTRY>(|place| {
            set(place, 0, &LINE);
            set(place, lead, block);
            set(place, lead + len, mark);
            lead + len + M
        });
    }

    /// Appends the first `lead` bytes of a new line, a text, a colon, a blank and another text.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_pair(&mut self, lead: usize, key: (&Block, usize), text: (&Block, usize)) {
        let lead = self.near(lead);
        self.write::<PAIR>(|place| {
            let behind_key = lead + key.1;
            set(place, 0, &LINE);
            set(place, lead, key.0);
            set(place, behind_key, b": ");
            set(place, behind_key + 2, text.0);
            behind_key + 2 + text.1
        });
    }

    /// What is left to write of the first `lead` bytes of a line.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn near(&mut self, lead: usize) -> usize {
        if lead <= LINE.len() { lead } else { self.far(lead) }
    }

    #[cold]
    #[inline(never)]
    fn far(&mut self, lead: usize) -> usize {
        self.push(b'\n');
        self.pad_far(lead - 1);
        0
    }

    /// Appends a whole number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_int(&mut self, n: impl itoa::Integer + TryInto<u16>) {
        match n.try_into() {
            Ok(few @ ..10_000) => self.push_few(few),
            _ => self.push_str(itoa::Buffer::new().format(n)),
        }
    }

    /// Appends a number of at most four digits: most are.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push_few(&mut self, n: u16) {
        let digits = [n / 1000, n / 100 % 10, n / 10 % 10, n % 10].map(|digit| b'0' + digit as u8);
        let zeros = usize::from(n < 1000) + usize::from(n < 100) + usize::from(n < 10);
        let written = u32::from_le_bytes(digits) >> (8 * zeros);
        self.put(&written.to_le_bytes(), digits.len() - zeros);
    }

    /// Appends what is formatted.
    pub fn push_format(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.push_str(&arguments.to_string());
    }

    /// Puts `text` where the buffer had `at` bytes.
    #[cold]
    pub fn insert(&mut self, at: usize, text: &str) {
        let at = at.saturating_sub(self.before).min(self.len);
        self.bytes.splice(at..at, text.bytes());
        self.len += text.len();
    }
}
