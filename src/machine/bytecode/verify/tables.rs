//! Tables of fixed rows and tables of records. Each record table is walked once, to check its records and to note where
//! they begin.

use super::super::pool::string;
use super::super::records::{
    FAILURE_HEAD, Gate, PATH_HEAD, Root, SCOPE_HEAD, SITE_HEAD, Scope, Segment, path_counts, quick, unpack_root,
    unpack_segment,
};
use super::super::rows::{ChunkInfo, ImportKind, Region, Signature};
use super::{Check, Rule, SHARED};
use crate::function::Params;
use dropforge_base::diagnostics::{Code, Result};

/// One more than the largest operand that fits next to an opcode.
const OPERANDS: usize = 1 << 24;

impl Check<'_, '_> {
    /// Checks all tables except records and code.
    pub(super) fn tables(&self, texts_in_pool: bool) -> Result<()> {
        self.totals()?;
        self.strings()?;
        self.numbers()?;
        self.chunks()?;
        self.names()?;
        self.named_chunks()?;
        self.sources(texts_in_pool)?;
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

    fn sources(&self, texts_in_pool: bool) -> Result<()> {
        for (at, &[name, start, end]) in self.tables.sources.iter().enumerate() {
            let text = !texts_in_pool || self.tables.pool.get(start as usize..end as usize).is_some();
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

/// A table of records, and the offsets at which they begin: one bit for each word.
#[derive(Debug)]
pub(super) struct Records<'t> {
    words: &'t [u32],
    starts: Vec<u64>,
}

impl<'t> Records<'t> {
    fn of(words: &'t [u32]) -> Self {
        Self { words, starts: vec![0; words.len() / 64 + 1] }
    }

    fn add(&mut self, at: usize) {
        if let Some(bits) = self.starts.get_mut(at / 64) {
            *bits |= 1 << (at % 64);
        }
    }

    /// Returns the words of the record that begins at an offset, and those after it.
    #[inline(always)]
    pub fn at(&self, at: u32) -> Option<&'t [u32]> {
        let begins = self.starts.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0);
        if begins { self.words.get(at as usize..) } else { None }
    }
}

/// All record tables.
#[derive(Debug)]
pub(super) struct AllRecords<'t> {
    pub paths: Records<'t>,
    pub sites: Records<'t>,
    pub keys: Records<'t>,
    pub scopes: Records<'t>,
    pub failures: Records<'t>,
}

impl<'t> Check<'_, 't> {
    /// Walks the record tables.
    pub(super) fn records(&self) -> Result<AllRecords<'t>> {
        Ok(AllRecords {
            paths: self.paths()?,
            sites: self.sites()?,
            keys: self.keys()?,
            scopes: self.scopes()?,
            failures: self.failures()?,
        })
    }

    fn paths(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.paths);
        let (mut at, mut caches) = (0, 0);
        while let Some((&[common, cache, name, shape], rest)) =
            self.tables.paths.get(at..).and_then(<[u32]>::split_first_chunk::<PATH_HEAD>)
        {
            let (indexes, roots, steps) = path_counts(shape);
            let record = rest.get(..roots + steps * 2);
            self.require(Rule::V5, record.is_some() && roots > 0 && self.has_string(name), "a path is not whole", at)?;
            let (roots, segments) = record.unwrap_or(&[]).split_at_checked(roots).unwrap_or((&[], &[]));
            self.require(Rule::V6, cache == caches, "a path has the inline caches of another", at)?;
            caches += u32::try_from(steps).unwrap_or(0);
            roots.iter().try_for_each(|&root| self.root(root, at))?;
            self.segments(segments, indexes, at)?;
            let first = roots.first().map(|&root| unpack_root(root));
            let quick = quick(first, steps, indexes as usize);
            self.require(Rule::V5, common == quick, "the common case of a path is not the path's", at)?;
            records.add(at);
            at += PATH_HEAD + roots.len() + segments.len();
        }
        self.require(Rule::V5, at == self.tables.paths.len(), "a path is not whole", at)?;
        self.require(
            Rule::V6,
            caches == self.tables.properties.caches,
            "the inline caches are not those of the paths",
            at,
        )?;
        Ok(records)
    }

    #[inline(always)]
    fn root(&self, root: u32, at: usize) -> Result<()> {
        match unpack_root(root) {
            // Each use needs them.
            Root::Slot(_) | Root::Loop(..) => {}
            Root::Global(global) => {
                let known = (global as usize) < self.tables.globals.len();
                self.require(Rule::V5, known, "a root names no input", at)?;
            }
            Root::Callers(name) => self.require(Rule::V5, self.has_string(name), "a root has no name", at)?,
        }
        let form = root >> 28 <= 3 && (root >> 28 != 2 || root & 0xFC == 0);
        self.require(Rule::V5, form, "a root is of no kind", at)
    }

    #[inline(always)]
    fn segments(&self, segments: &[u32], indexes: u32, at: usize) -> Result<()> {
        let mut computed = 0;
        for &[step, _] in segments.as_chunks().0 {
            let good = match unpack_segment(step) {
                Segment::Attr(name) => self.has_string(name),
                Segment::Index(nth) => {
                    computed += 1;
                    nth + 1 == computed && step >> 28 == 1
                }
            };
            self.require(Rule::V5, good, "a step of a path has no name or is of no kind", at)?;
        }
        self.require(Rule::V5, computed == indexes, "a path takes not as many indexes as it has", at)
    }

    fn sites(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.sites);
        let mut at = 0;
        while let Some((&[import, count, gate], rest)) =
            self.tables.sites.get(at..).and_then(<[u32]>::split_first_chunk::<SITE_HEAD>)
        {
            let params = rest.get(..count as usize);
            let import = self.tables.imports.get(import as usize);
            let whole = params.is_some() && count < 1 << 16;
            self.require(Rule::V10, whole && import.is_some(), "a call is not whole or calls nothing", at)?;
            let params = params.unwrap_or(&[]);
            let signature = import.map_or(Signature::OPEN, |import| Signature::of_word(import[2]));
            let strings = || Params::by_name(u32::try_from(self.tables.strings.len()).unwrap_or(0));
            let most = signature.count().unwrap_or_else(strings);
            let known = params.iter().all(|&param| param < most);
            self.require(Rule::V10, known, "an argument is for no parameter", at)?;
            let in_order = Gate::new(params, signature.count(), 0).is_in_order();
            let ordered = Gate::of_word(gate).is_in_order() == in_order;
            self.require(Rule::V10, ordered, "the order of the arguments is not the recorded one", at)?;
            records.add(at);
            at += SITE_HEAD + params.len();
        }
        self.require(Rule::V10, at == self.tables.sites.len(), "a call is not whole", at)?;
        Ok(records)
    }

    fn keys(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.keys);
        let mut at = 0;
        while let Some((&count, rest)) = self.tables.keys.get(at..).and_then(<[u32]>::split_first) {
            let keys = rest.get(..count as usize);
            self.require(Rule::V5, keys.is_some() && count < 1 << 16, "the keys of a map are not whole", at)?;
            let keys = keys.unwrap_or(&[]);
            let named = keys.iter().all(|&key| self.has_string(key));
            self.require(Rule::V5, named, "a key of a map has no name", at)?;
            records.add(at);
            at += 1 + keys.len();
        }
        Ok(records)
    }

    fn scopes(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.scopes);
        let mut at = 1;
        self.require(Rule::V5, self.tables.scopes.first() == Some(&0), "the place of no scope is taken", 0)?;
        while let Some((&[flags, count], rest)) =
            self.tables.scopes.get(at..).and_then(<[u32]>::split_first_chunk::<SCOPE_HEAD>)
        {
            let entries = rest.get(..(count as usize).saturating_mul(2));
            let known = flags & !(Scope::INPUTS | Scope::CALLERS) == 0;
            self.require(Rule::V5, entries.is_some() && known, "a scope is not whole", at)?;
            let entries = entries.unwrap_or(&[]);
            for &[name, root] in entries.as_chunks().0 {
                self.require(Rule::V5, self.has_string(name), "an entry of a scope has no name", at)?;
                self.root(root, at)?;
            }
            records.add(at);
            at += SCOPE_HEAD + entries.len();
        }
        self.require(Rule::V5, at == self.tables.scopes.len(), "a scope is not whole", at)?;
        Ok(records)
    }

    fn failures(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.failures);
        let mut at = 0;
        while let Some((&[code, message, help, count], rest)) =
            self.tables.failures.get(at..).and_then(<[u32]>::split_first_chunk::<FAILURE_HEAD>)
        {
            let names = rest.get(..count.saturating_sub(1) as usize);
            let said = self.has_string(message) && (help == 0 || self.has_string(help - 1));
            let whole = names.is_some() && said && Code::from_number(code).is_some();
            self.require(Rule::V5, whole, "a failure is not whole", at)?;
            let names = names.unwrap_or(&[]);
            let named = names.iter().all(|&name| self.has_string(name));
            self.require(Rule::V5, named, "what there is instead has no name", at)?;
            let lengths = names.iter().filter_map(|&name| self.tables.strings.get(name as usize));
            let bytes: u64 = lengths.map(|&[start, end]| u64::from(end.wrapping_sub(start))).sum();
            let few = bytes <= self.tables.pool.len() as u64;
            self.require(Rule::V15, few, "there is more instead than there are names", at)?;
            records.add(at);
            at += FAILURE_HEAD + names.len();
        }
        self.require(Rule::V5, at == self.tables.failures.len(), "a failure is not whole", at)?;
        Ok(records)
    }
}
