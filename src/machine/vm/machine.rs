//! The machine's state and its basic operations.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use smallvec::SmallVec;

use super::access::Access;
use super::hooks::Hooks;
use super::memory::{Cache, Feedback, Space};
use super::output::Output;
use super::semantics::{Loop, Semantics};
use super::units::Units;
use crate::bytecode::{ChunkInfo, CodeView, EscapeMode, Literal, Number};
use crate::function::{Cx, Linked};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_value::{BLOCK, Shape, Text, Value};

/// The start of an open capture.
#[derive(Debug, Clone, Copy)]
pub(super) enum Capture {
    /// Text in the output.
    Text(usize),
    /// Values among the gathered ones.
    Values(usize),
}

/// A running chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// Index of the first of its slots.
    pub slots: usize,
    /// Index of the first of its values on the stack.
    pub stack: usize,
    /// The number of open loops when it was entered.
    pub loops: usize,
    /// The number of open captures when it was entered.
    pub captures: usize,
    /// The word where its caller continues.
    pub back: usize,
    /// Offset of the caller's scope that it sees, or 0.
    pub scope: u32,
    /// The program of its code, with [`NAMED`] if it was called by name.
    pub unit: u32,
}

/// The flag of a frame that was called by name.
pub(super) const NAMED: u32 = 1 << 31;

/// A stack in the arena, whose reset frees it. Dropping it would cost every run something.
type InArena<'r, T> = ManuallyDrop<bumpalo::collections::Vec<'r, T>>;

/// The state of one render.
///
/// `values` holds the program's inputs, then its memos, then the slots and the stack of each frame. A callee's parameters
/// stay where its caller pushed them.
pub(super) struct Interpreter<'r, 'o, A, S: ?Sized> {
    pub rules: &'o S,
    pub program: CodeView<'r>,
    /// The index of the program among `units`.
    pub unit: u32,
    pub linked: &'r Linked,
    pub cx: Cx<'r>,
    pub caches: &'o [Cache],
    pub feedback: &'o Feedback,
    /// String constants as values. Empty until a run pushes one.
    pub texts: &'r [Text<'r>],
    /// Shapes of maps by the offsets of their keys. Empty until a map is built.
    pub shapes: &'r [Option<Shape<'r>>],
    pub values: &'r mut [Value<'r>],
    /// The index after the top of the stack.
    pub top: usize,
    /// Index of the first slot of the running chunk.
    pub base: usize,
    pub loops: InArena<'r, Loop<'r>>,
    pub captures: SmallVec<[Capture; 4]>,
    /// The gathered values, outermost capture first.
    pub gathered: InArena<'r, Value<'r>>,
    /// The latest result of the run.
    pub result: Value<'r>,
    pub frames: SmallVec<[Frame; 4]>,
    /// The number of frames that were called by name.
    pub named: usize,
    /// The number of shapes of changed maps that the inline caches have flagged.
    pub flagged: usize,
    /// The programs of the run. Created by the first call by name.
    pub units: Option<Box<Units<'r, 'o>>>,
    pub space: &'r Space,
    pub out: Output<'o>,
    /// Programs that are made during the run outlive the machine.
    pub access: PhantomData<(A, &'o &'r ())>,
}

impl<'r, 'o, A: Access, S: Semantics + ?Sized> Interpreter<'r, 'o, A, S> {
    /// Creates a machine. The first of `values` are the bound inputs and the memos.
    #[inline]
    pub(super) fn new(
        rules: &'o S,
        program: CodeView<'r>,
        linked: &'r Linked,
        (space, cx): (&'r Space, Cx<'r>),
        feedback: &'o Feedback,
        values: &'r mut [Value<'r>],
        out: Output<'o>,
    ) -> Self {
        let fixed = program.start().fixed;
        let bump = cx.arena().bump();
        Self {
            rules,
            program,
            unit: 0,
            linked,
            caches: &feedback.caches,
            feedback,
            texts: program.known_texts(),
            shapes: &[],
            values,
            top: fixed,
            base: fixed,
            loops: ManuallyDrop::new(bumpalo::collections::Vec::new_in(bump)),
            captures: SmallVec::new(),
            gathered: ManuallyDrop::new(bumpalo::collections::Vec::new_in(bump)),
            result: Value::Undefined,
            frames: SmallVec::new(),
            named: 0,
            flagged: 0,
            units: None,
            space,
            cx,
            out,
            access: PhantomData,
        }
    }

    /// Runs a chunk without parameters to its end or to an unabsorbed error, and pays for `paid`. There must be room for
    /// its frame, with unset slots.
    #[inline(always)]
    pub(super) fn run_in_room<H: Hooks>(&mut self, chunk: &ChunkInfo, paid: &ChunkInfo, hooks: &mut H) -> Result<()> {
        self.pay_for(paid)?;
        self.begin(chunk, 0, 0);
        let mut at = chunk.entry as usize;
        loop {
            match self.execute::<H>(at, hooks) {
                Ok(()) => return Ok(()),
                // No handler may absorb it.
                Err(error) if self.rules.probes() => return Err(error),
                Err(error) => {
                    hooks.failed(&error);
                    at = self.unwind(error)?;
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Value<'r> {
        self.top -= 1;
        A::at(self.values, self.top)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: Value<'r>) {
        *A::place(self.values, self.top) = value;
        self.top += 1;
    }

    /// Returns the top `count` values.
    #[inline]
    pub(super) fn topmost(&self, count: usize) -> &[Value<'r>] {
        self.top.checked_sub(count).and_then(|first| self.values.get(first..self.top)).unwrap_or(&[])
    }

    /// Returns `true` if the running chunk has the slot.
    fn has_slot(&self, slot: u32) -> bool {
        self.frames.last().is_some_and(|frame| self.base + (slot as usize) < frame.stack)
    }

    #[inline(always)]
    pub(super) fn slot(&self, slot: u32) -> Value<'r> {
        A::require(|| self.has_slot(slot));
        A::at(self.values, self.base + slot as usize)
    }

    #[inline(always)]
    pub(super) fn set_slot(&mut self, slot: u32, value: Value<'r>) {
        A::require(|| self.has_slot(slot));
        *A::place(self.values, self.base + slot as usize) = value;
    }

    pub(super) fn clear_slots(&mut self, first: u32, count: u32) {
        (first..first.saturating_add(count)).for_each(|slot| self.set_slot(slot, Value::Undefined));
    }

    /// Grows the values to at least `end`.
    #[cold]
    pub(super) fn grow(&mut self, end: usize) {
        let old: &[Value<'r>] = self.values;
        let room = end.max(old.len() * 2);
        let filled = (0..room).map(|at| old.get(at).copied().unwrap_or_default());
        self.values = self.cx.arena().bump().alloc_slice_fill_iter(filled);
    }

    /// Returns the text with index `id`.
    #[inline(always)]
    pub(super) fn text(&self, id: u32) -> &'r str {
        let [start, end] = A::at(self.program.strings, id as usize);
        A::text(self.program.pool, start as usize, end as usize)
    }

    /// Returns a string constant.
    #[inline]
    pub(super) fn string(&mut self, id: u32) -> Value<'r> {
        match self.texts.get(id as usize) {
            Some(text) => Value::Str(text),
            None => self.first_string(id),
        }
    }

    #[inline(never)]
    fn first_string(&mut self, id: u32) -> Value<'r> {
        self.texts = self.program.texts();
        self.texts.get(id as usize).map_or(Value::Undefined, Value::Str)
    }

    /// Pushes a string constant. Each arm pushes its own value: a value that is stored in two halves and loaded as a whole
    /// right after stalls the processor.
    #[inline(always)]
    pub(super) fn push_string(&mut self, id: u32) {
        match self.texts.get(id as usize) {
            Some(text) => self.push(Value::Str(text)),
            None => {
                let string = self.first_string(id);
                self.push(string);
            }
        }
    }

    /// Pushes a number constant.
    #[inline(always)]
    pub(super) fn push_number(&mut self, id: u32) {
        match self.program.number(id) {
            Some(Number::Int(n)) => self.push(Value::Int(n)),
            Some(Number::Float(n)) => self.push(Value::Float(n)),
            None => self.push(Value::Undefined),
        }
    }

    /// Writes the value of the path at `path`; `mode` is an operand.
    #[inline(always)]
    pub(super) fn write_path(&mut self, path: u32, mode: u32) -> Result<()> {
        match self.quick(path) {
            Value::Str(text) if EscapeMode::is_verbatim(mode) => self.out.push_text(text),
            Value::Int(n) if mode != EscapeMode::Shell as u32 => self.out.push_int(n),
            value => self.write_path_other(path, value, mode),
        }
    }

    #[inline(never)]
    fn write_path_other(&mut self, path: u32, quick: Value<'r>, mode: u32) -> Result<()> {
        let how = EscapeMode::of(mode);
        let near = if quick.is_undefined() { self.near(path) } else { quick };
        if let Value::Int(n) = near
            && how != EscapeMode::Shell
        {
            return self.out.push_int(n);
        }
        if self.rules.write_simple(near, how, &mut self.out)? {
            return Ok(());
        }
        let found = !near.is_undefined() && self.rules.writable(near, how);
        let value = if found { near } else { self.load_far(path, Some(how))? };
        write(self.rules, &self.cx, &value, mode, &mut self.out)
    }

    /// Writes the value at an index; `mode` is an operand.
    #[inline(always)]
    pub(super) fn write_at(&mut self, at: usize, mode: u32) -> Result<()> {
        write(self.rules, &self.cx, A::borrow(self.values, at), mode, &mut self.out)
    }

    /// Writes a string constant.
    #[inline(always)]
    pub(super) fn write_text(&mut self, id: u32) -> Result<()> {
        let [start, end] = A::at(self.program.strings, id as usize);
        let text = A::text(self.program.pool, start as usize, end as usize);
        let block = if text.len() <= BLOCK { self.program.pool.as_bytes().get(start as usize..) } else { None };
        self.out.push_block(block.and_then(<[u8]>::first_chunk), text)
    }

    /// Concatenates the top `count` values as text. Returns the word to continue at: text that the next instruction, at
    /// `next`, writes as it is stays in the output.
    pub(super) fn join<H: Hooks>(&mut self, count: u32, next: usize) -> Result<usize> {
        let start = self.out.len();
        let first = self.top.saturating_sub(count as usize);
        let plain = |value: &Value<'_>| matches!(value, Value::Str(_) | Value::Int(_) | Value::Bool(_));
        if !self.topmost(count as usize).iter().all(plain)
            && let Some(joined) = self.rules.joined(&self.cx, self.topmost(count as usize))?
        {
            self.top = first;
            self.push(joined);
            return Ok(next);
        }
        for at in first..self.top {
            if let Err(error) = self.write_at(at, EscapeMode::Piece as u32) {
                // The error may be absorbed, so the text so far is not output. Its limit is that of memory.
                self.out.truncate(start);
                let allowed = self.cx.limits().memory;
                return Err(match error.code {
                    Code::LimitOutputBytes => Limit::Memory.error(allowed),
                    _ => self.placed_in_part(error, at - first),
                });
            }
        }
        self.top = first;
        if !H::WATCHES && self.is_written(next) {
            self.cx.charge(self.out.len() - start + size_of::<Value<'_>>())?;
            self.cx.go(next);
            return Ok(next + 1);
        }
        self.take_output(start).map(|()| next)
    }

    /// Builds a list of the top `count` values.
    pub(super) fn list(&mut self, count: u32) -> Result<()> {
        let list = self.cx.list(self.topmost(count as usize))?;
        self.top -= count as usize;
        self.push(list);
        Ok(())
    }

    /// Returns the shape of the keys at offset `at`.
    #[inline]
    pub(super) fn shape(&mut self, at: u32) -> Result<&'r Shape<'r>> {
        match self.shapes.get(at as usize) {
            Some(Some(shape)) => Ok(shape),
            _ => self.first_shape(at),
        }
    }

    /// Builds a map of the top values with the keys at offset `at`.
    pub(super) fn map(&mut self, at: u32) -> Result<()> {
        let shape = self.shape(at)?;
        let count = shape.keys().len();
        let map = self.cx.shaped_map(shape, self.topmost(count))?;
        self.top -= count;
        self.push(Value::Map(map));
        Ok(())
    }

    #[inline(never)]
    fn first_shape(&mut self, at: u32) -> Result<&'r Shape<'r>> {
        self.shapes = self.program.shapes();
        self.shapes.get(at as usize).and_then(Option::as_ref).ok_or_else(|| self.corrupt())
    }

    pub(super) fn begin_capture(&mut self) {
        self.captures.push(Capture::Text(self.out.capture()));
    }

    pub(super) fn end_capture(&mut self) -> Result<()> {
        let Some(Capture::Text(start)) = self.captures.pop() else { return Err(self.corrupt()) };
        self.out.end_capture();
        self.take_output(start)
    }

    /// Moves the output since `start` to the stack, as a string.
    fn take_output(&mut self, start: usize) -> Result<()> {
        let text = match self.out.bytes_since(start) {
            None => self.cx.text(self.out.since(start))?,
            Some(bytes) => self.cx.string(&bytes)?,
        };
        self.out.truncate(start);
        self.push(text);
        Ok(())
    }

    /// Moves the output since `start`, which is already charged, to the stack, as text.
    #[inline]
    pub(super) fn keep_output(&mut self, start: usize) -> Result<()> {
        // A short text is padded.
        self.cx.charge(BLOCK + size_of::<Text<'_>>())?;
        let text = self.cx.arena().text(self.out.since(start));
        self.out.truncate(start);
        self.push(text);
        Ok(())
    }

    /// Returns the error of the failure at offset `id`.
    #[cold]
    pub(super) fn failure(&self, id: u32) -> Box<Diagnostic> {
        let Some(failure) = self.program.failure(id) else { return self.corrupt() };
        let mut error = Diagnostic::new(failure.code, failure.message);
        (error.available, error.help) = (failure.available, failure.help);
        error
    }

    /// Returns the error for code that the emitter never produces.
    #[cold]
    pub(super) fn corrupt(&self) -> Box<Diagnostic> {
        Diagnostic::new(Code::CorruptProgram, format!("the program is corrupt at word {}", self.cx.at()))
    }
}

/// Writes a value; `mode` is an operand.
#[inline(always)]
fn write<'v>(
    rules: &(impl Semantics + ?Sized),
    cx: &Cx<'v>,
    value: &Value<'v>,
    mode: u32,
    out: &mut Output<'_>,
) -> Result<()> {
    match value {
        Value::Str(text) if EscapeMode::is_verbatim(mode) => out.push_text(text),
        Value::Int(n) if mode != EscapeMode::Shell as u32 => out.push_int(*n),
        value => rules.to_text(cx, *value, EscapeMode::of(mode), out),
    }
}

/// Returns the value that [`Op::Lit`](crate::bytecode::Op::Lit) pushes.
#[inline]
pub(super) fn literal<'v>(operand: u32) -> Value<'v> {
    match Literal::of(operand) {
        Literal::Undefined => Value::Undefined,
        Literal::Null => Value::Null,
        Literal::False => Value::Bool(false),
        Literal::True => Value::Bool(true),
    }
}
