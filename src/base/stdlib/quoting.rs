//! Text as a literal in double quotes, with escapes.

use super::characters::is_printable;

/// Appends text in double quotes. Quotes, backslashes and characters that cannot be printed are escaped; bytes that are
/// not UTF-8 become `\x` and two digits.
///
/// A tab and an `é` become `"\té"`.
pub fn push_quoted(text: &[u8], push: &mut impl FnMut(&str)) {
    push("\"");
    // Most texts need no escapes.
    if let Some(plain) = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(is_plain)) {
        push(plain);
        return push("\"");
    }
    for chunk in text.utf8_chunks() {
        push_escaped(chunk.valid(), push);
        chunk.invalid().iter().for_each(|byte| push(&format!("\\x{byte:02x}")));
    }
    push("\"");
}

/// Returns an upper bound of the length of the literal. `None` on overflow.
pub fn quoted_len(text: &[u8]) -> Option<usize> {
    let plain = text.iter().filter(|byte| is_plain(**byte)).count();
    (text.len() - plain).checked_mul(6)?.checked_add(plain)?.checked_add(2)
}

/// Appends text without quotes around it.
fn push_escaped(text: &str, push: &mut impl FnMut(&str)) {
    let mut done = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| !(c.is_ascii() && is_plain(*c as u8))) {
        if c.is_ascii() || !is_printable(c) {
            push(text.get(done..at).unwrap_or(""));
            push_escape(c, push);
            done = at + c.len_utf8();
        }
    }
    push(text.get(done..).unwrap_or(""));
}

/// Returns `true` for bytes that stand for themselves.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

fn push_escape(c: char, push: &mut impl FnMut(&str)) {
    match c {
        '"' => push("\\\""),
        '\\' => push("\\\\"),
        '\u{7}' => push("\\a"),
        '\u{8}' => push("\\b"),
        '\u{c}' => push("\\f"),
        '\n' => push("\\n"),
        '\r' => push("\\r"),
        '\t' => push("\\t"),
        '\u{b}' => push("\\v"),
        c => push(&match u32::from(c) {
            code @ (0..=0x1f | 0x7f) => format!("\\x{code:02x}"),
            code @ 0..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_printed_is_escaped() {
        for (text, wanted) in [
            (&b"a b"[..], r#""a b""#),
            (b"a\"b\\c\nd", r#""a\"b\\c\nd""#),
            ("\t\0é\u{7f}".as_bytes(), r#""\t\x00é\x7f""#),
            ("\u{a0}\u{feff}\u{10ffff}😀".as_bytes(), r#""\u00a0\ufeff\U0010ffff😀""#),
            (b"h\xc3", r#""h\xc3""#),
            (b"", r#""""#),
        ] {
            let mut out = String::new();
            push_quoted(text, &mut |piece| out.push_str(piece));
            assert_eq!(out, wanted);
            assert!(quoted_len(text).unwrap() >= out.len(), "{wanted}");
        }
    }
}
