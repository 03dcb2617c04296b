//! Base64.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;

/// Standard base64 with optional padding.
const BASE64_LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Encodes octets as padded standard base64.
pub fn base64(octets: &[u8]) -> String {
    BASE64_STANDARD.encode(octets)
}

/// Returns the length of the result of [`base64`].
pub const fn base64_len(octets: usize) -> usize {
    octets.div_ceil(3).saturating_mul(4)
}

/// Decodes standard base64, padded or not, ignoring line breaks.
pub fn octets_of_base64(text: &str) -> Option<Vec<u8>> {
    BASE64_LENIENT.decode(text.replace(['\n', '\r'], "")).ok()
}

/// Decodes padded standard base64, ignoring line breaks.
///
/// # Errors
/// The offset that Go's decoder names: that of the first invalid byte, or of the block in which the text ends.
pub fn octets_of_padded_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut rest = text.iter().copied().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
    loop {
        let mut block = [0_u8; 4];
        let mut count = 0;
        while count < 4 {
            match rest.next() {
                // Line breaks in the last block count here.
                None if count == 0 => return Ok(out),
                None => return Err(text.len() - count),
                Some((at, b'=')) => {
                    check_padding(&mut rest, count, at, text.len())?;
                    push_octets(block, count, &mut out);
                    return Ok(out);
                }
                Some((at, byte)) => block[count] = digit(byte).ok_or(at)?,
            }
            count += 1;
        }
        push_octets(block, 4, &mut out);
    }
}

/// Checks that the text ends with the padding of a block of `count` digits, of which the first sign was at `at`.
fn check_padding(
    rest: &mut impl Iterator<Item = (usize, u8)>,
    count: usize,
    at: usize,
    len: usize,
) -> Result<(), usize> {
    match count {
        0 | 1 => return Err(at),
        2 => match rest.next() {
            Some((_, b'=')) => {}
            Some((at, _)) => return Err(at),
            None => return Err(len),
        },
        _ => {}
    }
    rest.next().map_or(Ok(()), |(at, _)| Err(at))
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Appends the octets of the first `count` digits.
fn push_octets(block: [u8; 4], count: usize, out: &mut Vec<u8>) {
    let bits = block.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit));
    out.extend(bits.to_be_bytes().iter().skip(1).take(count.saturating_sub(1)));
}

#[cfg(test)]
mod tests {
    #[test]
    fn offsets_of_errors_in_padded_base64() {
        let read = |text: &str| super::octets_of_padded_base64(text.as_bytes());
        for (text, octets) in [("", ""), ("aGVs\r\nbG8=", "hello"), ("aA==\n", "h"), ("aGVsbG8h", "hello!")] {
            assert_eq!(read(text).as_deref(), Ok(octets.as_bytes()), "{text:?}");
        }
        for (text, at) in [
            ("aGVsbG8", 4),
            ("!!!", 0),
            ("_-8=", 0),
            ("str", 0),
            ("bad!", 3),
            ("a===", 1),
            ("aA=b", 3),
            ("aA=", 3),
            ("aA==x", 4),
        ] {
            assert_eq!(read(text), Err(at), "{text:?}");
        }
    }

    #[test]
    fn base64_is_decoded_with_and_without_padding() {
        assert_eq!((super::base64(b"hello"), super::base64_len(5)), ("aGVsbG8=".to_owned(), 8));
        for text in ["aGVsbG8=", "aGVsbG8", "aGVs\r\nbG8="] {
            assert_eq!(super::octets_of_base64(text).as_deref(), Some(b"hello".as_slice()), "{text:?}");
        }
        for bad in ["a", "aGVsbG8==", "aGV sbG8=", "aGVsbG8-"] {
            assert_eq!(super::octets_of_base64(bad), None, "{bad:?}");
        }
    }
}
