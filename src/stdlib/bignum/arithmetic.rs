//! Sum, difference, product, quotient, remainder; to whole numbers.

use super::limbs;
use super::{BigNum, FULL, Form, LIMBS};

/// Limbs of an exact sum: a significand, room for its bits that the larger operand does not have, and a carry.
const SUM: usize = LIMBS + 3;

/// Limbs that a dividend is shifted up, so that a quotient has more bits than any precision.
const QUOTIENT: usize = LIMBS + 1;

impl BigNum {
    /// The sum; infinities of two signs have none.
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
        // What is lost lies far below every bit that rounding looks at singly: one bit stands for it.
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

    /// The difference; infinities of one sign have none.
    pub fn sub(&self, other: &Self) -> Option<Self> {
        self.add(&-*other)
    }

    /// The product, at the precision that it needs where that is more than the operands have; zero times an infinity
    /// has none.
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

    /// The quotient; what is not zero, divided by zero, is an infinity. Zero by zero, and an infinity by an infinity,
    /// have none.
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

    /// The remainder of a division toward zero, with the sign of the dividend; of a division by zero, the dividend.
    /// What the quotient's rounding loses, the remainder has, as in the reference. With an infinity it is the product.
    pub fn rem(&self, other: &Self) -> Option<Self> {
        if !self.is_finite() || !other.is_finite() {
            return self.mul(other);
        }
        if other.is_zero() {
            return Some(*self);
        }
        let quotient = self.div(other)?.truncate().with_precision(self.precision);
        let product = other.product(&quotient, self.precision)?;
        self.sub(&product)
    }

    /// The whole number toward zero.
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

    /// The largest whole number that is not above it.
    pub fn floor(&self) -> Self {
        self.whole_beside(true)
    }

    /// The smallest whole number that is not below it.
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
