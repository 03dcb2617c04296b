//! Literals: what a number may be, and text decoded and normalised.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::Build;
use crate::dialect::hcl::syntax::escape::{self, Piece, Wrong};
use crate::dialect::hcl::syntax::lexer::scan_string_literal;
use crate::dialect::hcl::syntax::tree::Str;
use crate::text::Span;

/// Whether the digits of a number token are a number: its exponent of two must fit 32 bits.
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
        let (text, sound) = decode(self.slice(span), quoted);
        self.faulty |= !sound;
        self.keep(text, self.str(span))
    }

    /// A text in the normal form that all values have.
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

/// `raw` with its escapes resolved, and whether all of them are sound; one that is not stays as it is, an unknown one
/// without its backslash.
fn decode(raw: &str, quoted: bool) -> (Cow<'_, str>, bool) {
    if memchr::memchr3(b'\\', b'$', b'%', raw.as_bytes()).is_none() {
        return (Cow::Borrowed(raw), true);
    }
    let mut sound = true;
    let mut text = String::with_capacity(raw.len());
    let mut changed = false;
    for span in scan_string_literal(raw, quoted) {
        let piece = raw.get(span.range()).unwrap_or("");
        match escape::piece(piece, quoted) {
            Piece::Plain => text.push_str(piece),
            Piece::Char(c) => {
                text.push(c);
                changed = true;
            }
            Piece::Template(c) => {
                text.push(c);
                text.push('{');
                changed = true;
            }
            Piece::Wrong(wrong) => {
                let unknown = wrong == Wrong::Unknown;
                text.push_str(piece.get(usize::from(unknown)..).unwrap_or(""));
                (sound, changed) = (false, changed | unknown);
            }
        }
    }
    (if changed { Cow::Owned(text) } else { Cow::Borrowed(raw) }, sound)
}
