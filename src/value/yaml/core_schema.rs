//! The YAML 1.2 core schema: resolution of plain and tagged scalars.

use crate::yaml::node::Kind;

/// Resolves a plain scalar.
pub(super) fn plain(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Kind::Float(f64::NAN),
        _ => number(text).unwrap_or(Kind::Str),
    }
}

/// Returns the number that `text` spells, if any.
fn number(text: &str) -> Option<Kind> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if first == b'-' => return Some(Kind::Float(f64::NEG_INFINITY)),
        ".inf" | ".Inf" | ".INF" => return Some(Kind::Float(f64::INFINITY)),
        _ => {}
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return decimal(text);
    }
    is_float(unsigned).then(|| text.parse().ok().map(Kind::Float)).flatten()
}

/// Returns a decimal integer. Beyond 64 bits it becomes the nearest float, as in JSON.
fn decimal(text: &str) -> Option<Kind> {
    let integer = text.parse().map(Kind::Int).or_else(|_| text.parse().map(Kind::Uint));
    integer.ok().or_else(|| text.parse().map(Kind::Float).ok())
}

fn radix(digits: &str, radix: u32) -> Option<Kind> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    match u64::from_str_radix(digits, radix) {
        Ok(n) => Some(i64::try_from(n).map_or(Kind::Uint(n), Kind::Int)),
        Err(_) => Some(Kind::Float(nearest(digits, radix))),
    }
}

/// Returns the float nearest to an integer. The radix is a power of two.
fn nearest(digits: &str, radix: u32) -> f64 {
    let (mut head, mut shift, bits) = (0_u128, 0, radix.trailing_zeros());
    for digit in digits.chars().filter_map(|digit| digit.to_digit(radix)) {
        if head >> 120 == 0 {
            head = head << bits | u128::from(digit);
        } else {
            // Of the digits that a float cannot hold, only whether one is not zero counts for rounding.
            head |= u128::from(digit > 0);
            shift = (shift + bits).min(2_000);
        }
    }
    head as f64 * f64::powi(2.0, shift.cast_signed())
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at).unwrap_or(""), unsigned.get(at + 1..)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_ok = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_ok
}

/// Resolves a scalar with a tag of the core schema.
///
/// # Errors
/// A message that says why the tag does not fit.
pub(super) fn tagged(suffix: &str, text: &str) -> Result<Kind, String> {
    let resolved = plain(text);
    match (suffix, resolved) {
        ("str", _) => Ok(Kind::Str),
        ("null", Kind::Null) => Ok(Kind::Null),
        ("bool", Kind::Bool(b)) => Ok(Kind::Bool(b)),
        ("int", kind @ (Kind::Int(_) | Kind::Uint(_))) => Ok(kind),
        ("float", Kind::Float(n)) => Ok(Kind::Float(n)),
        #[allow(clippy::cast_precision_loss)]
        ("float", Kind::Int(n)) => Ok(Kind::Float(n as f64)),
        #[allow(clippy::cast_precision_loss)]
        ("float", Kind::Uint(n)) => Ok(Kind::Float(n as f64)),
        ("null" | "bool" | "int" | "float", _) => Err(format!("this is not of the type `!!{suffix}`")),
        _ => Err(format!("the tag `!!{suffix}` does not fit a scalar")),
    }
}

/// Returns `true` if the name of a plain key is its spelling, and it is not `<<`.
pub(crate) fn is_own_name(text: &str) -> bool {
    match plain(text) {
        Kind::Str => text != "<<",
        kind => key_name(&kind, text) == text,
    }
}

/// Returns the name of a key that is this scalar.
pub(super) fn key_name(kind: &Kind, text: &str) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Bool(b) => b.to_string(),
        Kind::Int(n) => n.to_string(),
        Kind::Uint(n) => n.to_string(),
        Kind::Float(n) if n.is_finite() => zmij::Buffer::new().format_finite(*n).to_owned(),
        _ => text.to_owned(),
    }
}
