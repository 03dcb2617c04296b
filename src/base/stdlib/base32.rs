//! Base32 by RFC 4648, with padding.

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Encodes octets.
pub fn base32(octets: &[u8]) -> String {
    let mut out = String::with_capacity(base32_len(octets.len()));
    for block in octets.chunks(5) {
        let bits = block.iter().chain(&[0; 5]).take(5).fold(0_u64, |bits, octet| bits << 8 | u64::from(*octet));
        let used = (block.len() * 8).div_ceil(5);
        for at in 0..8 {
            let digit = usize::try_from(bits >> (35 - 5 * at) & 31).unwrap_or(0);
            out.push(if at < used { char::from(ALPHABET[digit]) } else { '=' });
        }
    }
    out
}

/// Returns the length of the result of [`base32`].
pub const fn base32_len(octets: usize) -> usize {
    octets.div_ceil(5).saturating_mul(8)
}

/// Decodes text, ignoring line breaks.
///
/// # Errors
/// The offset of the first invalid byte, not counting line breaks.
pub fn octets_of_base32(text: &[u8]) -> Result<Vec<u8>, usize> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let mut out = Vec::with_capacity(text.len() / 8 * 5);
    for start in (0..text.len()).step_by(8) {
        let block = text.get(start..).unwrap_or_default();
        let digits = digits_of(block, start)?;
        let bits = digits.iter().chain(&[0; 8]).take(8).fold(0_u64, |bits, digit| bits << 5 | u64::from(*digit));
        out.extend(bits.to_be_bytes().iter().skip(3).take(digits.len() * 5 / 8));
        if digits.len() < 8 {
            break;
        }
    }
    Ok(out)
}

/// Reads a block of eight digits, or of less with padding. `start` is its offset.
fn digits_of(block: &[u8], start: usize) -> Result<Vec<u8>, usize> {
    let mut digits = Vec::with_capacity(8);
    for at in 0..8 {
        // The text ends within a block.
        let Some(byte) = block.get(at) else { return Err(start) };
        // Padding is only known as such at the end of the text.
        if *byte == b'=' && at >= 2 && block.len() - at <= 8 {
            return padded(block, at, start).map(|()| digits);
        }
        let digit = ALPHABET.iter().position(|letter| letter == byte).ok_or(start + at)?;
        digits.push(u8::try_from(digit).unwrap_or(0));
    }
    Ok(digits)
}

/// Checks the padding that starts at offset `at` of the block.
fn padded(block: &[u8], at: usize, start: usize) -> Result<(), usize> {
    if block.len() < 8 {
        return Err(start + block.len());
    }
    if let Some(wrong) = (at + 1..8).find(|at| block.get(*at) != Some(&b'=')) {
        return Err(start + wrong - 1);
    }
    if matches!(at, 3 | 6) { Err(start + at) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_back() {
        for (octets, text) in [
            ("", ""),
            ("f", "MY======"),
            ("fo", "MZXQ===="),
            ("foo", "MZXW6==="),
            ("foob", "MZXW6YQ="),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI======"),
        ] {
            assert_eq!((base32(octets.as_bytes()).as_str(), base32_len(octets.len())), (text, text.len()));
            assert_eq!(octets_of_base32(text.as_bytes()).as_deref(), Ok(octets.as_bytes()));
        }
        assert_eq!(octets_of_base32(b"MZXW\r\n6===").as_deref(), Ok(b"foo".as_slice()));
    }

    #[test]
    fn offsets_of_errors() {
        for (text, at) in [
            ("!", 0),
            ("nbswy", 0),
            ("MZXW6YTB!", 8),
            ("MZXW6Y", 0),
            ("MZXW6YTBMZ", 8),
            ("MZXW6Y==", 6),
            ("MZX=====", 3),
            ("MY=====", 7),
            ("MY==a===", 3),
            ("M=======", 1),
            ("MY======MZXW6YTB", 2),
        ] {
            assert_eq!(octets_of_base32(text.as_bytes()), Err(at), "{text}");
        }
    }
}
