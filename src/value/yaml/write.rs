//! Values to YAML that no reader takes for something else.
//!
//! Block style, two spaces a level, `[]` and `{}` for empty collections. A text stands without quotes only
//! if every reader of YAML 1.1 and 1.2 reads it back as that text ([`is_plain_safe`]); a text of several
//! lines is a literal block where no reader stumbles over it; everything else stands in double quotes with
//! escapes. Floats always have a point and a signed exponent, so that none is read as an integer or a text.

use std::fmt::Write;

use crate::value::{Data, DataMap};

/// A key or text longer than this is never written plain: readers look no further for the end of a key.
const LONGEST_PLAIN: usize = 1000;

/// The value as a YAML document with a final newline.
///
/// ```
/// use dropforge::value::{Data, yaml};
/// let data: Data = serde_json::from_str(r#"{"on": ["1.10", 1.5, "a b"], "cmd": "x\ny\n"}"#).unwrap();
/// assert_eq!(yaml::to_string(&data), "\"on\":\n  - \"1.10\"\n  - 1.5\n  - a b\ncmd: |\n  x\n  y\n");
/// ```
pub fn to_string(value: &Data) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Appends the value as a YAML document with a final newline.
///
/// The depth of `value` is bounded where values are made ([`crate::limits::Limits::value_depth`]).
pub fn write(value: &Data, out: &mut String) {
    match value {
        Data::List(items) if !items.is_empty() => list(items, 0, out),
        Data::Map(map) if !map.is_empty() => entries(map, 0, out),
        scalar => {
            leaf(scalar, 0, out);
            out.push('\n');
        }
    }
}

/// The lines of a list, the first without its indentation, each with its newline.
fn list(items: &[Data], indent: usize, out: &mut String) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            pad(indent, out);
        }
        out.push_str("- ");
        match item {
            Data::List(inner) if !inner.is_empty() => list(inner, indent + 2, out),
            Data::Map(map) if !map.is_empty() => entries(map, indent + 2, out),
            scalar => {
                leaf(scalar, indent + 2, out);
                out.push('\n');
            }
        }
    }
}

/// The lines of a map, the first without its indentation, each with its newline.
fn entries(map: &DataMap, indent: usize, out: &mut String) {
    for (at, (name, value)) in map.iter().enumerate() {
        if at > 0 {
            pad(indent, out);
        }
        key(name, indent, out);
        match value {
            Data::List(items) if !items.is_empty() => {
                next_line(indent + 2, out);
                list(items, indent + 2, out);
            }
            Data::Map(map) if !map.is_empty() => {
                next_line(indent + 2, out);
                entries(map, indent + 2, out);
            }
            scalar => {
                out.push(' ');
                leaf(scalar, indent + 2, out);
                out.push('\n');
            }
        }
    }
}

/// A key with its colon. One too long for readers to look ahead over gets the explicit form.
fn key(name: &str, indent: usize, out: &mut String) {
    let begun = out.len();
    if is_plain_safe(name) {
        out.push_str(name);
    } else {
        quoted(name, out);
    }
    if out.len() - begun > LONGEST_PLAIN {
        out.insert_str(begun, "? ");
        next_line(indent, out);
    }
    out.push(':');
}

fn next_line(indent: usize, out: &mut String) {
    out.push('\n');
    pad(indent, out);
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A scalar or an empty collection, without the newline behind it. `indent` is that of a block's lines.
fn leaf(value: &Data, indent: usize, out: &mut String) {
    match value {
        Data::Null => out.push_str("null"),
        Data::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Data::Int(n) => out.push_str(itoa::Buffer::new().format(*n)),
        Data::Uint(n) => out.push_str(itoa::Buffer::new().format(*n)),
        Data::Float(n) => float(*n, out),
        Data::Str(text) => string(text, indent, out),
        Data::List(_) => out.push_str("[]"),
        Data::Map(_) => out.push_str("{}"),
    }
}

/// The shortest spelling that reads back as `n`, with a point and a signed exponent: `1.0e+21`.
fn float(n: f64, out: &mut String) {
    if !n.is_finite() {
        out.push_str(if n.is_nan() {
            ".nan"
        } else if n > 0.0 {
            ".inf"
        } else {
            "-.inf"
        });
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(n);
    let (mantissa, exponent) = shortest.split_once('e').map_or((shortest, None), |(m, e)| (m, Some(e)));
    out.push_str(mantissa);
    if !mantissa.contains('.') {
        out.push_str(".0");
    }
    if let Some(exponent) = exponent {
        out.push_str(if exponent.starts_with(['-', '+']) { "e" } else { "e+" });
        out.push_str(exponent);
    }
}

fn string(text: &str, indent: usize, out: &mut String) {
    if is_plain_safe(text) {
        out.push_str(text);
    } else if is_block_safe(text) {
        block(text, indent.max(2), out);
    } else {
        quoted(text, out);
    }
}

/// Whether every reader reads `text`, written without quotes, as that text.
fn is_plain_safe(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    let opens = first.is_ascii_alphanumeric() || matches!(first, b'/' | b'_' | b'.' | b'(' | b'$' | b'^' | b'<');
    let within = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-./:@+=()[]{}$%^;<>~!?*&,|#'\"\\".contains(byte);
    opens
        && bytes.len() <= LONGEST_PLAIN
        && last != b' '
        && last != b':'
        && bytes.iter().all(within)
        && !bytes.windows(2).any(|pair| matches!(pair, b": " | b" #" | b"  "))
        && !is_reserved_word(text)
        && !looks_like_number(bytes)
}

/// Words that some reader takes for null, a boolean, a number, or a merge or value key.
fn is_reserved_word(text: &str) -> bool {
    const WORDS: [&str; 24] = [
        "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", "+.inf", "-.inf", ".nan", "+.nan",
        "-.nan", "inf", "nan", "infinity", "=", "<<", "-", ".", "...",
    ];
    text.len() <= 8 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether some reader might take `text` for a number, a time or a date; on the safe side.
fn looks_like_number(bytes: &[u8]) -> bool {
    let signs = bytes.iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'.')).count();
    let unsigned = bytes.get(signs..).unwrap_or(&[]);
    let digit_led = unsigned.first().is_some_and(u8::is_ascii_digit);
    let of_number = |byte: &u8| byte.is_ascii_hexdigit() || b"xXoO_,.:+-".contains(byte);
    let only_digits = bytes.iter().all(|byte| byte.is_ascii_digit() || b"-+._".contains(byte));
    (digit_led && unsigned.iter().all(of_number)) || only_digits || is_date(bytes) || is_bare_exponent(bytes)
}

/// `\d{4}-\d{1,2}-\d{1,2}.*`
fn is_date(bytes: &[u8]) -> bool {
    let mut parts = bytes.splitn(3, |&byte| byte == b'-');
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    year.len() == 4
        && digits(year)
        && matches!(month.len(), 1 | 2)
        && digits(month)
        && day.first().is_some_and(u8::is_ascii_digit)
}

/// `[-+]?[0-9_]*\.?[0-9_]*[eE][-+]?[0-9]+`
fn is_bare_exponent(bytes: &[u8]) -> bool {
    let unsigned = bytes.strip_prefix(b"-").or(bytes.strip_prefix(b"+")).unwrap_or(bytes);
    let Some(at) = unsigned.iter().position(|byte| matches!(byte, b'e' | b'E')) else { return false };
    let (mantissa, exponent) = unsigned.split_at(at);
    let exponent = exponent.get(1..).unwrap_or(&[]);
    let digits = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
    mantissa.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'.'))
        && !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
}

/// Whether `text` has several lines and every reader reads them back from a literal block.
fn is_block_safe(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.chars().any(|c| c != '\n' && c != '\t' && must_escape(c))
        && text.split('\n').all(|line| !line.starts_with('\t') && (line.is_empty() || !line.trim().is_empty()))
}

/// A literal block behind its header; the last newline is left to the caller.
fn block(text: &str, indent: usize, out: &mut String) {
    let content = text.trim_end_matches('\n');
    let trailing = text.len() - content.len();
    out.push_str(match trailing {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    for line in content.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            pad(indent, out);
            out.push_str(line);
        }
    }
    out.extend(std::iter::repeat_n('\n', trailing.saturating_sub(1)));
}

/// Text in double quotes.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if must_escape(c) => escape(u32::from(c), out),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn escape(code: u32, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match code {
        0..=0xFF => write!(out, "\\x{code:02X}"),
        0x100..=0xFFFF => write!(out, "\\u{code:04X}"),
        _ => write!(out, "\\U{code:08X}"),
    };
}

/// Characters that a reader refuses, folds, strips or cannot show: controls, line and paragraph separators,
/// no-break space, zero-width and direction marks, the byte order mark, noncharacters.
fn must_escape(c: char) -> bool {
    let code = u32::from(c);
    matches!(code,
        0..=0x1F | 0x7F..=0xA0 | 0xAD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
        | 0xFDD0..=0xFDEF | 0xFEFF | 0xFFF0..=0xFFFB | 0xE0000..=0xE007F)
        || code & 0xFFFE == 0xFFFE
}
