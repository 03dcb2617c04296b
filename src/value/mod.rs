//! Values.
//!
//! [`Value`] is what a running program works on: `Copy`, 16 bytes, borrowing from the inputs, the program's
//! pools or the render's [`Arena`]. No reference counts and no drop glue, so a render in its steady state
//! allocates nothing. [`Data`] is its owned twin: what is read from input files and handed out.
//!
//! Invariants: an integer that fits `i64` is a [`Value::Int`], but in a language where whole numbers without sign are a
//! type of their own; a list or map is never deeper than the depth limit it was built under, so that recursion over values is bounded; maps keep insertion order and their
//! [`Shape`] holds the sorted permutation beside it.

mod arena;
mod data;
mod entries;
mod equal;
mod extended;
mod from_serde;
mod json;
mod layers;
mod map;
mod output;
mod to_value;
mod typed;
mod types;
pub mod yaml;

pub use arena::Arena;
pub use data::{Data, DataMap};
pub(crate) use entries::EntryKey;
pub use entries::{BadKey, Entries};
pub use equal::equal;
pub use extended::{Capsule, CapsuleContent, Extended, Extension, Refinement, Unknown, Writing};
pub use from_serde::InputBuilder;
pub use json::{JsonStyle, write_json};
pub use layers::Inputs;
pub use map::{Map, Shape, Shapes};
pub use output::{Key, MapEntries, Node, OutputFormat, Sorted, Tree, write_documents};
pub use typed::from_value;
pub(crate) use typed::{Coerce, Misfit, Path, Step, ValueDeserializer, add_name};
pub use types::{Attribute, Type};

pub use crate::stdlib::bignum::{BigNum, Layout};

/// How many bytes a [`Block`] has.
pub(crate) const BLOCK: usize = 32;

/// A text of at most this many bytes, and what happens to follow it in memory: written whole, without asking for
/// the text's length first.
pub(crate) type Block = [u8; BLOCK];

/// What is put behind a short text so that it is a [`Block`].
pub(crate) const ROOM: &str = match std::str::from_utf8(&[0; BLOCK]) {
    Ok(room) => room,
    Err(_) => "",
};

/// For each byte of a [`Block`] whether it counts: all where one begins at the front, the first `n` where one begins
/// `BLOCK - n` further on.
const COUNTS: [u8; 2 * BLOCK] = {
    let mut counts = [0; 2 * BLOCK];
    counts.split_at_mut(BLOCK).0.copy_from_slice(&[1; BLOCK]);
    counts
};

/// Text, behind one thin reference so that a [`Value`] stays 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Text<'v> {
    text: &'v str,
    /// Where `text` is short, it and the bytes behind it, if there are so many.
    block: Option<&'v Block>,
    /// Whether it is known to be a [word](yaml::is_word).
    word: bool,
}

impl<'v> Text<'v> {
    /// Wraps `text`.
    pub const fn new(text: &'v str) -> Self {
        Self { text, block: None, word: false }
    }

    /// Wraps the first `len` bytes of `room`.
    pub(crate) fn in_front_of(room: &'v str, len: usize) -> Self {
        let block = if len <= BLOCK { room.as_bytes().first_chunk() } else { None };
        Self { text: room.get(..len).unwrap_or(room), block, word: false }
    }

    /// Whether it is a [word](yaml::is_word).
    pub(crate) fn is_word(&self) -> bool {
        yaml::is_word(self)
    }

    /// The same, where `word` says whether it is a word: what is asked of a text again and again is found out once.
    pub(crate) const fn known(self, word: bool) -> Self {
        Self { word, ..self }
    }

    /// Whether it is known to be a word; one that is not may still be one.
    pub(in crate::value) const fn is_known_word(&self) -> bool {
        self.word
    }

    /// The text itself, for as long as what it borrows from.
    pub const fn as_str(&self) -> &'v str {
        self.text
    }

    /// Whether one of the bytes `a` and `b` is in the text.
    #[inline]
    pub(crate) fn has_either(&self, a: u8, b: u8) -> bool {
        let counts = BLOCK.checked_sub(self.text.len()).and_then(|behind| COUNTS.get(behind..)?.first_chunk::<BLOCK>());
        let (Some(block), Some(counts)) = (self.block, counts) else {
            return memchr::memchr2(a, b, self.text.as_bytes()).is_some();
        };
        // Every byte of the block is looked at, which takes a few instructions in all; what lies behind the text
        // does not count.
        let either = |byte: u8| u8::from(byte == a || byte == b);
        block.iter().zip(counts).fold(0, |found, (&byte, &counts)| found | (either(byte) & counts)) != 0
    }

    /// Whether `holds` of every byte of the text. Every byte is looked at, which takes a few instructions in all where
    /// the text is short and what `holds` asks is simple.
    #[inline(always)]
    pub(crate) fn all(&self, holds: impl Fn(u8) -> bool) -> bool {
        all_bytes(self.text, self.block, holds)
    }

    /// The text and what follows it, where it is short.
    pub(crate) const fn block(&self) -> Option<&'v Block> {
        self.block
    }
}

/// Whether `holds` of every byte of `text`, which is the beginning of `block`.
#[inline(always)]
fn all_bytes(text: &str, block: Option<&Block>, holds: impl Fn(u8) -> bool) -> bool {
    let counts = BLOCK.checked_sub(text.len()).and_then(|behind| COUNTS.get(behind..)?.first_chunk::<BLOCK>());
    let (Some(block), Some(counts)) = (block, counts) else {
        return text.bytes().fold(true, |all, byte| all & holds(byte));
    };
    let not = |byte: u8| u8::from(!holds(byte));
    let count = |half: &[u8; HALF], counts: &[u8; HALF]| {
        half.iter().zip(counts).fold(0, |found, (&byte, &counts)| found | (not(byte) & counts)) == 0
    };
    let (Some((near, far)), Some((counts, counts_far))) = (halves(block), halves(counts)) else { return false };
    count(near, counts) && (text.len() <= HALF || count(far, counts_far))
}

/// Half of a [`Block`], which is all there is of most texts.
const HALF: usize = BLOCK / 2;

#[inline(always)]
fn halves(block: &Block) -> Option<(&[u8; HALF], &[u8; HALF])> {
    Some((block.first_chunk()?, block.last_chunk()?))
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Text<'_> {}

/// A list.
#[derive(Debug, Clone, Copy)]
pub struct List<'v> {
    items: &'v [Value<'v>],
    within: Within,
}

/// What holds of a value with all that is in it. Kept where values hold others, so that nobody has to look into them.
#[derive(Debug, Clone, Copy, Default)]
struct Within {
    /// How deep lists and maps nest: a list of scalars is 1 deep.
    depth: u16,
    /// Whether anything is marked or not known.
    qualified: bool,
}

impl Within {
    /// What holds of all of `values` together with what holds them.
    fn around(values: &[Value<'_>]) -> Self {
        let mut all = Self::default();
        values.iter().for_each(|value| all.add(value));
        all.held()
    }

    /// Adds what holds of `value`: of scalars nothing does, and most values are scalars.
    #[inline(always)]
    fn add(&mut self, value: &Value<'_>) {
        if let Value::List(_) | Value::Map(_) | Value::Extended(_) = value {
            let one = value.within();
            *self = Self { depth: self.depth.max(one.depth), qualified: self.qualified | one.qualified };
        }
    }

    /// What holds of what these values are in.
    #[inline(always)]
    const fn held(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }
}

impl<'v> List<'v> {
    pub(crate) fn new(items: &'v [Value<'v>]) -> Self {
        Self { items, within: Within::around(items) }
    }

    /// The items.
    pub const fn items(&self) -> &'v [Value<'v>] {
        self.items
    }
}

/// A value of a running program.
///
/// ```
/// use dropforge::value::{Arena, Value};
/// let arena = Arena::new();
/// let list = arena.list(&[Value::Int(1), arena.text("a")]);
/// assert_eq!(list.kind(), "list");
/// assert_eq!(list.depth(), 1);
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[repr(u64)] // so that a value is two words, moved as such, whatever it holds
pub enum Value<'v> {
    /// No value: an unset slot, a missing name where a language tolerates it.
    #[default]
    Undefined,
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number that fits 64 bits with sign.
    Int(i64),
    /// A whole number above `i64::MAX`; in languages that have a type of whole numbers without sign, any of that type.
    Uint(u64),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Str(&'v Text<'v>),
    /// A list.
    List(&'v List<'v>),
    /// A map from text.
    Map(&'v Map<'v>),
    /// A value beyond these.
    Extended(&'v Extension<'v>),
}

const _: () = assert!(size_of::<Value<'static>>() == 16);

impl<'v> Value<'v> {
    /// The whole number `n`, as [`Value::Int`] where it fits.
    pub fn uint(n: u64) -> Self {
        i64::try_from(n).map_or(Value::Uint(n), Value::Int)
    }

    /// Whether this is [`Value::Undefined`].
    pub const fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined)
    }

    /// The text, where this is text.
    pub const fn as_str(&self) -> Option<&'v str> {
        match self {
            Value::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The items, where this is a list.
    pub const fn as_list(&self) -> Option<&'v [Value<'v>]> {
        match self {
            Value::List(list) => Some(list.items()),
            _ => None,
        }
    }

    /// The map, where this is one.
    pub const fn as_map(&self) -> Option<&'v Map<'v>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The number as a float (large integers lose their last digits), where this is a number.
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(n) => Some(*n as f64),
            Value::Uint(n) => Some(*n as f64),
            Value::Float(n) => Some(*n),
            _ => None,
        }
    }

    /// How deep lists and maps nest here; 0 for a scalar.
    pub const fn depth(&self) -> u16 {
        self.within().depth
    }

    /// Whether it, or anything in it, is marked or not known.
    ///
    /// ```
    /// use dropforge::value::{Arena, Type, Value};
    /// let arena = Arena::new();
    /// assert!(!arena.list(&[Value::Int(1)]).is_qualified());
    /// let unknown = arena.list(&[Value::Int(1), arena.unknown(Type::Number)]);
    /// assert!(unknown.is_qualified() && arena.map(&[("inner", unknown)]).is_qualified());
    /// assert!(arena.list(&[arena.marked(Value::Int(1), &["secret"])]).is_qualified());
    /// ```
    pub const fn is_qualified(&self) -> bool {
        self.within().qualified
    }

    #[inline]
    const fn within(&self) -> Within {
        match self {
            Value::List(list) => list.within,
            Value::Map(map) => map.within(),
            Value::Extended(extension) => extension.within(),
            _ => Within { depth: 0, qualified: false },
        }
    }

    /// What kind of value this is, as a user says it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Undefined => "undefined",
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::Uint(_) => "integer",
            Value::Float(_) => "number",
            Value::Str(_) => "string",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Extended(extension) => extension.name(),
        }
    }

    /// The owned twin; [`Value::Undefined`] becomes null.
    pub fn to_data(&self) -> Data {
        match self {
            Value::Undefined | Value::Null => Data::Null,
            Value::Bool(b) => Data::Bool(*b),
            Value::Int(n) => Data::Int(*n),
            Value::Uint(n) => Data::uint(*n),
            Value::Float(n) => Data::Float(*n),
            Value::Str(text) => Data::Str(text.as_str().to_owned()),
            Value::List(list) => Data::List(list.items().iter().map(Value::to_data).collect()),
            Value::Map(map) => Data::Map(map.iter().map(|(key, value)| (key.to_owned(), value.to_data())).collect()),
            Value::Extended(extension) => extension.to_data(),
        }
    }
}
