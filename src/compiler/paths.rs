//! Paths as a language describes them to the emitter.

use crate::bytecode::LoopField;
use crate::text::Span;

/// Where a path may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootSpec<'p> {
    /// A slot, where it is set.
    Slot(u32),
    /// A top-level input.
    Global(&'p str),
    /// A fact about a loop of the frame, 0 the innermost.
    Loop(u32, LoopField),
    /// A name among the callers' scopes.
    Callers(&'p str),
}

/// A step of a path, with its place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentSpec<'p> {
    /// An attribute.
    Attr(&'p str, Span),
    /// The next of the computed indexes, which are pushed before the path is read, the first one first.
    Index(Span),
}

/// A path: the roots that are tried in order until one has the whole path, then the steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathSpec<'p> {
    /// The path as it is written, for messages.
    pub name: &'p str,
    /// Where it may begin.
    pub roots: &'p [RootSpec<'p>],
    /// The steps.
    pub segments: &'p [SegmentSpec<'p>],
}
