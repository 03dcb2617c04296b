//! A session: what is kept from render to render.

use std::cell::Cell;
use std::marker::PhantomData;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::access::{Access, Checking, Trusting};
use super::dispatch::Hooks;
use super::machine::{COLD, Cache, Machine};
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::Program;
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
    caches: HashMap<u64, Box<[Cache]>>,
}

/// Slots and values on stacks there is room for before the arena has to give more.
const VALUES: usize = 48;

/// How many programs a session keeps caches for.
const PROGRAMS: usize = 1024;

impl Session {
    /// A fresh session.
    pub fn new() -> Self {
        Self::default()
    }

    fn prepare(&mut self, program: &Program) {
        self.arena.reset();
        if self.caches.len() >= PROGRAMS && !self.caches.contains_key(&program.id) {
            self.caches.clear();
        }
        let sites = program.caches as usize + 2 * program.globals.len();
        self.caches.entry(program.id).or_insert_with(|| std::iter::repeat_n(Cell::new(COLD), sites).collect());
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
    session.prepare(run.program);
    let Session { arena, regexes, caches } = &*session;
    let caches = caches.get(&run.program.id).map_or(&[][..], |caches| caches);
    let (sites, bindings) = caches.split_at_checked(run.program.caches as usize).unwrap_or((caches, &[]));
    let fixed = run.program.globals.len() + run.program.memos as usize;
    let values = arena.bump().alloc_slice_fill_copy(fixed + VALUES, Value::Undefined);
    bind(run.program, run.inputs, bindings, values);
    let mut machine: Machine<'_, '_, A> = Machine {
        program: run.program,
        linked: run.linked,
        cx: Cx::new(arena, run.inputs, run.limits, run.capabilities, regexes),
        caches: sites,
        texts: arena.bump().alloc_slice_fill_with(run.program.strings.len(), |_| Cell::new(None)),
        values,
        top: fixed,
        base: fixed,
        loops: bumpalo::collections::Vec::new_in(arena.bump()),
        captures: SmallVec::new(),
        frames: SmallVec::new(),
        at: 0,
        out: Output::new(out, run.limits.output_bytes),
        access: PhantomData,
    };
    let mut at = machine.enter(0, 0, 0)?;
    loop {
        match machine.execute::<S, H>(at, hooks) {
            Ok(()) => return Ok(()),
            Err(error) => at = machine.unwind(error)?,
        }
    }
}

/// Puts the values of the program's top-level inputs in front; each has a cache for each layer.
fn bind<'r>(program: &Program, inputs: Inputs<'r>, caches: &[Cache], values: &mut [Value<'r>]) {
    let mut caches = caches.iter();
    for (&name, place) in program.globals.iter().zip(values) {
        let mut found = None;
        for layer in inputs.layers() {
            let cache = caches.next();
            if let (None, Some(map)) = (found, layer) {
                found = cached_find(map, program, name, cache);
            }
        }
        *place = found.unwrap_or_default();
    }
}

fn cached_find<'r>(
    map: &'r crate::value::Map<'r>,
    program: &Program,
    name: u32,
    cache: Option<&Cache>,
) -> Option<Value<'r>> {
    const ABSENT: u32 = u32::MAX;
    let id = map.shape().id();
    if let Some((known, at)) = cache.map(Cell::get)
        && known == id
    {
        return if at == ABSENT { None } else { map.values().get(at as usize).copied() };
    }
    let found = map.shape().find(program.str(name));
    if let (Some(cache), 1..) = (cache, id) {
        cache.set((id, found.and_then(|at| u32::try_from(at).ok()).unwrap_or(ABSENT)));
    }
    map.values().get(found?).copied()
}
