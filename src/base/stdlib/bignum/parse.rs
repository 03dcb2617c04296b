//! Parses numbers.

use super::limbs::{self, WINDOW};
use super::{BigNum, FULL, MACHINE};

/// Precision of powers of five and of their intermediate squares. The last bit of numbers with large exponents depends on
/// these choices of the reference.
const POWER: usize = FULL as usize + 64;
const SQUARE: usize = POWER + 64;

/// Maximum number of digits that are parsed exactly, which keeps parsing linear. Of further digits only the number counts,
/// and whether one is nonzero, which determines the rounding to 512 bits.
const DIGITS: usize = 20_000;

/// A parsed text: `digits * 2^binary * 10^decimal`.
struct Scanned {
    negative: bool,
    digits: Vec<u64>,
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
        if scanned.digits.is_empty() {
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
        let mut number = Natural::default();
        for byte in digits.bytes() {
            number.push(digit(byte, base)?, u64::from(base));
        }
        let (limbs, dropped) = number.finish();
        let exact = Self::rounded(text.starts_with('-'), &limbs, 0, false, FULL);
        let number = if dropped == 0 { exact } else { exact.mul(&power_of(base, dropped)?)? };
        let bits = limbs::bit_len(&limbs).min(usize::from(FULL));
        let precision = if dropped == 0 { (bits as u16).max(MACHINE) } else { FULL };
        Some(Self { negative: number.negative && !number.is_zero(), precision, ..number })
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
fn digit(byte: u8, base: u32) -> Option<u64> {
    let value = match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'z' => byte - b'a' + 10,
        b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
        b'A'..=b'Z' => byte - b'A' + 36,
        _ => return None,
    };
    (u32::from(value) < base).then_some(u64::from(value))
}

/// A natural number built digit by digit, exact up to [`DIGITS`] digits.
#[derive(Default)]
struct Natural {
    limbs: Vec<u64>,
    part: u64,
    unit: u64,
    read: usize,
    dropped: usize,
    rest: bool,
}

impl Natural {
    fn push(&mut self, digit: u64, base: u64) {
        if self.read == 0 && digit == 0 {
            return;
        }
        if self.read == DIGITS {
            self.dropped += 1;
            self.rest |= digit != 0;
            return;
        }
        self.read += 1;
        if self.unit == 0 {
            self.unit = 1;
        } else if self.unit.checked_mul(base).is_none_or(|unit| unit > 1 << 56) {
            self.flush();
        }
        self.part = self.part * base + digit;
        self.unit *= base;
    }

    /// Adds the pending digits to the limbs.
    fn flush(&mut self) {
        let carry = limbs::mul_small(&mut self.limbs, self.unit, self.part);
        if carry != 0 {
            self.limbs.push(carry);
        }
        (self.part, self.unit) = (0, 1);
    }

    /// Returns the number of the exact digits, and how many digits were dropped after them.
    fn finish(mut self) -> (Vec<u64>, usize) {
        if self.unit > 1 {
            self.flush();
        }
        (self.limbs, self.dropped)
    }
}

fn scan(text: &str, negative: bool) -> Option<Scanned> {
    let end = text.find(['e', 'E', 'p', 'P']).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at_checked(end)?;
    let mut number = Natural::default();
    let mut point = None;
    let mut digits = 0_usize;
    for byte in mantissa.bytes() {
        match byte {
            b'0'..=b'9' => number.push(u64::from(byte - b'0'), 10),
            b'.' if point.is_none() => {
                point = Some(digits);
                continue;
            }
            _ => return None,
        }
        digits += 1;
    }
    if digits == 0 {
        return None;
    }
    let fraction = point.map_or(0, |point| digits - point);
    let rest = number.rest;
    let (limbs, dropped) = number.finish();
    let (digits, shift) = widened(limbs, dropped, rest);
    let decimal = -i64::try_from(fraction).ok()?;
    let scanned = Scanned { negative, digits, decimal, binary: shift };
    with_exponent(scanned, exponent)
}

/// Replaces dropped digits by zeros, with more bits of precision than a number has.
fn widened(limbs: Vec<u64>, dropped: usize, rest: bool) -> (Vec<u64>, i64) {
    if dropped == 0 {
        return (limbs, 0);
    }
    let power = super::text::Power::of_ten(dropped as i64);
    let mut product = vec![0; limbs.len() + power.limbs.len() + 1];
    limbs::mul_into(&mut product, &limbs, &power.limbs);
    if rest && let Some(lowest) = product.first_mut() {
        *lowest |= 1;
    }
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
        let exponent = scale.checked_add(limbs::bit_len(&self.digits) as i64)?;
        i32::try_from(exponent).ok()?;
        if self.decimal == 0 {
            return Some(BigNum::rounded(self.negative, &self.digits, scale, false, FULL));
        }
        let Some(power) = Five::power(self.decimal.unsigned_abs()) else {
            let beyond = if self.decimal < 0 { BigNum::zero } else { BigNum::infinity };
            return Some(beyond(self.negative, FULL));
        };
        Some(if self.decimal < 0 { self.divided(&power, scale) } else { self.multiplied(&power, scale) })
    }

    fn multiplied(&self, power: &Five, scale: i64) -> BigNum {
        let mut product = vec![0; self.digits.len() + WINDOW + 1];
        limbs::mul_into(&mut product, &self.digits, &power.limbs);
        BigNum::rounded(self.negative, &product, scale + power.scale, false, FULL)
    }

    fn divided(&self, power: &Five, scale: i64) -> BigNum {
        let shift = (2 * WINDOW).saturating_sub(self.digits.len());
        let mut dividend = vec![0; shift];
        dividend.extend_from_slice(&self.digits);
        let (quotient, rest) = limbs::divide(&dividend, &power.limbs);
        BigNum::rounded(self.negative, &quotient, scale - power.scale - (shift * 64) as i64, rest, FULL)
    }
}

/// A power of five: `limbs * 2^scale`.
struct Five {
    limbs: [u64; WINDOW],
    scale: i64,
}

impl Five {
    /// `5^exponent`, rounded to [`POWER`] bits after each step. `None` beyond the range of exponents.
    fn power(exponent: u64) -> Option<Self> {
        /// `5^TABLE` is the largest power that fits 64 bits.
        const TABLE: u64 = 27;
        let first = exponent.min(TABLE);
        let mut power = Self::of(5_u64.checked_pow(u32::try_from(first).ok()?)?);
        let mut square = Self::of(5);
        let mut left = exponent - first;
        while left > 0 {
            if left & 1 == 1 {
                power = power.times(&square, POWER)?;
            }
            left >>= 1;
            if left > 0 {
                square = square.times(&square, SQUARE)?;
            }
        }
        Some(power)
    }

    fn of(n: u64) -> Self {
        let (limbs, _) = limbs::window(&[n]);
        Self { limbs, scale: limbs::bit_len(&[n]) as i64 - (WINDOW * 64) as i64 }
    }

    fn times(&self, other: &Self, precision: usize) -> Option<Self> {
        let mut product = [0; 2 * WINDOW];
        limbs::mul_into(&mut product, &self.limbs, &other.limbs);
        let bits = limbs::bit_len(&product) as i64;
        let (mut limbs, lost) = limbs::window(&product);
        let carry = limbs::round(&mut limbs, precision, lost);
        let scale = self.scale + other.scale + bits + i64::from(carry) - (WINDOW * 64) as i64;
        i32::try_from(scale + (WINDOW * 64) as i64).ok()?;
        Some(Self { limbs, scale })
    }
}
