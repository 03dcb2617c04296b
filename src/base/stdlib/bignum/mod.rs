//! Binary floating-point numbers of up to 512 bits with the semantics of Go's `big.Float`: sign, significand, exponent,
//! and a precision that a result inherits from its operands (the larger one). Rounding is to nearest, ties to even.
//! No number is NaN. Operations whose result is undefined return `None`.
//!
//! The rounding is our own because no crate rounds like `big.Float`, whose last digits are visible in output. Arithmetic on
//! whole numbers is that of `num-bigint`.

mod arithmetic;
mod parse;
mod text;

use std::cmp::Ordering;
use std::ops::Neg;

use num_bigint::BigUint;

pub use text::Layout;

/// The precision of literals in bits.
pub const FULL: u16 = 512;

/// The precision of machine integers in bits.
pub const MACHINE: u16 = 64;

/// The precision of 64-bit floats in bits.
pub const DOUBLE: u16 = 53;

/// The number of limbs of a significand.
const LIMBS: usize = 8;

/// A binary floating-point number.
#[derive(Debug, Clone, Copy)]
pub struct BigNum {
    form: NumberClass,
    negative: bool,
    /// The number of bits that the significand is rounded to.
    precision: u16,
    /// The value is `significand / 2^512 * 2^exponent`.
    exponent: i32,
    /// Least significant limb first. The highest bit is set if the form is finite.
    significand: [u64; LIMBS],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberClass {
    Zero,
    Finite,
    Infinite,
}

impl BigNum {
    /// Returns an integer with a precision of 512 or 64 bits.
    pub fn of_int(n: i64, precision: u16) -> Self {
        let mut number = Self::of_uint(n.unsigned_abs(), precision);
        number.negative = n < 0;
        number
    }

    /// Returns an unsigned integer with a precision.
    pub fn of_uint(n: u64, precision: u16) -> Self {
        Self::of_word(false, n, 0, precision)
    }

    /// Returns a 64-bit float with its own precision. `None` for NaN.
    pub fn of_f64(n: f64) -> Option<Self> {
        if n.is_nan() {
            return None;
        }
        if n.is_infinite() {
            return Some(Self::infinity(n < 0.0, DOUBLE));
        }
        let (magnitude, scale) = parts(n);
        Some(Self::of_word(n.is_sign_negative(), magnitude, scale, DOUBLE))
    }

    /// Returns the number in the shortest decimal text of a float, with full precision. `None` for NaN.
    pub fn of_shortest_text(n: f64) -> Option<Self> {
        /// Every number with at most 15 digits is the shortest text of a float.
        const SHORT: u64 = 10_u64.pow(15);
        let (magnitude, scale) = parts(n);
        let zeros = magnitude.trailing_zeros();
        let (odd, scale) = (magnitude.checked_shr(zeros).unwrap_or(0), scale + i64::from(zeros));
        // An odd number over 2^n has n decimals. If there are so few digits, they are the shortest text.
        let places = u32::try_from(-scale).unwrap_or(u32::MAX);
        let digits = 5_u64.checked_pow(places).and_then(|power| odd.checked_mul(power));
        if odd > 0 && n.is_finite() && digits.is_some_and(|digits| digits < SHORT) {
            return Some(Self::of_word(n.is_sign_negative(), odd, scale, FULL));
        }
        Self::parse(zmij::Buffer::new().format(n))
    }

    /// Zero with a sign.
    fn zero(negative: bool, precision: u16) -> Self {
        Self { form: NumberClass::Zero, negative, precision, exponent: 0, significand: [0; LIMBS] }
    }

    /// Returns an infinity.
    pub fn infinity(negative: bool, precision: u16) -> Self {
        Self { form: NumberClass::Infinite, ..Self::zero(negative, precision) }
    }

    /// `magnitude * 2^scale`, rounded to `precision` bits.
    fn of_word(negative: bool, magnitude: u64, scale: i64, precision: u16) -> Self {
        let zeros = magnitude.leading_zeros();
        let bits = u64::BITS - zeros;
        if bits == 0 || bits > u32::from(precision) {
            return Self::rounded(negative, &magnitude.into(), scale, false, precision);
        }
        let mut significand = [0; LIMBS];
        significand[LIMBS - 1] = magnitude << zeros;
        Self::in_range(negative, significand, i64::from(bits) + scale, precision)
    }

    /// `magnitude * 2^scale`, plus a tiny amount if `sticky`, rounded to `precision` bits.
    fn rounded(negative: bool, magnitude: &BigUint, scale: i64, sticky: bool, precision: u16) -> Self {
        if magnitude.bits() == 0 {
            return Self::zero(negative, precision);
        }
        let (magnitude, dropped) = round(magnitude, precision, sticky);
        let bits = magnitude.bits();
        let exponent = i64::try_from(bits + dropped).unwrap_or(i64::MAX).saturating_add(scale);
        let mut significand = [0; LIMBS];
        let aligned = magnitude << u64::from(FULL).saturating_sub(bits);
        significand.iter_mut().zip(aligned.iter_u64_digits()).for_each(|(limb, digit)| *limb = digit);
        Self::in_range(negative, significand, exponent, precision)
    }

    /// Returns a number with this exponent, or zero or an infinity if it is beyond the range of exponents.
    fn in_range(negative: bool, significand: [u64; LIMBS], exponent: i64, precision: u16) -> Self {
        match i32::try_from(exponent) {
            Ok(exponent) => Self { form: NumberClass::Finite, negative, precision, exponent, significand },
            Err(_) if exponent < 0 => Self::zero(negative, precision),
            Err(_) => Self::infinity(negative, precision),
        }
    }

    /// Returns the significand without zeros at its end, and the exponent of its lowest bit.
    fn natural(&self) -> (BigUint, i64) {
        let zeros = self.significand.iter().take_while(|limb| **limb == 0).count();
        let limbs = self.significand.iter().skip(zeros).flat_map(|limb| [*limb as u32, (limb >> 32) as u32]);
        (BigUint::new(limbs.collect()), self.scale() + zeros as i64 * 64)
    }

    /// Returns the number rounded to another precision.
    pub fn with_precision(self, precision: u16) -> Self {
        match self.form {
            NumberClass::Finite if precision < self.bits_needed() => {
                let (magnitude, scale) = self.natural();
                Self::rounded(self.negative, &magnitude, scale, false, precision)
            }
            _ => Self { precision, ..self },
        }
    }

    /// Returns the exponent of the significand's lowest bit.
    fn scale(&self) -> i64 {
        i64::from(self.exponent) - i64::from(FULL)
    }

    /// Returns the precision in bits.
    pub const fn precision(&self) -> u16 {
        self.precision
    }

    /// Returns the number of bits from the highest to the lowest set bit of the significand.
    pub(crate) fn bits_needed(&self) -> u16 {
        let zeros = self.trailing_zeros();
        if self.form == NumberClass::Finite { FULL - zeros } else { 0 }
    }

    /// Returns the number of trailing zero bits of the significand.
    fn trailing_zeros(&self) -> u16 {
        let zeros = self.significand.iter().take_while(|limb| **limb == 0).count();
        let limb = self.significand.get(zeros).map_or(0, |limb| limb.trailing_zeros());
        u16::try_from(zeros * 64 + limb as usize).unwrap_or(FULL)
    }

    /// Returns the value as an `i64`, if it is an integer in that range with a precision of 512 bits.
    pub fn as_plain_int(&self) -> Option<i64> {
        let negative_zero = self.is_zero() && self.negative;
        if self.precision == FULL && !negative_zero { self.to_i64() } else { None }
    }

    /// Returns the value as an `i64`, if it is an integer in that range.
    pub fn to_i64(&self) -> Option<i64> {
        let magnitude = i128::from(self.magnitude()?);
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// Returns the value as a `u64`, if it is an integer in that range.
    pub fn to_u64(&self) -> Option<u64> {
        self.magnitude().filter(|magnitude| !self.negative || *magnitude == 0)
    }

    /// Returns the magnitude, if it is a 64-bit integer.
    fn magnitude(&self) -> Option<u64> {
        match self.form {
            NumberClass::Zero => Some(0),
            NumberClass::Infinite => None,
            NumberClass::Finite => {
                let bits = u32::try_from(self.exponent).ok().filter(|bits| (1..=u64::BITS).contains(bits))?;
                self.is_whole().then(|| self.top() >> (u64::BITS - bits))
            }
        }
    }

    /// Returns the highest limb of the significand.
    fn top(&self) -> u64 {
        self.significand[LIMBS - 1]
    }

    /// Returns `true` for integers.
    pub fn is_whole(&self) -> bool {
        match self.form {
            NumberClass::Zero => true,
            NumberClass::Infinite => false,
            NumberClass::Finite => self.exponent >= 1 && i32::from(self.bits_needed()) <= self.exponent,
        }
    }

    /// Returns `true` for finite numbers.
    pub fn is_finite(&self) -> bool {
        self.form != NumberClass::Infinite
    }

    /// Returns `true` for zeros.
    pub fn is_zero(&self) -> bool {
        self.form == NumberClass::Zero
    }

    /// Returns `true` for numbers below zero and negative zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns the nearest 64-bit float; infinite if the number is too large. `None` for infinities.
    pub fn to_f64(&self) -> Option<f64> {
        let magnitude = match self.form {
            NumberClass::Zero => 0.0,
            NumberClass::Infinite => return None,
            NumberClass::Finite => f64::from_bits(self.float_bits()),
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// Returns the bits of the 64-bit float nearest to the magnitude.
    fn float_bits(&self) -> u64 {
        let exponent = i64::from(self.exponent);
        // The lowest bit of a subnormal float is 2^-1074.
        let precision = (exponent + 1074).clamp(0, 53);
        if exponent > 1024 {
            return f64::INFINITY.to_bits();
        }
        if precision == 0 {
            let above_half = exponent == -1074 && self.bits_needed() > 1;
            return u64::from(above_half);
        }
        let rounded = self.with_precision(precision as u16);
        let (top, carry) = (rounded.top() >> (64 - precision), rounded.exponent - self.exponent);
        if precision < 53 { top << carry } else { (((i64::from(rounded.exponent) + 1021) as u64) << 52) + top }
    }

    /// Returns the absolute value.
    pub fn abs(self) -> Self {
        Self { negative: false, ..self }
    }

    /// Compares by value, regardless of precision.
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        by_sign.then_with(|| if self.negative { other.compare_magnitude(self) } else { self.compare_magnitude(other) })
    }

    /// -1, 0 or 1.
    fn sign(&self) -> i8 {
        match (self.form, self.negative) {
            (NumberClass::Zero, _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    /// Compares the magnitudes of two numbers with the same sign.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let rank = |number: &Self| (number.form == NumberClass::Infinite, number.exponent);
        rank(self).cmp(&rank(other)).then_with(|| self.significand.iter().rev().cmp(other.significand.iter().rev()))
    }
}

impl Neg for BigNum {
    type Output = Self;

    /// Negates the number, including zero.
    fn neg(self) -> Self {
        Self { negative: !self.negative, ..self }
    }
}

/// Rounds to `precision` bits, ties to even. `sticky` means that bits below the number are set. Returns the highest bits, and
/// how many were dropped.
fn round(magnitude: &BigUint, precision: u16, sticky: bool) -> (BigUint, u64) {
    let precision = u64::from(precision.max(1));
    let dropped = magnitude.bits().saturating_sub(precision);
    let mut high = magnitude >> dropped;
    if dropped > 0 && magnitude.bit(dropped - 1) {
        let below = sticky || magnitude.trailing_zeros() != Some(dropped - 1);
        high += u32::from(below || high.bit(0));
    }
    // A carry into a new bit leaves a power of two.
    if high.bits() > precision { (high >> 1_u32, dropped + 1) } else { (high, dropped) }
}

/// Splits a finite float into an integer magnitude and a power of two.
fn parts(n: f64) -> (u64, i64) {
    let bits = n.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52 & 0x7ff) as i64 {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    }
}

#[cfg(test)]
mod tests;
