//! Writes YAML that every parser reads back as the same value.
//!
//! Block style, two spaces per level, `[]` and `{}` for empty collections. A text is unquoted only if every YAML 1.1 and
//! 1.2 parser reads it back as that text ([`Class::Plain`]). A multi-line text is a literal block if every parser accepts
//! it; any other text is double-quoted with escapes. Floats always have a point and a signed exponent, so that no parser
//! reads them as integers or text.
//!
//! This is our own writer because no crate guarantees that: they write `no`, `1e3` or `0o7` for one version of YAML.
//!
//! Small functions are inlined only in optimized builds: without optimization, inlining would grow the frames of the
//! recursion.

use std::convert::Infallible;

use super::scalar::{Class, LONGEST_PLAIN, class, class_in_line, is_clean, is_word, must_escape};
use crate::marshal::lossy;
use crate::output::{Buffer, Common, Key, Tree, TreeNode, time_text};
use crate::{Block, Data, Text};
use dropforge_base::stdlib::encodings::{base64, base64_len};

/// Formats a value as a YAML document with a final newline.
///
/// ```
/// use dropforge::value::{Data, yaml};
/// let data: Data = serde_json::from_str(r#"{"on": ["1.10", 1.5, "a b"], "cmd": "x\ny\n"}"#).unwrap();
/// assert_eq!(yaml::to_string(&data), "\"on\":\n  - \"1.10\"\n  - 1.5\n  - a b\ncmd: |\n  x\n  y\n");
/// ```
pub fn to_string(value: &Data) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Appends a value as a YAML document with a final newline.
///
/// The depth of `value` was bounded when it was built ([`dropforge_base::limits::Limits::value_depth`]).
pub fn write(value: &Data, out: &mut String) {
    match Buffer::append(out, |out| Yaml::new(out, &mut |_| Ok::<_, Infallible>(())).document(value)) {
        Ok(()) => (),
        Err(never) => match never {},
    }
}

/// A writer of block-style YAML. `grow` receives the length of `out` after each node and before each long text, and may
/// stop the writing.
pub struct Yaml<'a, G> {
    out: &'a mut Buffer,
    grow: &'a mut G,
}

impl<'a, E, G: FnMut(usize) -> Result<(), E>> Yaml<'a, G> {
    pub const fn new(out: &'a mut Buffer, grow: &'a mut G) -> Self {
        Self { out, grow }
    }

    /// Appends a document with a final newline.
    pub fn document<'t, T: Tree<'t>>(&mut self, tree: T) -> Result<(), E> {
        self.node(tree.node(), 0, false)?;
        self.out.push(b'\n');
        (self.grow)(self.out.len())
    }

    /// Writes a node without its last newline. `indent` applies to the following lines. With `apart` the node follows a
    /// key or tag: a scalar needs a space, and a collection begins on the next line.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn node<'t, T: Tree<'t>>(&mut self, node: TreeNode<'t, T>, indent: usize, apart: bool) -> Result<(), E> {
        // The part of a new line to write before the first entry or item of a collection.
        let lead = if apart { 1 + indent } else { 0 };
        match node {
            TreeNode::Text(text) => self.text(&text, indent, apart),
            TreeNode::Map(entries) if entries.len() > 0 => self.entries::<T>(entries, indent, lead),
            TreeNode::List(items) if items.len() > 0 => self.list::<T>(items, indent, lead),
            TreeNode::Int(n) => {
                self.gap(apart);
                self.out.push_int(n);
                (self.grow)(self.out.len())
            }
            other => self.rare(other, indent, apart),
        }
    }

    /// Writes a node of a rare kind.
    #[inline(never)]
    fn rare<'t, T: Tree<'t>>(&mut self, node: TreeNode<'t, T>, indent: usize, apart: bool) -> Result<(), E> {
        self.gap(apart);
        match node {
            TreeNode::Tagged(tag, inner) => {
                self.out.push_str(tag);
                self.tagged(untagged(inner), indent)
            }
            node => {
                self.scalar(node)?;
                (self.grow)(self.out.len())
            }
        }
    }

    #[inline(never)]
    fn tagged<'t, T: Tree<'t>>(&mut self, tree: T, indent: usize) -> Result<(), E> {
        self.node(tree.node(), indent, true)
    }

    /// Writes a node that looks the same in every position.
    fn scalar<'t, T: Tree<'t>>(&mut self, node: TreeNode<'t, T>) -> Result<(), E> {
        match node {
            TreeNode::Null | TreeNode::Tagged(..) | TreeNode::Refused(_) => self.out.push_str("null"),
            TreeNode::Bool(b) => self.out.push_str(bool_text(b)),
            TreeNode::Int(n) => self.out.push_int(n),
            TreeNode::Uint(n) => self.out.push_int(n),
            TreeNode::Float(n) => float(n, self.out),
            TreeNode::Text(text) => self.text_in_line(text.as_str())?,
            TreeNode::Made(text) => self.text_in_line(&text)?,
            TreeNode::Time(seconds, nanos) => self.text_in_line(&time_text(seconds, nanos))?,
            TreeNode::Octets(bytes) => self.text_in_line(&lossy(bytes))?,
            TreeNode::Bytes(bytes) => {
                (self.grow)(self.out.len() + base64_len(bytes.len()))?;
                self.text_in_line(&base64(bytes))?;
            }
            TreeNode::Spelled(text) => self.out.push_str(text),
            TreeNode::Digits(text) => self.out.push_str(&text),
            TreeNode::List(_) => self.out.push_str("[]"),
            TreeNode::Map(_) => self.out.push_str("{}"),
        }
        Ok(())
    }

    fn gap(&mut self, apart: bool) {
        if apart {
            self.out.push(b' ');
        }
    }

    /// Writes the lines of a list without the last newline. The first line starts with only `lead` bytes of a new line.
    #[inline(never)]
    fn list<'t, T: Tree<'t>>(&mut self, items: T::Items, indent: usize, mut lead: usize) -> Result<(), E> {
        for item in items {
            self.out.push_line(lead, b"- ");
            lead = 1 + indent;
            self.node(item.node(), indent + 2, false)?;
        }
        Ok(())
    }

    /// Writes the lines of a map without the last newline. The first line starts with only `lead` bytes of a new line.
    #[inline(never)]
    fn entries<'t, T: Tree<'t>>(&mut self, entries: T::Entries, indent: usize, mut lead: usize) -> Result<(), E> {
        match T::split(entries) {
            Ok((keys, values)) => {
                for (key, value) in keys.iter().zip(values) {
                    self.pair(key, value, indent, lead)?;
                    lead = 1 + indent;
                }
            }
            Err(entries) => {
                for (key, value) in entries {
                    self.rare_entry(key, value, indent, lead)?;
                    lead = 1 + indent;
                }
            }
        }
        Ok(())
    }

    /// Writes an entry with a text key. If key and value are short words, as most are, they are written in one step.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pair<'t, T: Tree<'t>>(&mut self, key: &Text<'t>, value: T, indent: usize, lead: usize) -> Result<(), E> {
        let Common::Text(text) = value.common() else {
            self.begin_entry(key, indent, lead)?;
            return self.node(value.node(), indent + 2, true);
        };
        if let (Some(key), Some(text)) = (short_word(key), short_word(text)) {
            self.out.push_pair(lead, key, text);
            return (self.grow)(self.out.len());
        }
        self.begin_entry(key, indent, lead)?;
        self.gap(true);
        self.any_text(text, indent + 2)
    }

    /// Writes an entry with any key.
    #[inline(never)]
    fn rare_entry<'t, T: Tree<'t>>(&mut self, key: Key<'t>, value: T, indent: usize, lead: usize) -> Result<(), E> {
        match key {
            Key::Text(text) => self.begin_entry(&text, indent, lead)?,
            key => {
                self.out.push_line(lead, b"");
                self.key(key, indent)?;
                self.out.push(b':');
            }
        }
        self.node(value.node(), indent + 2, true)
    }

    /// Writes the start of an entry's line and its key with the colon.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin_entry(&mut self, key: &Text<'_>, indent: usize, lead: usize) -> Result<(), E> {
        if is_word(key) {
            self.out.push_text_line(lead, key, b":");
            return Ok(());
        }
        self.out.push_line(lead, b"");
        self.key(Key::Text(*key), indent)?;
        self.out.push(b':');
        Ok(())
    }

    /// Writes a key without its colon. A key beyond the lookahead of parsers gets the explicit form (`? `).
    #[inline(never)]
    fn key(&mut self, key: Key<'_>, indent: usize) -> Result<(), E> {
        let begun = self.out.len();
        match key {
            Key::Text(text) => self.text_in_line(text.as_str())?,
            Key::Null => self.out.push_str("null"),
            Key::Bool(b) => self.out.push_str(bool_text(b)),
            Key::Int(n) => self.out.push_int(n),
            Key::Uint(n) => self.out.push_int(n),
            Key::Float(n) => float(n, self.out),
        }
        if self.out.len() - begun > LONGEST_PLAIN {
            self.out.insert(begun, "? ");
            self.out.push_line(1 + indent, b"");
        }
        Ok(())
    }

    fn text_in_line(&mut self, text: &str) -> Result<(), E> {
        (self.grow)(self.out.len() + text.len())?;
        self.of_class(&Text::new(text), class_in_line(text));
        Ok(())
    }

    /// Writes text; `indent` is the indentation of a literal block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn text(&mut self, text: &Text<'_>, indent: usize, apart: bool) -> Result<(), E> {
        if text.block().is_some() && is_word(text) {
            match apart {
                true => self.out.push_spaced(text),
                false => self.out.push_text(text),
            }
            return (self.grow)(self.out.len());
        }
        self.gap(apart);
        self.any_text(text, indent)
    }

    /// Writes text of any length.
    #[inline(never)]
    fn any_text(&mut self, text: &Text<'_>, indent: usize) -> Result<(), E> {
        (self.grow)(self.out.len() + text.as_str().len())?;
        match if text.is_known_word() { Class::Plain } else { class(text.as_str()) } {
            Class::Block => self.block(text.as_str(), indent.max(2))?,
            other => self.of_class(text, other),
        }
        (self.grow)(self.out.len())
    }

    fn of_class(&mut self, text: &Text<'_>, class: Class) {
        match class {
            Class::Plain => self.out.push_text(text),
            Class::Clean => self.out.push_quoted(text),
            Class::Block | Class::Escaped => quoted(text.as_str(), self.out),
        }
    }

    /// Writes a literal block without its last newline.
    fn block(&mut self, text: &str, indent: usize) -> Result<(), E> {
        let content = text.trim_end_matches('\n');
        let trailing = text.len() - content.len();
        self.out.push_str(match trailing {
            0 => "|-",
            1 => "|",
            _ => "|+",
        });
        for line in content.split('\n') {
            self.out.push(b'\n');
            if !line.is_empty() {
                self.out.pad(indent);
                self.out.push_str(line);
            }
            (self.grow)(self.out.len())?;
        }
        (1..trailing).for_each(|_| self.out.push(b'\n'));
        Ok(())
    }
}

/// Returns the block and the length of a short word.
#[cfg_attr(not(debug_assertions), inline(always))]
fn short_word<'t>(text: &Text<'t>) -> Option<(&'t Block, usize)> {
    let block = text.block()?;
    is_word(text).then_some((block, text.as_str().len()))
}

/// Strips nested tags: a value has one tag, and the outermost wins.
pub(super) fn untagged<'t, T: Tree<'t>>(mut tree: T) -> T {
    while let TreeNode::Tagged(_, inner) = tree.node() {
        tree = inner;
    }
    tree
}

pub(super) const fn bool_text(b: bool) -> &'static str {
    if b { "true" } else { "false" }
}

/// Writes the shortest spelling that reads back as `n`, with a point and a signed exponent: `1.0e+21`.
pub(super) fn float(n: f64, out: &mut Buffer) {
    if !n.is_finite() {
        out.push_str(match n {
            n if n.is_nan() => ".nan",
            n if n > 0.0 => ".inf",
            _ => "-.inf",
        });
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(n);
    let (mantissa, exponent) = shortest.split_once('e').map_or((shortest, None), |(m, e)| (m, Some(e)));
    out.push_str(mantissa);
    if !mantissa.contains('.') {
        out.push_str(".0");
    }
    if let Some(exponent) = exponent {
        out.push_str(if exponent.starts_with(['-', '+']) { "e" } else { "e+" });
        out.push_str(exponent);
    }
}

/// Appends `text` between double quotes. Characters without a short escape are written by code point.
pub fn quoted(text: &str, out: &mut Buffer) {
    out.push(b'"');
    escaped(text, out, &|c| must_escape(c), &|c, out| match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c => numbered(u32::from(c), out),
    });
    out.push(b'"');
}

/// Formats a text between double quotes, in one line.
///
/// ```
/// use dropforge::value::yaml;
/// assert_eq!(yaml::in_quotes("a\n\"b\""), r#""a\n\"b\"""#);
/// ```
pub fn in_quotes(text: &str) -> String {
    let mut out = String::new();
    match Buffer::append(&mut out, |out| {
        quoted(text, out);
        Ok::<_, Infallible>(())
    }) {
        Ok(()) => out,
        Err(never) => match never {},
    }
}

/// Appends `text` with escapes for `"`, `\`, and the characters that `special` selects and `escape` writes.
pub(super) fn escaped(
    text: &str,
    out: &mut Buffer,
    special: &impl Fn(char) -> bool,
    escape: &impl Fn(char, &mut Buffer),
) {
    let (mut clean, mut at) = (0, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        if is_clean(byte) {
            at += 1;
            continue;
        }
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        let end = at + c.len_utf8();
        if matches!(c, '"' | '\\') || special(c) {
            out.push_str(text.get(clean..at).unwrap_or(""));
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                c => escape(c, out),
            }
            clean = end;
        }
        at = end;
    }
    out.push_str(text.get(clean..).unwrap_or(""));
}

/// Appends the escape of a code point.
pub(super) fn numbered(code: u32, out: &mut Buffer) {
    match code {
        0..=0xFF => out.push_format(format_args!("\\x{code:02X}")),
        0x100..=0xFFFF => out.push_format(format_args!("\\u{code:04X}")),
        _ => out.push_format(format_args!("\\U{code:08X}")),
    }
}
