//! Percent encoding of UTF-8 text.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All characters except letters, digits and `- . _ ~ / %`, for URL paths. Percent signs are kept so that encoded text is
/// not encoded twice.
pub(crate) const URL_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b'%');

/// All characters except letters and digits.
pub(crate) const STRICT: &AsciiSet = NON_ALPHANUMERIC;

/// All characters except letters, digits, `- . _ ~` and the space, which a query writes as `+`.
pub(crate) const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b' ');

/// Decodes a part of a query: `+` is a space, `%XX` an octet.
///
/// # Errors
/// An invalid escape.
pub(crate) fn query_text(text: &str) -> Result<Vec<u8>, String> {
    if let Some(at) = invalid_escape(text) {
        let escape = text.as_bytes().iter().skip(at).take(3).copied().collect::<Vec<_>>();
        return Err(String::from_utf8_lossy(&escape).into_owned());
    }
    Ok(percent_decode_str(&text.replace('+', " ")).collect())
}

/// Returns the offset of the first `%` that two hexadecimal digits do not follow.
pub(crate) fn invalid_escape(text: &str) -> Option<usize> {
    let digits = |at: usize| text.as_bytes().get(at + 1..at + 3);
    let is_escape = |at: usize| digits(at).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    text.match_indices('%').map(|(at, _)| at).find(|at| !is_escape(*at))
}

/// Encodes the characters in `set`, and all others beyond ASCII, as `%XX`.
///
/// `percent("a b/é", URL_PATH)` is `a%20b/%C3%A9`.
pub(crate) fn percent(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).collect()
}

/// Returns the length of the result of [`percent`] in bytes.
pub(crate) fn percent_len(text: &str, set: &'static AsciiSet) -> usize {
    utf8_percent_encode(text, set).map(str::len).sum()
}

#[cfg(test)]
mod tests {
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
