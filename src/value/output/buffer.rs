//! The output buffer of the writers. Short texts are copied as blocks of fixed length.

use std::cell::Cell;

use crate::{BLOCK, Block, Text};

/// A block of spaces.
const BLANKS: [u8; BLOCK] = [b' '; BLOCK];

/// A newline and a block of spaces.
const LINE: [u8; BLOCK + 1] = {
    let mut line = [b' '; BLOCK + 1];
    line[0] = b'\n';
    line
};

/// Spare capacity allocated beyond what is needed.
const SPARE: usize = 1024;

/// Sizes of the chunks for a line with a marker, with a key and a marker, and with a key and a value.
const MARKER_LINE: usize = 64;
const KEY_LINE: usize = 80;
const PAIR_LINE: usize = 112;

/// Maximum size of the space that a thread keeps, in bytes.
const KEPT: usize = 1 << 16;

thread_local! {
    /// Initialized space for text that is appended to other text.
    static SPACE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Copies `bytes` into `chunk` at `at`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn set<const N: usize, const M: usize>(chunk: &mut [u8; N], at: usize, bytes: &[u8; M]) {
    chunk[at..at + M].copy_from_slice(bytes);
}

/// Text under construction.
#[derive(Debug)]
pub struct Buffer {
    /// The text and initialized spare bytes after it, so that chunks of fixed length can be copied without a call.
    bytes: Vec<u8>,
    /// The length of the text.
    len: usize,
    /// The length of the text that precedes this buffer.
    before: usize,
}

impl Buffer {
    /// Appends the output of `write` to `out`.
    pub fn append<R>(out: &mut String, write: impl FnOnce(&mut Buffer) -> R) -> R {
        if !out.is_empty() {
            return Self::append_behind(out, write);
        }
        let mut buffer = Buffer { bytes: std::mem::take(out).into_bytes(), len: 0, before: 0 };
        let result = write(&mut buffer);
        buffer.bytes.truncate(buffer.len);
        *out = String::from_utf8(buffer.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        result
    }

    /// Appends the output of `write` to text, which is not validated again.
    fn append_behind<R>(out: &mut String, write: impl FnOnce(&mut Buffer) -> R) -> R {
        let mut buffer = Buffer { bytes: SPACE.take(), len: 0, before: out.len() };
        let result = write(&mut buffer);
        let bytes = buffer.bytes.get(..buffer.len).unwrap_or(&[]);
        match std::str::from_utf8(bytes) {
            Ok(text) => out.push_str(text),
            Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
        }
        if buffer.bytes.len() <= KEPT {
            SPACE.set(buffer.bytes);
        }
        result
    }

    /// Returns the length of the text, including the text that precedes this buffer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn len(&self) -> usize {
        self.before + self.len
    }

    /// Lets `write` fill the `N` bytes after the text. It returns how many of them become part of the text.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write<const N: usize>(&mut self, write: impl Fn(&mut [u8; N]) -> usize) {
        loop {
            let spare = self.bytes.get_mut(self.len..self.len.wrapping_add(N));
            if let Some(chunk) = spare.and_then(<[u8]>::first_chunk_mut) {
                self.len += write(chunk);
                return;
            }
            self.grow(N);
        }
    }

    /// Copies `bytes` after the text; the first `count` of them become part of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], count: usize) {
        self.write(|chunk| {
            *chunk = *bytes;
            count
        });
    }

    /// Initializes at least `count` bytes after the text.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) {
        self.bytes.resize(self.len + count + SPARE, 0);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push(&mut self, ascii: u8) {
        self.put(&[ascii], 1);
    }

    /// Removes the last `count` bytes, which must be ASCII.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take_back(&mut self, count: usize) {
        self.len = self.len.saturating_sub(count);
    }

    /// Appends a text of constant length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_all<const N: usize>(&mut self, ascii: &[u8; N]) {
        self.put(ascii, N);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_str(&mut self, text: &str) {
        let end = self.len + text.len();
        if end > self.bytes.len() {
            self.grow(text.len());
        }
        if let Some(chunk) = self.bytes.get_mut(self.len..end) {
            chunk.copy_from_slice(text.as_bytes());
            self.len = end;
        }
    }

    /// Appends a text, as a block if possible: copying a constant length needs no call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_text(&mut self, text: &Text<'_>) {
        match text.block() {
            Some(block) => self.put(block, text.as_str().len()),
            None => self.push_str(text.as_str()),
        }
    }

    /// Appends a space and a text.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_spaced(&mut self, text: &Text<'_>) {
        let Some(block) = text.block() else {
            self.push(b' ');
            return self.push_str(text.as_str());
        };
        self.write::<{ 1 + BLOCK }>(|chunk| {
            chunk[0] = b' ';
            set(chunk, 1, block);
            1 + text.as_str().len()
        });
    }

    /// Appends a text between double quotes, without escaping.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_quoted(&mut self, text: &Text<'_>) {
        let Some(block) = text.block() else {
            self.push(b'"');
            self.push_str(text.as_str());
            return self.push(b'"');
        };
        let len = text.as_str().len();
        self.write::<{ 2 + BLOCK }>(|chunk| {
            chunk[0] = b'"';
            set(chunk, 1, block);
            chunk[1 + len] = b'"';
            2 + len
        });
    }

    /// Appends a quote, the first bytes of a block and `after`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_quoted_block<const M: usize>(&mut self, text: (&Block, usize), after: &[u8; M]) {
        self.write::<{ BLOCK + 4 }>(|chunk| {
            chunk[0] = b'"';
            set(chunk, 1, text.0);
            set(chunk, 1 + text.1, after);
            1 + text.1 + M
        });
    }

    /// Appends `count` spaces.
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

    /// Appends the first `lead` bytes of a new line (a newline and spaces) and `mark`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_line<const M: usize>(&mut self, lead: usize, mark: &[u8; M]) {
        let lead = self.near(lead);
        self.write::<MARKER_LINE>(|chunk| {
            set(chunk, 0, &LINE);
            set(chunk, lead, mark);
            lead + M
        });
    }

    /// Appends the first `lead` bytes of a new line, a text and `mark`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_text_line<const M: usize>(&mut self, lead: usize, text: &Text<'_>, mark: &[u8; M]) {
        let Some(block) = text.block() else {
            self.push_line(lead, b"");
            self.push_str(text.as_str());
            return self.push_all(mark);
        };
        let (lead, len) = (self.near(lead), text.as_str().len());
        self.write::<KEY_LINE>(|chunk| {
            set(chunk, 0, &LINE);
            set(chunk, lead, block);
            set(chunk, lead + len, mark);
            lead + len + M
        });
    }

    /// Appends the first `lead` bytes of a new line, a key, a colon, a space and a value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_pair(&mut self, lead: usize, key: (&Block, usize), text: (&Block, usize)) {
        let lead = self.near(lead);
        self.write::<PAIR_LINE>(|chunk| {
            let key_end = lead + key.1;
            set(chunk, 0, &LINE);
            set(chunk, lead, key.0);
            set(chunk, key_end, b": ");
            set(chunk, key_end + 2, text.0);
            key_end + 2 + text.1
        });
    }

    /// Returns the part of the `lead` bytes that a chunk can hold. Longer leads are written separately.
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

    /// Appends an integer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn push_int(&mut self, n: impl itoa::Integer + TryInto<u16>) {
        match n.try_into() {
            Ok(few @ ..10_000) => self.push_few(few),
            _ => self.push_str(itoa::Buffer::new().format(n)),
        }
    }

    /// Appends a number of at most four digits, the most common case.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push_few(&mut self, n: u16) {
        let (high, low) = (u32::from(n / 100), u32::from(n % 100));
        let digits = (high / 10) | ((high % 10) << 8) | ((low / 10) << 16) | ((low % 10) << 24);
        let zeros = usize::from(n < 1000) + usize::from(n < 100) + usize::from(n < 10);
        let written = (digits | 0x3030_3030) >> (8 * zeros);
        self.put(&written.to_le_bytes(), 4 - zeros);
    }

    /// Appends formatted text.
    pub fn push_format(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.push_str(&arguments.to_string());
    }

    /// Inserts `text` at the position where the buffer had `at` bytes.
    #[cold]
    pub fn insert(&mut self, at: usize, text: &str) {
        let at = at.saturating_sub(self.before).min(self.len);
        self.bytes.splice(at..at, text.bytes());
        self.len += text.len();
    }
}
