//! Descriptions of paths, from a language to the emitter.

use crate::bytecode::LoopField;
use dropforge_base::text::Span;

/// The start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootSpec<'p> {
    /// A slot, if it is set.
    Slot(u32),
    /// A top-level input.
    Global(&'p str),
    /// A property of a loop of the frame, 0 for the innermost.
    Loop(u32, LoopField),
    /// A name in the callers' scopes.
    Callers(&'p str),
}

/// A step of a path, with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentSpec<'p> {
    /// An attribute.
    Attr(&'p str, Span),
    /// The next computed index. Indexes are pushed in order before the path is read.
    Index(Span),
}

/// A path: its roots, tried in order until one has the whole path, and its steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathSpec<'p> {
    /// The path as written, for messages.
    pub name: &'p str,
    /// The roots.
    pub roots: &'p [RootSpec<'p>],
    /// The steps.
    pub segments: &'p [SegmentSpec<'p>],
}
