//! Chunks that are inlined, and where code may grow.

use std::collections::BTreeMap;

use super::reads::reads;
use super::state::{Kept, Running};
use super::walk::{Frame, GivenUp, Outcome, Walk};
use crate::bytecode::{ChunkInfo, Control, Instruction, OpInfo, Operand, Place, Provenance, Root};

/// Maximum nesting of inlined chunks.
const DEPTH: usize = 24;

/// Words that cost as much as calling a chunk, besides its own. The costs of code are rounded down to fours.
const CALL: u32 = 8 * 4 - 3;

impl<'v> Walk<'v> {
    /// Inlines a chunk that the instruction at `at` calls. Its arguments are on the stack.
    pub fn inline(&mut self, callee: ChunkInfo, at: u32) -> Outcome {
        let base = self.frame.base + self.frame.chunk.slots;
        self.credit = self.credit.saturating_add(CALL + callee.end - callee.entry);
        self.add_slots(base, callee.slots);
        for slot in (base..base + callee.params).rev() {
            match self.state.stack.pop() {
                Some(entry) => self.store(slot, entry, at),
                None => return Err(GivenUp),
            }
        }
        let around = self.program.place(at).into_iter().chain(self.program.inlined_at(at));
        let calls = around.chain(self.frame.calls.iter().copied()).collect();
        let (joins, pins) = (BTreeMap::new(), Vec::new());
        let reads = reads(self.program, callee);
        let captures = self.state.captures();
        let answers = self.is_answered(callee);
        let frame = Frame { chunk: callee, base, captures, calls, verbatim_to: 0, joins, reads, pins, answers };
        let caller = std::mem::replace(&mut self.frame, frame);
        let back = if answers { self.pc + 1 } else { self.pc };
        (self.pc, self.depth) = (callee.entry, self.depth + 1);
        self.flow(callee.end, 0)?;
        (self.pc, self.depth) = (back, self.depth - 1);
        self.frame = caller;
        self.state.slots.truncate(base as usize);
        Ok(())
    }

    /// Returns `true` if a chunk ends with its only result, which the code at the current word pushes.
    fn is_answered(&self, callee: ChunkInfo) -> bool {
        let rows: Vec<&OpInfo> = self.code.instructions(callee).map(|instruction| instruction.op.info()).collect();
        let answers = |row: &&OpInfo| row.writes.contains(Place::Result);
        let next = self.code.instruction(self.pc).map(|next| next.op.info().provenance);
        let is_pushed = next == Some(Provenance::Answer);
        let is_last = matches!(rows.as_slice(), [.., last, end] if answers(last) && end.control == Control::Return);
        let is_only = rows.iter().copied().filter(answers).count() == 1;
        is_pushed && is_last && is_only && !self.frame.joins.contains_key(&self.pc)
    }

    /// Returns `true` if a chunk can be inlined here.
    pub fn is_inlinable(&self, callee: ChunkInfo) -> bool {
        let words = (callee.end - callee.entry) as usize;
        self.depth < DEPTH && !self.is_verbatim() && self.may_grow() && !self.out.is_full(2 * words) && {
            let mut instructions = self.code.instructions(callee);
            instructions.all(|instruction| !self.is_by_name(instruction))
        }
    }

    /// Returns `true` if an instruction depends on frames or loops by more than its operands.
    pub fn is_by_name(&self, instruction: Instruction<'v>) -> bool {
        let by_name = |path: u32| {
            let path = self.code.path(path);
            let several = path.roots().len() > 1;
            path.roots().any(|root| match root {
                Root::Callers(_) => true,
                Root::Loop(..) => several || !path.is_empty(),
                Root::Slot(_) | Root::Global(_) => false,
            })
        };
        instruction.reads_names() || instruction.operand(Operand::Path).is_some_and(by_name)
    }

    /// Returns `true` in a loop that stays.
    pub fn is_repeated(&self) -> bool {
        self.kept_loops().next().is_some()
    }

    fn kept_loops(&self) -> impl Iterator<Item = &Kept<'v>> {
        self.state.loops.iter().filter_map(|each| match each {
            Running::Kept(kept) => Some(&**kept),
            Running::Unrolled(..) => None,
        })
    }

    /// Returns `true` where code may grow that costs as much fuel in the original. The turns of a loop that stays cost
    /// fuel by the length of its body, so code of it may grow only if each turn runs it.
    pub fn may_grow(&self) -> bool {
        let mut kept = self.kept_loops();
        let Some(outer) = kept.next() else { return true };
        let joins = &self.frame.joins;
        let is_sure = match outer.depth == self.depth {
            true => joins.range(outer.body[0]..outer.end).next().is_none(),
            // The call of an inlined chunk was sure.
            false => joins.is_empty(),
        };
        kept.next().is_none() && is_sure && outer.handled == self.handled
    }
}
