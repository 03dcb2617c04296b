//! The residual program under construction.

use std::rc::Rc;

use hashbrown::HashMap;

use super::handlers::Nested;
use super::state::{Joined, Recipe, ValueStep};
use super::walk::Specialiser;
use super::{GROWTH, TEXT};
use crate::bytecode::{
    ChunkInfo, Fails, Number, Op, Operand, POOL_SLACK, Parts, Path, PieceKind, Program, Region, Root, Segment, Spanned,
    inline_row, pack_path, pack_root, pack_segment, piece_part, span_row,
};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::Value;

/// A piece of joined text: where it starts in the text, its position in the sources, and its origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub start: usize,
    pub place: Option<Spanned>,
    pub kind: PieceKind,
}

/// The lengths of the tables at a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableLengths {
    words: usize,
    spans: usize,
    details: usize,
    handlers: usize,
    calls: usize,
    regions: usize,
}

/// The tables of the residual. Those of the original stay at its front, except code and positions.
pub(super) struct Residual<'v> {
    of: &'v Program,
    pub parts: Parts,
    strings: HashMap<String, u32>,
    paths: HashMap<(u32, Vec<u32>), u32>,
    inputs: HashMap<(u32, Vec<ValueStep>), u32>,
    /// The calls that code is inlined for.
    calls: Nested<Spanned>,
    /// The parts of a document that code builds.
    pub regions: Nested<Region>,
    /// Bytes of added text.
    added: usize,
}

fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl<'v> Residual<'v> {
    pub fn new(of: &'v Program) -> Self {
        let tables = of.tables();
        let mut parts = Parts::of(&tables);
        parts.words.clear();
        parts.spans.clear();
        parts.details.clear();
        parts.inlined.clear();
        parts.regions.clear();
        parts.handlers.clear();
        parts.chunks.clear();
        let strings = (0..index(tables.strings.len())).map(|id| (of.str(id).to_owned(), id));
        let (strings, calls, regions) = (strings.collect(), Nested::default(), Nested::default());
        Self { of, parts, strings, paths: HashMap::new(), inputs: HashMap::new(), calls, regions, added: 0 }
    }

    /// Returns the index of the next word.
    pub fn here(&self) -> u32 {
        index(self.parts.words.len())
    }

    /// Returns `true` if the residual has outgrown its budget, or would with `more` words.
    pub fn is_full(&self, more: usize) -> bool {
        self.parts.words.len().saturating_add(more) > GROWTH * self.of.words().len() || self.added > TEXT
    }

    pub fn mark(&self) -> TableLengths {
        let Parts { words, spans, details, handlers, .. } = &self.parts;
        let (words, spans, details, handlers) = (words.len(), spans.len(), details.len(), handlers.len());
        TableLengths { words, spans, details, handlers, calls: self.calls.len(), regions: self.regions.len() }
    }

    pub fn is_at(&self, mark: &TableLengths) -> bool {
        self.parts.words.len() == mark.words
    }

    pub fn back_to(&mut self, mark: &TableLengths) {
        self.parts.words.truncate(mark.words);
        self.parts.spans.truncate(mark.spans);
        self.parts.details.truncate(mark.details);
        self.parts.handlers.truncate(mark.handlers);
        self.calls.truncate(mark.calls);
        self.regions.truncate(mark.regions);
    }

    /// Emits an instruction at `place`, inlined for `calls`.
    pub fn emit(&mut self, words: &[u32], place: Option<Spanned>, calls: &Rc<[Spanned]>) {
        let here = self.here();
        if let Some(place) = place {
            let row = span_row(here, place);
            if self.parts.spans.last().is_none_or(|last| last[1..] != row[1..]) {
                self.parts.spans.push(row);
            }
        }
        self.calls.set(here, calls.iter().rev().copied());
        self.parts.words.extend_from_slice(words);
    }

    /// Adds the positions of the parts of the original instruction at `at` to the next instruction.
    pub fn details_of(&mut self, at: u32) {
        let (here, rows) = (self.here(), self.of.tables().details);
        let from = rows.partition_point(|row| row[0] < at);
        let own = rows.get(from..).unwrap_or(&[]).iter().take_while(|row| row[0] == at);
        self.parts.details.extend(own.map(|&[_, part, start, end]| [here, part, start, end]));
    }

    /// Adds the positions of the pieces of a text to the next instruction, which writes it.
    pub fn pieces(&mut self, pieces: &[Piece]) {
        let (here, details) = (self.here(), &mut self.parts.details);
        let own = details.len();
        let placed = pieces.iter().filter_map(|piece| Some((piece, piece.place?.span)));
        details.extend(placed.map(|(piece, span)| [here, piece_part(piece.kind, piece.start), span.start, span.end]));
        details.get_mut(own..).unwrap_or_default().small_sort_by(Ord::cmp);
    }

    /// Sets a label.
    pub fn patch(&mut self, (word, nth): (usize, usize), target: u32) {
        let Some(place) = self.parts.words.get_mut(word + nth) else { return };
        *place = if nth == 0 { *place & 0xFF | target << 8 } else { target };
    }

    pub fn string(&mut self, text: &str) -> u32 {
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        let (id, start) = (index(self.parts.strings.len()), index(self.parts.pool.len()));
        self.parts.pool.push_str(text);
        self.parts.strings.push([start, index(self.parts.pool.len())]);
        self.strings.insert(text.to_owned(), id);
        self.added += text.len();
        id
    }

    /// Returns the word that pushes a value, if it is a constant of programs.
    pub fn constant(&mut self, value: Value<'_>) -> Option<u32> {
        let number = |parts: &mut Parts, number: Number| {
            let row = number.row();
            let found = parts.numbers.iter().position(|other| *other == row);
            let at = found.unwrap_or(parts.numbers.len());
            if found.is_none() {
                parts.numbers.push(row);
            }
            Op::Num as u32 | index(at) << 8
        };
        Some(match value {
            Value::Undefined => Op::Lit as u32,
            Value::Null => Op::Lit as u32 | 1 << 8,
            Value::Bool(b) => Op::Lit as u32 | (2 + u32::from(b)) << 8,
            Value::Int(n @ -0x80_0000..=0x7F_FFFF) => Op::Int as u32 | ((n & 0xFF_FFFF) as u32) << 8,
            Value::Int(n) => number(&mut self.parts, Number::Int(n)),
            Value::Float(n) => number(&mut self.parts, Number::Float(n)),
            Value::Str(text) => Op::Str as u32 | self.string(text.as_str()) << 8,
            _ => return None,
        })
    }

    /// Returns the offset of `path` with other roots.
    pub fn path(&mut self, at: u32, path: &Path<'v>, roots: &[Root]) -> u32 {
        if path.roots().eq(roots.iter().copied()) {
            return at;
        }
        let words: Vec<u32> = roots.iter().map(|root| pack_root(*root)).collect();
        if let Some(offset) = self.paths.get(&(at, words.clone())) {
            return *offset;
        }
        let steps: Vec<[u32; 2]> = path.placed().map(|(segment, place)| [pack_segment(segment), place]).collect();
        let offset = self.record(path.name, roots, &steps, path.indexes as usize);
        self.paths.insert((at, words), offset);
        offset
    }

    /// Returns the offset of a path into an input, and the indexes that it pops.
    pub fn input_path(&mut self, global: u32, steps: &[ValueStep]) -> u32 {
        let key = (global, steps.to_vec());
        if let Some(offset) = self.inputs.get(&key) {
            return *offset;
        }
        let mut indexes = 0;
        let words: Vec<[u32; 2]> = steps
            .iter()
            .map(|step| match step {
                ValueStep::Attr(name) => [pack_segment(Segment::Attr(*name)), 0],
                ValueStep::Index(_) => {
                    indexes += 1;
                    [pack_segment(Segment::Index(indexes - 1)), 0]
                }
            })
            .collect();
        let name = self.of.code().globals().get(global as usize).copied().unwrap_or(0);
        let offset = self.record(name, &[Root::Global(global)], &words, indexes as usize);
        self.inputs.insert(key, offset);
        offset
    }

    /// Returns the offset of a path that is a slot.
    pub fn slot_path(&mut self, slot: u32) -> u32 {
        let key = (u32::MAX, vec![slot]);
        if let Some(offset) = self.paths.get(&key) {
            return *offset;
        }
        let offset = self.record(0, &[Root::Slot(slot)], &[], 0);
        self.paths.insert(key, offset);
        offset
    }

    fn record(&mut self, name: u32, roots: &[Root], steps: &[[u32; 2]], indexes: usize) -> u32 {
        let offset = index(self.parts.paths.len());
        let cache = self.parts.properties.caches;
        self.parts.paths.extend(pack_path(name, cache, roots, steps.len(), indexes));
        self.parts.paths.extend(roots.iter().map(|root| pack_root(*root)));
        self.parts.paths.extend(steps.as_flattened());
        self.parts.properties.caches += index(steps.len());
        offset
    }

    /// Adds a chunk that ends here.
    pub fn chunk(&mut self, info: ChunkInfo, entry: u32, slots: u32) {
        let end = self.here();
        self.parts.chunks.push(ChunkInfo { entry, end, slots, ..info }.row());
    }

    /// Builds the program.
    pub fn program(mut self) -> Option<Program> {
        let (end, Parts { inlined, regions, .. }) = (self.here(), &mut self.parts);
        self.calls.each(end, |from, to, place| inlined.push(inline_row(from, to, place)));
        self.regions.each(end, |from, to, region| regions.push(region.row(from, to)));
        let sources = self.of.sources().to_vec();
        for ([_, start, end], source) in self.parts.sources.iter_mut().zip(&sources) {
            (*start, *end) = (0, index(source.text().len()));
        }
        self.parts.properties.memos = self.memos();
        self.parts.pool.push_str(POOL_SLACK);
        let fits = self.parts.words.len() <= GROWTH * self.of.words().len() && self.added <= TEXT;
        if fits { Program::residual(&mut self.parts, sources, self.of).ok() } else { None }
    }

    /// Returns the number of results that the residual keeps.
    fn memos(&self) -> u32 {
        let (mut at, mut memos) = (0, 0);
        while let Some(op) = self.parts.words.get(at).map(|word| Op::of(*word)) {
            // It is never the operand beside the opcode.
            let nth = op.info().operands.iter().position(|kind| *kind == Operand::Memo);
            let memo = nth.and_then(|nth| self.parts.words.get(at + nth));
            memos = memos.max(memo.map_or(0, |memo| memo + 1));
            at += op.words();
        }
        memos
    }
}

impl<'v> Specialiser<'v> {
    /// Emits the code that pushes a known value.
    pub(super) fn push(&mut self, recipe: &Recipe) {
        match recipe {
            Recipe::Constant(instr) => self.emit_quietly(&instr.words, instr.at),
            Recipe::Input(global, steps) => {
                for step in steps.iter() {
                    if let ValueStep::Index(nth) = step {
                        self.emit_quietly(&[Op::Int as u32 | nth << 8], self.pc);
                    }
                }
                let path = self.out.input_path(*global, steps);
                self.emit_quietly(&[Op::LoadPath as u32 | path << 8], self.pc);
            }
            Recipe::Slot(slot) => {
                let path = self.out.slot_path(*slot);
                self.emit_quietly(&[Op::LoadPath as u32 | path << 8], self.pc);
            }
            Recipe::Code(code) => code.iter().for_each(|instr| self.emit_quietly(&instr.words, instr.at)),
        }
    }

    /// Emits an instruction without the positions of its parts.
    pub fn emit_quietly(&mut self, words: &[u32], at: u32) {
        let fails = words.first().is_some_and(|word| Op::of(*word).info().fails != Fails::Never);
        if fails {
            self.set_regions(at);
        }
        let (place, calls) = (self.program.place(at), self.calls_at(at));
        self.out.emit(words, place, &calls);
    }

    /// Emits an instruction in the place of the original's at `at`.
    pub fn emit(&mut self, words: &[u32], at: u32) {
        self.out.details_of(at);
        self.emit_quietly(words, at);
    }

    fn calls_at(&self, at: u32) -> Rc<[Spanned]> {
        let own = self.program.inlined_at(at);
        if own.is_empty() {
            return self.frame.calls.clone();
        }
        own.into_iter().chain(self.frame.calls.iter().copied()).collect()
    }

    /// Adds text to write, from the original's instruction at `at`.
    pub fn write(&mut self, text: &str, kind: PieceKind, at: u32) {
        let place = self.program.place(at);
        if let Some(pending) = self.state.texts.last_mut().filter(|_| !text.is_empty()) {
            pending.pieces.push(Piece { start: pending.text.len(), place, kind });
            pending.text.push_str(text);
        }
    }

    /// Writes the pending text.
    pub fn flush(&mut self) {
        let left = self.flush_unless(|_| false);
        debug_assert!(left.is_none());
    }

    /// Writes the pending text, except for the last part if it comes from the source of `place`. Returns that part.
    pub fn flush_before(&mut self, place: Option<Spanned>) -> Option<Joined> {
        self.flush_unless(|last| last.source() == place.map(|place| place.source))
    }

    /// Writes the pending text, and opens captures, except for the last part of the innermost if it is kept.
    fn flush_unless(&mut self, keep: impl Fn(&Joined) -> bool) -> Option<Joined> {
        let innermost = self.state.texts.len().saturating_sub(1);
        let mut kept = None;
        for level in 0..=innermost {
            let Some(pending) = self.state.texts.get_mut(level).map(std::mem::take) else { break };
            if let Some(at) = pending.unopened {
                self.emit(&[Op::Capture as u32], at);
            }
            let mut parts = pending.parts();
            if level == innermost {
                kept = parts.pop_if(|last| keep(last));
            }
            for Joined { text, pieces } in parts {
                let string = self.out.string(&text);
                self.out.pieces(&pieces);
                let place = pieces.first().and_then(|piece| piece.place);
                self.out.emit(&[Op::Text as u32 | string << 8], place, &self.frame.calls);
            }
        }
        kept
    }
}
