//! The state of the emitter.

use hashbrown::HashMap;

use super::chunks::Frame;
use super::labels::Labels;
use super::pending::Pending;
use super::values::Application;
use crate::bytecode::{Dialect, Parts, Program, Spanned};
use crate::compiler::fold::Fold;
use crate::compiler::tables::{Tables, index};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limit;

/// The largest operand that fits next to an opcode.
pub(super) const OPERAND: u32 = 0x00FF_FFFF;

/// Emits one program, chunk by chunk. A render starts with the first chunk.
pub struct Emitter<'f> {
    pub(super) fold: &'f dyn Fold,
    pub(super) limit: usize,
    /// `true` to fold constants, fuse instructions and reuse unchanged results.
    pub(super) optimise: bool,
    pub(super) tables: Tables,
    pub(super) pending: Pending<'f>,
    pub(super) labels: Labels,
    pub(super) frame: Frame,
    /// The position of the next instructions.
    pub(super) place: Spanned,
    /// The word of the latest instruction, unless it is unreachable.
    pub(super) last: Option<u32>,
    pub(super) memos: HashMap<Application, u32>,
    /// `true` if an operand or index does not fit its bits.
    pub(super) oversized: bool,
}

impl<'f> Emitter<'f> {
    /// Creates an emitter for `dialect` that stops at `limit` words.
    pub fn new(dialect: Dialect, fold: &'f dyn Fold, limit: usize) -> Self {
        Self {
            fold,
            limit,
            optimise: true,
            tables: Tables::new(dialect),
            pending: Pending::default(),
            labels: Labels::default(),
            frame: Frame::default(),
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
    pub(super) fn here(&self) -> u32 {
        index(self.len())
    }
}

impl std::fmt::Debug for Emitter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emitter").field("dialect", &self.tables.parts.dialect).field("words", &self.len()).finish()
    }
}
