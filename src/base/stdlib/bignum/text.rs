//! Formats numbers.

use super::digits::Digits;
use super::{BigNum, FULL, Form, limbs};

/// The layout of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `-ddd.ddd`
    Fixed,
    /// `-d.ddde±dd`
    Exponent,
    /// [`Layout::Exponent`] if the exponent is below -4 or at least the number of digits, otherwise [`Layout::Fixed`].
    /// Without trailing zeros.
    General,
}

impl BigNum {
    /// Returns the shortest decimal text without an exponent that parses back to this number at its precision; `+Inf`,
    /// `-Inf`. See [`BigNum::text_len`] for its length.
    pub fn to_text(&self) -> String {
        match self.to_i64() {
            Some(n) if n != 0 && self.precision >= 64 => n.to_string(),
            _ => self.format(Layout::Fixed, None),
        }
    }

    /// Returns an upper bound of the length of the text without an exponent.
    pub fn text_len(&self) -> usize {
        let places = i64::from(self.exponent).unsigned_abs() * 31 / 100;
        usize::try_from(places).unwrap_or(usize::MAX).saturating_add(usize::from(self.precision) * 31 / 100 + 8)
    }

    /// Returns `true` if both numbers have the same text: integers compare by value, fractions by their shortest digits.
    pub fn reads_as(&self, other: &Self) -> bool {
        if self.compare(other).is_eq() && (self.precision == other.precision || self.is_whole() || self.is_zero()) {
            return true;
        }
        let texts = self.is_finite() && other.is_finite() && self.negative == other.negative;
        let fractions = !self.is_whole() && !other.is_whole() && self.precision != other.precision;
        texts && fractions && self.shortest_digits() == other.shortest_digits()
    }

    /// Formats with a number of digits (after the point, or in total for the general layout), or with the fewest that parse
    /// back to this number. Computing all digits takes [`BigNum::digit_steps`].
    pub fn format(&self, layout: Layout, digits: Option<usize>) -> String {
        let sign = if self.negative { "-" } else { "" };
        if self.form == Form::Infinite {
            return if self.negative { "-Inf" } else { "+Inf" }.to_owned();
        }
        let mut text = sign.to_owned();
        match digits {
            None => {
                let shortest = self.shortest_digits();
                let count = shortest.digits.len();
                lay_out(&mut text, &shortest, layout, None, count);
            }
            Some(count) => {
                let first = match layout {
                    Layout::Fixed => usize::MAX,
                    Layout::Exponent => count.saturating_add(1),
                    Layout::General => count.max(1),
                };
                let mut all = self.leading_digits(first);
                let kept = match layout {
                    Layout::Fixed => usize::try_from(all.point.saturating_add_unsigned(count as u64)).ok(),
                    _ => Some(first),
                };
                if let Some(kept) = kept {
                    all.round(kept);
                }
                lay_out(&mut text, &all, layout, Some(count), count.max(1));
            }
        }
        text
    }

    /// Returns the digits of an integer in base 2, 8, 10 or 16. They take [`BigNum::digit_steps`].
    pub fn whole_text(&self, base: u32) -> Option<String> {
        if !self.is_whole() {
            return None;
        }
        let sign = if self.negative && !self.is_zero() { "-" } else { "" };
        if base == 10 {
            let all = self.all_digits();
            let mut text = sign.to_owned();
            push_fixed(&mut text, &all, 0);
            return Some(text);
        }
        let mut whole = self.significand.to_vec();
        if self.scale() >= 0 {
            whole = limbs::shifted_left(&whole, usize::try_from(self.scale()).ok()?);
        } else {
            limbs::shift_right(&mut whole, usize::from(FULL).saturating_sub(usize::try_from(self.exponent).ok()?));
        }
        Some(format!("{sign}{}", bit_digits(limbs::trimmed(&whole), base.trailing_zeros() as usize)))
    }
}

/// Formats digits of `bits` bits each.
fn bit_digits(limbs: &[u64], bits: usize) -> String {
    let length = limbs::bit_len(limbs).div_ceil(bits).max(1);
    let bit = |at: usize| limbs.get(at / 64).is_some_and(|limb| limb >> (at % 64) & 1 == 1);
    let digit = |at: usize| (0..bits).rev().fold(0, |digit, low| digit << 1 | u32::from(bit(at * bits + low)));
    (0..length).rev().filter_map(|at| char::from_digit(digit(at), 16)).collect()
}

/// Lays out digits: `places` after the point (by default all), `total` digits in the general layout.
fn lay_out(text: &mut String, digits: &Digits, layout: Layout, places: Option<usize>, total: usize) {
    let count = digits.digits.len();
    match layout {
        Layout::Fixed => {
            let all = usize::try_from(count as i64 - digits.point).unwrap_or(0);
            push_fixed(text, digits, places.unwrap_or(all));
        }
        Layout::Exponent => push_exponent(text, digits, places.unwrap_or(count.saturating_sub(1))),
        Layout::General => {
            let large = match places {
                None => 6,
                Some(_) if total > count && count as i64 >= digits.point => count as i64,
                Some(_) => total as i64,
            };
            let exponent = digits.point - 1;
            if exponent < -4 || exponent >= large {
                push_exponent(text, digits, total.min(count).saturating_sub(1));
            } else {
                let kept = if total as i64 > digits.point { count } else { total };
                push_fixed(text, digits, usize::try_from(kept as i64 - digits.point).unwrap_or(0));
            }
        }
    }
}

fn push_fixed(text: &mut String, digits: &Digits, places: usize) {
    let digit = |at: i64| {
        let digit = usize::try_from(at).ok().and_then(|at| digits.digits.get(at));
        char::from(digit.copied().unwrap_or(b'0'))
    };
    if digits.point > 0 {
        text.extend((0..digits.point).map(digit));
    } else {
        text.push('0');
    }
    if places > 0 {
        text.push('.');
        text.extend((0..places as i64).map(|at| digit(digits.point + at)));
    }
}

fn push_exponent(text: &mut String, digits: &Digits, places: usize) {
    let digit = |at: usize| char::from(digits.digits.get(at).copied().unwrap_or(b'0'));
    text.push(digit(0));
    if places > 0 {
        text.push('.');
        text.extend((1..=places).map(digit));
    }
    let exponent = if digits.digits.is_empty() { 0 } else { digits.point - 1 };
    let sign = if exponent < 0 { '-' } else { '+' };
    text.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
}
