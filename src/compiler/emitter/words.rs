//! The words themselves: what is held back is let go, jumps are patched, the program is put together.

use std::mem::take;
use std::sync::Arc;

use super::{Emitter, OPERAND, Open, Recent, Records};
use crate::bytecode::{
    ChunkInfo, Counts, Handler, Literal, Number, Op, POOL_SLACK, Parts, Pops, Program, SourceRow, Spanned, span_row,
};
use crate::compiler::fold::Constant;
use crate::compiler::tables::index;
use crate::diagnostics::Result;
use crate::limits::Limit;
use crate::text::Source;

impl Emitter<'_> {
    pub(super) fn flush(&mut self) {
        self.flush_text();
        self.flush_constants();
    }

    #[inline]
    pub(super) fn flush_text(&mut self) {
        if !self.text.is_empty() {
            self.write_text();
        }
    }

    fn write_text(&mut self) {
        if self.open.dead {
            self.text.clear();
            return;
        }
        let id = self.tables.string(&self.text);
        self.text.clear();
        let place = std::mem::replace(&mut self.place, self.text_place);
        self.words_of(Op::Text, &[id]);
        self.place = place;
    }

    #[inline]
    pub(super) fn flush_constants(&mut self) {
        if !self.constants.is_empty() {
            self.push_constants();
        }
    }

    fn push_constants(&mut self) {
        self.flush_text();
        if self.open.dead {
            let height = self.values.len() + self.constants.len();
            self.constants.clear();
            self.set_values(index(height));
            return;
        }
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

    pub(super) fn constant_op(&mut self, constant: Constant<'_>) -> (Op, u32) {
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
        let first = operands.first().copied().unwrap_or(0);
        if self.open.dead {
            self.last = None;
            self.note_values(op, first);
            return;
        }
        let at = index(self.words.len());
        let span = span_row(at, self.place);
        if self.spans.last().is_none_or(|last| last[1..] != span[1..]) {
            self.spans.push(span);
        }
        self.last = Some(at);
        self.recent.push(Recent { op, at, place: self.place, height: index(self.values.len()) });
        self.words.push(first << 8 | op as u32);
        // Three at most: a copy of a slice would cost more than they do.
        operands.iter().skip(1).for_each(|&operand| self.words.push(operand));
        self.note_values(op, first);
        self.open.dead = op.ends();
        self.bound.clear();
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
        while self.spans.last().is_some_and(|span| span[0] >= last.at) {
            self.spans.pop();
        }
        while self.details.last().is_some_and(|row| row[0] >= last.at) {
            self.details.pop();
        }
        self.place = last.place;
        self.set_values(last.height);
        operand
    }

    pub(super) fn pops(&self, op: Op, operand: u32) -> u32 {
        match op.info().pops {
            Pops::Fixed(n) => n.into(),
            Pops::Count => operand,
            Pops::PathIndexes => self.path_at(operand).map_or(0, |path| path.indexes),
            Pops::Arguments => self.records.sites.get(operand as usize + 1).copied().unwrap_or(0),
            Pops::Keys => self.records.keys.get(operand as usize).copied().unwrap_or(0),
            Pops::Parameters => self.chunks.get(operand as usize).map_or(0, |chunk| chunk.params),
        }
    }

    /// An error once the code or a table has outgrown the limit; cheap enough to ask often.
    pub fn check_size(&self) -> Result<()> {
        let Records { paths, sites, keys, scopes, failures } = &self.records;
        let records = paths.len().max(sites.len()).max(keys.len()).max(scopes.len()).max(failures.len());
        let largest = self.words.len().max(records).max(self.tables.strings.len());
        if self.oversized || largest > self.limit.min(OPERAND as usize) {
            Err(Limit::CodeWords.error(self.limit as u64))
        } else {
            Ok(())
        }
    }

    /// Writes the places of labels into the jumps.
    pub(super) fn patch_jumps(&mut self) {
        for (at, in_first, label) in std::mem::take(&mut self.patches) {
            let place = self.labels.get(self.target(label).0);
            let target = place.and_then(|place| place.at).unwrap_or(0);
            if let Some(word) = self.words.get_mut(at) {
                *word = if in_first { target << 8 | *word & 0xFF } else { target };
            }
        }
    }

    /// Begins another program, of at most `limit` words, in the memory of the last one.
    pub fn restart(&mut self, limit: usize) {
        let Records { paths, sites, keys, scopes, failures } = &mut self.records;
        [paths, sites, keys, failures].into_iter().for_each(Vec::clear);
        scopes.clear();
        scopes.push(0); // offset 0 means "none"
        self.tables.clear();
        self.words.clear();
        self.chunks.clear();
        self.handlers.clear();
        self.spans.clear();
        self.details.clear();
        self.inlined.clear();
        self.regions.clear();
        self.paths.clear();
        self.path_of.clear();
        self.labels.clear();
        self.bound.clear();
        self.patches.clear();
        self.text.clear();
        self.constants.clear();
        self.recent.clear();
        self.values.clear();
        self.memos.clear();
        (self.caches, self.limit, self.flows, self.oversized) = (0, limit, true, false);
        (self.place, self.text_place, self.open) = (Spanned::default(), Spanned::default(), Open::default());
    }

    /// The finished program; what is emitted from here on is another one, once [`Emitter::restart`] was called.
    ///
    /// # Errors
    /// [`Limit::CodeWords`]; [`Code::CorruptProgram`](crate::diagnostics::Code::CorruptProgram) where what was
    /// emitted is no program.
    pub fn finish(&mut self) -> Result<Program> {
        self.check_size()?;
        self.patch_jumps();
        let sources = std::mem::take(&mut self.tables.sources);
        let row = |source: &Arc<Source>| [self.tables.string(source.name()), 0, index(source.text().len())];
        let source_rows = sources.iter().map(row).collect();
        self.tables.pool.push_str(POOL_SLACK);
        let mut parts = self.parts(source_rows);
        let program = Program::new(&mut parts, sources);
        self.keep_room(parts);
        program
    }

    /// Lends the tables to a program that is put together.
    fn parts(&mut self, sources: Vec<SourceRow>) -> Parts {
        let counts = Counts { caches: self.caches, memos: index(self.memos.len()) };
        let (tables, records) = (&mut self.tables, &mut self.records);
        Parts {
            dialect: self.dialect,
            counts,
            pool: take(&mut tables.pool),
            words: take(&mut self.words),
            paths: take(&mut records.paths),
            sites: take(&mut records.sites),
            keys: take(&mut records.keys),
            scopes: take(&mut records.scopes),
            strings: take(&mut tables.strings),
            numbers: take(&mut tables.numbers),
            chunks: self.chunks.iter().copied().map(ChunkInfo::row).collect(),
            globals: take(&mut tables.globals),
            imports: take(&mut tables.imports),
            failures: take(&mut records.failures),
            handlers: self.handlers.iter().copied().map(Handler::row).collect(),
            spans: take(&mut self.spans),
            details: take(&mut self.details),
            inlined: take(&mut self.inlined),
            regions: take(&mut self.regions),
            sources,
        }
    }

    /// Takes the tables back, for the memory that they have.
    fn keep_room(&mut self, parts: Parts) {
        let Parts { pool, words, paths, sites, keys, scopes, strings, numbers, globals, imports, failures, .. } = parts;
        (self.words, self.spans, self.details, self.inlined) = (words, parts.spans, parts.details, parts.inlined);
        self.regions = parts.regions;
        self.records = Records { paths, sites, keys, scopes, failures };
        let tables = &mut self.tables;
        (tables.pool, tables.strings, tables.numbers) = (pool, strings, numbers);
        (tables.globals, tables.imports) = (globals, imports);
    }
}
