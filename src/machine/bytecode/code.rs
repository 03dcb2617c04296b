//! Read access to code, for the machine and analyses.

use super::isa::{Jumps, Op, OpInfo};
use super::operands::{Literal, Operand, Test};
use super::places::Place;
use super::pool::string;
use super::program::Program;
use super::records::{CallSite, Path, Scope};
use super::rows::{ChunkInfo, Number, NumberRow};
use super::sections::{Row, Section};
use dropforge_value::{Shape, Text};
use std::ops::Range;

/// The tables that the machine reads at every step. It dereferences to the program for the rest: building a slice costs
/// something in each run, which matters for single expressions.
#[derive(Debug, Clone, Copy)]
pub struct CodeView<'p> {
    /// The code.
    pub words: &'p [u32],
    /// Records of paths.
    pub paths: &'p [u32],
    /// Strings as ranges of the pool.
    pub strings: &'p [[u32; 2]],
    /// All text.
    pub pool: &'p str,
    program: &'p Program,
}

impl std::ops::Deref for CodeView<'_> {
    type Target = Program;

    #[inline(always)]
    fn deref(&self) -> &Program {
        self.program
    }
}

impl Program {
    /// Returns the code and the tables that it refers to.
    #[inline(always)]
    pub fn code(&self) -> CodeView<'_> {
        CodeView {
            words: self.section(Section::Words),
            paths: self.section(Section::Paths),
            strings: Row::rows(self.section(Section::Strings)),
            pool: self.pool(),
            program: self,
        }
    }
}

impl<'p> CodeView<'p> {
    /// Returns the rows of a table that is not read at every step.
    #[inline(always)]
    fn rows<R: Row>(&self, section: Section) -> &'p [R] {
        R::rows(self.program.section(section))
    }

    /// Returns the string with index `id`, or the empty string.
    #[inline]
    pub fn str(&self, id: u32) -> &'p str {
        string(self.strings, self.pool, id)
    }

    /// String ids of the top-level inputs.
    #[inline]
    pub fn globals(&self) -> &'p [u32] {
        self.rows(Section::Globals)
    }

    /// Returns the number with index `id`.
    #[inline]
    pub fn number(&self, id: u32) -> Option<Number> {
        self.rows::<NumberRow>(Section::Numbers).get(id as usize).map(|&row| Number::of(row))
    }

    /// Returns the chunk with index `id`.
    #[inline]
    pub fn chunk(&self, id: u32) -> Option<ChunkInfo> {
        self.rows(Section::Chunks).get(id as usize).map(ChunkInfo::of)
    }

    /// Returns the path at offset `at`.
    #[inline]
    pub fn path(&self, at: u32) -> Path<'p> {
        self.paths.get(at as usize..).and_then(Path::at).unwrap_or_default()
    }

    /// Returns the call site at offset `at`.
    #[inline]
    pub(crate) fn call_site(&self, at: u32) -> CallSite<'p> {
        CallSite::of(self.site(at))
    }

    /// Returns the words of the call site at offset `at`, import, count and gate first, and all that follow.
    #[inline(always)]
    pub fn site(&self, at: u32) -> &'p [u32] {
        self.program.behind(Section::Sites, at)
    }

    /// Returns the string ids of the keys at offset `at`.
    #[inline]
    pub fn keys(&self, at: u32) -> &'p [u32] {
        match self.program.behind(Section::Keys, at) {
            [count, rest @ ..] => rest.get(..*count as usize).unwrap_or(&[]),
            [] => &[],
        }
    }

    /// Returns the string constants as values if a run has needed them, or none.
    #[inline(always)]
    pub(crate) fn known_texts(&self) -> &'p [Text<'p>] {
        self.program.known_texts()
    }

    /// Returns the string constants as values.
    pub fn texts(&self) -> &'p [Text<'p>] {
        self.program.texts()
    }

    /// Returns the shapes of the maps that the program builds, by the offsets of their keys.
    pub fn shapes(&self) -> &'p [Option<Shape<'p>>] {
        self.program.shapes()
    }

    /// Returns the scope at offset `at`. The scope at 0 is empty.
    pub fn scope(&self, at: u32) -> Scope<'p> {
        if at == 0 { Scope::default() } else { Scope::of(self.program.behind(Section::Scopes, at)) }
    }

    /// Returns the instruction at word `at`.
    pub fn instruction(self, at: u32) -> Option<Instruction<'p>> {
        let words = self.words.get(at as usize..)?;
        let op = Op::of(*words.first()?);
        Some(Instruction { at, op, words: words.get(..op.words())? })
    }

    /// Returns the instructions of a chunk, in code order.
    pub fn instructions(self, chunk: ChunkInfo) -> impl Iterator<Item = Instruction<'p>> {
        let mut at = chunk.entry;
        std::iter::from_fn(move || {
            let instruction = self.instruction(at).filter(|_| at < chunk.end)?;
            at = instruction.end();
            Some(instruction)
        })
    }

    /// Returns the index of the function that an instruction calls.
    pub(crate) fn import(self, instruction: Instruction<'_>) -> Option<u32> {
        let site = instruction.operand(Operand::Site).map(|site| self.call_site(site).import);
        site.or_else(|| instruction.operand(Operand::Import))
    }

    /// Returns the number of values that an instruction with this row and first operand pops.
    pub fn pops(self, row: &OpInfo, operand: u32) -> u32 {
        row.pops(operand, |kind, at| match kind {
            Operand::Path => self.path(at).indexes,
            Operand::Chunk => self.chunk(at).map_or(0, |chunk| chunk.params),
            Operand::Keys => u32::try_from(self.keys(at).len()).unwrap_or(u32::MAX),
            _ => u32::try_from(self.call_site(at).params.len()).unwrap_or(u32::MAX),
        })
    }
}

/// An instruction at its position in the code.
#[derive(Debug, Clone, Copy)]
pub struct Instruction<'p> {
    /// The index of its first word.
    pub at: u32,
    /// The opcode.
    pub op: Op,
    words: &'p [u32],
}

impl<'p> Instruction<'p> {
    /// Returns the operands by kind and value.
    pub fn operands(self) -> impl Iterator<Item = (Operand, u32)> + use<'p> {
        let value = |nth: usize, word: u32| if nth == 0 { word >> 8 } else { word };
        let words = self.words.iter().enumerate().map(move |(nth, &word)| value(nth, word));
        self.op.info().operands.iter().copied().zip(words)
    }

    /// Returns the first operand of this kind.
    pub fn operand(self, kind: Operand) -> Option<u32> {
        self.operands().find_map(|(operand, value)| (operand == kind).then_some(value))
    }

    /// Returns the truth of the condition of a branch that goes to its label. `None` for what decides by no condition.
    pub fn truth_if_taken(self) -> Option<bool> {
        match self.op.info().jumps {
            Jumps::True => Some(true),
            Jumps::False => Some(false),
            Jumps::Test => Some(Test::of(self.operand(Operand::Test)?).wanted),
            Jumps::Literal => match Literal::of(self.operand(Operand::Lit)?) {
                Literal::True => Some(true),
                Literal::False => Some(false),
                Literal::Undefined | Literal::Null => None,
            },
            Jumps::Never | Jumps::Always | Jumps::Present | Jumps::Empty | Jumps::More => None,
        }
    }

    /// Returns the slots that its operands name. A loop that continues has two at most.
    pub fn slots(self) -> Range<u32> {
        let count = |kind, most| self.operand(kind).unwrap_or(most);
        let slots = self.operands().find_map(|(kind, first)| match kind {
            Operand::Slot => Some((first, 1)),
            Operand::SlotPair => Some((first, 2)),
            Operand::SlotRun => Some((first, count(Operand::Count, 0))),
            Operand::LoopSlots => Some((first, count(Operand::Names, 2))),
            _ => None,
        });
        slots.map_or(0..0, |(first, count)| first..first.saturating_add(count))
    }

    /// Returns the slots that it reads by its operands, besides those of a path.
    pub fn slots_read(self) -> Range<u32> {
        if self.op.info().reads.contains(Place::Slots) { self.slots() } else { 0..0 }
    }

    /// Returns the slots that it may set.
    pub fn slots_set(self) -> Range<u32> {
        if self.op.info().writes.contains(Place::Slots) { self.slots() } else { 0..0 }
    }

    /// Returns `true` if it may look up any slot by name.
    pub fn reads_names(self) -> bool {
        self.operand(Operand::Scope).is_some_and(|scope| scope != 0 || !self.op.info().control.calls())
    }

    /// Returns the index after its last word.
    pub fn end(self) -> u32 {
        self.at.saturating_add(self.op.words() as u32)
    }
}
