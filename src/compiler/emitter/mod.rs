//! Emits code into a program under construction.
//!
//! Text and constants are held back until something else is emitted, so that neighbouring text becomes one
//! instruction and operators on constants none. A label ends what is held back: nothing is joined or folded
//! across a jump target.

mod control;
mod known;
mod paths;
mod slots;
mod words;

use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::bytecode::{BinaryOp, ChunkInfo, Dialect, EscapeMode, Handler, Literal, Op, Region, Spanned, inline_row};
use crate::compiler::fold::{Constant, Fold};
use crate::compiler::tables::{Tables, index};
use crate::text::{Source, Span};
use known::{Application, Known};

/// The largest operand that fits beside an opcode.
const OPERAND: u32 = 0x00FF_FFFF;

/// How many instructions stand between two labels, and values on the stack, in most templates at most.
const AT_ONCE: usize = 16;

/// A place in the code that jumps may name before it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

/// An open loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopMark {
    slot: u32,
    body: Label,
    turn: Label,
    end: Label,
}

/// An open protected expression: its handler, where the code can be reached.
#[derive(Debug, Clone, Copy)]
pub struct ProtectMark(Option<usize>);

/// A label while code is emitted.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The word it stands at.
    at: Option<u32>,
    /// The label that it is as good as, where nothing but a jump there stands here.
    alias: Option<Label>,
    /// Whether a jump that can be reached leads to it.
    used: bool,
}

/// The tables of records while they grow.
#[derive(Debug, Default)]
struct Records {
    paths: Vec<u32>,
    sites: Vec<u32>,
    keys: Vec<u32>,
    scopes: Vec<u32>,
    failures: Vec<u32>,
}

/// The chunk that is being emitted, and what it has open.
#[derive(Debug, Default)]
struct Open {
    id: usize,
    slots: u32,
    iters: u32,
    captures: u32,
    /// Slots that nothing uses now, and the first ones of pairs of such.
    free: Vec<u32>,
    free_pairs: Vec<u32>,
    /// Whether nothing leads here: what is emitted is only counted.
    dead: bool,
}

/// An instruction that may still be taken back: nothing jumps behind it, no range begins or ends there.
#[derive(Debug, Clone, Copy)]
struct Recent {
    op: Op,
    /// Index of its first word.
    at: u32,
    place: Spanned,
    /// How many values the frame's part of the stack held before it.
    height: u32,
}

/// Emits one program, chunk by chunk. The first chunk begun is where a render begins.
pub struct Emitter<'f> {
    fold: &'f dyn Fold,
    dialect: Dialect,
    limit: usize,
    tables: Tables,
    words: Vec<u32>,
    records: Records,
    chunks: Vec<ChunkInfo>,
    handlers: Vec<Handler>,
    spans: Vec<[u32; 4]>,
    details: Vec<[u32; 4]>,
    /// The word of the instruction emitted last; none where that was not reached by any code.
    last: Option<u32>,
    inlined: Vec<[u32; 5]>,
    regions: Vec<[u32; 4]>,
    /// Offsets of paths in their table, by what they read.
    paths: HashTable<u32>,
    /// For each string, the last path whose name it is.
    path_of: Vec<u32>,
    hasher: DefaultHashBuilder,
    caches: u32,
    labels: Vec<Place>,
    /// Labels at the end of the code that jumps lead to.
    bound: Vec<Label>,
    /// Whether the instruction before those goes on here.
    flows: bool,
    patches: Vec<(usize, bool, Label)>,
    place: Spanned,
    text: String,
    text_place: Spanned,
    constants: Vec<(Constant<'f>, Spanned)>,
    recent: Vec<Recent>,
    /// What is known of each value on the frame's part of the stack.
    values: Vec<Known>,
    memos: HashMap<Application, u32>,
    /// Something does not fit its place in a word.
    oversized: bool,
    /// Whether constants are folded, instructions fused, and answers kept that stay the same.
    optimise: bool,
    open: Open,
}

impl<'f> Emitter<'f> {
    /// An emitter for `dialect` that stops at `limit` words.
    pub fn new(dialect: Dialect, fold: &'f dyn Fold, limit: usize) -> Self {
        Self {
            fold,
            dialect,
            limit,
            tables: Tables::default(),
            words: Vec::new(),
            records: Records { scopes: vec![0], ..Records::default() }, // offset 0 means "none"
            chunks: Vec::new(),
            handlers: Vec::new(),
            spans: Vec::new(),
            details: Vec::new(),
            last: None,
            inlined: Vec::new(),
            regions: Vec::new(),
            paths: HashTable::new(),
            path_of: Vec::new(),
            hasher: DefaultHashBuilder::default(),
            caches: 0,
            labels: Vec::new(),
            bound: Vec::new(),
            flows: true,
            patches: Vec::new(),
            place: Spanned::default(),
            text: String::new(),
            text_place: Spanned::default(),
            constants: Vec::new(),
            recent: Vec::new(),
            values: Vec::new(),
            memos: HashMap::new(),
            oversized: false,
            optimise: true,
            open: Open::default(),
        }
    }

    /// The same, which folds, fuses and keeps answers, or does not.
    #[must_use]
    pub fn optimising(self, optimise: bool) -> Self {
        Self { optimise, ..self }
    }

    /// Makes room for what a template of `bytes` usually becomes, so that the tables need not grow step by step.
    pub fn reserve(&mut self, bytes: usize) {
        self.words.reserve(bytes / 12);
        self.records.paths.reserve(bytes / 6);
        self.records.sites.reserve(bytes / 32);
        self.spans.reserve(bytes / 24);
        self.paths.reserve(bytes / 40, |_| 0); // there are none yet whose hash could be asked for
        self.path_of.reserve(bytes / 20);
        self.labels.reserve(bytes / 40);
        self.patches.reserve(bytes / 80);
        self.recent.reserve(AT_ONCE);
        self.values.reserve(AT_ONCE);
        self.tables.reserve(bytes);
    }

    // Chunks and slots

    /// Names a chunk that will be emitted later or now, so that calls may name it first.
    pub fn declare_chunk(&mut self, name: &str, params: u32) -> u32 {
        let name = self.tables.string(name);
        self.chunks.push(ChunkInfo { name, slots: params, params, ..ChunkInfo::default() });
        index(self.chunks.len() - 1)
    }

    /// Begins the code of a declared chunk; its parameters are its first slots. Chunks do not nest.
    pub fn begin_chunk(&mut self, id: u32) {
        let Some(chunk) = self.chunks.get_mut(id as usize) else { return };
        chunk.entry = index(self.words.len());
        self.open = Open { id: id as usize, slots: chunk.params, ..Open::default() };
        self.recent.clear();
        self.values.clear();
        self.bound.clear();
    }

    /// Ends the chunk that is being emitted.
    pub fn end_chunk(&mut self) {
        self.emit(Op::Return, &[]);
        let (end, slots) = (index(self.words.len()), self.open.slots);
        if let Some(chunk) = self.chunks.get_mut(self.open.id) {
            (chunk.end, chunk.slots) = (end, slots);
        }
    }

    /// A slot of the chunk that nothing else uses.
    pub fn new_slot(&mut self) -> u32 {
        self.new_slots(1)
    }

    /// The first of `count` slots in a row that nothing else uses.
    pub fn new_slots(&mut self, count: u32) -> u32 {
        let first = self.open.slots;
        self.open.slots += count;
        first
    }

    /// How many words have been emitted; a measure for bounding inlining.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether nothing has been emitted.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    // Places

    /// Says where the following instructions come from.
    pub fn at(&mut self, source: &Arc<Source>, span: Span) {
        self.place = Spanned { source: self.tables.source(source, self.place.source), span };
    }

    /// The place in its source that the following instructions come from.
    pub fn place(&self) -> Span {
        self.place.span
    }

    /// Says where the operands or arguments of the instruction that was emitted last come from, in their order.
    pub fn details(&mut self, parts: impl IntoIterator<Item = Span>) {
        let Some(at) = self.last.filter(|_| self.constants.is_empty()) else { return };
        if self.details.last().is_none_or(|row| row[0] < at) {
            self.details.extend((0..).zip(parts).map(|(part, span)| [at, part, span.start, span.end]));
        }
    }

    /// Begins code that stands in the place of a call at the current place.
    pub fn begin_inline(&mut self) -> (u32, Spanned) {
        self.fence();
        (index(self.words.len()), self.place)
    }

    /// Ends code that stands in the place of a call.
    pub fn end_inline(&mut self, (from, place): (u32, Spanned)) {
        self.fence();
        let to = index(self.words.len());
        if from < to {
            self.inlined.push(inline_row(from, to, place));
        }
    }

    /// Begins code that makes a part of a value or sees a name.
    pub fn begin_region(&mut self) -> u32 {
        self.fence();
        index(self.words.len())
    }

    /// Ends such code: it makes what `step` leads to.
    pub fn end_step(&mut self, from: u32, step: &str) {
        let name = self.tables.string(step);
        self.end_region(from, Region::Step(name));
    }

    /// The same of the element that comes next in what is gathered.
    pub fn end_element(&mut self, from: u32) {
        self.end_region(from, Region::Element(self.open.captures.saturating_sub(1)));
    }

    /// Ends code that sees `name` for what is in `slot`.
    pub fn end_name(&mut self, from: u32, name: &str, slot: u32) {
        let name = self.tables.string(name);
        self.end_region(from, Region::Name(name, slot));
    }

    fn end_region(&mut self, from: u32, region: Region) {
        self.fence();
        let to = index(self.words.len());
        if from < to {
            self.regions.push(region.row(from, to));
        }
    }

    // Constants and operators

    /// Pushes a constant.
    pub fn constant(&mut self, constant: Constant<'f>) {
        self.constants.push((constant, self.place));
    }

    /// Pushes undefined.
    pub fn undefined(&mut self) {
        self.emit(Op::Lit, &[Literal::Undefined as u32]);
    }

    /// Applies an operator to the two topmost values.
    pub fn binary(&mut self, op: BinaryOp) {
        if let [.., (a, _), (b, _)] = self.constants.as_slice()
            && self.optimise
            && let Some(folded) = self.fold.binary(op, a, b)
        {
            self.constants.truncate(self.constants.len() - 2);
            self.constant(folded);
            return;
        }
        self.emit(op.op(), &[]);
    }

    /// Joins the `count` topmost values as text.
    pub fn join(&mut self, count: u32) {
        let first = self.constants.len().checked_sub(count as usize).filter(|_| self.optimise);
        let pieces = first.and_then(|first| self.constants.get(first..));
        let texts = pieces.map(|pieces| pieces.iter().map(|(piece, _)| self.fold.text(piece, EscapeMode::Piece)));
        if let Some(joined) = texts.and_then(Iterator::collect::<Option<String>>) {
            self.constants.truncate(self.constants.len() - count as usize);
            self.constant(Constant::Str(joined.into()));
            return;
        }
        self.emit(Op::Join, &[count]);
    }

    /// The most keys that [`Emitter::map`] takes.
    pub const KEYS: usize = u16::MAX as usize;

    /// Makes a map of the topmost values, which are those of these keys in their order; no key comes twice.
    pub fn map(&mut self, keys: &[&str]) {
        self.keyed(Op::Map, keys);
    }

    /// The same without what is not there.
    pub fn map_some(&mut self, keys: &[&str]) {
        self.keyed(Op::MapSome, keys);
    }

    fn keyed(&mut self, op: Op, keys: &[&str]) {
        if self.is_dead(op, keys.len()) {
            return;
        }
        let at = index(self.records.keys.len());
        self.records.keys.push(index(keys.len()));
        for key in keys {
            let key = self.tables.string(key);
            self.records.keys.push(key);
        }
        self.oversized |= keys.len() > Self::KEYS;
        self.emit(op, &[at]);
    }

    /// Emits an instruction that has no operand or whose operands are plain numbers.
    pub fn op(&mut self, op: Op, operands: &[u32]) {
        self.emit(op, operands);
    }

    // Output

    /// Writes text.
    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.flush_constants();
        if self.text.is_empty() {
            self.text_place = self.place;
        }
        self.text.push_str(text);
    }

    /// Writes the top of the stack.
    pub fn write(&mut self, mode: EscapeMode) {
        if let [(constant, _)] = self.constants.as_slice()
            && let Some(text) = self.fold.text(constant, mode)
        {
            self.constants.clear();
            self.text(&text);
            return;
        }
        self.emit(Op::Emit, &[mode as u32]);
    }

    /// Holds back what is written from here.
    pub fn begin_capture(&mut self) {
        self.emit(Op::Capture, &[]);
        self.open.captures += 1;
    }

    /// Begins to gather values.
    pub fn begin_gather(&mut self) {
        self.emit(Op::Gather, &[]);
        self.open.captures += 1;
    }

    /// Pushes a list of what was gathered.
    pub fn end_gather(&mut self) {
        self.emit(Op::EndGather, &[]);
        self.open.captures = self.open.captures.saturating_sub(1);
    }

    /// Pushes a map of the entries that were gathered.
    pub fn end_entries(&mut self) {
        self.emit(Op::EndEntries, &[]);
        self.open.captures = self.open.captures.saturating_sub(1);
    }

    /// Pushes what was held back as text.
    pub fn end_capture(&mut self) {
        self.emit(Op::EndCapture, &[]);
        self.open.captures = self.open.captures.saturating_sub(1);
    }
}

impl std::fmt::Debug for Emitter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emitter").field("dialect", &self.dialect).field("words", &self.words.len()).finish()
    }
}
