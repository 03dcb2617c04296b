//! What a recording holds of an instruction that ran.

use std::ops::Range;

use dropforge_machine::bytecode::Op;
use dropforge_value::assign::Step;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Edge {
    /// Not known, or nowhere.
    #[default]
    None,
    /// The input with this number.
    Input(u32),
    /// The result of an event.
    Event(u32),
}

/// An instruction that ran and pushed a value, wrote output, called, or chose between branches.
#[derive(Debug)]
pub(super) struct Event {
    /// The program.
    pub unit: u32,
    /// The word of the instruction.
    pub at: u32,
    pub op: Op,
    /// `true` if it went to its label.
    pub jumped: bool,
    /// What it ran within.
    pub context: u32,
    /// The origins of what it used, among those of all events. Those of a path begin with that of its root.
    pub inputs: Range<u32>,
    /// The value that it read, computed or tested, as an excerpt.
    pub shown: Option<Box<str>>,
    pub detail: Detail,
}

/// What is known of an event besides.
#[derive(Debug, Default)]
pub(super) enum Detail {
    #[default]
    None,
    /// The computed steps of a path.
    Indexes(Vec<Step>),
    /// A loop turned to the item behind this step.
    Turn(Step),
    /// The members of the result.
    Members(Vec<Member>),
    /// The result is that of the origin, or a member of it.
    Same(Edge, Option<Step>),
    /// The result is this text. A capture has the parts of it.
    Text(Captured),
}

/// A member of a list or map.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub step: Step,
    pub from: Edge,
    /// The step within the origin.
    pub within: Option<Step>,
}

/// A text and what wrote it.
#[derive(Debug)]
pub(super) struct Captured {
    pub text: Box<str>,
    pub parts: Vec<Part>,
}

/// A part of a text, up to the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub start: usize,
    pub event: u32,
}
