//! Flags of a verb, and padding.

use super::Output;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub plus: bool,
    pub minus: bool,
    pub sharp: bool,
    pub space: bool,
    pub zero: bool,
    /// `%#v`: as in source code.
    pub source: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
}

impl Flags {
    /// Writes text padded to the width.
    pub fn pad<E, G: FnMut(usize) -> Result<(), E>>(self, text: &[u8], out: &mut Output<'_, G>) -> Result<(), E> {
        let padding = self.width.unwrap_or(0).saturating_sub(count(text));
        if self.minus {
            out.push(text)?;
            return self.padding(padding, out);
        }
        self.padding(padding, out)?;
        out.push(text)
    }

    /// Writes `count` bytes of padding.
    pub fn padding<E, G: FnMut(usize) -> Result<(), E>>(self, count: usize, out: &mut Output<'_, G>) -> Result<(), E> {
        (out.grow)(count)?;
        let byte = if self.zero && !self.minus { b'0' } else { b' ' };
        out.bytes.extend(std::iter::repeat_n(byte, count));
        Ok(())
    }
}

/// Returns the number of characters. A byte that is not UTF-8 counts as one.
pub(super) fn count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

/// Returns the first `most` characters.
pub(super) fn truncated(text: &[u8], most: Option<usize>) -> &[u8] {
    let Some(most) = most.filter(|most| *most < text.len()) else { return text };
    let (mut left, mut end) = (most, 0);
    for chunk in text.utf8_chunks() {
        let whole = chunk.valid().chars().take(left).map(char::len_utf8);
        let (taken, length) = whole.fold((0, 0), |(taken, length), bytes| (taken + 1, length + bytes));
        left -= taken;
        end += length;
        if left == 0 {
            break;
        }
        let more = left.min(chunk.invalid().len());
        left -= more;
        end += more;
    }
    text.get(..end).unwrap_or(text)
}
