//! Values as JSON text.

use super::{Extended, Value};

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonStyle {
    /// No white space.
    Compact,
    /// One item a line, two spaces a level.
    Pretty,
}

/// Appends `value` to `out` as JSON with map keys in the order of their bytes; undefined and floats that JSON
/// cannot write become `null`. `grow` is told the length of
/// `out` with each piece, before a long one is written, and may stop the writing.
pub fn write_json<E>(
    value: Value<'_>,
    style: JsonStyle,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    Writer { style, out, grow }.value(value, 0)
}

struct Writer<'a, G> {
    style: JsonStyle,
    out: &'a mut String,
    grow: &'a mut G,
}

impl<E, G: FnMut(usize) -> Result<(), E>> Writer<'_, G> {
    fn value(&mut self, value: Value<'_>, level: usize) -> Result<(), E> {
        match value {
            Value::Undefined | Value::Null => self.out.push_str("null"),
            Value::Bool(b) => self.out.push_str(if b { "true" } else { "false" }),
            Value::Int(n) => self.out.push_str(itoa::Buffer::new().format(n)),
            Value::Uint(n) => self.out.push_str(itoa::Buffer::new().format(n)),
            Value::Float(n) if n.is_finite() => self.out.push_str(zmij::Buffer::new().format_finite(n)),
            Value::Float(_) => self.out.push_str("null"),
            Value::Str(text) => self.string(text.as_str())?,
            Value::List(list) => self.list(list.items(), level)?,
            Value::Map(map) => self.map(map, level)?,
            Value::Extended(extension) => self.extended(extension.kind(), level)?,
        }
        (self.grow)(self.out.len())
    }

    /// A number in full, elements without their type, and without marks; what is not known is null.
    fn extended(&mut self, kind: &Extended<'_>, level: usize) -> Result<(), E> {
        match kind {
            Extended::Number(number) if number.is_finite() => self.out.push_str(&number.to_text()),
            Extended::Marked(value, _) | Extended::Typed(_, value) => return self.value(*value, level),
            Extended::Number(_) | Extended::Null(_) | Extended::Unknown(_) | Extended::Capsule(_) => {
                self.out.push_str("null");
            }
        }
        Ok(())
    }

    fn list(&mut self, items: &[Value<'_>], level: usize) -> Result<(), E> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            self.separate(at == 0, level + 1);
            self.value(*item, level + 1)?;
        }
        self.close(']', items.is_empty(), level);
        Ok(())
    }

    fn map(&mut self, map: &super::Map<'_>, level: usize) -> Result<(), E> {
        self.out.push('{');
        for (at, (key, value)) in map.iter_sorted().enumerate() {
            self.separate(at == 0, level + 1);
            self.string(key)?;
            self.out.push_str(if self.style == JsonStyle::Pretty { ": " } else { ":" });
            self.value(value, level + 1)?;
        }
        self.close('}', map.is_empty(), level);
        Ok(())
    }

    /// Appends `text` as a JSON string: only `"`, `\` and control characters are escaped. Asked before each
    /// piece, so that a text that does not fit is not written first.
    fn string(&mut self, text: &str) -> Result<(), E> {
        self.out.push('"');
        let mut clean = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            (self.grow)(self.out.len() + at - clean)?;
            self.out.push_str(text.get(clean..at).unwrap_or(""));
            escape(byte, self.out);
            clean = at + 1;
        }
        (self.grow)(self.out.len() + text.len() - clean)?;
        self.out.push_str(text.get(clean..).unwrap_or(""));
        self.out.push('"');
        Ok(())
    }

    fn separate(&mut self, first: bool, level: usize) {
        if !first {
            self.out.push(',');
        }
        self.new_line(level);
    }

    fn close(&mut self, bracket: char, empty: bool, level: usize) {
        if !empty {
            self.new_line(level);
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self, level: usize) {
        if self.style == JsonStyle::Pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", level));
        }
    }
}

fn escape(byte: u8, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0C => out.push_str("\\f"),
        control => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(control >> 4)]));
            out.push(char::from(HEX[usize::from(control & 15)]));
        }
    }
}
