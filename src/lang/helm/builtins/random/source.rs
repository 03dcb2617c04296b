//! Random bytes and texts from the random source of the system, good enough for secrets.

/// Lower-case and upper-case letters and digits.
pub const LETTERS_AND_DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Letters.
pub const LETTERS: &[u8] = LETTERS_AND_DIGITS.split_at(52).0;

/// Digits.
pub const DIGITS: &[u8] = LETTERS_AND_DIGITS.split_at(52).1;

/// The source of random bytes failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSource;

impl std::fmt::Display for NoSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the system has no random numbers")
    }
}

/// Fills a buffer with random bytes.
///
/// # Errors
/// The source failed.
pub fn fill(bytes: &mut [u8]) -> Result<(), NoSource> {
    getrandom::fill(bytes).map_err(|_| NoSource)
}

/// Returns an array of random bytes.
///
/// # Errors
/// The source failed.
pub fn array<const N: usize>() -> Result<[u8; N], NoSource> {
    let mut bytes = [0; N];
    fill(&mut bytes).map(|()| bytes)
}

/// Returns a number below `bound`, all equally likely.
///
/// # Errors
/// The source failed.
pub fn below(bound: u64) -> Result<u64, NoSource> {
    let excess = (u64::MAX % bound.max(1) + 1) % bound.max(1);
    loop {
        let number = u64::from_le_bytes(array()?);
        if number <= u64::MAX - excess {
            return Ok(number % bound.max(1));
        }
    }
}

/// Returns a text of so many characters of an alphabet of ASCII characters, all equally likely.
///
/// # Errors
/// The source failed.
pub fn text(alphabet: &[u8], len: usize) -> Result<String, NoSource> {
    let mut out = String::with_capacity(len);
    // Bytes beyond the last multiple of the alphabet's size would make its first characters more likely.
    let most = 256 - 256 % alphabet.len().clamp(1, 256);
    let mut bytes = [0; 64];
    while out.len() < len {
        fill(&mut bytes)?;
        let fair = bytes.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < most);
        let chosen = fair.filter_map(|byte| alphabet.get(byte % alphabet.len())).take(len - out.len());
        out.extend(chosen.map(|byte| char::from(*byte)));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_length_and_all_characters_of_the_alphabet() {
        for alphabet in [LETTERS_AND_DIGITS, LETTERS, DIGITS, b"a"] {
            let text = text(alphabet, 5_000).unwrap();
            assert_eq!(text.len(), 5_000);
            assert!(text.bytes().all(|byte| alphabet.contains(&byte)));
            assert!(alphabet.iter().all(|byte| text.as_bytes().contains(byte)));
        }
        assert_eq!(text(DIGITS, 0).unwrap(), "");
    }

    #[test]
    fn numbers_are_below_the_bound() {
        let numbers: Vec<u64> = (0..200).map(|_| below(3).unwrap()).collect();
        assert!((0..3).all(|n| numbers.contains(&n)) && numbers.iter().all(|n| *n < 3));
        assert_eq!((below(0), below(1)), (Ok(0), Ok(0)));
        assert_ne!(below(u64::MAX), below(u64::MAX));
    }
}
