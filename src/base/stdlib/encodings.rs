//! Text encodings of octets: base64, base32 by RFC 4648 with padding, PEM, and percent encoding.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;

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

const BASE32_ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Encodes octets.
pub fn base32(octets: &[u8]) -> String {
    let mut out = String::with_capacity(base32_len(octets.len()));
    for block in octets.chunks(5) {
        let bits = block.iter().chain(&[0; 5]).take(5).fold(0_u64, |bits, octet| bits << 8 | u64::from(*octet));
        let used = (block.len() * 8).div_ceil(5);
        for at in 0..8 {
            let digit = usize::try_from(bits >> (35 - 5 * at) & 31).unwrap_or(0);
            out.push(if at < used { char::from(BASE32_ALPHABET[digit]) } else { '=' });
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
        let digit = BASE32_ALPHABET.iter().position(|letter| letter == byte).ok_or(start + at)?;
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

/// Returns the label and the text of the first PEM block: everything between its lines.
pub fn pem_block(pem: &str) -> Option<(&str, &str)> {
    let (_, behind) = pem.split_once("-----BEGIN ")?;
    let (label, behind) = behind.split_once("-----")?;
    let end = format!("-----END {label}-----");
    behind.split_once(end.as_str()).map(|(body, _)| (label, body))
}

/// Decodes the text of a PEM block. Skips its headers.
pub fn pem_content(body: &str) -> Option<Vec<u8>> {
    let body = body.rsplit_once(':').map_or(body, |(_, behind)| behind.split_once('\n').map_or("", |(_, body)| body));
    let digits: String = body.split_ascii_whitespace().collect();
    BASE64_STANDARD.decode(digits).ok()
}

/// The ASCII characters that encoding keeps, besides letters and digits. Others become `%XX`, also all beyond ASCII.
pub type Kept = [bool; 256];

/// Keeps letters, digits and `others`.
const fn keep(others: &[u8]) -> Kept {
    let mut kept = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        kept[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < others.len() {
        kept[others[at] as usize] = true;
        at += 1;
    }
    kept
}

/// `- . _ ~ / %`, for URL paths. Percent signs are kept so that encoded text is not encoded twice.
pub static URL_PATH: &Kept = &keep(b"-._~/%");

/// None.
pub static STRICT: &Kept = &keep(b"");

/// `- . _ ~` and the space, which a query writes as `+`.
pub static QUERY: &Kept = &keep(b"-._~ ");

/// Decodes a part of a query: `+` is a space, `%XX` an octet.
///
/// # Errors
/// An invalid escape.
pub fn query_text(text: &str) -> Result<Vec<u8>, String> {
    if let Some(at) = invalid_escape(text) {
        let escape = text.as_bytes().iter().skip(at).take(3).copied().collect::<Vec<_>>();
        return Err(String::from_utf8_lossy(&escape).into_owned());
    }
    Ok(percent_decode_str(&text.replace('+', " ")).collect())
}

/// Decodes `%XX`.
pub fn octets(text: &str) -> Vec<u8> {
    percent_decode_str(text).collect()
}

/// Returns the offset of the first `%` that two hexadecimal digits do not follow.
pub(crate) fn invalid_escape(text: &str) -> Option<usize> {
    let digits = |at: usize| text.as_bytes().get(at + 1..at + 3);
    let is_escape = |at: usize| digits(at).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    text.match_indices('%').map(|(at, _)| at).find(|at| !is_escape(*at))
}

/// Appends `text` with all characters except letters, digits and `kept` as `%XX`.
///
/// With [`URL_PATH`], `a b/é` becomes `a%20b/%C3%A9`.
pub fn percent(text: &str, kept: &Kept, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut clean = 0;
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| !kept[usize::from(*byte)]) {
        // There is no such range before the second byte of a character.
        out.push_str(text.get(clean..at).unwrap_or(""));
        out.push('%');
        [byte >> 4, byte & 15].into_iter().for_each(|digit| out.push(char::from(DIGITS[usize::from(digit)])));
        clean = at + 1;
    }
    out.push_str(text.get(clean..).unwrap_or(""));
}

/// Returns the length of the result of [`percent`] in bytes.
pub fn percent_len(text: &str, kept: &Kept) -> usize {
    text.bytes().fold(text.len(), |len, byte| len + if kept[usize::from(byte)] { 0 } else { 2 })
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn blocks_are_read_with_headers_and_lines_of_any_length() {
        for text in [
            "x\n-----BEGIN A B-----\nQUJDREVG\n-----END A B-----\n",
            "-----BEGIN A B-----\r\nQUJD\r\n  REVG\r\n-----END A B-----",
            "-----BEGIN A B-----\nC: d\nE: f\n\nQUJDREVG\n-----END A B-----\n-----BEGIN C-----\n-----END C-----",
        ] {
            let (label, body) = pem_block(text).unwrap();
            assert_eq!((label, pem_content(body).as_deref()), ("A B", Some(&b"ABCDEF"[..])), "{text}");
        }
        assert_eq!(pem_block("-----BEGIN A-----\nQUJD\n-----END B-----"), None);
        assert_eq!(pem_content("!"), None);
    }

    fn percent(text: &str, kept: &Kept) -> String {
        let mut out = String::new();
        super::percent(text, kept, &mut out);
        out
    }

    #[test]
    fn paths_keep_slashes_and_percent_signs() {
        assert_eq!(percent("a b/c?d=é&f~g_h-i.j%k", URL_PATH), "a%20b/c%3Fd%3D%C3%A9%26f~g_h-i.j%k");
        let kept: String =
            (0..=127u8).map(char::from).filter(|c| percent(&c.to_string(), URL_PATH).len() == 1).collect();
        assert_eq!(kept, "%-./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~");
    }

    #[test]
    fn queries_come_back() {
        assert_eq!(query_text("a+b%2Fc%c3%A9").unwrap(), "a b/cé".as_bytes());
        assert_eq!(query_text("%GGa"), Err("%GG".into()));
        assert_eq!(query_text("%2"), Err("%2".into()));
        assert_eq!(percent("a b~-_.*é", QUERY), "a b~-_.%2A%C3%A9");
    }

    #[test]
    fn strict_keeps_letters_and_digits_only() {
        assert_eq!(percent("a-1/_.~", STRICT), "a%2D1%2F%5F%2E%7E");
    }

    #[test]
    fn the_length_is_known_beforehand() {
        for text in ["", "plain", "ü/ü", "\0\u{7f} 😀"] {
            assert_eq!(percent_len(text, URL_PATH), percent(text, URL_PATH).len());
            assert_eq!(percent_len(text, STRICT), percent(text, STRICT).len());
        }
    }
}
