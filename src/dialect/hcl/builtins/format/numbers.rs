//! Verbs of numbers.

use super::verb::Verb;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::stdlib::bignum::Layout;
use crate::value::BigNum;

pub(super) fn format_number(cx: &Cx<'_>, verb: &Verb<'_>, number: &BigNum) -> Outcome<String> {
    cx.spend(number.digit_steps())?;
    cx.charge(number.text_len())?;
    match verb.letter {
        'b' => whole(cx, verb, number, 2, "0b"),
        'd' => whole(cx, verb, number, 10, ""),
        'o' => whole(cx, verb, number, 8, "0"),
        'x' => whole(cx, verb, number, 16, "0x"),
        'X' => whole(cx, verb, number, 16, "0X"),
        _ => float(cx, verb, number),
    }
}

/// Splits the sign off a number's text and replaces it as the flags say.
fn signed<'t>(verb: &Verb<'_>, text: &'t str) -> (&'static str, &'t str) {
    let plain = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = match () {
        () if text.starts_with('-') => "-",
        () if verb.plus => "+",
        () if verb.space => " ",
        () if text.starts_with('+') => "+",
        () => "",
    };
    (sign, plain)
}

fn whole(cx: &Cx<'_>, verb: &Verb<'_>, number: &BigNum, base: u32, prefix: &str) -> Outcome<String> {
    let text = number.whole_text(base).ok_or_else(|| Fault::wrong("a whole number is required"))?;
    let (sign, digits) = signed(verb, &text);
    let digits = if verb.letter == 'X' { digits.to_ascii_uppercase() } else { digits.to_owned() };
    let prefix = if verb.sharp { prefix } else { "" };
    if verb.precision == Some(0) && digits == "0" {
        return Ok(String::new());
    }
    let mut zeros = verb.precision.map_or(0, |precision| precision.saturating_sub(digits.len()));
    let length = sign.len() + prefix.len() + zeros.saturating_add(digits.len());
    let missing = verb.width.unwrap_or(0).saturating_sub(length);
    cx.charge(zeros.saturating_add(missing))?;
    let (mut left, mut right) = (0, 0);
    match () {
        () if verb.minus => right = missing,
        () if verb.zero && verb.precision.is_none() => zeros = missing,
        () => left = missing,
    }
    let (left, zeros, right) = (" ".repeat(left), "0".repeat(zeros), " ".repeat(right));
    Ok(format!("{left}{sign}{prefix}{zeros}{digits}{right}"))
}

fn float(cx: &Cx<'_>, verb: &Verb<'_>, number: &BigNum) -> Outcome<String> {
    let general = matches!(verb.letter, 'g' | 'G');
    let layout = match verb.letter {
        'f' => Layout::Fixed,
        'e' | 'E' => Layout::Exponent,
        _ => Layout::General,
    };
    let digits = verb.precision.or(if general { None } else { Some(6) });
    cx.charge(digits.unwrap_or(0))?;
    let mut text = number.format(layout, digits);
    if matches!(verb.letter, 'E' | 'G') {
        text = text.replace('e', "E");
    }
    let (sign, digits) = signed(verb, &text);
    let missing = verb.width.unwrap_or(0).saturating_sub(sign.len() + digits.len());
    cx.charge(missing)?;
    Ok(match () {
        () if verb.zero && !verb.minus && number.is_finite() => format!("{sign}{}{digits}", "0".repeat(missing)),
        () if verb.minus => format!("{sign}{digits}{}", " ".repeat(missing)),
        () => format!("{}{sign}{digits}", " ".repeat(missing)),
    })
}
