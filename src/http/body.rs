//! Bodies of responses, bounded in length.

use std::fmt;
use std::io::{self, Read};

/// A reader of a body. It fails at the first byte above the bound.
#[derive(Debug)]
pub struct Bounded<R> {
    inner: R,
    max: u64,
    read: u64,
}

/// A body is longer than its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong(pub u64);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server sent more than the {} bytes that its answer may have", self.0)
    }
}

impl std::error::Error for TooLong {}

impl<R: Read> Bounded<R> {
    /// Bounds `inner` to `max` bytes.
    pub fn new(inner: R, max: u64) -> Self {
        Self { inner, max, read: 0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte above the bound shows that there is more.
        let left = usize::try_from((self.max - self.read.min(self.max)).saturating_add(1)).unwrap_or(usize::MAX);
        let end = buffer.len().min(left);
        let count = self.inner.read(buffer.get_mut(..end).unwrap_or_default())?;
        self.read += count as u64;
        if self.read > self.max { Err(io::Error::other(TooLong(self.max))) } else { Ok(count) }
    }
}

/// Reads a whole body of at most `max` bytes.
///
/// # Errors
/// A longer body ([`TooLong`]), and errors of the connection.
pub fn read_all(body: &mut ureq::Body, max: u64) -> Result<Vec<u8>, ureq::Error> {
    // A length that is too long is known before the body.
    if body.content_length().is_some_and(|length| length > max) {
        return Err(io::Error::other(TooLong(max)).into());
    }
    let mut bytes = Vec::new();
    Bounded::new(body.as_reader(), max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A reader without end that counts its bytes.
    struct Endless<'c>(&'c Cell<usize>);

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.update(|count| count + buffer.len());
            Ok(buffer.len())
        }
    }

    #[test]
    fn a_body_without_end_is_read_up_to_its_bound() {
        for max in [0, 1, 1_000, 100_000] {
            let (count, mut bytes) = (Cell::new(0), Vec::new());
            let read = Bounded::new(Endless(&count), max).read_to_end(&mut bytes);
            let error = read.expect_err("too long").into_inner().expect("a cause");
            assert_eq!(error.downcast_ref::<TooLong>(), Some(&TooLong(max)));
            assert_eq!(count.get() as u64, max + 1);
        }
    }

    #[test]
    fn a_body_of_its_bound_is_whole() {
        for length in [0, 1, 999, 1_000] {
            let (text, mut bytes) = (vec![7; length], Vec::new());
            Bounded::new(&text[..], 1_000).read_to_end(&mut bytes).expect("read");
            assert_eq!(bytes, text);
        }
    }
}
