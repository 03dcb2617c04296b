//! Percent encoding, whose input is text (the octets of its UTF-8 form are what is encoded), and base64 of octets.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// Everything but letters, digits and `- . _ ~ / %`: what a path in a URL may hold, its slashes kept.
/// A percent sign is kept as well, so text that is encoded already is not encoded twice.
pub(crate) const URL_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b'%');

/// Everything but letters and digits.
pub(crate) const STRICT: &AsciiSet = NON_ALPHANUMERIC;

/// Everything but letters, digits, `- . _ ~` and the space, which a query writes as `+`.
pub(crate) const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b' ');

/// The octets that a part of a query says: `+` is a space, `%XX` an octet.
///
/// # Errors
/// A percent sign that no two hexadecimal digits follow: it and what follows it.
pub(crate) fn query_text(text: &str) -> Result<Vec<u8>, String> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'+', _) => octets.push(b' '),
            (b'%', [high, low, behind @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit =
                    |c: &u8| char::from(*c).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0);
                octets.push(digit(high) << 4 | digit(low));
                rest = behind;
            }
            (b'%', _) => {
                let wrong: Vec<u8> = std::iter::once(b'%').chain(after.iter().take(2).copied()).collect();
                return Err(String::from_utf8_lossy(&wrong).into_owned());
            }
            _ => octets.push(*first),
        }
    }
    Ok(octets)
}

/// `text` with the octets of `set`, and all that are not ASCII, written as `%XX`.
///
/// `percent("a b/é", URL_PATH)` is `a%20b/%C3%A9`.
pub(crate) fn percent(text: &str, set: &'static AsciiSet) -> String {
    pieces(text, set).collect()
}

/// The length of [`percent`]'s result in bytes, without making it.
pub(crate) fn percent_len(text: &str, set: &'static AsciiSet) -> usize {
    pieces(text, set).map(str::len).sum()
}

/// Standard base64 with padding or without.
const BASE64_LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The octets in standard base64, padded.
pub(crate) fn base64(octets: &[u8]) -> String {
    BASE64_STANDARD.encode(octets)
}

/// The length of [`base64`]'s result.
pub(crate) const fn base64_len(octets: usize) -> usize {
    octets.div_ceil(3).saturating_mul(4)
}

/// The octets that standard base64 says, padded or not; line ends in it do not matter.
pub(crate) fn octets_of_base64(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\n', '\r']) {
        return BASE64_LENIENT.decode(text.replace(['\n', '\r'], "")).ok();
    }
    BASE64_LENIENT.decode(text).ok()
}

fn pieces<'t>(text: &'t str, set: &'static AsciiSet) -> PercentEncode<'t> {
    utf8_percent_encode(text, set)
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_goes_with_and_without_padding() {
        assert_eq!((super::base64(b"hello"), super::base64_len(5)), ("aGVsbG8=".to_owned(), 8));
        for text in ["aGVsbG8=", "aGVsbG8", "aGVs\r\nbG8="] {
            assert_eq!(super::octets_of_base64(text).as_deref(), Some(b"hello".as_slice()), "{text:?}");
        }
        for bad in ["a", "aGVsbG8==", "aGV sbG8=", "aGVsbG8-"] {
            assert_eq!(super::octets_of_base64(bad), None, "{bad:?}");
        }
    }

    use super::*;

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
