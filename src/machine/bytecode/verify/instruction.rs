//! Checks one instruction by its row in the instruction table: operands, effect on the stack, effect on control flow.

use std::ops::Range;

use super::super::header::Dialects;
use super::super::isa::{Control, ISA, Op, OpInfo, Pops};
use super::super::operands::Operand;
use super::super::records::{Path, Root, Scope};
use super::super::rows::ChunkInfo;
use super::tables::Records;
use super::walk::{Block, BlockKind, CodeState, CodeWalk, KINDS};
use super::{Check, Rule};
use dropforge_base::diagnostics::Result;

/// The columns of the instruction table that the walk reads of every instruction.
#[derive(Clone, Copy)]
struct Columns {
    dialects: Dialects,
    words: u8,
    /// The operand beside the opcode.
    first: Option<Operand>,
    pops: Pops,
    pushes: u8,
    control: Control,
}

impl Columns {
    const fn of(info: &OpInfo) -> Self {
        let OpInfo { dialects, pops, pushes, control, .. } = *info;
        Self { dialects, words: info.words() as u8, first: info.first(), pops, pushes, control }
    }
}

/// The columns by the byte of the opcode. A byte that is not an opcode is of no language.
static COLUMNS: [Columns; 256] = {
    let none = Columns { dialects: Dialects::of(""), ..Columns::of(Op::Return.info()) };
    let (mut table, mut at) = ([none; 256], 0);
    while at < ISA.len() {
        table[at] = Columns::of(&ISA[at]);
        at += 1;
    }
    table
};

/// The error about a record that is not there.
type Missing = (Rule, &'static str);

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

impl CodeWalk<'_, '_> {
    /// Checks the instruction at `at` and applies its effects. Returns its number of words.
    #[inline(always)]
    pub(super) fn instruction(&mut self, at: u32) -> Result<u32> {
        let (check, here) = (self.check, at as usize);
        let word = check.tables.words.get(here).copied().unwrap_or(0);
        let columns = &COLUMNS[(word & 0xFF) as usize];
        let allowed = columns.dialects.contains(check.tables.dialect);
        check.require(Rule::V1, allowed, "an opcode that does not exist in this language", here)?;
        let (raw, count) = (word >> 8, u32::from(columns.words));
        let mut popped = 0;
        match columns.first {
            Some(kind) => popped = self.operand(kind, raw, here)?,
            None => check.require(Rule::V2, raw == 0, "an operand where there is none", here)?,
        }
        if count > 1 {
            self.operands_behind(Op::of(word).info().operands, at)?;
        }
        if let Pops::Fixed(fixed) = columns.pops {
            popped = fixed.into();
        }
        self.replace(popped, columns.pushes.into(), at)?;
        if columns.control != Control::Plain {
            self.control(columns.control, raw, at..at + count)?;
        }
        Ok(count)
    }

    /// Checks the operands in words of their own.
    #[inline(never)]
    fn operands_behind(&self, operands: &[Operand], at: u32) -> Result<()> {
        let whole = operands.len() <= (self.chunk.end - at) as usize;
        self.check.require(Rule::V2, whole, "an instruction is not whole", at as usize)?;
        for (at, &kind) in (at as usize..).zip(operands).skip(1) {
            let jumped_to = self.states.get(at).is_some_and(|note| *note != 0);
            self.check.require(Rule::V3, !jumped_to, "a jump leads into an instruction", at)?;
            self.operand(kind, self.word(at as u32), at)?;
        }
        Ok(())
    }

    /// Returns a word of the code.
    fn word(&self, at: u32) -> u32 {
        self.check.tables.words.get(at as usize).copied().unwrap_or(0)
    }

    /// Checks the operand in word `at`. Returns the number of values that an instruction pops for it.
    #[inline(always)]
    fn operand(&self, kind: Operand, raw: u32, at: usize) -> Result<u32> {
        if raw < self.bounds[kind as usize] { Ok(0) } else { self.operand_beyond(kind, raw, at) }
    }

    #[inline(never)]
    fn operand_beyond(&self, kind: Operand, raw: u32, at: usize) -> Result<u32> {
        let records = self.records;
        let (rule, holds, what) = match kind {
            Operand::Path => {
                let path = self.record(&records.paths, raw, (Rule::V5, "no such path"), at)?;
                let path = Path::at(path).unwrap_or_default();
                return path.roots().try_for_each(|root| self.root(root, at)).map(|()| path.indexes);
            }
            Operand::Site => {
                let site = self.record(&records.sites, raw, (Rule::V10, "no such call"), at)?;
                return Ok(site.get(1).copied().unwrap_or(0));
            }
            Operand::Keys => {
                let keys = self.record(&records.keys, raw, (Rule::V5, "no such keys"), at)?;
                return Ok(keys.first().copied().unwrap_or(0));
            }
            Operand::Scope if raw == 0 => return Ok(0),
            Operand::Scope => {
                let scope = self.record(&records.scopes, raw, (Rule::V5, "no such scope"), at)?;
                let mut entries = Scope::of(scope).entries();
                return entries.try_for_each(|(_, root)| self.root(root, at)).map(|()| 0);
            }
            Operand::Fail => (Rule::V5, records.failures.at(raw).is_some(), "no such failure"),
            Operand::Chunk => return self.callee(raw, at),
            Operand::Count => return Ok(raw),
            Operand::Values => (Rule::V7, self.state.height >= raw, "the stack holds less than is measured"),
            Operand::Names => (Rule::V2, raw == 1 || raw == 2, "a loop has one or two names"),
            Operand::SlotRun => {
                let length = self.word(at as u32 + 1);
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

    /// Returns the words of a record, and those after it.
    #[inline(always)]
    fn record<'r>(&self, records: &Records<'r>, at: u32, (rule, what): Missing, here: usize) -> Result<&'r [u32]> {
        let record = records.at(at);
        self.check.require(rule, record.is_some(), what, here)?;
        Ok(record.unwrap_or(&[]))
    }

    /// Checks that the chunk has what a root names.
    fn root(&self, root: Root, at: usize) -> Result<()> {
        match root {
            Root::Slot(slot) => self.check.require(Rule::V6, slot < self.chunk.slots, "a root names no slot", at),
            Root::Loop(level, _) => {
                self.check.require(Rule::V9, level < self.block().loops, "a root names no open loop", at)
            }
            Root::Global(_) | Root::Callers(_) => Ok(()),
        }
    }

    fn callee(&self, chunk: u32, at: usize) -> Result<u32> {
        let row = self.check.tables.chunks.get(chunk as usize);
        self.check.require(Rule::V10, row.is_some(), "no such chunk", at)?;
        Ok(row.map_or(0, |row| ChunkInfo::of(row).params))
    }

    /// Replaces values on the stack.
    #[inline(always)]
    fn replace(&mut self, pops: u32, pushes: u32, at: u32) -> Result<()> {
        let enough = u64::from(self.floor) + u64::from(pops) <= u64::from(self.state.height);
        self.check.require(Rule::V7, enough, "the stack holds less than is taken", at as usize)?;
        self.state.height = self.state.height.saturating_sub(pops) + pushes;
        self.most[0] = self.most[0].max(self.state.height);
        Ok(())
    }

    /// Applies the effect of the instruction in these words on control flow and open blocks. `first` is the operand beside
    /// the opcode.
    #[inline(never)]
    fn control(&mut self, control: Control, first: u32, words: Range<u32>) -> Result<()> {
        let (there, at) = (self.state, words.start);
        let label = if words.len() == 1 { first } else { self.word(words.end - 1) };
        self.live = !control.ends();
        match control {
            Control::Plain | Control::Call | Control::MayCall | Control::Fail => Ok(()),
            Control::Jump | Control::Branch => self.jump(there, label, words),
            Control::BranchWithTop => self.jump(CodeState { height: there.height + 1, ..there }, label, words),
            Control::OpenLoop => {
                self.sets(first, self.word(at + 1), at)?;
                self.open(BlockKind::Loop, first, words.end)?;
                self.jump(there, label, words)
            }
            Control::NextItem => self.next_item(first, label, at),
            Control::CloseLoop => self.close(BlockKind::Loop, at),
            Control::OpenText => self.open(BlockKind::Text, 0, 0),
            Control::CloseText => self.close(BlockKind::Text, at),
            Control::OpenValues => self.open(BlockKind::Values, 0, 0),
            Control::CloseValues => self.close(BlockKind::Values, at),
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

    fn open(&mut self, kind: BlockKind, names: u32, body: u32) -> Result<()> {
        let (around, within) = (self.block(), self.state.open);
        let (loops, captures) =
            (around.loops + u32::from(kind == BlockKind::Loop), around.captures + u32::from(kind != BlockKind::Loop));
        let gathers = around.gathers + u32::from(kind == BlockKind::Values);
        (self.most[1], self.most[2]) = (self.most[1].max(loops), self.most[2].max(captures));
        self.state.open = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        let height = self.state.height;
        self.blocks.push(Block { kind, within, names, body, height, loops, captures, gathers });
        Ok(())
    }

    /// Closes the innermost block, which must be of this kind.
    fn close(&mut self, kind: BlockKind, at: u32) -> Result<()> {
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

    fn sets(&self, names: u32, slot: u32, at: u32) -> Result<()> {
        let within = u64::from(slot) + u64::from(names) <= u64::from(self.chunk.slots);
        self.check.require(Rule::V8, within, "a loop sets more slots than there are", at as usize)
    }

    /// Closes a loop, or lets its body begin again: the only jump back, which uses fuel.
    fn next_item(&mut self, slot: u32, label: u32, at: u32) -> Result<()> {
        let (block, here) = (self.block(), at as usize);
        self.close(BlockKind::Loop, at)?;
        self.sets(block.names, slot, at)?;
        self.check.require(Rule::V8, label == block.body, "an iteration begins elsewhere than in its loop", here)?;
        let same = self.state.height == block.height;
        self.check.require(Rule::V7, same, "an iteration changes the height of the stack", here)
    }

    /// Lets the code continue at `target` with `state`, after the instruction of these words.
    #[inline(always)]
    fn jump(&mut self, state: CodeState, target: u32, words: Range<u32>) -> Result<()> {
        let (at, here) = (words.start, words.start as usize);
        let inside = (self.chunk.entry..self.chunk.end).contains(&target);
        self.check.require(Rule::V3, inside, "a jump leads out of its chunk", here)?;
        // Its own operands are checked already.
        let own = target > at && target < words.end;
        self.check.require(Rule::V3, !own, "a jump leads into an instruction", here)?;
        self.check.require(Rule::V11, target > at, "a jump leads back and uses no fuel", here)?;
        match self.states.get_mut(target as usize) {
            Some(place) if *place == 0 && target > at => {
                *place = state.note();
                Ok(())
            }
            Some(place) if target > at => {
                let known = CodeState::of(*place);
                let faults =
                    ["jumps meet with stacks of different heights", "jumps meet in different loops or captures"];
                self.agree(known, state, faults, at)
            }
            _ => Ok(()),
        }
    }
}
