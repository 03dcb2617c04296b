//! Writes KYAML, the YAML subset of Kubernetes (KEP-5295): braces and brackets, strings in double quotes, a comma after
//! every entry, insignificant indentation.
//!
//! A key is unquoted if no parser can mistake it for another type. A multi-line text has one output line per line,
//! joined by escapes. The brackets of a list that contains only collections hug those of its items.

use super::scalar::{Class, LONGEST_PLAIN, class_in_line, is_word, must_escape};
use super::write::{bool_text, float, untagged};
use super::write::{escaped, numbered};
use crate::Text;
use crate::marshal::lossy;
use crate::output::{Buffer, Key, Tree, TreeNode, duplicate, time_text};
use dropforge_base::stdlib::encodings::{base64, base64_len};

/// A KYAML writer. `grow` receives the length of `out` after each node and before each text, and may stop the writing.
pub struct Kyaml<'a, G> {
    out: &'a mut Buffer,
    grow: &'a mut G,
    /// A key that is duplicated in a map.
    duplicate: Option<String>,
}

impl<'a, E, G: FnMut(usize) -> Result<(), E>> Kyaml<'a, G> {
    pub const fn new(out: &'a mut Buffer, grow: &'a mut G) -> Self {
        Self { out, grow, duplicate: None }
    }

    /// Appends a document with its `---` line and a final newline. Returns a key that is duplicated in a map, if any.
    pub fn document<'t>(mut self, tree: impl Tree<'t>) -> Result<Option<String>, E> {
        self.out.push_str("---\n");
        self.node(tree.node(), 0)?;
        self.out.push(b'\n');
        Ok(self.duplicate)
    }

    /// Writes a node inside a collection with this indentation.
    fn node<'t, T: Tree<'t>>(&mut self, node: TreeNode<'t, T>, indent: usize) -> Result<(), E> {
        match node {
            TreeNode::Null | TreeNode::Refused(_) => self.out.push_str("null"),
            TreeNode::Bool(b) => self.out.push_str(bool_text(b)),
            TreeNode::Int(n) => self.out.push_int(n),
            TreeNode::Uint(n) => self.out.push_int(n),
            TreeNode::Float(n) => float(n, self.out),
            TreeNode::Text(text) => self.value_text(&text, indent + 2)?,
            TreeNode::Made(text) => self.text(&text, indent + 2)?,
            TreeNode::Time(seconds, nanos) => self.one_line(&time_text(seconds, nanos)),
            TreeNode::Octets(bytes) => self.text(&lossy(bytes), indent + 2)?,
            TreeNode::Bytes(bytes) => {
                (self.grow)(self.out.len() + base64_len(bytes.len()))?;
                self.one_line(&base64(bytes));
            }
            TreeNode::Spelled(text) => self.out.push_str(text),
            TreeNode::Digits(text) => self.out.push_str(&text),
            TreeNode::Tagged(tag, tree) => {
                self.out.push_str(tag);
                self.out.push(b' ');
                return self.node(untagged(tree).node(), indent);
            }
            TreeNode::List(items) if items.len() == 0 => self.out.push_str("[]"),
            TreeNode::Map(entries) if entries.len() == 0 => self.out.push_str("{}"),
            TreeNode::List(items) if items.clone().all(is_collection) => self.close_list::<T>(items, indent)?,
            TreeNode::List(items) => self.list::<T>(items, indent)?,
            TreeNode::Map(entries) => self.map::<T>(entries, indent)?,
        }
        (self.grow)(self.out.len())
    }

    /// Writes `[{…}, {…}]`.
    fn close_list<'t, T: Tree<'t>>(&mut self, items: T::Items, indent: usize) -> Result<(), E> {
        self.out.push(b'[');
        for (at, item) in items.enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.node(item.node(), indent)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn list<'t, T: Tree<'t>>(&mut self, items: T::Items, indent: usize) -> Result<(), E> {
        self.out.push_all(b"[\n");
        for item in items {
            self.out.pad(indent + 2);
            self.node(item.node(), indent + 2)?;
            self.out.push_all(b",\n");
        }
        self.out.pad(indent);
        self.out.push(b']');
        Ok(())
    }

    fn map<'t, T: Tree<'t>>(&mut self, entries: T::Entries, indent: usize) -> Result<(), E> {
        self.out.push_all(b"{\n");
        let mut unchecked = Some(entries.clone());
        for (key, value) in entries {
            self.out.pad(indent + 2);
            match key {
                Key::Text(text) if is_bare(&text) => {
                    self.out.push_text(&text);
                    self.out.push_all(b": ");
                }
                Key::Text(text) => self.key(text.as_str())?,
                other => {
                    self.key(&other.to_text())?;
                    self.duplicate = self.duplicate.take().or_else(|| unchecked.take().and_then(duplicate::<T>));
                }
            }
            self.node(value.node(), indent + 2)?;
            self.out.push_all(b",\n");
        }
        self.out.pad(indent);
        self.out.push(b'}');
        Ok(())
    }

    /// Writes a key with its colon and a space. A key beyond the lookahead of parsers gets the explicit form (`? `).
    fn key(&mut self, text: &str) -> Result<(), E> {
        (self.grow)(self.out.len() + text.len())?;
        let begun = self.out.len();
        if is_bare(&Text::new(text)) {
            self.out.push_str(text);
        } else {
            self.one_line(text);
        }
        if self.out.len() - begun > LONGEST_PLAIN {
            self.out.insert(begun, "? ");
            self.out.push(b' ');
        }
        self.out.push_all(b": ");
        Ok(())
    }

    /// Writes a text value between quotes.
    #[inline]
    fn value_text(&mut self, text: &Text<'_>, indent: usize) -> Result<(), E> {
        if !text.is_known_word() && !text.all(is_printable) {
            return self.text(text.as_str(), indent);
        }
        (self.grow)(self.out.len() + text.as_str().len())?;
        self.out.push_quoted(text);
        Ok(())
    }

    /// Writes text between quotes. `indent` is the indentation of the closing quote of a multi-line text.
    fn text(&mut self, text: &str, indent: usize) -> Result<(), E> {
        (self.grow)(self.out.len() + text.len())?;
        if memchr::memchr(b'\n', text.as_bytes()).is_none() {
            self.one_line(text);
            return Ok(());
        }
        self.out.push_str("\"\\\n");
        for line in text.split_inclusive('\n') {
            self.out.pad(indent);
            // Leading spaces are significant only if the first one is escaped.
            self.out.push(if line.starts_with(' ') { b'\\' } else { b' ' });
            escaped(line, self.out, &is_special, &escape);
            self.out.push_str("\\\n");
            (self.grow)(self.out.len())?;
        }
        self.out.pad(indent);
        self.out.push(b'"');
        Ok(())
    }

    fn one_line(&mut self, text: &str) {
        self.out.push(b'"');
        escaped(text, self.out, &is_special, &escape);
        self.out.push(b'"');
    }
}

/// Returns `true` for ASCII bytes that need no escape between quotes.
#[inline(always)]
const fn is_printable(byte: u8) -> bool {
    (byte.wrapping_sub(b' ') < 95) & (byte != b'"') & (byte != b'\\')
}

fn is_collection<'t, T: Tree<'t>>(tree: T) -> bool {
    match tree.node() {
        TreeNode::List(_) | TreeNode::Map(_) => true,
        TreeNode::Tagged(_, inner) => is_collection(inner),
        _ => false,
    }
}

/// Returns `true` if a key needs no quotes: ASCII letters, digits and `_`, inside also `-`, `.` and `/`, and no text that
/// a parser reads as another type.
fn is_bare(text: &Text<'_>) -> bool {
    let bytes = text.as_str().as_bytes();
    let at_end = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let within = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    at_end(bytes.first())
        && at_end(bytes.last())
        && (is_word(text) || (text.all(within) && class_in_line(text.as_str()) == Class::Plain))
        && !matches!(bytes, [b't' | b'f' | b'T' | b'F'])
}

/// Returns `true` for characters to escape: invisible ones, and all white space except the space.
fn is_special(c: char) -> bool {
    must_escape(c) || (c.is_whitespace() && c != ' ')
}

fn escape(c: char, out: &mut Buffer) {
    let short = match c {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '\u{85}' => "\\N",
        '\u{a0}' => "\\_",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        c => return numbered(u32::from(c), out),
    };
    out.push_str(short);
}
