//! Exact comparison of numbers in schemas and values.

use std::cmp::Ordering;
use std::fmt;

use dropforge_base::stdlib::bignum::BigNum;
use dropforge_value::{Data, Extended, Value};

/// A precision in bits that holds every number exactly.
const FULL: u16 = 512;

/// The precision of quotients. The bits beyond absorb the rounding of decimal fractions.
const QUOTIENT: u16 = 300;

/// A number of a schema or a value.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// An integer in the range of `i64` or `u64`.
    Whole(i128),
    /// A 64-bit float.
    Float(f64),
    /// Any other number.
    Big(BigNum),
}

impl Number {
    pub(super) fn of_data(data: &Data) -> Option<Number> {
        match data {
            Data::Int(n) => Some(Number::Whole(i128::from(*n))),
            Data::Uint(n) => Some(Number::Whole(i128::from(*n))),
            Data::Float(n) => Some(Number::Float(*n)),
            Data::Number(text) => BigNum::parse(text).map(Number::Big),
            _ => None,
        }
    }

    pub(super) fn of_value(value: Value<'_>) -> Option<Number> {
        match (value, value.extended()) {
            (Value::Int(n), _) => Some(Number::Whole(i128::from(n))),
            (Value::Uint(n), _) => Some(Number::Whole(i128::from(n))),
            (Value::Float(n), _) => Some(Number::Float(n)),
            (_, Some(Extended::Number(n))) => Some(Number::Big(*n)),
            _ => None,
        }
    }

    /// Returns the number as data, if necessary as the nearest float.
    pub(super) fn to_data(self) -> Data {
        match self {
            Number::Whole(n) => {
                i64::try_from(n).map_or_else(|_| Data::Uint(u64::try_from(n).unwrap_or(u64::MAX)), Data::Int)
            }
            Number::Float(n) => Data::Float(n),
            Number::Big(n) => Data::number(&n.to_text()).unwrap_or_default(),
        }
    }

    /// Compares two numbers exactly. `None` if one is NaN.
    pub(super) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            _ => Some(self.big()?.compare(&other.big()?)),
        }
    }

    pub(super) fn is_positive(self) -> bool {
        self.compare(Number::Whole(0)).is_some_and(Ordering::is_gt)
    }

    /// Returns `true` if the number is an integral multiple of `factor`, as both are written in decimal.
    pub(super) fn is_multiple_of(self, factor: Number) -> bool {
        if let (Number::Whole(number), Number::Whole(factor)) = (self, factor) {
            return factor != 0 && number % factor == 0;
        }
        let decimal = |number: Number| match number {
            Number::Float(n) => BigNum::of_shortest_text(n),
            number => number.big(),
        };
        let quotient = decimal(self).zip(decimal(factor)).and_then(|(number, factor)| number.div(&factor));
        quotient.is_some_and(|quotient| quotient.with_precision(QUOTIENT).is_whole())
    }

    fn big(self) -> Option<BigNum> {
        match self {
            Number::Big(n) => Some(n),
            Number::Float(n) => BigNum::of_f64(n),
            Number::Whole(n) => match u64::try_from(n) {
                Ok(n) => Some(BigNum::of_uint(n, FULL)),
                Err(_) => Some(BigNum::of_int(i64::try_from(n).ok()?, FULL)),
            },
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other).is_some_and(Ordering::is_eq)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(n) => n.fmt(f),
            Number::Float(n) => n.fmt(f),
            Number::Big(n) => f.write_str(&n.to_text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::*;

    #[test]
    fn numbers_compare_exactly() {
        let whole = |n: i128| Number::Whole(n);
        let big = |text: &str| Number::Big(BigNum::parse(text).expect(text));
        for (a, b, wanted) in [
            (whole(i128::from(u64::MAX)), Number::Float(18_446_744_073_709_551_616.0), Some(Less)),
            (Number::Float(9_007_199_254_740_992.0), whole(9_007_199_254_740_993), Some(Less)),
            (Number::Float(0.5), whole(0), Some(Greater)),
            (Number::Float(-0.5), whole(0), Some(Less)),
            (Number::Float(-0.0), whole(0), Some(Equal)),
            (Number::Float(f64::INFINITY), whole(1), Some(Greater)),
            (Number::Float(-1e300), whole(i128::from(i64::MIN)), Some(Less)),
            (Number::Float(f64::NAN), whole(1), None),
            (big("0.1"), Number::Float(0.1), Some(Less)),
            (big("18446744073709551616"), whole(i128::from(u64::MAX)), Some(Greater)),
            (big("-2.50"), Number::Float(-2.5), Some(Equal)),
            (big("1e400"), Number::Float(f64::NAN), None),
        ] {
            assert_eq!(a.compare(b), wanted, "{a:?} {b:?}");
            assert_eq!(b.compare(a), wanted.map(Ordering::reverse), "{b:?} {a:?}");
        }
    }

    #[test]
    fn multiples_are_those_of_decimals() {
        let float = |n: f64| Number::Float(n);
        for (number, factor, wanted) in [
            (float(0.3), float(0.1), true),
            (float(1.1), float(0.01), true),
            (float(0.35), float(0.1), false),
            (Number::Whole(7), float(3.5), true),
            (Number::Whole(7), Number::Whole(2), false),
            (float(1e308), float(0.5), true),
            (float(1e-7), float(1e-8), true),
            (float(4.5), Number::Whole(1), false),
        ] {
            assert_eq!(number.is_multiple_of(factor), wanted, "{number} {factor}");
        }
    }

    #[test]
    fn numbers_are_data_again() {
        for data in [Data::Int(i64::MIN), Data::Uint(u64::MAX), Data::Int(0), Data::Float(0.5)] {
            assert_eq!(Number::of_data(&data).map(Number::to_data), Some(data));
        }
    }
}
