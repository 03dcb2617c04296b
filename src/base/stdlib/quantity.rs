//! Kubernetes resource quantities: a decimal number and a suffix (`250m`, `1.5Gi`, `3e6`).
//!
//! This is our own implementation because no crate has the rounding, the canonical form and the messages of Kubernetes.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;

/// Maximum number of digits, including while two numbers are brought to a common exponent.
pub(crate) const MOST_DIGITS: usize = 4096;

/// The smallest exponent. Smaller fractions are rounded away from zero.
const LEAST_EXPONENT: i32 = -9;

/// Decimal suffixes in steps of 1,000, from 10^-9.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/// Binary suffixes in steps of 1,024, from 2^10.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The maximum number of decimal digits of a short quantity.
const SHORT_DIGITS: usize = 18;

/// A quantity: `digits * 10^exponent` and its notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    digits: BigInt,
    exponent: i32,
    style: Style,
    /// Set if Kubernetes has the quantity as a 64-bit integer and an exponent. Only such a quantity is an integer there.
    short: bool,
}

/// The notation of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `12M`
    Decimal,
    /// `12Mi`
    Binary,
    /// `12e6`
    Exponent,
}

/// The reasons that a text is not a quantity.
const FORM: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMBER: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";
const DIGITS: &str = "the quantity has more than 4096 digits";

impl Quantity {
    /// Parses a quantity. Binary quantities are capped at 2^63-1; between 0 and 1 they become decimal.
    ///
    /// # Errors
    /// The reason that the text is not a quantity.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() || text.len() > MOST_DIGITS {
            return Err(if text.is_empty() { FORM } else { DIGITS });
        }
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or("")),
            Some(b'+') => (false, text.get(1..).unwrap_or("")),
            _ => (false, text),
        };
        let (whole, rest) = leading_digits(unsigned);
        let (part, suffix) = rest.strip_prefix('.').map_or(("", rest), leading_digits);
        let (style, power) = style_of(suffix)?;
        let whole_digits = whole.trim_start_matches('0');
        let digits = digits_of(negative, whole_digits, part)?;
        let places = i32::try_from(part.len()).map_err(|_| DIGITS)?;
        let length = whole_digits.len().max(1);
        let (digits, exponent, short) = match style {
            Style::Binary => {
                let room = 14_i32.saturating_sub(length as i32) - power * 3 / 10;
                (digits << power, -places, part.is_empty() && room >= 0)
            }
            _ => {
                let exponent = power.checked_sub(places).ok_or(SUFFIX)?;
                (digits, exponent, length + part.len() <= SHORT_DIGITS && exponent >= LEAST_EXPONENT)
            }
        };
        let quantity = Self { digits, exponent, style, short };
        match quantity {
            quantity if short && i64::try_from(&quantity.digits).is_ok() => Ok(quantity),
            _ if whole.is_empty() && part.is_empty() => Err(NUMBER),
            quantity if style == Style::Binary => Ok(Self { short: false, ..quantity }.rounded().capped()),
            quantity => Ok(Self { short: false, ..quantity }.rounded()),
        }
    }

    /// Parses the text of a quantity that has a [form](Self::form).
    ///
    /// # Errors
    /// The reason that the text is not a quantity.
    pub fn of_form(text: &str, form: u64) -> Result<Self, &'static str> {
        let quantity = Self::parse(text)?;
        let style = match form & 3 {
            1 => Style::Decimal,
            2 => Style::Binary,
            3 => Style::Exponent,
            _ => return Ok(quantity),
        };
        let exponent = ((form >> 3) as u32).cast_signed();
        let digits = if quantity.exponent >= exponent {
            quantity.at(exponent)?
        } else {
            let unit = ten_to(quantity.exponent.abs_diff(exponent).min(MOST_DIGITS as u32));
            exact_quotient(&quantity.digits, &unit).ok_or(DIGITS)?
        };
        Ok(Self { digits, exponent, style, short: form & 4 != 0 })
    }

    /// Returns the notation, the exponent and the length as a number other than 0. Together with the text they are the
    /// quantity.
    pub fn form(&self) -> u64 {
        let style = match self.style {
            Style::Decimal => 1,
            Style::Binary => 2,
            Style::Exponent => 3,
        };
        u64::from(self.exponent.cast_unsigned()) << 3 | u64::from(self.short) << 2 | style
    }

    /// Returns an integer in exponent notation.
    pub fn of_int(n: i64) -> Self {
        Self { digits: n.into(), exponent: 0, style: Style::Exponent, short: true }
    }

    /// Rounds away from zero to a billionth.
    fn rounded(self) -> Self {
        if self.sign() == 0 {
            return Self { exponent: self.exponent.max(LEAST_EXPONENT), ..self };
        }
        if self.exponent >= LEAST_EXPONENT {
            let digits = self.at(LEAST_EXPONENT);
            return digits.map_or(self.clone(), |digits| Self { digits, exponent: LEAST_EXPONENT, ..self });
        }
        let away = self.sign();
        let down = self.exponent.abs_diff(LEAST_EXPONENT);
        if down as usize > MOST_DIGITS {
            return Self { digits: away.into(), exponent: LEAST_EXPONENT, ..self };
        }
        let unit = ten_to(down);
        let cut = &self.digits / &unit;
        let lost = &cut * unit != self.digits;
        Self { digits: if lost { cut + away } else { cut }, exponent: LEAST_EXPONENT, ..self }
    }

    fn capped(self) -> Self {
        let (most, sign) = (Self::of_int(i64::MAX), self.sign());
        let size = Self { digits: &self.digits * sign, ..self };
        if size.cmp_value(&most) == Ordering::Greater {
            return Self { digits: most.digits * sign, exponent: 0, style: Style::Binary, short: false };
        }
        let small = sign != 0 && size.cmp_value(&Self::of_int(1)) == Ordering::Less;
        Self { digits: size.digits * sign, style: if small { Style::Decimal } else { Style::Binary }, ..size }
    }

    /// 1, 0 or -1.
    pub fn sign(&self) -> i64 {
        match self.digits.sign() {
            num_bigint::Sign::Minus => -1,
            num_bigint::Sign::NoSign => 0,
            num_bigint::Sign::Plus => 1,
        }
    }

    /// Compares by value.
    pub fn cmp_value(&self, other: &Self) -> Ordering {
        let (sign, other_sign) = (self.sign(), other.sign());
        if sign != other_sign || sign == 0 {
            return sign.cmp(&other_sign);
        }
        let by_size = self.place().cmp(&other.place());
        // If the first digits have the same place value, the exponents differ by less than the number of digits.
        let order = if by_size.is_ne() { by_size } else { self.cmp_at_one_place(other) };
        if sign < 0 && by_size.is_ne() { order.reverse() } else { order }
    }

    /// Returns the place value of the first digit.
    fn place(&self) -> i64 {
        decimal_digits(&self.digits) + i64::from(self.exponent)
    }

    fn cmp_at_one_place(&self, other: &Self) -> Ordering {
        let exponent = self.exponent.min(other.exponent);
        let small = |it: &Self| {
            let unit = 10_i128.checked_pow(it.exponent.abs_diff(exponent))?;
            i128::from(small(&it.digits)?).checked_mul(unit)
        };
        if let (Some(a), Some(b)) = (small(self), small(other)) {
            return a.cmp(&b);
        }
        let scaled = |it: &Self| &it.digits * ten_to(it.exponent.abs_diff(exponent));
        scaled(self).cmp(&scaled(other))
    }

    /// Adds a quantity. The sum has the notation of this quantity, or of the other one if this is 0.
    ///
    /// # Errors
    /// The sum has too many digits.
    pub fn add(&self, other: &Self) -> Result<Self, &'static str> {
        let style = if self.sign() == 0 { other.style } else { self.style };
        let short = self.short && other.short;
        if self.sign() == 0 || other.sign() == 0 {
            let sum = if other.sign() == 0 { self } else { other };
            return Ok(Self { style, short, ..sum.clone() });
        }
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.at(exponent)?, other.at(exponent)?);
        let fits = |number: &BigInt| i64::try_from(number).is_ok();
        let short = short && fits(&a) && fits(&b) && fits(&(&a + &b));
        Ok(Self { digits: a + b, exponent, style, short })
    }

    /// Subtracts a quantity, with the notation of [`Quantity::add`].
    ///
    /// # Errors
    /// The difference has too many digits.
    pub fn sub(&self, other: &Self) -> Result<Self, &'static str> {
        self.add(&Self { digits: -&other.digits, ..other.clone() })
    }

    /// Returns the digits at a smaller exponent.
    fn at(&self, exponent: i32) -> Result<BigInt, &'static str> {
        let more = self.exponent.abs_diff(exponent);
        if decimal_digits(&self.digits).saturating_add(more.into()) > MOST_DIGITS as i64 {
            return Err(DIGITS);
        }
        Ok(if more == 0 { self.digits.clone() } else { &self.digits * ten_to(more) })
    }

    /// Returns the value as an `i64` where Kubernetes does: if it is short, an integer in that range, and written without a
    /// fraction.
    pub fn as_int(&self) -> Option<i64> {
        let written_whole = self.short && self.exponent >= 0;
        self.whole().filter(|_| written_whole)
    }

    /// Returns the value as an `i64`, if it is an integer in that range.
    fn whole(&self) -> Option<i64> {
        if self.sign() == 0 {
            return Some(0);
        }
        // A nonzero 64-bit integer has fewer trailing zeros.
        let power = self.exponent.unsigned_abs();
        let unit = ten_to(if power <= 64 { power } else { return None });
        let whole = if self.exponent >= 0 { &self.digits * unit } else { exact_quotient(&self.digits, &unit)? };
        i64::try_from(whole).ok()
    }

    /// Returns the value as a 64-bit float. The digits and the power of ten are rounded before they are multiplied, as in
    /// Kubernetes.
    pub fn as_float(&self) -> f64 {
        let float = |text: String| text.parse().unwrap_or(f64::INFINITY);
        match self.exponent {
            _ if self.sign() == 0 => 0.0,
            0 => float(self.digits.to_string()),
            exponent => float(self.digits.to_string()) * float(format!("1e{exponent}")),
        }
    }

    /// Returns the digits without trailing zeros, and an exponent that is a multiple of 3.
    fn by_thousands(&self) -> (BigInt, i32) {
        let (digits, zeros) = without_zeros(&self.digits);
        let exponent = self.exponent.saturating_add(i32::try_from(zeros).unwrap_or(i32::MAX));
        let down = exponent.rem_euclid(3);
        (digits * 10_i32.pow(down.unsigned_abs()), exponent - down)
    }
}

/// Formats the canonical text, with the largest suffix that leaves an integer. Binary quantities that are fractions or
/// below 1,024 become decimal.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sign() == 0 {
            return f.write_str("0");
        }
        if self.style == Style::Binary
            && let Some(whole) = self.whole().filter(|n| n.unsigned_abs() >= 1024)
        {
            let times = (whole.trailing_zeros() / 10).min(BINARY.len() as u32);
            let suffix = times.checked_sub(1).and_then(|at| BINARY.get(at as usize)).unwrap_or(&"");
            return write!(f, "{}{suffix}", whole >> (times * 10));
        }
        let (digits, exponent) = self.by_thousands();
        if self.style == Style::Exponent {
            return if exponent == 0 { write!(f, "{digits}") } else { write!(f, "{digits}e{exponent}") };
        }
        let place = usize::try_from(exponent / 3 + 3).unwrap_or(0);
        match DECIMAL.get(place) {
            Some(suffix) => write!(f, "{digits}{suffix}"),
            None => write!(f, "{}E", digits * ten_to(exponent.abs_diff(18))),
        }
    }
}

/// Splits off leading digits.
fn leading_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Returns the notation of a suffix, and its power of 10 or, for a binary suffix, of 2.
fn style_of(suffix: &str) -> Result<(Style, i32), &'static str> {
    if let Some(at) = DECIMAL.iter().position(|known| *known == suffix) {
        return Ok((Style::Decimal, at as i32 * 3 + LEAST_EXPONENT));
    }
    if let Some(at) = BINARY.iter().position(|known| *known == suffix) {
        return Ok((Style::Binary, (at as i32 + 1) * 10));
    }
    let power = suffix.strip_prefix(['e', 'E']).ok_or_else(|| malformed(suffix))?;
    power.parse().map(|power| (Style::Exponent, power)).map_err(|_| malformed(suffix))
}

/// Returns the error of an invalid suffix: unknown or malformed.
fn malformed(suffix: &str) -> &'static str {
    let rest = suffix.trim_start_matches(['e', 'E', 'i', 'n', 'u', 'm', 'k', 'K', 'M', 'G', 'T', 'P']);
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    if rest.bytes().all(|byte| byte.is_ascii_digit()) { SUFFIX } else { FORM }
}

fn ten_to(power: u32) -> BigInt {
    BigInt::from(10).pow(power)
}

fn decimal_digits(number: &BigInt) -> i64 {
    match small(number) {
        Some(n) => i64::from(n.unsigned_abs().checked_ilog10().unwrap_or(0)) + 1,
        None => number.magnitude().to_string().len() as i64,
    }
}

/// Returns a number of 64 bits. Most quantities are such, and formatting and parsing big numbers is slow.
fn small(number: &BigInt) -> Option<i64> {
    i64::try_from(number).ok()
}

/// Parses the digits before and after the point as one number.
fn digits_of(negative: bool, whole: &str, part: &str) -> Result<BigInt, &'static str> {
    if whole.len() + part.len() <= SHORT_DIGITS {
        let n = whole.bytes().chain(part.bytes()).fold(0, |n: i64, digit| n * 10 + i64::from(digit - b'0'));
        return Ok(BigInt::from(if negative { -n } else { n }));
    }
    [if negative { "-" } else { "" }, "0", whole, part].concat().parse().map_err(|_| FORM)
}

/// Removes trailing zeros. Returns their number as well. 0 stays.
fn without_zeros(digits: &BigInt) -> (BigInt, usize) {
    if let Some(mut n) = small(digits).filter(|n| *n != 0) {
        let mut zeros = 0;
        while n % 10 == 0 {
            (n, zeros) = (n / 10, zeros + 1);
        }
        return (n.into(), zeros);
    }
    let text = digits.to_string();
    let zeros = text.len() - text.trim_end_matches('0').len();
    (text.get(..text.len() - zeros).and_then(|text| text.parse().ok()).unwrap_or(BigInt::ZERO), zeros)
}

fn exact_quotient(number: &BigInt, unit: &BigInt) -> Option<BigInt> {
    let quotient = number / unit;
    (&quotient * unit == *number).then_some(quotient)
}

#[cfg(test)]
mod tests;
