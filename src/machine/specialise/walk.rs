//! The walk through a program: the flow of control, and the code that stays.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Known;
use super::handlers::{KnownNotes, Nested};
use super::residual::Residual;
use super::slots::reads;
use super::state::{AbstractState, Fixed, Home, Join, PendingText, Recipe, Slot, StackEntry, same};
use crate::bytecode::{ChunkInfo, CodeView, Handler, Instruction, Op, Operand, Program, Region, Spanned};
use crate::function::{Cx, Linked};
use crate::vm::Semantics;

/// The program cannot be specialised.
#[derive(Debug)]
pub(super) struct GivenUp;

/// The result of a step.
pub(super) type Outcome<T = ()> = Result<T, GivenUp>;

/// A chunk that is walked through.
#[derive(Debug, Clone)]
pub(super) struct ChunkFrame<'v> {
    pub chunk: ChunkInfo,
    /// The index of its first slot in the residual's frame.
    pub base: u32,
    /// The number of captures that are open around it in the residual's frame.
    pub captures: u32,
    /// The calls that it is inlined for, innermost first.
    pub calls: Rc<[Spanned]>,
    /// The word of the original up to which code is copied as it is.
    pub verbatim_to: u32,
    /// The places where jumps meet, by the words of the original.
    pub joins: BTreeMap<u32, Join<'v>>,
    /// The word after the last code that reads a slot, by slot.
    pub reads: Rc<[u32]>,
    /// Slots that branches set, each with the word where these branches have met.
    pub pins: Vec<(u32, Rc<[u32]>)>,
    /// `true` if its result stays on the stack.
    pub answers: bool,
}

/// The walk.
pub(super) struct Specialiser<'v> {
    pub rules: &'v dyn Semantics,
    pub program: &'v Program,
    pub code: CodeView<'v>,
    pub linked: &'v Linked,
    pub regions: Nested<Region>,
    pub known: &'v Known<'v>,
    pub cx: Cx<'v>,
    pub out: Residual<'v>,
    pub state: AbstractState<'v>,
    pub frame: ChunkFrame<'v>,
    /// The word of the original.
    pub pc: u32,
    /// `false` if the previous instruction does not continue here.
    pub live: bool,
    /// The nesting of inlined chunks.
    pub depth: usize,
    handlers: Vec<Handler>,
    /// The number of handlers around the current word.
    pub handled: usize,
    pub notes: KnownNotes,
    /// Words by which the body of a loop that stays may have grown so far: each costs as much fuel in the original.
    pub credit: u32,
    /// The number of slots of the residual's frame.
    pub slots: u32,
    /// `true` if the residual calls a chunk.
    pub calls: bool,
}

impl<'v> Specialiser<'v> {
    pub fn new(
        rules: &'v dyn Semantics,
        program: &'v Program,
        linked: &'v Linked,
        known: &'v Known<'v>,
        cx: Cx<'v>,
    ) -> Self {
        let (chunk, code) = (program.start().chunk, program.code());
        let (calls, joins, pins) = (Rc::from(Vec::new()), BTreeMap::new(), Vec::new());
        let mut walk = Self {
            rules,
            program,
            code,
            linked,
            regions: Nested::of(program),
            known,
            cx,
            out: Residual::new(program),
            state: AbstractState { texts: vec![PendingText::default()], ..AbstractState::default() },
            frame: ChunkFrame {
                chunk,
                base: 0,
                captures: 0,
                calls,
                verbatim_to: 0,
                joins,
                reads: reads(program, chunk),
                pins,
                answers: false,
            },
            pc: chunk.entry,
            live: true,
            depth: 0,
            handlers: program.handlers().collect(),
            handled: 0,
            notes: KnownNotes::default(),
            credit: 0,
            slots: 0,
            calls: false,
        };
        walk.add_slots(0, chunk.slots);
        walk
    }

    /// Returns the residual program.
    pub fn residual(mut self) -> Option<Program> {
        let (first, entry) = (self.frame.chunk, self.out.here());
        self.flow(first.end, 0).ok()?;
        if self.live {
            self.settle();
            self.flush();
            self.emit(&[Op::Return as u32], first.end.saturating_sub(1));
        }
        self.out.chunk(first, entry, self.slots);
        if self.calls {
            self.program.chunks().skip(1).for_each(|chunk| self.copy(chunk));
        } else {
            self.out.parts.names.clear();
        }
        self.out.program()
    }

    /// Copies a chunk as it is.
    fn copy(&mut self, chunk: ChunkInfo) {
        let entry = self.out.here();
        (self.frame.calls, self.state) = (Rc::from(Vec::new()), AbstractState::default());
        for row in self.program.handlers().filter(|row| (chunk.entry..chunk.end).contains(&row.from)) {
            let moved = |word: u32| word - chunk.entry + entry;
            self.out.parts.handlers.push(Handler { from: moved(row.from), to: moved(row.to), ..row }.row());
        }
        for instruction in self.code.instructions(chunk) {
            let mut words = self.words(instruction);
            if let (Some(nth), Some(label)) = (instruction.op.info().label(), instruction.operand(Operand::Label)) {
                let label = label - chunk.entry + entry;
                words[nth] = if nth == 0 { words[0] & 0xFF | label << 8 } else { label };
            }
            self.emit(&words, instruction.at);
        }
        self.out.chunk(chunk, entry, chunk.slots);
    }

    /// Returns the words of an instruction.
    pub fn words(&self, instruction: Instruction<'v>) -> Vec<u32> {
        let (at, end) = (instruction.at as usize, instruction.end() as usize);
        self.code.words.get(at..end).unwrap_or(&[]).to_vec()
    }

    /// Walks to the word `until` of the chunk, where all paths have met or the code is dead. The first `skip` handlers
    /// that begin at the current word are open.
    pub fn flow(&mut self, until: u32, skip: usize) -> Outcome {
        let start = self.pc;
        loop {
            if !self.live {
                let Some(next) = self.frame.joins.keys().next().copied().filter(|pc| *pc <= until) else {
                    self.pc = until;
                    return Ok(());
                };
                self.pc = next;
            }
            self.arrive()?;
            if self.pc == until {
                return Ok(());
            }
            if self.pc > until || self.cx.spend(1).is_err() {
                return Err(GivenUp);
            }
            let from = if self.pc == start { skip } else { 0 };
            match self.handler_at(self.pc, from) {
                Some((nth, handler)) => self.handled(nth, handler)?,
                None => self.step()?,
            }
            if self.notes.silent.as_ref().is_some_and(|silent| self.out.here() > silent.from) {
                return Err(GivenUp);
            }
        }
    }

    /// Returns the first handler after `skip` of those that begin at a word, with the number of those before and itself.
    fn handler_at(&self, at: u32, skip: usize) -> Option<(usize, Handler)> {
        let first = self.handlers.partition_point(|handler| handler.from < at);
        let handler = self.handlers.get(first + skip).filter(|handler| handler.from == at);
        handler.map(|handler| (skip + 1, *handler))
    }

    /// Meets the jumps to the current word.
    fn arrive(&mut self) -> Outcome {
        if let Some(join) = self.frame.joins.remove(&self.pc) {
            if self.live {
                self.before_jump();
                merge(&mut self.state, join.state)?;
            } else {
                self.state = join.state;
                self.live = true;
            }
            let here = self.out.here();
            join.labels.into_iter().for_each(|label| self.out.patch(label, here));
        }
        let pc = self.pc;
        self.frame.pins.retain(|(end, _)| *end > pc);
        Ok(())
    }

    /// Continues at `target`, with a jump if other code is in between.
    pub fn go(&mut self, target: u32, at: u32) -> Outcome {
        if self.frame.joins.range(..target).next().is_none() {
            self.pc = target;
            return Ok(());
        }
        self.before_jump();
        let word = self.out.here() as usize;
        self.emit(&[Op::Jump as u32], at);
        self.edge(target, (word, 0), 0)?;
        self.live = false;
        Ok(())
    }

    /// Adds a jump to `target`, whose label is in the residual, with `pushed` values more.
    pub fn edge(&mut self, target: u32, label: (usize, usize), pushed: usize) -> Outcome {
        let mut state = self.state.clone();
        state.stack.extend(std::iter::repeat_n(StackEntry::Pushed, pushed));
        match self.frame.joins.get_mut(&target) {
            Some(join) => {
                join.labels.push(label);
                merge(&mut join.state, state)
            }
            None => {
                self.frame.joins.insert(target, Join { state, labels: vec![label] });
                Ok(())
            }
        }
    }

    /// Makes the residual's state that of the walk, except for slots that no branch sets.
    pub fn before_jump(&mut self) {
        self.settle();
        let pins = self.frame.pins.clone();
        for slot in pins.iter().flat_map(|(_, slots)| slots.iter()) {
            if self.is_read(*slot) { self.sync(*slot) } else { self.open_slot(*slot) }
        }
        self.flush();
    }

    /// Returns the word where the branches of an instruction have met: the furthest that jumps before it lead to.
    fn met(&self, from: u32, target: u32) -> u32 {
        let (mut at, mut end) = (from, target);
        while at < end
            && let Some(instruction) = self.code.instruction(at)
        {
            end = end.max(instruction.operand(Operand::Label).unwrap_or(0));
            at = instruction.end();
        }
        end
    }

    /// Prepares for branches that meet after `target`. Returns the slots that they set.
    pub fn part(&mut self, target: u32) -> Rc<[u32]> {
        let end = self.met(self.pc, target);
        let slots = self.set_in(self.pc, end);
        self.frame.pins.push((end, slots.clone()));
        self.before_jump();
        slots
    }

    pub fn is_verbatim(&self) -> bool {
        self.pc < self.frame.verbatim_to
    }
}

/// Merges the states of two paths that meet. Slots that differ must be in their places.
fn merge<'v>(state: &mut AbstractState<'v>, other: AbstractState<'v>) -> Outcome {
    let pushed = |state: &AbstractState<'v>| state.stack.iter().all(|entry| matches!(entry, StackEntry::Pushed));
    let written =
        |state: &AbstractState<'v>| state.texts.iter().all(|text| text.text.is_empty() && text.unopened.is_none());
    let heights =
        |state: &AbstractState<'v>| [state.stack.len(), state.loops.len(), state.texts.len(), state.slots.len()];
    let alike = heights(state) == heights(&other) && state.gatherings == other.gatherings;
    if !(alike && pushed(state) && pushed(&other) && written(state) && written(&other)) {
        return Err(GivenUp);
    }
    for (slot, other) in state.slots.iter_mut().zip(other.slots) {
        match (&slot.known, &other.known) {
            (Some(a), Some(b)) if same(a.value, b.value) => {
                if slot.home != other.home {
                    // A value that only the slot holds must be in it on both paths.
                    let of_slot = |fixed: &Fixed<'v>| matches!(fixed.recipe, Recipe::Slot(_));
                    match (of_slot(a), of_slot(b)) {
                        (true, true) => return Err(GivenUp),
                        (true, false) => slot.known.clone_from(&other.known),
                        (false, _) => {}
                    }
                    slot.home = Home::Stale;
                }
            }
            (None, None) if slot.alias.is_some() && slot.alias == other.alias => {
                if slot.home != other.home {
                    slot.home = Home::Stale;
                }
            }
            _ if slot.is_in_place() && other.is_in_place() => *slot = Slot::OPEN,
            _ => return Err(GivenUp),
        }
    }
    Ok(())
}
