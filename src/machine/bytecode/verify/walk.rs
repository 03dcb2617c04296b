//! The walk through the code: every instruction once, in word order.
//!
//! The first jump to a place records the state there, and every other path must agree. Only a loop's next iteration jumps
//! back, to the start of its body, whose state is known, so one pass is enough.

use super::super::operands::Operand;
use super::super::rows::{ChunkInfo, HandlerRow};
use super::tables::AllRecords;
use super::{Check, Maxima, Rule};
use dropforge_base::diagnostics::Result;

/// The usual maximum number of blocks of a chunk.
const BLOCKS: usize = 32;

/// The number of operand kinds.
pub(super) const KINDS: usize = Operand::ALL.len();

/// The state before an instruction: the height of the stack, and the innermost open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodeState {
    pub height: u32,
    pub open: u32,
}

impl CodeState {
    const START: CodeState = CodeState { height: 0, open: 0 };

    /// Encodes the state as a word other than 0.
    #[inline(always)]
    pub fn note(self) -> u64 {
        u64::from(self.open + 1) << 32 | u64::from(self.height)
    }

    #[inline(always)]
    pub fn of(note: u64) -> CodeState {
        CodeState { height: (note & 0xFFFF_FFFF) as u32, open: ((note >> 32) as u32).wrapping_sub(1) }
    }
}

/// A kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum BlockKind {
    /// The chunk itself.
    #[default]
    Chunk,
    /// A loop.
    Loop,
    /// Captured output.
    Text,
    /// Gathered values.
    Values,
}

/// An open block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    pub kind: BlockKind,
    /// The enclosing block.
    pub within: u32,
    /// The number of names of a loop.
    pub names: u32,
    /// The first word of a loop's body.
    pub body: u32,
    /// The height there.
    pub height: u32,
    /// The number of open loops.
    pub loops: u32,
    /// The number of open captures.
    pub captures: u32,
    /// The number of those that gather values.
    pub gathers: u32,
}

/// A handler around the current instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenHandler {
    to: u32,
    /// The state after an error.
    after: CodeState,
    /// The innermost block before the handler's code.
    open: u32,
    /// The index of the first block that the handler's code opens.
    pub opened: u32,
    /// The height before.
    floor: u32,
}

impl Check<'_, '_> {
    /// Walks the chunks in code order.
    pub(super) fn code(&self, states: &mut [u64], records: &AllRecords<'_>, maxima: &mut Maxima<'_>) -> Result<()> {
        self.entries(states)?;
        let mut blocks = Vec::with_capacity(BLOCKS);
        blocks.push(Block::default());
        let mut walk = CodeWalk {
            check: *self,
            records,
            states,
            chunk: ChunkInfo::of(&[0; 8]),
            blocks,
            guards: Vec::new(),
            handlers: self.tables.handlers,
            event: 0,
            state: CodeState::START,
            live: true,
            floor: 0,
            most: [0; 3],
            bounds: self.bounds(),
        };
        let (mut at, mut seen) = (0, 0);
        while let Some(note) = walk.states.get_mut(at) {
            // The index of a chunk that begins here is stored in place of a state.
            let index = (std::mem::take(note) as usize).wrapping_sub(1);
            let Some(row) = self.tables.chunks.get(index) else {
                return self.require(Rule::V4, false, "no chunk begins where the last one ends", at);
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

    /// Records the start of each chunk.
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

pub(super) struct CodeWalk<'w, 't> {
    pub check: Check<'w, 't>,
    pub records: &'w AllRecords<'t>,
    /// For each word, the state that jumps bring to the instruction there, if any.
    pub states: &'w mut [u64],
    pub chunk: ChunkInfo,
    pub blocks: Vec<Block>,
    pub guards: Vec<OpenHandler>,
    /// Handlers whose code has not begun.
    handlers: &'t [HandlerRow],
    /// The next word where a handler's code begins or ends.
    event: u32,
    pub state: CodeState,
    /// `true` if the previous instruction continues here.
    pub live: bool,
    /// The height that the innermost handler's code must not fall below.
    pub floor: u32,
    /// The greatest heights in the chunk: stack, loops, captures.
    pub most: [u32; 3],
    /// For each kind of operand, the bound below which no further check is needed.
    pub bounds: [u32; KINDS],
}

impl CodeWalk<'_, '_> {
    #[inline(never)]
    fn chunk(&mut self, chunk: ChunkInfo) -> Result<()> {
        self.chunk = chunk;
        self.bounds[Operand::Slot as usize] = chunk.slots;
        self.bounds[Operand::LoopSlots as usize] = chunk.slots;
        self.bounds[Operand::SlotPair as usize] = chunk.slots.saturating_sub(1);
        self.blocks.truncate(1);
        (self.state, self.live, self.floor, self.most) = (CodeState::START, true, 0, [0; 3]);
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

    /// Merges all paths to the instruction at `at`.
    #[inline(always)]
    fn arrive(&mut self, at: u32) -> Result<()> {
        let is_event = at >= self.event;
        if is_event {
            self.end_handlers(at)?;
        }
        let note = self.states.get(at as usize).copied().unwrap_or(0);
        if note != 0 {
            self.meet_noted(note, at)?;
        }
        self.check.require(Rule::V7, self.live, "code that nothing leads to", at as usize)?;
        if is_event { self.begin_handlers(at) } else { Ok(()) }
    }

    /// Merges a jump to this word, or rejects a chunk that begins here, inside another.
    #[inline(never)]
    fn meet_noted(&mut self, note: u64, at: u32) -> Result<()> {
        let of_jump = note >> 32 != 0;
        self.check.require(Rule::V4, of_jump, "a chunk begins inside of another", at as usize)?;
        if of_jump { self.meet(CodeState::of(note), at) } else { Ok(()) }
    }

    /// Merges another path to this word, with `state`.
    fn meet(&mut self, state: CodeState, at: u32) -> Result<()> {
        if self.live {
            let faults =
                ["branches meet with stacks of different heights", "branches meet in different loops or captures"];
            return self.agree(self.state, state, faults, at);
        }
        (self.state, self.live) = (state, true);
        if let Some(guard) = self.guards.last() {
            let inside = state.open == guard.open || state.open >= guard.opened;
            self.check.require(Rule::V9, inside, "a jump leads into a handler's code", at as usize)?;
            let above = state.height >= guard.floor;
            self.check.require(Rule::V7, above, "a handler's code takes what is not its own", at as usize)?;
        }
        Ok(())
    }

    /// Requires that two paths meet with the same height and in the same block. `faults` are the two messages.
    pub fn agree(&self, one: CodeState, other: CodeState, [height, open]: [&'static str; 2], at: u32) -> Result<()> {
        self.check.require(Rule::V7, one.height == other.height, height, at as usize)?;
        self.check.require(Rule::V9, one.open == other.open, open, at as usize)
    }

    #[inline(never)]
    fn end_handlers(&mut self, at: u32) -> Result<()> {
        while let Some(guard) = self.guards.pop_if(|guard| guard.to <= at) {
            self.check.require(Rule::V3, guard.to == at, "a handler leads into an instruction", at as usize)?;
            self.floor = self.guards.last().map_or(0, |guard| guard.floor);
            self.meet(guard.after, at)?;
        }
        self.next_event();
        Ok(())
    }

    #[inline(never)]
    fn begin_handlers(&mut self, at: u32) -> Result<()> {
        let (check, here) = (self.check, at as usize);
        while let Some((&[from, to, height, loops, captures], rest)) = self.handlers.split_first()
            && from <= at
        {
            self.handlers = rest;
            let outer = self.guards.last().map_or(self.chunk.end, |guard| guard.to.saturating_add(1));
            let nested = from == at && from < to && to < outer;
            check.require(Rule::V3, nested, "a handler begins at no instruction, or does not nest", here)?;
            check.require(Rule::V7, height == self.state.height, "a handler has another height", here)?;
            let block = self.block();
            let same = loops == block.loops && captures == block.captures;
            check.require(Rule::V9, same, "a handler has other loops or captures", here)?;
            let after = CodeState { height: height.saturating_add(1), open: self.state.open };
            self.most[0] = self.most[0].max(after.height);
            let opened = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
            self.guards.push(OpenHandler { to, after, open: self.state.open, opened, floor: height });
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

    /// Returns the innermost open block.
    #[inline(always)]
    pub fn block(&self) -> Block {
        self.blocks.get(self.state.open as usize).copied().unwrap_or_default()
    }
}
