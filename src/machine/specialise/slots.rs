//! Slots and the stack: which values the residual holds, and which are only known.

use std::ops::Range;
use std::rc::Rc;

use super::state::{Alias, Entry, Fixed, Home, Recipe, Slot, same};
use super::walk::Walk;
use crate::bytecode::{Instruction, Op, Path, Root};
use dropforge_value::Value;

impl<'v> Walk<'v> {
    /// Returns slots of the frame as slots of the residual's frame.
    pub(super) fn moved(&self, slots: Range<u32>) -> Range<u32> {
        self.frame.base + slots.start..self.frame.base + slots.end.min(self.frame.chunk.slots)
    }

    /// Returns the slots that an instruction refers to, in the residual's frame.
    pub fn slots_of(&self, instruction: Instruction<'v>) -> Range<u32> {
        self.moved(instruction.slots())
    }

    /// Returns the slots that code sets, in the residual's frame.
    pub(super) fn set_in(&self, from: u32, to: u32) -> Rc<[u32]> {
        let (mut at, mut slots) = (from, Vec::new());
        while at < to
            && let Some(instruction) = self.code.instruction(at)
        {
            slots.extend(self.moved(instruction.slots_set()));
            at = instruction.end();
        }
        slots.sort_unstable();
        slots.dedup();
        slots.into()
    }

    pub(super) fn add_slots(&mut self, base: u32, count: u32) {
        self.state.slots.truncate(base as usize);
        for slot in base..base + count {
            // An earlier turn of a loop may have set it.
            let home = if slot < self.slots || self.is_repeated() { Home::Stale } else { Home::Blank };
            let known = self.constant(Value::Undefined, self.pc);
            self.state.slots.push(Slot { known, alias: None, home });
        }
        self.slots = self.slots.max(base + count);
    }

    /// Pushes the known values of the stack if one of them is only in a slot that is about to change.
    fn settle_reads_of(&mut self, slot: u32) {
        let of_slot = |recipe: &Recipe| matches!(recipe, Recipe::Slot(one) if *one == slot);
        if self.state.stack.iter().any(|entry| matches!(entry, Entry::Known(fixed) if of_slot(&fixed.recipe))) {
            self.settle();
        }
    }

    /// Sets a slot to a popped value.
    pub fn store(&mut self, slot: u32, entry: Entry<'v>, at: u32) {
        self.settle_reads_of(slot);
        let new = match entry {
            Entry::Pushed => {
                self.emit(&[Op::StoreSlot as u32 | slot << 8], at);
                Slot::OPEN
            }
            Entry::Known(Fixed { value, recipe: recipe @ Recipe::Code(_) }) => {
                // A call runs once.
                self.push(&recipe);
                self.emit(&[Op::StoreSlot as u32 | slot << 8], at);
                Slot { known: Some(Fixed { value, recipe: Recipe::Slot(slot) }), alias: None, home: Home::Same }
            }
            Entry::Known(Fixed { value, recipe: Recipe::Slot(other) }) => {
                self.push(&Recipe::Slot(other));
                self.emit(&[Op::StoreSlot as u32 | slot << 8], at);
                Slot { known: Some(Fixed { value, recipe: Recipe::Slot(slot) }), alias: None, home: Home::Same }
            }
            Entry::Known(fixed) => {
                let old = self.state.slots.get(slot as usize);
                let home = match old {
                    Some(Slot { known: Some(old), home, .. }) if same(old.value, fixed.value) => *home,
                    _ => Home::Stale,
                };
                Slot { known: Some(fixed), alias: None, home }
            }
        };
        if let Some(place) = self.state.slots.get_mut(slot as usize) {
            *place = new;
        }
    }

    /// Sets a slot to a string of an input.
    pub fn store_alias(&mut self, slot: u32, alias: Alias) {
        self.settle_reads_of(slot);
        if let Some(place) = self.state.slots.get_mut(slot as usize) {
            *place = Slot { known: None, alias: Some(alias), home: Home::Stale };
        }
    }

    /// Returns the input that a path reads if it is a slot that stands for one.
    pub fn alias(&self, path: &Path<'v>) -> Option<Alias> {
        let Some(Root::Slot(slot)) = path.roots().next().filter(|_| path.is_empty()) else { return None };
        self.state.slots.get((self.frame.base + slot) as usize)?.alias.clone()
    }

    /// Returns `true` if a slot of the frame may be read from here on.
    pub fn is_read(&self, slot: u32) -> bool {
        self.is_read_from(slot, self.pc)
    }

    /// Returns `true` if a slot of the frame may be read from a word on.
    pub fn is_read_from(&self, slot: u32, word: u32) -> bool {
        let last = slot.checked_sub(self.frame.base).and_then(|slot| self.frame.reads.get(slot as usize));
        last.is_none_or(|last| *last > word)
    }

    /// Forgets the value of a slot, which is in the residual's.
    pub fn open_slot(&mut self, slot: u32) {
        if let Some(place) = self.state.slots.get_mut(slot as usize) {
            *place = Slot::OPEN;
        }
    }

    /// Sets the residual's slot to the slot's value.
    pub fn sync(&mut self, slot: u32) {
        let Some(place) = self.state.slots.get_mut(slot as usize) else { return };
        if place.is_in_place() {
            return;
        }
        place.home = Home::Same;
        let alias = place.alias.clone().map(|alias| Recipe::Input(alias.global, alias.steps));
        if let Some(recipe) = place.known.as_ref().map(|fixed| fixed.recipe.clone()).or(alias) {
            self.push(&recipe);
            self.emit_quietly(&[Op::StoreSlot as u32 | slot << 8], self.pc);
        }
    }

    pub fn sync_all(&mut self) {
        (0..u32::try_from(self.state.slots.len()).unwrap_or(0)).for_each(|slot| self.sync(slot));
    }

    /// Pushes the known values of the stack.
    pub fn settle(&mut self) {
        for nth in 0..self.state.stack.len() {
            if let Some(place @ Entry::Known(_)) = self.state.stack.get_mut(nth)
                && let Entry::Known(fixed) = std::mem::replace(place, Entry::Pushed)
            {
                self.push(&fixed.recipe);
            }
        }
    }
}
