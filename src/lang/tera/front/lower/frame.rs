//! The names of one scope: a template, a macro, an include or a loop.

use hashbrown::HashMap;
use smallvec::SmallVec;

use dropforge_machine::bytecode::LoopField;
use dropforge_machine::compiler::{LoopMark, PathSpec, RootSpec, SegmentSpec};

/// The scope around the frames of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    /// The top-level inputs.
    Inputs,
    /// The callers' names, then the top-level inputs.
    Callers,
    /// The top-level inputs. A dump of all names leaves them out.
    Macro,
}

/// The names of a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'a> {
    pub key: Option<(&'a str, u32)>,
    pub value: (&'a str, u32),
    pub mark: LoopMark,
}

/// The names of one scope.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    /// Variables set in this scope, in slot order.
    pub sets: Vec<(&'a str, u32)>,
    index: HashMap<&'a str, u32>,
    /// The loop, if the frame is one.
    pub turn: Option<Turn<'a>>,
}

impl<'a> Frame<'a> {
    /// Returns the frame of a loop.
    pub(crate) fn of_loop(turn: Turn<'a>) -> Self {
        Self { turn: Some(turn), ..Self::default() }
    }

    /// Adds a slot for the variable `name`.
    pub fn add(&mut self, name: &'a str, slot: u32) {
        if self.index.insert(name, slot).is_none() {
            self.sets.push((name, slot));
        }
    }

    /// Returns the slot of the variable `name`.
    pub fn slot(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }
}

/// The roots that may hold a name, in lookup order.
pub(super) type Roots<'a> = SmallVec<[RootSpec<'a>; 2]>;

/// One way to read a path: roots to try in order.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub roots: Roots<'a>,
    /// `true` if the path's steps are taken from the root.
    pub steps: bool,
}

impl<'a> Candidate<'a> {
    /// Returns the specification of the path `name` with these steps.
    pub fn spec<'p>(&'p self, name: &'p str, steps: &'p [SegmentSpec<'a>]) -> PathSpec<'p> {
        PathSpec { name, roots: &self.roots, segments: if self.steps { steps } else { &[] } }
    }
}

/// Returns the path that templates use to read a property of a loop.
pub(super) fn loop_path(field: LoopField) -> &'static str {
    match field {
        LoopField::Index => "loop.index",
        LoopField::Index0 => "loop.index0",
        LoopField::First => "loop.first",
        LoopField::Last => "loop.last",
    }
}
