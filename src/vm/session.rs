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
use crate::bytecode::{CodeView, Program};
use crate::diagnostics::Result;
use crate::function::{Capabilities, Cx, Linked, Regexes};
use crate::limits::Limits;
use crate::value::{Arena, Inputs, Map, Value};

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

    /// The arena, emptied, the compiled patterns, and the caches of `program`.
    fn prepare(&mut self, program: &Program) -> (&Arena, &Regexes, &[Cache]) {
        self.arena.reset();
        if self.caches.len() >= PROGRAMS && !self.caches.contains_key(&program.id()) {
            self.caches.clear();
        }
        let cold = || {
            let code = program.code();
            std::iter::repeat_n(Cell::new(COLD), code.caches as usize + 1 + code.globals.len()).collect()
        };
        let caches = self.caches.entry(program.id()).or_insert_with(cold);
        (&self.arena, &self.regexes, caches)
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
    let (arena, regexes, caches) = session.prepare(run.program);
    let program = run.program.code();
    let (sites, bindings) = caches.split_at_checked(program.caches as usize).unwrap_or((caches, &[]));
    let fixed = program.globals.len() + program.memos as usize;
    let values = arena.bump().alloc_slice_fill_copy(fixed + VALUES, Value::Undefined);
    bind(program, run.inputs, bindings, values);
    let mut machine: Machine<'_, '_, A> = Machine {
        program,
        linked: run.linked,
        cx: Cx::new(arena, run.inputs, run.limits, run.capabilities, regexes),
        caches: sites,
        texts: arena.bump().alloc_slice_fill_with(program.strings.len(), |_| Cell::new(None)),
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

/// Puts the values of the program's top-level inputs in front. Where each is found is remembered for inputs of
/// the same shapes: the first cell holds the shapes' ids, the others a layer (counted from 1, 0 for none) and an
/// index each.
fn bind<'r>(program: CodeView<'_>, inputs: Inputs<'r>, cells: &[Cache], values: &mut [Value<'r>]) {
    let Some((shapes, places)) = cells.split_first() else { return };
    let layers = inputs.layers();
    let [over, base] = layers.map(|layer| layer.map_or(NO_LAYER, Map::shape_id));
    if shapes.get() != (over, base) || over == 0 || base == 0 {
        for (&name, place) in program.globals.iter().zip(places) {
            place.set(find(layers, program.str(name)));
        }
        shapes.set((over, base));
    }
    for (place, value) in places.iter().zip(values) {
        let (layer, at) = place.get();
        let layer = layers.get(layer.wrapping_sub(1) as usize).copied().flatten();
        *value = layer.and_then(|map| map.values().get(at as usize)).copied().unwrap_or_default();
    }
}

/// Stands for the id of the shape of a layer that is not there.
const NO_LAYER: u32 = u32::MAX - 1;

/// The layer, counted from 1, that has `name`, and its index there.
fn find(layers: [Option<&Map<'_>>; 2], name: &str) -> (u32, u32) {
    let found = (1..).zip(layers).find_map(|(layer, map)| Some((layer, map?.shape().find(name)?)));
    found.and_then(|(layer, at)| Some((layer, u32::try_from(at).ok()?))).unwrap_or((0, 0))
}
