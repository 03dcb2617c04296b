//! Strings and floats of JSON.

use std::convert::Infallible;

use super::JsonStyle;
use crate::Text;
use crate::output::Buffer;
use dropforge_base::stdlib::byte_search::{WORD, first_place, first_special, last_word};

/// The limit on the length of the output.
pub(super) struct Fence<'a, G> {
    pub grow: &'a mut G,
    /// The length up to which `grow` need not be asked.
    pub at: usize,
}

impl<E, G: FnMut(usize) -> Result<usize, E>> Fence<'_, G> {
    /// Asks `grow` about a length beyond the fence.
    #[inline(always)]
    pub fn ask(&mut self, len: usize) -> Result<(), E> {
        if len > self.at { self.ask_again(len) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn ask_again(&mut self, len: usize) -> Result<(), E> {
        self.at = (self.grow)(len)?;
        Ok(())
    }

    /// Appends `text` as a JSON string without its last quote, escaping only `"`, `\` and control characters. `grow` is
    /// asked before each piece, so that an oversized text is refused before it is written.
    #[inline(never)]
    pub fn string(&mut self, text: &str, style: JsonStyle, out: &mut Buffer) -> Result<(), E> {
        out.push_str("\"");
        self.content(text, style, out)?;
        self.ask(out.len() + 1)
    }

    /// Appends the content of a JSON string.
    pub fn content(&mut self, text: &str, style: JsonStyle, out: &mut Buffer) -> Result<(), E> {
        let (bytes, mut start) = (text.as_bytes(), 0);
        if style.is_exchanged() {
            // Each question costs a step there, whatever the text has to escape.
            self.ask(out.len() + bytes.len())?;
        }
        loop {
            let end = match style {
                JsonStyle::Exchanged { markup, .. } => exchanged_end(bytes, start, markup),
                _ => clean_end(bytes, start),
            };
            if !style.is_exchanged() {
                self.ask(out.len() + end - start)?;
            }
            out.push_str(text.get(start..end).unwrap_or(""));
            let Some(byte) = bytes.get(end) else { return Ok(()) };
            if *byte == SEPARATOR[0] {
                out.push_str(if bytes.get(end + 2) == Some(&0xa8) { "\\u2028" } else { "\\u2029" });
                start = end + SEPARATOR.len() + 1;
            } else {
                out.push_str(escaped(*byte));
                start = end + 1;
            }
        }
    }
}

/// Returns `true` if a JSON string contains `text` unescaped, as far as one look shows it.
#[inline(always)]
pub(super) fn is_plain(text: &Text<'_>, style: JsonStyle) -> bool {
    text.is_known_word() || !style.is_exchanged() && text.block().is_some() && text.all(is_clean)
}

/// Returns `true` if a JSON string contains `byte` unescaped.
#[inline(always)]
const fn is_clean(byte: u8) -> bool {
    (byte >= 0x20) & (byte != b'"') & (byte != b'\\')
}

/// Bytes that are looked at together. Compiles to vector instructions.
const TOGETHER: usize = 32;

/// Returns the place of the first byte from `start` on that is escaped, or the length.
#[inline]
fn clean_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let is_clean_block = |block: &[u8; TOGETHER]| block.iter().fold(true, |all, byte| all & is_clean(*byte));
    while bytes.get(at..).and_then(<[u8]>::first_chunk).is_some_and(is_clean_block) {
        at += TOGETHER;
    }
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let clean = first_escaped(u64::from_le_bytes(*word));
        if clean < WORD {
            return at + clean;
        }
        at += WORD;
    }
    at + first_escaped(last_word(bytes, at))
}

/// The first bytes of U+2028 and U+2029, which end lines in scripts.
const SEPARATOR: [u8; 2] = [0xe2, 0x80];

/// Returns the place like [`clean_end`], where services escape more.
fn exchanged_end(bytes: &[u8], start: usize, markup: bool) -> usize {
    let is_escaped = |at: &usize| match bytes.get(*at) {
        Some(b'<' | b'>' | b'&') => markup,
        Some(0xe2) => matches!(bytes.get(*at..*at + 3), Some([0xe2, 0x80, 0xa8 | 0xa9])),
        byte => !byte.is_some_and(|byte| is_clean(*byte)),
    };
    (start..bytes.len()).find(is_escaped).unwrap_or(bytes.len())
}

/// Returns the name of a float without a value, as services call it.
pub fn not_finite(n: f64) -> &'static str {
    match n {
        n if n.is_nan() => "NaN",
        n if n > 0.0 => "+Inf",
        _ => "-Inf",
    }
}

/// Returns the text of a finite float as services write it: plain digits, with an exponent only below 1e-6 and from 1e21.
///
/// ```
/// use dropforge::value::marshal::exchanged_float as float;
/// assert_eq!([1e20, 1e21, 0.1, 1e-7, -0.0].map(float).join(" "), "100000000000000000000 1e+21 0.1 1e-7 -0");
/// ```
pub fn exchanged_float(n: f64) -> String {
    if n == 0.0 || (1e-6..1e21).contains(&n.abs()) {
        return n.to_string();
    }
    let text = format!("{n:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

/// Appends text in quotes as services escape it.
pub fn exchanged_text(text: &str, out: &mut String) {
    let style = JsonStyle::Exchanged { pretty: false, markup: true };
    let Ok(()) = Buffer::append(out, |out| Fence { grow: &mut Ok::<_, Infallible>, at: 0 }.string(text, style, out));
    out.push('"');
}

/// Returns the place of the first byte of a word that is escaped, [`WORD`] if there is none.
#[inline(always)]
fn first_escaped(word: u64) -> usize {
    first_place(first_special(word, b'"', b'\\'))
}

/// Returns the escape of a byte.
const fn escaped(byte: u8) -> &'static str {
    const CONTROL: [&str; 32] = [
        "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t", "\\n",
        "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014",
        "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e",
        "\\u001f",
    ];
    match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'<' => "\\u003c",
        b'>' => "\\u003e",
        b'&' => "\\u0026",
        control => CONTROL[control as usize % CONTROL.len()],
    }
}
