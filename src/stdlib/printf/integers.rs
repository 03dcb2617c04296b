//! Integers.

use super::Output;
use super::flags::Flags;
use super::texts::{push_char_literal, utf8};
use crate::stdlib::characters::is_printable;

/// Writes an integer by a verb. Returns `false` if the verb does not fit.
pub(super) fn integer<E, G: FnMut(usize) -> Result<(), E>>(
    number: i128,
    signed: bool,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<bool, E> {
    match verb {
        'v' if flags.source && !signed => digits(number, 16, 'x', Flags { sharp: true, ..flags }, out)?,
        'v' | 'd' => digits(number, 10, verb, flags, out)?,
        'b' => digits(number, 2, verb, flags, out)?,
        'o' | 'O' => digits(number, 8, verb, flags, out)?,
        'x' | 'X' => digits(number, 16, verb, flags, out)?,
        'c' => flags.pad(utf8(character(number), &mut [0; 4]), out)?,
        'q' => {
            let mut literal = String::new();
            push_char_literal(character(number), flags.plus, &mut literal);
            flags.pad(literal.as_bytes(), out)?;
        }
        'U' => code_point(number, flags, out)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn character(number: i128) -> char {
    u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
}

/// Writes digits in a base, with sign, prefix and zeros.
fn digits<E, G: FnMut(usize) -> Result<(), E>>(
    number: i128,
    base: u32,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    let signed = number < 0 || flags.plus || flags.space;
    let least = match (flags.precision, flags.width) {
        (Some(0), _) if number == 0 => {
            return Flags { zero: false, ..flags }.padding(flags.width.unwrap_or(0), out);
        }
        (Some(precision), _) => precision,
        (None, Some(width)) if flags.zero && !flags.minus => width.saturating_sub(usize::from(signed)),
        _ => 0,
    };
    (out.grow)(least)?;
    let magnitude = number.unsigned_abs();
    let mut text = match base {
        2 => format!("{magnitude:b}"),
        8 => format!("{magnitude:o}"),
        16 => format!("{magnitude:x}"),
        _ => magnitude.to_string(),
    };
    text.insert_str(0, &"0".repeat(least.saturating_sub(text.len())));
    match (base, flags.sharp) {
        (2, true) => text.insert_str(0, "0b"),
        (8, true) if !text.starts_with('0') => text.insert(0, '0'),
        (16, true) => text.insert_str(0, "0x"),
        _ => {}
    }
    if verb == 'O' {
        text.insert_str(0, "0o");
    }
    if verb == 'X' {
        text.make_ascii_uppercase();
    }
    if number < 0 {
        text.insert(0, '-');
    } else if signed {
        text.insert(0, if flags.plus { '+' } else { ' ' });
    }
    Flags { zero: false, ..flags }.pad(text.as_bytes(), out)
}

/// Writes `U+0078`, with `#` also the character.
fn code_point<E, G: FnMut(usize) -> Result<(), E>>(
    number: i128,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    let least = flags.precision.unwrap_or(4).max(4);
    (out.grow)(least)?;
    // Negative numbers wrap around.
    let number = number as u64;
    let mut text = format!("U+{number:0least$X}");
    let shown = u32::try_from(number).ok().and_then(char::from_u32).filter(|c| flags.sharp && is_printable(*c));
    if let Some(c) = shown {
        text.push_str(&format!(" '{c}'"));
    }
    Flags { zero: false, ..flags }.pad(text.as_bytes(), out)
}
