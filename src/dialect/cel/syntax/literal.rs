//! Decoding of literals.

/// Decodes an integer such as `-0x1F`.
pub(super) fn int(negative: bool, digits: &str) -> Option<i64> {
    let size = unsigned(digits)?;
    if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() }
}

/// Decodes an unsigned integer with its suffix.
pub(super) fn uint(text: &str) -> Option<u64> {
    unsigned(text.strip_suffix(['u', 'U'])?)
}

fn unsigned(digits: &str) -> Option<u64> {
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Decodes a double. Returns `None` if it is too large.
pub(super) fn double(negative: bool, digits: &str) -> Option<f64> {
    let size: f64 = digits.parse().ok()?;
    size.is_finite().then_some(if negative { -size } else { size })
}

/// An invalid escape, and its position in the literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadEscape {
    /// The offset of the backslash.
    pub at: usize,
    /// The length in bytes.
    pub len: usize,
    /// The error message.
    pub why: &'static str,
}

/// Decodes a string literal.
///
/// # Errors
/// An invalid escape.
pub(super) fn string(literal: &str) -> Result<String, BadEscape> {
    let mut text = String::new();
    decode(literal, |piece| {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Byte(byte) => text.push(char::from(byte)),
            Piece::Char(char) => text.push(char),
        }
        Ok(())
    })?;
    Ok(text)
}

/// Decodes a bytes literal.
///
/// # Errors
/// An invalid escape, or one of a character.
pub(super) fn bytes(literal: &str) -> Result<Vec<u8>, BadEscape> {
    let mut bytes = Vec::new();
    decode(literal, |piece| {
        match piece {
            Piece::Text(part) => bytes.extend_from_slice(part.as_bytes()),
            Piece::Byte(byte) => bytes.push(byte),
            Piece::Char(_) => return Err("bytes have no `\\u`; write the bytes as `\\xHH`"),
        }
        Ok(())
    })?;
    Ok(bytes)
}

enum Piece<'t> {
    /// Text without escapes.
    Text(&'t str),
    /// `\xHH`, `\ooo`, and the short escapes.
    Byte(u8),
    /// `\uHHHH`, `\UHHHHHHHH`
    Char(char),
}

type Take<'f> = &'f mut dyn FnMut(Piece<'_>) -> Result<(), &'static str>;

fn decode(literal: &str, mut take: impl FnMut(Piece<'_>) -> Result<(), &'static str>) -> Result<(), BadEscape> {
    let quotes = literal.find(['"', '\'']).unwrap_or(0);
    let raw = literal.get(..quotes).is_some_and(|prefix| prefix.contains(['r', 'R']));
    let width = if is_triple(literal.get(quotes..).unwrap_or("")) { 3 } else { 1 };
    let from = quotes + width;
    let inside = literal.get(from..literal.len().saturating_sub(width)).unwrap_or("");
    pieces(inside, raw, &mut take).map_err(|bad| BadEscape { at: bad.at + from, ..bad })
}

fn is_triple(quotes: &str) -> bool {
    quotes.len() >= 6 && (quotes.starts_with("\"\"\"") || quotes.starts_with("'''"))
}

/// Decodes the text between the quotes. A carriage return, alone or before a line feed, becomes a line feed.
fn pieces(inside: &str, raw: bool, take: Take<'_>) -> Result<(), BadEscape> {
    let mut at = 0;
    while at < inside.len() {
        let rest = inside.get(at..).unwrap_or("");
        let plain = rest.find(['\\', '\r']).unwrap_or(rest.len());
        let bad = |len: usize| move |why| BadEscape { at: at + plain, len, why };
        take(Piece::Text(rest.get(..plain).unwrap_or(""))).map_err(bad(0))?;
        let special = rest.get(plain..).unwrap_or("");
        let used = match special.as_bytes() {
            [] => 0,
            [b'\r', b'\n', ..] => 1,
            [b'\r', ..] => take(Piece::Text("\n")).map(|()| 1).map_err(bad(1))?,
            _ if raw => take(Piece::Text("\\")).map(|()| 1).map_err(bad(1))?,
            _ => {
                let (piece, used) = escape(special).map_err(|(len, why)| bad(len)(why))?;
                take(piece).map_err(bad(used))?;
                used
            }
        };
        at += plain + used;
    }
    Ok(())
}

/// Decodes the escape at the beginning of `text`, and returns its length; or the length and message of an error.
fn escape(text: &str) -> Result<(Piece<'static>, usize), (usize, &'static str)> {
    const UNKNOWN: &str = "this escape does not exist";
    let Some(kind) = text.chars().nth(1) else { return Err((1, UNKNOWN)) };
    let short = match kind {
        'a' => b'\x07',
        'b' => b'\x08',
        'f' => b'\x0C',
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => b'\x0B',
        '\\' | '\'' | '"' | '`' | '?' => u8::try_from(kind).unwrap_or(b'?'),
        'x' | 'X' => return hex(text, 2).map(|(code, used)| (Piece::Byte(code.to_le_bytes()[0]), used)),
        'u' => return character(hex(text, 4)?),
        'U' => return character(hex(text, 8)?),
        '0'..='3' => return octal(text),
        _ => return Err((1 + kind.len_utf8(), UNKNOWN)),
    };
    Ok((Piece::Byte(short), 2))
}

/// Decodes the `count` hexadecimal digits of an escape, and returns its length.
fn hex(text: &str, count: usize) -> Result<(u32, usize), (usize, &'static str)> {
    let digits = text.get(2..2 + count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.map(|number| (number, 2 + count)).ok_or((2, "this escape has too few hexadecimal digits"))
}

fn character((code, used): (u32, usize)) -> Result<(Piece<'static>, usize), (usize, &'static str)> {
    let char = char::from_u32(code).ok_or((used, "there is no character of this number"))?;
    Ok((Piece::Char(char), used))
}

fn octal(text: &str) -> Result<(Piece<'static>, usize), (usize, &'static str)> {
    let digits = text.get(1..4).filter(|digits| digits.bytes().all(|byte| matches!(byte, b'0'..=b'7')));
    let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
    byte.map(|byte| (Piece::Byte(byte), 4)).ok_or((2, "this escape has three octal digits, the first of them 0 to 3"))
}
