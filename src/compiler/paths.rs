//! Paths as a language describes them to the emitter.

use crate::bytecode::LoopField;
use crate::text::Span;

/// Where a path may begin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RootSpec {
    /// A slot, where it is set.
    Slot(u32),
    /// A top-level input.
    Global(String),
    /// A fact about a loop of the frame, 0 the innermost.
    Loop(u32, LoopField),
    /// A name among the callers' scopes.
    Callers(String),
}

/// A step of a path, with its place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SegmentSpec {
    /// An attribute.
    Attr(String, Span),
    /// The next of the computed indexes, which are pushed before the path is read, the first one first.
    Index(Span),
}

/// A path: the roots that are tried in order until one has the whole path, then the steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PathSpec {
    /// The path as it is written, for messages.
    pub name: String,
    /// Where it may begin.
    pub roots: Vec<RootSpec>,
    /// The steps.
    pub segments: Vec<SegmentSpec>,
}
