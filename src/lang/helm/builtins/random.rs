//! Random texts and numbers, from the random source of the system, which is good enough for secrets.

use crate::error::failed;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::encodings::{base64, base64_len};
use dropforge_base::stdlib::hashes::random_uuid;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;

functions! {
    /// Functions of random texts and numbers.
    pub(super) static RANDOM:
    "randAlphaNum" [Int] = text(LETTERS_AND_DIGITS), needs RANDOM,
        "Returns a random text of a number of letters and digits."
        [r#"{{ randAlphaNum 10 | len }}"# => "10", r#"[{{ randAlphaNum -1 }}]"# => "[]"];
    "randAlpha" [Int] = text(LETTERS), needs RANDOM, "Returns a random text of a number of letters."
        [r#"{{ randAlpha 10 | len }}"# => "10"];
    "randNumeric" [Int] = text(DIGITS), needs RANDOM, "Returns a random text of a number of digits."
        [r#"{{ randNumeric 6 | regexMatch "^[0-9]{6}$" }}"# => "true"];
    "randAscii" [Int] = text(&ASCII), needs RANDOM,
        "Returns a random text of a number of printable ASCII characters." [r#"{{ randAscii 20 | len }}"# => "20"];
    "randBytes" [Int] = rand_bytes, needs RANDOM, "Returns a number of random bytes in base64."
        [r#"{{ randBytes 9 | b64dec | len }}"# => "9"];
    "randInt" [Int, Int] = rand_int, needs RANDOM, "Returns a random integer, from the first number to below the second."
        [r#"{{ randInt 5 6 }}"# => "5", r#"{{ randInt 6 5 }}"# => "E0404"];
    "uuidv4" [] = uuid, needs RANDOM, "Returns a random UUID." [r#"{{ uuidv4 | len }}"# => "36"];
}

/// The printable characters of ASCII.
static ASCII: [u8; 95] = {
    let mut all = [b' '; 95];
    let mut at = 0;
    while at < 95 {
        all[at] += at as u8;
        at += 1;
    }
    all
};

/// Returns a body that makes a text of characters of an alphabet.
fn text<'v>(alphabet: &'static [u8]) -> impl Fn(&Cx<'v>, i64) -> Result<String> {
    move |cx, len| {
        // A negative length is an error that the original ignores.
        let len = usize::try_from(len).unwrap_or(0);
        cx.charge(len)?;
        random_text(alphabet, len)
    }
}

fn rand_bytes<'v>(cx: &Cx<'v>, len: i64) -> Result<String> {
    let len = usize::try_from(len).map_err(|_| failed("runtime error: makeslice: len out of range"))?;
    cx.charge(len.saturating_add(base64_len(len)))?;
    let mut bytes = vec![0; len];
    fill(&mut bytes)?;
    Ok(base64(&bytes))
}

fn rand_int(least: i64, end: i64) -> Result<i64> {
    let count = u64::try_from(end.wrapping_sub(least)).ok().filter(|count| *count > 0);
    let count = count.ok_or_else(|| failed("invalid argument to Intn"))?;
    Ok(least.wrapping_add_unsigned(below(count)?))
}

fn uuid() -> Result<String> {
    Ok(random_uuid(u128::from_be_bytes(array()?)))
}

/// Lower-case and upper-case letters and digits.
pub const LETTERS_AND_DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Letters.
pub const LETTERS: &[u8] = LETTERS_AND_DIGITS.split_at(52).0;

/// Digits.
pub const DIGITS: &[u8] = LETTERS_AND_DIGITS.split_at(52).1;

/// Returns the error of the source of random bytes.
pub(super) fn no_source() -> Box<Diagnostic> {
    failed("the system has no random numbers")
}

/// Fills a buffer with random bytes.
///
/// # Errors
/// The source failed.
pub fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| no_source())
}

/// Returns an array of random bytes.
///
/// # Errors
/// The source failed.
pub fn array<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes).map(|()| bytes)
}

/// Returns a number below `bound`, all equally likely.
///
/// # Errors
/// The source failed.
pub fn below(bound: u64) -> Result<u64> {
    let excess = (u64::MAX % bound.max(1) + 1) % bound.max(1);
    loop {
        let number = u64::from_le_bytes(array()?);
        if number <= u64::MAX - excess {
            return Ok(number % bound.max(1));
        }
    }
}

/// Returns a text of `len` characters of an alphabet of ASCII characters, all equally likely.
///
/// # Errors
/// The source failed.
pub fn random_text(alphabet: &[u8], len: usize) -> Result<String> {
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
            let text = random_text(alphabet, 5_000).unwrap();
            assert_eq!(text.len(), 5_000);
            assert!(text.bytes().all(|byte| alphabet.contains(&byte)));
            assert!(alphabet.iter().all(|byte| text.as_bytes().contains(byte)));
        }
        assert_eq!(random_text(DIGITS, 0).unwrap(), "");
    }

    #[test]
    fn numbers_are_below_the_bound() {
        let numbers: Vec<u64> = (0..200).map(|_| below(3).unwrap()).collect();
        assert!((0..3).all(|n| numbers.contains(&n)) && numbers.iter().all(|n| *n < 3));
        assert_eq!((below(0).unwrap(), below(1).unwrap()), (0, 0));
        assert_ne!(below(u64::MAX).unwrap(), below(u64::MAX).unwrap());
    }
}
