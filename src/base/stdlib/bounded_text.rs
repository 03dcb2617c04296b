//! Text with a maximum size, for writers of output of unknown size such as date formats. A piece that does not fit is not
//! written at all.

use std::fmt;

/// A string with a maximum size. A write that would exceed it fails and leaves the string unchanged.
#[derive(Debug, Default)]
pub struct Bounded {
    text: String,
    allowed: usize,
    overflowed: bool,
}

impl Bounded {
    /// Returns an empty text of at most `allowed` bytes. Nothing is allocated yet.
    pub fn new(allowed: usize) -> Self {
        Self { text: String::new(), allowed, overflowed: false }
    }

    /// Appends `piece`, if it fits.
    pub fn push(&mut self, piece: &str) -> fmt::Result {
        if piece.len() > self.allowed - self.text.len() {
            self.overflowed = true;
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// Returns `true` if a write failed because it did not fit, and not because its source failed.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Returns the text written so far.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::Bounded;

    #[test]
    fn pieces_that_exceed_the_limit_are_refused() {
        let mut text = Bounded::new(4);
        assert!(write!(text, "{}", 123).is_ok());
        assert!(!text.overflowed());
        assert!(write!(text, "45").is_err());
        assert!(text.overflowed());
        assert_eq!(text.into_text(), "123");
    }
}
