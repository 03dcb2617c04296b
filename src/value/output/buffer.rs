//! What the writers write into: bytes of text, short texts copied whole, and whoever asked is told how many there are.

use std::io::Write;

use crate::value::{BLOCK, Text};

/// Blanks, as many as a block has.
const BLANKS: [u8; BLOCK] = [b' '; BLOCK];

/// A newline and the same.
const LINE: [u8; BLOCK + 1] = {
    let mut line = [b' '; BLOCK + 1];
    line[0] = b'\n';
    line
};

/// Text that is being written.
#[derive(Debug)]
pub(in crate::value) struct Buffer {
    bytes: Vec<u8>,
    /// How many bytes stand before these.
    before: usize,
}

impl Buffer {
    /// Appends to `out` what `write` writes.
    pub fn append<R>(out: &mut String, write: impl FnOnce(&mut Buffer) -> R) -> R {
        // What is there already is not looked at again.
        let (bytes, before) =
            if out.is_empty() { (std::mem::take(out).into_bytes(), 0) } else { (Vec::new(), out.len()) };
        let mut buffer = Buffer { bytes, before };
        let result = write(&mut buffer);
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
    pub const fn len(&self) -> usize {
        self.before + self.bytes.len()
    }

    #[inline]
    pub fn push(&mut self, ascii: u8) {
        self.bytes.push(ascii);
    }

    #[inline]
    pub fn push_str(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Appends a text, as a block where it is one: a copy of fixed length costs less than a call.
    #[inline]
    pub fn push_text(&mut self, text: &Text<'_>) {
        match text.block() {
            Some(block) => {
                let end = self.bytes.len() + text.as_str().len();
                self.bytes.extend_from_slice(block);
                self.bytes.truncate(end);
            }
            None => self.push_str(text.as_str()),
        }
    }

    /// Appends `count` blanks.
    #[inline]
    pub fn pad(&mut self, count: usize) {
        let end = self.bytes.len() + count;
        if count <= BLOCK {
            self.bytes.extend_from_slice(&BLANKS);
            self.bytes.truncate(end);
        } else {
            self.bytes.resize(end, b' ');
        }
    }

    /// Appends a newline and `indent` blanks.
    #[inline]
    pub fn next_line(&mut self, indent: usize) {
        let end = self.bytes.len() + 1 + indent;
        if indent <= BLOCK {
            self.bytes.extend_from_slice(&LINE);
            self.bytes.truncate(end);
        } else {
            self.bytes.push(b'\n');
            self.bytes.resize(end, b' ');
        }
    }

    /// Appends a whole number.
    pub fn push_int(&mut self, n: impl itoa::Integer) {
        self.push_str(itoa::Buffer::new().format(n));
    }

    /// Appends what is formatted.
    pub fn push_format(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to memory cannot fail.
        let _ = self.bytes.write_fmt(arguments);
    }

    /// Puts `text` where the buffer had `at` bytes.
    #[cold]
    pub fn insert(&mut self, at: usize, text: &str) {
        let at = at.saturating_sub(self.before).min(self.bytes.len());
        self.bytes.splice(at..at, text.bytes());
    }
}
