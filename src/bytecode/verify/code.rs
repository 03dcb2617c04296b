//! The code: each instruction is come by once, in the order of the words.
//!
//! Where code goes on elsewhere, the state at the target is noted at the first jump and compared at every other
//! way there. Code leads back only to where a loop's turns begin, whose state is known by then, so one pass is
//! enough.

use super::super::isa::{ISA, Op, OpInfo, Operand, Pops};
use super::super::rows::{ChunkInfo, HandlerRow};
use super::records::{Fact, Facts};
use super::{Check, Maxima, Rule};
use crate::diagnostics::Result;

/// What the walk asks of an instruction, in one row.
#[derive(Debug, Clone, Copy)]
struct Plan {
    op: Op,
    words: u8,
    operands: u8,
    kinds: [Operand; MOST],
    /// Which operand is a label, counted from 1; 0 where none is.
    label: u8,
    pops: Pops,
    pushes: u8,
    ends: bool,
    /// Whether it only takes values off the stack and puts others there.
    plain: bool,
    dialects: u8,
}

/// The most operands of an instruction.
const MOST: usize = 4;

/// How many kinds of operands there are.
const KINDS: usize = Operand::Label as usize + 1;

const PLANS: [Plan; ISA.len()] = {
    let mut plans = [Plan::of(&ISA[0]); ISA.len()];
    let mut at = 0;
    while at < ISA.len() {
        plans[at] = Plan::of(&ISA[at]);
        at += 1;
    }
    plans
};

impl Plan {
    const fn of(info: &OpInfo) -> Plan {
        let (mut kinds, mut label, mut nth) = ([Operand::Count; MOST], 0, 0);
        while nth < info.operands.len() {
            kinds[nth] = info.operands[nth];
            if matches!(kinds[nth], Operand::Label) {
                label = nth as u8 + 1;
            }
            nth += 1;
        }
        let words = if nth == 0 { 1 } else { nth as u8 };
        let ends = info.op.ends();
        let (op, pops, pushes, dialects) = (info.op, info.pops, info.pushes, info.dialects.bits());
        let more = matches!(
            op,
            Op::EndIter
                | Op::Capture
                | Op::EndCapture
                | Op::Gather
                | Op::Keep
                | Op::EndGather
                | Op::KeepSome
                | Op::KeepEntry
                | Op::KeepEntries
                | Op::EndEntries
                | Op::ClearSlots
                | Op::Measure
                | Op::And
                | Op::Or
                | Op::Return
        );
        Plan { op, words, operands: nth as u8, kinds, label, pops, pushes, ends, plain: label == 0 && !more, dialects }
    }
}

/// The state before an instruction: the height of the stack, and the innermost open loop or capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    height: u32,
    open: u32,
}

impl State {
    const START: State = State { height: 0, open: 0 };

    /// As a word that is not 0.
    #[inline(always)]
    fn note(self) -> u64 {
        u64::from(self.open + 1) << 32 | u64::from(self.height)
    }

    #[inline(always)]
    fn of(note: u64) -> State {
        State { height: (note & 0xFFFF_FFFF) as u32, open: ((note >> 32) as u32).wrapping_sub(1) }
    }
}

/// An open loop or capture, or the chunk itself.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// What it is open in.
    within: u32,
    /// How many names the loop has; 0 for a capture.
    names: u32,
    /// Where the loop's turns begin; for what is gathered [`GATHERED`].
    body: u32,
    /// How many loops and captures are open.
    loops: u32,
    captures: u32,
    /// How many of those captures gather values.
    gathers: u32,
}

/// In the place of where turns begin: what is open gathers values, not text.
const GATHERED: u32 = u32::MAX;

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Loop,
    Text,
    Values,
}

impl Open {
    fn kind(&self) -> Kind {
        match (self.names, self.body) {
            (0, GATHERED) => Kind::Values,
            (0, _) => Kind::Text,
            _ => Kind::Loop,
        }
    }
}

/// A handler whose code is being walked.
#[derive(Debug, Clone, Copy)]
struct Guard {
    to: u32,
    /// The state where the code goes on after an error.
    after: State,
    /// What was open before; what is opened in the handler's code comes behind it.
    open: u32,
    opened: u32,
    /// Height before.
    floor: u32,
}

impl Check<'_, '_> {
    /// Walks the chunks in the order in which they lie in the code.
    pub(super) fn code(&self, states: &mut [u64], facts: &Facts<'_>, maxima: &mut Maxima<'_>) -> Result<()> {
        self.entries(states)?;
        let mut walk = Walk {
            check: *self,
            facts,
            states,
            chunk: ChunkInfo::of(&[0; 8]),
            opens: vec![Open::default()],
            guards: Vec::new(),
            handlers: self.tables.handlers,
            event: 0,
            state: State::START,
            live: true,
            floor: 0,
            most: [0; 3],
            dialect: self.tables.dialect.bit(),
            bounds: self.bounds(),
        };
        let (mut at, mut seen) = (0, 0);
        while let Some(note) = walk.states.get_mut(at) {
            // The chunk that begins here was noted in the place of a state.
            let index = (std::mem::take(note) as usize).wrapping_sub(1);
            let Some(row) = self.tables.chunks.get(index) else {
                return self.broken(Rule::V4, "no chunk begins where the last one ends", at);
            };
            let chunk = ChunkInfo::of(row);
            walk.chunk(chunk)?;
            match maxima {
                Maxima::Measure(found) => found.push((index, walk.most)),
                Maxima::Compare => {
                    let declared = [chunk.stack, chunk.loops, chunk.captures];
                    self.require(Rule::V7, walk.most == declared, "a chunk declares other heights", index)?;
                }
            }
            (at, seen) = (chunk.end as usize, seen + 1);
        }
        self.require(Rule::V3, walk.handlers.is_empty(), "a handler begins at no instruction", at)?;
        self.require(Rule::V4, seen == self.tables.chunks.len(), "chunks share code", seen)
    }

    fn bounds(&self) -> [u32; KINDS] {
        let count = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
        let mut bounds = [u32::MAX; KINDS];
        bounds[Operand::Str as usize] = count(self.tables.strings.len());
        bounds[Operand::Num as usize] = count(self.tables.numbers.len());
        bounds[Operand::Import as usize] = count(self.tables.imports.len());
        bounds[Operand::Memo as usize] = self.tables.counts.memos;
        bounds[Operand::Chunk as usize] = count(self.tables.chunks.len());
        for of_records in [Operand::Path, Operand::Site, Operand::Keys, Operand::Scope, Operand::Fail] {
            bounds[of_records as usize] = 0;
        }
        for of_four in [Operand::Lit, Operand::Mode, Operand::Role, Operand::Test] {
            bounds[of_four as usize] = 4;
        }
        bounds[Operand::Claim as usize] = 2;
        bounds
    }

    /// Notes each chunk where it begins.
    fn entries(&self, states: &mut [u64]) -> Result<()> {
        for (index, chunk) in self.tables.chunks.iter().map(ChunkInfo::of).enumerate() {
            let within = chunk.entry < chunk.end && chunk.end as usize <= states.len();
            self.require(Rule::V4, within, "a chunk is empty or leaves the code", index)?;
            if let Some(note) = states.get_mut(chunk.entry as usize) {
                self.require(Rule::V4, *note == 0, "two chunks begin at one place", index)?;
                *note = index as u64 + 1;
            }
        }
        Ok(())
    }
}

struct Walk<'w, 't> {
    check: Check<'w, 't>,
    facts: &'w Facts<'w>,
    /// For each word: the state of the instruction that begins there, as far as it is known.
    states: &'w mut [u64],
    chunk: ChunkInfo,
    opens: Vec<Open>,
    guards: Vec<Guard>,
    /// Handlers whose code has not begun.
    handlers: &'t [HandlerRow],
    /// The next word where a handler's code begins or ends.
    event: u32,
    state: State,
    /// Whether the instruction before goes on here.
    live: bool,
    /// The height that the innermost handler's code must not fall below.
    floor: u32,
    most: [u32; 3],
    /// The language, as the bit it has in a set.
    dialect: u8,
    /// For each kind of operand, what it must be below.
    bounds: [u32; KINDS],
}

impl Walk<'_, '_> {
    fn chunk(&mut self, chunk: ChunkInfo) -> Result<()> {
        self.chunk = chunk;
        self.bounds[Operand::Slot as usize] = chunk.slots;
        self.opens.truncate(1);
        (self.state, self.live, self.floor, self.most) = (State::START, true, 0, [0; 3]);
        self.next_event();
        let mut at = chunk.entry;
        while at < chunk.end {
            self.arrive(at)?;
            at += self.instruction(at)?;
        }
        self.check.require(Rule::V3, self.guards.is_empty(), "a handler leads out of its chunk", at as usize)?;
        self.guards.clear();
        self.check.require(Rule::V4, !self.live && at == chunk.end, "a chunk runs past its end", at as usize)
    }

    // Arriving at an instruction

    /// Brings together every way that leads to the instruction at `at`.
    #[inline(always)]
    fn arrive(&mut self, at: u32) -> Result<()> {
        if at >= self.event {
            self.handlers_end(at)?;
        }
        let note = self.states.get(at as usize).copied().unwrap_or(0);
        if note != 0 {
            self.meet_noted(note, at)?;
        }
        self.check.require(Rule::V7, self.live, "code that nothing leads to", at as usize)?;
        if let Some(place) = self.states.get_mut(at as usize) {
            *place = self.state.note();
        }
        if at >= self.event {
            self.handlers_begin(at)?;
        }
        Ok(())
    }

    /// The note of a jump here, or that a chunk begins here, inside of another.
    fn meet_noted(&mut self, note: u64, at: u32) -> Result<()> {
        let of_jump = note >> 32 != 0;
        self.check.require(Rule::V4, of_jump, "a chunk begins inside of another", at as usize)?;
        if of_jump { self.meet(State::of(note), at) } else { Ok(()) }
    }

    /// Another way leads here with `state`.
    fn meet(&mut self, state: State, at: u32) -> Result<()> {
        if self.live {
            let (same, open) = (self.state.height == state.height, self.state.open == state.open);
            self.check.require(Rule::V7, same, "branches meet with stacks of different heights", at as usize)?;
            return self.check.require(Rule::V9, open, "branches meet in different loops or captures", at as usize);
        }
        (self.state, self.live) = (state, true);
        if let Some(guard) = self.guards.last() {
            let inside = state.open == guard.open || state.open >= guard.opened;
            self.check.require(Rule::V9, inside, "a jump leads into a handler's code", at as usize)?;
            self.check.require(
                Rule::V7,
                state.height >= guard.floor,
                "a handler's code takes what is not its own",
                at as usize,
            )?;
        }
        Ok(())
    }

    fn handlers_end(&mut self, at: u32) -> Result<()> {
        while let Some(guard) = self.guards.pop_if(|guard| guard.to <= at) {
            self.check.require(Rule::V3, guard.to == at, "a handler leads into an instruction", at as usize)?;
            self.floor = self.guards.last().map_or(0, |guard| guard.floor);
            self.meet(guard.after, at)?;
        }
        self.next_event();
        Ok(())
    }

    fn handlers_begin(&mut self, at: u32) -> Result<()> {
        while let Some((&[from, to, height, loops, captures], rest)) = self.handlers.split_first()
            && from <= at
        {
            self.handlers = rest;
            let outer = self.guards.last().map_or(self.chunk.end, |guard| guard.to.saturating_add(1));
            let nested = from == at && from < to && to < outer;
            self.check.require(
                Rule::V3,
                nested,
                "a handler begins at no instruction, or does not nest",
                at as usize,
            )?;
            self.check.require(Rule::V7, height == self.state.height, "a handler has another height", at as usize)?;
            let open = self.open();
            let same = loops == open.loops && captures == open.captures;
            self.check.require(Rule::V9, same, "a handler has other loops or captures", at as usize)?;
            let after = State { height: height.saturating_add(1), open: self.state.open };
            self.most[0] = self.most[0].max(after.height);
            let opened = u32::try_from(self.opens.len()).unwrap_or(u32::MAX);
            self.guards.push(Guard { to, after, open: self.state.open, opened, floor: height });
            self.floor = height;
        }
        self.next_event();
        Ok(())
    }

    fn next_event(&mut self) {
        let begin = self.handlers.first().map_or(u32::MAX, |row| row[0]);
        let end = self.guards.last().map_or(u32::MAX, |guard| guard.to);
        self.event = begin.min(end);
    }

    #[inline(always)]
    fn open(&self) -> Open {
        self.opens.get(self.state.open as usize).copied().unwrap_or_default()
    }

    // The instruction

    /// Checks the instruction at `at` and does to the state what it does; the answer is how many words it has.
    #[inline(always)]
    fn instruction(&mut self, at: u32) -> Result<u32> {
        let (check, here) = (self.check, at as usize);
        let left = check.tables.words.get(here..self.chunk.end as usize).unwrap_or(&[]);
        let word = left.first().copied().unwrap_or(0);
        let known = PLANS.get((word & 0xFF) as usize);
        let allowed = known.is_some_and(|plan| plan.dialects & self.dialect != 0);
        check.require(Rule::V1, allowed, "an opcode that does not exist in this language", here)?;
        let plan = known.unwrap_or(&PLANS[Op::Return as usize]);
        let count = usize::from(plan.words);
        check.require(Rule::V2, count <= left.len(), "an instruction is not whole", here)?;
        let (first, rest) = (word >> 8, left.get(1..count).unwrap_or(&[]));
        check.require(Rule::V2, first == 0 || plan.operands > 0, "an operand where there is none", here)?;
        let taken = self.operand(plan.kinds[0], first, here)?;
        for (nth, (&raw, &kind)) in rest.iter().zip(&plan.kinds[1..]).enumerate() {
            let jumped_to = self.states.get(here + 1 + nth).is_some_and(|note| *note != 0);
            check.require(Rule::V3, !jumped_to, "a jump leads into an instruction", here)?;
            self.operand(kind, raw, here)?;
        }
        let pops = match plan.pops {
            Pops::Fixed(n) => n.into(),
            Pops::Count => first,
            Pops::PathIndexes | Pops::Arguments | Pops::Keys => taken,
            Pops::Parameters => check.tables.chunks.get(first as usize).map_or(0, |row| ChunkInfo::of(row).params),
        };
        self.take(pops, plan.pushes.into(), at)?;
        self.live = !plan.ends;
        if plan.plain {
            return Ok(plan.words.into());
        }
        let label = match plan.label {
            0 => None,
            1 => Some(first),
            nth => rest.get(usize::from(nth) - 2).copied(),
        };
        self.apply(plan.op, first, rest.first().copied().unwrap_or(0), label, at)?;
        Ok(plan.words.into())
    }

    /// Checks an operand; the answer is how many values a record that it names takes off the stack.
    #[inline(always)]
    fn operand(&self, kind: Operand, raw: u32, at: usize) -> Result<u32> {
        // What names a record has the bound 0.
        if raw < self.bounds[kind as usize] {
            return Ok(0);
        }
        match kind {
            Operand::Path => self.record(Facts::at(self.facts.paths, raw), Rule::V5, "no such path", at),
            Operand::Site => self.record(Facts::at(self.facts.sites, raw), Rule::V10, "no such call", at),
            Operand::Keys => self.record(Facts::at(self.facts.keys, raw), Rule::V5, "no such keys", at),
            Operand::Scope if raw == 0 => Ok(0),
            Operand::Scope => self.record(Facts::at(self.facts.scopes, raw), Rule::V5, "no such scope", at),
            Operand::Fail => self.record(Facts::at(self.facts.failures, raw), Rule::V5, "no such failure", at),
            kind => self.no_such(kind, at).map(|()| 0),
        }
    }

    /// An operand is beyond its bound.
    #[cold]
    fn no_such(&self, kind: Operand, at: usize) -> Result<()> {
        let (rule, what) = match kind {
            Operand::Str => (Rule::V5, "no such string"),
            Operand::Num => (Rule::V5, "no such number"),
            Operand::Memo => (Rule::V6, "no place for the answer"),
            Operand::Import => (Rule::V10, "no such function"),
            Operand::Slot => (Rule::V6, "no such slot"),
            Operand::Chunk => (Rule::V10, "no such chunk"),
            _ => (Rule::V2, "an operand without a meaning"),
        };
        self.check.require(rule, false, what, at)
    }

    #[inline(always)]
    fn record(&self, fact: Option<Fact>, rule: Rule, what: &'static str, at: usize) -> Result<u32> {
        self.check.require(rule, fact.is_some(), what, at)?;
        let fact = fact.unwrap_or_default();
        self.check.require(Rule::V6, fact.slots() <= self.chunk.slots, "a root names no slot", at)?;
        let open = fact.loops() == 0 || fact.loops() <= self.open().loops;
        self.check.require(Rule::V9, open, "a root names no open loop", at)?;
        Ok(fact.count())
    }

    // What it does to the state

    /// Takes values off the stack and puts some on it.
    #[inline(always)]
    fn take(&mut self, pops: u32, pushes: u32, at: u32) -> Result<()> {
        let enough = self.state.height.saturating_sub(self.floor) >= pops;
        self.check.require(Rule::V7, enough, "the stack holds less than is taken", at as usize)?;
        self.state.height = self.state.height.saturating_sub(pops) + pushes;
        self.most[0] = self.most[0].max(self.state.height);
        Ok(())
    }

    /// What an instruction does besides, and where it leads.
    fn apply(&mut self, op: Op, operand: u32, second: u32, label: Option<u32>, at: u32) -> Result<()> {
        let mut there = self.state;
        match op {
            Op::JumpPresent => there.height += 1, // it is still there
            Op::Iter => self.begin_loop(operand, second, at)?,
            Op::Next => there = self.turn(operand, label, at)?,
            Op::EndIter => self.close(Kind::Loop, at)?,
            Op::Capture => self.push(0, 0),
            Op::EndCapture => self.close(Kind::Text, at)?,
            Op::Gather => self.push(0, GATHERED),
            Op::Keep | Op::KeepSome | Op::KeepEntry | Op::KeepEntries => {
                self.check.require(Rule::V9, self.open().gathers > 0, "nothing is gathered", at as usize)?;
            }
            Op::EndGather | Op::EndEntries => self.close(Kind::Values, at)?,
            Op::ClearSlots => {
                let run = u64::from(operand) + u64::from(second) <= u64::from(self.chunk.slots);
                self.check.require(Rule::V6, run, "no such slots", at as usize)?;
            }
            Op::And | Op::Or => {
                let next = operand.saturating_add(1) < self.chunk.slots;
                self.check.require(Rule::V6, next, "no such slot", at as usize)?;
            }
            Op::Measure => {
                let enough = self.state.height >= second;
                self.check.require(Rule::V7, enough, "the stack holds less than is measured", at as usize)?;
            }
            Op::Return => self.end(at)?,
            _ => {}
        }
        match label {
            Some(target) => self.jump(there, target, at),
            None => Ok(()),
        }
    }

    fn push(&mut self, names: u32, body: u32) {
        let open = self.open();
        let (is_loop, within) = (u32::from(names > 0), self.state.open);
        let (loops, captures) = (open.loops + is_loop, open.captures + 1 - is_loop);
        self.most[1] = self.most[1].max(loops);
        self.most[2] = self.most[2].max(captures);
        self.state.open = u32::try_from(self.opens.len()).unwrap_or(u32::MAX);
        let gathers = open.gathers + u32::from(names == 0 && body == GATHERED);
        self.opens.push(Open { within, names, body, loops, captures, gathers });
    }

    fn begin_loop(&mut self, names: u32, slot: u32, at: u32) -> Result<()> {
        let few = names == 1 || names == 2;
        self.check.require(Rule::V2, few, "a loop has one or two names", at as usize)?;
        self.sets(names, slot, at)?;
        self.push(names.max(1), at + Op::Iter.words() as u32);
        Ok(())
    }

    fn sets(&self, names: u32, slot: u32, at: u32) -> Result<()> {
        let slots = u64::from(slot) + u64::from(names) <= u64::from(self.chunk.slots);
        self.check.require(Rule::V8, slots, "a loop sets more slots than there are", at as usize)
    }

    /// A loop's turn ends; the answer is the state where the next one begins.
    fn turn(&mut self, slot: u32, label: Option<u32>, at: u32) -> Result<State> {
        let (there, open) = (self.state, self.open());
        self.close(Kind::Loop, at)?;
        self.sets(open.names, slot, at)?;
        let begins = label == Some(open.body);
        self.check.require(Rule::V8, begins, "a turn begins elsewhere than in its loop", at as usize)?;
        Ok(there)
    }

    /// Closes the innermost loop or capture, which must be of this kind.
    fn close(&mut self, kind: Kind, at: u32) -> Result<()> {
        let open = self.open();
        let right = self.state.open != 0 && open.kind() == kind;
        self.check.require(Rule::V9, right, "what is closed is not the innermost that is open", at as usize)?;
        let own = self.guards.last().is_none_or(|guard| self.state.open >= guard.opened);
        self.check.require(Rule::V9, own, "a handler's code closes what is not its own", at as usize)?;
        self.state.open = open.within;
        Ok(())
    }

    fn end(&mut self, at: u32) -> Result<()> {
        self.check.require(Rule::V7, self.state.height == 0, "the stack is not empty at the end", at as usize)?;
        self.check.require(Rule::V9, self.state.open == 0, "a loop or capture is open at the end", at as usize)
    }

    /// The code may go on at `target` with `state`.
    #[inline(always)]
    fn jump(&mut self, state: State, target: u32, at: u32) -> Result<()> {
        let inside = (self.chunk.entry..self.chunk.end).contains(&target);
        self.check.require(Rule::V3, inside, "a jump leads out of its chunk", at as usize)?;
        if target <= at {
            return self.back(state, target, at);
        }
        let Some(place) = self.states.get_mut(target as usize) else { return Ok(()) };
        if *place == 0 {
            *place = state.note();
            return Ok(());
        }
        let known = State::of(*place);
        let faults = ["jumps meet with stacks of different heights", "jumps meet in different loops or captures"];
        self.agree(known, state, faults, at)
    }

    fn back(&mut self, state: State, target: u32, at: u32) -> Result<()> {
        let note = self.states.get(target as usize).copied().unwrap_or(0);
        self.check.require(Rule::V3, note != 0, "a jump leads into an instruction", at as usize)?;
        let word = self.check.tables.words.get(at as usize).copied().unwrap_or(0);
        self.check.require(Rule::V11, Op::of(word) == Op::Next, "a jump leads back and uses no fuel", at as usize)?;
        let faults = ["a turn changes the height of the stack", "a turn leaves a loop or capture open"];
        self.agree(State::of(note), state, faults, at)
    }

    /// Where two ways meet, the stack is as high on both, and the same loops and captures are open; else the
    /// first or the second fault.
    fn agree(&mut self, known: State, state: State, [height, open]: [&'static str; 2], at: u32) -> Result<()> {
        self.check.require(Rule::V7, known.height == state.height, height, at as usize)?;
        self.check.require(Rule::V9, known.open == state.open, open, at as usize)
    }
}
