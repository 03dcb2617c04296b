//! Escapes of JSON strings.

/// Decodes the escape at the start of `text`. Returns the character and the length of the escape in bytes. A lone
/// surrogate becomes U+FFFD.
///
/// # Errors
/// The offset of the first invalid byte, or of the end of an incomplete escape.
pub(crate) fn unescape(text: &str) -> Result<(char, usize), usize> {
    let character = match text.as_bytes().get(1) {
        Some(b'u') => return unicode(text),
        Some(&plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        _ => return Err(1),
    };
    Ok((character, 2))
}

/// Decodes `\uXXXX`, or two of them if they are a surrogate pair.
fn unicode(text: &str) -> Result<(char, usize), usize> {
    let first = unit(text)?;
    let after = text.get(6..).filter(|_| (0xD800..0xDC00).contains(&first));
    let second = after.and_then(|text| unit(text).ok()).filter(|second| (0xDC00..0xE000).contains(second));
    Ok(match second {
        Some(second) => {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        None => (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
    })
}

/// Decodes the UTF-16 code unit of `\uXXXX`.
fn unit(text: &str) -> Result<u32, usize> {
    let bytes = text.as_bytes();
    for (at, wanted) in b"\\u".iter().enumerate() {
        if bytes.get(at) != Some(wanted) {
            return Err(at);
        }
    }
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16)).ok_or(at);
    (2..6).try_fold(0, |unit, at| Ok(unit << 4 | digit(at)?))
}
