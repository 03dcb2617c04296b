//! Decoding of string tokens.

use std::borrow::Cow;

use crate::dialect::hcl::values::json::unescape;

/// Decodes a string token.
///
/// # Errors
/// The offset behind the invalid byte, or the length of the token if it has no closing quote.
pub(super) fn decode(token: &str) -> Result<Cow<'_, str>, usize> {
    let (mut text, mut at) = (Cow::Borrowed(""), 1);
    loop {
        let rest = token.get(at..).unwrap_or("");
        let run = memchr::memchr2(b'"', b'\\', rest.as_bytes()).ok_or(token.len())?;
        let (run, behind) = rest.split_at(run);
        if text.is_empty() {
            text = Cow::Borrowed(run);
        } else {
            text.to_mut().push_str(run);
        }
        at += run.len();
        if behind.starts_with('"') {
            // The scanner cuts grapheme clusters, so combining characters can follow the quote.
            return if behind.len() == 1 { Ok(text) } else { Err(at + 2) };
        }
        let (escaped, len) = unescape(behind).map_err(|bad| (at + bad + 1).min(token.len()))?;
        text.to_mut().push(escaped);
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn strings_are_decoded_as_the_reference_decodes_them() {
        let cases = [
            (r#""""#, Ok("")),
            (r#""a\"\\\/\b\f\n\r\tz""#, Ok("a\"\\/\u{8}\u{c}\n\r\tz")),
            (r#""\u00e9é\ud83d\uDE00\ud83dx\ude00\uD800\uD800""#, Ok("éé😀\u{fffd}x\u{fffd}\u{fffd}\u{fffd}")),
            ("\"\u{7f}\u{85}\"", Ok("\u{7f}\u{85}")),
            (r#""he\llo""#, Err(5)),
            (r#""\u00g0""#, Err(6)),
            (r#""\u00"#, Err(5)),
            (r#""\ud800\u""#, Err(10)),
            (r#""é\é""#, Err(5)),
            ("\"abc", Err(4)),
            ("\"abc\\", Err(5)),
            ("\"abc\\\"", Err(6)),
            ("\"a\"b", Err(4)),
        ];
        for (token, wanted) in cases {
            assert_eq!(decode(token).as_deref(), wanted.as_ref().copied(), "{token}");
        }
    }
}
