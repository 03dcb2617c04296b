//! Loops: unrolled over known items, or kept.

use std::rc::Rc;

use super::state::{Entry, Item, Items, Kept, Running};
use super::walk::{GivenUp, Outcome, Walk};
use crate::bytecode::{Control, Instruction, Operand};

/// Words that cost as much as the start of a turn.
const TURN: u32 = 4;

impl<'v> Walk<'v> {
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
        self.state.loops.push(Running::Unrolled(items, 0, instruction.end()));
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

    /// Returns `true` if a loop ends only behind its last item.
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
        let Some(Running::Unrolled(items, begun, _)) = self.state.loops.last_mut() else { return };
        let item = items.get(*begun).cloned().unwrap_or_default();
        *begun += 1;
        let first = self.slots_of(instruction).start;
        for (slot, item) in (first..).zip(item) {
            match item {
                Item::Known(fixed) => self.store(slot, Entry::Known(fixed), instruction.at),
                Item::Open(alias) => self.store_alias(slot, alias),
            }
        }
    }

    /// Continues with the next item of an unrolled loop.
    pub(super) fn next_item(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
        let Some(Running::Unrolled(items, begun, body)) = self.state.loops.last() else { return None };
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
        self.state.loops.push(Running::Kept(Rc::new(Kept { at, end: label, depth, handled, body, before })));
        self.pc = instruction.end();
        Ok(())
    }

    /// Ends the turn of a loop that stays. If its body has grown, it is copied as it is instead.
    pub(super) fn keep_next(&mut self, instruction: Instruction<'v>, mut words: Vec<u32>, nth: usize) -> Outcome {
        self.before_jump();
        let Some(Running::Kept(kept)) = self.state.loops.pop() else { return Err(GivenUp) };
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
}
