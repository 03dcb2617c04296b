//! Words: appending, removing and patching instructions.

use super::chunks::Recent;
use super::state::Emitter;
use crate::bytecode::{Op, Operand, span_row};
use crate::compiler::tables::index;

impl Emitter<'_> {
    /// Emits an instruction whose operands are plain numbers.
    pub fn op(&mut self, op: Op, operands: &[u32]) {
        self.emit(op, operands);
    }

    pub(super) fn emit(&mut self, op: Op, operands: &[u32]) {
        self.flush();
        self.emit_now(op, operands);
    }

    /// Emits an instruction before anything pending.
    pub(super) fn emit_now(&mut self, op: Op, operands: &[u32]) {
        let first = operands.first().copied().unwrap_or(0);
        if self.frame.dead {
            self.last = None;
            self.note_values(op, first);
            return;
        }
        let (at, height) = (self.here(), self.height_now());
        let (row, spans) = (span_row(at, self.place), &mut self.tables.parts.spans);
        let [_, place @ ..] = row;
        if spans.last().is_none_or(|[_, last @ ..]| *last != place) {
            spans.push(row);
        }
        self.last = Some(at);
        self.frame.recent.push(Recent { op, at, place: self.place, height });
        let words = &mut self.tables.parts.words;
        words.push(first << 8 | op as u32);
        // Three at most. Copying a slice would cost more.
        operands.iter().skip(1).for_each(|&operand| words.push(operand));
        self.note_values(op, first);
        self.frame.dead = op.info().control.ends();
        self.labels.bound.clear();
    }

    /// Returns the height of the stack, without pending constants.
    pub(super) fn height_now(&self) -> u32 {
        index(self.frame.values.len())
    }

    /// Emits what is pending. Nothing before this point is removed afterwards.
    pub(super) fn fence(&mut self) {
        self.flush();
        self.frame.recent.clear();
    }

    /// Returns the opcodes of the last three instructions that can be removed; `return` stands for none.
    pub(super) fn recent(&self) -> [Op; 3] {
        let mut ops = [Op::Return; 3];
        ops.iter_mut().rev().zip(self.frame.recent.iter().rev()).for_each(|(op, recent)| *op = recent.op);
        ops
    }

    /// Removes the last instruction, restores its position and returns its first operand.
    pub(super) fn take_back(&mut self) -> u32 {
        let Some(last) = self.frame.recent.pop() else { return 0 };
        let parts = &mut self.tables.parts;
        let operand = parts.words.get(last.at as usize).map_or(0, |word| word >> 8);
        parts.words.truncate(last.at as usize);
        while parts.spans.pop_if(|span| span[0] >= last.at).is_some() {}
        while parts.details.pop_if(|row| row[0] >= last.at).is_some() {}
        self.place = last.place;
        self.set_values(last.height);
        operand
    }

    pub(super) fn pops(&self, op: Op, operand: u32) -> u32 {
        let parts = &self.tables.parts;
        op.info().pops(operand, |kind, at| match kind {
            Operand::Path => self.tables.path_at(at).map_or(0, |path| path.indexes),
            Operand::Chunk => self.chunk(at as usize).map_or(0, |chunk| chunk.params),
            Operand::Keys => parts.keys.get(at as usize).copied().unwrap_or(0),
            _ => parts.sites.get(at as usize + 1).copied().unwrap_or(0),
        })
    }
}
