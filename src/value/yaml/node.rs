//! A node of a YAML document and its place in the file.
//!
//! Nodes share their contents: a clone of a list costs a reference count, so an alias costs nothing until
//! somebody unfolds it into [`Data`], and how much that can be is bounded while reading ([`super::read`]).

use std::sync::Arc;

use crate::text::{Source, Span};
use crate::value::{Data, DataMap};

/// How a scalar is written in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that fits `i64`.
    Int(i64),
    /// A whole number above `i64::MAX` that fits `u64`.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// Text; it is [`Node::text`].
    Str,
    /// A list.
    List(Arc<Vec<Node>>),
    /// A map in document order.
    Map(Arc<Vec<Entry>>),
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as text: a number or boolean in its canonical spelling, `null` for an empty key.
    pub name: Arc<str>,
    /// The key as a node: its place, kind and spelling.
    pub key: Node,
    /// The value.
    pub value: Node,
}

/// A node of a YAML document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The place in bytes: a scalar with its quotes, a block scalar from its first character of text, an
    /// alias where the alias stands, a collection at its beginning.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
    /// How a scalar is written; [`Style::Plain`] for collections.
    pub style: Style,
    /// A scalar's text after quotes, escapes and folding; for a number its spelling. Empty for collections.
    pub text: Arc<str>,
    /// Nodes in this tree, aliases unfolded, and one for each 64 bytes of text.
    pub(super) weight: u64,
    /// Levels of collections in this tree.
    pub(super) height: usize,
}

impl Node {
    /// The text, where this is text.
    pub fn as_str(&self) -> Option<&str> {
        matches!(self.kind, Kind::Str).then_some(&*self.text)
    }

    /// The items, where this is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, where this is a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry called `name`, where this is a map that has it.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| &*entry.name == name)
    }

    /// The value under `name`, where this is a map that has it.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// What it is, as a user says it.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "boolean",
            Kind::Int(_) | Kind::Uint(_) => "integer",
            Kind::Float(_) => "number",
            Kind::Str => "string",
            Kind::List(_) => "list",
            Kind::Map(_) => "map",
        }
    }

    /// The value with its aliases unfolded.
    pub fn to_data(&self) -> Data {
        match &self.kind {
            Kind::Null => Data::Null,
            Kind::Bool(b) => Data::Bool(*b),
            Kind::Int(n) => Data::Int(*n),
            Kind::Uint(n) => Data::uint(*n),
            Kind::Float(n) => Data::Float(*n),
            Kind::Str => Data::Str(self.text.as_ref().to_owned()),
            Kind::List(items) => Data::List(items.iter().map(Node::to_data).collect()),
            Kind::Map(entries) => {
                let pair = |entry: &Entry| (entry.name.as_ref().to_owned(), entry.value.to_data());
                Data::Map(entries.iter().map(pair).collect::<DataMap>())
            }
        }
    }

    /// The place in the file of the bytes `within` of this scalar's text, where the spelling says it exactly:
    /// text on one line (escapes included) and literal blocks. Otherwise the scalar's own place.
    ///
    /// ```
    /// use dropforge::{limits::Limits, text::{Source, Span}, value::yaml};
    /// let source = Source::new("in.yaml", "cmd: \"say \\\"x\\\"\"\n");
    /// let root = yaml::read_one(&source, &Limits::default()).unwrap();
    /// let x = root.get("cmd").unwrap().locate(&source, Span::new(5, 6));
    /// assert_eq!(source.slice(x), "x");
    /// ```
    pub fn locate(&self, source: &Source, within: Span) -> Span {
        let found = self.offset(source, within.start as usize).zip(self.offset(source, within.end as usize));
        found.map_or(self.span, |(start, end)| Span::of(start..end))
    }

    /// The offset in the file of the offset `at` in the text.
    fn offset(&self, source: &Source, at: usize) -> Option<usize> {
        if !self.text.is_char_boundary(at) {
            return None;
        }
        let raw = source.slice(self.span);
        let start = self.span.start as usize;
        match self.style {
            Style::Plain => (raw == &*self.text).then_some(start + at),
            Style::SingleQuoted => unescaped(raw, &self.text, at, single_step).map(|n| start + n),
            Style::DoubleQuoted => unescaped(raw, &self.text, at, double_step).map(|n| start + n),
            Style::Literal => in_block(source.text(), start, &self.text, at),
            Style::Folded => None,
        }
    }
}

/// Walks a quoted scalar and its text side by side to offset `at` of the text; `step` gives the bytes that
/// one character takes in the file and in the text.
fn unescaped(raw: &str, text: &str, at: usize, step: fn(&str) -> Option<(usize, usize)>) -> Option<usize> {
    let (mut in_raw, mut in_text) = (1, 0);
    while in_text < at {
        let rest = raw.get(in_raw..)?;
        let (taken, made) = step(rest)?;
        if !rest.starts_with(['\\', '\'']) && rest.get(..taken) != text.get(in_text..in_text + made) {
            return None;
        }
        in_raw += taken;
        in_text += made;
    }
    (in_text == at).then_some(in_raw)
}

fn single_step(rest: &str) -> Option<(usize, usize)> {
    match rest.chars().next()? {
        '\'' if rest.starts_with("''") => Some((2, 1)),
        '\n' | '\r' | '\'' => None,
        other => Some((other.len_utf8(), other.len_utf8())),
    }
}

fn double_step(rest: &str) -> Option<(usize, usize)> {
    let mut chars = rest.chars();
    let digits = match chars.next()? {
        '\n' | '\r' | '"' => return None,
        '\\' => match chars.next()? {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            'N' | '_' => return Some((2, 2)),
            'L' | 'P' => return Some((2, 3)),
            '\n' | '\r' => return None,
            _ => return Some((2, 1)),
        },
        other => return Some((other.len_utf8(), other.len_utf8())),
    };
    let code = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
    // Halves of surrogate pairs have no character of their own: the place is then the scalar's.
    Some((2 + digits, char::from_u32(code)?.len_utf8()))
}

/// The place of offset `at` of a literal block's text, whose first line of text begins at `start`.
fn in_block(file: &str, start: usize, text: &str, at: usize) -> Option<usize> {
    let mut line_start = file.get(..start)?.rfind('\n').map_or(0, |n| n + 1);
    let indent = start - line_start;
    // The block's first line of text may come after empty ones.
    for _ in text.bytes().take_while(|&byte| byte == b'\n') {
        line_start = file.get(..line_start.checked_sub(1)?)?.rfind('\n').map_or(0, |n| n + 1);
    }
    let (mut begun, mut lines) = (0, text.split_inclusive('\n'));
    loop {
        let wanted = lines.next().unwrap_or("");
        let line = file.get(line_start..)?.split_inclusive('\n').next().unwrap_or("");
        let content = wanted.trim_end_matches('\n');
        let written = line.get(indent..).unwrap_or("").trim_end_matches(['\n', '\r']);
        if written != content && !(content.is_empty() && line.trim_matches([' ', '\n', '\r']).is_empty()) {
            return None;
        }
        if at < begun + wanted.len() || (at == begun + wanted.len() && !wanted.ends_with('\n')) {
            return Some(line_start + indent.min(line.len()) + (at - begun));
        }
        if wanted.is_empty() {
            return None;
        }
        begun += wanted.len();
        line_start += line.len();
    }
}
