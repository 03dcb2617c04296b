//! Tables of fixed rows: strings, numbers, chunks, inputs, imports, positions, sources.

use super::super::pool::string;
use super::super::rows::{ChunkInfo, ImportKind, Region};
use super::SHARED;
use super::check::{Check, Texts};
use super::rules::Rule;
use dropforge_base::diagnostics::Result;

/// One more than the largest operand that fits next to an opcode.
const OPERANDS: usize = 1 << 24;

impl Check<'_, '_> {
    /// Checks all tables except records and code.
    pub(super) fn tables(&self, texts: Texts) -> Result<()> {
        self.totals()?;
        self.strings()?;
        self.numbers()?;
        self.chunks()?;
        self.names()?;
        self.named_chunks()?;
        self.sources(texts)?;
        self.positions()
    }

    fn totals(&self) -> Result<()> {
        let t = self.tables;
        let records = t.paths.len().max(t.sites.len()).max(t.keys.len()).max(t.scopes.len()).max(t.failures.len());
        let rows = t.strings.len().max(t.numbers.len()).max(t.globals.len()).max(t.imports.len()).max(t.sources.len());
        let rows = rows.max(t.names.len());
        let largest = t.words.len().max(records).max(rows);
        self.require(Rule::V15, largest < OPERANDS, "a table is too large", largest)?;
        let memos = t.properties.memos as usize;
        self.require(Rule::V15, memos <= t.words.len(), "there are more kept answers than calls", memos)?;
        self.require(Rule::V15, t.pool.len() < u32::MAX as usize, "the text is too long", t.pool.len())
    }

    fn strings(&self) -> Result<()> {
        let mut bytes = 0;
        for (at, &[start, end]) in self.tables.strings.iter().enumerate() {
            let text = self.tables.pool.get(start as usize..end as usize);
            self.require(Rule::V5, text.is_some(), "a string is no piece of the text", at)?;
            bytes += u64::from(end.wrapping_sub(start));
        }
        // A path and its steps may share a place in a source.
        self.require(
            Rule::V15,
            bytes <= SHARED as u64 * self.tables.pool.len() as u64,
            "many strings share their text",
            0,
        )
    }

    fn numbers(&self) -> Result<()> {
        for (at, &[kind, low, high]) in self.tables.numbers.iter().enumerate() {
            let bits = u64::from(high) << 32 | u64::from(low);
            let canonical = kind == 0 || !f64::from_bits(bits).is_nan() || bits == f64::NAN.to_bits();
            self.require(Rule::V5, kind <= 1 && canonical, "a number is of no kind", at)?;
        }
        Ok(())
    }

    fn chunks(&self) -> Result<()> {
        let first = self.tables.chunks.first().map(ChunkInfo::of);
        let begins = first.is_some_and(|chunk| chunk.params == 0);
        self.require(Rule::V12, begins, "there is no chunk to begin with, or it takes parameters", 0)?;
        for (at, chunk) in self.tables.chunks.iter().map(ChunkInfo::of).enumerate() {
            self.require(Rule::V5, self.has_string(chunk.name), "a chunk has no name", at)?;
            let slots = chunk.params <= chunk.slots && (chunk.slots as usize) < OPERANDS;
            self.require(Rule::V6, slots, "a chunk has not as many slots as parameters, or too many", at)?;
        }
        Ok(())
    }

    fn names(&self) -> Result<()> {
        for (at, &name) in self.tables.globals.iter().enumerate() {
            self.require(Rule::V5, self.has_string(name), "an input has no name", at)?;
        }
        for (at, &[kind, name, _]) in self.tables.imports.iter().enumerate() {
            let known = (kind as usize) < ImportKind::ALL.len();
            self.require(Rule::V10, known && self.has_string(name), "an import has no kind or name", at)?;
        }
        Ok(())
    }

    fn named_chunks(&self) -> Result<()> {
        let mut before = None;
        for (at, &[name, chunk]) in self.tables.names.iter().enumerate() {
            self.require(Rule::V5, self.has_string(name), "a chunk to call by name has no name", at)?;
            let known = (chunk as usize) < self.tables.chunks.len();
            self.require(Rule::V10, known, "a name is that of no chunk", at)?;
            let name = self.text(name);
            self.require(Rule::V14, before < Some(name), "the names of chunks are not in order", at)?;
            before = Some(name);
        }
        Ok(())
    }

    /// Returns the string with index `id`, or the empty string.
    fn text(&self, id: u32) -> &str {
        string(self.tables.strings, self.tables.pool, id)
    }

    fn sources(&self, texts: Texts) -> Result<()> {
        for (at, &[name, start, end]) in self.tables.sources.iter().enumerate() {
            let text = texts == Texts::Apart || self.tables.pool.get(start as usize..end as usize).is_some();
            self.require(Rule::V13, self.has_string(name) && start <= end && text, "a source has no text", at)?;
        }
        Ok(())
    }

    fn positions(&self) -> Result<()> {
        let (tables, code) = (self.tables, self.tables.words.len());
        let (mut behind, mut last, mut length) = (0, None, 0);
        for (at, &[from, source, start, end]) in tables.spans.iter().enumerate() {
            // Most are in the source of the one before.
            if last != Some(source) {
                let known = self.source_length(source);
                self.require(Rule::V13, known.is_some(), "a place is in no source", at)?;
                (last, length) = (Some(source), known.unwrap_or(0));
            }
            let placed = from >= behind && (from as usize) < code && start <= end && end <= length;
            self.require(Rule::V13, placed, "a place is not in order or not in its source", at)?;
            behind = from.saturating_add(1);
        }
        let mut before = None;
        for (at, &[word, part, start, end]) in tables.details.iter().enumerate() {
            let placed = before < Some((word, part)) && (word as usize) < code && start <= end;
            self.require(Rule::V13, placed, "an operand's place is not in order or is none", at)?;
            before = Some((word, part));
        }
        let ranges = |[from, to]: [u32; 2], last: u32| from < to && last <= to && to as usize <= code;
        let mut last = 0;
        for (at, &[from, to, source, start, end]) in tables.inlined.iter().enumerate() {
            let inside = self.source_length(source).is_some_and(|length| start <= end && end <= length);
            let placed = ranges([from, to], last) && inside;
            self.require(Rule::V13, placed, "code in the place of a call is not in order or has no place", at)?;
            last = to;
        }
        let mut last = 0;
        for (at, &row) in tables.regions.iter().enumerate() {
            let [from, to, ..] = row;
            let named = match Region::of(row) {
                Region::Step(name) | Region::Name(name, _) | Region::Note(name) => self.has_string(name),
                Region::Element(_) => true,
            };
            let placed = ranges([from, to], last) && named;
            self.require(Rule::V13, placed, "what code makes is not in order or has no name", at)?;
            last = to;
        }
        Ok(())
    }

    fn source_length(&self, source: u32) -> Option<u32> {
        self.tables.sources.get(source as usize).map(|[_, from, to]| to.saturating_sub(*from))
    }
}
