//! Text values and the fixed-size blocks that make scanning and copying short texts cheap.

use super::yaml;

/// Size of a [`Block`] in bytes.
pub const BLOCK: usize = 32;

/// A text of at most this many bytes together with the bytes after it in memory. Blocks are copied and scanned whole,
/// without a loop over the text's length.
pub type Block = [u8; BLOCK];

/// Bytes appended to a short text to fill up a [`Block`].
pub const PADDING: &str = match std::str::from_utf8(&[0; BLOCK]) {
    Ok(padding) => padding,
    Err(_) => "",
};

/// Masks for the bytes of a [`Block`]: the slice that starts at `BLOCK - n` selects the first `n` bytes.
const MASKS: [u8; 2 * BLOCK] = {
    let mut masks = [0; 2 * BLOCK];
    masks.split_at_mut(BLOCK).0.copy_from_slice(&[1; BLOCK]);
    masks
};

/// Half of a [`Block`]; most texts are no longer.
const HALF: usize = BLOCK / 2;

/// Text, behind one thin reference so that a [`Value`](super::Value) stays 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Text<'v> {
    text: &'v str,
    /// A short text and the bytes after it, where there are enough of them.
    block: Option<&'v Block>,
    /// `true` if the text is known to be a [word](yaml::is_word).
    word: bool,
}

impl<'v> Text<'v> {
    /// Wraps `text`.
    pub const fn new(text: &'v str) -> Self {
        Self { text, block: None, word: false }
    }

    /// Wraps the first `len` bytes of `buffer`.
    pub fn prefix_of(buffer: &'v str, len: usize) -> Self {
        let block = if len <= BLOCK { buffer.as_bytes().first_chunk() } else { None };
        Self { text: buffer.get(..len).unwrap_or(buffer), block, word: false }
    }

    /// Returns `true` if the text is a [word](yaml::is_word).
    pub fn is_word(&self) -> bool {
        yaml::is_word(self)
    }

    /// Records whether the text is a word, for texts that are written again and again.
    pub fn classified(self) -> Self {
        Self { word: self.is_word(), ..self }
    }

    /// Returns `true` if the text is already known to be a word. Other texts may be words, too.
    pub(crate) const fn is_known_word(&self) -> bool {
        self.word
    }

    /// Returns the text with its original lifetime.
    pub const fn as_str(&self) -> &'v str {
        self.text
    }

    /// Returns `true` if the text contains the byte `a` or the byte `b`.
    #[inline]
    pub fn has_either(&self, a: u8, b: u8) -> bool {
        match self.block {
            Some(_) => !self.all(|byte| (byte != a) & (byte != b)),
            None => memchr::memchr2(a, b, self.text.as_bytes()).is_some(),
        }
    }

    /// Returns `true` if `holds` accepts every byte of the text. For short texts and simple predicates this compiles
    /// to a few vector instructions.
    #[inline(always)]
    pub fn all(&self, holds: impl Fn(u8) -> bool) -> bool {
        all_bytes(self.text, self.block, holds)
    }

    /// Returns `true` if all characters are ASCII.
    #[inline]
    pub fn is_ascii(&self) -> bool {
        match self.block {
            Some(_) => self.all(|byte| byte.is_ascii()),
            None => self.text.is_ascii(),
        }
    }

    /// Returns a short text and the bytes after it.
    pub const fn block(&self) -> Option<&'v Block> {
        self.block
    }
}

/// Returns `true` if `holds` accepts every byte of `text`, which is the beginning of `block`.
#[inline(always)]
pub(crate) fn all_bytes(text: &str, block: Option<&Block>, holds: impl Fn(u8) -> bool) -> bool {
    let masks = BLOCK.checked_sub(text.len()).and_then(|start| MASKS.get(start..)?.first_chunk::<BLOCK>());
    let (Some(block), Some(masks)) = (block, masks) else {
        return text.bytes().fold(true, |all, byte| all & holds(byte));
    };
    // Arrays of equal length compile to vector instructions.
    let check = |half: &[u8; HALF], masks: &[u8; HALF]| {
        let mut found = 0;
        for at in 0..HALF {
            found |= u8::from(!holds(half[at])) & masks[at];
        }
        found == 0
    };
    let (Some((near, far)), Some((masks, far_masks))) = (halves(block), halves(masks)) else { return false };
    check(near, masks) && (text.len() <= HALF || check(far, far_masks))
}

#[inline(always)]
fn halves(block: &Block) -> Option<(&[u8; HALF], &[u8; HALF])> {
    Some((block.first_chunk()?, block.last_chunk()?))
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Text<'_> {}
