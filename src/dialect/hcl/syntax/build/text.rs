//! Literals: the range of numbers, and text decoded and normalised.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::Build;
use crate::dialect::hcl::syntax::lexer::{Piece, Wrong, escape_of};
use crate::dialect::hcl::syntax::{Str, scan_string_literal};
use crate::text::Span;

/// Returns `true` if a number token is in range: its binary exponent must fit 32 bits.
pub(in crate::dialect::hcl::syntax) fn is_number(digits: &str) -> bool {
    const BITS_OF_DIGIT: f64 = std::f64::consts::LOG2_10;
    let Some((mantissa, exponent)) = digits.split_once(['e', 'E']) else { return true };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(exponent) = exponent.parse::<i64>() else {
        return false;
    };
    if !mantissa.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
        return true;
    }
    let digits = whole.trim_start_matches('0').len() + fraction.len();
    let bits = (digits as f64 * BITS_OF_DIGIT) as i64;
    let exponent = exponent.saturating_sub(fraction.len() as i64).saturating_add(bits);
    i32::try_from(exponent).is_ok()
}

impl Build<'_> {
    /// The text of a literal token, decoded.
    pub(super) fn decoded(&mut self, span: Span, quoted: bool) -> Str {
        match decode(self.slice(span), quoted) {
            Cow::Borrowed(_) => self.str(span),
            Cow::Owned(text) => self.tree.pooled(&text),
        }
    }

    /// A text in the normal form of all values (NFC).
    pub(in crate::dialect::hcl::syntax) fn normal(&mut self, text: Str) -> Str {
        let read = self.tree.str(text);
        if read.is_ascii() || is_nfc_quick(read.chars()) == IsNormalized::Yes {
            return text;
        }
        let normal: String = read.nfc().collect();
        self.tree.pooled(&normal)
    }

    /// One text behind another.
    pub(super) fn joined(&mut self, first: Str, second: Str) -> Str {
        if first.start == first.end {
            return second;
        }
        if second.start == second.end {
            return first;
        }
        if first.pooled == second.pooled && first.end == second.start {
            return Str { end: second.end, ..first };
        }
        let text = [self.tree.str(first), self.tree.str(second)].concat();
        self.tree.pooled(&text)
    }
}

/// `raw` with its escapes resolved. One that is wrong stays as it is, an unknown one without its backslash.
fn decode(raw: &str, quoted: bool) -> Cow<'_, str> {
    if memchr::memchr3(b'\\', b'$', b'%', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    for span in scan_string_literal(raw, quoted) {
        let piece = raw.get(span.range()).unwrap_or("");
        match escape_of(piece, quoted) {
            Piece::Char(c) => text.push(c),
            Piece::Template(c) => text.extend([c, '{']),
            Piece::Wrong(Wrong::Unknown) => text.push_str(piece.get(1..).unwrap_or("")),
            Piece::Plain | Piece::Wrong(_) => text.push_str(piece),
        }
    }
    // An escape that means something is longer than its meaning.
    if text.len() == raw.len() { Cow::Borrowed(raw) } else { Cow::Owned(text) }
}
