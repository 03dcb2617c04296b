//! The words themselves: what is held back is let go, jumps are patched, the program is put together.

use super::{Emitter, OPERAND, Recent};
use crate::bytecode::{Literal, Number, Op, Pops, Program, SpanRun, fresh_program_id};
use crate::compiler::fold::Constant;
use crate::compiler::tables::{Tables, index};
use crate::diagnostics::Result;
use crate::limits::Limit;

impl Emitter<'_> {
    pub(super) fn flush(&mut self) {
        self.flush_text();
        self.flush_constants();
    }

    pub(super) fn flush_text(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let id = self.tables.string(&self.text);
        self.text.clear();
        let place = std::mem::replace(&mut self.place, self.text_place);
        self.words_of(Op::Text, &[id]);
        self.place = place;
    }

    pub(super) fn flush_constants(&mut self) {
        if self.constants.is_empty() {
            return;
        }
        self.flush_text();
        let here = self.place;
        let mut constants = std::mem::take(&mut self.constants);
        for (constant, place) in constants.drain(..) {
            self.place = place;
            let (op, operand) = self.constant_op(constant);
            self.words_of(op, &[operand]);
        }
        self.constants = constants; // empty, its memory kept
        self.place = here;
    }

    pub(super) fn constant_op(&mut self, constant: Constant) -> (Op, u32) {
        match constant {
            Constant::Null => (Op::Lit, Literal::Null as u32),
            Constant::Bool(false) => (Op::Lit, Literal::False as u32),
            Constant::Bool(true) => (Op::Lit, Literal::True as u32),
            Constant::Int(n) => match i32::try_from(n) {
                Ok(n) if (-0x80_0000..0x80_0000).contains(&n) => (Op::Int, n.cast_unsigned() & OPERAND),
                _ => (Op::Num, self.tables.number(Number::Int(n))),
            },
            Constant::Float(n) => (Op::Num, self.tables.number(Number::Float(n))),
            Constant::Str(text) => (Op::Str, self.tables.string(&text)),
        }
    }

    pub(super) fn emit(&mut self, op: Op, operands: &[u32]) {
        self.flush();
        self.words_of(op, operands);
    }

    pub(super) fn words_of(&mut self, op: Op, operands: &[u32]) {
        let at = index(self.words.len());
        if self.spans.last().is_none_or(|run| run.place != self.place) {
            self.spans.push(SpanRun { at, place: self.place });
        }
        let first = operands.first().copied().unwrap_or(0);
        self.recent.push(Recent { op, at, place: self.place, height: index(self.values.len()) });
        self.words.push(first << 8 | op as u32);
        self.words.extend(operands.iter().skip(1));
        self.note_values(op, first);
    }

    /// Lets go what is held back; nothing before this place is taken back from here on.
    pub(super) fn fence(&mut self) {
        self.flush();
        self.recent.clear();
    }

    /// The opcodes of the last three instructions that may be taken back; `return` stands for none.
    pub(super) fn recent(&self) -> [Op; 3] {
        let mut last = self.recent.iter().rev().map(|recent| recent.op);
        let mut ops = [Op::Return; 3];
        ops.iter_mut().rev().zip(&mut last).for_each(|(place, op)| *place = op);
        ops
    }

    /// Takes the last instruction back, and goes on at its place; the answer is its first operand.
    pub(super) fn take_back(&mut self) -> u32 {
        let Some(last) = self.recent.pop() else { return 0 };
        let operand = self.words.get(last.at as usize).map_or(0, |word| word >> 8);
        self.words.truncate(last.at as usize);
        while self.spans.last().is_some_and(|run| run.at >= last.at) {
            self.spans.pop();
        }
        self.place = last.place;
        self.set_values(last.height);
        operand
    }

    pub(super) fn pops(&self, op: Op, operand: u32) -> u32 {
        let extra = |at: u32| self.extra.get(at as usize).copied().unwrap_or(0);
        match op.info().pops {
            Pops::Fixed(n) => n.into(),
            Pops::Count => operand,
            Pops::PathIndexes => self.path_at(operand).map_or(0, |path| path.indexes),
            Pops::Arguments => extra(operand + 1),
            Pops::Parameters => self.chunks.get(operand as usize).map_or(0, |chunk| chunk.params),
        }
    }

    /// An error once the code or a table has outgrown the limit; cheap enough to ask often.
    pub fn check_size(&self) -> Result<()> {
        let largest = self.words.len().max(self.extra.len()).max(self.tables.strings.len());
        if self.oversized || largest > self.limit.min(OPERAND as usize) {
            Err(Limit::CodeWords.error(self.limit as u64))
        } else {
            Ok(())
        }
    }

    /// Writes the places of labels into the jumps; where a jump would lead to a jump, it leads on. From jumps
    /// that lead in a circle nothing is gained, so a few steps are enough.
    pub(super) fn patch_jumps(&mut self) {
        const STEPS: usize = 4;
        for round in 0..=STEPS {
            for &(at, in_first, label) in &self.patches {
                let Some(&word) = self.words.get(at) else { continue };
                let target = match (round, in_first) {
                    (0, _) => self.labels.get(label.0).copied().flatten().unwrap_or(0),
                    (_, true) => word >> 8,
                    (_, false) => word,
                };
                let behind = self.words.get(target as usize).filter(|&&next| round > 0 && Op::of(next) == Op::Jump);
                let target = behind.map_or(target, |next| next >> 8);
                if let Some(word) = self.words.get_mut(at) {
                    *word = if in_first { target << 8 | *word & 0xFF } else { target };
                }
            }
        }
    }

    /// The finished program.
    pub fn finish(mut self) -> Result<Program> {
        self.check_size()?;
        self.patch_jumps();
        let Tables { pool, strings, numbers, globals, imports, sources, .. } = self.tables;
        Ok(Program {
            id: fresh_program_id(),
            dialect: self.dialect,
            words: self.words,
            extra: self.extra,
            pool,
            strings,
            numbers,
            chunks: self.chunks,
            globals,
            imports,
            failures: self.failures,
            handlers: self.handlers,
            spans: self.spans,
            inlined: self.inlined,
            sources,
            caches: self.caches,
            memos: index(self.memos.len()),
        })
    }
}
