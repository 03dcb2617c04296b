//! Parses number literals: floats in decimal or hexadecimal digits and the names of non-finite values; integers with a
//! prefix of their base. Both may have underscores between digits.

use std::borrow::Cow;

/// The exponent of the smallest normal float, and the number of significant bits of a normal float.
const LEAST_EXPONENT: i64 = -1022;
const PRECISION: i64 = 53;

/// Parses the nearest float, ties to even. `None` if the text is not a number or the number is too large.
///
/// Besides decimals it accepts `0x1.8p-2` (hexadecimal with a mandatory binary exponent), `1_000.5` (underscores between
/// two digits, or between `0x` and a digit), and ignoring case `inf` and `infinity` with an optional sign, and `nan`.
pub fn read(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if ["inf", "infinity"].iter().any(|name| unsigned.eq_ignore_ascii_case(name)) {
        return Some(with_sign_of(text, f64::INFINITY));
    }
    if text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    let number = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', digits @ ..] => hexadecimal(digits)?,
        [b'0'..=b'9' | b'.', ..] => without_underscores(unsigned)?.parse().ok()?,
        _ => return None,
    };
    number.is_finite().then(|| with_sign_of(text, number))
}

fn with_sign_of(text: &str, number: f64) -> f64 {
    if text.starts_with('-') { -number } else { number }
}

/// Removes underscores. `None` if one is not between two decimal digits.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
    let mut before = None;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'_' && !(digit(before) && digit(bytes.peek().copied())) {
            return None;
        }
        before = Some(byte);
    }
    Some(Cow::Owned(text.replace('_', "")))
}

/// Parses the part after `0x`: digits with an optional point, and the exponent.
fn hexadecimal(text: &[u8]) -> Option<f64> {
    let mut mantissa = Mantissa::default();
    let mut rest = text;
    // The prefix counts as a digit before an underscore.
    let mut after_digit = true;
    let mut digits = 0_usize;
    loop {
        let (&byte, more) = rest.split_first()?;
        rest = more;
        match byte {
            b'_' if after_digit && more.first().is_some_and(u8::is_ascii_hexdigit) => after_digit = false,
            b'.' if !mantissa.behind_point => (mantissa.behind_point, after_digit) = (true, false),
            b'p' | b'P' if digits > 0 => break,
            _ => {
                mantissa.push((byte as char).to_digit(16)?);
                (digits, after_digit) = (digits + 1, true);
            }
        }
    }
    Some(mantissa.scaled(exponent(rest)?))
}

/// Parses an exponent with an optional sign. Excessive exponents saturate.
fn exponent(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = without_underscores(text.strip_prefix(['+', '-']).unwrap_or(text))?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i64::MAX / 2).min(i64::MAX / 2);
    Some(if text.starts_with('-') { -size } else { size })
}

/// The digits of a hexadecimal number: `value * 2^exponent`, and `more` if nonzero digits follow.
#[derive(Debug, Default)]
struct Mantissa {
    value: u64,
    exponent: i64,
    behind_point: bool,
    more: bool,
}

impl Mantissa {
    fn push(&mut self, digit: u32) {
        if self.value >> 60 == 0 {
            self.value = self.value << 4 | u64::from(digit);
            self.exponent -= if self.behind_point { 4 } else { 0 };
        } else {
            self.more |= digit != 0;
            self.exponent += if self.behind_point { 0 } else { 4 };
        }
    }

    /// Returns the float nearest to the number times `2^times`; infinity if it is too large.
    fn scaled(&self, times: i64) -> f64 {
        if self.value == 0 {
            return 0.0;
        }
        let shift = self.value.leading_zeros();
        // The exponent of the first binary digit.
        let exponent = self.exponent.saturating_add(times).saturating_add(63 - i64::from(shift));
        if exponent > 1023 {
            return f64::INFINITY;
        }
        let stored = exponent.max(LEAST_EXPONENT);
        // The number of excess bits. Subnormal floats keep fewer bits.
        let excess = 64 - PRECISION + stored.saturating_sub(exponent).min(64);
        // One more bit represents the digits that follow.
        let wide = u128::from(self.value << shift) << 1 | u128::from(self.more);
        let (kept, cut) = (wide >> (excess + 1), wide & ((1 << (excess + 1)) - 1));
        let half = 1 << excess;
        let up = cut > half || cut == half && kept & 1 == 1;
        // If rounding up overflows, it increments the exponent.
        f64::from_bits((((stored - LEAST_EXPONENT) as u64) << (PRECISION - 1)) + kept as u64 + u64::from(up))
    }
}

/// The reason that a text is not an integer of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadInt {
    /// It is not an integer.
    Syntax,
    /// It is below or above all integers of 64 bits. The nearest one stands for it.
    Range(i64),
}

/// Parses an integer with a prefix for its base: `0x`, `0o`, `0b`, a single `0` (octal), else decimal. Single
/// underscores may separate digits, also from the prefix.
///
/// `with_prefix("-0x1_f")` is -31, `with_prefix("010")` is 8.
pub fn with_prefix(text: &str) -> Result<i64, BadInt> {
    let (negative, digits) = signed(text);
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..).unwrap_or("")),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..).unwrap_or("")),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..).unwrap_or("")),
        [b'0', _, ..] => (8, digits.get(1..).unwrap_or("")),
        _ => return number(negative, &joined_digits(digits)?, 10),
    };
    // The prefix counts as a digit before an underscore.
    number(negative, &joined_digits(digits.strip_prefix('_').unwrap_or(digits))?, base)
}

/// Parses an integer in `base`, with an optional sign and nothing else.
///
/// `in_base("-17", 8)` is -15.
pub fn in_base(text: &str, base: u32) -> Result<i64, BadInt> {
    let (negative, digits) = signed(text);
    number(negative, digits, base)
}

fn signed(text: &str) -> (bool, &str) {
    (text.starts_with('-'), text.strip_prefix(['+', '-']).unwrap_or(text))
}

/// Removes underscores between digits.
fn joined_digits(digits: &str) -> Result<String, BadInt> {
    let misplaced = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if misplaced { Err(BadInt::Syntax) } else { Ok(digits.replace('_', "")) }
}

fn number(negative: bool, digits: &str, base: u32) -> Result<i64, BadInt> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Err(BadInt::Syntax);
    }
    let excess = BadInt::Range(if negative { i64::MIN } else { i64::MAX });
    let digits = digits.trim_start_matches('0');
    let magnitude = if digits.is_empty() { 0 } else { i128::from_str_radix(digits, base).map_err(|_| excess)? };
    i64::try_from(if negative { -magnitude } else { magnitude }).map_err(|_| excess)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str) -> Option<u64> {
        read(text).map(f64::to_bits)
    }

    #[test]
    fn decimal_texts() {
        for (text, number) in
            [("1", 1.0), ("+1.5", 1.5), ("-0", -0.0), (".5", 0.5), ("5.", 5.0), ("1e-3", 0.001), ("-2E+2", -200.0)]
        {
            assert_eq!(bits(text), Some(f64::to_bits(number)), "{text}");
        }
        assert_eq!(read("1_0.2_5e1_0"), Some(10.25e10));
        assert_eq!(read("1e-99999999999999999999"), Some(0.0));
        for text in ["", "+", ".", "e1", "1e", "1e+", "--1", "+-1", " 1", "1 ", "1.2.3", "1p2", "１", "0b1", "0o7"] {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["_1", "1_", "1__0", "1_.5", "1._5", "1_e5", "1e_5", "1e5_", "-_1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn names() {
        for text in ["inf", "+Inf", "INFINITY", "+infinity"] {
            assert_eq!(read(text), Some(f64::INFINITY), "{text}");
        }
        assert_eq!((read("-inf"), read("-Infinity")), (Some(f64::NEG_INFINITY), Some(f64::NEG_INFINITY)));
        assert!(["nan", "NaN", "NAN"].iter().all(|text| read(text).is_some_and(f64::is_nan)));
        for text in ["+nan", "-nan", "infi", "in", "infinit", "nanx", "inf ", "--inf"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn hexadecimal_texts() {
        for (text, number) in [
            ("0x1p-2", 0.25),
            ("0X1.8P1", 3.0),
            ("-0x.8p0", -0.5),
            ("+0xAb.p+0", 171.0),
            ("0x_f_f.8_0p0_1", 511.0),
            ("-0x0p5", -0.0),
            ("0x0.00p99999999999999999999", 0.0),
            ("0x1p-99999999999999999999", 0.0),
        ] {
            assert_eq!(bits(text), Some(f64::to_bits(number)), "{text}");
        }
        for text in
            ["0x", "0x1", "0xp1", "0x.p1", "0x1p", "0x1p+", "0x1e2", "0x1.2.3p1", "0xg1p1", "0x1p1.5", "0x1p1a", "x1p1"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["0x__1p1", "0x1__1p1", "0x1_p1", "0x1_.1p1", "0x1._1p1", "0x1p_1", "0x1p1_", "_0x1p1", "0x1p+_1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_of_too_many_digits_is_rounded_once() {
        let next = 1.0 + f64::EPSILON;
        for (text, number) in [
            ("0x1.00000000000008p0", 1.0),
            ("0x1.000000000000080000000000000000001p0", next),
            ("0x1.00000000000007fffffffffffffffffffp0", 1.0),
            ("0x1.00000000000018p0", next + f64::EPSILON),
            ("0x1.fffffffffffff8p0", 2.0),
            ("0x100000000000000000000p-80", 1.0),
            ("0x100000000000008000000p-80", 1.0),
            ("0x100000000000008000001p-80", next),
        ] {
            assert_eq!(bits(text), Some(f64::to_bits(number)), "{text}");
        }
        let long = format!("0x1.00000000000008{}1p0", "0".repeat(9000));
        assert_eq!(read(&long), Some(next));
        assert_eq!(read(&format!("0x0.{}1p36004", "0".repeat(9000))), Some(1.0));
        assert_eq!(read(&format!("0x1{}p-36000", "0".repeat(9000))), Some(1.0));
    }

    #[test]
    fn the_ends_of_the_range() {
        let least = f64::from_bits(1);
        for (text, number) in [
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("0x1.fffffffffffff7ffffffffffp1023", f64::MAX),
            ("0x1p-1022", f64::MIN_POSITIVE),
            ("0x1.fffffffffffffp-1023", f64::MIN_POSITIVE),
            ("0x1p-1074", least),
            ("0x1.8p-1074", f64::from_bits(2)),
            ("0x2.8p-1074", f64::from_bits(2)),
            ("0x1p-1075", 0.0),
            ("0x1.00000000000000000001p-1075", least),
            ("0x1.fp-1076", 0.0),
        ] {
            assert_eq!(bits(text), Some(f64::to_bits(number)), "{text}");
        }
        for text in ["1e309", "-1e309", "0x1p1024", "0x1.fffffffffffff8p1023", "0x1p99999999999999999999"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn hexadecimal_spellings_are_read_exactly() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2000 {
            let number = f64::from_bits(random.u64(..));
            if !number.is_finite() {
                continue;
            }
            let (sign, bits) = (if number < 0.0 { "-" } else { "" }, number.abs().to_bits());
            let (stored, digits) = (bits >> 52, bits & ((1 << 52) - 1));
            let first = u64::from(stored > 0);
            let text = format!("{sign}0x{first}.{digits:013x}p{}", stored.max(1) as i64 - 1023);
            assert_eq!(read(&text).map(f64::to_bits), Some(number.to_bits()), "{text}");
        }
    }

    #[test]
    fn prefixes_tell_the_base() {
        for (text, wanted) in [
            ("12", 12),
            ("-3", -3),
            ("+0", 0),
            ("010", 8),
            ("0x1f", 31),
            ("0X_1_f", 31),
            ("0b11", 3),
            ("0o17", 15),
            ("1_000", 1000),
            ("0_7", 7),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(with_prefix(text), Ok(wanted), "{text}");
        }
        for text in ["", "-", "1.9", "1e3", "08", "0x", "_1", "1_", "1__0", " 1", "--1", "0b2"] {
            assert_eq!(with_prefix(text), Err(BadInt::Syntax), "{text}");
        }
        assert_eq!(with_prefix("9223372036854775808"), Err(BadInt::Range(i64::MAX)));
        assert_eq!(with_prefix("-9"), Ok(-9));
        assert_eq!(with_prefix(&format!("-{}", "9".repeat(60))), Err(BadInt::Range(i64::MIN)));
    }

    #[test]
    fn a_given_base_has_no_prefix() {
        assert_eq!(in_base("010", 10), Ok(10));
        assert_eq!(in_base("0755", 8), Ok(493));
        assert_eq!(in_base("8", 8), Err(BadInt::Syntax));
        assert_eq!(in_base("1_0", 10), Err(BadInt::Syntax));
        assert_eq!(in_base("0000000000000000000000000000000000000000000000000001", 10), Ok(1));
    }
}
