//! Texts.

use super::Output;
use super::flags::{Flags, truncated};
use crate::stdlib::characters::is_printable;
use crate::stdlib::quoting::push_quoted;

/// Writes text by a verb. Returns `false` if the verb does not fit.
pub(super) fn text<E, G: FnMut(usize) -> Result<(), E>>(
    text: &[u8],
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<bool, E> {
    match verb {
        'v' if !flags.source => flags.pad(truncated(text, flags.precision), out)?,
        's' => flags.pad(truncated(text, flags.precision), out)?,
        'v' | 'q' => {
            let quoted = quoted(truncated(text, flags.precision), flags);
            flags.pad(quoted.as_bytes(), out)?;
        }
        'x' | 'X' => octets(text, verb == 'X', flags, out)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns text as a literal.
fn quoted(text: &[u8], flags: Flags) -> String {
    if let Some(plain) = std::str::from_utf8(text).ok().filter(|text| flags.sharp && is_raw(text)) {
        return format!("`{plain}`");
    }
    let mut out = String::new();
    push_quoted(text, &mut |piece| out.push_str(piece));
    if flags.plus { ascii(&out) } else { out }
}

/// Returns `true` if text can stand between backquotes.
fn is_raw(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !(c.is_ascii_control() || matches!(c, '`' | '\u{feff}')))
}

/// Escapes characters beyond ASCII.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c) {
            ..=0x7f => out.push(c),
            code @ ..=0xffff => out.push_str(&format!("\\u{code:04x}")),
            code => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out
}

/// Appends a character as a literal in single quotes.
pub(super) fn push_char_literal(c: char, only_ascii: bool, out: &mut String) {
    out.push('\'');
    match c {
        '\'' => out.push_str("\\'"),
        '"' => out.push('"'),
        c if !c.is_ascii() && is_printable(c) && !only_ascii => out.push(c),
        c => {
            let (mut literal, mut buffer) = (String::new(), [0; 4]);
            push_quoted(utf8(c, &mut buffer), &mut |piece| literal.push_str(piece));
            let literal = if only_ascii { ascii(&literal) } else { literal };
            out.push_str(literal.get(1..literal.len() - 1).unwrap_or(""));
        }
    }
    out.push('\'');
}

pub(super) fn utf8(c: char, buffer: &mut [u8; 4]) -> &[u8] {
    c.encode_utf8(buffer).as_bytes()
}

/// Writes octets in hexadecimal.
fn octets<E, G: FnMut(usize) -> Result<(), E>>(
    text: &[u8],
    upper: bool,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    let text = text.get(..flags.precision.unwrap_or(usize::MAX).min(text.len())).unwrap_or(text);
    (out.grow)(text.len().saturating_mul(5))?;
    let prefix = match (flags.sharp, upper) {
        (false, _) => "",
        (true, false) => "0x",
        (true, true) => "0X",
    };
    let mut hex = String::with_capacity(text.len() * 2);
    for (at, octet) in text.iter().enumerate() {
        if flags.space && at > 0 {
            hex.push(' ');
        }
        if at == 0 || flags.space {
            hex.push_str(prefix);
        }
        hex.push_str(&if upper { format!("{octet:02X}") } else { format!("{octet:02x}") });
    }
    flags.pad(hex.as_bytes(), out)
}
