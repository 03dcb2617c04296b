//! Code with a handler, which absorbs its errors, and the errors recorded so far.

use std::rc::Rc;

use hashbrown::HashMap;

use super::state::{Entry, Running, Snapshot, State};
use super::walk::{GivenUp, Outcome, Walk};
use crate::bytecode::{Handler, Instruction, Op};
use crate::vm::Logic;
use dropforge_value::Value;

/// The errors recorded so far, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Set in code that is given up if it does not compute all of its instructions.
    pub silent: Option<Silent>,
    /// The word behind the last code of the residual that may record an error.
    last: u32,
    /// Slots with the number of errors recorded so far, each with the word behind the code that sets it.
    marks: HashMap<u32, u32>,
}

/// Code that may leave nothing.
#[derive(Debug, Default)]
pub(super) struct Silent {
    /// The word of the residual that it begins at.
    pub from: u32,
    /// The slots that it sets to the number of errors recorded so far.
    marks: Vec<u32>,
}

impl<'v> Walk<'v> {
    /// Walks through code with a handler.
    pub(super) fn handled(&mut self, nth: usize, handler: Handler) -> Outcome {
        let (before, handled) = (self.snapshot(), self.handled);
        self.handled += 1;
        if self.is_verbatim() || !self.is_computed(nth, handler, &before) {
            if self.notes.silent.is_some() {
                return Err(GivenUp);
            }
            (self.handled, self.depth) = (handled + 1, before.depth);
            self.back_to(&before, handler.from);
            self.keep_handled(nth, handler)?;
        }
        self.handled = handled;
        Ok(())
    }

    /// Walks through code with a handler. Returns `true` if it leaves no code.
    fn is_computed(&mut self, nth: usize, handler: Handler, before: &Snapshot<'v>) -> bool {
        let is_outermost = self.notes.silent.is_none();
        if is_outermost {
            self.notes.silent = Some(Silent { from: self.out.here(), marks: Vec::new() });
        }
        let walked = self.flow(handler.to, nth).is_ok();
        let joins = || self.frame.joins.keys().eq(before.frame.joins.keys());
        let computed = walked && self.live && joins() && self.out.is_at(&before.mark) && !self.is_open(before);
        if !is_outermost {
            return computed;
        }
        let marks = self.notes.silent.take().unwrap_or_default().marks;
        let own = self.frame.base..self.frame.base + self.frame.chunk.slots;
        computed && !marks.into_iter().any(|slot| own.contains(&slot) && self.is_read(slot))
    }

    /// Walks through code with a handler that stays.
    fn keep_handled(&mut self, nth: usize, handler: Handler) -> Outcome {
        self.settle();
        self.sync_all();
        self.flush();
        let slots = self.set_in(handler.from, handler.to);
        if slots.iter().any(|slot| self.is_read_from(*slot, handler.to)) {
            // An error may leave the code after any of its stores.
            self.frame.verbatim_to = self.frame.verbatim_to.max(handler.to);
        }
        let (row, from, height) = (self.out.parts.handlers.len(), self.out.here(), self.state.stack.len());
        let iters = self.state.loops.iter().filter(|each| matches!(each, Running::Kept(_))).count();
        let [height, iters] = [height, iters].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let captures = self.state.captures();
        self.out.parts.handlers.push(Handler { from, to: from, height, iters, captures }.row());
        let state = self.state.clone();
        self.flow(handler.to, nth)?;
        match self.live {
            true => self.before_jump(),
            false => {
                self.state = state;
                self.state.stack.push(Entry::Pushed);
            }
        }
        slots.iter().for_each(|slot| self.open_slot(*slot));
        self.live = true;
        let to = self.out.here();
        if let Some([_, end, ..]) = self.out.parts.handlers.get_mut(row) {
            *end = to;
        }
        self.notes.last = to;
        Ok(())
    }

    /// Returns `true` if text or a capture was added since.
    fn is_open(&self, before: &Snapshot<'v>) -> bool {
        let texts = |state: &State<'v>| state.texts.iter().map(|text| text.text.len()).collect::<Vec<_>>();
        texts(&self.state) != texts(&before.state)
    }

    pub(super) fn snapshot(&self) -> Snapshot<'v> {
        let (mark, state, frame) = (self.out.mark(), self.state.clone(), Rc::new(self.frame.clone()));
        Snapshot { mark, state, frame, depth: self.depth, credit: self.credit }
    }

    pub(super) fn back_to(&mut self, before: &Snapshot<'v>, at: u32) {
        self.out.back_to(&before.mark);
        self.state = before.state.clone();
        self.frame = (*before.frame).clone();
        (self.pc, self.live, self.credit) = (at, true, before.credit);
        let here = self.out.here();
        self.notes.last = self.notes.last.min(here);
        self.notes.marks.retain(|_, word| *word <= here);
    }

    /// Notes that the next code of the residual may record an error.
    pub(super) fn may_note(&mut self) {
        self.notes.last = self.out.here() + 1;
    }

    /// Sets a slot to the number of errors recorded so far. `None` if the instruction stays.
    pub(super) fn mark(&mut self, slot: u32, at: u32) -> Option<()> {
        let silent = self.notes.silent.as_mut()?;
        silent.marks.push(slot);
        // No error is recorded by code that leaves nothing, so this number is never compared with a later one.
        let none = self.constant(Value::Int(0), at)?;
        self.store(slot, Entry::Known(none), at);
        Some(())
    }

    /// Emits the instruction that sets a slot to the number of errors recorded so far.
    pub(super) fn marked(&mut self, slot: u32) {
        self.notes.marks.insert(slot, self.out.here());
    }

    /// Returns `true` if no error was recorded since a slot was set to the number of errors recorded so far.
    pub(super) fn is_quiet_since(&self, slot: u32) -> bool {
        let is_silent = self.notes.silent.as_ref().is_some_and(|silent| silent.marks.contains(&slot));
        is_silent || self.notes.marks.get(&slot).is_some_and(|mark| self.notes.last <= *mark)
    }

    /// Returns the result of a logical operator with known operands.
    pub(super) fn logic(&mut self, instruction: Instruction<'v>) -> Option<Value<'v>> {
        let operands = self.known_top(2)?;
        let ([a, b], slot) = (operands.as_slice(), self.slots_of(instruction).start) else { return None };
        if !self.is_quiet_since(slot) {
            return None;
        }
        let logic = if instruction.op == Op::And { Logic::And } else { Logic::Or };
        match (a.value, b.value) {
            (a @ Value::Bool(_), b @ Value::Bool(_)) => {
                self.quiet(self.rules.logic(&self.cx, logic, [a, b], [Value::Int(0); 2]))
            }
            _ => None,
        }
    }
}
