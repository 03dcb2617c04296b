//! Writes values as JSON.

use smallvec::SmallVec;

use super::output::{Buffer, Common, Key, Node, Sorted, Tree, duplicate, non_finite};
use super::{Text, Value};
use dropforge_base::stdlib::byte_search::{WORD, first_place, first_special, last_word};
use dropforge_base::stdlib::encodings::{base64, base64_len};

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
        Value::Str(text) => return write_text(text, out, grow),
        Value::Int(n) => {
            out.push_str(itoa::Buffer::new().format(n));
            return grow(out.len()).map(drop);
        }
        _ => {}
    }
    let pretty = style == JsonStyle::Pretty;
    Buffer::append(out, |out| {
        let fence = Fence { grow, at: 0 };
        let whole = style == JsonStyle::Whole;
        Json { pretty, named: false, whole, out, fence, duplicate: None }.tree(Sorted(value))
    })
}

/// Appends a text like [`write_json`], without a buffer: it is known to be UTF-8.
fn write_text<E>(text: &Text<'_>, out: &mut String, grow: &mut impl FnMut(usize) -> Result<usize, E>) -> Result<(), E> {
    if is_plain(text) {
        grow(out.len() + text.as_str().len())?;
        out.push('"');
        out.push_str(text.as_str());
    } else {
        Fence { grow: &mut *grow, at: 0 }.string(text.as_str(), out)?;
    }
    out.push('"');
    grow(out.len()).map(drop)
}

/// A JSON writer.
pub(super) struct Json<'a, G> {
    pretty: bool,
    /// `true` if non-finite floats are written by name, otherwise as null.
    named: bool,
    /// `true` if floats without a fraction are written as integers.
    whole: bool,
    out: &'a mut Buffer,
    fence: Fence<'a, G>,
    /// A key that is duplicated in a map.
    duplicate: Option<String>,
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
    /// Returns a writer of documents.
    pub(super) const fn document(pretty: bool, out: &'a mut Buffer, grow: &'a mut G) -> Self {
        Self { pretty, named: true, whole: false, out, fence: Fence { grow, at: 0 }, duplicate: None }
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

    /// Appends the first bracket of a list or map and opens its content, or appends all of an empty one.
    #[inline]
    fn begin<'t, T: Tree<'t>>(&mut self, tree: T, open: &mut Stack<'t, T>) {
        match tree.common() {
            Common::List(items) => self.begin_list(items, open),
            Common::Map(entries) => self.begin_map(entries, open),
            _ => match untagged(tree) {
                Node::List(items) => self.begin_list(items, open),
                Node::Map(entries) => self.begin_map(entries, open),
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
            Node::List(_) | Node::Map(_) => return Ok(false),
            Node::Null => self.out.push_all(b"null,"),
            Node::Bool(true) => self.out.push_all(b"true,"),
            Node::Bool(false) => self.out.push_all(b"false,"),
            Node::Text(text) => self.text(&text, b"\",")?,
            other => self.rare_leaf(other)?,
        }
        self.ask(self.out.len() - 1)?;
        Ok(true)
    }

    fn rare_leaf<'t, T: Tree<'t>>(&mut self, node: Node<'t, T>) -> Result<(), E> {
        match node {
            Node::Int(n) => self.out.push_int(n),
            Node::Uint(n) => self.out.push_int(n),
            Node::Float(n) => self.float(n),
            Node::Made(text) => self.quoted(&text)?,
            Node::Bytes(bytes) => {
                self.ask(self.out.len() + base64_len(bytes.len()))?;
                self.quoted(&base64(bytes))?;
            }
            Node::Spelled(text) => self.out.push_str(text),
            Node::Digits(text) => self.out.push_str(&text),
            _ => {}
        }
        self.out.push(b',');
        Ok(())
    }

    fn float(&mut self, n: f64) {
        match non_finite(n) {
            None if self.whole && n.fract() == 0.0 && n.abs() < EXACT => self.out.push_int(n as i64),
            None => self.out.push_str(zmij::Buffer::new().format_finite(n)),
            Some(name) if self.named => self.out.push_format(format_args!("\"{name}\"")),
            Some(_) => self.out.push_str("null"),
        }
    }

    /// Appends a text value as a JSON string, with `behind`, which begins with its last quote.
    #[inline(always)]
    fn text<const M: usize>(&mut self, text: &Text<'_>, behind: &[u8; M]) -> Result<(), E> {
        if !is_plain(text) {
            self.string(text.as_str())?;
            self.out.push_all(behind);
            return Ok(());
        }
        self.ask(self.out.len() + text.as_str().len())?;
        match text.block() {
            Some(block) => self.out.push_quoted_block((block, text.as_str().len()), behind),
            None => {
                self.out.push(b'"');
                self.out.push_str(text.as_str());
                self.out.push_all(behind);
            }
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), E> {
        self.fence.string(text, self.out)
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

/// The limit on the length of the output.
struct Fence<'a, G> {
    grow: &'a mut G,
    /// The length up to which `grow` need not be asked.
    at: usize,
}

impl<E, G: FnMut(usize) -> Result<usize, E>> Fence<'_, G> {
    /// Asks `grow` about a length beyond the fence.
    #[inline(always)]
    fn ask(&mut self, len: usize) -> Result<(), E> {
        if len > self.at { self.ask_again(len) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn ask_again(&mut self, len: usize) -> Result<(), E> {
        self.at = (self.grow)(len)?;
        Ok(())
    }

    /// Appends `text` as a JSON string without its last quote, escaping only `"`, `\` and control characters. `grow` is
    /// asked before each piece, so that an oversized text is refused before it is written.
    #[inline(never)]
    fn string(&mut self, text: &str, out: &mut impl JsonSink) -> Result<(), E> {
        out.push_str("\"");
        let mut start = 0;
        loop {
            let end = clean_end(text.as_bytes(), start);
            self.ask(out.len() + end - start)?;
            out.push_str(text.get(start..end).unwrap_or(""));
            let Some(byte) = text.as_bytes().get(end) else { break };
            out.push_str(escaped(*byte));
            start = end + 1;
        }
        self.ask(out.len() + 1)
    }
}

/// Text that grows.
trait JsonSink {
    fn len(&self) -> usize;
    fn push_str(&mut self, text: &str);
}

impl JsonSink for Buffer {
    fn len(&self) -> usize {
        self.len()
    }

    fn push_str(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl JsonSink for String {
    fn len(&self) -> usize {
        self.len()
    }

    fn push_str(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Returns a node below its tags.
#[inline(always)]
fn untagged<'t, T: Tree<'t>>(tree: T) -> Node<'t, T> {
    let mut node = tree.node();
    while let Node::Tagged(_, tree) = node {
        node = tree.node();
    }
    node
}

/// Returns `true` if a JSON string contains `text` unescaped, as far as one look shows it.
#[inline(always)]
fn is_plain(text: &Text<'_>) -> bool {
    text.is_known_word() || text.block().is_some() && text.all(is_clean)
}

/// Returns `true` if a JSON string contains `byte` unescaped.
#[inline(always)]
const fn is_clean(byte: u8) -> bool {
    (byte >= 0x20) & (byte != b'"') & (byte != b'\\')
}

/// Bytes that are looked at together. Compiles to vector instructions.
const TOGETHER: usize = 32;

/// Returns the place of the first byte from `start` on that is escaped, or the length.
#[inline]
fn clean_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let is_clean_block = |block: &[u8; TOGETHER]| block.iter().fold(true, |all, byte| all & is_clean(*byte));
    while bytes.get(at..).and_then(<[u8]>::first_chunk).is_some_and(is_clean_block) {
        at += TOGETHER;
    }
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let clean = first_escaped(u64::from_le_bytes(*word));
        if clean < WORD {
            return at + clean;
        }
        at += WORD;
    }
    at + first_escaped(last_word(bytes, at))
}

/// Returns the place of the first byte of a word that is escaped, [`WORD`] if there is none.
#[inline(always)]
fn first_escaped(word: u64) -> usize {
    first_place(first_special(word, b'"', b'\\'))
}

/// Returns the escape of a byte.
const fn escaped(byte: u8) -> &'static str {
    const CONTROL: [&str; 32] = [
        "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t", "\\n",
        "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014",
        "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e",
        "\\u001f",
    ];
    match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        control => CONTROL[control as usize % CONTROL.len()],
    }
}

#[cfg(test)]
mod tests;
