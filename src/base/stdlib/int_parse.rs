//! Parses integers as in source code: a sign, a prefix of the base, underscores between digits.

/// The reason that a text is not an integer of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadInt {
    /// It is not an integer.
    Syntax,
    /// It is below or above all integers of 64 bits. The nearest one stands for it.
    Range(i64),
}

/// Parses an integer whose base its prefix tells: `0x`, `0o`, `0b`, a single `0` (octal), else decimal. Single
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
        _ => return number(negative, &without_underscores(digits)?, 10),
    };
    // The prefix counts as a digit before an underscore.
    number(negative, &without_underscores(digits.strip_prefix('_').unwrap_or(digits))?, base)
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
fn without_underscores(digits: &str) -> Result<String, BadInt> {
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
