//! Slots that are used for a while and then again.

use super::Emitter;
use crate::bytecode::Op;
use crate::compiler::paths::{PathSpec, RootSpec};

impl Emitter<'_> {
    /// A slot that nothing else uses until it is freed.
    fn take_slot(&mut self) -> u32 {
        self.open.free.pop().unwrap_or_else(|| self.new_slot())
    }

    /// Takes the top into a slot that nothing else uses until it is freed.
    pub fn store(&mut self) -> u32 {
        let slot = self.take_slot();
        self.op(Op::StoreSlot, &[slot]);
        slot
    }

    /// How many errors were noted so far, in such a slot.
    pub fn mark(&mut self) -> u32 {
        let slot = self.take_slot();
        self.op(Op::MarkSlot, &[slot]);
        slot
    }

    /// The same, in the first of two slots that lie side by side until [`Emitter::free_pair`].
    pub fn mark_pair(&mut self) -> u32 {
        let slot = self.open.free_pairs.pop().unwrap_or_else(|| self.new_slots(2));
        self.op(Op::MarkSlot, &[slot]);
        slot
    }

    /// Says that nothing uses a slot from here on.
    pub fn free(&mut self, slot: u32) {
        self.open.free.push(slot);
    }

    /// The same of both slots of a pair, the first of which is `slot`.
    pub fn free_pair(&mut self, slot: u32) {
        self.open.free_pairs.push(slot);
    }

    /// Pushes what is in a slot, which may be nothing.
    pub fn load_slot_or_nothing(&mut self, slot: u32) {
        self.peek(&PathSpec { name: "", roots: &[RootSpec::Slot(slot)], segments: &[] });
    }

    /// Pushes what is in a slot.
    pub fn load_slot(&mut self, slot: u32) {
        self.load(&PathSpec { name: "", roots: &[RootSpec::Slot(slot)], segments: &[] });
    }
}
