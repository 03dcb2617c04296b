//! Lengths of tokens without a limit: names, numbers, literal text.

/// The length of the literal text that `bytes` begin with: up to `$`, `%` and line ends, inside quotes also to a quote.
pub(super) fn text(bytes: &[u8], quoted: bool) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = |from: usize| bytes.get(from..).unwrap_or(&[]);
        let len = match byte {
            b'$' | b'%' | b'\r' | b'\n' => 0,
            b'"' if quoted => 0,
            b'\\' if quoted => match escaped(rest(at + 1)) {
                0 => 0,
                len => 1 + len,
            },
            0x80.. => wide(rest(at)),
            _ => 1,
        };
        if len == 0 {
            break;
        }
        at += len;
    }
    at
}

/// The length of the character behind a backslash. A line end is none.
fn escaped(bytes: &[u8]) -> usize {
    match bytes.first() {
        None | Some(b'\r' | b'\n') => 0,
        Some(byte) if byte.is_ascii() => 1,
        Some(_) => wide(bytes),
    }
}

/// The length of the character beyond ASCII that `bytes` begin with, as the reference reads it: a first byte and
/// as many others as it asks for, whatever their values. Zero where there are fewer.
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

/// The length of the ASCII characters that an identifier goes on with.
pub(super) fn name(bytes: &[u8]) -> usize {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    bytes.iter().position(|byte| !goes_on(byte)).unwrap_or(bytes.len())
}

/// The length of a number behind its first digit: digits, exponents, and dots before one of those.
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
