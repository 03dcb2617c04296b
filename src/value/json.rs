//! Writes trees as JSON.

mod text;

use smallvec::SmallVec;

use super::marshal::MAX_DEPTH;
use super::output::{
    Buffer, ByKey, Common, Key, Refused, Tree, TreeNode, Viewed, duplicate, non_finite, not_plain, time_text,
};
use super::{Text, Value};
use dropforge_base::stdlib::encodings::{base64, base64_len};
use text::{Fence, is_plain};
pub use text::{exchanged_float, exchanged_text, not_finite};

/// The bound of the floats whose neighbouring integers are all exact.
const EXACT: f64 = (1_u64 << 53) as f64;

/// The layout of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonStyle {
    /// Without white space.
    Compact,
    /// One item per line, indented by two spaces per level.
    Pretty,
    /// Without white space, with integers for floats without a fraction.
    Whole,
    /// As network services exchange it, optionally with one item per line: line separators are escaped, on request also the
    /// characters that web pages take for markup, and large and small floats have an exponent.
    Exchanged {
        /// One item per line, like [`JsonStyle::Pretty`].
        pretty: bool,
        /// Escapes `<`, `>` and `&`.
        markup: bool,
    },
}

impl JsonStyle {
    const fn is_pretty(self) -> bool {
        matches!(self, Self::Pretty | Self::Exchanged { pretty: true, .. })
    }

    const fn is_exchanged(self) -> bool {
        matches!(self, Self::Exchanged { .. })
    }
}

/// Appends `value` to `out` as JSON with map keys in byte order. Undefined values and non-finite floats become `null`.
/// `grow` receives a length of `out` and may stop the writing. It returns the length up to which it need not be asked
/// again. It is asked after pieces, before a long one, and at the end.
pub fn write_json<E>(
    value: Value<'_>,
    style: JsonStyle,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<usize, E>,
) -> Result<(), E> {
    match value {
        Value::Str(text) if is_plain(text, style) => {
            grow(out.len() + text.as_str().len())?;
            out.extend(["\"", text.as_str(), "\""]);
            return grow(out.len()).map(drop);
        }
        Value::Int(n) => {
            out.push_str(itoa::Buffer::new().format(n));
            return grow(out.len()).map(drop);
        }
        _ => {}
    }
    Buffer::append(out, |out| Json::new(style, false, out, grow).tree(Viewed(value, ByKey)))
}

/// Appends a tree to `out` as services exchange it, in a style [`JsonStyle::Exchanged`]. `grow` receives a length of `out` for each node and before each long
/// text, and may stop the writing.
///
/// # Errors
/// Non-finite floats, values that the tree refuses, and values that contain themselves.
pub fn exchange_json<'t, E>(
    tree: impl Tree<'t>,
    style: JsonStyle,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    let mut grow = |len| grow(len).map(|()| len);
    let refused = Buffer::append(out, |out| {
        let mut json = Json::new(style, false, out, &mut grow);
        json.tree(tree).map(|()| json.refused)
    })?;
    refused.map_or(Ok(()), |why| Err(Refused::Value(why)))
}

/// A JSON writer.
pub(super) struct Json<'a, G> {
    style: JsonStyle,
    pretty: bool,
    /// `true` if non-finite floats are written by name, otherwise as null.
    named: bool,
    out: &'a mut Buffer,
    fence: Fence<'a, G>,
    /// A key that is duplicated in a map.
    duplicate: Option<String>,
    /// The reason that the tree cannot be written.
    refused: Option<String>,
}

/// A list or map whose first bracket is written, with the rest of its content.
enum OpenTree<'t, T: Tree<'t>> {
    List(T::Items),
    /// If keys may need conversion to text, also all entries until they are checked for duplicates.
    Map(T::Entries, Option<Box<T::Entries>>),
}

/// Open lists and maps, outermost first. Most trees need no allocation.
type Stack<'t, T> = SmallVec<[OpenTree<'t, T>; 4]>;

impl<'a, E, G: FnMut(usize) -> Result<usize, E>> Json<'a, G> {
    pub(super) const fn new(style: JsonStyle, named: bool, out: &'a mut Buffer, grow: &'a mut G) -> Self {
        let fence = Fence { grow, at: 0 };
        Self { style, pretty: style.is_pretty(), named, out, fence, duplicate: None, refused: None }
    }

    /// Appends a document and a newline. Returns a key that is duplicated in a map, if any.
    pub(super) fn line<'t>(mut self, tree: impl Tree<'t>) -> Result<Option<String>, E> {
        self.tree(tree)?;
        self.out.push(b'\n');
        Ok(self.duplicate)
    }

    /// Appends a tree of any depth. What is appended for a node always ends with a comma; the last one is removed.
    fn tree<'t, T: Tree<'t>>(&mut self, root: T) -> Result<(), E> {
        let mut open: Stack<'t, T> = SmallVec::new();
        let mut next = if self.leaf(root)? { None } else { Some(root) };
        loop {
            if let Some(inner) = next {
                self.begin(inner, &mut open);
                if self.style.is_exchanged() && self.is_refused(&open) {
                    return Ok(());
                }
                self.ask(self.out.len() - 1)?;
            }
            let level = open.len();
            next = match open.last_mut() {
                None => break,
                Some(OpenTree::List(items)) => self.items::<T>(items, level)?,
                Some(OpenTree::Map(entries, unchecked)) => self.entries::<T>(entries, unchecked, level)?,
            };
            if next.is_none() {
                open.pop();
            }
        }
        self.out.take_back(1);
        (self.fence.grow)(self.out.len()).map(drop)
    }

    /// Returns `true` if the tree is not written any further.
    fn is_refused<'t, T: Tree<'t>>(&mut self, open: &Stack<'t, T>) -> bool {
        if open.len() > MAX_DEPTH {
            let kind = if let Some(OpenTree::List(_)) = open.last() { "[]" } else { "map[string]" };
            let why = format!("json: unsupported value: encountered a cycle via {kind}interface {{}}");
            self.refused = Some(why);
        }
        self.refused.is_some()
    }

    /// Appends the first bracket of a list or map and opens its content, or appends all of an empty one.
    #[inline]
    fn begin<'t, T: Tree<'t>>(&mut self, tree: T, open: &mut Stack<'t, T>) {
        match tree.common() {
            Common::List(items) => self.begin_list(items, open),
            Common::Map(entries) => self.begin_map(entries, open),
            _ => match untagged(tree) {
                TreeNode::List(items) => self.begin_list(items, open),
                TreeNode::Map(entries) => self.begin_map(entries, open),
                TreeNode::Refused(kind) => self.refused = Some(not_plain(kind)),
                TreeNode::Float(n) => self.refused = Some(format!("json: unsupported value: {}", not_finite(n))),
                _ => {}
            },
        }
    }

    #[inline(always)]
    fn begin_list<'t, T: Tree<'t>>(&mut self, items: T::Items, open: &mut Stack<'t, T>) {
        if items.len() == 0 {
            return self.out.push_all(b"[],");
        }
        self.out.push(b'[');
        open.push(OpenTree::List(items));
    }

    #[inline(always)]
    fn begin_map<'t, T: Tree<'t>>(&mut self, entries: T::Entries, open: &mut Stack<'t, T>) {
        if entries.len() == 0 {
            return self.out.push_all(b"{},");
        }
        self.out.push(b'{');
        let unchecked = T::has_other_keys(&entries).then(|| Box::new(entries.clone()));
        open.push(OpenTree::Map(entries, unchecked));
    }

    /// Appends items up to one that is a list or map, which is returned, or to the end of the list.
    #[inline]
    fn items<'t, T: Tree<'t>>(&mut self, items: &mut T::Items, level: usize) -> Result<Option<T>, E> {
        for item in items {
            self.new_line(level);
            if !self.leaf(item)? {
                return Ok(Some(item));
            }
        }
        self.close(b"],", level - 1)
    }

    /// Appends entries like [`Json::items`].
    #[inline]
    fn entries<'t, T: Tree<'t>>(
        &mut self,
        entries: &mut T::Entries,
        unchecked: &mut Option<Box<T::Entries>>,
        level: usize,
    ) -> Result<Option<T>, E> {
        for (key, value) in entries {
            self.new_line(level);
            match key {
                Key::Text(text) if self.pretty => self.text(&text, b"\": ")?,
                Key::Text(text) => self.text(&text, b"\":")?,
                other => {
                    self.string(&other.to_text())?;
                    self.out.push_str(if self.pretty { "\": " } else { "\":" });
                    let duplicate = || unchecked.take().and_then(|entries| duplicate::<T>(*entries));
                    self.duplicate = self.duplicate.take().or_else(duplicate);
                }
            }
            if !self.leaf(value)? {
                return Ok(Some(value));
            }
        }
        self.close(b"},", level - 1)
    }

    /// Appends a node. Returns `false` for a list or map: then nothing is appended.
    #[inline(always)]
    fn leaf<'t, T: Tree<'t>>(&mut self, tree: T) -> Result<bool, E> {
        match tree.common() {
            Common::Text(text) => self.text(text, b"\",")?,
            Common::Int(n) => {
                self.out.push_int(n);
                self.out.push(b',');
                self.ask(self.out.len() - 1)?;
            }
            Common::List(_) | Common::Map(_) => return Ok(false),
            Common::Other => return self.other_leaf(tree),
        }
        Ok(true)
    }

    #[inline(never)]
    fn other_leaf<'t, T: Tree<'t>>(&mut self, tree: T) -> Result<bool, E> {
        match untagged(tree) {
            TreeNode::List(_) | TreeNode::Map(_) => return Ok(false),
            TreeNode::Refused(_) if self.style.is_exchanged() => return Ok(false),
            TreeNode::Float(n) if self.style.is_exchanged() && !n.is_finite() => return Ok(false),
            TreeNode::Null | TreeNode::Refused(_) => self.out.push_all(b"null,"),
            TreeNode::Bool(true) => self.out.push_all(b"true,"),
            TreeNode::Bool(false) => self.out.push_all(b"false,"),
            TreeNode::Text(text) => self.text(&text, b"\",")?,
            other => self.rare_leaf(other)?,
        }
        self.ask(self.out.len() - 1)?;
        Ok(true)
    }

    fn rare_leaf<'t, T: Tree<'t>>(&mut self, node: TreeNode<'t, T>) -> Result<(), E> {
        match node {
            TreeNode::Int(n) => self.out.push_int(n),
            TreeNode::Uint(n) => self.out.push_int(n),
            TreeNode::Float(n) => self.float(n),
            TreeNode::Made(text) => self.quoted(&text)?,
            TreeNode::Time(seconds, nanos) => self.quoted(&time_text(seconds, nanos))?,
            TreeNode::Octets(bytes) => self.octets(bytes)?,
            TreeNode::Bytes(bytes) => {
                self.ask(self.out.len() + base64_len(bytes.len()))?;
                self.quoted(&base64(bytes))?;
            }
            TreeNode::Spelled(text) => self.out.push_str(text),
            TreeNode::Digits(text) => self.out.push_str(&text),
            _ => {}
        }
        self.out.push(b',');
        Ok(())
    }

    fn float(&mut self, n: f64) {
        match non_finite(n) {
            None if self.style.is_exchanged() => self.out.push_str(&exchanged_float(n)),
            None if self.style == JsonStyle::Whole && n.fract() == 0.0 && n.abs() < EXACT => {
                self.out.push_int(n as i64)
            }
            None => self.out.push_str(zmij::Buffer::new().format_finite(n)),
            Some(name) if self.named => self.out.push_format(format_args!("\"{name}\"")),
            Some(_) => self.out.push_str("null"),
        }
    }

    /// Appends a text value as a JSON string, then `after`, which begins with its last quote.
    #[inline(always)]
    fn text<const M: usize>(&mut self, text: &Text<'_>, after: &[u8; M]) -> Result<(), E> {
        if !is_plain(text, self.style) {
            self.string(text.as_str())?;
            self.out.push_all(after);
            return Ok(());
        }
        self.ask(self.out.len() + text.as_str().len())?;
        match text.block() {
            Some(block) => self.out.push_quoted_block((block, text.as_str().len()), after),
            None => {
                self.out.push(b'"');
                self.out.push_str(text.as_str());
                self.out.push_all(after);
            }
        }
        Ok(())
    }

    /// Appends text that may not be UTF-8. Other bytes become U+FFFD.
    fn octets(&mut self, bytes: &[u8]) -> Result<(), E> {
        self.out.push(b'"');
        for chunk in bytes.utf8_chunks() {
            self.fence.content(chunk.valid(), self.style, self.out)?;
            chunk.invalid().iter().for_each(|_| self.out.push_str("\u{fffd}"));
        }
        self.out.push(b'"');
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), E> {
        self.fence.string(text, self.style, self.out)
    }

    fn quoted(&mut self, text: &str) -> Result<(), E> {
        self.string(text)?;
        self.out.push(b'"');
        Ok(())
    }

    #[inline(always)]
    fn ask(&mut self, len: usize) -> Result<(), E> {
        self.fence.ask(len)
    }

    /// Ends a list or map, in the place of the last comma.
    #[inline(always)]
    fn close<T>(&mut self, bracket: &[u8; 2], level: usize) -> Result<Option<T>, E> {
        self.out.take_back(1);
        self.new_line(level);
        self.out.push_all(bracket);
        self.ask(self.out.len() - 1).map(|()| None)
    }

    #[inline(always)]
    fn new_line(&mut self, level: usize) {
        if self.pretty {
            self.out.push_line(1 + 2 * level, b"");
        }
    }
}

/// Returns a node below its tags.
#[inline(always)]
fn untagged<'t, T: Tree<'t>>(tree: T) -> TreeNode<'t, T> {
    let mut node = tree.node();
    while let TreeNode::Tagged(_, tree) = node {
        node = tree.node();
    }
    node
}

#[cfg(test)]
mod tests;
