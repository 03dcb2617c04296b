//! Records of variable length: paths, call sites, scopes and failures.
//!
//! A record is a run of words at an offset of its own table. Its first words give its length, so a table can be walked
//! from its start, and an offset is valid if the walk stops there.

use super::operands::LoopField;
use dropforge_base::diagnostics::Code;

/// The start of a path. The roots of a path are tried in order until one has the whole path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// A slot of the frame, if it is set.
    Slot(u32),
    /// A top-level input, by its index among the program's globals.
    Global(u32),
    /// A property of a loop of the frame, 0 for the innermost.
    Loop(u32, LoopField),
    /// A name in the callers' scopes, by its string id.
    Callers(u32),
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// An attribute, by its string id.
    Attr(u32),
    /// A computed index, from 0.
    Index(u32),
}

/// Encodes a root as a word.
pub(crate) fn pack_root(root: Root) -> u32 {
    match root {
        Root::Slot(slot) => slot,
        Root::Global(global) => 1 << 28 | global,
        Root::Loop(level, field) => 2 << 28 | level << 8 | field as u32,
        Root::Callers(name) => 3 << 28 | name,
    }
}

#[inline(always)]
pub(super) fn unpack_root(word: u32) -> Root {
    let payload = word & 0x0FFF_FFFF;
    match word >> 28 {
        0 => Root::Slot(payload),
        1 => Root::Global(payload),
        2 => Root::Loop(payload >> 8, LoopField::ALL[(payload & 3) as usize]),
        _ => Root::Callers(payload),
    }
}

/// Encodes a segment as a word. The word after it is its position within the path.
pub(crate) fn pack_segment(segment: Segment) -> u32 {
    match segment {
        Segment::Attr(name) => name,
        Segment::Index(at) => 1 << 28 | at,
    }
}

/// Encodes the position of a segment: start and length.
pub(crate) fn pack_place(start: u16, len: u16) -> u32 {
    u32::from(start) << 16 | u32::from(len)
}

#[inline(always)]
pub(super) fn unpack_segment(word: u32) -> Segment {
    let payload = word & 0x0FFF_FFFF;
    if word >> 28 == 0 { Segment::Attr(payload) } else { Segment::Index(payload) }
}

/// The flag in a path's first word: the root is a slot or an input, and no step is computed. The rest of the word then
/// has everything for the fast path.
pub const QUICK: u32 = 1 << 31;
/// The flag for a root that is an input instead of a slot.
pub(crate) const QUICK_GLOBAL: u32 = 1 << 30;
/// The shift of the number of steps.
pub(crate) const QUICK_STEPS: u32 = 24;
/// The maximum number of steps.
pub(crate) const QUICK_MOST: u32 = 0x3F;
/// The mask of the root's index.
pub(crate) const QUICK_ROOT: u32 = 0x00FF_FFFF;

/// The flag in a path's first word, without [`QUICK`]: the first root is a property of a loop, and there are no steps. The
/// rest of the word is the level of the loop and the property.
const LOOPING: u32 = 1 << 30;
/// The shift of the level, and the number of levels.
const LEVEL: u32 = 2;
const LEVELS: u32 = 1 << 20;

/// Returns the level and the property of the loop that a path with this first word begins with and ends at.
#[inline(always)]
pub(crate) fn looping(word: u32) -> Option<(u32, LoopField)> {
    let level = (word & !LOOPING) >> LEVEL;
    (word & (QUICK | LOOPING) == LOOPING).then(|| (level, LoopField::ALL[(word & 3) as usize]))
}

/// A view of a path: roots to try, then steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path<'p> {
    /// The path as written, by its string id.
    pub name: u32,
    /// The number of computed indexes that it pops.
    pub indexes: u32,
    /// Index of the first step's inline cache. Those of the other steps follow it.
    pub cache: u32,
    roots: &'p [u32],
    segments: &'p [u32],
}

/// The number of words of a path before its roots: quick word, cache, name, shape.
pub(super) const PATH_HEAD: usize = 4;

/// Encodes the words of a path before its roots and steps.
pub(crate) fn pack_path(name: u32, cache: u32, roots: &[Root], steps: usize, indexes: usize) -> [u32; PATH_HEAD] {
    let narrow = |n: usize, most: u32| u32::try_from(n).unwrap_or(most).min(most);
    let shape = narrow(indexes, 0xFF) << 24 | narrow(steps, 0xFFFF) << 8 | narrow(roots.len(), 0xFF);
    [quick(roots.first().copied(), steps, indexes), cache, name, shape]
}

/// Returns the first word of a path that begins with `root`.
pub(super) fn quick(root: Option<Root>, steps: usize, indexes: usize) -> u32 {
    let (index, global) = match root {
        Some(Root::Slot(slot)) => (slot, 0),
        Some(Root::Global(global)) => (global, QUICK_GLOBAL),
        Some(Root::Loop(level, field)) if steps == 0 && level < LEVELS => {
            return LOOPING | level << LEVEL | field as u32;
        }
        _ => return 0,
    };
    match u32::try_from(steps) {
        Ok(steps) if indexes == 0 && steps <= QUICK_MOST && index <= QUICK_ROOT => {
            QUICK | global | steps << QUICK_STEPS | index
        }
        _ => 0,
    }
}

/// Returns the numbers of computed indexes, roots and steps in the shape of a path.
#[inline(always)]
pub(super) fn path_counts(shape: u32) -> (u32, usize, usize) {
    (shape >> 24, (shape & 0xFF) as usize, (shape >> 8 & 0xFFFF) as usize)
}

impl<'p> Path<'p> {
    /// Returns the path at the front of `words`.
    #[inline]
    pub fn at(words: &'p [u32]) -> Option<Self> {
        let ([_, cache, name, shape], rest) = words.split_first_chunk::<PATH_HEAD>()?;
        let (indexes, roots, segments) = path_counts(*shape);
        let (roots, rest) = rest.split_at_checked(roots)?;
        Some(Path { name: *name, indexes, cache: *cache, roots, segments: rest.get(..segments * 2)? })
    }

    /// Returns the number of words of the record.
    pub fn words(&self) -> usize {
        PATH_HEAD + self.roots.len() + self.segments.len()
    }

    /// Returns the roots in the order of lookup.
    #[inline(always)]
    pub fn roots(&self) -> impl ExactSizeIterator<Item = Root> + use<'p> {
        self.roots.iter().map(|&word| unpack_root(word))
    }

    /// Returns the number of steps.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.segments.len() / 2
    }

    /// Returns `true` if the path has no steps.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the steps, each with the index of its inline cache.
    #[inline(always)]
    pub fn segments(&self) -> impl Iterator<Item = (Segment, u32)> + use<'p> {
        let cache = self.cache;
        self.segments.chunks_exact(2).zip(cache..).map(|(words, cache)| (unpack_segment(words[0]), cache))
    }

    /// Returns the steps, each with its encoded position.
    pub fn placed(&self) -> impl Iterator<Item = (Segment, u32)> + use<'p> {
        self.segments.as_chunks().0.iter().map(|&[step, place]| (unpack_segment(step), place))
    }

    /// Returns the position of step `at`, relative to that of the path: start and length.
    pub(crate) fn segment_span(&self, at: usize) -> Option<(u32, u32)> {
        self.segments.get(at * 2 + 1).map(|word| (word >> 16, word & 0xFFFF))
    }
}

/// A view of a call site: the import, and the parameter of each argument.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallSite<'p> {
    /// Index of the import.
    pub import: u32,
    /// The checks that the call needs.
    pub gate: Gate,
    /// The parameter index of each argument, in order of evaluation. For a function with open parameters, its form or
    /// its name ([`Params::by_name`](crate::function::Params::by_name)).
    pub params: &'p [u32],
}

/// The checks of a call's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gate(u32);

impl Gate {
    /// The flag for one argument for each parameter, in their order.
    const IN_ORDER: u32 = 1 << 31;

    /// Returns the gate of these arguments. The bits of `known` stand for the parameters whose arguments are known to have
    /// the right type. Arguments for more parameters than there are bits do not count as in order.
    pub fn new(places: &[u32], params: Option<u32>, known: u32) -> Self {
        let bits = 1_u32.checked_shl(params.unwrap_or(u32::MAX)).filter(|bit| *bit <= Self::IN_ORDER);
        let in_order = bits.is_some() && params.is_some_and(|params| (0..params).eq(places.iter().copied()));
        let checked = if in_order { bits.unwrap_or(0).wrapping_sub(1) & !known } else { 0 };
        Self(checked | if in_order { Self::IN_ORDER } else { 0 })
    }

    #[inline(always)]
    pub(crate) fn of_word(word: u32) -> Self {
        Self(word)
    }

    pub(crate) fn word(self) -> u32 {
        self.0
    }

    /// Returns `true` if there is one argument for each parameter, in their order.
    #[inline(always)]
    pub(crate) fn is_in_order(self) -> bool {
        self.0 & Self::IN_ORDER != 0
    }

    /// Returns the parameters whose arguments are checked, of arguments in order.
    #[inline]
    pub fn checked(self) -> impl Iterator<Item = usize> {
        let mut left = self.0 & !Self::IN_ORDER;
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            next
        })
    }
}

/// The number of words of a call site before its parameters: import, count, gate.
pub(super) const SITE_HEAD: usize = 3;

impl<'p> CallSite<'p> {
    #[inline]
    pub(super) fn of(words: &'p [u32]) -> Self {
        let [import, count, gate, rest @ ..] = words else { return CallSite::default() };
        CallSite { import: *import, gate: Gate(*gate), params: rest.get(..*count as usize).unwrap_or(&[]) }
    }
}

/// A view of a scope: the names visible at a place, the overriding entry first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'p> {
    flags: u32,
    entries: &'p [u32],
}

/// The number of words of a scope before its entries: flags, count.
pub(super) const SCOPE_HEAD: usize = 2;

impl<'p> Scope<'p> {
    /// The flag for inputs visible after the entries.
    pub const INPUTS: u32 = 1;
    /// The flag for callers' scopes visible after the entries.
    pub const CALLERS: u32 = 2;

    pub(super) fn of(words: &'p [u32]) -> Self {
        let [flags, count, rest @ ..] = words else { return Scope::default() };
        Scope { flags: *flags, entries: rest.get(..(*count as usize).saturating_mul(2)).unwrap_or(&[]) }
    }

    /// Returns `true` if the inputs are visible.
    pub(crate) fn sees_inputs(&self) -> bool {
        self.flags & Self::INPUTS != 0
    }

    /// Returns `true` if the callers' scopes are visible.
    pub(crate) fn sees_callers(&self) -> bool {
        self.flags & Self::CALLERS != 0
    }

    /// Returns the name (string id) and root of each entry.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Root)> + use<'p> {
        self.entries.chunks_exact(2).map(|pair| (pair[0], unpack_root(pair[1])))
    }
}

/// An error known at compile time, raised only if the code reaches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// The message.
    pub message: String,
    /// The available names.
    pub available: Option<Vec<String>>,
    /// The likely fix.
    pub help: Option<String>,
}

/// The number of words of a failure before the string ids of its available names: code, message, help, count. Help and
/// count are stored plus one, 0 for none.
pub(super) const FAILURE_HEAD: usize = 4;
