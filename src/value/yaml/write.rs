//! Values to YAML that no reader takes for something else.
//!
//! Block style, two spaces a level, `[]` and `{}` for empty collections. A text stands without quotes only
//! if every reader of YAML 1.1 and 1.2 reads it back as that text ([`Class::Plain`]); a text of several
//! lines is a literal block where no reader stumbles over it; everything else stands in double quotes with
//! escapes. Floats always have a point and a signed exponent, so that none is read as an integer or a text.
//!
//! What is worth no call is part of its caller, but not where debug assertions are on: without optimisation the frames
//! of the recursion would grow by all that they hold.

use std::convert::Infallible;

use super::quoted::quoted;
use super::scalar::{Class, LONGEST_PLAIN, class, class_in_line, is_word};
use crate::stdlib::encoding::{base64, base64_len};
use crate::value::output::{Buffer, Key, Node, Tree};
use crate::value::{Block, Data, Text};

/// The value as a YAML document with a final newline.
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

/// Appends the value as a YAML document with a final newline.
///
/// The depth of `value` is bounded where values are made ([`crate::limits::Limits::value_depth`]).
pub fn write(value: &Data, out: &mut String) {
    match Buffer::append(out, |out| Yaml::new(out, &mut |_| Ok::<_, Infallible>(())).document(value)) {
        Ok(()) => (),
        Err(never) => match never {},
    }
}

/// Writes YAML in block style. `grow` is told the length of `out` with each node, before a text that may be long is
/// written, and may stop the writing.
pub(in crate::value) struct Yaml<'a, G> {
    out: &'a mut Buffer,
    grow: &'a mut G,
}

impl<'a, E, G: FnMut(usize) -> Result<(), E>> Yaml<'a, G> {
    pub(in crate::value) const fn new(out: &'a mut Buffer, grow: &'a mut G) -> Self {
        Self { out, grow }
    }

    /// Appends a document with a final newline.
    pub(in crate::value) fn document<'t, T: Tree<'t>>(&mut self, tree: T) -> Result<(), E> {
        self.node(tree.node(), 0, false)?;
        self.out.push(b'\n');
        (self.grow)(self.out.len())
    }

    /// A node without the newline that ends its last line. `indent` is that of the lines below; with `apart` something
    /// stands before it on its line that it may not touch, and below which the lines of a collection begin.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn node<'t, T: Tree<'t>>(&mut self, node: Node<'t, T>, indent: usize, apart: bool) -> Result<(), E> {
        // What of the line is to be written before the first entry or item of a collection.
        let lead = if apart { 1 + indent } else { 0 };
        match node {
            Node::Text(text) => self.text(&text, indent, apart),
            Node::Map(entries) if entries.len() > 0 => self.entries::<T>(entries, indent, lead),
            Node::List(items) if items.len() > 0 => self.list::<T>(items, indent, lead),
            Node::Int(n) => {
                self.gap(apart);
                self.out.push_int(n);
                (self.grow)(self.out.len())
            }
            other => self.rare(other, indent, apart),
        }
    }

    /// A node of those that are few.
    #[inline(never)]
    fn rare<'t, T: Tree<'t>>(&mut self, node: Node<'t, T>, indent: usize, apart: bool) -> Result<(), E> {
        self.gap(apart);
        match node {
            Node::Tagged(tag, inner) => {
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

    /// What is written the same wherever it stands.
    fn scalar<'t, T: Tree<'t>>(&mut self, node: Node<'t, T>) -> Result<(), E> {
        match node {
            Node::Null | Node::Tagged(..) => self.out.push_str("null"),
            Node::Bool(b) => self.out.push_str(bool_text(b)),
            Node::Int(n) => self.out.push_int(n),
            Node::Uint(n) => self.out.push_int(n),
            Node::Float(n) => float(n, self.out),
            Node::Text(text) => self.text_in_line(text.as_str())?,
            Node::Made(text) => self.text_in_line(&text)?,
            Node::Bytes(bytes) => {
                (self.grow)(self.out.len() + base64_len(bytes.len()))?;
                self.text_in_line(&base64(bytes))?;
            }
            Node::Spelled(text) => self.out.push_str(text),
            Node::Digits(text) => self.out.push_str(&text),
            Node::List(_) => self.out.push_str("[]"),
            Node::Map(_) => self.out.push_str("{}"),
        }
        Ok(())
    }

    fn gap(&mut self, apart: bool) {
        if apart {
            self.out.push(b' ');
        }
    }

    /// The lines of a list, the last without its newline; of the first only `lead` bytes of its beginning are written.
    #[inline(never)]
    fn list<'t, T: Tree<'t>>(&mut self, items: T::Items, indent: usize, mut lead: usize) -> Result<(), E> {
        for item in items {
            self.out.push_line(lead, b"- ");
            lead = 1 + indent;
            self.node(item.node(), indent + 2, false)?;
        }
        Ok(())
    }

    /// The lines of a map, the last without its newline; of the first only `lead` bytes of its beginning are written.
    #[inline(never)]
    fn entries<'t, T: Tree<'t>>(&mut self, entries: T::Entries, indent: usize, mut lead: usize) -> Result<(), E> {
        match T::side_by_side(entries) {
            Ok((keys, values)) => {
                for (key, value) in keys.iter().zip(values) {
                    self.pair(key, *value, indent, lead)?;
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

    /// An entry whose key is a text. Where both are short words, which most are, they are written at once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pair<'t, T: Tree<'t>>(&mut self, key: &Text<'t>, value: T, indent: usize, lead: usize) -> Result<(), E> {
        let Some(text) = value.as_text() else {
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

    /// Any entry.
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

    /// The beginning of an entry's line and its key with the colon.
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

    /// A key without its colon. One too long for readers to look ahead over gets the explicit form.
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

    /// Text, as a literal block with lines of this indentation if that is best.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn text(&mut self, text: &Text<'_>, indent: usize, apart: bool) -> Result<(), E> {
        if text.block().is_some() && is_word(text) {
            match apart {
                true => self.out.push_apart(text),
                false => self.out.push_text(text),
            }
            return (self.grow)(self.out.len());
        }
        self.gap(apart);
        self.any_text(text, indent)
    }

    /// Text that may be long.
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

    /// A literal block behind its header; the last newline is left to the caller.
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
            // Indentation makes a text longer than it is.
            (self.grow)(self.out.len())?;
        }
        (1..trailing).for_each(|_| self.out.push(b'\n'));
        Ok(())
    }
}

/// The text with its length, if it is a word and a block.
#[cfg_attr(not(debug_assertions), inline(always))]
fn short_word<'t>(text: &Text<'t>) -> Option<(&'t Block, usize)> {
    let block = text.block()?;
    is_word(text).then_some((block, text.as_str().len()))
}

/// A node that has a tag already: a value has one, and the outer one counts.
fn untagged<'t, T: Tree<'t>>(mut tree: T) -> T {
    while let Node::Tagged(_, inner) = tree.node() {
        tree = inner;
    }
    tree
}

pub(super) const fn bool_text(b: bool) -> &'static str {
    if b { "true" } else { "false" }
}

/// The shortest spelling that reads back as `n`, with a point and a signed exponent: `1.0e+21`.
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
