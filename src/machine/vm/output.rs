//! The output buffer: one string with a limit.

use super::access::{append, append_block};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limit;
use dropforge_value::{BLOCK, Block, Text};

/// Appends to a string, up to a limit in bytes.
#[derive(Debug)]
pub struct Output<'o> {
    text: &'o mut String,
    /// The length up to which text is appended without further checks, within the capacity and the limit.
    fence: usize,
    end: usize,
    limit: usize,
    /// The number of texts that are being captured.
    captures: usize,
    /// Bytes of captured text that are not UTF-8, with the places of the characters that stand for them.
    bytes: Vec<(usize, u8)>,
}

/// The character that stands for a byte.
const BYTE: &str = "\u{fffd}";

impl<'o> Output<'o> {
    /// The memory of a byte that is not UTF-8.
    pub const STRAY: usize = size_of::<(usize, u8)>();

    /// Creates an output that appends at most `limit` bytes to `text`.
    #[inline]
    pub fn new(text: &'o mut String, limit: usize) -> Self {
        let end = text.len().saturating_add(limit);
        Self { fence: end.min(text.capacity()), text, end, limit, captures: 0, bytes: Vec::new() }
    }

    /// Appends `text`.
    #[inline(always)]
    pub fn push(&mut self, text: &str) -> Result<()> {
        if text.len() + self.text.len() > self.fence {
            self.make_room(text.len())?;
        }
        append(self.text, text);
        Ok(())
    }

    /// Appends `text`, the start of `block`.
    #[inline(always)]
    pub(super) fn push_block(&mut self, block: Option<&Block>, text: &str) -> Result<()> {
        match block {
            Some(block) if self.text.len() + BLOCK <= self.fence => {
                append_block(self.text, block, text.len());
                Ok(())
            }
            _ => self.push(text),
        }
    }

    /// Appends a string that is not UTF-8, for [`Output::STRAY`] bytes of memory each of which the caller has charged.
    /// Returns `false` if no text is being captured: it cannot be in the output.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        if self.captures == 0 {
            return Ok(false);
        }
        for chunk in bytes.utf8_chunks() {
            self.push(chunk.valid())?;
            for byte in chunk.invalid() {
                self.bytes.push((self.text.len(), *byte));
                self.push(BYTE)?;
            }
        }
        Ok(true)
    }

    /// Appends a text value.
    #[inline(always)]
    pub fn push_text(&mut self, text: &Text<'_>) -> Result<()> {
        self.push_block(text.block(), text.as_str())
    }

    /// Appends a text value between two strings.
    #[inline(always)]
    pub fn push_between(&mut self, before: &str, text: &Text<'_>, behind: &str) -> Result<()> {
        if let Some(block) = text.block()
            && self.text.len() + before.len() + BLOCK + behind.len() <= self.fence
        {
            append(self.text, before);
            append_block(self.text, block, text.as_str().len());
            append(self.text, behind);
            return Ok(());
        }
        self.push(before)?;
        self.push(text.as_str())?;
        self.push(behind)
    }

    /// Appends an integer.
    #[inline]
    pub fn push_int(&mut self, n: i64) -> Result<()> {
        self.push(itoa::Buffer::new().format(n))
    }

    /// Makes room for `len` bytes, or fails at the limit.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, len: usize) -> Result<()> {
        if len > self.end.saturating_sub(self.text.len()) {
            return Err(self.full());
        }
        self.text.reserve(len);
        self.fence = self.end.min(self.text.capacity());
        Ok(())
    }

    #[cold]
    fn full(&self) -> Box<dropforge_base::diagnostics::Diagnostic> {
        Limit::OutputBytes.error(self.limit as u64)
    }

    /// Lets `write` append. The limit is checked afterwards, so the result of `write` must be bounded by its input.
    pub fn push_with(&mut self, write: impl FnOnce(&mut String)) -> Result<()> {
        write(self.text);
        self.fence = self.end.min(self.text.capacity());
        if self.text.len() > self.end { Err(self.full()) } else { Ok(()) }
    }

    /// Lets `write` append text that [`Output::check`] accepts or that is taken back. If `write` fails, nothing is
    /// appended.
    #[inline(always)]
    pub(super) fn lend<R>(&mut self, write: impl FnOnce(&mut String) -> Result<R>) -> Result<R> {
        let start = self.text.len();
        let result = write(self.text);
        self.fence = self.end.min(self.text.capacity());
        if result.is_err() {
            self.truncate(start);
        }
        result
    }

    /// Removes the text after the first `start` bytes and fails if there is too much text.
    #[inline(always)]
    pub(super) fn check(&mut self, start: usize) -> Result<()> {
        if self.text.len() <= self.end {
            return Ok(());
        }
        self.truncate(start);
        Err(self.full())
    }

    /// Returns the number of bytes in the buffer.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text after the first `start` bytes.
    pub(super) fn since(&self, start: usize) -> &str {
        self.text.get(start..).unwrap_or("")
    }

    /// Begins to capture text. Returns where it starts.
    pub(super) fn capture(&mut self) -> usize {
        self.captures += 1;
        self.text.len()
    }

    /// Ends a capture. Its text is still there.
    pub(super) fn end_capture(&mut self) {
        self.captures = self.captures.saturating_sub(1);
    }

    /// Returns the string after the first `start` bytes of the text, if it has bytes that are not UTF-8.
    #[inline]
    pub(super) fn bytes_since(&self, start: usize) -> Option<Vec<u8>> {
        if self.bytes.is_empty() { None } else { self.with_bytes(start) }
    }

    #[cold]
    fn with_bytes(&self, start: usize) -> Option<Vec<u8>> {
        let first = self.bytes.partition_point(|(at, _)| *at < start);
        let bytes = self.bytes.get(first..).filter(|bytes| !bytes.is_empty())?;
        let (mut whole, mut from) = (Vec::new(), start);
        for (at, byte) in bytes {
            whole.extend_from_slice(self.text.as_bytes().get(from..*at).unwrap_or(&[]));
            whole.push(*byte);
            from = at + BYTE.len();
        }
        whole.extend_from_slice(self.text.as_bytes().get(from..).unwrap_or(&[]));
        Some(whole)
    }

    /// Removes the text after the first `start` bytes.
    pub(super) fn truncate(&mut self, start: usize) {
        if !self.bytes.is_empty() {
            self.bytes.truncate(self.bytes.partition_point(|(at, _)| *at < start));
        }
        if self.text.is_char_boundary(start) {
            self.text.truncate(start);
        }
    }
}
