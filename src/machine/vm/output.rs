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
}

impl<'o> Output<'o> {
    /// Creates an output that appends at most `limit` bytes to `text`.
    #[inline]
    pub fn new(text: &'o mut String, limit: usize) -> Self {
        let end = text.len().saturating_add(limit);
        Self { fence: end.min(text.capacity()), text, end, limit }
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

    /// Removes the text after the first `start` bytes.
    pub(super) fn truncate(&mut self, start: usize) {
        if self.text.is_char_boundary(start) {
            self.text.truncate(start);
        }
    }
}
