//! Parses numbers.

use num_bigint::BigUint;

use super::arithmetic::quotient;
use super::text::Power;
use super::{BigNum, FULL, MACHINE, round};

/// Precision of powers of five and of their intermediate squares. The last bit of numbers with large exponents depends on
/// these choices of the reference.
const POWER: u16 = FULL + 64;
const SQUARE: u16 = POWER + 64;

/// Maximum number of digits that are parsed exactly, which keeps parsing linear. Of further digits only the number counts,
/// and whether one is nonzero, which determines the rounding to 512 bits.
const DIGITS: usize = 20_000;

/// A parsed text: `digits * 2^binary * 10^decimal`.
struct Scanned {
    negative: bool,
    digits: BigUint,
    decimal: i64,
    binary: i64,
}

impl BigNum {
    /// Parses a decimal number with a precision of 512 bits: a sign, digits, a point, an exponent (`e` of ten, `p` of two),
    /// or `inf`. `None` for other texts and excessive exponents; smaller ones may still overflow or underflow.
    pub fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let negative = text.starts_with('-');
        if unsigned == "Inf" || unsigned == "inf" {
            return Some(Self::infinity(negative, FULL));
        }
        let scanned = scan(unsigned, negative)?;
        if scanned.digits.bits() == 0 {
            return Some(Self::zero(negative, FULL));
        }
        scanned.into_number()
    }

    /// Parses an integer of any size in a base from 2 to 62. The digits are 0–9, a–z and A–Z; up to base 36 case is ignored.
    /// The precision is as needed, from 64 to 512 bits.
    pub fn parse_whole(text: &str, base: u32) -> Option<Self> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !(2..=62).contains(&base) {
            return None;
        }
        let digits = digits.bytes().map(|byte| digit(byte, base)).collect::<Option<Vec<u8>>>()?;
        let (natural, dropped, _) = natural(digits, base)?;
        let negative = text.starts_with('-') && natural.bits() > 0;
        let exact = Self::rounded(negative, &natural, 0, false, FULL);
        if dropped > 0 {
            return exact.mul(&power_of(base, dropped)?).map(|number| Self { precision: FULL, ..number });
        }
        let precision = natural.bits().clamp(u64::from(MACHINE), u64::from(FULL)) as u16;
        Some(Self { precision, ..exact })
    }
}

/// Computes a rounded power.
fn power_of(base: u32, exponent: usize) -> Option<BigNum> {
    let mut power = BigNum::of_uint(1, FULL);
    let mut square = BigNum::of_uint(u64::from(base), FULL);
    let mut left = exponent;
    while left > 0 {
        if left & 1 == 1 {
            power = power.mul(&square)?;
        }
        square = square.mul(&square)?;
        left >>= 1;
    }
    Some(power)
}

/// Returns the value of a digit.
fn digit(byte: u8, base: u32) -> Option<u8> {
    let value = match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'z' => byte - b'a' + 10,
        b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
        b'A'..=b'Z' => byte - b'A' + 36,
        _ => return None,
    };
    (u32::from(value) < base).then_some(value)
}

/// Returns a number by its digits, exact up to [`DIGITS`] of them, the number of further digits, and `true` if one of those
/// is not zero.
fn natural(mut digits: Vec<u8>, base: u32) -> Option<(BigUint, usize, bool)> {
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let kept = digits.len().min(zeros + DIGITS);
    let rest = digits.split_off(kept);
    let digits = digits.get(zeros..).filter(|digits| !digits.is_empty()).unwrap_or(&[0]);
    let natural = BigUint::from_radix_be(digits, base)?;
    Some((natural, rest.len(), rest.iter().any(|digit| *digit != 0)))
}

fn scan(text: &str, negative: bool) -> Option<Scanned> {
    let end = text.find(['e', 'E', 'p', 'P']).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at_checked(end)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.bytes().chain(fraction.bytes()).map(|byte| digit(byte, 10)).collect::<Option<Vec<u8>>>()?;
    if digits.is_empty() {
        return None;
    }
    let (natural, dropped, rest) = natural(digits, 10)?;
    let (digits, binary) = widened(natural, dropped, rest);
    let scanned = Scanned { negative, digits, decimal: -i64::try_from(fraction.len()).ok()?, binary };
    with_exponent(scanned, exponent)
}

/// Replaces dropped digits by zeros, with more bits of precision than a number has.
fn widened(natural: BigUint, dropped: usize, rest: bool) -> (BigUint, i64) {
    if dropped == 0 {
        return (natural, 0);
    }
    let power = Power::of_ten(dropped as i64);
    let mut product = natural * power.natural;
    product.set_bit(0, rest || product.bit(0));
    (product, power.scale)
}

fn with_exponent(mut scanned: Scanned, text: &str) -> Option<Scanned> {
    let Some(letter) = text.chars().next() else { return Some(scanned) };
    let text = text.get(1..)?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse::<i64>().ok()?;
    let exponent = if text.starts_with('-') { -magnitude } else { magnitude };
    if letter.eq_ignore_ascii_case(&'e') {
        scanned.decimal = scanned.decimal.checked_add(exponent)?;
    } else {
        scanned.binary = scanned.binary.checked_add(exponent)?;
    }
    Some(scanned)
}

impl Scanned {
    /// `digits * 2^(binary + decimal) * 5^decimal`.
    fn into_number(self) -> Option<BigNum> {
        let scale = self.binary.checked_add(self.decimal)?;
        let exponent = scale.checked_add(self.digits.bits() as i64)?;
        i32::try_from(exponent).ok()?;
        if self.decimal == 0 {
            return Some(BigNum::rounded(self.negative, &self.digits, scale, false, FULL));
        }
        let Some((power, low)) = power_of_five(self.decimal.unsigned_abs()) else {
            let beyond = if self.decimal < 0 { BigNum::zero } else { BigNum::infinity };
            return Some(beyond(self.negative, FULL));
        };
        Some(match self.decimal {
            ..0 => quotient(self.negative, (self.digits, scale), (power, low), FULL),
            _ => BigNum::rounded(self.negative, &(self.digits * power), scale + low, false, FULL),
        })
    }
}

/// Returns `5^exponent`, rounded to [`POWER`] bits after each step, and the exponent of its lowest bit. `None` beyond the
/// range of exponents.
fn power_of_five(exponent: u64) -> Option<(BigUint, i64)> {
    /// `5^TABLE` is the largest power that fits 64 bits.
    const TABLE: u64 = 27;
    let first = exponent.min(TABLE);
    let mut power = (BigUint::from(5_u64.checked_pow(u32::try_from(first).ok()?)?), 0);
    let mut square = (BigUint::from(5_u32), 0);
    let mut left = exponent - first;
    while left > 0 {
        if left & 1 == 1 {
            power = product(&power, &square, POWER)?;
        }
        left >>= 1;
        if left > 0 {
            square = product(&square, &square, SQUARE)?;
        }
    }
    Some(power)
}

/// Multiplies two naturals, each with the exponent of its lowest bit, and rounds. `None` beyond the range of exponents.
fn product((a, low): &(BigUint, i64), (b, lower): &(BigUint, i64), precision: u16) -> Option<(BigUint, i64)> {
    let (product, dropped) = round(&(a * b), precision, false);
    let scale = low + lower + dropped as i64;
    i32::try_from(scale + product.bits() as i64).ok()?;
    Some((product, scale))
}
