//! How far a token runs on that has no limit: names, numbers, literal text.

/// What a byte is to literal text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    /// Text.
    Plain,
    /// `$`, `%`, `\r`, `\n`: the end of text.
    End,
    /// `"`: the end of text inside quotes.
    Quote,
    /// `\`: inside quotes, it and a character behind it are text.
    Backslash,
    /// Not ASCII.
    Wide,
}

const BYTES: [Byte; 256] = {
    let mut bytes = [Byte::Plain; 256];
    let ends = b"$%\r\n";
    let mut at = 0;
    while at < ends.len() {
        bytes[ends[at] as usize] = Byte::End;
        at += 1;
    }
    bytes[b'"' as usize] = Byte::Quote;
    bytes[b'\\' as usize] = Byte::Backslash;
    let mut wide = 0x80;
    while wide < 256 {
        bytes[wide] = Byte::Wide;
        wide += 1;
    }
    bytes
};

/// The length of the text that `bytes` begin with, inside quotes.
pub(super) fn quoted(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match BYTES[byte as usize] {
            Byte::Plain => 1,
            Byte::End | Byte::Quote => break,
            Byte::Backslash => match escaped(bytes.get(at + 1..).unwrap_or(&[])) {
                0 => break,
                len => 1 + len,
            },
            Byte::Wide => match wide(bytes.get(at..).unwrap_or(&[])) {
                0 => break,
                len => len,
            },
        };
    }
    at
}

/// The length of the text that `bytes` begin with, outside of quotes.
pub(super) fn literal(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match BYTES[byte as usize] {
            Byte::Plain | Byte::Quote | Byte::Backslash => 1,
            Byte::End => break,
            Byte::Wide => match wide(bytes.get(at..).unwrap_or(&[])) {
                0 => break,
                len => len,
            },
        };
    }
    at
}

/// The length of the character behind a backslash; a line's end is none.
fn escaped(bytes: &[u8]) -> usize {
    match bytes.first() {
        None | Some(b'\r' | b'\n') => 0,
        Some(byte) if byte.is_ascii() => 1,
        Some(_) => wide(bytes),
    }
}

/// The length of the character beyond ASCII that `bytes` begin with, as the reference reads it: a first byte and
/// as many others as it asks for, whatever they say. Nothing where there are fewer.
fn wide(bytes: &[u8]) -> usize {
    let len = match bytes.first() {
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF7) => 4,
        _ => return 0,
    };
    let others = bytes.get(1..len).unwrap_or(&[]);
    if others.len() == len - 1 && others.iter().all(|byte| (0x80..=0xBF).contains(byte)) { len } else { 0 }
}

/// How long an identifier goes on in ASCII.
pub(super) fn name(bytes: &[u8]) -> usize {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    bytes.iter().position(|byte| !goes_on(byte)).unwrap_or(bytes.len())
}

/// How long a number goes on behind a digit: digits, exponents, and dots before one of those.
pub(super) fn number(bytes: &[u8]) -> usize {
    let mut end = 0;
    loop {
        let rest = bytes.get(end..).unwrap_or(&[]);
        let dots = rest.iter().position(|&byte| byte != b'.').unwrap_or(rest.len());
        end += match rest.get(dots..).unwrap_or(&[]) {
            [digit, ..] if digit.is_ascii_digit() => dots + 1,
            [b'e' | b'E', digit, ..] if digit.is_ascii_digit() => dots + 2,
            [b'e' | b'E', b'+' | b'-', digit, ..] if digit.is_ascii_digit() => dots + 3,
            _ => return end,
        };
    }
}
