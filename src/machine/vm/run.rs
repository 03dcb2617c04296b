//! One run of a program's first chunk.

use std::cell::Cell;

use super::access::Access;
use super::hooks::Hooks;
use super::machine::Machine;
use super::memory::State;
use super::output::Output;
use super::semantics::Semantics;
use super::space::Space;
use crate::bytecode::Program;
use crate::function::{Budgets, Capabilities, Cx, Linked};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_value::{Inputs, Value};

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
