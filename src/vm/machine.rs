//! The machine's state and its small moves.

use std::cell::Cell;

use smallvec::SmallVec;

use super::loops::Loop;
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::{EscapeMode, Literal, Number, Program};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Cx, Linked};
use crate::limits::Limit;
use crate::value::{Text, Value};

/// An inline cache: a shape's id and the index of the key in it.
pub(super) type Cache = Cell<(u32, u32)>;

/// A chunk that is running.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// Index of the first of its slots.
    pub slots: usize,
    /// Heights of the stacks when it was entered.
    pub stack: usize,
    pub loops: usize,
    pub captures: usize,
    /// The word where its caller goes on.
    pub back: usize,
    /// Offset of the scope of its caller that it sees, or 0.
    pub scope: u32,
}

/// The state of one render.
pub(super) struct Machine<'r, 'o> {
    pub program: &'r Program,
    pub linked: &'r Linked,
    pub cx: Cx<'r>,
    pub caches: &'r [Cache],
    /// String constants as values, made when first pushed.
    pub texts: &'r [Cell<Option<&'r Text<'r>>>],
    pub globals: &'r [Value<'r>],
    pub stack: SmallVec<[Value<'r>; 16]>,
    pub slots: bumpalo::collections::Vec<'r, Value<'r>>,
    pub loops: SmallVec<[Loop<'r>; 4]>,
    pub captures: SmallVec<[usize; 4]>,
    pub frames: SmallVec<[Frame; 4]>,
    /// Index of the first slot of the running chunk.
    pub base: usize,
    /// The word of the running instruction, for the error door.
    pub at: usize,
    pub out: Output<'o>,
}

impl<'r> Machine<'r, '_> {
    #[inline]
    pub(super) fn pop(&mut self) -> Value<'r> {
        self.stack.pop().unwrap_or_default()
    }

    #[inline]
    pub(super) fn push(&mut self, value: Value<'r>) {
        self.stack.push(value);
    }

    #[inline]
    pub(super) fn slot(&self, slot: u32) -> Value<'r> {
        self.slots.get(self.base + slot as usize).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn set_slot(&mut self, slot: u32, value: Value<'r>) {
        if let Some(place) = self.slots.get_mut(self.base + slot as usize) {
            *place = value;
        }
    }

    pub(super) fn clear_slots(&mut self, first: u32, count: u32) {
        (first..first.saturating_add(count)).for_each(|slot| self.set_slot(slot, Value::Undefined));
    }

    /// A string constant.
    #[inline]
    pub(super) fn string(&self, id: u32) -> Value<'r> {
        let Some(cell) = self.texts.get(id as usize) else { return Value::Undefined };
        if let Some(text) = cell.get() {
            return Value::Str(text);
        }
        let value = self.cx.arena().borrowed_text(self.program.str(id));
        if let Value::Str(text) = value {
            cell.set(Some(text));
        }
        value
    }

    pub(super) fn number(&self, id: u32) -> Value<'r> {
        match self.program.numbers.get(id as usize) {
            Some(Number::Int(n)) => Value::Int(*n),
            Some(Number::Float(n)) => Value::Float(*n),
            None => Value::Undefined,
        }
    }

    /// Writes a value.
    #[inline(always)]
    pub(super) fn emit<S: Semantics>(&mut self, value: Value<'r>, mode: EscapeMode) -> Result<()> {
        match (value, mode) {
            (Value::Str(text), EscapeMode::Plain) => self.out.push(text.as_str()),
            _ => self.emit_other::<S>(value, mode),
        }
    }

    #[inline(never)]
    fn emit_other<S: Semantics>(&mut self, value: Value<'r>, mode: EscapeMode) -> Result<()> {
        match (value, mode) {
            (Value::Str(text), EscapeMode::Piece) => self.out.push(text.as_str()),
            (Value::Int(n), EscapeMode::Plain | EscapeMode::Html | EscapeMode::Piece) => {
                self.out.push(itoa::Buffer::new().format(n))
            }
            _ => S::to_text(&self.cx, value, mode, &mut self.out),
        }
    }

    /// Joins the `count` topmost values as text.
    pub(super) fn join<S: Semantics>(&mut self, count: u32) -> Result<()> {
        let start = self.out.len();
        let first = self.stack.len().saturating_sub(count as usize);
        for at in first..self.stack.len() {
            let value = self.stack.get(at).copied().unwrap_or_default();
            if let Err(error) = self.emit::<S>(value, EscapeMode::Piece) {
                // The error may be absorbed: what was joined so far is no output, but memory.
                self.out.truncate(start);
                let allowed = self.cx.limits().memory;
                return Err(if error.code == Code::LimitOutputBytes { Limit::Memory.error(allowed) } else { error });
            }
        }
        self.stack.truncate(first);
        self.take_output(start)
    }

    /// Makes a list of the `count` topmost values.
    pub(super) fn list(&mut self, count: u32) -> Result<()> {
        let first = self.stack.len().saturating_sub(count as usize);
        let list = self.cx.list(self.stack.get(first..).unwrap_or(&[]))?;
        self.stack.truncate(first);
        self.push(list);
        Ok(())
    }

    pub(super) fn begin_capture(&mut self) {
        self.captures.push(self.out.len());
    }

    pub(super) fn end_capture(&mut self) -> Result<()> {
        let start = self.captures.pop().unwrap_or(self.out.len());
        self.take_output(start)
    }

    /// Pushes what was written since `start` as text, and takes it back from the output.
    fn take_output(&mut self, start: usize) -> Result<()> {
        let text = self.cx.text(self.out.since(start))?;
        self.out.truncate(start);
        self.push(text);
        Ok(())
    }

    /// The failure `id`, raised.
    #[cold]
    pub(super) fn failure(&self, id: u32) -> Box<Diagnostic> {
        let Some(failure) = self.program.failure(id) else { return self.corrupt() };
        let mut error = Diagnostic::new(failure.code, failure.message.clone());
        error.available.clone_from(&failure.available);
        error.help.clone_from(&failure.help);
        error
    }

    /// The error of code that no emitter produces.
    #[cold]
    pub(super) fn corrupt(&self) -> Box<Diagnostic> {
        Diagnostic::new(Code::CorruptProgram, format!("the program is corrupt at word {}", self.at))
    }
}

/// The value that [`Op::Lit`](crate::bytecode::Op::Lit) pushes.
#[inline]
pub(super) fn literal<'v>(operand: u32) -> Value<'v> {
    match operand {
        n if n == Literal::Null as u32 => Value::Null,
        n if n == Literal::False as u32 => Value::Bool(false),
        n if n == Literal::True as u32 => Value::Bool(true),
        _ => Value::Undefined,
    }
}
