//! Chunks, the slots of the chunk being emitted, and its words.

use super::Emitter;
use super::paths::{PathSpec, RootSpec};
use super::values::ValueNumber;
use crate::bytecode::{ChunkInfo, Delivery, Op, Operand, Spanned, span_row};
use crate::compiler::tables::index;
use crate::function::Builtin;

/// The usual number of instructions between two labels, and of values on the stack.
const AT_ONCE: usize = 16;

/// The chunk being emitted.
#[derive(Debug, Default)]
pub(super) struct ChunkState {
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

impl ChunkState {
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

    /// Emits an instruction whose operands are plain numbers.
    pub fn op(&mut self, op: Op, operands: &[u32]) {
        self.emit(op, operands);
    }

    pub(super) fn emit(&mut self, op: Op, operands: &[u32]) {
        self.flush();
        self.emit_now(op, operands);
    }

    /// Emits an instruction before anything pending.
    pub(super) fn emit_now(&mut self, op: Op, operands: &[u32]) {
        let first = operands.first().copied().unwrap_or(0);
        if self.frame.dead {
            self.last = None;
            self.note_values(op, first);
            return;
        }
        let (at, height) = (self.here(), self.height_now());
        let (row, spans) = (span_row(at, self.place), &mut self.tables.parts.spans);
        let [_, place @ ..] = row;
        if spans.last().is_none_or(|[_, last @ ..]| *last != place) {
            spans.push(row);
        }
        self.last = Some(at);
        self.frame.recent.push(Recent { op, at, place: self.place, height });
        let words = &mut self.tables.parts.words;
        words.push(first << 8 | op as u32);
        // Three at most. Copying a slice would cost more.
        operands.iter().skip(1).for_each(|&operand| words.push(operand));
        self.note_values(op, first);
        self.frame.dead = op.info().control.ends();
        self.labels.bound.clear();
    }

    /// Returns the height of the stack, without pending constants.
    pub(super) fn height_now(&self) -> u32 {
        index(self.frame.values.len())
    }

    /// Emits what is pending. Nothing before this point is removed afterwards.
    pub(super) fn fence(&mut self) {
        self.flush();
        self.frame.recent.clear();
    }

    /// Returns the opcodes of the last three instructions that can be removed; `return` stands for none.
    pub(super) fn recent(&self) -> [Op; 3] {
        let mut ops = [Op::Return; 3];
        ops.iter_mut().rev().zip(self.frame.recent.iter().rev()).for_each(|(op, recent)| *op = recent.op);
        ops
    }

    /// Removes the last instruction, restores its position and returns its first operand.
    pub(super) fn take_back(&mut self) -> u32 {
        let Some(last) = self.frame.recent.pop() else { return 0 };
        let parts = &mut self.tables.parts;
        let operand = parts.words.get(last.at as usize).map_or(0, |word| word >> 8);
        parts.words.truncate(last.at as usize);
        while parts.spans.pop_if(|span| span[0] >= last.at).is_some() {}
        while parts.details.pop_if(|row| row[0] >= last.at).is_some() {}
        self.place = last.place;
        self.set_values(last.height);
        operand
    }

    pub(super) fn pops(&self, op: Op, operand: u32) -> u32 {
        let parts = &self.tables.parts;
        op.info().pops(operand, |kind, at| match kind {
            Operand::Path => self.tables.path_at(at).map_or(0, |path| path.indexes),
            Operand::Chunk => self.chunk(at as usize).map_or(0, |chunk| chunk.params),
            Operand::Keys => parts.keys.get(at as usize).copied().unwrap_or(0),
            _ => parts.sites.get(at as usize + 1).copied().unwrap_or(0),
        })
    }

    /// Gives a declared chunk a name by which it can be called. A chunk may have several names. The last of several chunks
    /// with one name keeps it. The first chunk cannot be called.
    pub fn name_chunk(&mut self, name: &str, chunk: u32) {
        let name = self.tables.string(name);
        self.tables.parts.names.push([name, chunk]);
    }

    /// Calls the chunk whose name is on the stack, below `count` arguments: one for each parameter of the chunk. With
    /// [`Delivery::Text`], its output is pushed as text.
    pub fn call_named(&mut self, count: u32, delivery: Delivery) {
        self.delivered(delivery, |emitter| emitter.op(Op::CallNamed, &[count + 1, delivery as u32]));
    }

    /// Compiles the text on the stack, below `count` arguments, and runs it with these arguments. `maker` is the function
    /// that compiles it: its body is a [`Body::Maker`](crate::function::Body::Maker). With [`Delivery::Text`], the output
    /// is pushed as text.
    pub fn call_made(&mut self, maker: &Builtin, count: u32, delivery: Delivery) {
        self.delivered(delivery, |emitter| {
            if !emitter.is_dead(Op::CallMade, count as usize + 1) {
                let import = emitter.tables.import(maker.kind, &maker.name, maker.signature());
                emitter.op(Op::CallMade, &[count + 1, import]);
            }
        });
    }

    /// Emits a call whose output is output or text.
    fn delivered(&mut self, delivery: Delivery, call: impl FnOnce(&mut Self)) {
        match delivery {
            Delivery::Output => call(self),
            Delivery::Text => {
                self.begin_capture();
                call(self);
                self.end_capture();
            }
        }
    }
}
