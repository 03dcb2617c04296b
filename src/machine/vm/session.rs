//! Sessions: repeated renders on one thread, and one run of a program's first chunk.

use std::cell::Cell;
use std::sync::Arc;

use super::access::{Access, Trusting};
#[cfg(feature = "checked")]
use super::checked::Checking;
use super::hooks::{Hooks, NoHooks};
use super::machine::Machine;
use super::memory::{Space, State};
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::Program;
use crate::function::{Budgets, Capabilities, Cx, Linked};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::{Deadline, Limits};
use dropforge_value::{Inputs, Value};

/// A space that is reset before every render. A session belongs to one thread, renders any number of programs and keeps
/// its memory.
#[derive(Debug, Default)]
pub struct Session {
    space: Space,
    /// A buffer for the text of results, and for output that is dropped.
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

    /// Returns how many bytes of its memory limit the last render had left.
    pub fn memory_left(&self) -> u64 {
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
    answer::<S, H>(session, run, Some(out), hooks).map(drop)
}

/// Runs a program for its result, which lives until the next run of the session. Output is appended to `out`, or dropped.
///
/// # Errors
/// The errors of the run.
pub fn answer<'s, S: Semantics + Default, H: Hooks>(
    session: &'s mut Session,
    run: Run<'s>,
    out: Option<&mut String>,
    hooks: &mut H,
) -> Result<Value<'s>> {
    #[cfg(feature = "checked")]
    if H::CHECKS {
        return run_by::<S, H, Checking>(session, run, out, hooks);
    }
    run_by::<S, H, Trusting>(session, run, out, hooks)
}

/// Runs a program in the space of a session for what `end` makes of its result. Output is appended to `out`.
///
/// # Errors
/// The errors of the run.
pub fn ended<'s, S: Semantics + Default, R>(
    session: &'s mut Session,
    run: Run<'s>,
    out: &mut String,
    end: impl FnOnce(&Cx<'s>, Value<'s>) -> R,
) -> Result<R> {
    session.space.reset();
    run_in::<S, NoHooks, Trusting, _>(&session.space, run, Some(out), &mut NoHooks, |machine| {
        machine.settled().map(|()| end(&machine.cx, machine.result))
    })
}

/// Runs a program in the space of a session. Output is dropped without `out`.
pub(super) fn run_by<'s, S: Semantics + Default, H: Hooks, A: Access>(
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
    run_in::<S, H, A, _>(space, run, Some(out), hooks, |machine| machine.settled().map(|()| machine.result))
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

/// Runs the first chunk of a program in `space`. `end` computes the result. Output is dropped without `out`.
#[inline(always)]
pub(super) fn run_in<'r, S: Semantics + Default, H: Hooks, A: Access, R>(
    space: &'r Space,
    run: Run<'r>,
    out: Option<&mut String>,
    hooks: &mut H,
    end: impl FnOnce(&Machine<'r, '_, A>) -> Result<R>,
) -> Result<R> {
    let start = run.program.start();
    let room = start.fixed + (start.chunk.slots + start.chunk.stack) as usize;
    let values = space.arena.bump().alloc_slice_fill_copy(room, Value::Undefined);
    let mut state = space.memory.take(run.program);
    let State { feedback, scratch, bound, .. } = &mut *state;
    bound.bind(&space.memory.bindings, run.program, run.inputs, values);
    scratch.clear();
    let mut cx = Cx::new(&space.arena, run.inputs, run.limits, run.capabilities, &space.caches);
    cx.set_lenient(start.lenient);
    cx.set_deadline(space.deadline.as_deref());
    if let Some(budgets) = run.budgets {
        cx.set_budgets(budgets.get());
    }
    let out = Output::new(out.unwrap_or(scratch), run.limits.output_bytes);
    let outcome = {
        // Built in place and never moved: it is large relative to the work of most expressions.
        let mut machine: Machine<'r, '_, A> =
            Machine::new(run.program.code(), run.linked, (space, cx), feedback, values, out);
        let outcome = machine.run_in_room::<S, H>(&start.chunk, &start.paid, hooks).and_then(|()| end(&machine));
        let left = machine.cx.budgets();
        space.left.set(left.memory);
        if let Some(budgets) = run.budgets {
            budgets.set(left);
        }
        outcome
    };
    space.memory.put(state);
    outcome
}
