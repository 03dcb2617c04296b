//! Scalars by verbs, flags, width and precision.

use crate::values::type_name;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::characters::is_printable;
use dropforge_base::stdlib::characters::push_quoted;
use dropforge_base::stdlib::float_format::{fixed, scientific, shortest};
use dropforge_machine::function::{Cx, Growing};
use dropforge_value::{Extended, Value};

/// A verb with its flags, width and precision.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::builtins) struct Spec {
    pub verb: char,
    pub minus: bool,
    pub plus: bool,
    pub sharp: bool,
    pub space: bool,
    pub zero: bool,
    /// `%#v`: values as Go writes them.
    pub syntax: bool,
    /// `%O`: integers with the prefix `0o`.
    pub octal: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
}

impl Spec {
    /// Reads flags. Returns them and what follows.
    pub fn flags(text: &[u8]) -> (Self, &[u8]) {
        let (mut spec, mut rest) = (Self::default(), text);
        while let Some((flag, behind)) = rest.split_first() {
            match flag {
                b'-' => spec.minus = true,
                b'+' => spec.plus = true,
                b'#' => spec.sharp = true,
                b' ' => spec.space = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            rest = behind;
        }
        (spec, rest)
    }

    /// Returns the flags with a verb and their meaning for it: for `%v` some of them are no flags of numbers.
    pub(crate) fn of_verb(&self, verb: char) -> Self {
        match verb {
            'v' => Self { verb, syntax: self.sharp, sharp: false, plus: false, ..*self },
            _ => Self { verb, ..*self },
        }
    }

    const fn zeros(&self) -> bool {
        self.zero && !self.minus
    }

    const fn filler(&self) -> u8 {
        if self.zeros() { b'0' } else { b' ' }
    }
}

/// Appends text, filled with spaces to the width, or with zeros.
pub(super) fn pad(text: &[u8], spec: &Spec, out: &mut Growing<'_, '_>) -> Result<()> {
    let (before, after) = fillers(text, spec);
    out.fill(spec.filler(), before)?;
    out.push(text)?;
    out.fill(spec.filler(), after)
}

/// Returns the characters that a text lacks to the width: before it, and after it.
fn fillers(text: &[u8], spec: &Spec) -> (usize, usize) {
    let Some(width) = spec.width else { return (0, 0) };
    let count = text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum();
    let missing = width.saturating_sub(count);
    if spec.minus { (0, missing) } else { (missing, 0) }
}

fn padded(text: &[u8], spec: &Spec) -> Vec<u8> {
    let (before, after) = fillers(text, spec);
    [&vec![spec.filler(); before], text, &vec![spec.filler(); after]].concat()
}

pub(super) fn bool_text(truth: bool, spec: &Spec) -> Option<Vec<u8>> {
    matches!(spec.verb, 'v' | 't').then(|| padded(if truth { b"true" } else { b"false" }, spec))
}

/// Returns an integer by a verb. `None` if the verb is not for integers.
pub(super) fn integer_text(value: Value<'_>, spec: &Spec) -> Option<Vec<u8>> {
    let number = match (value, value.extended()) {
        (Value::Int(n), _) => i128::from(n),
        (Value::Uint(n), _) => i128::from(n),
        (_, Some(Extended::Sized(n))) => n.number(),
        _ => return None,
    };
    let unsigned = type_name(value).starts_with("uint");
    Some(match spec.verb {
        'v' if spec.syntax && unsigned => integer(number, 16, false, &Spec { sharp: true, ..*spec }),
        'v' | 'd' => integer(number, 10, false, &Spec { sharp: false, ..*spec }),
        'b' => integer(number, 2, false, spec),
        'o' => integer(number, 8, false, spec),
        'O' => integer(number, 8, false, &Spec { octal: true, ..*spec }),
        'x' => integer(number, 16, false, spec),
        'X' => integer(number, 16, true, spec),
        'c' => padded(rune(number).to_string().as_bytes(), spec),
        'q' => padded(quoted_rune(rune(number), spec.plus).as_bytes(), spec),
        'U' => {
            let shown = spec.sharp.then(|| rune(number)).filter(|c| is_printable(*c));
            let digits = spec.precision.unwrap_or(4).max(4);
            // A negative number has the digits of its 64 bits.
            let code = number as u64;
            let text = format!("U+{}", zero_padded(&format!("{code:X}"), digits));
            let text = shown.map_or(text.clone(), |c| format!("{text} '{c}'"));
            padded(text.as_bytes(), &Spec { zero: false, ..*spec })
        }
        _ => return None,
    })
}

fn rune(number: i128) -> char {
    u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}')
}

fn quoted_rune(c: char, ascii: bool) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4];
    match c {
        '\'' => return "'\\''".to_owned(),
        '"' => return "'\"'".to_owned(),
        _ if ascii && !c.is_ascii() && u32::from(c) > 0xFFFF => return format!("'\\U{:08x}'", u32::from(c)),
        _ if ascii && !c.is_ascii() => return format!("'\\u{:04x}'", u32::from(c)),
        _ => push_quoted(c.encode_utf8(&mut buffer).as_bytes(), &mut |piece| text.push_str(piece)),
    }
    format!("'{}'", text.get(1..text.len().saturating_sub(1)).unwrap_or(""))
}

/// Returns digits with zeros before them, at least so many characters. `std::fmt` panics for a width from 65,536 on.
fn zero_padded(digits: &str, least: usize) -> String {
    "0".repeat(least.saturating_sub(digits.len())) + digits
}

/// Returns an integer in a base, with sign, prefix, and zeros for the precision or the width.
fn integer(number: i128, base: u32, upper: bool, spec: &Spec) -> Vec<u8> {
    let magnitude = number.unsigned_abs();
    let digits = match (base, upper) {
        (2, _) => format!("{magnitude:b}"),
        (8, _) => format!("{magnitude:o}"),
        (16, false) => format!("{magnitude:x}"),
        (16, true) => format!("{magnitude:X}"),
        _ => magnitude.to_string(),
    };
    if spec.precision == Some(0) && number == 0 {
        return padded(b"", &Spec { zero: false, ..*spec });
    }
    let sign = match (number < 0, spec.plus, spec.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    };
    let least = match spec.precision {
        Some(precision) => precision,
        None if spec.zeros() => spec.width.unwrap_or(0).saturating_sub(sign.len()),
        None => 0,
    };
    let digits = zero_padded(&digits, least);
    let prefix = match (spec.sharp, base, upper) {
        (true, ..) if spec.octal && !digits.starts_with('0') => "0o0",
        _ if spec.octal => "0o",
        (true, 2, _) => "0b",
        (true, 8, _) if !digits.starts_with('0') => "0",
        (true, 16, false) => "0x",
        (true, 16, true) => "0X",
        _ => "",
    };
    padded(format!("{sign}{prefix}{digits}").as_bytes(), &Spec { zero: false, ..*spec })
}

/// Returns a float by a verb. `None` if the verb is not for floats.
pub(super) fn float_text(number: f64, spec: &Spec) -> Option<Vec<u8>> {
    let text = match (spec.verb, spec.precision) {
        ('v' | 'g', None) => shortest(number),
        ('G', None) => shortest(number).to_uppercase(),
        ('v' | 'g', Some(precision)) => general(number, precision),
        ('G', Some(precision)) => general(number, precision).to_uppercase(),
        ('e', precision) => scientific(number, precision.unwrap_or(6)),
        ('E', precision) => scientific(number, precision.unwrap_or(6)).to_uppercase(),
        ('f' | 'F', precision) => fixed(number, precision.unwrap_or(6)),
        ('b', _) => binary_exponent(number),
        ('x', precision) => hex_float(number, precision),
        ('X', precision) => hex_float(number, precision).to_uppercase(),
        _ => return None,
    };
    let text = text.replace("NAN", "NaN").replace("INF", "Inf");
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.get(..1).unwrap_or(""), digits),
        None => ("+", text.as_str()),
    };
    let sign = match (sign, spec.plus, spec.space) {
        ("-", ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ if digits == "Inf" => "+",
        _ => "",
    };
    let digits = if spec.sharp && spec.verb != 'b' { with_point(digits, spec) } else { digits.to_owned() };
    let infinite = matches!(digits.as_str(), "Inf" | "NaN");
    if spec.zeros() && !infinite {
        let width = spec.width.unwrap_or(0).saturating_sub(sign.len());
        return Some((sign.to_owned() + &zero_padded(&digits, width)).into_bytes());
    }
    Some(padded(format!("{sign}{digits}").as_bytes(), &Spec { zero: false, ..*spec }))
}

/// Returns a number with `precision` significant digits, without zeros at the end.
fn general(number: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let text = scientific(number, precision - 1);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= i32::try_from(precision).unwrap_or(i32::MAX) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs());
    }
    let decimals = i32::try_from(precision).unwrap_or(i32::MAX) - 1 - exponent;
    trimmed(&fixed(number, usize::try_from(decimals).unwrap_or(0)))
}

/// Returns digits with a point, and for `g` with the zeros that it leaves out.
fn with_point(digits: &str, spec: &Spec) -> String {
    if matches!(digits, "Inf" | "NaN") {
        return digits.to_owned();
    }
    let (mantissa, exponent) = match digits.find(['e', 'E', 'p', 'P']) {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let mut mantissa = mantissa.to_owned();
    if !mantissa.contains('.') {
        mantissa.push('.');
    }
    if matches!(spec.verb, 'g' | 'G' | 'v' | 'x' | 'X') {
        // Digits count from the first that is not zero. The `x` of a prefix counts, too.
        let digits = mantissa.trim_start_matches(['0', '.']).bytes().filter(|byte| *byte != b'.').count();
        mantissa.extend(std::iter::repeat_n('0', spec.precision.unwrap_or(6).saturating_sub(digits.max(1))));
    }
    mantissa + exponent
}

/// Returns a number as an integer and a power of two: `4503599627370496p-52`.
fn binary_exponent(number: f64) -> String {
    if !number.is_finite() {
        return shortest(number);
    }
    let (sign, mantissa, exponent) = parts(number);
    format!("{sign}{mantissa}p{exponent:+}")
}

fn parts(number: f64) -> (&'static str, u64, i32) {
    let bits = number.to_bits();
    let sign = if bits >> 63 == 1 { "-" } else { "" };
    let (biased, fraction) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
    match biased {
        0 => (sign, fraction, -1074),
        _ => (sign, fraction | 1 << 52, biased - 1075),
    }
}

/// Returns a number as hexadecimal digits and a power of two: `0x1.8p+01`.
fn hex_float(number: f64, precision: Option<usize>) -> String {
    if !number.is_finite() {
        return shortest(number);
    }
    let (sign, mut mantissa, mut exponent) = parts(number);
    if mantissa != 0 {
        let shift = mantissa.leading_zeros() as i32 - 11;
        mantissa <<= shift;
        exponent += 52 - shift;
    } else {
        exponent = 0;
    }
    // 13 digits stand after the point.
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let drop = (13 - precision) * 4;
        let (half, low) = (1_u64 << (drop - 1), mantissa & ((1 << drop) - 1));
        mantissa >>= drop;
        mantissa += u64::from(low > half || low == half && mantissa & 1 == 1);
        mantissa <<= drop;
        if mantissa >> 53 == 1 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let fraction = format!("{:013x}", mantissa & ((1 << 52) - 1));
    let fraction = match precision {
        Some(precision) => match fraction.get(..precision) {
            Some(kept) => kept.to_owned(),
            None => fraction.clone() + &"0".repeat(precision - fraction.len()),
        },
        None => fraction.trim_end_matches('0').to_owned(),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}0x{}{point}{fraction}p{exponent_sign}{:02}", mantissa >> 52, exponent.unsigned_abs())
}

/// The longest escape of a byte.
const ESCAPE: usize = 10;

/// Appends text by a verb. Returns `false` if the verb is not for strings.
pub(super) fn text_verb(cx: &Cx<'_>, text: &[u8], spec: &Spec, out: &mut Growing<'_, '_>) -> Result<bool> {
    match spec.verb {
        'v' if spec.syntax => quoted(cx, text, spec, out)?,
        'v' | 's' => pad(cut(text, spec), spec, out)?,
        'q' => quoted(cx, cut(text, spec), spec, out)?,
        'x' | 'X' => {
            let mut digits = Growing::new(cx);
            hex(text, spec.verb == 'X', spec, &mut digits)?;
            pad(digits.bytes(), spec, out)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns the first characters of a text, at most the precision.
fn cut<'t>(text: &'t [u8], spec: &Spec) -> &'t [u8] {
    let Some(precision) = spec.precision else { return text };
    let (mut count, mut end) = (0, 0);
    for chunk in text.utf8_chunks() {
        let lens = chunk.valid().chars().map(char::len_utf8).chain(chunk.invalid().iter().map(|_| 1));
        for len in lens {
            if count == precision {
                return text.get(..end).unwrap_or(text);
            }
            (count, end) = (count + 1, end + len);
        }
    }
    text
}

/// Appends text in quotes.
fn quoted(cx: &Cx<'_>, text: &[u8], spec: &Spec, out: &mut Growing<'_, '_>) -> Result<()> {
    let plain = |c: char| c != '`' && c != '\u{FEFF}' && (c == '\t' || !c.is_control());
    if std::str::from_utf8(text).is_ok_and(|text| spec.sharp && text.chars().all(plain)) {
        return pad(&[b"`", text, b"`"].concat(), spec, out);
    }
    let _draft = cx.hold(text.len().saturating_mul(ESCAPE))?;
    let mut quoted = String::new();
    push_quoted(text, &mut |piece| quoted.push_str(piece));
    if !spec.plus {
        return pad(quoted.as_bytes(), spec, out);
    }
    let mut ascii = String::new();
    for c in quoted.chars() {
        match u32::from(c) {
            _ if c.is_ascii() => ascii.push(c),
            code if code > 0xFFFF => ascii.push_str(&format!("\\U{code:08x}")),
            code => ascii.push_str(&format!("\\u{code:04x}")),
        }
    }
    pad(ascii.as_bytes(), spec, out)
}

/// Appends the bytes of a text in hexadecimal.
fn hex(text: &[u8], upper: bool, spec: &Spec, out: &mut Growing<'_, '_>) -> Result<()> {
    let text = spec.precision.and_then(|precision| text.get(..precision)).unwrap_or(text);
    let prefix: &[u8] = match (spec.sharp, upper) {
        (true, true) => b"0X",
        (true, false) => b"0x",
        _ => b"",
    };
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    for (at, byte) in text.iter().enumerate() {
        if at > 0 && spec.space {
            out.push(b" ")?;
        }
        if at == 0 || spec.space {
            out.push(prefix)?;
        }
        out.push(&[digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]])?;
    }
    Ok(())
}
