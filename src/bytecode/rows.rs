//! The rows of a program's tables, and what each looks like to a reader.

use super::isa::LoopField;
use crate::diagnostics::Code;
use crate::text::Span;

/// What a call site asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum ImportKind {
    /// A function called by name.
    Function,
    /// A filter applied to a value, its first argument.
    Filter,
    /// A test of a value, its first argument.
    Test,
    /// Another template, of any language: called with a map, its inputs, it answers with its text.
    Template,
}

impl ImportKind {
    /// Every kind, in the order of their numbers in tables.
    pub const ALL: [ImportKind; 4] = [ImportKind::Function, ImportKind::Filter, ImportKind::Test, ImportKind::Template];

    /// The kinds that a registry has.
    pub const FUNCTIONS: [ImportKind; 3] = [ImportKind::Function, ImportKind::Filter, ImportKind::Test];

    /// The word for it in messages.
    pub fn name(self) -> &'static str {
        match self {
            ImportKind::Function => "function",
            ImportKind::Filter => "filter",
            ImportKind::Test => "test",
            ImportKind::Template => "template",
        }
    }
}

/// What the program calls, linked by kind and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Import<'p> {
    /// Function, filter, test or template.
    pub kind: ImportKind,
    /// Its name.
    pub name: &'p str,
    /// What parameters it had when the program was compiled.
    pub signature: Signature,
}

/// The parameters of a function as far as call sites depend on them: how many there are, and a hash of their
/// names, types and defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(u32);

impl Signature {
    const COUNT: u32 = 0xFF;

    /// A function that takes any names; its call sites hold the string ids of the names.
    pub const OPEN: Signature = Signature(Self::COUNT);

    /// Another template: it takes a map of inputs.
    pub const TEMPLATE: Signature = Signature(1);

    /// The most parameters that a function may have.
    pub const MOST: usize = 254;

    /// A function of `count` parameters whose descriptions hash to `hash`.
    pub fn of(count: usize, hash: u32) -> Signature {
        let count = u32::try_from(count.min(Self::MOST)).unwrap_or(0);
        Signature(hash << 8 | count)
    }

    /// How many parameters there are; `None` where any names are taken.
    pub fn count(self) -> Option<u32> {
        (self != Self::OPEN).then_some(self.0 & Self::COUNT)
    }

    pub(super) fn of_word(word: u32) -> Signature {
        Signature(word)
    }

    pub(crate) fn word(self) -> u32 {
        self.0
    }
}

/// A number constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i64),
    /// A float.
    Float(f64),
}

/// Kind, low half, high half.
pub(crate) type NumberRow = [u32; 3];

impl Number {
    /// The row of the number; there is one NaN.
    pub(crate) fn row(self) -> NumberRow {
        let (kind, bits) = match self {
            Number::Int(n) => (0, n.cast_unsigned()),
            Number::Float(n) if n.is_nan() => (1, f64::NAN.to_bits()),
            Number::Float(n) => (1, n.to_bits()),
        };
        [kind, (bits & 0xFFFF_FFFF) as u32, (bits >> 32) as u32]
    }

    /// The number of a row.
    #[inline(always)]
    pub(crate) fn of([kind, low, high]: NumberRow) -> Number {
        let bits = u64::from(high) << 32 | u64::from(low);
        if kind == 0 { Number::Int(bits.cast_signed()) } else { Number::Float(f64::from_bits(bits)) }
    }
}

/// A run of code with slots of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChunkInfo {
    /// Index of its name among the strings.
    pub name: u32,
    /// Index of its first word.
    pub entry: u32,
    /// Index behind its last word.
    pub end: u32,
    /// How many slots a frame of it has; the parameters are the first of them.
    pub slots: u32,
    /// How many parameters it takes.
    pub params: u32,
    /// How many values its part of the stack holds at most.
    pub stack: u32,
    /// How many loops it has open at most.
    pub loops: u32,
    /// How many captures it has open at most.
    pub captures: u32,
}

pub(crate) type ChunkRow = [u32; 8];

impl ChunkInfo {
    pub(crate) fn row(self) -> ChunkRow {
        let Self { name, entry, end, slots, params, stack, loops, captures } = self;
        [name, entry, end, slots, params, stack, loops, captures]
    }

    #[inline(always)]
    pub(crate) fn of(row: &ChunkRow) -> Self {
        let [name, entry, end, slots, params, stack, loops, captures] = *row;
        Self { name, entry, end, slots, params, stack, loops, captures }
    }
}

/// A span in one of the program's sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spanned {
    /// Index of the source.
    pub source: u32,
    /// The span in it.
    pub span: Span,
}

impl Spanned {
    pub(super) fn of(source: u32, start: u32, end: u32) -> Self {
        Self { source, span: Span::new(start, end) }
    }
}

/// From a word on, code comes from a place: word, source, start, end.
pub(crate) type SpanRow = [u32; 4];

pub(crate) fn span_row(at: u32, Spanned { source, span }: Spanned) -> SpanRow {
    [at, source, span.start, span.end]
}

/// A part of what the instruction at a word comes from (an operand, an argument): word, part, start, end.
pub(crate) type DetailRow = [u32; 4];

/// Code that stands in the place of a call, and where it was called: from, to, source, start, end.
pub(crate) type InlineRow = [u32; 5];

pub(crate) fn inline_row(from: u32, to: u32, Spanned { source, span }: Spanned) -> InlineRow {
    [from, to, source, span.start, span.end]
}

/// What a stretch of code is about, for errors in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// It makes what one step (a string id) leads to, from what the region around it makes.
    Step(u32),
    /// It makes the element that comes next in what the nth open capture of the frame gathers, counted from 0.
    Element(u32),
    /// It sees a name (a string id) for what is in a slot.
    Name(u32, u32),
}

/// From, to; string or number; 0 for a step, 1 for an element, else two more than the slot.
pub(crate) type RegionRow = [u32; 4];

impl Region {
    pub(crate) fn row(self, from: u32, to: u32) -> RegionRow {
        match self {
            Region::Step(name) => [from, to, name, 0],
            Region::Element(nth) => [from, to, nth, 1],
            Region::Name(name, slot) => [from, to, name, slot.saturating_add(2)],
        }
    }

    pub(crate) fn of([_, _, what, kind]: RegionRow) -> Self {
        match kind.checked_sub(2) {
            Some(slot) => Region::Name(what, slot),
            None if kind == 0 => Region::Step(what),
            None => Region::Element(what),
        }
    }
}

/// An error in `from..to` is absorbed: the stacks are cut to these heights, undefined is pushed, and the code
/// goes on at `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// Index of the first word.
    pub from: u32,
    /// Index behind the last word: where the code goes on.
    pub to: u32,
    /// Height of the frame's part of the stack.
    pub height: u32,
    /// Open loops of the frame.
    pub iters: u32,
    /// Open captures of the frame.
    pub captures: u32,
}

pub(crate) type HandlerRow = [u32; 5];

impl Handler {
    pub(crate) fn row(self) -> HandlerRow {
        let Self { from, to, height, iters, captures } = self;
        [from, to, height, iters, captures]
    }

    pub(crate) fn of([from, to, height, iters, captures]: HandlerRow) -> Self {
        Self { from, to, height, iters, captures }
    }
}

/// Where a path begins. The roots of a path are tried in order until one has the whole path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// A slot of the frame, where it is set.
    Slot(u32),
    /// A top-level input, by its index among the program's globals.
    Global(u32),
    /// A fact about a loop of the frame, 0 the innermost.
    Loop(u32, LoopField),
    /// A name among the callers' scopes, by its string id.
    Callers(u32),
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// An attribute, by its string id.
    Attr(u32),
    /// The value computed for this index, 0 the first.
    Index(u32),
}

/// A root as a word of a table.
pub(crate) fn pack_root(root: Root) -> u32 {
    match root {
        Root::Slot(slot) => slot,
        Root::Global(global) => 1 << 28 | global,
        Root::Loop(level, field) => 2 << 28 | level << 8 | field as u32,
        Root::Callers(name) => 3 << 28 | name,
    }
}

#[inline(always)]
pub(crate) fn unpack_root(word: u32) -> Root {
    let payload = word & 0x0FFF_FFFF;
    match word >> 28 {
        0 => Root::Slot(payload),
        1 => Root::Global(payload),
        2 => Root::Loop(payload >> 8, LoopField::ALL[(payload & 3) as usize]),
        _ => Root::Callers(payload),
    }
}

/// A segment as a word of a table; its place within the path's stands behind it.
pub(crate) fn pack_segment(segment: Segment) -> u32 {
    match segment {
        Segment::Attr(name) => name,
        Segment::Index(at) => 1 << 28 | at,
    }
}

/// The place of a segment: its start and its length.
pub(crate) fn pack_place(start: u16, len: u16) -> u32 {
    u32::from(start) << 16 | u32::from(len)
}

#[inline(always)]
pub(crate) fn unpack_segment(word: u32) -> Segment {
    let payload = word & 0x0FFF_FFFF;
    if word >> 28 == 0 { Segment::Attr(payload) } else { Segment::Index(payload) }
}

/// An error known when the program was compiled that is raised only if the code gets there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// The message.
    pub message: String,
    /// What there is instead.
    pub available: Option<Vec<String>>,
    /// The likely fix.
    pub help: Option<String>,
}
