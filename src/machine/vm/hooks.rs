//! Hooks that observe a run.

use super::access::Access;
use super::machine::{Capture, Interpreter};
use super::semantics::Semantics;
use crate::bytecode::{CodeView, Op, Operand, Place, Places};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_value::Value;

/// Observes a run. An empty method costs nothing.
pub trait Hooks {
    /// `true` if every instruction is observed by itself. Otherwise two may run as one.
    const WATCHES: bool = true;
    /// `true` if the run checks every index.
    const CHECKS: bool = false;

    /// Called before the instruction at word `at`. `moment` returns the state of the machine.
    #[inline(always)]
    fn step<'m>(&mut self, at: usize, op: Op, moment: impl FnOnce() -> Moment<'m>) {
        let _ = (at, op, moment);
    }

    /// Called before [`Hooks::step`]. `contents` returns a digest of the machine's state.
    #[inline(always)]
    fn contents(&mut self, contents: impl Fn() -> Contents) {
        let _ = contents;
    }

    /// Called when the last instruction raises an error, before a handler may absorb it.
    #[inline(always)]
    fn failed(&mut self, error: &Diagnostic) {
        let _ = error;
    }
}

/// Observes a run through a table of methods, so that all observers in all languages share one copy of the machine's loop:
/// that which checks every index, if it is built in.
pub trait Observer {
    /// Called before the instruction at word `at`.
    fn step(&mut self, at: usize, op: Op, moment: &Moment<'_>) {
        let _ = (at, op, moment);
    }

    /// Called before [`Observer::step`]. `contents` returns a digest of the machine's state.
    fn contents(&mut self, contents: &dyn Fn() -> Contents) {
        let _ = contents;
    }

    /// Called when the last instruction raises an error, before a handler may absorb it.
    fn failed(&mut self, error: &Diagnostic) {
        let _ = error;
    }
}

impl Hooks for &mut dyn Observer {
    const CHECKS: bool = cfg!(feature = "checked");

    fn step<'m>(&mut self, at: usize, op: Op, moment: impl FnOnce() -> Moment<'m>) {
        (**self).step(at, op, &moment());
    }

    fn contents(&mut self, contents: impl Fn() -> Contents) {
        (**self).contents(&contents);
    }

    fn failed(&mut self, error: &Diagnostic) {
        (**self).failed(error);
    }
}

/// Observes nothing. As an [`Observer`], it has a run check every index.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Observer for NoHooks {}

impl Hooks for NoHooks {
    const WATCHES: bool = false;
}

/// The state of the machine before an instruction.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'m> {
    /// The running program.
    pub code: CodeView<'m>,
    /// The index of the running program among those of the run.
    pub unit: u32,
    /// The heights of the stacks.
    pub heights: Heights,
    /// The values of the running program: inputs and memos, then the slots and the stack of each of its frames.
    pub values: &'m [Value<'m>],
    /// The index of the first slot of the running chunk.
    pub base: usize,
    /// The index after the top of the stack.
    pub top: usize,
    /// The output so far.
    pub output: &'m str,
    /// What the path of the instruction begins with, if it has one.
    pub root: Option<Beginning>,
}

/// The value that a path begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// The value at an index of [`Moment::values`].
    Value(usize),
    /// A property of the loop with this index among the open ones.
    Loop(usize),
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

/// Digests of the parts of a machine's state. Digests that differ tell that the state changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents([u64; Place::COUNT]);

impl Contents {
    /// Returns the places that differ.
    pub fn changes(&self, other: &Contents) -> Places {
        let differs = |place: &Place| self.0[*place as usize] != other.0[*place as usize];
        Place::ALL.into_iter().filter(differs).fold(Places::NONE, Places::with)
    }
}

impl<A: Access, S: Semantics + ?Sized> Interpreter<'_, '_, A, S> {
    /// Returns the state before an instruction with this opcode and first operand.
    pub(super) fn moment(&self, op: Op, operand: u32) -> Moment<'_> {
        let reads = op.info().first() == Some(Operand::Path);
        Moment {
            code: self.program,
            unit: self.unit,
            heights: self.heights(),
            values: self.values,
            base: self.base,
            top: self.top,
            output: self.out.since(0),
            root: reads.then(|| self.beginning(&self.program.path(operand))).flatten(),
        }
    }

    /// Returns the heights of the stacks.
    pub(super) fn heights(&self) -> Heights {
        let stack = self.frames.last().map_or(self.top, |frame| frame.stack);
        let gathers = self.captures.iter().filter(|capture| matches!(capture, Capture::Values(_))).count();
        Heights {
            frames: self.frames.len(),
            values: self.top.saturating_sub(stack),
            loops: self.loops.len(),
            captures: self.captures.len(),
            gathers,
            gathered: self.gathered.len(),
            output: self.out.len(),
        }
    }

    /// Returns digests of the state.
    pub(super) fn contents(&self) -> Contents {
        let start = self.program.start();
        let stack = self.frames.last().map_or(self.base, |frame| frame.stack);
        let digest = |from: usize, to: usize| self.values.get(from..to).unwrap_or(&[]).iter().fold(0, mixed);
        Contents(Place::ALL.map(|place| match place {
            Place::Slots => digest(self.base, stack),
            Place::Inputs => digest(0, start.inputs),
            Place::Callers => digest(start.fixed, self.base),
            Place::Memos => digest(start.inputs, start.fixed),
            Place::Loops => self.loops.iter().fold(0, |digest, each| word(digest, each.begun as u64 + 1)),
            Place::Output => self.out.len() as u64,
            Place::Gathered => self.gathered.iter().fold(0, mixed),
            Place::Notes => self.cx.notes().count() as u64,
            Place::Result => mixed(0, &self.result),
            Place::Cost => self.cx.metered(),
        }))
    }
}

/// Adds a word to a digest: a step of FNV-1a.
fn word(digest: u64, word: u64) -> u64 {
    (digest ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(23)
}

/// Adds a value to a digest: its kind, and its content or address.
fn mixed(digest: u64, value: &Value<'_>) -> u64 {
    let (kind, content) = match *value {
        Value::Undefined => (1, 0),
        Value::Null => (2, 0),
        Value::Bool(b) => (3, b.into()),
        Value::Int(n) => (4, n.cast_unsigned()),
        Value::Uint(n) => (5, n),
        Value::Float(n) => (6, n.to_bits()),
        Value::Str(text) => (7, std::ptr::from_ref(text).addr() as u64),
        Value::List(list) => (8, std::ptr::from_ref(list).addr() as u64),
        Value::Map(map) => (9, std::ptr::from_ref(map).addr() as u64),
        Value::Extended(rare) => (10, std::ptr::from_ref(rare).addr() as u64),
    };
    word(word(digest, kind), content)
}
