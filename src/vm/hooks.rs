//! Hooks that observe a run.

use crate::bytecode::{CodeView, Op};

/// Observes a run. An empty method costs nothing.
pub trait Hooks {
    /// `true` if every instruction is observed by itself. Otherwise two may run as one.
    const WATCHES: bool = true;

    /// Called before the instruction at word `at`. `state` returns the running code and the machine's heights.
    #[inline(always)]
    fn step<'p>(&mut self, at: usize, op: Op, state: impl FnOnce() -> (CodeView<'p>, Heights)) {
        let _ = (at, op, state);
    }
}

/// Observes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    const WATCHES: bool = false;
}

/// The heights of the machine's stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heights {
    /// Running chunks.
    pub frames: usize,
    /// Values on the stack of the innermost frame.
    pub values: usize,
    /// Open loops.
    pub loops: usize,
    /// Open captures.
    pub captures: usize,
    /// Captures that gather values.
    pub gathers: usize,
    /// Gathered values.
    pub gathered: usize,
    /// Bytes of output.
    pub output: usize,
}
