//! Code with a handler, the errors recorded so far, and the rows of positions that say what code is for.

use std::cmp::Reverse;
use std::hash::Hash;
use std::rc::Rc;

use hashbrown::HashMap;

use super::state::{AbstractState, RunningLoop, Snapshot, StackEntry};
use super::walk::{GivenUp, Outcome, Specialiser};
use crate::bytecode::{Handler, Instruction, Op, Program, Region};
use crate::vm::{Logic, note_of_name};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::Value;

/// The errors recorded so far, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct KnownNotes {
    /// Set in code that is given up if it does not compute all of its instructions.
    pub silent: Option<Silent>,
    /// The word after the last code of the residual that may record an error.
    last: u32,
    /// Slots with the number of errors recorded so far, each with the word after the code that sets it.
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

impl<'v> Specialiser<'v> {
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
        let iters = self.state.loops.iter().filter(|each| matches!(each, RunningLoop::Kept(_))).count();
        let [height, iters] = [height, iters].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let captures = self.state.captures();
        self.out.parts.handlers.push(Handler { from, to: from, height, iters, captures }.row());
        let state = self.state.clone();
        self.flow(handler.to, nth)?;
        match self.live {
            true => self.before_jump(),
            false => {
                self.state = state;
                self.state.stack.push(StackEntry::Pushed);
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
        let texts = |state: &AbstractState<'v>| state.texts.iter().map(|text| text.text.len()).collect::<Vec<_>>();
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
        self.store(slot, StackEntry::Known(none), at);
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

/// No fact.
const NONE: u32 = 0;

/// Facts about code that nest, each set from a word on. Code with the same outer facts shares them.
#[derive(Debug)]
pub(super) struct Nested<T> {
    /// The innermost facts by their ids, which count from 1, each with the id of the one around it.
    facts: Vec<(T, u32)>,
    ids: HashMap<(T, u32), u32>,
    /// Words, each with the id of the innermost fact from there on.
    set: Vec<(u32, u32)>,
}

impl<T> Default for Nested<T> {
    fn default() -> Self {
        Self { facts: Vec::new(), ids: HashMap::new(), set: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Nested<T> {
    /// Returns the number of words that facts are set from.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    pub fn truncate(&mut self, len: usize) {
        self.set.truncate(len);
    }

    /// Sets the facts from word `here` on, outermost first.
    pub fn set(&mut self, here: u32, facts: impl Iterator<Item = T>) {
        let innermost = facts.fold(NONE, |around, fact| self.id(fact, around));
        self.put(here, innermost);
    }

    fn put(&mut self, here: u32, innermost: u32) {
        if self.set.last().map_or(NONE, |(_, last)| *last) != innermost {
            self.set.push((here, innermost));
        }
    }

    fn id(&mut self, fact: T, around: u32) -> u32 {
        let next = u32::try_from(self.facts.len() + 1).unwrap_or(u32::MAX);
        let id = *self.ids.entry((fact, around)).or_insert(next);
        if id == next {
            self.facts.push((fact, around));
        }
        id
    }

    /// Returns the facts about a word, outermost first.
    pub fn at(&self, word: u32) -> Vec<T> {
        let behind = self.set.partition_point(|(from, _)| *from <= word);
        behind.checked_sub(1).and_then(|nth| self.set.get(nth)).map_or(Vec::new(), |(_, id)| self.around(*id))
    }

    fn around(&self, mut id: u32) -> Vec<T> {
        let mut found = Vec::new();
        while let Some((fact, around)) = id.checked_sub(1).and_then(|nth| self.facts.get(nth as usize)) {
            found.push(*fact);
            id = *around;
        }
        found.reverse();
        found
    }

    /// Calls `row` with the range of each fact in code that ends at `end`. The ranges nest and are sorted by their ends.
    pub fn each(&self, end: u32, mut row: impl FnMut(u32, u32, T)) {
        let mut open: Vec<(T, u32)> = Vec::new();
        for (at, id) in self.set.iter().chain([&(end, NONE)]) {
            let facts = self.around(*id);
            let same = open.iter().zip(&facts).take_while(|((one, _), other)| one == *other).count();
            while open.len() > same {
                if let Some((fact, from)) = open.pop().filter(|(_, from)| from < at) {
                    row(from, *at, fact);
                }
            }
            open.extend(facts.iter().skip(same).map(|fact| (*fact, *at)));
        }
    }
}

impl Nested<Region> {
    /// Returns the regions of a program.
    pub fn of(program: &Program) -> Self {
        let mut rows: Vec<_> = program.tables().regions.iter().enumerate().collect();
        // If two end together, the inner one comes first.
        rows.small_sort_by_key(|(nth, [from, to, ..])| (*from, Reverse(*to), Reverse(*nth)));
        let (mut open, mut found) = (Vec::new(), Self::default());
        for (_, &row) in rows {
            let [from, to, ..] = row;
            found.close(&mut open, from);
            let around = open.last().map_or(NONE, |(_, id)| *id);
            let id = found.id(Region::of(row), around);
            open.push((to, id));
            found.put(from, id);
        }
        found.close(&mut open, u32::MAX);
        found
    }

    /// Closes the regions that end up to a word.
    fn close(&mut self, open: &mut Vec<(u32, u32)>, until: u32) {
        while let Some((end, _)) = open.pop_if(|(end, _)| *end <= until) {
            self.put(end, open.last().map_or(NONE, |(_, id)| *id));
        }
    }
}

impl Specialiser<'_> {
    /// Sets the regions of the next instruction, which takes the place of the original's at `at`.
    pub(super) fn set_regions(&mut self, at: u32) {
        let regions: Vec<Region> = self.regions.at(at).into_iter().map(|region| self.region(region)).collect();
        let here = self.out.here();
        self.out.regions.set(here, regions.into_iter());
    }

    /// Returns a region in the residual's frame.
    fn region(&mut self, region: Region) -> Region {
        match region {
            Region::Element(nth) => Region::Element(self.frame.captures + nth),
            Region::Name(name, slot) => {
                let slot = self.frame.base + slot;
                let known = self.state.slots.get(slot as usize).and_then(|slot| slot.known.as_ref());
                match known.map(|fixed| note_of_name(self.code.str(name), fixed.value)) {
                    Some(note) => Region::Note(self.out.string(&note)),
                    None => Region::Name(name, slot),
                }
            }
            other => other,
        }
    }

    /// Stores the slots whose values an error of the instruction at `at` shows, unless they are known.
    pub(super) fn store_named(&mut self, at: u32) {
        for region in self.regions.at(at) {
            let Region::Name(_, slot) = region else { continue };
            let slot = self.frame.base + slot;
            if self.state.slots.get(slot as usize).is_some_and(|slot| slot.alias.is_some()) {
                self.sync(slot);
            }
        }
    }
}
