//! Running chunks for their answers.

use std::cell::Cell;

use super::access::Trusting;
use super::bind::{Bindings, Bound};
use super::dispatch::{Hooks, NoHooks};
use super::machine::{COLD, Cache, Machine};
use super::output::Output;
use super::semantics::Semantics;
use crate::bytecode::{CodeView, Program};
use crate::diagnostics::{Diagnostic, Result};
use crate::function::{Capabilities, Cx, Linked, Regexes};
use crate::limits::Limits;
use crate::value::{Arena, Inputs, Text, Value};

/// Where the answers of runs live: an arena and the compiled regular expressions. Nothing in it goes before it does or is
/// [reset](Space::reset).
#[derive(Debug, Default)]
pub struct Space {
    pub(crate) arena: Arena,
    pub(crate) regexes: Regexes,
}

impl Space {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all values in it and keeps its memory for what comes next.
    pub fn reset(&mut self) {
        self.arena.reset();
    }

    /// The arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// A context for working with values outside of a run, with full budgets and no inputs.
    pub fn context<'s>(&'s self, limits: &'s Limits) -> Cx<'s> {
        Cx::new(&self.arena, Inputs::default(), limits, Capabilities::NONE, &self.regexes)
    }
}

/// Runs the chunks of one program for their answers, one after the other, in one space. All of its runs together use
/// one budget of steps and memory.
pub struct Evaluator<'r> {
    program: CodeView<'r>,
    linked: &'r Linked,
    space: &'r Space,
    limits: &'r Limits,
    capabilities: Capabilities,
    caches: &'r [Cache],
    /// String constants as values, kept from run to run: there may be many more than one run needs.
    texts: &'r [Cell<Option<&'r Text<'r>>>],
    /// Inputs, memos and room for a frame, kept from run to run: what stays the same while the inputs do is not found
    /// again, and a program of many chunks has as many memos.
    values: &'r mut [Value<'r>],
    /// The inputs that the values are those of.
    inputs: Option<Inputs<'r>>,
    budgets: (u64, u64),
    bound: Bound,
    bindings: Bindings,
    scratch: String,
}

/// What a run answered, and what it noted.
#[derive(Debug, Clone)]
pub struct Answer<'r> {
    /// The value; where there were errors, what the language goes on with.
    pub value: Value<'r>,
    /// The errors, in the order in which they were noted.
    pub errors: Vec<Box<Diagnostic>>,
}

impl<'r> Evaluator<'r> {
    /// An evaluator of `program` with its imports.
    pub fn new(
        space: &'r Space,
        program: &'r Program,
        linked: &'r Linked,
        limits: &'r Limits,
        capabilities: Capabilities,
    ) -> Self {
        let program = program.code();
        let caches = (0..program.caches).map(|_| Cell::new(COLD));
        Self {
            caches: space.arena.bump().alloc_slice_fill_iter(caches),
            texts: &[],
            values: &mut [],
            inputs: None,
            program,
            linked,
            space,
            limits,
            capabilities,
            budgets: (limits.fuel, limits.memory),
            bound: Bound::default(),
            bindings: Bindings::default(),
            scratch: String::new(),
        }
    }

    /// What is left of the budgets: steps and bytes.
    pub fn budgets(&self) -> (u64, u64) {
        self.budgets
    }

    /// Goes on with these budgets: those of what this is a part of.
    pub fn set_budgets(&mut self, budgets: (u64, u64)) {
        self.budgets = budgets;
    }

    /// Runs the chunk with index `chunk`, which takes no parameters, with `inputs`.
    ///
    /// # Errors
    /// A limit that was reached; in languages whose errors are not values, any error.
    pub fn run<S: Semantics>(&mut self, chunk: u32, inputs: Inputs<'r>) -> Result<Answer<'r>> {
        self.run_hooked::<S, _>(chunk, inputs, &mut NoHooks)
    }

    /// Room for `room` values, of which the first `fixed` are the inputs, bound, and the memos.
    fn values(&mut self, fixed: usize, room: usize, inputs: Inputs<'r>) -> &'r mut [Value<'r>] {
        let mut values = std::mem::take(&mut self.values);
        if values.len() < room {
            let old: &[Value<'r>] = values;
            let kept = (0..room).map(|at| old.get(at).copied().filter(|_| at < fixed).unwrap_or_default());
            values = self.space.arena.bump().alloc_slice_fill_iter(kept);
        }
        if !self.inputs.take().is_some_and(|last| last.is(&inputs)) {
            if let Some(fixed) = values.get_mut(..fixed) {
                fixed.fill(Value::Undefined);
            }
            self.bound.bind(&mut self.bindings, &self.program, inputs, values);
        }
        values
    }

    /// The same, watched by `hooks`.
    ///
    /// # Errors
    /// As [`Evaluator::run`].
    pub fn run_hooked<S: Semantics, H: Hooks>(
        &mut self,
        chunk: u32,
        inputs: Inputs<'r>,
        hooks: &mut H,
    ) -> Result<Answer<'r>> {
        let arena = &self.space.arena;
        let program = self.program;
        let fixed = program.globals.len() + program.memos as usize;
        let frame = program.chunk(chunk).map_or(0, |chunk| (chunk.slots + chunk.stack) as usize);
        let values = self.values(fixed, fixed + frame, inputs);
        self.scratch.clear();
        let cx = Cx::new(arena, inputs, self.limits, self.capabilities, &self.space.regexes);
        let cx = cx.with_budgets(self.budgets);
        let out = Output::new(&mut self.scratch, self.limits.output_bytes);
        let mut machine: Machine<'r, '_, Trusting> = Machine::new(program, self.linked, cx, self.caches, values, out);
        machine.texts = self.texts;
        let outcome = machine.run::<S, H>(chunk, hooks);
        let answer = Answer { value: machine.answer, errors: machine.noted() };
        self.budgets = machine.cx.budgets();
        (self.texts, self.values, self.inputs) = (machine.texts, machine.values, Some(inputs));
        outcome.map(|()| answer)
    }
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}
