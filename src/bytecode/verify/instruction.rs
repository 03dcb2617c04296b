//! Checks one instruction by its row in the instruction table: operands, effect on the stack, effect on control flow.

use std::ops::Range;

use super::super::isa::{Control, ISA, Op, Pops};
use super::super::operands::Operand;
use super::super::rows::ChunkInfo;
use super::check::Check;
use super::records::{Fact, Facts};
use super::rules::Rule;
use super::walk::{Block, KINDS, Kind, State, Walk};
use crate::diagnostics::Result;

impl Check<'_, '_> {
    /// For each kind of operand, the bound below which no further check is needed.
    pub(super) fn bounds(&self) -> [u32; KINDS] {
        let mut bounds = [0; KINDS];
        bounds.iter_mut().zip(Operand::ALL).for_each(|(bound, kind)| *bound = self.bound(*kind));
        bounds
    }

    fn bound(&self, kind: Operand) -> u32 {
        let bound = match kind {
            Operand::Str => self.tables.strings.len(),
            Operand::Num => self.tables.numbers.len(),
            Operand::Import => self.tables.imports.len(),
            Operand::Memo => self.tables.properties.memos as usize,
            Operand::Lit | Operand::Mode | Operand::Role => kind.choices().len(),
            Operand::Test | Operand::Claim | Operand::Delivery => kind.choices().len(),
            Operand::Int | Operand::Label => usize::MAX,
            // Known when a chunk begins.
            Operand::Slot | Operand::SlotPair | Operand::LoopSlots => 0,
            // Each is checked individually.
            Operand::Path | Operand::Site | Operand::Keys | Operand::Scope | Operand::Fail => 0,
            Operand::Chunk | Operand::SlotRun | Operand::Names | Operand::Count | Operand::Values => 0,
        };
        u32::try_from(bound).unwrap_or(u32::MAX)
    }
}

impl Walk<'_, '_> {
    /// Checks the instruction at `at` and applies its effects. Returns its number of words.
    #[inline(always)]
    pub(super) fn instruction(&mut self, at: u32) -> Result<u32> {
        let (check, here) = (self.check, at as usize);
        let left = check.tables.words.get(here..self.chunk.end as usize).unwrap_or(&[]);
        let word = left.first().copied().unwrap_or(0);
        let known = ISA.get((word & 0xFF) as usize);
        let allowed = known.is_some_and(|info| info.dialects.contains(check.tables.dialect));
        check.require(Rule::V1, allowed, "an opcode that does not exist in this language", here)?;
        let info = known.unwrap_or(Op::Return.info());
        let count = info.words();
        check.require(Rule::V2, count <= left.len(), "an instruction is not whole", here)?;
        let (first, rest) = (word >> 8, left.get(1..count).unwrap_or(&[]));
        let mut popped = 0;
        if let Some((kind, kinds)) = info.operands.split_first() {
            popped = self.operand(*kind, first, here)?;
            for (at, (&raw, &kind)) in (here + 1..).zip(rest.iter().zip(kinds)) {
                let jumped_to = self.states.get(at).is_some_and(|note| *note != 0);
                check.require(Rule::V3, !jumped_to, "a jump leads into an instruction", here)?;
                self.operand(kind, raw, at)?;
            }
        } else {
            check.require(Rule::V2, first == 0, "an operand where there is none", here)?;
        }
        if let Pops::Fixed(fixed) = info.pops {
            popped = fixed.into();
        }
        self.replace(popped, info.pushes.into(), at)?;
        self.live = !info.control.ends();
        if info.control != Control::Plain {
            self.control(info.control, first, rest, at)?;
        }
        Ok(count as u32)
    }

    /// Checks the operand in word `at`. Returns the number of values that an instruction pops for it.
    #[inline(always)]
    fn operand(&self, kind: Operand, raw: u32, at: usize) -> Result<u32> {
        if raw < self.bounds[kind as usize] { Ok(0) } else { self.operand_beyond(kind, raw, at) }
    }

    fn operand_beyond(&self, kind: Operand, raw: u32, at: usize) -> Result<u32> {
        let facts = self.facts;
        let (rule, holds, what) = match kind {
            Operand::Path => return self.record(Facts::at(facts.paths, raw), Rule::V5, "no such path", at),
            Operand::Site => return self.record(Facts::at(facts.sites, raw), Rule::V10, "no such call", at),
            Operand::Keys => return self.record(Facts::at(facts.keys, raw), Rule::V5, "no such keys", at),
            Operand::Scope if raw == 0 => return Ok(0),
            Operand::Scope => return self.record(Facts::at(facts.scopes, raw), Rule::V5, "no such scope", at),
            Operand::Fail => return self.record(Facts::at(facts.failures, raw), Rule::V5, "no such failure", at),
            Operand::Chunk => return self.callee(raw, at),
            Operand::Count => return Ok(raw),
            Operand::Values => (Rule::V7, self.state.height >= raw, "the stack holds less than is measured"),
            Operand::Names => (Rule::V2, raw == 1 || raw == 2, "a loop has one or two names"),
            Operand::SlotRun => {
                let length = self.check.tables.words.get(at + 1).copied().unwrap_or(0);
                let within = u64::from(raw) + u64::from(length) <= u64::from(self.chunk.slots);
                (Rule::V6, within, "no such slots")
            }
            Operand::Slot | Operand::SlotPair | Operand::LoopSlots => (Rule::V6, false, "no such slot"),
            Operand::Str => (Rule::V5, false, "no such string"),
            Operand::Num => (Rule::V5, false, "no such number"),
            Operand::Memo => (Rule::V6, false, "no place for the answer"),
            Operand::Import => (Rule::V10, false, "no such function"),
            Operand::Lit | Operand::Mode | Operand::Role | Operand::Test | Operand::Claim | Operand::Delivery => {
                (Rule::V2, false, "an operand without a meaning")
            }
            Operand::Int | Operand::Label => return Ok(0),
        };
        self.check.require(rule, holds, what, at).map(|()| 0)
    }

    fn callee(&self, chunk: u32, at: usize) -> Result<u32> {
        let row = self.check.tables.chunks.get(chunk as usize);
        self.check.require(Rule::V10, row.is_some(), "no such chunk", at)?;
        Ok(row.map_or(0, |row| ChunkInfo::of(row).params))
    }

    #[inline(always)]
    fn record(&self, fact: Option<Fact>, rule: Rule, what: &'static str, at: usize) -> Result<u32> {
        self.check.require(rule, fact.is_some(), what, at)?;
        let fact = fact.unwrap_or_default();
        self.check.require(Rule::V6, fact.slots() <= self.chunk.slots, "a root names no slot", at)?;
        let open = fact.loops() == 0 || fact.loops() <= self.block().loops;
        self.check.require(Rule::V9, open, "a root names no open loop", at)?;
        Ok(fact.count())
    }

    /// Replaces values on the stack.
    #[inline(always)]
    fn replace(&mut self, pops: u32, pushes: u32, at: u32) -> Result<()> {
        let enough = self.state.height.saturating_sub(self.floor) >= pops;
        self.check.require(Rule::V7, enough, "the stack holds less than is taken", at as usize)?;
        self.state.height = self.state.height.saturating_sub(pops) + pushes;
        self.most[0] = self.most[0].max(self.state.height);
        Ok(())
    }

    /// Applies the effect on control flow and open blocks.
    fn control(&mut self, control: Control, first: u32, rest: &[u32], at: u32) -> Result<()> {
        let (there, label) = (self.state, rest.last().copied().unwrap_or(first));
        let words = at..at + 1 + rest.len() as u32;
        match control {
            Control::Plain | Control::Call | Control::MayCall | Control::Fail => Ok(()),
            Control::Jump | Control::Branch => self.jump(there, label, words),
            Control::BranchWithTop => self.jump(State { height: there.height + 1, ..there }, label, words),
            Control::OpenLoop => {
                self.open_loop(first, rest, at)?;
                self.jump(there, label, words)
            }
            Control::NextItem => {
                self.next_item(first, label, at)?;
                self.jump(there, label, words)
            }
            Control::CloseLoop => self.close(Kind::Loop, at),
            Control::OpenText => self.open(Kind::Text, 0, 0),
            Control::CloseText => self.close(Kind::Text, at),
            Control::OpenValues => self.open(Kind::Values, 0, 0),
            Control::CloseValues => self.close(Kind::Values, at),
            Control::Gather => {
                self.check.require(Rule::V9, self.block().gathers > 0, "nothing is gathered", at as usize)
            }
            Control::Return => {
                let here = at as usize;
                self.check.require(Rule::V7, there.height == 0, "the stack is not empty at the end", here)?;
                self.check.require(Rule::V9, there.open == 0, "a loop or capture is open at the end", here)
            }
        }
    }

    fn open(&mut self, kind: Kind, names: u32, body: u32) -> Result<()> {
        let (around, within) = (self.block(), self.state.open);
        let (loops, captures) =
            (around.loops + u32::from(kind == Kind::Loop), around.captures + u32::from(kind != Kind::Loop));
        let gathers = around.gathers + u32::from(kind == Kind::Values);
        (self.most[1], self.most[2]) = (self.most[1].max(loops), self.most[2].max(captures));
        self.state.open = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        self.blocks.push(Block { kind, within, names, body, loops, captures, gathers });
        Ok(())
    }

    /// Closes the innermost block, which must be of this kind.
    fn close(&mut self, kind: Kind, at: u32) -> Result<()> {
        let block = self.block();
        self.check.require(
            Rule::V9,
            block.kind == kind,
            "what is closed is not the innermost that is open",
            at as usize,
        )?;
        let own = self.guards.last().is_none_or(|guard| self.state.open >= guard.opened);
        self.check.require(Rule::V9, own, "a handler's code closes what is not its own", at as usize)?;
        self.state.open = block.within;
        Ok(())
    }

    fn open_loop(&mut self, names: u32, rest: &[u32], at: u32) -> Result<()> {
        self.sets(names, rest.first().copied().unwrap_or(0), at)?;
        self.open(Kind::Loop, names, at + 1 + rest.len() as u32)
    }

    fn sets(&self, names: u32, slot: u32, at: u32) -> Result<()> {
        let within = u64::from(slot) + u64::from(names) <= u64::from(self.chunk.slots);
        self.check.require(Rule::V8, within, "a loop sets more slots than there are", at as usize)
    }

    fn next_item(&mut self, slot: u32, label: u32, at: u32) -> Result<()> {
        let block = self.block();
        self.close(Kind::Loop, at)?;
        self.sets(block.names, slot, at)?;
        self.check.require(Rule::V8, label == block.body, "a turn begins elsewhere than in its loop", at as usize)
    }

    /// Lets the code continue at `target` with `state`, after the instruction of these words.
    #[inline(always)]
    fn jump(&mut self, state: State, target: u32, words: Range<u32>) -> Result<()> {
        let at = words.start;
        let inside = (self.chunk.entry..self.chunk.end).contains(&target);
        self.check.require(Rule::V3, inside, "a jump leads out of its chunk", at as usize)?;
        // Its own operands are checked already.
        let own = target > at && target < words.end;
        self.check.require(Rule::V3, !own, "a jump leads into an instruction", at as usize)?;
        if target <= at {
            return self.jump_back(state, target, at);
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

    fn jump_back(&mut self, state: State, target: u32, at: u32) -> Result<()> {
        let note = self.states.get(target as usize).copied().unwrap_or(0);
        self.check.require(Rule::V3, note != 0, "a jump leads into an instruction", at as usize)?;
        let word = self.check.tables.words.get(at as usize).copied().unwrap_or(0);
        let of_turn = Op::of(word).info().control == Control::NextItem;
        self.check.require(Rule::V11, of_turn, "a jump leads back and uses no fuel", at as usize)?;
        let faults = ["a turn changes the height of the stack", "a turn leaves a loop or capture open"];
        self.agree(State::of(note), state, faults, at)
    }
}
