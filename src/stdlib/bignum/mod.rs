//! Binary floating-point numbers of up to 512 bits, as Go's `big.Float` has them: sign, significand, exponent, and a
//! precision that the result of an operation inherits from its operands (the larger one). Rounding is to the nearest,
//! ties to even. There is no NaN; an operation that has no result says so.

mod arithmetic;
mod digits;
mod limbs;
mod parse;
/// The magnitude of a finite float, and the power of two that it counts.
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
mod text;

use std::cmp::Ordering;
use std::ops::Neg;

use limbs::{WINDOW, Window};
pub use text::Layout;

/// Bits of a significand that a literal has.
pub const FULL: u16 = 512;

/// Bits of a significand that a machine integer has.
pub const MACHINE: u16 = 64;

/// Bits of a significand that a 64-bit float has.
pub const DOUBLE: u16 = 53;

/// Limbs of a significand.
const LIMBS: usize = 8;

/// A number.
#[derive(Debug, Clone, Copy)]
pub struct BigNum {
    form: Form,
    negative: bool,
    /// Bits that the significand is rounded to.
    precision: u16,
    /// The value is `significand / 2^512 * 2^exponent`.
    exponent: i32,
    /// The least limb first; the highest bit is set where the form is finite.
    significand: [u64; LIMBS],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Zero,
    Finite,
    Infinite,
}

impl BigNum {
    /// A whole number of a precision (512 or 64 bits).
    pub fn of_int(n: i64, precision: u16) -> Self {
        let mut number = Self::of_uint(n.unsigned_abs(), precision);
        number.negative = n < 0;
        number
    }

    /// A whole number of a precision.
    pub fn of_uint(n: u64, precision: u16) -> Self {
        Self::rounded(false, &[n], 0, false, precision)
    }

    /// A 64-bit float, with the precision of one; NaN is none.
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

    /// The number that the shortest decimal text of a float says, with full precision; NaN is none.
    pub fn of_shortest_text(n: f64) -> Option<Self> {
        /// Every number of 15 digits is the shortest text of a float.
        const SHORT: u64 = 10_u64.pow(15);
        let (magnitude, scale) = parts(n);
        let zeros = magnitude.trailing_zeros();
        let (odd, scale) = (magnitude.checked_shr(zeros).unwrap_or(0), scale + i64::from(zeros));
        // An odd number over 2^n has n decimal places: where the digits are so few, they are the text.
        let places = u32::try_from(-scale).unwrap_or(u32::MAX);
        let digits = 5_u64.checked_pow(places).and_then(|power| odd.checked_mul(power));
        if odd > 0 && n.is_finite() && digits.is_some_and(|digits| digits < SHORT) {
            return Some(Self::rounded(n.is_sign_negative(), &[odd], scale, false, FULL));
        }
        Self::parse(zmij::Buffer::new().format(n))
    }

    /// Zero, with a sign, as Go has it.
    fn zero(negative: bool, precision: u16) -> Self {
        Self { form: Form::Zero, negative, precision, exponent: 0, significand: [0; LIMBS] }
    }

    /// An infinity.
    pub fn infinity(negative: bool, precision: u16) -> Self {
        Self { form: Form::Infinite, ..Self::zero(negative, precision) }
    }

    /// `magnitude * 2^scale` and, where `sticky`, a little more, rounded to `precision` bits. Beyond the exponent's
    /// range it is zero or an infinity.
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
                Self { form: Form::Finite, negative, precision, exponent, significand: significand(&window) }
            }
            Err(_) if exponent < 0 => Self::zero(negative, precision),
            Err(_) => Self::infinity(negative, precision),
        }
    }

    /// The number at another precision.
    pub fn with_precision(self, precision: u16) -> Self {
        match self.form {
            Form::Finite if precision < self.precision => {
                Self::rounded(self.negative, &self.significand, self.scale(), false, precision)
            }
            _ => Self { precision, ..self },
        }
    }

    /// The exponent of the significand's lowest bit.
    fn scale(&self) -> i64 {
        i64::from(self.exponent) - i64::from(FULL)
    }

    /// Bits that the significand is rounded to.
    pub const fn precision(&self) -> u16 {
        self.precision
    }

    /// How many bits the significand needs: those from its highest to its lowest set bit.
    pub fn bits_needed(&self) -> u16 {
        let zeros = self.trailing_zeros();
        if self.form == Form::Finite { FULL - zeros } else { 0 }
    }

    /// How many zero bits end the significand.
    fn trailing_zeros(&self) -> u16 {
        let zeros = self.significand.iter().take_while(|limb| **limb == 0).count();
        let limb = self.significand.get(zeros).map_or(0, |limb| limb.trailing_zeros());
        u16::try_from(zeros * 64 + limb as usize).unwrap_or(FULL)
    }

    /// The whole number that this is, where it fits `i64` and its precision is 512 bits.
    pub fn as_plain_int(&self) -> Option<i64> {
        let negative_zero = self.is_zero() && self.negative;
        if self.precision == FULL && !negative_zero { self.to_i64() } else { None }
    }

    /// The whole number that this is, where it is one and fits `i64`.
    pub fn to_i64(&self) -> Option<i64> {
        let magnitude = i128::from(self.magnitude()?);
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// The whole number that this is, where it is one and fits `u64`.
    pub fn to_u64(&self) -> Option<u64> {
        self.magnitude().filter(|magnitude| !self.negative || *magnitude == 0)
    }

    /// The magnitude, where it is a whole number that fits 64 bits.
    fn magnitude(&self) -> Option<u64> {
        match self.form {
            Form::Zero => Some(0),
            Form::Infinite => None,
            Form::Finite => {
                let bits = u32::try_from(self.exponent).ok().filter(|bits| (1..=u64::BITS).contains(bits))?;
                let top = self.significand.last().copied().unwrap_or(0);
                self.is_whole().then(|| top >> (u64::BITS - bits))
            }
        }
    }

    /// Whether it is a whole number.
    pub fn is_whole(&self) -> bool {
        match self.form {
            Form::Zero => true,
            Form::Infinite => false,
            Form::Finite => self.exponent >= 1 && i32::from(self.bits_needed()) <= self.exponent,
        }
    }

    /// Whether it is no infinity.
    pub fn is_finite(&self) -> bool {
        self.form != Form::Infinite
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.form == Form::Zero
    }

    /// Whether it is below zero, or the zero with a minus sign.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The nearest 64-bit float; an infinity is `None`, and what is too large for a float is one.
    pub fn to_f64(&self) -> Option<f64> {
        let magnitude = match self.form {
            Form::Zero => 0.0,
            Form::Infinite => return None,
            Form::Finite => f64::from_bits(self.float_bits()),
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The bits of the nearest 64-bit float of the magnitude.
    fn float_bits(&self) -> u64 {
        let exponent = i64::from(self.exponent);
        // A float below 2^-1022 has the bits from there down to 2^-1074 only.
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

    /// The number without its sign.
    pub fn abs(self) -> Self {
        Self { negative: false, ..self }
    }

    /// Compares by value, whatever the precisions.
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        by_sign.then_with(|| if self.negative { other.compare_magnitude(self) } else { self.compare_magnitude(other) })
    }

    /// -1, 0 or 1.
    fn sign(&self) -> i8 {
        match (self.form, self.negative) {
            (Form::Zero, _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    /// Compares the magnitudes of two numbers of one sign.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let rank = |number: &Self| (number.form == Form::Infinite, number.exponent);
        rank(self).cmp(&rank(other)).then_with(|| limbs::compare(&self.significand, &other.significand))
    }
}

impl Neg for BigNum {
    type Output = Self;

    /// The number with the other sign; zero has one, too.
    fn neg(self) -> Self {
        Self { negative: !self.negative, ..self }
    }
}

/// The highest limbs of a window.
fn significand(window: &Window) -> [u64; LIMBS] {
    let mut significand = [0; LIMBS];
    significand.iter_mut().zip(window.iter().skip(WINDOW - LIMBS)).for_each(|(limb, source)| *limb = *source);
    significand
}
