//! Texts of numbers.

use super::digits::Digits;
use super::limbs;
use super::{BigNum, FULL, Form};

/// How a number is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `-ddd.ddd`
    Fixed,
    /// `-d.ddde±dd`
    Exponent,
    /// As [`Layout::Exponent`] where the exponent is below -4 or not below the number of digits, else as
    /// [`Layout::Fixed`]; without zeros at the end.
    General,
}

impl BigNum {
    /// The shortest decimal text, without exponent, that reads as this number at its precision; `+Inf`, `-Inf`.
    /// It may be very long: see [`BigNum::text_len`].
    pub fn to_text(&self) -> String {
        match self.to_i64() {
            Some(n) if n != 0 && self.precision >= 64 => n.to_string(),
            _ => self.format(Layout::Fixed, None),
        }
    }

    /// About how many bytes the text without exponent has, and never fewer.
    pub fn text_len(&self) -> usize {
        let places = i64::from(self.exponent).unsigned_abs() * 31 / 100;
        usize::try_from(places).unwrap_or(usize::MAX).saturating_add(usize::from(self.precision) * 31 / 100 + 8)
    }

    /// Whether both are the same number to a reader: whole numbers by their value, others by their texts, so that what
    /// a text cannot hold does not count.
    pub fn reads_as(&self, other: &Self) -> bool {
        if self.compare(other).is_eq() && (self.precision == other.precision || self.is_whole() || self.is_zero()) {
            return true;
        }
        let texts = self.is_finite() && other.is_finite() && self.negative == other.negative;
        let fractions = !self.is_whole() && !other.is_whole() && self.precision != other.precision;
        texts && fractions && self.shortest_digits() == other.shortest_digits()
    }

    /// The text in a layout: with so many digits (behind the point, or, in the general layout, in all), or with the
    /// fewest that read as this number. All digits cost [`BigNum::digit_steps`].
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

    /// The whole number's digits in base 2, 8, 10 or 16 with its sign; none where it is not whole. They cost
    /// [`BigNum::digit_steps`].
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

/// The digits of `bits` bits each.
fn bit_digits(limbs: &[u64], bits: usize) -> String {
    let length = limbs::bit_len(limbs).div_ceil(bits).max(1);
    let bit = |at: usize| limbs.get(at / 64).is_some_and(|limb| limb >> (at % 64) & 1 == 1);
    let digit = |at: usize| (0..bits).rev().fold(0, |digit, low| digit << 1 | u32::from(bit(at * bits + low)));
    (0..length).rev().filter_map(|at| char::from_digit(digit(at), 16)).collect()
}

/// Lays digits out: `places` behind the point (all where none are given), `total` digits in the general layout.
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
