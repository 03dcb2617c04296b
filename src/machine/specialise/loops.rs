//! Loops, unrolled over known items or kept, and chunks that are inlined.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::slots::reads;
use super::state::{Item, Items, KeptLoop, RunningLoop, StackEntry};
use super::walk::{ChunkFrame, GivenUp, Outcome, Specialiser};
use crate::bytecode::{ChunkInfo, Control, Instruction, OpInfo, Operand, Place, Provenance, Root};

/// Words that cost as much as the start of an iteration.
const TURN: u32 = 4;

/// Maximum nesting of inlined chunks.
const DEPTH: usize = 24;

/// Words that cost as much as calling a chunk, besides its own. The costs of code are rounded down to fours.
const CALL: u32 = 8 * 4 - 3;

impl<'v> Specialiser<'v> {
    /// Begins an unrolled loop. `None` if the loop stays.
    pub(super) fn unroll(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
        let (names, label) = (instruction.operand(Operand::Names)?, instruction.operand(Operand::Label)?);
        let over = self.known_top(1)?.pop()?;
        let items = self.items(&over, names)?;
        if items.is_empty() {
            self.state.stack.pop();
            return Some(self.go(label, instruction.at));
        }
        if !self.is_unrollable(&items, instruction) {
            return None;
        }
        self.state.stack.pop();
        self.begin(items, instruction)
    }

    /// Unrolls a loop over the entries of a map whose keys are known. The instruction pushes the map.
    pub(super) fn unroll_entries(&mut self, push: Instruction<'v>) -> Option<Outcome> {
        let instruction =
            self.code.instruction(push.end()).filter(|next| next.op.info().control == Control::OpenLoop)?;
        if instruction.operand(Operand::Names) != Some(2) || self.frame.joins.contains_key(&instruction.at) {
            return None;
        }
        let items = self.entries(&self.code.path(push.operand(Operand::Path)?))?;
        if items.is_empty() || !self.is_unrollable(&items, instruction) {
            return None;
        }
        self.begin(items, instruction)
    }

    fn begin(&mut self, items: Items<'v>, instruction: Instruction<'v>) -> Option<Outcome> {
        self.credit = self.credit.saturating_add(TURN);
        self.state.loops.push(RunningLoop::Unrolled(items, 0, instruction.end()));
        self.set_item(instruction);
        self.next(instruction)
    }

    /// Returns `true` if the body of a loop depends on the loop by more than the operands of its instructions.
    fn is_bound(&self, instruction: Instruction<'v>) -> bool {
        let (mut at, end) = (instruction.end(), instruction.operand(Operand::Label).unwrap_or(0));
        while at < end
            && let Some(inner) = self.code.instruction(at)
        {
            if self.is_by_name(inner) {
                return true;
            }
            at = inner.end();
        }
        false
    }

    /// Returns `true` if a loop over these items may be unrolled.
    fn is_unrollable(&self, items: &Items<'v>, instruction: Instruction<'v>) -> bool {
        let body = instruction.operand(Operand::Label).unwrap_or(0).saturating_sub(instruction.end()) as usize;
        !self.out.is_full(body.saturating_mul(items.len() + 1))
            && !self.is_bound(instruction)
            && (!self.is_repeated() || self.may_grow() && self.has_one_end(instruction))
    }

    /// Returns `true` if a loop ends only after its last item.
    fn has_one_end(&self, instruction: Instruction<'v>) -> bool {
        let (mut at, end) = (instruction.end(), instruction.operand(Operand::Label).unwrap_or(0));
        while at < end
            && let Some(inner) = self.code.instruction(at)
        {
            if matches!(inner.op.info().control, Control::CloseLoop | Control::Return) {
                return false;
            }
            at = inner.end();
        }
        true
    }

    /// Sets the slots of the innermost loop to its next item.
    fn set_item(&mut self, instruction: Instruction<'v>) {
        let Some(RunningLoop::Unrolled(items, begun, _)) = self.state.loops.last_mut() else { return };
        let item = items.get(*begun).cloned().unwrap_or_default();
        *begun += 1;
        let first = self.slots_of(instruction).start;
        for (slot, item) in (first..).zip(item) {
            match item {
                Item::Known(fixed) => self.store(slot, StackEntry::Known(fixed), instruction.at),
                Item::Open(alias) => self.store_alias(slot, alias),
            }
        }
    }

    /// Continues with the next item of an unrolled loop.
    pub(super) fn next_item(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
        let Some(RunningLoop::Unrolled(items, begun, body)) = self.state.loops.last() else { return None };
        let body = *body;
        let last = *begun == items.len();
        if self.may_grow() {
            let again = if last { 0 } else { (instruction.end() - body).saturating_sub(3) };
            self.credit = self.credit.saturating_add(TURN).saturating_add(again);
        }
        if !last {
            self.set_item(instruction);
            self.pc = body;
            return Some(Ok(()));
        }
        self.state.loops.pop();
        self.next(instruction)
    }

    /// Begins a loop that stays.
    pub(super) fn keep_loop(&mut self, instruction: Instruction<'v>) -> Outcome {
        let label = instruction.operand(Operand::Label).ok_or(GivenUp)?;
        let before = self.snapshot();
        if self.is_verbatim() {
            self.sync_all();
        }
        self.store_named(instruction.at);
        let set = self.part(label);
        let words = self.rewritten(instruction)?;
        let word = self.out.here() as usize;
        self.emit(&words, instruction.at);
        self.state.stack.pop().ok_or(GivenUp)?;
        self.edge(label, (word, words.len() - 1), 0)?;
        set.iter().for_each(|slot| self.open_slot(*slot));
        let body = [instruction.end(), self.out.here()];
        let (at, depth, handled) = (instruction.at, self.depth, self.handled);
        self.state.loops.push(RunningLoop::Kept(Rc::new(KeptLoop { at, end: label, depth, handled, body, before })));
        self.pc = instruction.end();
        Ok(())
    }

    /// Ends the iteration of a loop that stays. If its body has grown, it is copied as it is instead.
    pub(super) fn keep_next(&mut self, instruction: Instruction<'v>, mut words: Vec<u32>, nth: usize) -> Outcome {
        self.before_jump();
        let Some(RunningLoop::Kept(kept)) = self.state.loops.pop() else { return Err(GivenUp) };
        let [from, here] = kept.body;
        let credit = self.credit.saturating_sub(kept.before.credit);
        if self.out.here() - here > (instruction.at - from).saturating_add(credit) && !self.is_verbatim() {
            self.back_to(&kept.before, kept.at);
            self.frame.verbatim_to = instruction.end();
            self.flush();
            return Ok(());
        }
        if let Some(word) = words.get_mut(nth) {
            *word = here;
        }
        self.emit(&words, instruction.at);
        self.pc = instruction.end();
        Ok(())
    }

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
        let frame = ChunkFrame { chunk: callee, base, captures, calls, verbatim_to: 0, joins, reads, pins, answers };
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

    fn kept_loops(&self) -> impl Iterator<Item = &KeptLoop<'v>> {
        self.state.loops.iter().filter_map(|each| match each {
            RunningLoop::Kept(kept) => Some(&**kept),
            RunningLoop::Unrolled(..) => None,
        })
    }

    /// Returns `true` where code may grow that costs as much fuel in the original. The iterations of a loop that stays cost
    /// fuel by the length of its body, so code of it may grow only if each iteration runs it.
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
