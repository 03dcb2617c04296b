//! A program: code words, one string pool, and flat tables beside them.
//!
//! Paths, call sites and scopes are runs of words in one side table (`extra`), so that an artifact can hold
//! them as they are; [`Path`], [`CallSite`] and [`Scope`] are views into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::header::Dialect;
use super::isa::{LoopField, Op};
use crate::diagnostics::Code;
use crate::text::{Source, Span};

/// What a call site asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImportKind {
    /// A function called by name.
    Function,
    /// A filter applied to a value, its first argument.
    Filter,
    /// A test of a value, its first argument.
    Test,
}

impl ImportKind {
    /// The word for it in messages.
    pub fn name(self) -> &'static str {
        match self {
            ImportKind::Function => "function",
            ImportKind::Filter => "filter",
            ImportKind::Test => "test",
        }
    }
}

/// A function the program calls, linked by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Import {
    /// Function, filter or test.
    pub kind: ImportKind,
    /// Its name.
    pub name: String,
}

/// A number constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i64),
    /// A float.
    Float(f64),
}

/// A run of code with slots of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Index of its name among the strings.
    pub name: u32,
    /// Index of its first word.
    pub entry: u32,
    /// Index behind its last word.
    pub end: u32,
    /// How many slots a frame of it has; the parameters are the first of them.
    pub slots: u32,
    /// How many parameters it takes.
    pub params: u32,
    /// How many values its part of the stack holds at most.
    pub stack: u32,
}

/// From `at` on, code comes from this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanRun {
    /// Index of the first word.
    pub at: u32,
    /// The place.
    pub place: Spanned,
}

/// A span in one of the program's sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spanned {
    /// Index of the source.
    pub source: u32,
    /// The span in it.
    pub span: Span,
}

/// Code that was put in the place of a call; errors in it name the place too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineRange {
    /// Index of the first word.
    pub from: u32,
    /// Index behind the last word.
    pub to: u32,
    /// Where it was called.
    pub place: Spanned,
}

/// An error in `from..to` is absorbed: the stacks are cut to these heights, undefined is pushed, and the code
/// goes on at `target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// Index of the first word.
    pub from: u32,
    /// Index behind the last word.
    pub to: u32,
    /// Where the code goes on.
    pub target: u32,
    /// Height of the frame's part of the stack.
    pub height: u32,
    /// Open loops of the frame.
    pub iters: u32,
    /// Open captures of the frame.
    pub captures: u32,
}

/// An error known when the program was compiled that is raised only if the code gets there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// The message.
    pub message: String,
    /// What there is instead.
    pub available: Option<Vec<String>>,
    /// The likely fix.
    pub help: Option<String>,
}

/// A compiled program, ready to run once its imports are linked.
#[derive(Debug, Clone)]
pub struct Program {
    /// Unique in this process; what sessions keep for a program is kept under it.
    pub(crate) id: u64,
    pub(crate) dialect: Dialect,
    pub(crate) words: Vec<u32>,
    pub(crate) extra: Vec<u32>,
    pub(crate) pool: String,
    pub(crate) strings: Vec<(u32, u32)>,
    pub(crate) numbers: Vec<Number>,
    pub(crate) chunks: Vec<ChunkInfo>,
    /// String ids of the top-level inputs the program reads.
    pub(crate) globals: Vec<u32>,
    pub(crate) imports: Vec<Import>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) spans: Vec<SpanRun>,
    pub(crate) inlined: Vec<InlineRange>,
    pub(crate) sources: Vec<Arc<Source>>,
    /// How many read sites have an inline cache.
    pub(crate) caches: u32,
    /// How many answers are kept for a whole render.
    pub(crate) memos: u32,
}

/// An id that no other program of this process has.
pub(crate) fn fresh_program_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Program {
    /// The language it was compiled from.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The code; the chunk with index 0 is where a render begins.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The chunks.
    pub fn chunks(&self) -> &[ChunkInfo] {
        &self.chunks
    }

    /// The functions the program calls.
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    /// The sources it was compiled from, the entry template first.
    pub fn sources(&self) -> &[Arc<Source>] {
        &self.sources
    }

    /// The top-level inputs the program may read, sorted.
    pub fn inputs(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.globals.iter().map(|&name| self.str(name)).collect();
        names.sort_unstable();
        names
    }

    /// The string with index `id`; the empty string where there is none.
    #[inline]
    pub fn str(&self, id: u32) -> &str {
        let (start, end) = self.strings.get(id as usize).copied().unwrap_or((0, 0));
        self.pool.get(start as usize..end as usize).unwrap_or("")
    }

    /// The failure with index `id`.
    pub fn failure(&self, id: u32) -> Option<&Failure> {
        self.failures.get(id as usize)
    }

    /// The words of the side table from `at` on.
    #[inline]
    fn extra(&self, at: u32) -> &[u32] {
        self.extra.get(at as usize..).unwrap_or(&[])
    }

    /// The path at offset `at` of the side table.
    #[inline]
    pub fn path(&self, at: u32) -> Path<'_> {
        Path::at(self.extra(at)).unwrap_or_default()
    }

    /// The call site at offset `at` of the side table.
    #[inline]
    pub fn call_site(&self, at: u32) -> CallSite<'_> {
        let [import, count, rest @ ..] = self.extra(at) else { return CallSite::default() };
        CallSite { import: *import, params: rest.get(..*count as usize).unwrap_or(&[]) }
    }

    /// The scope at offset `at` of the side table.
    pub fn scope(&self, at: u32) -> Scope<'_> {
        let [flags, count, rest @ ..] = self.extra(at) else { return Scope::default() };
        Scope { flags: *flags, entries: rest.get(..*count as usize * 2).unwrap_or(&[]) }
    }

    /// Where the instruction at word `at` comes from.
    pub fn place(&self, at: u32) -> Option<Spanned> {
        let behind = self.spans.partition_point(|run| run.at <= at);
        Some(self.spans.get(behind.checked_sub(1)?)?.place)
    }

    /// The source of a place.
    pub fn source(&self, place: Spanned) -> Option<&Arc<Source>> {
        self.sources.get(place.source as usize)
    }

    /// The calls in whose place the code at word `at` stands, innermost first.
    pub fn inlined_at(&self, at: u32) -> Vec<Spanned> {
        let covering = self.inlined.iter().filter(|range| (range.from..range.to).contains(&at));
        let mut covering: Vec<_> = covering.collect();
        covering.sort_by_key(|range| range.to - range.from);
        covering.into_iter().map(|range| range.place).collect()
    }

    /// The innermost handler of an error at word `at`.
    pub fn handler(&self, at: u32) -> Option<&Handler> {
        let covering = self.handlers.iter().filter(|handler| (handler.from..handler.to).contains(&at));
        covering.min_by_key(|handler| handler.to - handler.from)
    }

    /// How many values the instruction at word `at` takes off the stack.
    pub fn pops(&self, at: usize) -> u32 {
        let word = self.words.get(at).copied().unwrap_or(0);
        let operand = word >> 8;
        match Op::of(word).info().pops {
            super::Pops::Fixed(n) => n.into(),
            super::Pops::Count => operand,
            super::Pops::PathIndexes => self.path(operand).indexes,
            super::Pops::Arguments => u32::try_from(self.call_site(operand).params.len()).unwrap_or(u32::MAX),
            super::Pops::Parameters => self.chunks.get(operand as usize).map_or(0, |chunk| chunk.params),
        }
    }
}

/// Where a path begins. The roots of a path are tried in order until one has the whole path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// A slot of the frame, where it is set.
    Slot(u32),
    /// A top-level input, by its index among the program's globals.
    Global(u32),
    /// A fact about a loop of the frame, 0 the innermost.
    Loop(u32, LoopField),
    /// A name among the callers' scopes, by its string id.
    Callers(u32),
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// An attribute, by its string id.
    Attr(u32),
    /// The value computed for this index, 0 the first.
    Index(u32),
}

/// A root as a word of the side table.
pub(crate) fn pack_root(root: Root) -> u32 {
    match root {
        Root::Slot(slot) => slot,
        Root::Global(global) => 1 << 28 | global,
        Root::Loop(level, field) => 2 << 28 | level << 8 | field as u32,
        Root::Callers(name) => 3 << 28 | name,
    }
}

#[inline(always)]
fn unpack_root(word: u32) -> Root {
    let payload = word & 0x0FFF_FFFF;
    match word >> 28 {
        0 => Root::Slot(payload),
        1 => Root::Global(payload),
        2 => Root::Loop(payload >> 8, LoopField::ALL[(payload & 3) as usize]),
        _ => Root::Callers(payload),
    }
}

/// The first word of a path: what the common case of reading it needs. Without this mark, there is none.
pub(crate) const QUICK: u32 = 1 << 31;
/// The root is an input, not a slot.
pub(crate) const QUICK_GLOBAL: u32 = 1 << 30;
/// How far to the right the number of steps stands.
pub(crate) const QUICK_STEPS: u32 = 24;
/// The most steps.
pub(crate) const QUICK_MOST: u32 = 0x3F;
/// The root's index.
pub(crate) const QUICK_ROOT: u32 = 0x00FF_FFFF;

/// The words of a path that stand before its roots and steps.
pub(crate) fn pack_path(name: u32, cache: u32, roots: &[Root], steps: usize, indexes: usize) -> [u32; PATH_HEAD] {
    let narrow = |n: usize, most: u32| u32::try_from(n).unwrap_or(most).min(most);
    let shape = narrow(indexes, 0xFF) << 24 | narrow(steps, 0xFFFF) << 8 | narrow(roots.len(), 0xFF);
    let root = match roots.first() {
        Some(Root::Slot(slot)) => Some((*slot, 0)),
        Some(Root::Global(global)) => Some((*global, QUICK_GLOBAL)),
        _ => None,
    };
    let root = root.filter(|(index, _)| indexes == 0 && steps <= QUICK_MOST as usize && *index <= QUICK_ROOT);
    let quick = root.map_or(0, |(index, global)| QUICK | global | narrow(steps, QUICK_MOST) << QUICK_STEPS | index);
    [quick, cache, name, shape]
}

/// How many words stand before a path's roots and steps.
const PATH_HEAD: usize = 4;

/// A segment as words of the side table: the step, its span within the path's.
pub(crate) fn pack_segment(segment: Segment, span: (u16, u16)) -> [u32; 2] {
    let step = match segment {
        Segment::Attr(name) => name,
        Segment::Index(at) => 1 << 28 | at,
    };
    [step, u32::from(span.0) << 16 | u32::from(span.1)]
}

/// A view of a path: roots to try, then steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path<'p> {
    /// String id of the path as it is written.
    pub name: u32,
    /// How many computed indexes it takes off the stack.
    pub indexes: u32,
    /// Index of the first step's inline cache; the others follow it.
    pub cache: u32,
    roots: &'p [u32],
    segments: &'p [u32],
}

impl<'p> Path<'p> {
    /// The path at the front of `words`.
    pub(crate) fn at(words: &'p [u32]) -> Option<Path<'p>> {
        let ([_, cache, name, shape], rest) = words.split_first_chunk::<PATH_HEAD>()?;
        let (roots, segments) = ((shape & 0xFF) as usize, (shape >> 8 & 0xFFFF) as usize);
        let (roots, rest) = rest.split_at_checked(roots)?;
        Some(Path { name: *name, indexes: shape >> 24, cache: *cache, roots, segments: rest.get(..segments * 2)? })
    }

    /// The roots in the order in which they are tried.
    #[inline(always)]
    pub fn roots(&self) -> impl ExactSizeIterator<Item = Root> + use<'p> {
        self.roots.iter().map(|&word| unpack_root(word))
    }

    /// How many steps follow the root.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.segments.len() / 2
    }

    /// How many words of the side table it takes.
    pub(crate) fn words(&self) -> usize {
        PATH_HEAD + self.roots.len() + self.segments.len()
    }

    /// Whether the path is a root alone.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The steps, each with the index of its inline cache.
    #[inline(always)]
    pub fn segments(&self) -> impl Iterator<Item = (Segment, u32)> + use<'p> {
        let cache = self.cache;
        self.segments.chunks_exact(2).zip(cache..).map(|(words, cache)| {
            let payload = words[0] & 0x0FFF_FFFF;
            let segment = if words[0] >> 28 == 0 { Segment::Attr(payload) } else { Segment::Index(payload) };
            (segment, cache)
        })
    }

    /// The span of step `at`, relative to the start of the path's own: start and length.
    pub fn segment_span(&self, at: usize) -> Option<(u32, u32)> {
        self.segments.get(at * 2 + 1).map(|word| (word >> 16, word & 0xFFFF))
    }
}

/// A view of a call site: the import, and for each argument the parameter it is for.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallSite<'p> {
    /// Index of the import.
    pub import: u32,
    /// For each argument, in the order of evaluation, the index of its parameter; a parameter of a function
    /// that takes any names is given as the string id of its name.
    pub params: &'p [u32],
}

/// A view of a scope: what is visible at a place, the entry that wins first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'p> {
    flags: u32,
    entries: &'p [u32],
}

impl<'p> Scope<'p> {
    /// The inputs are visible beneath the entries.
    pub const INPUTS: u32 = 1;
    /// The callers' scopes are visible beneath the entries.
    pub const CALLERS: u32 = 2;

    /// Whether the inputs are visible.
    pub fn sees_inputs(&self) -> bool {
        self.flags & Self::INPUTS != 0
    }

    /// Whether the callers' scopes are visible.
    pub fn sees_callers(&self) -> bool {
        self.flags & Self::CALLERS != 0
    }

    /// Name (string id) and root of each entry.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Root)> + use<'p> {
        self.entries.chunks_exact(2).map(|pair| (pair[0], unpack_root(pair[1])))
    }
}
