//! Writes values as JSON.

use super::output::{Buffer, Key, Node, Sorted, Tree, duplicate, non_finite};
use super::{Text, Value};
use crate::stdlib::base64::{base64, base64_len};

/// The layout of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonStyle {
    /// Without white space.
    Compact,
    /// One item per line, indented by two spaces per level.
    Pretty,
}

/// Appends `value` to `out` as JSON with map keys in byte order. Undefined values and non-finite floats become `null`.
/// `grow` receives the length of `out` after each piece, and before a long one, and may stop the writing.
pub fn write_json<E>(
    value: Value<'_>,
    style: JsonStyle,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::Str(text) if is_plain(text) => {
            grow(out.len() + text.as_str().len())?;
            out.extend(["\"", text.as_str(), "\""]);
            return grow(out.len());
        }
        Value::Int(n) => {
            out.push_str(itoa::Buffer::new().format(n));
            return grow(out.len());
        }
        _ => {}
    }
    let pretty = style == JsonStyle::Pretty;
    Buffer::append(out, |out| Json { pretty, named: false, out, grow, duplicate: None }.node(Sorted(value).node(), 0))
}

/// A JSON writer.
pub(super) struct Json<'a, G> {
    pretty: bool,
    /// `true` if non-finite floats are written by name, otherwise as null.
    named: bool,
    out: &'a mut Buffer,
    grow: &'a mut G,
    /// A key that is duplicated in a map.
    duplicate: Option<String>,
}

impl<'a, E, G: FnMut(usize) -> Result<(), E>> Json<'a, G> {
    /// Returns a writer of documents.
    pub(super) const fn document(pretty: bool, out: &'a mut Buffer, grow: &'a mut G) -> Self {
        Self { pretty, named: true, out, grow, duplicate: None }
    }

    /// Appends a document and a newline. Returns a key that is duplicated in a map, if any.
    pub(super) fn line<'t>(mut self, tree: impl Tree<'t>) -> Result<Option<String>, E> {
        self.node(tree.node(), 0)?;
        self.out.push(b'\n');
        Ok(self.duplicate)
    }

    fn node<'t, T: Tree<'t>>(&mut self, node: Node<'t, T>, level: usize) -> Result<(), E> {
        match node {
            Node::Null => self.out.push_str("null"),
            Node::Bool(b) => self.out.push_str(if b { "true" } else { "false" }),
            Node::Int(n) => self.out.push_int(n),
            Node::Uint(n) => self.out.push_int(n),
            Node::Float(n) => self.float(n),
            Node::Text(text) => self.text(&text)?,
            Node::Made(text) => self.string(&text)?,
            Node::Bytes(bytes) => {
                (self.grow)(self.out.len() + base64_len(bytes.len()))?;
                self.string(&base64(bytes))?;
            }
            Node::Spelled(text) => self.out.push_str(text),
            Node::Digits(text) => self.out.push_str(&text),
            Node::Tagged(_, tree) => return self.node(tree.node(), level),
            Node::List(items) => self.list::<T>(items, level)?,
            Node::Map(entries) => self.map::<T>(entries, level)?,
        }
        (self.grow)(self.out.len())
    }

    fn float(&mut self, n: f64) {
        match non_finite(n) {
            None => self.out.push_str(zmij::Buffer::new().format_finite(n)),
            Some(name) if self.named => self.quoted(name),
            Some(_) => self.out.push_str("null"),
        }
    }

    fn list<'t, T: Tree<'t>>(&mut self, items: T::Items, level: usize) -> Result<(), E> {
        self.out.push(b'[');
        let empty = items.len() == 0;
        let mut first = true;
        for item in items {
            self.separate(std::mem::take(&mut first), level + 1);
            self.node(item.node(), level + 1)?;
        }
        self.close(b']', empty, level);
        Ok(())
    }

    fn map<'t, T: Tree<'t>>(&mut self, entries: T::Entries, level: usize) -> Result<(), E> {
        self.out.push(b'{');
        let empty = entries.len() == 0;
        let mut unchecked = Some(entries.clone());
        let mut first = true;
        for (key, value) in entries {
            self.separate(std::mem::take(&mut first), level + 1);
            match key {
                Key::Text(text) => self.text(&text)?,
                other => {
                    self.string(&other.to_text())?;
                    self.duplicate = self.duplicate.take().or_else(|| unchecked.take().and_then(duplicate::<T>));
                }
            }
            self.out.push(b':');
            if self.pretty {
                self.out.push(b' ');
            }
            self.node(value.node(), level + 1)?;
        }
        self.close(b'}', empty, level);
        Ok(())
    }

    /// Appends a text value as a JSON string.
    #[inline]
    fn text(&mut self, text: &Text<'_>) -> Result<(), E> {
        if !is_plain(text) {
            return self.string(text.as_str());
        }
        (self.grow)(self.out.len() + text.as_str().len())?;
        self.out.push_quoted(text);
        Ok(())
    }

    /// Appends `text` as a JSON string, escaping only `"`, `\` and control characters. `grow` is called before each piece,
    /// so that an oversized text is refused before it is written.
    fn string(&mut self, text: &str) -> Result<(), E> {
        self.out.push(b'"');
        let mut clean = 0;
        for (at, byte) in text.bytes().enumerate() {
            if is_clean(byte) {
                continue;
            }
            (self.grow)(self.out.len() + at - clean)?;
            self.out.push_str(text.get(clean..at).unwrap_or(""));
            escape(byte, self.out);
            clean = at + 1;
        }
        (self.grow)(self.out.len() + text.len() - clean)?;
        self.out.push_str(text.get(clean..).unwrap_or(""));
        self.out.push(b'"');
        Ok(())
    }

    fn quoted(&mut self, name: &str) {
        self.out.push(b'"');
        self.out.push_str(name);
        self.out.push(b'"');
    }

    fn separate(&mut self, first: bool, level: usize) {
        if !first {
            self.out.push(b',');
        }
        self.new_line(level);
    }

    fn close(&mut self, bracket: u8, empty: bool, level: usize) {
        if !empty {
            self.new_line(level);
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self, level: usize) {
        if self.pretty {
            self.out.push_line(1 + 2 * level, b"");
        }
    }
}

/// Returns `true` if a JSON string contains `text` unescaped, as far as one look shows it.
#[inline]
fn is_plain(text: &Text<'_>) -> bool {
    text.is_known_word() || text.block().is_some() && text.all(is_clean)
}

/// Returns `true` if a JSON string contains `byte` unescaped.
#[inline(always)]
const fn is_clean(byte: u8) -> bool {
    (byte >= 0x20) & (byte != b'"') & (byte != b'\\')
}

fn escape(byte: u8, out: &mut Buffer) {
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
            out.push(HEX[usize::from(control >> 4)]);
            out.push(HEX[usize::from(control & 15)]);
        }
    }
}
