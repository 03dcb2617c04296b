//! `format`: a string with values in place of formatting clauses.

use std::fmt::Write;

use crate::values::{access, as_bytes, bad_argument, convert, type_name};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::{float_format, numbers};
use dropforge_machine::function::{Cx, Held};
use dropforge_machine::functions;
use dropforge_value::{Extended, Value};

functions! {
    /// The function `format` of the library `strings`.
    pub static TABLE:
    "format", "Replaces the clauses `%s`, `%d`, `%f`, `%e`, `%b`, `%o`, `%x` and `%X` with the values of a list; `%%` is a percent sign."
        ["'%s is %d'.format(['a', 1])" => "'a is 1'", "'%.2f %x'.format([1.5, 255])" => "'1.50 ff'",
         "'%s'.format([[1, 'a', {'k': 2.0}]])" => "'[1, a, {k: 2}]'", "'%d'.format(['a'])" => "E0403", "'%d'.format([])" => "E0403"]
        | "string_format" member (String, (list Dyn)) -> String = format;
}

/// The default precision.
const DIGITS: usize = 6;

/// The largest precision.
const MAX_DIGITS: usize = 1000;

fn format<'v>(cx: &Cx<'v>, layout: &'v str, values: &'v [Value<'v>]) -> Result<String> {
    cx.spend((layout.len() / 64) as u64)?;
    let (mut out, mut next) = (Charged { cx, text: String::new(), held: Held::new(cx) }, 0);
    for part in Layout(layout) {
        match part? {
            FormatPart::Text(text) => out.push(text)?,
            FormatPart::Clause(clause) => {
                let value = values.get(next).ok_or_else(|| bad_argument(out_of_range(next)))?;
                clause.write(*value, &mut out)?;
                next += 1;
            }
        }
    }
    Ok(out.text)
}

/// Returns the message of a clause without a value.
pub(crate) fn out_of_range(index: usize) -> String {
    format!("index {index} out of range")
}

/// Iterates over the parts of a format string.
pub struct Layout<'l>(pub &'l str);

/// A part of a format string.
pub enum FormatPart<'l> {
    /// Text.
    Text(&'l str),
    /// A formatting clause.
    Clause(Clause),
}

impl<'l> Iterator for Layout<'l> {
    type Item = Result<FormatPart<'l>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (part, rest) = match (self.0, self.0.strip_prefix('%')) {
            ("", _) => return None,
            (text, None) => {
                let (text, rest) = text.split_at(text.find('%').unwrap_or(text.len()));
                (Ok(FormatPart::Text(text)), rest)
            }
            (_, Some(after)) => match after.strip_prefix('%') {
                Some(rest) => (Ok(FormatPart::Text("%")), rest),
                None => match Clause::read(after) {
                    Ok((clause, rest)) => (Ok(FormatPart::Clause(clause)), rest),
                    Err(error) => (Err(error), ""),
                },
            },
        };
        self.0 = rest;
        Some(part)
    }
}

/// Output whose growth is charged.
struct Charged<'c, 'v> {
    cx: &'c Cx<'v>,
    text: String,
    held: Held<'c, 'v>,
}

impl Charged<'_, '_> {
    fn push(&mut self, text: &str) -> Result<()> {
        self.held.grow(self.text.len().saturating_add(text.len()))?;
        self.text.push_str(text);
        Ok(())
    }
}

/// A formatting clause.
#[derive(Clone, Copy)]
pub struct Clause {
    /// Its letter.
    pub letter: char,
    precision: usize,
}

impl Clause {
    /// Parses the clause after a percent sign, and returns the rest of the text.
    fn read(rest: &str) -> Result<(Self, &str)> {
        let (precision, rest) = precision(rest)?;
        let mut chars = rest.chars();
        match chars.next() {
            Some(letter @ ('s' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X')) => {
                Ok((Self { letter, precision }, chars.as_str()))
            }
            Some(letter) => {
                let what = format!("could not parse formatting clause: unrecognized formatting clause \"{letter}\"");
                Err(bad_argument(what))
            }
            None => Err(bad_argument("unexpected end of format string")),
        }
    }

    fn write(self, value: Value<'_>, out: &mut Charged<'_, '_>) -> Result<()> {
        let digits = self.precision;
        let written = match self.letter {
            's' => return write_text(value, out),
            'd' => decimal(value),
            'f' => value.as_f64().map(|n| finite_or_name(n, |n| float_format::fixed(n, digits))),
            'e' => value.as_f64().map(|n| finite_or_name(n, |n| float_format::scientific(n, digits))),
            'b' => match value {
                Value::Bool(truth) => Some(u8::from(truth).to_string()),
                value => in_base(value, |n| format!("{n:b}")),
            },
            'o' => in_base(value, |n| format!("{n:o}")),
            letter => return hex(value, letter, out),
        };
        match written {
            Some(written) => out.push(&written),
            None => Err(refused(self.letter, type_name(value))),
        }
    }
}

/// Returns the error of a value of the type `given` that a clause cannot format.
#[cold]
pub fn refused(letter: char, given: &str) -> Box<Diagnostic> {
    let takes = match letter {
        's' => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, \
             and timestamps"
        }
        'd' => "decimal clause can only be used on ints, uints, and doubles",
        'f' => "fixed-point clause can only be used on ints, uints, and doubles",
        'e' => "scientific clause can only be used on ints, uints, and doubles",
        'b' => "only ints, uints, and bools can be formatted as binary",
        'o' => "octal clause can only be used on ints and uints",
        _ => "only ints, uints, bytes, and strings can be formatted as hex",
    };
    bad_argument(format!("error during formatting: {takes}, was given {given}"))
}

/// Parses a precision, and returns the rest of the text.
fn precision(rest: &str) -> Result<(usize, &str)> {
    let Some(rest) = rest.strip_prefix('.') else { return Ok((DIGITS, rest)) };
    let (digits, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
    match digits.parse() {
        Ok(count) if count <= MAX_DIGITS => Ok((count, rest)),
        _ => Err(bad_argument(format!("a precision is a number from 0 to {MAX_DIGITS}"))),
    }
}

fn finite_or_name(number: f64, write: impl FnOnce(f64) -> String) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    write(number)
}

/// Formats a number without an exponent.
fn decimal(value: Value<'_>) -> Option<String> {
    Some(match value {
        Value::Int(n) => n.to_string(),
        Value::Uint(n) => n.to_string(),
        Value::Float(n) => finite_or_name(n, |n| {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = numbers::write_plain_float(n, &mut text);
            text
        }),
        _ => return None,
    })
}

/// Formats the digits of an integer, after its sign.
fn in_base(value: Value<'_>, digits: impl FnOnce(u64) -> String) -> Option<String> {
    match value {
        Value::Int(n) => Some(format!("{}{}", if n < 0 { "-" } else { "" }, digits(n.unsigned_abs()))),
        Value::Uint(n) => Some(digits(n)),
        _ => None,
    }
}

fn hex(value: Value<'_>, letter: char, out: &mut Charged<'_, '_>) -> Result<()> {
    let upper = letter == 'X';
    let number = in_base(value, |n| if upper { format!("{n:X}") } else { format!("{n:x}") });
    if let Some(number) = number {
        return out.push(&number);
    }
    let Some(bytes) = value.as_str().map(str::as_bytes).or_else(|| as_bytes(value)) else {
        return Err(refused(letter, type_name(value)));
    };
    out.held.grow(out.text.len().saturating_add(bytes.len().saturating_mul(2)))?;
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = if upper { write!(out.text, "{byte:02X}") } else { write!(out.text, "{byte:02x}") };
    }
    Ok(())
}

/// Writes a value: numbers without an exponent, lists and maps with their contents, maps sorted by the text of their keys.
fn write_text(value: Value<'_>, out: &mut Charged<'_, '_>) -> Result<()> {
    out.cx.spend(1)?;
    match (value, value.extended()) {
        (Value::Null, _) => out.push("null"),
        (Value::Float(_), _) => out.push(&decimal(value).unwrap_or_default()),
        (Value::List(list), _) => {
            out.push("[")?;
            for (at, item) in list.items().iter().enumerate() {
                out.push(if at == 0 { "" } else { ", " })?;
                write_text(*item, out)?;
            }
            out.push("]")
        }
        (_, Some(Extended::Named(name))) => out.push(name),
        (_, Some(Extended::Bytes(bytes))) => out.push(&String::from_utf8_lossy(bytes)),
        _ if access::is_map(value) => write_map(value, out),
        _ => match convert::plain(value)? {
            Some(text) => out.push(&text),
            None => Err(refused('s', type_name(value))),
        },
    }
}

fn write_map(map: Value<'_>, out: &mut Charged<'_, '_>) -> Result<()> {
    out.push("{")?;
    let mut first = true;
    let mut write = |key: &str, value: Value<'_>| {
        out.push(if first { "" } else { ", " })?;
        first = false;
        out.push(key)?;
        out.push(": ")?;
        write_text(value, out)
    };
    match (map, map.extended()) {
        (Value::Map(map), _) => map.iter_sorted().try_for_each(|(key, value)| write(key, value))?,
        (_, Some(Extended::Entries(entries))) => {
            entries.as_texts().try_for_each(|(key, value)| write(&key, value))?;
        }
        _ => {}
    }
    out.push("}")
}
