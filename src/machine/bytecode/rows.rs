//! Rows of fixed length: imports, numbers, chunks, regions, handlers, and positions in sources.

use std::sync::Arc;

use super::isa::Op;
use super::operands::{Operand, choice};
use super::places::Place;
use super::program::Program;
use super::records::Path;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};

choice! {
    /// The kind of an import.
    #[derive(PartialOrd, Ord)]
    ImportKind {
        /// A function called by name.
        Function "function",
        /// A filter. Its first argument is the filtered value.
        Filter "filter",
        /// A test. Its first argument is the tested value.
        Test "test",
        /// Another template of any language, called with a map of inputs. Returns its text.
        Template "template",
        /// An internal operation of the language. Lowering calls it; no source can name it.
        Intrinsic "intrinsic",
    }
}

impl ImportKind {
    /// The kinds that a host can register.
    #[doc(hidden)]
    pub const FUNCTIONS: [ImportKind; 3] = [ImportKind::Function, ImportKind::Filter, ImportKind::Test];
}

/// A function that the program calls, linked by kind and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Import<'p> {
    /// The kind of function.
    pub kind: ImportKind,
    /// Its name.
    pub name: &'p str,
    /// Its parameters at the time the program was compiled.
    pub signature: Signature,
}

/// A fingerprint of a function's parameters: their number, and a hash of their names, types and defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(u32);

impl Signature {
    const COUNT: u32 = 0xFF;

    /// A function with open parameters. Its call sites hold the forms and names of their arguments.
    pub const OPEN: Signature = Signature(Self::COUNT);

    /// Another template, which takes a map of inputs.
    pub const TEMPLATE: Signature = Signature(1);

    /// The maximum number of parameters.
    pub const MOST: usize = 254;

    /// Creates the signature of a function with `count` parameters.
    #[doc(hidden)]
    pub fn of(count: usize, hash: u32) -> Signature {
        let count = u32::try_from(count.min(Self::MOST)).unwrap_or(0);
        Signature(hash << 8 | count)
    }

    /// Returns the number of parameters. `None` if they are open.
    pub fn count(self) -> Option<u32> {
        (self != Self::OPEN).then_some(self.0 & Self::COUNT)
    }

    pub(super) fn of_word(word: u32) -> Signature {
        Signature(word)
    }

    /// Returns the signature as a word of a program.
    pub fn word(self) -> u32 {
        self.0
    }
}

/// A number constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

/// A number: kind, low half, high half.
pub(crate) type NumberRow = [u32; 3];

impl Number {
    /// Encodes the number. There is one NaN.
    pub(crate) fn row(self) -> NumberRow {
        let (kind, bits) = match self {
            Number::Int(n) => (0, n.cast_unsigned()),
            Number::Float(n) if n.is_nan() => (1, f64::NAN.to_bits()),
            Number::Float(n) => (1, n.to_bits()),
        };
        [kind, (bits & 0xFFFF_FFFF) as u32, (bits >> 32) as u32]
    }

    /// Decodes a number.
    #[inline(always)]
    pub(crate) fn of([kind, low, high]: NumberRow) -> Number {
        let bits = u64::from(high) << 32 | u64::from(low);
        if kind == 0 { Number::Int(bits.cast_signed()) } else { Number::Float(f64::from_bits(bits)) }
    }
}

/// A run of code with its own slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChunkInfo {
    /// Index of its name among the strings.
    pub name: u32,
    /// Index of its first word.
    pub entry: u32,
    /// Index after its last word.
    pub end: u32,
    /// The number of slots of a frame. The parameters are the first of them.
    pub slots: u32,
    /// The number of parameters.
    pub params: u32,
    /// The maximum number of values on a frame's stack.
    pub stack: u32,
    /// The maximum number of open loops.
    pub loops: u32,
    /// The maximum number of open captures.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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

/// The span of the code from a word on: word, source, start, end.
pub(crate) type SpanRow = [u32; 4];

pub(crate) fn span_row(at: u32, Spanned { source, span }: Spanned) -> SpanRow {
    [at, source, span.start, span.end]
}

/// The span of an operand or argument of an instruction: word, part, start, end.
pub(crate) type DetailRow = [u32; 4];

/// Inlined code and the span of its call: from, to, source, start, end.
pub(crate) type InlineRow = [u32; 5];

pub(crate) fn inline_row(from: u32, to: u32, Spanned { source, span }: Spanned) -> InlineRow {
    [from, to, source, span.start, span.end]
}

/// The part of a value that a stretch of code builds, or a name that it sees, for its errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Region {
    /// A step (a string id) into the value built by the enclosing region.
    Step(u32),
    /// The next element of the values gathered by the nth open capture of the frame, from 0.
    Element(u32),
    /// A name (a string id) for the value in a slot.
    Name(u32, u32),
    /// A note (a string id) about a name whose value was known before the run.
    Note(u32),
}

/// A region: from, to; string or number; 0 for a step, 1 for an element, 2 for a note, otherwise the slot plus three.
pub(crate) type RegionRow = [u32; 4];

impl Region {
    pub(crate) fn row(self, from: u32, to: u32) -> RegionRow {
        match self {
            Region::Step(name) => [from, to, name, 0],
            Region::Element(nth) => [from, to, nth, 1],
            Region::Note(text) => [from, to, text, 2],
            Region::Name(name, slot) => [from, to, name, slot.saturating_add(3)],
        }
    }

    pub(crate) fn of([_, _, what, kind]: RegionRow) -> Self {
        match kind {
            0 => Region::Step(what),
            1 => Region::Element(what),
            2 => Region::Note(what),
            slot => Region::Name(what, slot - 3),
        }
    }
}

/// A handler that absorbs errors in `from..to`: it cuts the stacks to these heights, pushes undefined and continues at
/// `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// Index of the first word.
    pub from: u32,
    /// Index after the last word, where the code continues.
    pub to: u32,
    /// Height of the frame's stack.
    pub height: u32,
    /// Number of open loops of the frame.
    pub iters: u32,
    /// Number of open captures of the frame.
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

/// The origin of a piece of joined text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// Text of the source, at its position.
    Text = 1,
    /// Text of the source before a value, at the position of the value.
    Before = 2,
    /// A computed value.
    Value = 3,
}

impl PieceKind {
    /// Every kind.
    const ALL: [PieceKind; 3] = [PieceKind::Text, PieceKind::Before, PieceKind::Value];

    /// Returns the kind of text at its position, if `is_behind`, or before a value.
    #[doc(hidden)]
    pub fn of(is_behind: bool) -> Self {
        if is_behind { PieceKind::Text } else { PieceKind::Before }
    }

    /// The shift of the kind in the part of an instruction that is a piece. Other parts are small.
    const SHIFT: u32 = 28;
}

/// Returns the part of an instruction that writes the piece of its text from byte `start` on.
pub(crate) fn piece_part(kind: PieceKind, start: usize) -> u32 {
    (kind as u32) << PieceKind::SHIFT | u32::try_from(start).unwrap_or(u32::MAX) & 0x0FFF_FFFF
}

/// The part of an instruction that compares what it reads: the whole comparison. The position of the instruction is that
/// of the path, which can fail.
pub(crate) const COMPARISON: u32 = (1 << PieceKind::SHIFT) - 1;

/// A piece of joined text.
#[derive(Debug, Clone, Copy)]
pub struct TextPiece {
    /// The byte of the text that it begins at.
    pub start: usize,
    /// The byte that it ends before. `None` for the last piece.
    pub end: Option<usize>,
    /// Its position.
    pub place: Spanned,
    /// Its origin.
    pub kind: PieceKind,
}

impl Program {
    /// Returns the piece with byte `nth` of the text that the instruction at word `at` writes, if the text was joined.
    pub fn text_piece(&self, at: u32, nth: usize) -> Option<TextPiece> {
        let (place, details) = (self.place(at)?, self.tables().details);
        let from = details.partition_point(|row| row[0] < at);
        let own = details.get(from..)?.iter().take_while(|row| row[0] == at);
        let mut pieces: Vec<TextPiece> = own
            .filter_map(|&[_, part, start, end]| {
                let kind = PieceKind::ALL.into_iter().find(|kind| *kind as u32 == part >> PieceKind::SHIFT)?;
                let place = Spanned::of(place.source, start, end);
                Some(TextPiece { start: (part & 0x0FFF_FFFF) as usize, end: None, place, kind })
            })
            .collect();
        pieces.small_sort_by_key(|piece| piece.start);
        let found = pieces.partition_point(|piece| piece.start <= nth).checked_sub(1)?;
        let end = pieces.get(found + 1).map(|piece| piece.start);
        pieces.get(found).map(|piece| TextPiece { end, ..*piece })
    }

    /// Returns the string that the instruction at word `at` writes, and `true` if its span is that of the string, `false` if
    /// it is that of a value written after the string.
    pub fn text_written(&self, at: u32) -> Option<(&str, bool)> {
        let instruction = self.code().instruction(at)?;
        let text = self.str(instruction.operand(Operand::Str)?);
        let info = instruction.op.info();
        info.writes.contains(Place::Output).then_some((text, !info.writes_path()))
    }

    /// Returns the position of the instruction at word `at`.
    pub fn place(&self, at: u32) -> Option<Spanned> {
        let spans = self.tables().spans;
        let behind = spans.partition_point(|row| row[0] <= at);
        let [_, source, start, end] = *spans.get(behind.checked_sub(1)?)?;
        Some(Spanned::of(source, start, end))
    }

    /// Returns the position of a part of the instruction at word `at`: an operand, an argument, a step of a path.
    pub fn detail(&self, at: u32, part: u32) -> Option<Spanned> {
        let place = self.place(at)?;
        let details = self.tables().details;
        if let Ok(row) = details.binary_search_by_key(&(at, part), |&[word, part, ..]| (word, part)) {
            let [_, _, start, end] = *details.get(row)?;
            return Some(Spanned::of(place.source, start, end));
        }
        let (start, len) = self.path_read_at(at)?.segment_span(part as usize)?;
        let start = place.span.start.saturating_add(start);
        Some(Spanned::of(place.source, start, start.saturating_add(len)))
    }

    /// Returns the position of the whole expression of the instruction at word `at`, with the comparison that it makes.
    pub fn whole_place(&self, at: u32) -> Option<Spanned> {
        self.detail(at, COMPARISON).or_else(|| self.place(at))
    }

    /// Returns the position of the first name of the path that the instruction at word `at` reads.
    pub fn root(&self, at: u32) -> Option<Spanned> {
        let (place, path) = (self.place(at)?, self.path_read_at(at)?);
        let name = self.str(path.name);
        let len = name.find(['.', '[', ' ', '\t', '\n', '\r']).unwrap_or(name.len());
        let end = place.span.start.saturating_add(u32::try_from(len).unwrap_or(0));
        Some(Spanned::of(place.source, place.span.start, end.min(place.span.end)))
    }

    fn path_read_at(&self, at: u32) -> Option<Path<'_>> {
        let word = self.words().get(at as usize).copied()?;
        let reads = Op::of(word).info().first() == Some(Operand::Path);
        reads.then(|| Path::at(self.tables().paths.get((word >> 8) as usize..)?)).flatten()
    }

    /// Returns the source of a position.
    pub fn source(&self, place: Spanned) -> Option<&Arc<Source>> {
        self.sources().get(place.source as usize)
    }

    /// Returns the calls that the code at word `at` was inlined for, innermost first.
    pub fn inlined_at(&self, at: u32) -> Vec<Spanned> {
        let covering = self.tables().inlined.iter().filter(|[from, to, ..]| (*from..*to).contains(&at));
        let mut covering: Vec<_> = covering.collect();
        covering.small_sort_by_key(|[from, to, ..]| to - from);
        covering.into_iter().map(|&[_, _, source, start, end]| Spanned::of(source, start, end)).collect()
    }

    /// Returns the regions around the code at word `at`, outermost first.
    pub(crate) fn regions_at(&self, at: u32) -> Vec<Region> {
        let covering = self.tables().regions.iter().filter(|[from, to, ..]| (*from..*to).contains(&at));
        // Rows are sorted by end. If two end together, the inner one comes first.
        covering.rev().map(|&row| Region::of(row)).collect()
    }
}
