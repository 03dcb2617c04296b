//! A program: one block of words and one string pool, whether it was just compiled or loaded.
//!
//! A program comes into being only through the verifier, so everything that runs it may rely on what
//! [`verify`](super::verify) promises. Nothing is decoded when one is loaded: names, paths, failures and
//! sources are read out of the tables when they are asked for.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::constants::Constants;
use super::header::Dialect;
use super::isa::{Op, Operand, Pops};
use super::rows::{ChunkInfo, Failure, Handler, Import, ImportKind, Region, Signature, Spanned};
use super::sections::{Counts, Layout, Parts, Row, Section, StringRow, Tables};
use super::verify::{self, Maxima, Rules, Texts};
use super::views::{CodeView, FAILURE_HEAD, Path};
use crate::diagnostics::{Code, Result};
use crate::text::{Source, Text};
use crate::value;

/// Text that programs share, or that lies in the binary.
#[derive(Clone)]
pub(crate) enum Pool {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Pool {
    #[inline(always)]
    pub(super) fn text(&self) -> &str {
        match self {
            Pool::Static(text) => text,
            Pool::Shared(text) => text,
        }
    }

    /// A part of the text, not copied.
    fn part(&self, [start, end]: [u32; 2]) -> Text {
        let range = start as usize..end as usize;
        match self {
            Pool::Static(text) => Text::Static(text.get(range).unwrap_or("")),
            Pool::Shared(text) => Text::Shared(text.clone(), range),
        }
    }
}

/// A compiled program, ready to run once its imports are linked. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    id: u64,
    dialect: Dialect,
    counts: Counts,
    start: Start,
    block: Arc<[u32]>,
    layout: Layout,
    pool: Pool,
    sources: OnceLock<Vec<Arc<Source>>>,
    constants: Constants,
}

/// What a run begins with: read out of the tables when the program is made, as single expressions are run, too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// The first chunk.
    pub chunk: ChunkInfo,
    /// How many top-level inputs the program reads.
    pub inputs: usize,
    /// How many values a run has beside those of its frames: the inputs and the answers that are kept.
    pub fixed: usize,
    /// How many read sites have an inline cache.
    pub caches: usize,
}

impl Start {
    fn of(tables: &Tables<'_>) -> Self {
        let chunk = tables.chunks.first().map(ChunkInfo::of).unwrap_or_default();
        let (inputs, Counts { caches, memos }) = (tables.globals.len(), tables.counts);
        Self { chunk, inputs, fixed: inputs + memos as usize, caches: caches as usize }
    }
}

/// An id that no other program of this process has.
fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Program {
    /// The program of tables that were just made, with the sources they name.
    ///
    /// # Errors
    /// [`Code::CorruptProgram`] where the verifier finds fault with the tables.
    pub(crate) fn new(parts: &mut Parts, sources: Vec<Arc<Source>>) -> Result<Program> {
        let mut maxima = Vec::with_capacity(parts.chunks.len());
        verify::verify(&parts.tables(), Texts::Apart, Rules::ALL, Maxima::Measure(&mut maxima))?;
        for (at, measured) in maxima {
            if let Some([.., stack, loops, captures]) = parts.chunks.get_mut(at) {
                [*stack, *loops, *captures] = measured;
            }
        }
        let (block, layout) = parts.tables().block();
        let start = Start::of(&parts.tables());
        let Parts { dialect, counts, pool, .. } = parts;
        let (dialect, counts) = (*dialect, *counts);
        let (block, pool) = (block.into(), Pool::Shared(pool.as_str().into()));
        let sources = OnceLock::from(sources);
        let (id, constants) = (fresh_id(), Constants::default());
        Ok(Self { inner: Arc::new(Inner { id, dialect, counts, start, block, layout, pool, sources, constants }) })
    }

    /// The program whose tables lie in `block`; its sources are made when an error has to be placed.
    ///
    /// # Errors
    /// [`Code::CorruptProgram`] where the verifier finds fault with the tables.
    pub(crate) fn of_block(
        dialect: Dialect,
        counts: Counts,
        (block, layout): (Arc<[u32]>, Layout),
        pool: Pool,
        rules: Rules,
    ) -> Result<Program> {
        let tables = Tables::of(dialect, counts, pool.text(), &block, &layout);
        verify::verify(&tables, Texts::InPool, rules, Maxima::Compare)?;
        let start = Start::of(&tables);
        let (id, sources, constants) = (fresh_id(), OnceLock::new(), Constants::default());
        Ok(Self { inner: Arc::new(Inner { id, dialect, counts, start, block, layout, pool, sources, constants }) })
    }

    /// Unique in this process; what sessions keep for a program is kept under it.
    pub fn id(&self) -> u64 {
        self.inner.id
    }

    /// The language it was compiled from.
    pub fn dialect(&self) -> Dialect {
        self.inner.dialect
    }

    /// The tables as slices.
    #[inline(always)]
    pub(crate) fn tables(&self) -> Tables<'_> {
        let Inner { dialect, counts, block, layout, pool, .. } = &*self.inner;
        Tables::of(*dialect, *counts, pool.text(), block, layout)
    }

    /// What the machine reads at every step, as plain slices: taken once for each render.
    #[inline(always)]
    pub fn code(&self) -> CodeView<'_> {
        CodeView::of(self)
    }

    /// The words of one table.
    #[inline(always)]
    pub(super) fn section(&self, section: Section) -> &[u32] {
        self.inner.layout.section(&self.inner.block, section)
    }

    /// The words from offset `at` of one table on.
    #[inline(always)]
    pub(super) fn behind(&self, section: Section, at: u32) -> &[u32] {
        self.inner.layout.behind(&self.inner.block, section, at as usize)
    }

    /// All text.
    #[inline(always)]
    pub(super) fn pool(&self) -> &str {
        self.inner.pool.text()
    }

    /// The string constants as values.
    pub(super) fn texts(&self) -> &[value::Text<'_>] {
        let (strings, keys) = (Row::rows(self.section(Section::Strings)), self.section(Section::Keys));
        self.inner.constants.texts(&self.inner.pool, strings, keys)
    }

    /// The shapes of the maps that the program makes, by the offsets of their keys.
    pub(super) fn shapes(&self) -> &[Option<value::Shape<'_>>] {
        let (strings, keys) = (Row::rows(self.section(Section::Strings)), self.section(Section::Keys));
        self.inner.constants.shapes(&self.inner.pool, strings, keys)
    }

    /// What a run begins with.
    #[inline(always)]
    pub(crate) fn start(&self) -> &Start {
        &self.inner.start
    }

    /// The code; the chunk with index 0 is where a render begins.
    pub fn words(&self) -> &[u32] {
        self.tables().words
    }

    /// The chunks.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ChunkInfo> {
        self.tables().chunks.iter().map(ChunkInfo::of)
    }

    /// The functions the program calls.
    pub fn imports(&self) -> impl ExactSizeIterator<Item = Import<'_>> {
        let tables = self.tables();
        tables.imports.iter().map(move |&[kind, name, signature]| Import {
            kind: *ImportKind::ALL.get(kind as usize).unwrap_or(&ImportKind::Function),
            name: string(tables.strings, tables.pool, name),
            signature: Signature::of_word(signature),
        })
    }

    /// The sources it was compiled from, the entry template first. Of a stripped program only the names are
    /// left.
    pub fn sources(&self) -> &[Arc<Source>] {
        self.inner.sources.get_or_init(|| {
            let Tables { sources, strings, .. } = self.tables();
            let source = |&[name, start, end]: &[u32; 3]| {
                let name = strings.get(name as usize).copied().unwrap_or_default();
                Source::new(self.inner.pool.part(name), self.inner.pool.part([start, end]))
            };
            sources.iter().map(source).collect()
        })
    }

    /// The name of the entry template.
    pub fn name(&self) -> &str {
        self.tables().sources.first().map_or("", |&[name, ..]| self.str(name))
    }

    /// The top-level inputs the program may read, sorted.
    pub fn inputs(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.tables().globals.iter().map(|&name| self.str(name)).collect();
        names.sort_unstable();
        names
    }

    /// The string with index `id`; the empty string where there is none.
    pub fn str(&self, id: u32) -> &str {
        let tables = self.tables();
        string(tables.strings, tables.pool, id)
    }

    /// The failure at offset `at`.
    pub fn failure(&self, at: u32) -> Option<Failure> {
        let words = self.tables().failures.get(at as usize..)?;
        let ([code, message, help, count], rest) = words.split_first_chunk::<FAILURE_HEAD>()?;
        let available = count.checked_sub(1).map(|count| rest.get(..count as usize).unwrap_or(&[]));
        let names = |ids: &[u32]| ids.iter().map(|&id| self.str(id).to_owned()).collect();
        Some(Failure {
            code: Code::from_number(*code)?,
            message: self.str(*message).to_owned(),
            available: available.map(names),
            help: help.checked_sub(1).map(|help| self.str(help).to_owned()),
        })
    }

    /// Where the instruction at word `at` comes from.
    pub fn place(&self, at: u32) -> Option<Spanned> {
        let spans = self.tables().spans;
        let behind = spans.partition_point(|row| row[0] <= at);
        let [_, source, start, end] = *spans.get(behind.checked_sub(1)?)?;
        Some(Spanned::of(source, start, end))
    }

    /// Where a part of the instruction at word `at` comes from: an operand, an argument, a step of a path.
    pub fn detail(&self, at: u32, part: u32) -> Option<Spanned> {
        let place = self.place(at)?;
        let details = self.tables().details;
        if let Ok(row) = details.binary_search_by_key(&(at, part), |&[word, part, ..]| (word, part)) {
            let [_, _, start, end] = *details.get(row)?;
            return Some(Spanned::of(place.source, start, end));
        }
        let (start, len) = self.path_read_at(at)?.segment_span(part as usize)?;
        let start = place.span.start.saturating_add(start);
        Some(Spanned::of(place.source, start, start.saturating_add(len)))
    }

    /// Where the name comes from that the path begins with that the instruction at word `at` reads.
    pub fn root(&self, at: u32) -> Option<Spanned> {
        let (place, path) = (self.place(at)?, self.path_read_at(at)?);
        let name = self.str(path.name);
        let len = name.find(['.', '[', ' ', '\t', '\n', '\r']).unwrap_or(name.len());
        let end = place.span.start.saturating_add(u32::try_from(len).unwrap_or(0));
        Some(Spanned::of(place.source, place.span.start, end.min(place.span.end)))
    }

    fn path_read_at(&self, at: u32) -> Option<Path<'_>> {
        let word = self.words().get(at as usize).copied()?;
        let reads = matches!(Op::of(word).info().operands.first(), Some(Operand::Path));
        reads.then(|| self.code().path(word >> 8))
    }

    /// The source of a place.
    pub fn source(&self, place: Spanned) -> Option<&Arc<Source>> {
        self.sources().get(place.source as usize)
    }

    /// The calls in whose place the code at word `at` stands, innermost first.
    pub fn inlined_at(&self, at: u32) -> Vec<Spanned> {
        let covering = self.tables().inlined.iter().filter(|[from, to, ..]| (*from..*to).contains(&at));
        let mut covering: Vec<_> = covering.collect();
        covering.sort_by_key(|[from, to, ..]| to - from);
        covering.into_iter().map(|&[_, _, source, start, end]| Spanned::of(source, start, end)).collect()
    }

    /// What the code at word `at` is about, the outermost first.
    pub fn regions_at(&self, at: u32) -> Vec<Region> {
        let covering = self.tables().regions.iter().filter(|[from, to, ..]| (*from..*to).contains(&at));
        // By where they end; of two that end together the inner one comes first.
        covering.rev().map(|&row| Region::of(row)).collect()
    }

    /// The innermost handler of an error at word `at`.
    pub fn handler(&self, at: u32) -> Option<Handler> {
        let covering = self.handlers().filter(|handler| (handler.from..handler.to).contains(&at));
        covering.max_by_key(|handler| handler.from)
    }

    pub(crate) fn handlers(&self) -> impl Iterator<Item = Handler> {
        self.tables().handlers.iter().map(|&row| Handler::of(row))
    }

    /// How many values the instruction at word `at` takes off the stack.
    pub fn pops(&self, at: usize) -> u32 {
        let code = self.code();
        let word = code.words.get(at).copied().unwrap_or(0);
        let operand = word >> 8;
        match Op::of(word).info().pops {
            Pops::Fixed(n) => n.into(),
            Pops::Count => operand,
            Pops::PathIndexes => code.path(operand).indexes,
            Pops::Arguments => u32::try_from(code.call_site(operand).params.len()).unwrap_or(u32::MAX),
            Pops::Keys => u32::try_from(code.keys(operand).len()).unwrap_or(u32::MAX),
            Pops::Parameters => code.chunk(operand).map_or(0, |chunk| chunk.params),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words().len();
        f.debug_struct("Program").field("name", &self.name()).field("words", &words).finish_non_exhaustive()
    }
}

/// The string with index `id`; the empty string where there is none.
#[inline(always)]
pub(super) fn string<'p>(strings: &[StringRow], pool: &'p str, id: u32) -> &'p str {
    let [start, end] = strings.get(id as usize).copied().unwrap_or([0, 0]);
    pool.get(start as usize..end as usize).unwrap_or("")
}
