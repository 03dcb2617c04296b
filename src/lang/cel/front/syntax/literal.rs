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
    /// The offset at which the reference reports it: the last opening quote, or the literal if the escape only has no
    /// meaning.
    pub from: usize,
    /// The offset of the end of the escape.
    pub to: usize,
    /// The error message.
    pub why: &'static str,
}

/// Decodes a string literal.
///
/// # Errors
/// An invalid escape.
pub(super) fn string(literal: &str) -> Result<String, BadEscape> {
    // Without byte escapes, it is UTF-8.
    decode(literal, false).map(|text| String::from_utf8(text).unwrap_or_default())
}

/// Decodes a bytes literal.
///
/// # Errors
/// An invalid escape, or one of a character.
pub(super) fn bytes(literal: &str) -> Result<Vec<u8>, BadEscape> {
    decode(literal, true)
}

fn decode(literal: &str, bytes: bool) -> Result<Vec<u8>, BadEscape> {
    let quotes = literal.find(['"', '\'']).unwrap_or(0);
    let raw = literal.get(..quotes).is_some_and(|prefix| prefix.contains(['r', 'R']));
    let width = if is_triple(literal.get(quotes..).unwrap_or("")) { 3 } else { 1 };
    let from = quotes + width;
    let inside = literal.get(from..literal.len().saturating_sub(width)).unwrap_or("");
    decode_inside(inside, raw, bytes).map_err(|(at, escape)| {
        let Refused { len, why, form } = escape;
        BadEscape { from: if form { from - 1 } else { 0 }, to: from + at + len, why }
    })
}

fn is_triple(quotes: &str) -> bool {
    quotes.len() >= 6 && (quotes.starts_with("\"\"\"") || quotes.starts_with("'''"))
}

/// An escape without a value.
struct Refused {
    len: usize,
    why: &'static str,
    /// Set if it does not have the form of an escape.
    form: bool,
}

/// Decodes the text between the quotes. A carriage return, alone or before a line feed, becomes a line feed. An error has
/// the offset of the escape.
fn decode_inside(inside: &str, raw: bool, bytes: bool) -> Result<Vec<u8>, (usize, Refused)> {
    let (mut decoded, mut at) = (Vec::with_capacity(inside.len()), 0);
    while at < inside.len() {
        let rest = inside.get(at..).unwrap_or("");
        let (plain, special) = rest.split_at(rest.find(['\\', '\r']).unwrap_or(rest.len()));
        decoded.extend_from_slice(plain.as_bytes());
        at += plain.len();
        match special.as_bytes() {
            [] | [b'\r', b'\n', ..] => at += 1,
            [b'\r', ..] => {
                decoded.push(b'\n');
                at += 1;
            }
            _ if raw => {
                decoded.push(b'\\');
                at += 1;
            }
            _ => {
                let (code, used) = escape(special, bytes).map_err(|refused| (at, refused))?;
                match u8::try_from(code) {
                    Ok(byte) if bytes => decoded.push(byte),
                    _ => decoded.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes()),
                }
                at += used;
            }
        }
    }
    Ok(decoded)
}

/// Decodes the escape at the beginning of `text`, and returns its length.
fn escape(text: &str, bytes: bool) -> Result<(char, usize), Refused> {
    const UNKNOWN: &str = "this escape does not exist";
    let Some(kind) = text.chars().nth(1) else { return Err(malformed(1, UNKNOWN)) };
    let short = match kind {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0C',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0B',
        '\\' | '\'' | '"' | '`' | '?' => kind,
        'x' | 'X' => return character(hex(text, 2)?),
        'u' | 'U' => {
            let (char, used) = character(hex(text, if kind == 'u' { 4 } else { 8 })?)?;
            let refused = Err(meaningless(used, "bytes have no `\\u`; write the bytes as `\\xHH`"));
            return if bytes { refused } else { Ok((char, used)) };
        }
        '0'..='3' => return octal(text),
        _ => return Err(malformed(1 + kind.len_utf8(), UNKNOWN)),
    };
    Ok((short, 2))
}

const fn malformed(len: usize, why: &'static str) -> Refused {
    Refused { len, why, form: true }
}

const fn meaningless(len: usize, why: &'static str) -> Refused {
    Refused { len, why, form: false }
}

/// Decodes the `count` hexadecimal digits of an escape, and returns its length.
fn hex(text: &str, count: usize) -> Result<(u32, usize), Refused> {
    let digits = text.get(2..2 + count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.map(|number| (number, 2 + count)).ok_or(malformed(2, "this escape has too few hexadecimal digits"))
}

fn character((code, used): (u32, usize)) -> Result<(char, usize), Refused> {
    char::from_u32(code).map(|char| (char, used)).ok_or(meaningless(used, "there is no character of this number"))
}

fn octal(text: &str) -> Result<(char, usize), Refused> {
    let digits = text.get(1..4).filter(|digits| digits.bytes().all(|byte| matches!(byte, b'0'..=b'7')));
    let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
    byte.map(|byte| (char::from(byte), 4))
        .ok_or(malformed(2, "this escape has three octal digits, the first of them 0 to 3"))
}
