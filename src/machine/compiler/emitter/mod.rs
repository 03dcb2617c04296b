//! The emitter of a program under construction.
//!
//! Text and constants stay pending until another instruction is emitted, so that adjacent text becomes one instruction
//! and operators on constants are folded. A label ends this: nothing is joined or folded across a jump target.

mod chunks;
mod labels;
mod paths;
mod pending;
mod values;

pub use labels::{Label, LoopMark, ProtectMark};
pub use paths::{KnownFailure, KnownPath, PathSpec, RootSpec, SegmentSpec};
pub use pending::{Constant, Fold};
pub use values::KnownFunction;

use std::sync::Arc;

use hashbrown::HashMap;

use crate::bytecode::{COMPARISON, Dialect, Parts, Program, Region, Spanned, TextPiece, inline_row, piece_part};
use crate::compiler::tables::{TablesBuilder, index};
use chunks::ChunkState;
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};
use labels::Labels;
use pending::Pending;
use values::Application;

/// The largest operand that fits next to an opcode.
const OPERAND: u32 = 0x00FF_FFFF;

/// Emits one program, chunk by chunk. A render starts with the first chunk.
pub struct Emitter<'f> {
    fold: &'f dyn Fold,
    limit: usize,
    /// `true` to fold constants, fuse instructions and reuse unchanged results.
    optimise: bool,
    tables: TablesBuilder,
    pending: Pending<'f>,
    labels: Labels,
    frame: ChunkState,
    /// The position of the next instructions.
    place: Spanned,
    /// The word of the latest instruction, unless it is unreachable.
    last: Option<u32>,
    memos: HashMap<Application, u32>,
    /// `true` if an operand or index does not fit its bits.
    oversized: bool,
}

impl<'f> Emitter<'f> {
    /// Creates an emitter for `dialect` that stops at `limit` words.
    pub fn new(dialect: Dialect, fold: &'f dyn Fold, limit: usize) -> Self {
        Self {
            fold,
            limit,
            optimise: true,
            tables: TablesBuilder::new(dialect),
            pending: Pending::default(),
            labels: Labels::default(),
            frame: ChunkState::default(),
            place: Spanned::default(),
            last: None,
            memos: HashMap::new(),
            oversized: false,
        }
    }

    /// Turns folding, fusion and the reuse of results on or off.
    #[must_use]
    pub fn optimising(self, optimise: bool) -> Self {
        Self { optimise, ..self }
    }

    /// Sets if a presence test finds nothing in a value without members, instead of an error.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.tables.parts.properties.lenient = lenient;
        self
    }

    /// Sets if runs may change maps: if the program calls a function that does, or a template made at render time may.
    /// Then no value read through a map counts as known, and no result is kept, because a map that a function returns must
    /// be another one each time. Takes effect before the first instruction.
    pub fn set_mutable(&mut self, mutable: bool) {
        self.tables.parts.properties.mutable = mutable;
    }

    /// Reserves the memory usually needed for a template of `bytes`.
    pub fn reserve(&mut self, bytes: usize) {
        self.tables.reserve(bytes);
        self.labels.reserve(bytes);
        self.frame.reserve();
    }

    /// Reserves memory for `bytes` of text.
    pub fn reserve_text(&mut self, bytes: usize) {
        self.tables.parts.pool.reserve(bytes);
    }

    /// Begins another program of at most `limit` words, reusing the memory of the last one.
    pub fn restart(&mut self, limit: usize) {
        self.tables.clear();
        self.pending.clear();
        self.labels.clear();
        self.frame.begin(0, 0);
        self.memos.clear();
        (self.place, self.limit, self.oversized) = (Spanned::default(), limit, false);
    }

    /// Finishes the program. Call [`Emitter::restart`] before another one.
    ///
    /// # Errors
    /// [`Limit::CodeWords`], or [`Code::CorruptProgram`](dropforge_base::diagnostics::Code::CorruptProgram) if the emitted code is
    /// not valid.
    pub fn finish(&mut self) -> Result<Program> {
        self.check_size()?;
        self.patch_jumps();
        self.tables.parts.properties.memos = index(self.memos.len());
        self.tables.program()
    }

    /// Fails once the code or a table exceeds the limit. Cheap enough to call often.
    pub fn check_size(&self) -> Result<()> {
        let Parts { words, paths, sites, keys, scopes, failures, strings, .. } = &self.tables.parts;
        let records = words.len().max(paths.len()).max(sites.len()).max(keys.len());
        let largest = records.max(scopes.len()).max(failures.len()).max(strings.len());
        let fits = largest <= self.limit.min(OPERAND as usize) && !self.oversized;
        if fits { Ok(()) } else { Err(Limit::CodeWords.error(self.limit as u64)) }
    }

    /// Returns the number of emitted words, for limits on inlining.
    pub fn len(&self) -> usize {
        self.tables.parts.words.len()
    }

    /// Returns `true` if nothing has been emitted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the index of the next word.
    fn here(&self) -> u32 {
        index(self.len())
    }
}

impl std::fmt::Debug for Emitter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emitter").field("dialect", &self.tables.parts.dialect).field("words", &self.len()).finish()
    }
}

impl Emitter<'_> {
    /// Sets the position of the next instructions.
    #[inline]
    pub fn at(&mut self, source: &Arc<Source>, span: Span) {
        self.place = Spanned { source: self.tables.source(source, self.place.source), span };
    }

    /// Returns the span of the next instructions.
    pub fn place(&self) -> Span {
        self.place.span
    }

    /// Records the spans of the operands or arguments of the latest instruction, in order.
    pub fn details(&mut self, parts: impl IntoIterator<Item = Span>) {
        let Some(at) = self.last.filter(|_| self.pending.constants.is_empty()) else { return };
        let details = &mut self.tables.parts.details;
        if details.last().is_none_or(|row| row[0] < at) {
            details.extend((0..).zip(parts).map(|(part, span)| [at, part, span.start, span.end]));
        }
    }

    /// Records the place of the comparison that the latest instruction makes of what it reads.
    fn compares(&mut self, place: Spanned) {
        let Some(at) = self.last.filter(|_| place.source == self.place.source) else { return };
        self.tables.parts.details.push([at, COMPARISON, place.span.start, place.span.end]);
    }

    /// Records the places of the pieces of the text that the latest instruction writes.
    fn pieces(&mut self, pieces: &[TextPiece]) {
        let (Some(at), details) = (self.last, &mut self.tables.parts.details) else { return };
        let own = details.len();
        let same = pieces.iter().filter(|piece| piece.place.source == self.place.source);
        let span = |piece: &TextPiece| piece.place.span;
        details.extend(same.map(|piece| [at, piece_part(piece.kind, piece.start), span(piece).start, span(piece).end]));
        details.get_mut(own..).unwrap_or_default().small_sort_by_key(|row| row[1]);
    }

    /// Begins code that is inlined for a call at the current position.
    pub fn begin_inline(&mut self) -> (u32, Spanned) {
        (self.begin_region(), self.place)
    }

    /// Ends inlined code.
    pub fn end_inline(&mut self, (from, place): (u32, Spanned)) {
        self.fence();
        let to = self.here();
        if from < to {
            self.tables.parts.inlined.push(inline_row(from, to, place));
        }
    }

    /// Begins code that builds a part of a value or sees a name.
    pub fn begin_region(&mut self) -> u32 {
        self.fence();
        self.here()
    }

    /// Ends code that builds the value of `step`.
    pub fn end_step(&mut self, from: u32, step: &str) {
        let name = self.tables.string(step);
        self.end_region(from, Region::Step(name));
    }

    /// Ends code that builds the next gathered element.
    pub fn end_element(&mut self, from: u32) {
        self.end_region(from, Region::Element(self.frame.captures.saturating_sub(1)));
    }

    /// Ends code that sees `name` for the value in `slot`.
    pub fn end_name(&mut self, from: u32, name: &str, slot: u32) {
        let name = self.tables.string(name);
        self.end_region(from, Region::Name(name, slot));
    }

    fn end_region(&mut self, from: u32, region: Region) {
        self.fence();
        let to = self.here();
        if from < to {
            self.tables.parts.regions.push(region.row(from, to));
        }
    }
}
