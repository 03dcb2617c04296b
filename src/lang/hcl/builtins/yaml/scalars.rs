//! Scalars as the reference resolves them: YAML 1.1 words, numbers of YAML 1.2, and timestamps as text.

use base64::Engine as _;

use crate::builtins::encodings::BASE64;
use crate::builtins::string;
use crate::values::{convert, number_value};
use dropforge_base::stdlib::bignum::{FULL, MACHINE};
use dropforge_base::stdlib::duration::{Form, moment, rfc3339};
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::yaml::{Node, Style};
use dropforge_value::{BigNum, Type, Value};

/// The prefix of the tags of YAML itself.
pub(super) const CORE: &str = "tag:yaml.org,2002:";

/// Returns the value of a scalar.
pub(super) fn scalar<'v>(cx: &Cx<'v>, node: &Node) -> Outcome<Value<'v>> {
    cx.spend(node.text.len() as u64 / 16)?;
    let text = &*node.text;
    match (&node.tag, node.style) {
        (None, Style::Plain) => plain(cx, text),
        // A block is text, but its content is read like a plain scalar first.
        (None, Style::Literal | Style::Folded) => convert(cx, plain(cx, text)?, &Type::String),
        (None, Style::SingleQuoted | Style::DoubleQuoted) => string(cx, text),
        (Some(tag), style) => {
            let unknown = || Fault::wrong(format!("the tag `{tag}` is not supported"));
            let tag = tag.strip_prefix(CORE).ok_or_else(unknown)?;
            let quoted = matches!(style, Style::SingleQuoted | Style::DoubleQuoted);
            tagged(cx, tag, text, quoted)?.ok_or_else(unknown)
        }
    }
}

/// Reads a scalar without a tag and quotes.
fn plain<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    if let Some(value) = word(cx, text)? {
        return Ok(value);
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(Fault::wrong("NaN is not supported"));
    }
    if let Some(moment) = timestamp(text) {
        return string(cx, &moment);
    }
    if let Some(number) = number(text) {
        return number_value(cx, number);
    }
    if !has_radix(text) {
        return string(cx, text);
    }
    number_value(cx, integer(text).ok_or_else(|| Fault::wrong(format!("the number `{text}` is too large")))?)
}

/// Reads a scalar with a tag of YAML. `None` for an unknown tag.
fn tagged<'v>(cx: &Cx<'v>, tag: &str, text: &str, quoted: bool) -> Outcome<Option<Value<'v>>> {
    let unfit = || Fault::wrong(format!("{text:?} is not of the type `!!{tag}`"));
    if !matches!(tag, "str" | "binary" | "null" | "bool" | "int" | "float" | "timestamp") {
        return Ok(None);
    }
    if tag == "binary" && BASE64.decode(text).is_err() {
        return Err(unfit());
    }
    // Like the reference, the content decides where it starts like a number or a word.
    let telling = text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit() || "+-.yYnNtTfFoO~".contains(c));
    if matches!(tag, "str" | "binary") || quoted && telling {
        return string(cx, text).map(Some);
    }
    if let Some(value) = word(cx, text)?.filter(|_| telling) {
        return Ok(Some(value));
    }
    let moment = if tag == "timestamp" { timestamp(text) } else { None };
    let digits = text.replace('_', "");
    let value = match (tag, moment, number(text)) {
        (_, Some(moment), _) => string(cx, &moment)?,
        (_, None, Some(number)) => number_value(cx, number)?,
        ("null", ..) => Value::Null,
        ("int" | "float", ..) => {
            let number = BigNum::parse(&digits).or_else(|| integer(&digits)).ok_or_else(unfit)?;
            number_value(cx, number)?
        }
        _ => return Err(unfit()),
    };
    Ok(Some(value))
}

/// Returns the value of a word.
fn word<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Option<Value<'v>>> {
    let infinity = |negative| number_value(cx, BigNum::infinity(negative, FULL)).map(Some);
    Ok(Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Value::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Value::Bool(false),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return infinity(false),
        "-.inf" | "-.Inf" | "-.INF" => return infinity(true),
        _ => return Ok(None),
    }))
}

/// Reads a decimal number: digits with an optional sign, point and exponent.
fn number(text: &str) -> Option<BigNum> {
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    let number = BigNum::parse(text)?;
    text.bytes().all(is_number).then_some(number)
}

/// Returns `true` for `0x1F` and `0o17`.
fn has_radix(text: &str) -> bool {
    let all = |digits: &str, radix| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    text.strip_prefix("0x").is_some_and(|digits| all(digits, 16))
        || text.strip_prefix("0o").is_some_and(|digits| all(digits, 8))
}

/// Reads a 64-bit integer with a prefix for its radix.
fn integer(text: &str) -> Option<BigNum> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text).to_ascii_lowercase();
    let radix = |prefix| unsigned.strip_prefix(prefix);
    let parsed = match (radix("0x"), radix("0o"), radix("0b")) {
        (Some(digits), ..) => u64::from_str_radix(digits, 16),
        (_, Some(digits), _) => u64::from_str_radix(digits, 8),
        (.., Some(digits)) => u64::from_str_radix(digits, 2),
        _ => return None,
    };
    let number = parsed.ok()?;
    match negative {
        false => Some(BigNum::of_uint(number, MACHINE)),
        true => Some(BigNum::of_int(0_i64.checked_sub_unsigned(number)?, MACHINE)),
    }
}

/// Reads a date, or a date and a time, with fields of one or two digits, as text in RFC 3339.
fn timestamp(text: &str) -> Option<String> {
    let at = text.find(['T', 't', ' ']).unwrap_or(text.len());
    let (date, time) = text.split_at_checked(at)?;
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (date.next()?, field(date.next()?)?, field(date.next()?)?);
    let time = if time.is_empty() { "T0:0:0" } else { time };
    let zone = if time.starts_with(' ') || text.len() == at { "Z" } else { "" };
    let mut time = time.get(1..)?.splitn(3, ':');
    let (hour, minute, second) = (field(time.next()?)?, field(time.next()?)?, time.next()?);
    let (second, rest) = second.split_at(second.bytes().take_while(u8::is_ascii_digit).count());
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{}{rest}{zone}", field(second)?);
    moment(&text, Form::Lenient).ok().map(rfc3339)
}

/// Pads a field to two digits.
fn field(digits: &str) -> Option<String> {
    let is_field = matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_field.then(|| format!("{digits:0>2}"))
}
