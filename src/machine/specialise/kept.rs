//! Instructions that stay, because not all of their operands are known.

use smallvec::SmallVec;

use super::state::{Alias, Entry, Joined, Pending, Running};
use super::walk::{GivenUp, Outcome, Walk};
use crate::bytecode::{Control, Fails, Instruction, Op, Operand, PieceKind, Place, Provenance, Root};

impl<'v> Walk<'v> {
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
        self.state.stack.extend(std::iter::repeat_n(Entry::Pushed, info.pushes.into()));
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
                self.state.texts.push(Pending::default());
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
        self.state.stack.extend(std::iter::repeat_n(Entry::Pushed, info.pushes.into()));
        self.edge(label, (word, nth), usize::from(info.control == Control::BranchWithTop))?;
        self.pc = instruction.end();
        Ok(())
    }

    /// Stores the slots that an instruction reads.
    pub(super) fn read_slots(&mut self, instruction: Instruction<'v>) {
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
                    if !matches!(nth, Some(Running::Kept(_))) {
                        return Err(GivenUp);
                    }
                    let kept = above.take(level as usize).filter(|each| matches!(each, Running::Kept(_))).count();
                    Root::Loop(u32::try_from(kept).map_err(|_| GivenUp)?, field)
                }
                other => other,
            });
        }
        Ok(self.out.path(offset, &path, &roots))
    }
}
