//! Percent encoding of UTF-8 text.

use percent_encoding::percent_decode_str;

/// The ASCII characters that encoding keeps, besides letters and digits. Others become `%XX`, also all beyond ASCII.
#[derive(Debug)]
pub struct Kept([bool; 256]);

impl Kept {
    const fn new(others: &[u8]) -> Self {
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
        Self(kept)
    }
}

/// `- . _ ~ / %`, for URL paths. Percent signs are kept so that encoded text is not encoded twice.
pub static URL_PATH: &Kept = &Kept::new(b"-._~/%");

/// None.
pub static STRICT: &Kept = &Kept::new(b"");

/// `- . _ ~` and the space, which a query writes as `+`.
pub static QUERY: &Kept = &Kept::new(b"-._~ ");

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
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| !kept.0[usize::from(*byte)]) {
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
    text.bytes().fold(text.len(), |len, byte| len + if kept.0[usize::from(byte)] { 0 } else { 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

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
