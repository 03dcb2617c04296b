//! Arithmetic: each result is computed exactly, or with more bits than a precision has, and rounded once.

use num_bigint::BigUint;

use super::{BigNum, FULL, NumberClass};

/// The distance of exponents from which the smaller operand of a sum does not change the larger one.
const FAR: i64 = FULL as i64 + 3;

/// The number of bits by which a quotient is longer than any precision.
const SPARE: u64 = 64;

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
        if i64::from(large.exponent) - i64::from(small.exponent) >= FAR {
            return Self { precision, ..*large };
        }
        let ((mut sum, high), (mut low, lowest)) = (large.natural(), small.natural());
        let scale = high.min(lowest);
        sum <<= high - scale;
        low <<= lowest - scale;
        if large.negative == small.negative {
            sum += low;
        } else {
            sum -= low;
        }
        let negative = large.negative && sum.bits() > 0;
        Self::rounded(negative, &sum, scale, false, precision)
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
                let ((a, low), (b, lower)) = (self.natural(), other.natural());
                Some(Self::rounded(negative, &(a * b), low + lower, false, precision))
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
                Some(quotient(negative, self.natural(), other.natural(), precision))
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
                let (magnitude, scale) = self.natural();
                let fraction = scale.min(0);
                let whole = Self::rounded(self.negative, &(magnitude >> -fraction), scale - fraction, false, FULL);
                Self { precision: self.precision, ..whole }
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

/// Divides two naturals, each with the exponent of its lowest bit, and rounds.
pub(super) fn quotient(negative: bool, (a, high): (BigUint, i64), (b, low): (BigUint, i64), precision: u16) -> BigNum {
    let shift = (b.bits() + u64::from(FULL) + SPARE).saturating_sub(a.bits());
    let dividend = a << shift;
    let quotient = &dividend / &b;
    let rest = dividend != &quotient * b;
    BigNum::rounded(negative, &quotient, high - low - shift as i64, rest, precision)
}
