//! Chunks, and the slots of the chunk being emitted.

use super::state::Emitter;
use super::values::ValueNumber;
use crate::bytecode::{ChunkInfo, Op, Spanned};
use crate::compiler::paths::{PathSpec, RootSpec};
use crate::compiler::tables::index;

/// The usual number of instructions between two labels, and of values on the stack.
const AT_ONCE: usize = 16;

/// The chunk being emitted.
#[derive(Debug, Default)]
pub(super) struct Frame {
    id: usize,
    slots: u32,
    /// The number of open loops.
    pub loops: u32,
    /// The number of open captures.
    pub captures: u32,
    /// Unused slots.
    free: Vec<u32>,
    /// The first slots of unused pairs.
    free_pairs: Vec<u32>,
    /// `true` in unreachable code, which is counted but not emitted.
    pub dead: bool,
    /// The values on the stack.
    pub values: Vec<ValueNumber>,
    /// The number of values from the bottom of the stack that are known to be unknown.
    pub forgotten: usize,
    /// The latest instructions that can still be removed: no jump or range refers to the position after them.
    pub recent: Vec<Recent>,
}

/// An instruction that can still be removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recent {
    pub op: Op,
    /// Index of its first word.
    pub at: u32,
    pub place: Spanned,
    /// The height of the stack before it.
    pub height: u32,
}

impl Frame {
    pub fn reserve(&mut self) {
        self.recent.reserve(AT_ONCE);
        self.values.reserve(AT_ONCE);
    }

    /// Begins a chunk, reusing the memory of the last one.
    pub fn begin(&mut self, id: usize, slots: u32) {
        (self.id, self.slots, self.loops, self.captures, self.dead) = (id, slots, 0, 0, false);
        self.free.clear();
        self.free_pairs.clear();
        self.values.clear();
        self.forgotten = 0;
        self.recent.clear();
    }
}

impl Emitter<'_> {
    /// Declares a chunk, so that calls can refer to it before it is emitted.
    pub fn declare_chunk(&mut self, name: &str, params: u32) -> u32 {
        let name = self.tables.string(name);
        let chunks = &mut self.tables.parts.chunks;
        chunks.push(ChunkInfo { name, slots: params, params, ..ChunkInfo::default() }.row());
        index(chunks.len() - 1)
    }

    /// Returns the chunk with index `id`.
    pub(super) fn chunk(&self, id: usize) -> Option<ChunkInfo> {
        self.tables.parts.chunks.get(id).map(ChunkInfo::of)
    }

    fn change_chunk(&mut self, id: usize, change: impl FnOnce(&mut ChunkInfo)) {
        if let Some(row) = self.tables.parts.chunks.get_mut(id) {
            let mut chunk = ChunkInfo::of(row);
            change(&mut chunk);
            *row = chunk.row();
        }
    }

    /// Begins the code of a declared chunk. Its parameters are its first slots. Chunks do not nest.
    pub fn begin_chunk(&mut self, id: u32) {
        let (id, entry) = (id as usize, self.here());
        let Some(ChunkInfo { params, .. }) = self.chunk(id) else { return };
        self.change_chunk(id, |chunk| chunk.entry = entry);
        self.frame.begin(id, params);
        self.labels.bound.clear();
    }

    /// Ends the chunk being emitted.
    pub fn end_chunk(&mut self) {
        self.emit(Op::Return, &[]);
        let (end, slots) = (self.here(), self.frame.slots);
        self.change_chunk(self.frame.id, |chunk| (chunk.end, chunk.slots) = (end, slots));
    }

    /// Reserves a slot of the chunk.
    pub fn new_slot(&mut self) -> u32 {
        self.new_slots(1)
    }

    /// Reserves `count` adjacent slots and returns the first.
    pub fn new_slots(&mut self, count: u32) -> u32 {
        let first = self.frame.slots;
        self.frame.slots += count;
        first
    }

    /// Takes an unused slot, which is reserved until [`Emitter::free`] and may have a value.
    pub fn take_slot(&mut self) -> u32 {
        self.frame.free.pop().unwrap_or_else(|| self.new_slot())
    }

    /// Pops the top value into a slot, which is reserved until [`Emitter::free`].
    pub fn store(&mut self) -> u32 {
        let slot = self.take_slot();
        self.op(Op::StoreSlot, &[slot]);
        slot
    }

    /// Puts the number of recorded errors into a slot, which is reserved until [`Emitter::free`].
    pub fn mark(&mut self) -> u32 {
        let slot = self.take_slot();
        self.op(Op::MarkSlot, &[slot]);
        slot
    }

    /// Puts the number of recorded errors into the first of two adjacent slots, which are reserved until
    /// [`Emitter::free_pair`].
    pub fn mark_pair(&mut self) -> u32 {
        let slot = self.frame.free_pairs.pop().unwrap_or_else(|| self.new_slots(2));
        self.op(Op::MarkSlot, &[slot]);
        slot
    }

    /// Releases a slot.
    pub fn free(&mut self, slot: u32) {
        self.frame.free.push(slot);
    }

    /// Releases a pair of slots, given the first.
    pub fn free_pair(&mut self, slot: u32) {
        self.frame.free_pairs.push(slot);
    }

    /// Pushes the value in a slot, or undefined.
    pub fn load_slot_or_nothing(&mut self, slot: u32) {
        self.peek(&PathSpec { name: "", roots: &[RootSpec::Slot(slot)], segments: &[] });
    }

    /// Pushes the value in a slot.
    pub fn load_slot(&mut self, slot: u32) {
        self.load(&PathSpec { name: "", roots: &[RootSpec::Slot(slot)], segments: &[] });
    }
}
