//! Decimal arithmetic on floats: each float is the shortest decimal that reads back as it, so that 0.1 + 0.2 is 0.3.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// The digits behind the point of a quotient.
const QUOTIENT_DIGITS: i64 = 16;

/// A decimal: `digits * 10^exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    digits: BigInt,
    exponent: i64,
}

impl Decimal {
    /// Returns the shortest decimal that reads back as `number`. `None` if it is not finite.
    pub fn of_float(number: f64) -> Option<Self> {
        let text = number.is_finite().then(|| format!("{number:e}"))?;
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { digits, exponent: exponent.parse::<i64>().ok()? - i64::try_from(fraction.len()).ok()? })
    }

    /// Returns the nearest float; an infinity if the number is too large.
    pub fn to_float(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// Returns the size in digits, roughly, as a measure of the cost of an operation.
    pub fn size(&self) -> u64 {
        self.digits.bits() / 3 + 1
    }

    /// Returns the sum.
    pub fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { digits: self.at(exponent) + other.at(exponent), exponent }
    }

    /// Returns the difference.
    pub fn minus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { digits: self.at(exponent) - other.at(exponent), exponent }
    }

    /// Returns the product.
    pub fn times(&self, other: &Self) -> Self {
        Self { digits: &self.digits * &other.digits, exponent: self.exponent + other.exponent }
    }

    /// Returns the quotient, rounded to 16 digits behind the point, half away from zero. `None` for a division by zero.
    pub fn over(&self, other: &Self) -> Option<Self> {
        if other.digits.sign() == Sign::NoSign {
            return None;
        }
        let shift = self.exponent - other.exponent + QUOTIENT_DIGITS;
        let (dividend, divisor) = match shift.cmp(&0) {
            Ordering::Less => (self.digits.clone(), &other.digits * power_of_ten(-shift)),
            _ => (&self.digits * power_of_ten(shift), other.digits.clone()),
        };
        let (quotient, rest) = (&dividend / &divisor, &dividend % &divisor);
        let away = if (dividend.sign() == Sign::Minus) == (divisor.sign() == Sign::Minus) { 1 } else { -1 };
        let rounds = (rest.magnitude() * 2_u8) >= *divisor.magnitude();
        let digits = if rounds { quotient + away } else { quotient };
        Some(Self { digits, exponent: -QUOTIENT_DIGITS })
    }

    /// Returns the digits at a lower exponent.
    fn at(&self, exponent: i64) -> BigInt {
        &self.digits * power_of_ten(self.exponent - exponent)
    }
}

fn power_of_ten(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: f64) -> Decimal {
        Decimal::of_float(number).unwrap()
    }

    #[test]
    fn sums_are_those_of_paper() {
        assert_eq!(of(0.1).plus(&of(0.2)).to_float(), 0.3);
        assert_eq!(of(0.3).minus(&of(0.1)).to_float(), 0.2);
        assert_eq!(of(1e300).plus(&of(1e-300)).to_float(), 1e300);
        assert_eq!(of(1.5).times(&of(-1.5)).to_float(), -2.25);
        assert_eq!(of(1e300).times(&of(1e300)).to_float(), f64::INFINITY);
        assert_eq!(of(-0.0).plus(&of(0.0)).to_float(), 0.0);
        assert_eq!(Decimal::of_float(f64::NAN), None);
    }

    #[test]
    fn quotients_have_sixteen_digits() {
        assert_eq!(of(1.0).over(&of(3.0)).unwrap().to_float(), 0.333_333_333_333_333_3);
        assert_eq!(of(-2.0).over(&of(3.0)).unwrap().to_float(), -0.666_666_666_666_666_7);
        assert_eq!(of(1.0).over(&of(1e16)).unwrap().to_float(), 1e-16);
        assert_eq!(of(1.0).over(&of(2e16)).unwrap().to_float(), 1e-16);
        assert_eq!(of(1.0).over(&of(3e16)).unwrap().to_float(), 0.0);
        assert_eq!(of(1e300).over(&of(1e-5)).unwrap().to_float(), 1e305);
        assert_eq!(of(1.0).over(&of(0.0)), None);
    }
}
