//! Literals of values.

use std::fmt::Write as _;

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::syntax::lexer::is_identifier;
use crate::dialect::hcl::values::quote::push_quoted;
use crate::stdlib::bignum::BigNum;
use crate::value::{Extended, Value};

/// The maximum number of digits of a number.
const LONGEST_NUMBER: usize = 1 << 20;

/// Appends the literal of a value. The entries of an object are sorted by key, on a line each.
///
/// The nesting of values is limited, which bounds the recursion.
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
        Value::Float(_) => return Err(no_literal("an infinite number")),
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
            Extended::Unknown(_) => return Err(no_literal("an unknown value")),
            Extended::Marked(..) => return Err(no_literal("a marked value")),
            Extended::Capsule(_) => return Err(no_literal("a host value")),
            other => return Err(no_literal(&format!("a value of the kind {}", other.name()))),
        },
    }
    Ok(())
}

fn digits(number: &BigNum, text: &mut String) -> Result<()> {
    if !number.is_finite() || number.text_len() > LONGEST_NUMBER {
        return Err(no_literal("an infinite number, or one of more than a million digits,"));
    }
    text.push_str(&number.to_text());
    Ok(())
}

fn no_literal(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::TypeMismatch, format!("{what} has no literal"))
}

fn name_of_entry(key: &str, text: &mut String) {
    match is_identifier(key) {
        true => text.push_str(key),
        false => quoted(key, text),
    }
}

/// Appends a quoted string. Characters that do not print and template sequences are escaped.
pub(super) fn quoted(content: &str, text: &mut String) {
    let content = content.replace("${", "$${").replace("%{", "%%{");
    push_quoted(text, &content, ("\"\\\n\r\t", "\"\\nrt"), |character| match u32::from(character) {
        _ if prints(character) => None,
        code @ ..0x1_0000 => Some(format!("\\u{code:04x}")),
        code => Some(format!("\\U{code:08x}")),
    });
}

/// Returns `true` if a character is visible or a space: not another blank, a control character or unassigned.
fn prints(character: char) -> bool {
    match character.is_ascii() {
        true => !character.is_ascii_control(),
        // The standard library escapes the others. Behind a letter, it does not escape combining marks.
        false => ['x', character].iter().collect::<String>().escape_debug().nth(1) == Some(character),
    }
}
