//! Text that refuses to grow beyond a size: the target of writers whose output is not known beforehand,
//! such as a date format or a JSON encoding. What does not fit is not written, in part or in whole.

use std::fmt;

/// A string of at most so many bytes. A write that would exceed them fails and leaves it as it was.
#[derive(Debug, Default)]
pub(crate) struct Bounded {
    text: String,
    allowed: usize,
    overflowed: bool,
}

impl Bounded {
    /// An empty text that may become `allowed` bytes long; nothing is allocated yet.
    pub(crate) fn new(allowed: usize) -> Self {
        Self { text: String::new(), allowed, overflowed: false }
    }

    /// Appends `piece`, if it fits.
    pub(crate) fn push(&mut self, piece: &str) -> fmt::Result {
        let room = self.allowed - self.text.len();
        if piece.len() > room {
            self.overflowed = true;
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// Whether a write failed because it did not fit (and not because its source failed).
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// What has been written.
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
    fn what_fits_is_kept_and_the_rest_refused() {
        let mut text = Bounded::new(4);
        assert!(write!(text, "{}", 123).is_ok());
        assert!(!text.overflowed());
        assert!(write!(text, "45").is_err());
        assert!(text.overflowed());
        assert_eq!(text.into_text(), "123");
    }
}
