//! Evaluation of chunks for their results.

use super::access::Trusting;
use super::hooks::{Hooks, NoHooks};
use super::machine::Machine;
use super::memory::{Space, State};
use super::output::Output;
use super::semantics::Semantics;
use super::session::{Run, run_in};
use crate::bytecode::{CodeView, Program};
use crate::function::{Budgets, Capabilities, Cx, Linked};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_value::{Inputs, Value};

/// Evaluates the first chunk of a program in `space`. To evaluate a program repeatedly, or several of its chunks, use
/// an [`Evaluator`].
///
/// # Errors
/// An exceeded limit. In languages whose errors are not values, any error.
#[inline]
pub fn evaluate<'r, S: Semantics + Default>(space: &'r Space, run: Run<'r>) -> Result<Evaluation<'r>> {
    let end = |machine: &Machine<'r, '_, Trusting>| Ok(Evaluation { value: machine.result, errors: machine.noted() });
    run_in::<S, _, _, _>(space, run, None, &mut NoHooks, end)
}

/// Evaluates like [`evaluate`], in a language whose errors are not values.
///
/// # Errors
/// The errors of [`evaluate`].
#[inline]
pub fn value<'r, S: Semantics + Default>(space: &'r Space, run: Run<'r>) -> Result<Value<'r>> {
    run_in::<S, _, Trusting, _>(space, run, None, &mut NoHooks, |machine| Ok(machine.result))
}

/// Evaluates chunks of one program in sequence, in one space. All runs share one budget of steps and memory.
pub struct Evaluator<'r> {
    program: CodeView<'r>,
    linked: &'r Linked,
    space: &'r Space,
    limits: &'r Limits,
    capabilities: Capabilities<'r>,
    /// The state of the program, taken from the space.
    state: Option<Box<State>>,
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
    fn values(&mut self, fixed: usize, room: usize, inputs: Inputs<'r>, state: &mut State) -> &'r mut [Value<'r>] {
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
        let Some(chunk) = program.chunk(chunk).filter(|chunk| chunk.params == 0) else { return Err(no_chunk(chunk)) };
        let mut state = self.state.take().unwrap_or_else(|| space.memory.take(&program));
        let (fixed, frame) = (program.start().fixed, (chunk.slots + chunk.stack) as usize);
        let values = self.values(fixed, fixed + frame, inputs, &mut state);
        if let Some(slots) = values.get_mut(fixed..fixed + chunk.slots as usize) {
            slots.fill(Value::Undefined);
        }
        let State { feedback, scratch, .. } = &mut *state;
        scratch.clear();
        let cx = Cx::new(&space.arena, inputs, self.limits, self.capabilities, &space.caches);
        cx.set_lenient(program.start().lenient);
        cx.set_budgets(self.budgets);
        let out = Output::new(scratch, self.limits.output_bytes);
        let mut machine: Machine<'r, '_, Trusting> =
            Machine::new(program, self.linked, (space, cx), feedback, values, out);
        let outcome = machine.run_in_room::<S, H>(&chunk, &chunk, hooks);
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
