//! A session: what is kept from render to render.

use super::access::{Access, Checking, Trusting};
use super::dispatch::Hooks;
use super::evaluate::Space;
use super::machine::Machine;
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::Program;
use crate::diagnostics::Result;
use crate::function::{Capabilities, Cx, Linked};
use crate::limits::Limits;
use crate::value::{Inputs, Value};

/// A space that every render begins anew in, for one thread. A session renders any number of programs, one after the
/// other, and keeps its memory.
#[derive(Debug, Default)]
pub struct Session {
    space: Space,
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
}

/// Runs a program and appends what it writes to `out`. On an error `out` holds what was written before it.
pub fn run<S: Semantics, H: Hooks>(session: &mut Session, run: Run<'_>, out: &mut String, hooks: &mut H) -> Result<()> {
    run_by::<S, H, Trusting>(session, run, out, hooks)
}

/// The same by a machine that checks every index it is given and panics where one is wrong: slower, and what
/// tests hold [`run`] and the verifier against.
pub fn run_checked<S: Semantics>(session: &mut Session, run: Run<'_>, out: &mut String) -> Result<()> {
    run_by::<S, super::NoHooks, Checking>(session, run, out, &mut super::NoHooks)
}

fn run_by<S: Semantics, H: Hooks, A: Access>(
    session: &mut Session,
    run: Run<'_>,
    out: &mut String,
    hooks: &mut H,
) -> Result<()> {
    session.space.reset();
    let space = &session.space;
    let program = run.program.code();
    let fixed = program.globals.len() + program.memos as usize;
    let frame = program.chunk(0).map_or(0, |chunk| (chunk.slots + chunk.stack) as usize);
    let values = space.arena.bump().alloc_slice_fill_copy(fixed + frame, Value::Undefined);
    let mut kept = space.memory.take(&program);
    kept.bound.bind(&space.memory.bindings, &program, run.inputs, values);
    let cx = Cx::new(&space.arena, run.inputs, run.limits, run.capabilities, &space.regexes);
    let out = Output::new(out, run.limits.output_bytes);
    let mut machine: Machine<'_, '_, A> = Machine::new(program, run.linked, cx, &kept.caches, values, out);
    let outcome = machine.run::<S, H>(0, hooks).and_then(|()| machine.settled());
    drop(machine);
    space.memory.put(kept);
    outcome
}
