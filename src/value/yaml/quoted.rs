//! Double-quoted text.

use super::scalar::{is_clean, must_escape};
use crate::output::Buffer;

/// Appends `text` between double quotes. Characters without a short escape are written by code point.
pub fn quoted(text: &str, out: &mut Buffer) {
    out.push(b'"');
    escaped(text, out, &|c| must_escape(c), &|c, out| match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c => numbered(u32::from(c), out),
    });
    out.push(b'"');
}

/// Appends `text` with escapes for `"`, `\`, and the characters that `special` selects and `escape` writes.
pub(super) fn escaped(
    text: &str,
    out: &mut Buffer,
    special: &impl Fn(char) -> bool,
    escape: &impl Fn(char, &mut Buffer),
) {
    let (mut clean, mut at) = (0, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        if is_clean(byte) {
            at += 1;
            continue;
        }
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        let end = at + c.len_utf8();
        if matches!(c, '"' | '\\') || special(c) {
            out.push_str(text.get(clean..at).unwrap_or(""));
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                c => escape(c, out),
            }
            clean = end;
        }
        at = end;
    }
    out.push_str(text.get(clean..).unwrap_or(""));
}

/// Appends the escape of a code point.
pub(super) fn numbered(code: u32, out: &mut Buffer) {
    match code {
        0..=0xFF => out.push_format(format_args!("\\x{code:02X}")),
        0x100..=0xFFFF => out.push_format(format_args!("\\u{code:04X}")),
        _ => out.push_format(format_args!("\\U{code:08X}")),
    }
}
