//! A session: what is kept from render to render.

use std::cell::Cell;

use super::access::{Access, Checking, Trusting};
use super::dispatch::Hooks;
use super::evaluate::Space;
use super::kept::Kept;
use super::machine::Machine;
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::Program;
use crate::diagnostics::Result;
use crate::function::{Budgets, Capabilities, Cx, Linked};
use crate::limits::Limits;
use crate::value::{Inputs, Value};

/// A space that every render begins anew in, for one thread. A session renders any number of programs, one after the
/// other, and keeps its memory.
#[derive(Debug, Default)]
pub struct Session {
    space: Space,
    /// Room for what is written of answers.
    pub(crate) text: String,
}

impl Session {
    /// A fresh session.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What one render needs besides the session.
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
    /// What the engine allows.
    pub capabilities: Capabilities<'r>,
    /// The budgets of what this is a part of: they go on. Else the limits say how large they are.
    pub budgets: Option<&'r Cell<Budgets>>,
}

/// Runs a program and appends what it writes to `out`. On an error `out` holds what was written before it.
pub fn run<S: Semantics, H: Hooks>(session: &mut Session, run: Run<'_>, out: &mut String, hooks: &mut H) -> Result<()> {
    run_by::<S, H, Trusting>(session, run, Some(out), hooks).map(drop)
}

/// Runs a program for its answer, which lives until the session runs another. What the program writes is dropped.
///
/// # Errors
/// Those of the run.
pub fn answer<'s, S: Semantics, H: Hooks>(session: &'s mut Session, run: Run<'s>, hooks: &mut H) -> Result<Value<'s>> {
    run_by::<S, H, Trusting>(session, run, None, hooks)
}

/// [`answer`] by the machine of [`run_checked`].
///
/// # Errors
/// Those of the run.
pub fn answer_checked<'s, S: Semantics>(session: &'s mut Session, run: Run<'s>) -> Result<Value<'s>> {
    run_by::<S, super::NoHooks, Checking>(session, run, None, &mut super::NoHooks)
}

/// The same by a machine that checks every index it is given and panics where one is wrong: slower, and what
/// tests hold [`run`] and the verifier against.
pub fn run_checked<S: Semantics>(session: &mut Session, run: Run<'_>, out: &mut String) -> Result<()> {
    run_by::<S, super::NoHooks, Checking>(session, run, Some(out), &mut super::NoHooks).map(drop)
}

/// Runs a program in what is left of a session; without `out` what it writes is dropped.
fn run_by<'s, S: Semantics, H: Hooks, A: Access>(
    session: &'s mut Session,
    run: Run<'s>,
    out: Option<&mut String>,
    hooks: &mut H,
) -> Result<Value<'s>> {
    session.space.reset();
    run_in::<S, H, A, _>(&session.space, run, out, hooks, |machine| machine.settled().map(|()| machine.answer))
}

/// Runs the first chunk of a program in `space`; `end` says what comes of it. Without `out` what it writes is dropped.
#[inline(always)]
pub(super) fn run_in<'r, S: Semantics, H: Hooks, A: Access, R>(
    space: &'r Space,
    run: Run<'r>,
    out: Option<&mut String>,
    hooks: &mut H,
    end: impl FnOnce(&Machine<'r, '_, A>) -> Result<R>,
) -> Result<R> {
    let start = run.program.start();
    let room = start.fixed + (start.chunk.slots + start.chunk.stack) as usize;
    let values = space.arena.bump().alloc_slice_fill_copy(room, Value::Undefined);
    let mut kept = space.memory.take(run.program);
    let Kept { learnt, scratch, bound, .. } = &mut *kept;
    bound.bind(&space.memory.bindings, run.program, run.inputs, values);
    scratch.clear();
    let cx = Cx::new(&space.arena, run.inputs, run.limits, run.capabilities, &space.caches);
    if let Some(budgets) = run.budgets {
        cx.set_budgets(budgets.get());
    }
    let out = Output::new(out.unwrap_or(scratch), run.limits.output_bytes);
    let outcome = {
        // Made in its place and never moved: it is large beside what most expressions do.
        let mut machine: Machine<'r, '_, A> = Machine::new(run.program.code(), run.linked, cx, learnt, values, out);
        let outcome = machine.run_in_room::<S, H>(&start.chunk, hooks).and_then(|()| end(&machine));
        if let Some(budgets) = run.budgets {
            budgets.set(machine.cx.budgets());
        }
        outcome
    };
    space.memory.put(kept);
    outcome
}
