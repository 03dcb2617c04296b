//! Code taken apart, for who reads it without running it.

use super::isa::{Op, Operand};
use super::rows::ChunkInfo;
use super::views::CodeView;

/// An instruction at its place.
#[derive(Debug, Clone, Copy)]
pub struct Instruction<'p> {
    /// The index of its first word.
    pub at: u32,
    /// What it does.
    pub op: Op,
    words: &'p [u32],
}

impl<'p> Instruction<'p> {
    /// Its operands: what they mean, and their words.
    pub fn operands(self) -> impl Iterator<Item = (Operand, u32)> + use<'p> {
        let value = |nth: usize, word: u32| if nth == 0 { word >> 8 } else { word };
        let words = self.words.iter().enumerate().map(move |(nth, &word)| value(nth, word));
        self.op.info().operands.iter().copied().zip(words)
    }

    /// The first operand of this kind.
    pub fn operand(self, kind: Operand) -> Option<u32> {
        self.operands().find_map(|(operand, value)| (operand == kind).then_some(value))
    }
}

impl<'p> CodeView<'p> {
    /// The instructions of a chunk, in the order of the code.
    pub fn instructions(self, chunk: ChunkInfo) -> impl Iterator<Item = Instruction<'p>> {
        let mut at = chunk.entry;
        std::iter::from_fn(move || {
            let words = self.words.get(at as usize..chunk.end as usize)?;
            let op = Op::of(*words.first()?);
            let instruction = Instruction { at, op, words: words.get(..op.words())? };
            at += op.words() as u32;
            Some(instruction)
        })
    }
}
