//! Runs: sessions, which repeat renders on one thread, one run of a program's first chunk, and evaluation of chunks.

use std::cell::Cell;
use std::sync::Arc;

use super::access::{Access, Trusting};
#[cfg(feature = "checked")]
use super::checked::Checking;
use super::hooks::{Hooks, NoHooks};
use super::machine::Interpreter;
use super::memory::{ProgramState, Space};
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::{CodeView, Program};
use crate::function::{Budgets, Capabilities, Cx, Linked};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::{Deadline, Limits};
use dropforge_value::{Arena, Inputs, ReadPaths, Value};

/// A space that is reset before every render. A session belongs to one thread, renders any number of programs and keeps
/// its memory.
#[derive(Debug, Default)]
pub struct Session {
    space: Space,
    /// A buffer for the text of results, and for output that is dropped.
    #[doc(hidden)]
    pub text: String,
}

impl Session {
    /// Creates an empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a deadline for the following renders, in addition to their time limit. A render notices within some
    /// milliseconds that it is over, and fails with `limit.time`.
    pub fn set_deadline(&mut self, deadline: Option<Arc<Deadline>>) {
        self.space.deadline = deadline;
    }

    /// Returns a context for work of the host before a render, with full budgets.
    #[doc(hidden)]
    pub fn context<'s>(&'s self, limits: &'s Limits) -> Cx<'s> {
        self.space.context(limits)
    }

    /// Returns what the last render had left.
    #[doc(hidden)]
    pub fn left(&self) -> Option<Budgets> {
        self.space.left.get()
    }
}

/// Runs a program and appends its output to `out`. After an error, `out` holds the output before it.
pub fn run<S: Semantics + Default, H: Hooks>(
    session: &mut Session,
    run: Run<'_>,
    out: &mut String,
    hooks: &mut H,
) -> Result<()> {
    answer(&S::default(), session, run, Some(out), hooks).map(drop)
}

/// Runs a program by the rules of its language for its result, which lives until the next run of the session. Output is
/// appended to `out`, or dropped.
///
/// # Errors
/// The errors of the run.
pub fn answer<'s, S: Semantics + ?Sized, H: Hooks>(
    rules: &S,
    session: &'s mut Session,
    run: Run<'s>,
    out: Option<&mut String>,
    hooks: &mut H,
) -> Result<Value<'s>> {
    #[cfg(feature = "checked")]
    if H::CHECKS {
        return run_by::<S, H, Checking>(rules, session, run, out, hooks);
    }
    run_by::<S, H, Trusting>(rules, session, run, out, hooks)
}

/// Runs a program in the space of a session, and calls `end` with its result. Output is appended to `out`.
///
/// # Errors
/// The errors of the run.
pub(crate) fn ended<'s, S: Semantics + ?Sized>(
    rules: &S,
    session: &'s mut Session,
    run: Run<'s>,
    out: &mut String,
    end: &mut dyn FnMut(&Cx<'s>, Value<'s>),
) -> Result<()> {
    session.space.reset();
    run_in::<S, NoHooks, Trusting, _>(rules, &session.space, run, Some(out), &mut NoHooks, |machine| {
        machine.settled().map(|()| end(&machine.cx, machine.result))
    })
}

/// Runs a program in the space of a session. Output is dropped without `out`.
pub(super) fn run_by<'s, S: Semantics + ?Sized, H: Hooks, A: Access>(
    rules: &S,
    session: &'s mut Session,
    run: Run<'s>,
    out: Option<&mut String>,
    hooks: &mut H,
) -> Result<Value<'s>> {
    let Session { space, text } = session;
    space.reset();
    let out = match out {
        Some(out) => out,
        None => {
            text.clear();
            text
        }
    };
    run_in::<S, H, A, _>(rules, space, run, Some(out), hooks, |machine| machine.settled().map(|()| machine.result))
}

/// The arguments of a run.
#[derive(Debug, Clone, Copy)]
pub struct Run<'r> {
    /// The program.
    pub program: &'r Program,
    /// Its imports, linked.
    pub linked: &'r Linked,
    /// The inputs.
    pub inputs: Inputs<'r>,
    /// The limits.
    pub limits: &'r Limits,
    /// The capabilities that the engine allows.
    pub capabilities: Capabilities<'r>,
    /// The budgets of an enclosing run, which this run continues to use. Without them, the limits are the budgets.
    pub budgets: Option<&'r Cell<Budgets>>,
}

/// Returns inputs with numbers that the language holds.
///
/// # Errors
/// `input.type` for a number that the program reads and that the language does not hold.
#[inline(always)]
fn held<'r, S: Semantics + ?Sized>(
    rules: &S,
    program: &Program,
    inputs: Inputs<'r>,
    arena: &'r Arena,
) -> Result<Inputs<'r>> {
    if inputs.is_long() && !rules.has_long_numbers() { narrowed(program, inputs, arena) } else { Ok(inputs) }
}

#[cold]
fn narrowed<'r>(program: &Program, inputs: Inputs<'r>, arena: &'r Arena) -> Result<Inputs<'r>> {
    let mut reads = ReadPaths::default();
    program.add_reads(&mut reads);
    inputs.narrowed(arena, &reads)
}

/// Runs the first chunk of a program in `space`. `end` computes the result. Output is dropped without `out`.
#[inline(always)]
fn run_in<'r, S: Semantics + ?Sized, H: Hooks, A: Access, R>(
    rules: &S,
    space: &'r Space,
    run: Run<'r>,
    out: Option<&mut String>,
    hooks: &mut H,
    end: impl FnOnce(&Interpreter<'r, '_, A, S>) -> Result<R>,
) -> Result<R> {
    let start = run.program.start();
    let inputs = held(rules, run.program, run.inputs, &space.arena)?;
    let room = start.fixed + (start.chunk.slots + start.chunk.stack) as usize;
    let values = space.arena.bump().alloc_slice_fill_copy(room, Value::Undefined);
    let mut state = space.memory.take(run.program);
    let ProgramState { feedback, scratch, bound, .. } = &mut *state;
    bound.bind(&space.memory.bindings, run.program, inputs, values);
    scratch.clear();
    let mut cx = Cx::new(&space.arena, inputs, run.limits, run.capabilities, &space.caches);
    cx.set_lenient(start.lenient);
    cx.set_deadline(space.deadline.as_deref());
    if let Some(budgets) = run.budgets {
        cx.set_budgets(budgets.get());
    }
    let out = Output::new(out.unwrap_or(scratch), run.limits.output_bytes);
    let outcome = {
        // Built in place and never moved: it is large relative to the work of most expressions.
        let mut machine: Interpreter<'r, '_, A, S> =
            Interpreter::new(rules, run.program.code(), run.linked, (space, cx), feedback, values, out);
        let outcome = machine.run_in_room(&start.chunk, &start.paid, hooks).and_then(|()| end(&machine));
        let left = machine.cx.budgets();
        space.left.set(Some(left));
        if let Some(budgets) = run.budgets {
            budgets.set(left);
        }
        outcome
    };
    space.memory.put(state);
    outcome
}

/// Evaluates the first chunk of a program in `space`. To evaluate a program repeatedly, or several of its chunks, use
/// an [`Evaluator`].
///
/// # Errors
/// An exceeded limit. In languages whose errors are not values, any error.
#[inline]
pub fn evaluate<'r, S: Semantics + Default>(space: &'r Space, run: Run<'r>) -> Result<Evaluation<'r>> {
    let end =
        |machine: &Interpreter<'r, '_, Trusting, S>| Ok(Evaluation { value: machine.result, errors: machine.noted() });
    run_in(&S::default(), space, run, None, &mut NoHooks, end)
}

/// Evaluates like [`evaluate`], in a language whose errors are not values.
///
/// # Errors
/// The errors of [`evaluate`].
#[inline]
pub fn value<'r, S: Semantics + Default>(space: &'r Space, run: Run<'r>) -> Result<Value<'r>> {
    run_in::<S, _, Trusting, _>(&S::default(), space, run, None, &mut NoHooks, |machine| Ok(machine.result))
}

/// Evaluates chunks of one program in sequence, in one space. All runs share one budget of steps and memory.
pub struct Evaluator<'r> {
    program: CodeView<'r>,
    linked: &'r Linked,
    space: &'r Space,
    limits: &'r Limits,
    capabilities: Capabilities<'r>,
    /// The state of the program, taken from the space.
    state: Option<Box<ProgramState>>,
    /// Inputs, memos and room for a frame. Runs with the same inputs reuse them.
    values: &'r mut [Value<'r>],
    /// The inputs in `values`.
    inputs: Option<Inputs<'r>>,
    budgets: Budgets,
    metered: u64,
}

/// The result of an evaluation.
#[derive(Debug, Clone)]
pub struct Evaluation<'r> {
    /// The value. If there are errors, the language's recovery value.
    pub value: Value<'r>,
    /// The recorded errors in order.
    pub errors: Vec<Box<Diagnostic>>,
}

impl<'r> Evaluator<'r> {
    /// Creates an evaluator of `program` with its imports.
    #[inline]
    pub fn new(
        space: &'r Space,
        program: &'r Program,
        linked: &'r Linked,
        limits: &'r Limits,
        capabilities: Capabilities<'r>,
    ) -> Self {
        Self {
            state: None,
            values: &mut [],
            inputs: None,
            program: program.code(),
            linked,
            space,
            limits,
            capabilities,
            budgets: Budgets::of(limits),
            metered: 0,
        }
    }

    /// Returns the remaining budgets.
    pub fn budgets(&self) -> Budgets {
        self.budgets
    }

    /// Returns the cost of the last run by its language's rules, even if it failed. 0 unless the program was compiled
    /// with metering.
    pub fn metered(&self) -> u64 {
        self.metered
    }

    /// Continues with the budgets of an enclosing run.
    pub fn set_budgets(&mut self, budgets: Budgets) {
        self.budgets = budgets;
    }

    /// Runs the chunk with index `chunk`, which takes no parameters.
    ///
    /// # Errors
    /// An exceeded limit. In languages whose errors are not values, any error.
    #[inline]
    pub fn run<S: Semantics + Default>(&mut self, chunk: u32, inputs: Inputs<'r>) -> Result<Evaluation<'r>> {
        self.run_hooked::<S, _>(chunk, inputs, &mut NoHooks)
    }

    /// Returns at least `room` values. The first `fixed` are the bound inputs and the memos.
    #[inline]
    fn values(
        &mut self,
        fixed: usize,
        room: usize,
        inputs: Inputs<'r>,
        state: &mut ProgramState,
    ) -> &'r mut [Value<'r>] {
        let mut values = std::mem::take(&mut self.values);
        let same = self.inputs.is_some_and(|last| last.is(&inputs));
        if values.len() < room {
            // Each chunk may need a little more room than the one before.
            let room = room.max(values.len() * 2);
            let more = self.space.arena.bump().alloc_slice_fill_copy(room, Value::Undefined);
            let reused = if same { fixed } else { 0 };
            values.iter().zip(more.iter_mut()).take(reused).for_each(|(old, new)| *new = *old);
            values = more;
        } else if let (false, Some(fixed)) = (same, values.get_mut(..fixed)) {
            fixed.fill(Value::Undefined);
        }
        if !same {
            state.bound.bind(&self.space.memory.bindings, &self.program, inputs, values);
        }
        values
    }

    /// Runs a chunk like [`Evaluator::run`], observed by `hooks`.
    ///
    /// # Errors
    /// The errors of [`Evaluator::run`].
    #[inline]
    pub fn run_hooked<S: Semantics + Default, H: Hooks>(
        &mut self,
        chunk: u32,
        inputs: Inputs<'r>,
        hooks: &mut H,
    ) -> Result<Evaluation<'r>> {
        let (program, space) = (self.program, self.space);
        let inputs = held(&S::default(), &program, inputs, &space.arena)?;
        let Some(chunk) = program.chunk(chunk).filter(|chunk| chunk.params == 0) else { return Err(no_chunk(chunk)) };
        let mut state = self.state.take().unwrap_or_else(|| space.memory.take(&program));
        let (fixed, frame) = (program.start().fixed, (chunk.slots + chunk.stack) as usize);
        let values = self.values(fixed, fixed + frame, inputs, &mut state);
        if let Some(slots) = values.get_mut(fixed..fixed + chunk.slots as usize) {
            slots.fill(Value::Undefined);
        }
        let ProgramState { feedback, scratch, .. } = &mut *state;
        scratch.clear();
        let cx = Cx::new(&space.arena, inputs, self.limits, self.capabilities, &space.caches);
        cx.set_lenient(program.start().lenient);
        cx.set_budgets(self.budgets);
        let out = Output::new(scratch, self.limits.output_bytes);
        let rules = S::default();
        let mut machine: Interpreter<'r, '_, Trusting, S> =
            Interpreter::new(&rules, program, self.linked, (space, cx), feedback, values, out);
        let outcome = machine.run_in_room(&chunk, &chunk, hooks);
        let evaluation = Evaluation { value: machine.result, errors: machine.noted() };
        self.budgets = machine.cx.budgets();
        self.metered = machine.cx.metered();
        (self.values, self.inputs) = (machine.values, Some(inputs));
        self.state = Some(state);
        outcome.map(|()| evaluation)
    }
}

/// Returns the error of a chunk that does not exist or takes parameters.
#[cold]
fn no_chunk(chunk: u32) -> Box<Diagnostic> {
    Diagnostic::new(Code::CorruptProgram, format!("the program has no chunk {chunk} that can be run alone"))
}

impl Drop for Evaluator<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            self.space.memory.put(state);
        }
    }
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}
