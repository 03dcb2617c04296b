//! Resolves plain scalars.

use crate::yaml::scalar::{are_digits, is_float};
use dropforge_base::stdlib::number_literals;

/// The value of a plain scalar, or the kind of another node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resolved {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above `i64::MAX`.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// A date or a point in time. Readers keep its text.
    Time,
    /// Text.
    Text,
    /// The plain text `<<`.
    Merge,
    /// A list, which no scalar is.
    List,
    /// A map, which no scalar is.
    Map,
}

impl Resolved {
    /// Returns the short tag of the value.
    pub fn tag(self) -> &'static str {
        match self {
            Resolved::Null => "!!null",
            Resolved::Bool(_) => "!!bool",
            Resolved::Int(_) | Resolved::Uint(_) => "!!int",
            Resolved::Float(_) => "!!float",
            Resolved::Time => "!!timestamp",
            Resolved::Text => "!!str",
            Resolved::Merge => "!!merge",
            Resolved::List => "!!seq",
            Resolved::Map => "!!map",
        }
    }
}

/// Returns the value of a plain scalar, as `sigs.k8s.io/yaml` reads it for Helm and the clients of Kubernetes.
pub fn resolve(text: &str) -> Resolved {
    let Some(first) = text.bytes().next() else { return Resolved::Null };
    match first {
        b'0'..=b'9' | b'+' | b'-' => word(text).unwrap_or_else(|| number(text)),
        b'.' => word(text).unwrap_or_else(|| point(text)),
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => {
            word(text).unwrap_or(Resolved::Text)
        }
        _ => Resolved::Text,
    }
}

/// Returns the value of a word that YAML 1.1 does not take for text. An empty text is no word.
pub fn word(text: &str) -> Option<Resolved> {
    if text.len() > 5 {
        return None;
    }
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => Resolved::Bool(false),
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Resolved::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// Resolves a scalar that begins with a point.
fn point(text: &str) -> Resolved {
    if is_float(text) { float(text) } else { Resolved::Text }
}

fn float(text: &str) -> Resolved {
    match text.parse::<f64>() {
        Ok(n) if n.is_finite() => Resolved::Float(n),
        _ => Resolved::Text,
    }
}

/// Resolves a scalar that begins with a digit or a sign.
fn number(text: &str) -> Resolved {
    if is_time(text) {
        return Resolved::Time;
    }
    let plain = text.replace('_', "");
    match number_literals::with_prefix(&plain) {
        Ok(n) => return Resolved::Int(n),
        Err(number_literals::BadInt::Range(_)) if !plain.starts_with(['-', '+']) => {
            if let Some(n) = unsigned(&plain) {
                return Resolved::Uint(n);
            }
        }
        Err(_) => {}
    }
    if is_float(&plain) { float(&plain) } else { Resolved::Text }
}

/// Parses an integer above `i64::MAX`, with the prefix of its base.
fn unsigned(text: &str) -> Option<u64> {
    let (base, digits) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, text.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, text.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, text.get(2..)?),
        [b'0', _, ..] => (8, text.get(1..)?),
        _ => (10, text),
    };
    u64::from_str_radix(digits, base).ok()
}

/// Returns `true` for a number in base 60, which readers of YAML 1.1 resolve: `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`.
pub(super) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let Some((first, rest)) = unsigned.split_once(':') else { return false };
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let digit_or_line = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let sixtieth = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    first.starts_with(|c: char| c.is_ascii_digit())
        && digit_or_line(first)
        && digit_or_line(fraction)
        && rest.split(':').all(sixtieth)
}

/// Returns `true` for a date, or a date and a time, that the calendar has.
pub(super) fn is_time(text: &str) -> bool {
    time(text).is_some()
}

fn time(text: &str) -> Option<()> {
    let (year, rest) = text.split_at_checked(4)?;
    let rest = rest.strip_prefix('-').filter(|_| are_digits(year))?;
    let year: u32 = year.parse().ok()?;
    let (month, rest) = one_or_two(rest, 12)?;
    let (day, rest) = one_or_two(rest.strip_prefix('-')?, 31)?;
    if month == 0 || day == 0 || day > days(year, month) {
        return None;
    }
    if rest.is_empty() {
        return Some(());
    }
    let zoned = rest.starts_with(['T', 't']);
    let rest = if zoned { rest.get(1..)? } else { rest.strip_prefix(' ')?.trim_start_matches(' ') };
    let rest = clock(rest)?;
    if zoned { zone(rest) } else { rest.is_empty().then_some(()) }
}

/// Splits off a time of day with an optional fraction.
fn clock(text: &str) -> Option<&str> {
    let (_, rest) = one_or_two(text, 23)?;
    let (_, rest) = one_or_two(rest.strip_prefix(':')?, 59)?;
    let (_, rest) = one_or_two(rest.strip_prefix(':')?, 59)?;
    let Some(fraction) = rest.strip_prefix(['.', ',']) else { return Some(rest) };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { Some(rest) } else { fraction.get(digits..) }
}

/// `Z`, `+07:00`
fn zone(text: &str) -> Option<()> {
    if text == "Z" {
        return Some(());
    }
    let (hours, minutes) = text.strip_prefix(['+', '-'])?.split_once(':')?;
    let fits =
        |part: &str, most: u32| part.len() == 2 && are_digits(part) && part.parse().is_ok_and(|n: u32| n <= most);
    (fits(hours, 24) && fits(minutes, 60)).then_some(())
}

/// Splits off a number of one or two digits, up to `most`.
fn one_or_two(text: &str, most: u32) -> Option<(u32, &str)> {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    let number = number.parse().ok().filter(|number| *number <= most)?;
    Some((number, rest))
}

const fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
