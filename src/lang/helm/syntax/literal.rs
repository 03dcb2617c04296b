//! The values of literals.

use super::tree::Number;

/// Returns the bytes of a string or character literal between its quotes. `None` if an escape is malformed.
pub fn unescape(inner: &str, quote: char) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(rest.get(..at)?.as_bytes());
        rest = escape(rest.get(at + 1..)?, quote, &mut bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

/// Appends the meaning of the escape that follows a backslash, and returns the text after it.
fn escape<'a>(text: &'a str, quote: char, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let first = text.chars().next()?;
    let rest = text.get(first.len_utf8()..)?;
    let plain = match first {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' => b'\\',
        _ if first == quote => u8::try_from(quote).ok()?,
        'x' => return hex(rest, 2).and_then(|(byte, rest)| push_byte(byte, rest, bytes)),
        'u' => return hex(rest, 4).and_then(|(code, rest)| push_char(code, rest, bytes)),
        'U' => return hex(rest, 8).and_then(|(code, rest)| push_char(code, rest, bytes)),
        '0'..='7' => {
            let digits = text.get(..3).filter(|digits| digits.bytes().all(|digit| matches!(digit, b'0'..=b'7')))?;
            return push_byte(u32::from_str_radix(digits, 8).ok()?, text.get(3..)?, bytes);
        }
        _ => return None,
    };
    bytes.push(plain);
    Some(rest)
}

fn hex(text: &str, digits: usize) -> Option<(u32, &str)> {
    let number = text.get(..digits).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(number, 16).ok()?, text.get(digits..)?))
}

fn push_byte<'a>(byte: u32, rest: &'a str, bytes: &mut Vec<u8>) -> Option<&'a str> {
    bytes.push(u8::try_from(byte).ok()?);
    Some(rest)
}

fn push_char<'a>(code: u32, rest: &'a str, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let mut buffer = [0; 4];
    bytes.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes());
    Some(rest)
}

/// Returns the value of a character literal, with its quotes.
///
/// # Errors
/// The message of Go.
pub fn character(text: &str) -> Result<Number<'_>, String> {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    let invalid = || "invalid syntax".to_owned();
    let first = inner.chars().next().ok_or_else(invalid)?;
    let (code, rest) = if first == '\\' {
        one_escape(inner.get(1..).unwrap_or("")).ok_or_else(invalid)?
    } else {
        (u32::from(first), inner.get(first.len_utf8()..).unwrap_or(""))
    };
    if !rest.is_empty() {
        return Err(format!("malformed character constant: {text}"));
    }
    let (int, float) = (i64::from(code), f64::from(code));
    Ok(Number { int: Some(int), uint: Some(code.into()), float: Some(float), complex: None, text })
}

/// Returns the number that an escape in a character literal stands for: a byte above 127 is a number, not a character.
fn one_escape(text: &str) -> Option<(u32, &str)> {
    match text.as_bytes().first()? {
        b'x' => hex(text.get(1..)?, 2),
        b'0'..=b'7' => {
            let digits = text.get(..3).filter(|digits| digits.bytes().all(|digit| matches!(digit, b'0'..=b'7')))?;
            Some((u32::from_str_radix(digits, 8).ok().filter(|code| *code < 256)?, text.get(3..)?))
        }
        _ => {
            let mut bytes = Vec::new();
            let rest = escape(text, '\'', &mut bytes)?;
            Some((u32::from(std::str::from_utf8(&bytes).ok()?.chars().next()?), rest))
        }
    }
}

/// Returns the value of a number literal.
///
/// # Errors
/// The message of Go.
pub fn number(text: &str) -> Result<Number<'_>, String> {
    let illegal = || format!("illegal number syntax: {}", super::action::quoted(text));
    if text == "0" || text.starts_with(|first| matches!(first, '1'..='9')) {
        // Nearly all numbers are small and decimal.
        if let Ok(n) = text.parse::<u32>() {
            return Ok(Number {
                int: Some(n.into()),
                uint: Some(n.into()),
                float: Some(n.into()),
                complex: None,
                text,
            });
        }
    }
    if let Some(at) = text.get(1..).and_then(|rest| rest.rfind(['+', '-'])).filter(|_| is_sum(text)) {
        let parts = text.split_at(at + 1);
        let imaginary = parts.1.strip_suffix('i').and_then(float);
        let complex = float(parts.0).zip(imaginary).ok_or_else(illegal)?;
        return Ok(of_complex(complex, text));
    }
    if let Some(imaginary) = text.strip_suffix('i') {
        return Ok(of_complex((0.0, float(imaginary).ok_or_else(illegal)?), text));
    }
    let (int, uint) = (signed(text), unsigned(text));
    if int.is_some() || uint.is_some() {
        let float = int.map(|n| n as f64).or(uint.map(|n| n as f64));
        return Ok(Number { int, uint, float, complex: None, text });
    }
    let float = float(text).ok_or_else(illegal)?;
    if !text.contains(['.', 'e', 'E', 'p', 'P']) {
        return Err(format!("integer overflow: {}", super::action::quoted(text)));
    }
    Ok(of_float(float, text))
}

/// Returns `true` for a complex number of two parts: a sign that is neither the first character nor that of an exponent.
fn is_sum(text: &str) -> bool {
    let bytes = text.as_bytes();
    let sign = |at: usize| matches!(bytes.get(at), Some(b'+' | b'-'));
    let hex = text.contains(['x', 'X']);
    let exponent = |at: usize| match bytes.get(at) {
        Some(b'e' | b'E') => !hex,
        Some(b'p' | b'P') => hex,
        _ => false,
    };
    text.ends_with('i') && (1..bytes.len()).any(|at| sign(at) && !exponent(at - 1))
}

fn of_float(float: f64, text: &str) -> Number<'_> {
    let whole = float.fract() == 0.0;
    // The bounds are exact floats; the upper ones are not in range.
    let int =
        (whole && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float)).then_some(float as i64);
    let uint = (whole && (0.0..18_446_744_073_709_551_616.0).contains(&float)).then_some(float as u64);
    Number { int, uint, float: Some(float), complex: None, text }
}

fn of_complex(complex: (f64, f64), text: &str) -> Number<'_> {
    let real = if complex.1 == 0.0 { of_float(complex.0, text) } else { of_float(f64::NAN, text) };
    let float = real.float.filter(|_| complex.1 == 0.0);
    Number { int: real.int, uint: real.uint, float, complex: Some(complex), text }
}

/// Splits the sign, the base and the digits of an integer literal.
fn digits(text: &str) -> Option<(bool, u32, String)> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = rest.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, lower.get(2..)?),
        Some("0o") => (8, lower.get(2..)?),
        Some("0b") => (2, lower.get(2..)?),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, lower.get(1..)?),
        _ => (10, lower.as_str()),
    };
    let digits = digits.replace('_', "");
    let fine = groups_digits(&lower) && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
    fine.then_some((negative, base, digits))
}

/// Returns `true` if each underscore of a number in lower case is between two digits. The prefix of a base counts as one.
fn groups_digits(lower: &str) -> bool {
    let prefixed = lower.starts_with("0x") || lower.starts_with("0o") || lower.starts_with("0b");
    let hex = lower.starts_with("0x");
    let bytes = lower.as_bytes();
    let is_digit = |at: usize| match bytes.get(at) {
        Some(b'0'..=b'9') => true,
        Some(b'a'..=b'f') => hex || at == 1 && prefixed,
        Some(b'x' | b'o') => at == 1 && prefixed,
        _ => false,
    };
    (0..bytes.len()).filter(|at| bytes.get(*at) == Some(&b'_')).all(|at| at > 0 && is_digit(at - 1) && is_digit(at + 1))
}

fn signed(text: &str) -> Option<i64> {
    let (negative, base, digits) = digits(text)?;
    let sign = if negative { "-" } else { "" };
    i64::from_str_radix(&format!("{sign}{digits}"), base).ok()
}

fn unsigned(text: &str) -> Option<u64> {
    if text.starts_with(['+', '-']) {
        // Zero has a sign, too.
        return signed(text).filter(|n| *n == 0).map(|_| 0);
    }
    let (_, base, digits) = digits(text)?;
    u64::from_str_radix(&digits, base).ok()
}

/// Returns the value of a float literal, decimal or hexadecimal.
pub fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let value = match lower.strip_prefix("0x") {
        Some(hex) => hex_float(hex)?,
        None => {
            let fine = lower.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            lower.replace('_', "").parse::<f64>().ok().filter(|value| value.is_finite() && fine)?
        }
    };
    if !groups_digits(&lower) {
        return None;
    }
    Some(if text.starts_with('-') { -value } else { value })
}

/// Returns the value of hexadecimal digits with a binary exponent.
fn hex_float(text: &str) -> Option<f64> {
    let text = text.replace('_', "");
    let (mantissa, exponent) = text.split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (mut value, mut scale) = (0_u128, exponent);
    let mut any = false;
    for (digit, is_fraction) in
        whole.chars().map(|digit| (digit, false)).chain(fraction.chars().map(|digit| (digit, true)))
    {
        any = true;
        if value >> 120 != 0 {
            scale = scale.saturating_add(if is_fraction { 0 } else { 4 });
            continue;
        }
        value = value << 4 | u128::from(digit.to_digit(16)?);
        scale = scale.saturating_sub(if is_fraction { 4 } else { 0 });
    }
    // A product of powers of two is exact as long as it neither overflows nor underflows.
    let half = scale.clamp(-4000, 4000) / 2;
    let result = value as f64 * 2_f64.powi(half) * 2_f64.powi(scale.clamp(-4000, 4000) - half);
    (any && result.is_finite()).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_every_value_that_fits() {
        let ints = ["17", "017", "0o17", "0x1F", "0b11", "1_000", "-3", "0"];
        let found: Vec<_> = ints.iter().map(|text| number(text).ok().and_then(|number| number.int)).collect();
        assert_eq!(found, [17, 15, 15, 31, 3, 1000, -3, 0].map(Some));
        let floats = ["1e3", "1.5", ".5", "0x1p-2", "0X1.8p1", "-1.2"];
        let found: Vec<_> = floats.iter().map(|text| number(text).ok().and_then(|number| number.float)).collect();
        assert_eq!(found, [1000.0, 1.5, 0.5, 0.25, 3.0, -1.2].map(Some));
        assert_eq!(number("1+2i").unwrap().complex, Some((1.0, 2.0)));
        assert_eq!(number("073i").unwrap().complex, Some((0.0, 73.0)));
        assert_eq!(number("1e1i").unwrap().complex, Some((0.0, 10.0)));
        assert_eq!(number("9223372036854775808").unwrap().int, None);
    }

    #[test]
    fn numbers_that_are_none_are_told_in_gos_words() {
        let told = |text: &str| number(text).unwrap_err();
        assert_eq!(told("1__0"), "illegal number syntax: \"1__0\"");
        assert_eq!(told("08"), "integer overflow: \"08\"");
        assert_eq!(told("+"), "illegal number syntax: \"+\"");
        assert_eq!(told("18446744073709551616"), "integer overflow: \"18446744073709551616\"");
    }

    #[test]
    fn escapes_are_bytes_or_characters() {
        assert_eq!(unescape(r#"a\n\x41\u00e9\101\""#, '"').as_deref(), Some("a\nA\u{e9}A\"".as_bytes()));
        assert_eq!(unescape(r"\xff", '"').as_deref(), Some(&[0xFF][..]));
        assert_eq!((unescape(r"\q", '"'), unescape(r"\400", '"'), unescape(r"\'", '"')), (None, None, None));
        assert_eq!(character("'a'").ok().and_then(|number| number.int), Some(97));
        assert_eq!(character(r"'\xff'").ok().and_then(|number| number.int), Some(255));
        assert!(character("'ab'").is_err() && character("''").is_err());
    }
}
