//! Floats.

use super::Output;
use super::flags::Flags;
use crate::stdlib::float_format::{fixed, scientific, shortest};

/// Digits that a decimal float may need at most, and a bound of what a precision may ask for.
const MOST_DIGITS: usize = 1100;

/// Writes a float by a verb. Returns `false` if the verb does not fit.
pub(super) fn float<E, G: FnMut(usize) -> Result<(), E>>(
    number: f64,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<bool, E> {
    let (format, precision) = match verb {
        'v' => ('g', flags.precision),
        'g' | 'G' | 'x' | 'X' | 'b' => (verb, flags.precision),
        'e' | 'E' => (verb, Some(flags.precision.unwrap_or(6))),
        'f' | 'F' => ('f', Some(flags.precision.unwrap_or(6))),
        _ => return Ok(false),
    };
    (out.grow)(precision.unwrap_or(0))?;
    let mut text = text(number, format, precision);
    if !text.starts_with(['-', '+']) {
        text.insert(0, '+');
    }
    if flags.space && text.starts_with('+') && !flags.plus {
        text.replace_range(..1, " ");
    }
    write(text, number, format, flags, out)?;
    Ok(true)
}

/// Writes a text that has a sign.
fn write<E, G: FnMut(usize) -> Result<(), E>>(
    mut text: String,
    number: f64,
    format: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    if !number.is_finite() {
        let bare = number.is_nan() && !flags.space && !flags.plus || text.starts_with('+') && !flags.plus;
        let text = if bare && (number.is_nan() || text.starts_with('+')) { text.get(1..).unwrap_or("") } else { &text };
        // `+Inf` keeps its sign.
        let text = if number == f64::INFINITY && !flags.space { "+Inf" } else { text };
        return Flags { zero: false, ..flags }.pad(text.as_bytes(), out);
    }
    if flags.sharp && format != 'b' {
        text = with_point(&text, format, flags.precision);
    }
    if !flags.plus && text.starts_with('+') {
        return flags.pad(text.get(1..).unwrap_or("").as_bytes(), out);
    }
    match flags.width.filter(|width| flags.zero && !flags.minus && *width > text.len()) {
        // The sign stands before the zeros.
        Some(width) => {
            let (sign, digits) = text.split_at(1);
            out.push(sign.as_bytes())?;
            flags.padding(width - text.len(), out)?;
            out.push(digits.as_bytes())
        }
        None => flags.pad(text.as_bytes(), out),
    }
}

/// Adds a point and the zeros that `#` asks for.
fn with_point(text: &str, format: char, precision: Option<usize>) -> String {
    let is_hex = matches!(format, 'x' | 'X');
    let ends: &[char] = if is_hex { &['p', 'P'] } else { &['e', 'E'] };
    let (mantissa, exponent) = text.split_at(text.find(ends).unwrap_or(text.len()));
    let mut wanted = if matches!(format, 'g' | 'G' | 'x' | 'X') { precision.unwrap_or(6) } else { 0 };
    let significant = mantissa.chars().skip(1).filter(|c| *c != '.').skip_while(|c| *c == '0').count();
    wanted = wanted.saturating_sub(significant);
    let mut out = mantissa.to_owned();
    if !mantissa.contains('.') {
        if mantissa.len() == 2 && mantissa.ends_with('0') {
            wanted = wanted.saturating_sub(1);
        }
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', wanted));
    out + exponent
}

/// Returns the text of a float.
fn text(number: f64, format: char, precision: Option<usize>) -> String {
    if !number.is_finite() {
        return shortest(number);
    }
    let text = match (format, precision) {
        ('e' | 'E', precision) => long(number, precision.unwrap_or(6), scientific),
        ('f', precision) => long(number, precision.unwrap_or(6), fixed),
        ('g' | 'G', None) => shortest(number),
        ('g' | 'G', Some(precision)) => general(number, precision.max(1)),
        ('b', _) => binary(number),
        (_, precision) => hexadecimal(number, precision),
    };
    if matches!(format, 'E' | 'G' | 'X') { text.to_ascii_uppercase() } else { text }
}

/// Formats with any precision: digits beyond those that a float can have are zeros.
fn long(number: f64, precision: usize, format: fn(f64, usize) -> String) -> String {
    if precision <= MOST_DIGITS {
        return format(number, precision);
    }
    let text = format(number, MOST_DIGITS);
    let at = text.find('e').unwrap_or(text.len());
    let (digits, exponent) = text.split_at(at);
    format!("{digits}{}{exponent}", "0".repeat(precision - MOST_DIGITS))
}

/// Formats with a number of significant digits.
fn general(number: f64, precision: usize) -> String {
    let rounded = scientific(number, precision.min(MOST_DIGITS) - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let whole = usize::try_from(exponent + 1).unwrap_or(0);
    let limit = if precision > digits && digits >= whole { digits } else { precision };
    if exponent < -4 || exponent >= i32::try_from(limit).unwrap_or(i32::MAX) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    let decimals = i32::try_from(digits).unwrap_or(0) - exponent - 1;
    fixed(number, usize::try_from(decimals).unwrap_or(0))
}

/// Returns the stored bits of a float: the mantissa, its exponent.
const fn parts(number: f64) -> (u64, i32) {
    let bits = number.to_bits();
    let (stored, mantissa) = ((bits >> 52) as i32 & 0x7ff, bits & ((1 << 52) - 1));
    if stored == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, stored - 1075) }
}

/// `4503599627370496p-52`
fn binary(number: f64) -> String {
    let (mantissa, exponent) = parts(number);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    format!("{sign}{mantissa}p{exponent:+}")
}

/// `0x1.8p+01`
fn hexadecimal(number: f64, precision: Option<usize>) -> String {
    let (mut mantissa, mut exponent) = parts(number);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if mantissa == 0 {
        exponent = 0;
    } else {
        let shift = mantissa.leading_zeros() - 11;
        mantissa <<= shift;
        exponent += 52 - shift as i32;
    }
    if let Some(cut) = precision.filter(|precision| *precision < 13).map(|precision| 52 - 4 * precision) {
        let (half, rest) = (1 << (cut - 1), mantissa & ((1 << cut) - 1));
        mantissa >>= cut;
        mantissa += u64::from(rest > half || rest == half && mantissa & 1 == 1);
        mantissa <<= cut;
        if mantissa >> 53 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let digits = format!("{:013x}", mantissa & ((1 << 52) - 1));
    let digits = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(precision) => format!("{digits:0<precision$}").chars().take(precision).collect(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}0x{}{point}{digits}p{exponent_sign}{:02}", mantissa >> 52, exponent.unsigned_abs())
}
