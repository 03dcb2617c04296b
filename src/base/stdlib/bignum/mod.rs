//! Binary floating-point numbers of up to 512 bits with the semantics of Go's `big.Float`: sign, significand, exponent,
//! and a precision that a result inherits from its operands (the larger one). Rounding is to nearest, ties to even.
//! No number is NaN. Operations whose result is undefined return `None`.
//!
//! This is our own implementation because no crate rounds like `big.Float`, whose last digits are visible in output.

mod limbs;
mod parse;
mod text;

use std::cmp::Ordering;
use std::ops::Neg;

use limbs::{WINDOW, Window};

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
        Self::rounded(false, &[n], 0, false, precision)
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
        Some(Self::rounded(n.is_sign_negative(), &[magnitude], scale, false, DOUBLE))
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
            return Some(Self::rounded(n.is_sign_negative(), &[odd], scale, false, FULL));
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

    /// `magnitude * 2^scale`, plus a tiny amount if `sticky`, rounded to `precision` bits. Beyond the range of the exponent
    /// it is zero or infinite.
    fn rounded(negative: bool, magnitude: &[u64], scale: i64, sticky: bool, precision: u16) -> Self {
        let bits = limbs::bit_len(magnitude);
        if bits == 0 {
            return Self::zero(negative, precision);
        }
        let (mut window, lost) = limbs::window(magnitude);
        let carry = limbs::round(&mut window, usize::from(precision), sticky || lost);
        let exponent = (bits as i64).saturating_add(scale).saturating_add(i64::from(carry));
        match i32::try_from(exponent) {
            Ok(exponent) => {
                Self { form: NumberClass::Finite, negative, precision, exponent, significand: significand(&window) }
            }
            Err(_) if exponent < 0 => Self::zero(negative, precision),
            Err(_) => Self::infinity(negative, precision),
        }
    }

    /// Returns the number rounded to another precision.
    pub fn with_precision(self, precision: u16) -> Self {
        match self.form {
            NumberClass::Finite if precision < self.precision => {
                Self::rounded(self.negative, &self.significand, self.scale(), false, precision)
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
                let top = self.significand.last().copied().unwrap_or(0);
                self.is_whole().then(|| top >> (u64::BITS - bits))
            }
        }
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
        let (mut window, _) = limbs::window(&self.significand);
        let carry = limbs::round(&mut window, precision as usize, false);
        let top = window.last().copied().unwrap_or(0) >> (64 - precision);
        let magnitude = if carry { top << 1 } else { top };
        if precision < 53 { magnitude } else { (((exponent + 1021) as u64) << 52) + magnitude }
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
        rank(self).cmp(&rank(other)).then_with(|| limbs::compare(&self.significand, &other.significand))
    }
}

impl Neg for BigNum {
    type Output = Self;

    /// Negates the number, including zero.
    fn neg(self) -> Self {
        Self { negative: !self.negative, ..self }
    }
}

/// Returns the significand in the highest limbs of a window.
fn significand(window: &Window) -> [u64; LIMBS] {
    let mut significand = [0; LIMBS];
    significand.iter_mut().zip(window.iter().skip(WINDOW - LIMBS)).for_each(|(limb, source)| *limb = *source);
    significand
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

/// The number of limbs of a sum: a significand, the lower bits of the smaller operand, and a carry.
const SUM: usize = LIMBS + 3;

/// The number of limbs by which a dividend is shifted, so that the quotient has more bits than any precision.
const QUOTIENT: usize = LIMBS + 1;

impl BigNum {
    /// Adds. `None` for infinities of opposite signs.
    pub fn add(&self, other: &Self) -> Option<Self> {
        let precision = self.precision.max(other.precision);
        match (self.form, other.form) {
            (NumberClass::Infinite, NumberClass::Infinite) => (self.negative == other.negative).then_some(*self),
            (NumberClass::Infinite, _) => Some(Self { precision, ..*self }),
            (_, NumberClass::Infinite) => Some(Self { precision, ..*other }),
            (NumberClass::Zero, NumberClass::Zero) => Some(Self::zero(self.negative && other.negative, precision)),
            (_, NumberClass::Zero) => Some(Self { precision, ..*self }),
            (NumberClass::Zero, _) => Some(Self { precision, ..*other }),
            (NumberClass::Finite, NumberClass::Finite) => Some(self.add_finite(other, precision)),
        }
    }

    fn add_finite(&self, other: &Self, precision: u16) -> Self {
        let (large, small) = if self.compare_magnitude(other).is_ge() { (self, other) } else { (other, self) };
        let mut sum = [0; SUM];
        let mut low = [0; SUM];
        let place = |to: &mut [u64; SUM], number: &Self| {
            to.iter_mut().skip(2).zip(number.significand).for_each(|(limb, source)| *limb = source);
        };
        place(&mut sum, large);
        place(&mut low, small);
        let apart = i64::from(large.exponent) - i64::from(small.exponent);
        let lost = limbs::shift_right(&mut low, usize::try_from(apart).unwrap_or(0).min(SUM * 64));
        // The lost bits are far below the rounding position; one sticky bit represents them.
        if lost && let Some(lowest) = low.first_mut() {
            *lowest |= 1;
        }
        if large.negative == small.negative {
            limbs::add_into(&mut sum, &low);
        } else {
            limbs::sub_from(&mut sum, &low);
        }
        let negative = large.negative && limbs::bit_len(&sum) > 0;
        Self::rounded(negative, &sum, large.scale() - 128, false, precision)
    }

    /// Subtracts. `None` for infinities of the same sign.
    pub fn sub(&self, other: &Self) -> Option<Self> {
        self.add(&-*other)
    }

    /// Multiplies, with more precision than the operands if the product needs it. `None` for zero times infinity.
    pub fn mul(&self, other: &Self) -> Option<Self> {
        let product = self.product(other, FULL)?;
        let inherited = self.precision.max(other.precision);
        Some(Self { precision: inherited.max(product.bits_needed()), ..product })
    }

    fn product(&self, other: &Self, precision: u16) -> Option<Self> {
        let negative = self.negative != other.negative;
        match (self.form, other.form) {
            (NumberClass::Finite, NumberClass::Finite) => {
                let mut product = [0; 2 * LIMBS];
                limbs::mul_into(&mut product, &self.significand, &other.significand);
                Some(Self::rounded(negative, &product, self.scale() + other.scale(), false, precision))
            }
            (NumberClass::Zero, NumberClass::Infinite) | (NumberClass::Infinite, NumberClass::Zero) => None,
            (NumberClass::Infinite, _) | (_, NumberClass::Infinite) => Some(Self::infinity(negative, precision)),
            _ => Some(Self::zero(negative, precision)),
        }
    }

    /// Divides. A nonzero number divided by zero is infinite. `None` for zero by zero and infinity by infinity.
    pub fn div(&self, other: &Self) -> Option<Self> {
        let negative = self.negative != other.negative;
        let precision = self.precision.max(other.precision);
        match (self.form, other.form) {
            (NumberClass::Finite, NumberClass::Finite) => {
                let mut dividend = [0; LIMBS + QUOTIENT];
                dividend.iter_mut().skip(QUOTIENT).zip(self.significand).for_each(|(to, from)| *to = from);
                let (quotient, rest) = limbs::divide(&dividend, &other.significand);
                let scale = self.scale() - other.scale() - (QUOTIENT * 64) as i64;
                Some(Self::rounded(negative, &quotient, scale, rest, precision))
            }
            (NumberClass::Zero, NumberClass::Zero) | (NumberClass::Infinite, NumberClass::Infinite) => None,
            (NumberClass::Zero, _) | (_, NumberClass::Infinite) => Some(Self::zero(negative, precision)),
            _ => Some(Self::infinity(negative, precision)),
        }
    }

    /// Returns the remainder of the truncated division, with the sign of the dividend. Like the reference, it includes
    /// the rounding error of the quotient, returns the dividend for division by zero, and the product for infinities.
    pub fn rem(&self, other: &Self) -> Option<Self> {
        if !self.is_finite() || !other.is_finite() {
            return self.mul(other);
        }
        if other.is_zero() {
            return Some(*self);
        }
        let whole = self.div(other)?.truncate();
        // A quotient below one counts as a positive zero.
        let quotient = if whole.is_zero() { whole.abs() } else { whole }.with_precision(self.precision);
        let product = other.product(&quotient, self.precision)?;
        self.sub(&product)
    }

    /// Rounds toward zero.
    pub fn truncate(&self) -> Self {
        match self.form {
            NumberClass::Finite if self.exponent <= 0 => Self::zero(self.negative, self.precision),
            NumberClass::Finite => {
                let mut whole = *self;
                let fraction = usize::from(FULL).saturating_sub(usize::try_from(self.exponent).unwrap_or(0));
                limbs::clear_low(&mut whole.significand, fraction);
                whole
            }
            _ => *self,
        }
    }

    /// Rounds down.
    pub fn floor(&self) -> Self {
        self.whole_beside(true)
    }

    /// Rounds up.
    pub fn ceil(&self) -> Self {
        self.whole_beside(false)
    }

    fn whole_beside(&self, below: bool) -> Self {
        let mut whole = self.truncate();
        if self.is_finite() && !self.is_whole() && self.negative == below {
            let step = Self::of_int(if below { -1 } else { 1 }, self.precision);
            whole = whole.add(&step).unwrap_or(whole);
        }
        whole.negative &= !whole.is_zero();
        whole
    }
}

#[cfg(test)]
mod tests;
