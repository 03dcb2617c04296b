//! Programs: one block of words and one string pool, compiled in this process or loaded from an artifact.
//!
//! Every program has passed the verifier, so the machine relies on the guarantees of [`verify`](super::verify). Loading
//! decodes nothing: names, paths, failures and sources are read from the tables on demand.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::header::Dialect;
use super::pool::{Constants, Pool, string};
use super::records::{FAILURE_HEAD, Failure};
use super::rows::{ChunkInfo, Handler, HandlerRow, Import, ImportKind, Signature};
use super::sections::{Layout, NameRow, Parts, Properties, Row, Section, Tables};
use super::verify::{self, Maxima, Rules};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Source;
use dropforge_value::{Shape, Text};

/// A compiled program, ready to run once its imports are linked. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    id: u64,
    dialect: Dialect,
    properties: Properties,
    start: Start,
    block: Arc<[u32]>,
    layout: Layout,
    pool: Pool,
    /// A residual in an artifact shares those of its original.
    sources: Arc<OnceLock<Vec<Arc<Source>>>>,
    /// The folder of the sources, unless the program was compiled here: then the sources know it.
    folder: OnceLock<Arc<str>>,
    constants: Constants,
}

/// Facts needed at the start of every run. They are read from the tables once, which matters for single expressions.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// The first chunk.
    pub chunk: ChunkInfo,
    /// The chunk whose frame and code a run pays for: the first one, or that of the original of a residual program.
    pub paid: ChunkInfo,
    /// The number of top-level inputs that the program reads.
    pub inputs: usize,
    /// The number of values outside frames: inputs and memos.
    pub fixed: usize,
    /// The number of inline caches.
    pub caches: usize,
    /// `true` if a presence test finds nothing in a value without members.
    pub lenient: bool,
    /// `true` if runs may change maps.
    pub mutable: bool,
}

impl Start {
    fn of(tables: &Tables<'_>) -> Self {
        let chunk = tables.chunks.first().map(ChunkInfo::of).unwrap_or_default();
        let (inputs, Properties { caches, memos, lenient, mutable }) = (tables.globals.len(), tables.properties);
        let (fixed, caches) = (inputs + memos as usize, caches as usize);
        Self { chunk, paid: chunk, inputs, fixed, caches, lenient, mutable }
    }
}

/// Returns an id that no other program in this process has.
fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Program {
    /// Verifies freshly compiled tables and completes them with the heights that the verifier measures.
    ///
    /// # Errors
    /// [`Code::CorruptProgram`] if the verifier rejects the tables.
    pub fn new(parts: &mut Parts, sources: Vec<Arc<Source>>) -> Result<Program> {
        let mut maxima = Vec::with_capacity(parts.chunks.len());
        verify::verify(&parts.tables(), false, Rules::ALL, Maxima::Measure(&mut maxima))?;
        for (at, measured) in maxima {
            if let Some([.., stack, loops, captures]) = parts.chunks.get_mut(at) {
                [*stack, *loops, *captures] = measured;
            }
        }
        let (block, layout) = parts.tables().block();
        let mut pool = std::mem::take(&mut parts.pool);
        pool.shrink_to_fit();
        let pool = Pool::Shared(pool.into());
        Ok(Self::verified(parts.dialect, parts.properties, (block.into(), layout), pool, sources.into()))
    }

    /// Verifies the tables of `of` specialised to some of its inputs. Runs do not pay for more code than those of `of`.
    ///
    /// # Errors
    /// [`Code::CorruptProgram`] if the verifier rejects the tables.
    pub fn residual(parts: &mut Parts, sources: Vec<Arc<Source>>, of: &Program) -> Result<Program> {
        Ok(Self::new(parts, sources)?.paid_as(of))
    }

    fn paid_as(mut self, of: &Program) -> Self {
        let own = self.start().chunk;
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            let ChunkInfo { entry, end, slots, stack, .. } = of.start().paid;
            let words = (end - entry).min(own.end - own.entry);
            inner.start.paid = ChunkInfo { entry: 0, end: words, slots, stack, ..own };
        }
        self
    }

    /// Verifies the tables in `block`. Their sources are read only when an error needs a position.
    ///
    /// # Errors
    /// [`Code::CorruptProgram`] if the verifier rejects the tables.
    pub fn of_block(
        dialect: Dialect,
        properties: Properties,
        (block, layout): (Arc<[u32]>, Layout),
        pool: Pool,
        rules: Rules,
    ) -> Result<Program> {
        let tables = Tables::of(dialect, properties, pool.text(), &block, &layout);
        verify::verify(&tables, true, rules, Maxima::Compare)?;
        Ok(Self::verified(dialect, properties, (block, layout), pool, OnceLock::new()))
    }

    /// Makes a program of an artifact the residual of another one in it. Runs do not pay for more code than those of `of`.
    pub(super) fn into_residual(mut self, of: &Program) -> Self {
        let names = |program: &Program| {
            let rows = program.tables().sources.iter();
            rows.map(|&[name, start, end]| (program.str(name).to_owned(), start, end)).collect::<Vec<_>>()
        };
        if names(&self) == names(of)
            && let Some(inner) = Arc::get_mut(&mut self.inner)
        {
            inner.sources = of.inner.sources.clone();
        }
        self.paid_as(of)
    }

    fn verified(
        dialect: Dialect,
        properties: Properties,
        (block, layout): (Arc<[u32]>, Layout),
        pool: Pool,
        sources: OnceLock<Vec<Arc<Source>>>,
    ) -> Self {
        let start = Start::of(&Tables::of(dialect, properties, pool.text(), &block, &layout));
        let (id, folder, constants) = (fresh_id(), OnceLock::new(), Constants::default());
        Self {
            inner: Arc::new(Inner {
                id,
                dialect,
                properties,
                start,
                block,
                layout,
                pool,
                sources: Arc::new(sources),
                folder,
                constants,
            }),
        }
    }

    /// Sets the folder of the sources, for diagnostics. Takes effect before the first call of [`sources`](Self::sources).
    pub fn set_folder(&self, folder: Arc<str>) {
        // The first call wins: a program has one folder.
        let _ = self.inner.folder.set(folder);
    }

    /// Returns the key of session state for the program, unique in this process.
    pub fn id(&self) -> u64 {
        self.inner.id
    }

    /// Returns the language it was compiled from.
    pub fn dialect(&self) -> Dialect {
        self.inner.dialect
    }

    /// Returns the tables as slices.
    #[inline(always)]
    pub fn tables(&self) -> Tables<'_> {
        let Inner { dialect, properties, block, layout, pool, .. } = &*self.inner;
        Tables::of(*dialect, *properties, pool.text(), block, layout)
    }

    /// Returns the words of one table.
    #[inline(always)]
    pub(super) fn section(&self, section: Section) -> &[u32] {
        self.inner.layout.section(&self.inner.block, section)
    }

    /// Returns the words of one table from offset `at` on, and those of the following tables.
    #[inline(always)]
    pub(super) fn behind(&self, section: Section, at: u32) -> &[u32] {
        self.inner.layout.behind(&self.inner.block, section, at as usize)
    }

    /// All text.
    #[inline(always)]
    pub(super) fn pool(&self) -> &str {
        self.inner.pool.text()
    }

    /// Returns the string constants as values if a run has needed them, or none.
    #[inline(always)]
    pub(super) fn known_texts(&self) -> &[Text<'_>] {
        self.inner.constants.known_texts()
    }

    /// Returns the string constants as values.
    pub(super) fn texts(&self) -> &[Text<'_>] {
        let (strings, keys) = (Row::rows(self.section(Section::Strings)), self.section(Section::Keys));
        self.inner.constants.texts(&self.inner.pool, strings, keys)
    }

    /// Returns the shapes of the maps that the program builds, by the offsets of their keys.
    pub(super) fn shapes(&self) -> &[Option<Shape<'_>>] {
        let (strings, keys) = (Row::rows(self.section(Section::Strings)), self.section(Section::Keys));
        self.inner.constants.shapes(&self.inner.pool, strings, keys)
    }

    /// Facts needed at the start of every run.
    #[inline(always)]
    pub fn start(&self) -> &Start {
        &self.inner.start
    }

    /// Returns the memory that the program takes, in bytes: its tables, its text, and what runs and errors add to them.
    pub fn memory(&self) -> usize {
        let constants = self.tables().strings.len() * size_of::<Text<'_>>();
        let sources: usize = self.sources().iter().map(|source| source.text().len()).sum();
        size_of::<Inner>() + self.bytes() + constants + sources
    }

    /// Returns the size of a compiled program: of its tables and its text.
    pub fn bytes(&self) -> usize {
        self.inner.layout.range().len() * size_of::<u32>() + self.inner.pool.text().len()
    }

    /// Returns the bytes of its string constants.
    pub fn text_bytes(&self) -> usize {
        self.tables().strings.iter().map(|[start, end]| (end - start) as usize).sum()
    }

    /// Returns the code. A render starts with the chunk with index 0.
    pub fn words(&self) -> &[u32] {
        self.section(Section::Words)
    }

    /// Returns the chunks.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ChunkInfo> {
        self.tables().chunks.iter().map(ChunkInfo::of)
    }

    /// Returns the chunk that can be called as `name`.
    pub(crate) fn named_chunk(&self, name: &str) -> Option<u32> {
        let rows: &[NameRow] = Row::rows(self.section(Section::Names));
        let at = rows.binary_search_by(|&[id, _]| self.str(id).cmp(name)).ok()?;
        rows.get(at).map(|&[_, chunk]| chunk)
    }

    /// Returns the names by which chunks can be called, sorted, each with the index of its chunk.
    pub(crate) fn named_chunks(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        let Tables { names, strings, pool, .. } = self.tables();
        names.iter().map(move |&[name, chunk]| (string(strings, pool, name), chunk))
    }

    /// Returns the functions that the program calls.
    pub fn imports(&self) -> impl ExactSizeIterator<Item = Import<'_>> {
        let tables = self.tables();
        tables.imports.iter().map(move |&[kind, name, signature]| Import {
            kind: *ImportKind::ALL.get(kind as usize).unwrap_or(&ImportKind::Function),
            name: string(tables.strings, tables.pool, name),
            signature: Signature::of_word(signature),
        })
    }

    /// Returns the sources it was compiled from, the entry template first. A stripped program has only their names.
    pub fn sources(&self) -> &[Arc<Source>] {
        self.inner.sources.get_or_init(|| {
            let Tables { sources, strings, .. } = self.tables();
            let source = |&[name, start, end]: &[u32; 3]| {
                let name = strings.get(name as usize).copied().unwrap_or_default();
                let (name, text) = (self.inner.pool.part(name), self.inner.pool.part([start, end]));
                Source::below(self.inner.folder.get().cloned(), name, text)
            };
            sources.iter().map(source).collect()
        })
    }

    /// Returns the name of the entry template.
    pub fn name(&self) -> &str {
        self.tables().sources.first().map_or("", |&[name, ..]| self.str(name))
    }

    /// Returns the top-level inputs that the program may read, sorted: also those that it reads only if a variable of
    /// their name has no value.
    pub fn inputs(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.tables().globals.iter().map(|&name| self.str(name)).collect();
        names.sort_unstable();
        names
    }

    /// Returns the string with index `id`, or the empty string.
    pub fn str(&self, id: u32) -> &str {
        string(Row::rows(self.section(Section::Strings)), self.pool(), id)
    }

    /// Returns the failure at offset `at`.
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

    /// Returns the innermost handler of an error at word `at`.
    pub fn handler(&self, at: u32) -> Option<Handler> {
        let rows: &[HandlerRow] = Row::rows(self.section(Section::Handlers));
        let begun = rows.partition_point(|&row| Handler::of(row).from <= at);
        rows.get(..begun)?.iter().rev().map(|&row| Handler::of(row)).find(|handler| at < handler.to)
    }

    /// Returns the handlers of errors.
    pub fn handlers(&self) -> impl Iterator<Item = Handler> {
        self.tables().handlers.iter().map(|&row| Handler::of(row))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words().len();
        f.debug_struct("Program").field("name", &self.name()).field("words", &words).finish_non_exhaustive()
    }
}
