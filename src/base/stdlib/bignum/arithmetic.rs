//! Arithmetic and rounding to integers.

use super::{BigNum, FULL, Form, LIMBS, limbs};

/// The number of limbs of a sum: a significand, the lower bits of the smaller operand, and a carry.
const SUM: usize = LIMBS + 3;

/// The number of limbs by which a dividend is shifted, so that the quotient has more bits than any precision.
const QUOTIENT: usize = LIMBS + 1;

impl BigNum {
    /// Adds. `None` for infinities of opposite signs.
    pub fn add(&self, other: &Self) -> Option<Self> {
        let precision = self.precision.max(other.precision);
        match (self.form, other.form) {
            (Form::Infinite, Form::Infinite) => (self.negative == other.negative).then_some(*self),
            (Form::Infinite, _) => Some(Self { precision, ..*self }),
            (_, Form::Infinite) => Some(Self { precision, ..*other }),
            (Form::Zero, Form::Zero) => Some(Self::zero(self.negative && other.negative, precision)),
            (_, Form::Zero) => Some(Self { precision, ..*self }),
            (Form::Zero, _) => Some(Self { precision, ..*other }),
            (Form::Finite, Form::Finite) => Some(self.add_finite(other, precision)),
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
            (Form::Finite, Form::Finite) => {
                let mut product = [0; 2 * LIMBS];
                limbs::mul_into(&mut product, &self.significand, &other.significand);
                Some(Self::rounded(negative, &product, self.scale() + other.scale(), false, precision))
            }
            (Form::Zero, Form::Infinite) | (Form::Infinite, Form::Zero) => None,
            (Form::Infinite, _) | (_, Form::Infinite) => Some(Self::infinity(negative, precision)),
            _ => Some(Self::zero(negative, precision)),
        }
    }

    /// Divides. A nonzero number divided by zero is infinite. `None` for zero by zero and infinity by infinity.
    pub fn div(&self, other: &Self) -> Option<Self> {
        let negative = self.negative != other.negative;
        let precision = self.precision.max(other.precision);
        match (self.form, other.form) {
            (Form::Finite, Form::Finite) => {
                let mut dividend = [0; LIMBS + QUOTIENT];
                dividend.iter_mut().skip(QUOTIENT).zip(self.significand).for_each(|(to, from)| *to = from);
                let (quotient, rest) = limbs::divide(&dividend, &other.significand);
                let scale = self.scale() - other.scale() - (QUOTIENT * 64) as i64;
                Some(Self::rounded(negative, &quotient, scale, rest, precision))
            }
            (Form::Zero, Form::Zero) | (Form::Infinite, Form::Infinite) => None,
            (Form::Zero, _) | (_, Form::Infinite) => Some(Self::zero(negative, precision)),
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
            Form::Finite if self.exponent <= 0 => Self::zero(self.negative, self.precision),
            Form::Finite => {
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
