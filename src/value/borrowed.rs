//! The borrowed value of a running program, its texts and its equality.

use super::{Data, Extended, Extension, Map, yaml};

/// A list.
#[derive(Debug, Clone, Copy)]
pub struct List<'v> {
    items: &'v [Value<'v>],
    summary: Summary,
}

impl<'v> List<'v> {
    /// Returns a list of items.
    pub fn new(items: &'v [Value<'v>]) -> Self {
        Self::summarized(items, Summary::around(items))
    }

    /// Returns a list whose summary is already known.
    pub(super) const fn summarized(items: &'v [Value<'v>], summary: Summary) -> Self {
        Self { items, summary }
    }

    /// Returns the items.
    pub const fn items(&self) -> &'v [Value<'v>] {
        self.items
    }
}

/// Facts about a value and everything nested in it. Containers store them, so that no check walks a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Summary {
    /// Nesting depth of lists and maps: a list of scalars has depth 1.
    pub depth: u16,
    /// `true` if any nested value is marked or unknown.
    pub qualified: bool,
    /// `true` if any nested value has a notation.
    pub written: bool,
    /// `true` if any nested number does not fit 64 bits.
    pub long: bool,
}

impl Summary {
    /// Returns the summary of a container of `values`.
    pub fn around(values: &[Value<'_>]) -> Self {
        let mut all = Self::default();
        values.iter().for_each(|value| all.add(value));
        all.held()
    }

    /// Adds one nested value. Scalars add nothing, and most values are scalars.
    #[inline(always)]
    pub fn add(&mut self, value: &Value<'_>) {
        if let Value::List(_) | Value::Map(_) | Value::Extended(_) = value {
            let one = value.summary();
            *self = Self {
                depth: self.depth.max(one.depth),
                qualified: self.qualified | one.qualified,
                written: self.written | one.written,
                long: self.long | one.long,
            };
        }
    }

    /// Returns the summary of a container whose values have this summary.
    #[inline(always)]
    pub const fn held(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }
}

/// A value of a running program.
///
/// ```
/// use dropforge::{Arena, Value};
/// let arena = Arena::new();
/// let list = arena.list(&[Value::Int(1), arena.text("a")]);
/// assert_eq!(list.kind(), "list");
/// assert_eq!(list.depth(), 1);
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[repr(u64)] // so that every value is moved as two words
pub enum Value<'v> {
    /// No value: an unset slot, or a missing name where a language tolerates it.
    #[default]
    Undefined,
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// An integer above `i64::MAX`. In a language with an unsigned type, any integer of that type.
    Uint(u64),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Str(&'v Text<'v>),
    /// A list.
    List(&'v List<'v>),
    /// A map with text keys.
    Map(&'v Map<'v>),
    /// A rare kind of value.
    Extended(&'v Extension<'v>),
}

const _: () = assert!(size_of::<Value<'static>>() == 16);

impl<'v> Value<'v> {
    /// Returns the integer `n`, as a [`Value::Int`] if it fits.
    pub fn uint(n: u64) -> Self {
        i64::try_from(n).map_or(Value::Uint(n), Value::Int)
    }

    /// Returns `true` for [`Value::Undefined`].
    pub const fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined)
    }

    /// Returns the text of a [`Value::Str`].
    pub const fn as_str(&self) -> Option<&'v str> {
        match self {
            Value::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the items of a [`Value::List`].
    pub const fn as_list(&self) -> Option<&'v [Value<'v>]> {
        match self {
            Value::List(list) => Some(list.items()),
            _ => None,
        }
    }

    /// Returns the map of a [`Value::Map`].
    pub const fn as_map(&self) -> Option<&'v Map<'v>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns a plain number as a float. Large integers lose their last digits.
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(n) => Some(*n as f64),
            Value::Uint(n) => Some(*n as f64),
            Value::Float(n) => Some(*n),
            _ => None,
        }
    }

    /// Nesting depth of lists and maps; 0 for a scalar.
    #[doc(hidden)]
    pub const fn depth(&self) -> u16 {
        self.summary().depth
    }

    /// Returns `true` if the value or any value nested in it is marked or unknown.
    ///
    /// ```
    /// use dropforge::value::{Arena, Type, Value};
    /// let arena = Arena::new();
    /// assert!(!arena.list(&[Value::Int(1)]).is_qualified());
    /// let unknown = arena.list(&[Value::Int(1), arena.unknown(Type::Number)]);
    /// assert!(unknown.is_qualified() && arena.map(&[("inner", unknown)]).is_qualified());
    /// assert!(arena.list(&[arena.marked(Value::Int(1), &["secret"])]).is_qualified());
    /// ```
    #[doc(hidden)]
    pub const fn is_qualified(&self) -> bool {
        self.summary().qualified
    }

    /// Returns `true` if the value or any value nested in it is a number that 64 bits do not hold
    /// ([`Extended::Number`]).
    #[doc(hidden)]
    pub const fn is_long(&self) -> bool {
        self.summary().long
    }

    /// Returns `true` if the value or any value nested in it has a notation ([`Writing`](super::Writing)).
    ///
    /// ```
    /// use dropforge::{Arena, Value};
    /// let arena = Arena::new();
    /// let list = arena.list(&[arena.spelled(Value::Float(1.1), "1.10")]);
    /// assert!(list.has_notation() && !arena.list(&[Value::Float(1.1)]).has_notation());
    /// ```
    #[inline]
    #[doc(hidden)]
    pub const fn has_notation(&self) -> bool {
        self.summary().written
    }

    #[inline]
    pub(super) const fn summary(&self) -> Summary {
        match self {
            Value::List(list) => list.summary,
            Value::Map(map) => map.summary(),
            Value::Extended(extension) => extension.summary(),
            _ => Summary { depth: 0, qualified: false, written: false, long: false },
        }
    }

    /// Returns the kind of the value, for messages.
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
            Value::Extended(extension) => extension.kind().name(),
        }
    }

    /// Returns the owned form; [`Value::Undefined`] becomes null.
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

/// Size of a [`Block`] in bytes.
pub const BLOCK: usize = 32;

/// A text of at most this many bytes together with the bytes after it in memory. Blocks are copied and scanned whole,
/// without a loop over the text's length.
pub type Block = [u8; BLOCK];

/// Bytes appended to a short text to fill up a [`Block`].
pub const PADDING: &str = match std::str::from_utf8(&[0; BLOCK]) {
    Ok(padding) => padding,
    Err(_) => "",
};

/// Masks for the bytes of a [`Block`]: the slice that starts at `BLOCK - n` selects the first `n` bytes.
const MASKS: [u8; 2 * BLOCK] = {
    let mut masks = [0; 2 * BLOCK];
    masks.split_at_mut(BLOCK).0.copy_from_slice(&[1; BLOCK]);
    masks
};

/// Half of a [`Block`]; most texts are no longer.
const HALF: usize = BLOCK / 2;

/// Text, behind one thin reference so that a [`Value`](super::Value) stays 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Text<'v> {
    text: &'v str,
    /// A short text and the bytes after it, where there are enough of them.
    block: Option<&'v Block>,
    /// `true` if the text is known to be a [word](yaml::is_word).
    word: bool,
}

impl<'v> Text<'v> {
    /// Wraps `text`.
    pub const fn new(text: &'v str) -> Self {
        Self { text, block: None, word: false }
    }

    /// Wraps the first `len` bytes of `buffer`.
    #[doc(hidden)]
    pub fn prefix_of(buffer: &'v str, len: usize) -> Self {
        let block = if len <= BLOCK { buffer.as_bytes().first_chunk() } else { None };
        Self { text: buffer.get(..len).unwrap_or(buffer), block, word: false }
    }

    /// Returns `true` if the text is a word that every YAML parser reads unquoted as text.
    #[doc(hidden)]
    pub fn is_word(&self) -> bool {
        yaml::is_word(self)
    }

    /// Records whether the text is a word, for texts that are written again and again.
    #[doc(hidden)]
    pub fn classified(self) -> Self {
        Self { word: self.is_word(), ..self }
    }

    /// Returns `true` if the text is already known to be a word. Other texts may be words, too.
    pub(crate) const fn is_known_word(&self) -> bool {
        self.word
    }

    /// Returns the text with its original lifetime.
    pub const fn as_str(&self) -> &'v str {
        self.text
    }

    /// Returns `true` if the text contains the byte `a` or the byte `b`.
    #[inline]
    #[doc(hidden)]
    pub fn has_either(&self, a: u8, b: u8) -> bool {
        match self.block {
            Some(_) => !self.all(|byte| (byte != a) & (byte != b)),
            None => memchr::memchr2(a, b, self.text.as_bytes()).is_some(),
        }
    }

    /// Returns `true` if `holds` accepts every byte of the text. For short texts and simple predicates this compiles
    /// to a few vector instructions.
    #[inline(always)]
    #[doc(hidden)]
    pub fn all(&self, holds: impl Fn(u8) -> bool) -> bool {
        all_bytes(self.text, self.block, holds)
    }

    /// Returns `true` if all characters are ASCII.
    #[inline]
    pub fn is_ascii(&self) -> bool {
        match self.block {
            Some(_) => self.all(|byte| byte.is_ascii()),
            None => self.text.is_ascii(),
        }
    }

    /// Returns a short text and the bytes after it.
    #[doc(hidden)]
    pub const fn block(&self) -> Option<&'v Block> {
        self.block
    }
}

/// Returns `true` if `holds` accepts every byte of `text`, which is the beginning of `block`.
#[inline(always)]
pub(crate) fn all_bytes(text: &str, block: Option<&Block>, holds: impl Fn(u8) -> bool) -> bool {
    let masks = BLOCK.checked_sub(text.len()).and_then(|start| MASKS.get(start..)?.first_chunk::<BLOCK>());
    let (Some(block), Some(masks)) = (block, masks) else {
        return text.bytes().fold(true, |all, byte| all & holds(byte));
    };
    // Arrays of equal length compile to vector instructions.
    let check = |half: &[u8; HALF], masks: &[u8; HALF]| {
        let mut found = 0;
        for at in 0..HALF {
            found |= u8::from(!holds(half[at])) & masks[at];
        }
        found == 0
    };
    let (Some((near, far)), Some((masks, far_masks))) = (halves(block), halves(masks)) else { return false };
    check(near, masks) && (text.len() <= HALF || check(far, far_masks))
}

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

/// Returns `true` if `a` and `b` are the same value. Numbers of one kind compare by value (NaN equals nothing), lists by
/// item, maps by key regardless of order. `visit` is called once for each pair compared and may stop the comparison with
/// an error, which bounds the work on values that share parts.
pub fn equal<E>(a: Value<'_>, b: Value<'_>, visit: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    visit()?;
    Ok(match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a.as_str() == b.as_str(),
        (Value::List(a), Value::List(b)) => return equal_lists(a.items(), b.items(), visit),
        (Value::Map(a), Value::Map(b)) => return equal_entries([a.len(), b.len()], a.iter(), |key| b.get(key), visit),
        (Value::Extended(a), Value::Extended(b)) => return equal_extended(a.kind(), b.kind(), visit),
        _ => false,
    })
}

/// Compares with types and marks. Unknown values equal nothing.
fn equal_extended<E>(a: &Extended<'_>, b: &Extended<'_>, visit: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    Ok(match (a, b) {
        (Extended::Number(a), Extended::Number(b)) => a.compare(b).is_eq(),
        (Extended::Null(a), Extended::Null(b)) => a == b,
        (Extended::Sized(a), Extended::Sized(b)) => a == b,
        (Extended::Capsule(a), Extended::Capsule(b)) => a == b,
        (Extended::Bytes(a), Extended::Bytes(b)) => a == b,
        (Extended::Named(a), Extended::Named(b)) => a == b,
        (Extended::Duration(a), Extended::Duration(b)) => a == b,
        (
            Extended::Timestamp { seconds, nanos },
            Extended::Timestamp { seconds: other_seconds, nanos: other_nanos },
        ) => (seconds, nanos) == (other_seconds, other_nanos),
        (Extended::Optional(a), Extended::Optional(b)) => return equal(*a, *b, visit),
        (Extended::Entries(a), Extended::Entries(b)) => {
            return equal_entries([a.len(), b.len()], a.iter(), |key| b.get(key), visit);
        }
        (Extended::Marked(a, marks), Extended::Marked(b, others)) if marks == others => return equal(*a, *b, visit),
        (Extended::Typed(ty, a), Extended::Typed(other, b)) if ty == other => return equal(*a, *b, visit),
        _ => false,
    })
}

fn equal_lists<E>(a: &[Value<'_>], b: &[Value<'_>], visit: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b) {
        if !equal(*a, *b, visit)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares two maps: the entries of one with the values that `find` looks up in the other.
fn equal_entries<'v, K, E>(
    lens: [usize; 2],
    entries: impl Iterator<Item = (K, Value<'v>)>,
    find: impl Fn(K) -> Option<Value<'v>>,
    visit: &mut impl FnMut() -> Result<(), E>,
) -> Result<bool, E> {
    if lens[0] != lens[1] {
        return Ok(false);
    }
    for (key, value) in entries {
        let Some(other) = find(key) else { return Ok(false) };
        if !equal(value, other, visit)? {
            return Ok(false);
        }
    }
    Ok(true)
}
