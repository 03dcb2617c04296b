//! A session: what is kept from render to render.

use std::cell::Cell;

use hashbrown::HashMap;

use super::access::{Access, Checking, Trusting};
use super::bind::{Bindings, Bound};
use super::dispatch::Hooks;
use super::machine::{COLD, Cache, Machine};
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::{CodeView, Program};
use crate::diagnostics::Result;
use crate::function::{Capabilities, Cx, Linked, Regexes};
use crate::limits::Limits;
use crate::value::{Arena, Inputs, Value};

/// Arena, inline caches and compiled regular expressions, for one thread. A session renders any number of
/// programs, one after the other, and keeps its memory.
#[derive(Debug, Default)]
pub struct Session {
    arena: Arena,
    regexes: Regexes,
    programs: HashMap<u64, Kept>,
    bindings: Bindings,
}

/// What is kept for one program.
#[derive(Debug)]
struct Kept {
    caches: Box<[Cache]>,
    bound: Bound,
}

/// How many programs a session keeps something for.
const PROGRAMS: usize = 1024;

impl Session {
    /// A fresh session.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What is kept for `program`.
#[inline]
fn kept_for<'k>(programs: &'k mut HashMap<u64, Kept>, program: &CodeView<'_>) -> &'k mut Kept {
    if programs.len() >= PROGRAMS && !programs.contains_key(&program.id()) {
        programs.clear();
    }
    programs.entry(program.id()).or_insert_with(|| Kept {
        caches: std::iter::repeat_n(Cell::new(COLD), program.caches as usize).collect(),
        bound: Bound::default(),
    })
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
    pub capabilities: Capabilities,
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
    let Session { arena, regexes, programs, bindings } = session;
    arena.reset();
    let arena = &*arena;
    let program = run.program.code();
    let fixed = program.globals.len() + program.memos as usize;
    let frame = program.chunk(0).map_or(0, |chunk| (chunk.slots + chunk.stack) as usize);
    let values = arena.bump().alloc_slice_fill_copy(fixed + frame, Value::Undefined);
    let Kept { caches, bound } = kept_for(programs, &program);
    bound.bind(bindings, &program, run.inputs, values);
    let cx = Cx::new(arena, run.inputs, run.limits, run.capabilities, regexes);
    let out = Output::new(out, run.limits.output_bytes);
    let mut machine: Machine<'_, '_, A> = Machine::new(program, run.linked, cx, caches, values, out);
    machine.run::<S, H>(0, hooks)?;
    machine.settled()
}
