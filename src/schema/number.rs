//! Numbers of schemas and values, compared exactly.

use std::cmp::Ordering;
use std::fmt;

use crate::stdlib::bignum::BigNum;
use crate::value::{Data, Extended, Value};

/// Bits that hold every number that is compared here.
const FULL: u16 = 512;

/// A number of a schema or a value.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// A whole number that fits 64 bits, with a sign or without.
    Whole(i128),
    /// A 64-bit float.
    Float(f64),
    /// Any other.
    Big(BigNum),
}

impl Number {
    pub(super) fn of_data(data: &Data) -> Option<Number> {
        match data {
            Data::Int(n) => Some(Number::Whole(i128::from(*n))),
            Data::Uint(n) => Some(Number::Whole(i128::from(*n))),
            Data::Float(n) => Some(Number::Float(*n)),
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

    /// As data; what has no such twin is as near as a float comes.
    pub(super) fn to_data(self) -> Data {
        match self {
            Number::Whole(n) => {
                i64::try_from(n).map_or_else(|_| Data::Uint(u64::try_from(n).unwrap_or(u64::MAX)), Data::Int)
            }
            Number::Float(n) => Data::Float(n),
            Number::Big(n) => n.to_f64().map_or(Data::Null, Data::Float),
        }
    }

    /// Which is greater, exactly; `None` where one is not a number.
    pub(super) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            _ => Some(self.big()?.compare(&other.big()?)),
        }
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
    fn numbers_are_data_again() {
        for data in [Data::Int(i64::MIN), Data::Uint(u64::MAX), Data::Int(0), Data::Float(0.5)] {
            assert_eq!(Number::of_data(&data).map(Number::to_data), Some(data));
        }
    }
}
