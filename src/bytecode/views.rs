//! A program's tables as the machine sees them, and records of variable length (paths, call sites, scopes, failures)
//! as readers see them.
//!
//! A record is a run of words at an offset of its own table. Each says how long it is in its first words, so a
//! table can be walked from its start and an offset is good when the walk comes by it.

use super::program::{Program, string};
use super::rows::{ChunkInfo, Number, NumberRow, Root, Segment, unpack_root, unpack_segment};
use super::sections::{Row, Section};
use crate::value;

/// What the machine reads at every step. Rows are arrays of words; [`ChunkInfo`], [`Number`] and the views
/// read them. What is read less often is reached through the program, to which it dereferences: taking a slice costs
/// something in each render, and single expressions are run, too.
#[derive(Debug, Clone, Copy)]
pub struct CodeView<'p> {
    /// The code.
    pub words: &'p [u32],
    /// Records of paths.
    pub paths: &'p [u32],
    /// Strings as ranges of the pool: first byte, byte behind the last.
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

impl<'p> CodeView<'p> {
    #[inline(always)]
    pub(super) fn of(program: &'p Program) -> Self {
        Self {
            words: program.section(Section::Words),
            paths: program.section(Section::Paths),
            strings: Row::rows(program.section(Section::Strings)),
            pool: program.pool(),
            program,
        }
    }

    /// The rows of a table that is read too seldom to be taken for each render.
    #[inline(always)]
    fn rows<R: Row>(&self, section: Section) -> &'p [R] {
        R::rows(self.program.section(section))
    }

    /// The string with index `id`; the empty string where there is none.
    #[inline]
    pub fn str(&self, id: u32) -> &'p str {
        string(self.strings, self.pool, id)
    }

    /// String ids of the top-level inputs.
    #[inline]
    pub fn globals(&self) -> &'p [u32] {
        self.rows(Section::Globals)
    }

    /// The number with index `id`.
    #[inline]
    pub fn number(&self, id: u32) -> Option<Number> {
        self.rows::<NumberRow>(Section::Numbers).get(id as usize).map(|&row| Number::of(row))
    }

    /// The chunk with index `id`.
    #[inline]
    pub fn chunk(&self, id: u32) -> Option<ChunkInfo> {
        self.rows(Section::Chunks).get(id as usize).map(ChunkInfo::of)
    }

    /// The path at offset `at`.
    #[inline]
    pub fn path(&self, at: u32) -> Path<'p> {
        self.paths.get(at as usize..).and_then(Path::at).unwrap_or_default()
    }

    /// The call site at offset `at`.
    #[inline]
    pub fn call_site(&self, at: u32) -> CallSite<'p> {
        CallSite::of(self.program.behind(Section::Sites, at))
    }

    /// The string ids of the keys at offset `at`.
    #[inline]
    pub fn keys(&self, at: u32) -> &'p [u32] {
        match self.program.behind(Section::Keys, at) {
            [count, rest @ ..] => rest.get(..*count as usize).unwrap_or(&[]),
            [] => &[],
        }
    }

    /// The string constants as values.
    pub(crate) fn texts(&self) -> &'p [value::Text<'p>] {
        self.program.texts()
    }

    /// The shapes of the maps that the program makes, by the offsets of their keys.
    pub(crate) fn shapes(&self) -> &'p [Option<value::Shape<'p>>] {
        self.program.shapes()
    }

    /// The scope at offset `at`; at 0 there is none, and nothing is seen.
    pub fn scope(&self, at: u32) -> Scope<'p> {
        if at == 0 { Scope::default() } else { Scope::of(self.program.behind(Section::Scopes, at)) }
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

/// Words of a path before its roots: the common case, cache, name, shape.
pub(super) const PATH_HEAD: usize = 4;

/// The words of a path that stand before its roots and steps.
pub(crate) fn pack_path(name: u32, cache: u32, roots: &[Root], steps: usize, indexes: usize) -> [u32; PATH_HEAD] {
    let narrow = |n: usize, most: u32| u32::try_from(n).unwrap_or(most).min(most);
    let shape = narrow(indexes, 0xFF) << 24 | narrow(steps, 0xFFFF) << 8 | narrow(roots.len(), 0xFF);
    [quick(roots.first().copied(), steps, indexes), cache, name, shape]
}

/// The common case of a path that begins with `root`.
pub(super) fn quick(root: Option<Root>, steps: usize, indexes: usize) -> u32 {
    let (index, global) = match root {
        Some(Root::Slot(slot)) => (slot, 0),
        Some(Root::Global(global)) => (global, QUICK_GLOBAL),
        _ => return 0,
    };
    match u32::try_from(steps) {
        Ok(steps) if indexes == 0 && steps <= QUICK_MOST && index <= QUICK_ROOT => {
            QUICK | global | steps << QUICK_STEPS | index
        }
        _ => 0,
    }
}

/// How many computed indexes, roots and steps the shape of a path says there are.
#[inline(always)]
pub(super) fn path_counts(shape: u32) -> (u32, usize, usize) {
    (shape >> 24, (shape & 0xFF) as usize, (shape >> 8 & 0xFFFF) as usize)
}

impl<'p> Path<'p> {
    /// The path at the front of `words`.
    #[inline]
    pub(crate) fn at(words: &'p [u32]) -> Option<Self> {
        let ([_, cache, name, shape], rest) = words.split_first_chunk::<PATH_HEAD>()?;
        let (indexes, roots, segments) = path_counts(*shape);
        let (roots, rest) = rest.split_at_checked(roots)?;
        Some(Path { name: *name, indexes, cache: *cache, roots, segments: rest.get(..segments * 2)? })
    }

    /// How many words of its table it takes.
    pub(crate) fn words(&self) -> usize {
        PATH_HEAD + self.roots.len() + self.segments.len()
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

    /// Whether the path is a root alone.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The steps, each with the index of its inline cache.
    #[inline(always)]
    pub fn segments(&self) -> impl Iterator<Item = (Segment, u32)> + use<'p> {
        let cache = self.cache;
        self.segments.chunks_exact(2).zip(cache..).map(|(words, cache)| (unpack_segment(words[0]), cache))
    }

    /// The steps, each with its place as it is packed.
    #[cfg(feature = "compile")]
    pub(crate) fn placed(&self) -> impl Iterator<Item = (Segment, u32)> + use<'p> {
        self.segments.as_chunks().0.iter().map(|&[step, place]| (unpack_segment(step), place))
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

/// Words of a call site before its parameters: import, count.
pub(super) const SITE_HEAD: usize = 2;

impl<'p> CallSite<'p> {
    #[inline]
    pub(super) fn of(words: &'p [u32]) -> Self {
        let [import, count, rest @ ..] = words else { return CallSite::default() };
        CallSite { import: *import, params: rest.get(..*count as usize).unwrap_or(&[]) }
    }
}

/// A view of a scope: what is visible at a place, the entry that wins first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'p> {
    flags: u32,
    entries: &'p [u32],
}

/// Words of a scope before its entries: flags, count.
pub(super) const SCOPE_HEAD: usize = 2;

impl<'p> Scope<'p> {
    /// The inputs are visible beneath the entries.
    pub const INPUTS: u32 = 1;
    /// The callers' scopes are visible beneath the entries.
    pub const CALLERS: u32 = 2;

    pub(super) fn of(words: &'p [u32]) -> Self {
        let [flags, count, rest @ ..] = words else { return Scope::default() };
        Scope { flags: *flags, entries: rest.get(..(*count as usize).saturating_mul(2)).unwrap_or(&[]) }
    }

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

/// Words of a failure before the string ids of what there is instead: code, message, help, count. Help and
/// count are one more than what they say, or 0 where there is nothing to say.
pub(super) const FAILURE_HEAD: usize = 4;
