//! Lenient number parsing, two notations of floats, rounding, and decimal arithmetic on floats.

use std::cmp::Ordering;
use std::fmt::{self, Write};

use num_bigint::{BigInt, Sign};

/// The bases that [`int_of_text`] reads.
pub const BASES: std::ops::RangeInclusive<u32> = 2..=36;

/// Parses an integer in `base`, which is one of [`BASES`].
///
/// Surrounding white space is ignored, and so are prefixes `0b`, `0o` and `0x` (any number of them) that match `base`.
/// Text with a decimal point is parsed as a float, truncated, and clamped to `i64`.
///
/// `int_of_text(" 0xff ", 16)` is 255, `int_of_text("3.9", 10)` is 3, `int_of_text("1e3", 10)` is none.
pub fn int_of_text(text: &str, base: u32) -> Option<i64> {
    if !BASES.contains(&base) {
        return None;
    }
    let text = text.trim();
    let digits = match base {
        2 => text.trim_start_matches("0b"),
        8 => text.trim_start_matches("0o"),
        16 => text.trim_start_matches("0x"),
        _ => text,
    };
    match i64::from_str_radix(digits, base) {
        Ok(number) => Some(number),
        Err(_) if digits.contains('.') => digits.parse::<f64>().ok().map(|float| float as i64),
        Err(_) => None,
    }
}

/// Parses a float like Rust (including `inf`, `nan`, `1e5`, `.5`), ignoring surrounding white space.
pub fn float_of_text(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// Appends the text of [`with_plain_float`].
pub fn write_plain_float(number: f64, out: &mut impl Write) -> fmt::Result {
    with_plain_float(number, |text| out.write_str(text))
}

/// Numbers that the printer writes without an exponent, and with a redundant `.0` only if they are whole. There are more.
const PLAIN: std::ops::Range<f64> = 1e-3..1e15;

/// Passes the shortest text that parses back to `number` to `write`, without an exponent or a redundant `.0`: `1`, `-0`,
/// `0.5`, `1000000000000000000000`.
#[inline]
pub fn with_plain_float<R>(number: f64, write: impl FnOnce(&str) -> R) -> R {
    if !number.is_finite() {
        return write(&number.to_string());
    }
    // Digits of whole numbers that floats represent exactly. Minus zero is not one of them.
    let whole = number as i64;
    if whole.unsigned_abs() < 1 << 53 && (whole as f64).to_bits() == number.to_bits() {
        return write(itoa::Buffer::new().format(whole));
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(number);
    // Two texts can be equally short and near, and the two printers may differ.
    let may_differ = text.len() > 15 && may_tie(number);
    if !may_differ && PLAIN.contains(&number.abs()) {
        return write(text);
    }
    if may_differ || text.contains('e') {
        return write(&number.to_string());
    }
    write(text.strip_suffix(".0").unwrap_or(text))
}

/// Returns `true` if a finite number may lie in the middle between two texts of at most 17 digits. Then it has at most 18
/// digits itself: it is a whole number, or one of few binary digits `n` of which `f` are after the point, and has as
/// many decimal digits as `n * 5^f`.
fn may_tie(number: f64) -> bool {
    const MOST: u64 = 1_000_000_000_000_000_000;
    let bits = number.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7FF, bits & ((1 << 52) - 1));
    if exponent == 0 {
        return true;
    }
    let mantissa = fraction | 1 << 52;
    let zeros = mantissa.trailing_zeros();
    let behind_point = 1075_u64.saturating_sub(exponent + u64::from(zeros));
    if behind_point > u64::from(MOST.ilog(5)) {
        return false;
    }
    let power = u32::try_from(behind_point).ok().and_then(|f| 5_u64.checked_pow(f));
    power.and_then(|power| power.checked_mul(mantissa >> zeros)).is_some_and(|digits| digits < MOST)
}

/// Appends the JSON text of `number`: `1.0`, `-0.0`, `1e+21`, or `null` if it is not finite.
pub fn write_json_float(number: f64, out: &mut impl Write) -> fmt::Result {
    if !number.is_finite() {
        return out.write_str("null");
    }
    out.write_str(zmij::Buffer::new().format_finite(number))
}

/// The direction of [`round`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties away from zero.
    Common,
    /// Up.
    Ceil,
    /// Down.
    Floor,
}

impl Rounding {
    /// All names, for messages.
    pub const NAMES: [&'static str; 3] = ["common", "ceil", "floor"];

    /// Returns the direction called `name`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "common" => Some(Self::Common),
            "ceil" => Some(Self::Ceil),
            "floor" => Some(Self::Floor),
            _ => None,
        }
    }
}

/// Rounds to `precision` digits after the decimal point, or before it if negative. Scaling uses floats, so the result is
/// not finite if the precision exceeds their range.
///
/// `round(2.45, Rounding::Common, 1)` is 2.5, `round(-2.5, Rounding::Common, 0)` is -3.
pub fn round(number: f64, method: Rounding, precision: i32) -> f64 {
    let whole = |number: f64| match method {
        Rounding::Common => number.round(),
        Rounding::Ceil => number.ceil(),
        Rounding::Floor => number.floor(),
    };
    if precision == 0 {
        return whole(number);
    }
    let scale = 10.0_f64.powi(precision);
    whole(scale * number) / scale
}

/// Computes `base` to the power of `exponent` by squaring, with the rounding errors of the reference. NaN for a negative
/// base with a fractional exponent.
pub fn power(base: f64, exponent: f64) -> f64 {
    let plain = exponent == 0.0 || base == 1.0 || exponent == 1.0;
    if plain || base == 0.0 || !base.is_finite() || !exponent.is_finite() || exponent.abs() >= 9.0e18 {
        return base.powf(exponent);
    }
    if exponent.abs() == 0.5 {
        return if exponent > 0.0 { base.sqrt() } else { 1.0 / base.sqrt() };
    }
    let (mut whole, mut fraction) = (exponent.abs().trunc(), exponent.abs().fract());
    if fraction != 0.0 && base < 0.0 {
        return f64::NAN;
    }
    let (mut product, mut scale) = (1.0, 0_i64);
    if fraction != 0.0 {
        if fraction > 0.5 {
            (fraction, whole) = (fraction - 1.0, whole + 1.0);
        }
        product = (fraction * logarithm(base)).exp();
    }
    let (mut square, mut square_scale) = split(base);
    let mut left = whole as u64;
    while left != 0 {
        if square_scale.abs() > 1 << 12 {
            scale += square_scale;
            break;
        }
        if left & 1 == 1 {
            product *= square;
            scale += square_scale;
        }
        (square, square_scale) = (square * square, square_scale * 2);
        if square < 0.5 {
            (square, square_scale) = (square * 2.0, square_scale - 1);
        }
        left >>= 1;
    }
    if exponent < 0.0 { scaled(1.0 / product, -scale) } else { scaled(product, scale) }
}

/// Computes the natural logarithm by a series, with the rounding errors of the reference: `x = 2^k * (1 + f)`, and
/// `ln(1 + f)` is a polynomial in `f / (2 + f)`.
pub fn logarithm(x: f64) -> f64 {
    /// `ln 2` as a high part, whose product with any exponent is exact, and a low part.
    const LN2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);
    if !x.is_finite() || x <= 0.0 {
        return x.ln();
    }
    let (mut fraction, mut exponent) = split(x);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        (fraction, exponent) = (fraction * 2.0, exponent - 1);
    }
    let (f, k) = (fraction - 1.0, exponent as f64);
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2
        * (6.666_666_666_666_735e-1
            + s4 * (2.857_142_874_366_239e-1 + s4 * (1.818_357_216_161_805e-1 + s4 * 1.479_819_860_511_658_6e-1)));
    let even = s4 * (3.999_999_999_940_942e-1 + s4 * (2.222_219_843_214_978_4e-1 + s4 * 1.531_383_769_920_937_3e-1));
    let half_square = 0.5 * f * f;
    k * LN2.0 - ((half_square - (s * (half_square + (odd + even)) + k * LN2.1)) - f)
}

/// Splits a nonzero float into a fraction in `[0.5, 1)` and a power of two.
fn split(float: f64) -> (f64, i64) {
    const EXPONENT: u64 = 0x7FF << 52;
    let (float, small) = if float.abs() < f64::MIN_POSITIVE { (float * 2f64.powi(64), 64) } else { (float, 0) };
    let bits = float.to_bits();
    let exponent = i64::try_from((bits & EXPONENT) >> 52).unwrap_or(0) - 1022;
    (f64::from_bits(bits & !EXPONENT | 1022 << 52), exponent - small)
}

/// Multiplies by a power of two, in steps within the range of floats.
fn scaled(float: f64, scale: i64) -> f64 {
    let mut left = i32::try_from(scale.clamp(-5_000, 5_000)).unwrap_or(0);
    let mut float = float;
    while left != 0 && float != 0.0 && float.is_finite() {
        let step = left.clamp(-1000, 1000);
        float *= 2f64.powi(step);
        left -= step;
    }
    float
}

/// Returns the remainder of a division, as `%`.
#[inline]
pub fn remainder(a: f64, b: f64) -> f64 {
    // Integers that floats represent exactly are divided much faster.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let (x, y) = (a as i64, b as i64);
    let whole = x as f64 == a && y as f64 == b && a.abs() <= EXACT && b.abs() <= EXACT;
    if whole && x > 0 && y > 0 { (x % y) as f64 } else { a % b }
}

/// The digits after the point of a quotient.
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

    /// Returns the quotient, rounded to 16 digits after the point, half away from zero. `None` for a division by zero.
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

    #[test]
    fn whole_numbers_in_many_bases() {
        assert_eq!(int_of_text(" 42 ", 10), Some(42));
        assert_eq!(int_of_text("+7", 10), Some(7));
        assert_eq!(int_of_text("-0", 10), Some(0));
        assert_eq!(int_of_text("0b0b101", 2), Some(5));
        assert_eq!(int_of_text("0o17", 8), Some(15));
        assert_eq!(int_of_text("0xFf", 16), Some(255));
        assert_eq!(int_of_text("zz", 36), Some(1295));
        assert_eq!(int_of_text("0xff", 10), None);
        assert_eq!(int_of_text("", 10), None);
        assert_eq!(int_of_text("9223372036854775807", 10), Some(i64::MAX));
        assert_eq!(int_of_text("9223372036854775808", 10), None);
    }

    #[test]
    fn a_decimal_point_makes_it_a_float_first() {
        assert_eq!(int_of_text("3.9", 10), Some(3));
        assert_eq!(int_of_text("-3.9", 10), Some(-3));
        assert_eq!(int_of_text("1.0e30", 10), Some(i64::MAX));
        assert_eq!(int_of_text("1e3", 10), None);
        assert_eq!(int_of_text("1.2.3", 10), None);
        assert_eq!(int_of_text("1.5", 2), Some(1));
    }

    #[test]
    fn a_base_that_does_not_exist_reads_nothing() {
        for base in [0, 1, 37, 99, u32::MAX] {
            assert_eq!(int_of_text("1", base), None);
        }
    }

    #[test]
    fn floats_read_as_rust_reads_them() {
        assert_eq!(float_of_text(" 1.5 "), Some(1.5));
        assert_eq!(float_of_text("1e5"), Some(100_000.0));
        assert_eq!(float_of_text("-inf"), Some(f64::NEG_INFINITY));
        assert_eq!(float_of_text("1_000"), None);
    }

    fn texts(number: f64) -> (String, String) {
        let (mut plain, mut json) = (String::new(), String::new());
        write_plain_float(number, &mut plain).unwrap();
        write_json_float(number, &mut json).unwrap();
        (plain, json)
    }

    #[test]
    fn the_two_texts_of_a_float() {
        assert_eq!(texts(1.0), ("1".into(), "1.0".into()));
        assert_eq!(texts(-0.0), ("-0".into(), "-0.0".into()));
        assert_eq!(texts(0.1), ("0.1".into(), "0.1".into()));
        assert_eq!(texts(1e21), ("1000000000000000000000".into(), "1e+21".into()));
        assert_eq!(texts(1e-7), ("0.0000001".into(), "1e-7".into()));
        assert_eq!(texts(1e-3), ("0.001".into(), "0.001".into()));
        assert_eq!(texts(-999_999_999_999_999.9), ("-999999999999999.9".into(), "-999999999999999.9".into()));
        assert_eq!(texts(5_336_656_867_654_826.0 / 8.0), ("667082108456853.3".into(), "667082108456853.2".into()));
        assert_eq!(texts(f64::NAN), ("NaN".into(), "null".into()));
        assert_eq!(texts(f64::INFINITY), ("inf".into(), "null".into()));
    }

    #[test]
    fn the_two_texts_agree_with_the_standard_library_and_the_json_writer() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let short = (bits >> 40) as f64;
            let numbers = [f64::from_bits(bits), short / 8.0, (bits >> 20) as f64, (bits >> 11) as f64 / 4096.0];
            let powers =
                [short / 3.0, (2.0_f64).powi((bits >> 58) as i32 - 20), short * 1.1, (bits >> 12) as f64 / 32.0];
            for number in numbers.into_iter().chain(powers) {
                if number.is_finite() {
                    assert_eq!(texts(number), (number.to_string(), serde_json::to_string(&number).unwrap()));
                }
            }
        }
    }

    #[test]
    fn rounding_follows_its_direction() {
        assert_eq!(round(2.5, Rounding::Common, 0), 3.0);
        assert_eq!(round(-2.5, Rounding::Common, 0), -3.0);
        assert_eq!(round(2.1, Rounding::Ceil, 0), 3.0);
        assert_eq!(round(-2.1, Rounding::Floor, 0), -3.0);
        assert_eq!(round(2.45678, Rounding::Common, 2), 2.46);
        assert_eq!(round(1234.0, Rounding::Common, -2), 1200.0);
        assert!(round(1.0, Rounding::Common, i32::MAX).is_nan());
        assert!(Rounding::NAMES.iter().all(|name| Rounding::named(name).is_some()));
        assert_eq!(Rounding::named("up"), None);
    }

    #[test]
    fn logarithms_by_a_series() {
        for (x, wanted) in
            [(1.0, 0.0), (2.0, std::f64::consts::LN_2), (10.0, std::f64::consts::LN_10), (1e-320, 1e-320_f64.ln())]
        {
            assert_eq!(logarithm(x), wanted, "{x}");
        }
        // Differs from the nearest float.
        assert_eq!(logarithm(1000.0) / logarithm(10.0), 2.9999999999999996);
        assert_eq!(logarithm(0.0), f64::NEG_INFINITY);
        assert_eq!(logarithm(f64::INFINITY), f64::INFINITY);
        assert!(logarithm(-1.0).is_nan() && logarithm(f64::NAN).is_nan());
        for at in 1..2000 {
            let x = f64::from(at) * 0.37;
            assert!((logarithm(x) - x.ln()).abs() <= x.ln().abs() * 1e-15, "{x}");
        }
    }

    #[test]
    fn powers_by_squaring() {
        for (base, exponent, wanted) in
            [(2.0, 10.0, 1024.0), (2.0, -2.0, 0.25), (-3.0, 3.0, -27.0), (9.0, 0.5, 3.0), (10.0, 22.0, 1e22)]
        {
            assert_eq!(power(base, exponent), wanted, "{base}^{exponent}");
        }
        assert_eq!(power(0.0, -1.0), f64::INFINITY);
        assert_eq!(power(5e-324, 1.0), 5e-324);
        assert_eq!(power(1e-200, 2.0), 0.0);
        assert_eq!(power(1e200, 2.0), f64::INFINITY);
        assert_eq!(power(2.0, 1e300), f64::INFINITY);
        assert_eq!(power(2.0, -1074.0), 5e-324);
        assert!(power(-2.0, 0.5).is_nan());
    }

    #[test]
    fn remainders_are_those_of_floats() {
        let edges =
            [0.0, -0.0, 1.0, -1.0, 2.0, 2.5, 3.0, 9e15, 9_007_199_254_740_993.0, 1e300, f64::INFINITY, f64::NAN];
        for (a, b) in edges.into_iter().flat_map(|a| edges.map(|b| (a, b))) {
            assert_eq!(remainder(a, b).to_bits() << 1, (a % b).to_bits() << 1, "{a} % {b}");
        }
    }

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
