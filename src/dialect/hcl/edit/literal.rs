//! Values as literals.

use std::fmt::Write as _;

use super::super::syntax::lexer::is_identifier;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::stdlib::bignum::BigNum;
use crate::value::{Extended, Value};

/// How long the digits of a number may be.
const LONGEST_NUMBER: usize = 1 << 20;

/// Appends the literal of a value; the entries of an object in the order of their keys, a line each.
///
/// Recursion is bounded: values nest no deeper than they may.
pub(super) fn write(value: Value<'_>, text: &mut String) -> Result<()> {
    match value {
        Value::Null | Value::Undefined => text.push_str("null"),
        Value::Bool(truth) => text.push_str(if truth { "true" } else { "false" }),
        Value::Int(n) => text.push_str(itoa::Buffer::new().format(n)),
        Value::Uint(n) => text.push_str(itoa::Buffer::new().format(n)),
        Value::Float(n) if n.is_finite() => {
            // Writing to a String cannot fail.
            let _ = write!(text, "{n}");
        }
        Value::Float(_) => return Err(no_literal("a number that is not finite")),
        Value::Str(content) => quoted(content.as_str(), text),
        Value::List(elements) => {
            text.push('[');
            for (at, element) in elements.items().iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                write(*element, text)?;
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push_str(if entries.iter().len() == 0 { "{" } else { "{\n" });
            for (key, element) in entries.iter_sorted() {
                name_of_entry(key, text);
                text.push_str(" = ");
                write(element, text)?;
                text.push('\n');
            }
            text.push('}');
        }
        Value::Extended(extension) => match extension.kind() {
            Extended::Number(number) => digits(number, text)?,
            Extended::Null(_) => text.push_str("null"),
            Extended::Typed(_, elements) => write(*elements, text)?,
            Extended::Unknown(_) => return Err(no_literal("a value that is not known yet")),
            Extended::Marked(..) => return Err(no_literal("a marked value")),
            Extended::Capsule(_) => return Err(no_literal("a value of the host's")),
            other => return Err(no_literal(&format!("a value of the kind {}", other.name()))),
        },
    }
    Ok(())
}

fn digits(number: &BigNum, text: &mut String) -> Result<()> {
    if !number.is_finite() || number.text_len() > LONGEST_NUMBER {
        return Err(no_literal("a number that is not finite, or has a million digits"));
    }
    text.push_str(&number.to_text());
    Ok(())
}

fn no_literal(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::TypeMismatch, format!("{what} cannot be written down"))
}

fn name_of_entry(key: &str, text: &mut String) {
    match is_identifier(key) {
        true => text.push_str(key),
        false => quoted(key, text),
    }
}

/// Appends text in quotes. What does not print is escaped, as is what would begin an interpolation.
pub(super) fn quoted(content: &str, text: &mut String) {
    text.push('"');
    let mut characters = content.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '"' | '\\' => text.extend(['\\', character]),
            '$' | '%' if characters.peek() == Some(&'{') => text.extend([character, character]),
            _ if prints(character) => text.push(character),
            _ => {
                let code = u32::from(character);
                let _ = if code < 0x1_0000 { write!(text, "\\u{code:04x}") } else { write!(text, "\\U{code:08x}") };
            }
        }
    }
    text.push('"');
}

/// Whether a character has a shape of its own: any but blanks (other than the space), controls, and what is not
/// assigned.
fn prints(character: char) -> bool {
    match character.is_ascii() {
        true => !character.is_ascii_control(),
        // The library's own escaping knows which ones; behind a letter, it leaves combining marks as they are.
        false => ['x', character].iter().collect::<String>().escape_debug().nth(1) == Some(character),
    }
}
