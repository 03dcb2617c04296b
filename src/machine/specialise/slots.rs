//! Slots, the stack, and instructions that stay: which values the residual holds, which are only known, and where slots
//! are read for the last time.

use std::ops::Range;
use std::rc::Rc;

use smallvec::SmallVec;

use super::state::{Alias, Fixed, Home, Joined, PendingText, Recipe, RunningLoop, Slot, StackEntry, same};
use super::walk::{GivenUp, Outcome, Specialiser};
use crate::bytecode::{
    ChunkInfo, CodeView, Control, Fails, Instruction, Op, Operand, Path, PieceKind, Place, Program, Provenance, Region,
    Root,
};
use dropforge_value::Value;

impl<'v> Specialiser<'v> {
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
            // An earlier iteration of a loop may have set it.
            let home = if slot < self.slots || self.is_repeated() { Home::Stale } else { Home::Blank };
            let known = self.constant(Value::Undefined, self.pc);
            self.state.slots.push(Slot { known, alias: None, home });
        }
        self.slots = self.slots.max(base + count);
    }

    /// Pushes the known values of the stack if one of them is only in a slot that is about to change.
    fn settle_reads_of(&mut self, slot: u32) {
        let of_slot = |recipe: &Recipe| matches!(recipe, Recipe::Slot(one) if *one == slot);
        if self.state.stack.iter().any(|entry| matches!(entry, StackEntry::Known(fixed) if of_slot(&fixed.recipe))) {
            self.settle();
        }
    }

    /// Sets a slot to a popped value.
    pub fn store(&mut self, slot: u32, entry: StackEntry<'v>, at: u32) {
        self.settle_reads_of(slot);
        let new = match entry {
            StackEntry::Pushed => {
                self.emit(&[Op::StoreSlot as u32 | slot << 8], at);
                Slot::OPEN
            }
            StackEntry::Known(Fixed { value, recipe: recipe @ Recipe::Code(_) }) => {
                // A call runs once.
                self.push(&recipe);
                self.emit(&[Op::StoreSlot as u32 | slot << 8], at);
                Slot { known: Some(Fixed { value, recipe: Recipe::Slot(slot) }), alias: None, home: Home::Same }
            }
            StackEntry::Known(Fixed { value, recipe: Recipe::Slot(other) }) => {
                self.push(&Recipe::Slot(other));
                self.emit(&[Op::StoreSlot as u32 | slot << 8], at);
                Slot { known: Some(Fixed { value, recipe: Recipe::Slot(slot) }), alias: None, home: Home::Same }
            }
            StackEntry::Known(fixed) => {
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
            if let Some(place @ StackEntry::Known(_)) = self.state.stack.get_mut(nth)
                && let StackEntry::Known(fixed) = std::mem::replace(place, StackEntry::Pushed)
            {
                self.push(&fixed.recipe);
            }
        }
    }

    /// Emits an instruction whose operands are not all known.
    pub(super) fn kept(&mut self, instruction: Instruction<'v>) -> Outcome {
        let info = instruction.op.info();
        let pops = self.code.pops(info, instruction.operands().next().map_or(0, |(_, operand)| operand)) as usize;
        if info.stores_popped() {
            if self.is_verbatim() {
                self.settle();
            }
            let slot = self.slots_of(instruction).start;
            let entry = self.state.stack.pop().ok_or(GivenUp)?;
            self.store(slot, entry, instruction.at);
            self.pc = instruction.end();
            return Ok(());
        }
        if info.writes.contains(Place::Notes) || info.control.calls() {
            self.may_note();
        }
        if info.control == Control::OpenLoop {
            return self.keep_loop(instruction);
        }
        let words = self.rewritten(instruction)?;
        if pops > 0 || info.pushes > 0 {
            self.settle();
        }
        self.read_slots(instruction);
        if info.fails == Fails::Error {
            self.store_named(instruction.at);
        }
        if let Some(nth) = info.label() {
            return self.keep_branch(instruction, words, nth, pops);
        }
        self.keep_plain(instruction, words)?;
        let left = self.state.stack.len().checked_sub(pops).ok_or(GivenUp)?;
        self.state.stack.truncate(left);
        self.state.stack.extend(std::iter::repeat_n(StackEntry::Pushed, info.pushes.into()));
        for slot in self.moved(instruction.slots_set()) {
            self.open_slot(slot);
            if info.provenance == Provenance::Errors {
                self.marked(slot);
            }
        }
        self.live = !info.control.ends();
        self.pc = instruction.end();
        Ok(())
    }

    /// Emits an instruction without a label.
    fn keep_plain(&mut self, instruction: Instruction<'v>, words: Vec<u32>) -> Outcome {
        let info = instruction.op.info();
        if info.writes_path() {
            self.keep_write(instruction, &words);
            return Ok(());
        }
        // A callee that sees the caller's names reads its slots, too.
        if instruction.reads_names() {
            self.sync_all();
        }
        self.calls |= info.control.calls();
        match info.control {
            Control::CloseLoop => drop(self.state.loops.pop()),
            Control::OpenText => {
                self.flush();
                self.state.texts.push(PendingText::default());
            }
            Control::OpenValues => self.state.gatherings += 1,
            Control::CloseValues => self.state.gatherings = self.state.gatherings.saturating_sub(1),
            _ => {}
        }
        if info.fails != Fails::Never || info.control != Control::Plain {
            self.flush();
        }
        if info.control == Control::CloseText {
            self.state.texts.pop();
        }
        self.emit(&words, instruction.at);
        Ok(())
    }

    /// Writes the value of a path, with the pending text before it.
    fn keep_write(&mut self, instruction: Instruction<'v>, words: &[u32]) {
        let (at, mode) = (instruction.at, instruction.operand(Operand::Mode).unwrap_or(0));
        if let Some(before) = instruction.operand(Operand::Str) {
            self.write(self.code.str(before), PieceKind::Before, at);
        }
        let path = words.first().map_or(0, |word| word >> 8);
        match self.flush_before(self.program.place(at)) {
            Some(Joined { text, pieces }) => {
                let string = self.out.string(&text);
                self.out.details_of(at);
                self.out.pieces(&pieces);
                self.emit_quietly(&[Op::TextPath as u32 | path << 8, mode, string], at);
            }
            None => self.emit(&[Op::EmitPath as u32 | path << 8, mode], at),
        }
    }

    /// Emits an instruction with a label.
    fn keep_branch(&mut self, instruction: Instruction<'v>, words: Vec<u32>, nth: usize, pops: usize) -> Outcome {
        let info = instruction.op.info();
        if info.control == Control::NextItem {
            return self.keep_next(instruction, words, nth);
        }
        let label = instruction.operand(Operand::Label).ok_or(GivenUp)?;
        self.part(label);
        let word = self.out.here() as usize;
        self.emit(&words, instruction.at);
        let left = self.state.stack.len().checked_sub(pops).ok_or(GivenUp)?;
        self.state.stack.truncate(left);
        self.state.stack.extend(std::iter::repeat_n(StackEntry::Pushed, info.pushes.into()));
        self.edge(label, (word, nth), usize::from(info.control == Control::BranchWithTop))?;
        self.pc = instruction.end();
        Ok(())
    }

    /// Stores the slots that an instruction reads.
    fn read_slots(&mut self, instruction: Instruction<'v>) {
        self.moved(instruction.slots_read()).for_each(|slot| self.sync(slot));
        if let Some(path) = instruction.operand(Operand::Path) {
            let path = self.code.path(path);
            if self.alias(&path).is_some() {
                return;
            }
            for root in path.roots() {
                if let Root::Slot(slot) = root {
                    self.sync(self.frame.base + slot);
                }
            }
        }
    }

    /// Returns the words of an instruction in the residual's frame, with the label of the original.
    pub(super) fn rewritten(&mut self, instruction: Instruction<'v>) -> Outcome<Vec<u32>> {
        let mut words = self.words(instruction);
        for (nth, (kind, operand)) in instruction.operands().enumerate() {
            let new = match kind {
                Operand::Slot | Operand::SlotPair | Operand::SlotRun | Operand::LoopSlots => self.frame.base + operand,
                Operand::Path => self.rebased(operand)?,
                Operand::Scope if operand != 0 && self.frame.base > 0 => return Err(GivenUp),
                _ => continue,
            };
            if let Some(word) = words.get_mut(nth) {
                *word = if nth == 0 { *word & 0xFF | new << 8 } else { new };
            }
        }
        Ok(words)
    }

    /// Returns the offset of a path in the residual's frame and loops.
    fn rebased(&mut self, offset: u32) -> Outcome<u32> {
        let path = self.code.path(offset);
        if let Some(Alias { global, steps }) = self.alias(&path) {
            return Ok(self.out.input_path(global, &steps));
        }
        let mut roots: SmallVec<[Root; 4]> = SmallVec::new();
        for root in path.roots() {
            roots.push(match root {
                Root::Slot(slot) => Root::Slot(self.frame.base + slot),
                Root::Loop(level, field) => {
                    let above = self.state.loops.iter().rev();
                    let nth = above.clone().nth(level as usize);
                    if !matches!(nth, Some(RunningLoop::Kept(_))) {
                        return Err(GivenUp);
                    }
                    let kept = above.take(level as usize).filter(|each| matches!(each, RunningLoop::Kept(_))).count();
                    Root::Loop(u32::try_from(kept).map_err(|_| GivenUp)?, field)
                }
                other => other,
            });
        }
        Ok(self.out.path(offset, &path, &roots))
    }
}

/// A loop: its body, and the slots that it sets before each iteration.
struct LoopBody {
    words: Range<u32>,
    slots: Range<u32>,
}

/// Returns the word after the last code that may read a slot before the slot is set again, by slot.
pub(super) fn reads(program: &Program, chunk: ChunkInfo) -> Rc<[u32]> {
    let code = program.code();
    let loops: Vec<LoopBody> = code.instructions(chunk).filter_map(body).collect();
    let back = |instruction: Instruction<'_>| Some(instruction.operand(Operand::Label)?..instruction.end());
    let repeated: Vec<Range<u32>> =
        code.instructions(chunk).filter_map(back).filter(|range| !range.is_empty()).collect();
    let mut last = vec![0; chunk.slots as usize];
    for instruction in code.instructions(chunk) {
        for slot in read_by(code, instruction, chunk.slots) {
            let own = |body: &&LoopBody| body.slots.contains(&slot) && body.words.contains(&instruction.at);
            let end = match loops.iter().find(own) {
                Some(body) => Some(body.words.end),
                // A later iteration may read it.
                None => repeated.iter().filter(|range| range.contains(&instruction.at)).map(|range| range.end).max(),
            };
            if let Some(place) = last.get_mut(slot as usize) {
                *place = instruction.end().max(end.unwrap_or(0)).max(*place);
            }
        }
    }
    for row in program.tables().regions.iter().filter(|[from, ..]| (chunk.entry..chunk.end).contains(from)) {
        if let Region::Name(_, slot) = Region::of(*row)
            && let Some(place) = last.get_mut(slot as usize)
        {
            *place = row[1].max(*place);
        }
    }
    last.into()
}

fn body(instruction: Instruction<'_>) -> Option<LoopBody> {
    if instruction.op.info().control != Control::OpenLoop {
        return None;
    }
    let first = instruction.operand(Operand::LoopSlots)?;
    let slots = first..first + instruction.operand(Operand::Names).unwrap_or(1);
    Some(LoopBody { words: instruction.end()..instruction.operand(Operand::Label)?, slots })
}

/// Returns the slots that an instruction may read.
fn read_by(code: CodeView<'_>, instruction: Instruction<'_>, slots: u32) -> Vec<u32> {
    let mut read = Vec::new();
    if let Some(path) = instruction.operand(Operand::Path) {
        read.extend(code.path(path).roots().filter_map(|root| match root {
            Root::Slot(slot) => Some(slot),
            Root::Loop(..) | Root::Global(_) | Root::Callers(_) => None,
        }));
    }
    read.extend(if instruction.reads_names() { 0..slots } else { instruction.slots_read() });
    read
}
