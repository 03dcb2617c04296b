//! The output buffer: one string, bounded.

use crate::diagnostics::Result;
use crate::limits::Limit;

/// Appends to a caller's string, up to a limit of bytes.
#[derive(Debug)]
pub struct Output<'o> {
    text: &'o mut String,
    end: usize,
    limit: usize,
}

impl<'o> Output<'o> {
    /// Appends at most `limit` bytes to `text`.
    pub fn new(text: &'o mut String, limit: usize) -> Self {
        let end = text.len().saturating_add(limit);
        Self { text, end, limit }
    }

    /// Appends `text`.
    #[inline]
    pub fn push(&mut self, text: &str) -> Result<()> {
        if text.len() > self.end - self.text.len() {
            return Err(self.full());
        }
        self.text.push_str(text);
        Ok(())
    }

    #[cold]
    fn full(&self) -> Box<crate::diagnostics::Diagnostic> {
        Limit::OutputBytes.error(self.limit as u64)
    }

    /// Appends what `write` appends; it is checked against the limit afterwards, so `write` must be bounded
    /// itself by what it reads.
    pub fn push_with(&mut self, write: impl FnOnce(&mut String)) -> Result<()> {
        write(self.text);
        if self.text.len() > self.end { Err(self.full()) } else { Ok(()) }
    }

    /// How many bytes are in the buffer.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// What was appended since the buffer had `start` bytes.
    pub(super) fn since(&self, start: usize) -> &str {
        self.text.get(start..).unwrap_or("")
    }

    /// Takes back what was appended since the buffer had `start` bytes.
    pub(super) fn truncate(&mut self, start: usize) {
        if self.text.is_char_boundary(start) {
            self.text.truncate(start);
        }
    }
}
