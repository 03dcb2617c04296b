//! Running chunks for their answers.

use std::cell::RefCell;

use super::access::Trusting;
use super::dispatch::{Hooks, NoHooks};
use super::kept::{Kept, Memory};
use super::machine::Machine;
use super::output::Output;
use super::semantics::Semantics;
use super::session::{Run, run_in};
use crate::bytecode::{CodeView, Program};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Budgets, Caches, Capabilities, Cx, Linked};
use crate::limits::Limits;
use crate::value::{Arena, Inputs, Value};

/// Where the answers of runs live, and what is kept of the programs that ran: an arena, compiled regular expressions,
/// inline caches. For one thread. No value in it goes before it does or is [reset](Space::reset).
#[derive(Debug, Default)]
pub struct Space {
    pub(crate) arena: Arena,
    pub(crate) caches: Caches,
    pub(super) memory: Memory,
}

thread_local! {
    /// The space of evaluations that do not bring their own.
    static SPACE: RefCell<Space> = RefCell::default();
}

impl Space {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Does `work` in a space that is kept for this thread and has no values in it yet.
    ///
    /// ```
    /// use dropforge::vm::Space;
    /// let len = Space::of_thread(|space| space.arena().text("abc").as_str().map(str::len));
    /// assert_eq!(len, Some(3));
    /// ```
    pub fn of_thread<R>(work: impl FnOnce(&Self) -> R) -> R {
        SPACE.with(|space| match space.try_borrow_mut() {
            Ok(mut space) => {
                space.reset();
                work(&space)
            }
            // The work of one evaluation begins another one.
            Err(_) => work(&Self::new()),
        })
    }

    /// Forgets all values in it. What is known of programs is kept, and memory for what comes next: whoever looks at
    /// one answer before the next run resets before that, and runs take no more memory then.
    pub fn reset(&mut self) {
        self.arena.reset();
    }

    /// The arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// A context for working with values outside of a run, with full budgets and no inputs.
    pub fn context<'s>(&'s self, limits: &'s Limits) -> Cx<'s> {
        Cx::new(&self.arena, Inputs::default(), limits, Capabilities::NONE, &self.caches)
    }
}

/// Runs the first chunk of a program for its answer, in `space`. Whoever runs a program again, or more than one of its
/// chunks, has an [`Evaluator`] for it.
///
/// # Errors
/// A limit that was reached; in languages whose errors are not values, any error.
#[inline]
pub fn evaluate<'r, S: Semantics>(space: &'r Space, run: Run<'r>) -> Result<Answer<'r>> {
    let end = |machine: &Machine<'r, '_, Trusting>| Ok(Answer { value: machine.answer, errors: machine.noted() });
    run_in::<S, _, _, _>(space, run, None, &mut NoHooks, end)
}

/// The same in a language whose errors are not values: the answer is the value.
///
/// # Errors
/// As [`evaluate`].
#[inline]
pub fn value<'r, S: Semantics>(space: &'r Space, run: Run<'r>) -> Result<Value<'r>> {
    run_in::<S, _, Trusting, _>(space, run, None, &mut NoHooks, |machine| Ok(machine.answer))
}

/// Runs the chunks of one program for their answers, one after the other, in one space. All of its runs together use
/// one budget of steps and memory.
pub struct Evaluator<'r> {
    program: CodeView<'r>,
    linked: &'r Linked,
    space: &'r Space,
    limits: &'r Limits,
    capabilities: Capabilities<'r>,
    /// What the space keeps of the program, while this is about to run it.
    kept: Option<Box<Kept>>,
    /// Inputs, memos and room for a frame, kept from run to run: what stays the same while the inputs do is not found
    /// again, and a program of many chunks has as many memos.
    values: &'r mut [Value<'r>],
    /// The inputs that the values are those of.
    inputs: Option<Inputs<'r>>,
    budgets: Budgets,
    metered: u64,
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
    #[inline]
    pub fn new(
        space: &'r Space,
        program: &'r Program,
        linked: &'r Linked,
        limits: &'r Limits,
        capabilities: Capabilities<'r>,
    ) -> Self {
        Self {
            kept: None,
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

    /// What is left of the budgets.
    pub fn budgets(&self) -> Budgets {
        self.budgets
    }

    /// What the last run cost in the terms of its language, also where it ended in an error; nothing of a program that
    /// was not compiled to be metered.
    pub fn metered(&self) -> u64 {
        self.metered
    }

    /// Goes on with these budgets: those of what this is a part of.
    pub fn set_budgets(&mut self, budgets: Budgets) {
        self.budgets = budgets;
    }

    /// Runs the chunk with index `chunk`, which takes no parameters, with `inputs`.
    ///
    /// # Errors
    /// A limit that was reached; in languages whose errors are not values, any error.
    #[inline]
    pub fn run<S: Semantics>(&mut self, chunk: u32, inputs: Inputs<'r>) -> Result<Answer<'r>> {
        self.run_hooked::<S, _>(chunk, inputs, &mut NoHooks)
    }

    /// Room for `room` values, of which the first `fixed` are the inputs, bound, and the memos.
    #[inline]
    fn values(&mut self, fixed: usize, room: usize, inputs: Inputs<'r>, kept: &mut Kept) -> &'r mut [Value<'r>] {
        let mut values = std::mem::take(&mut self.values);
        let same = self.inputs.is_some_and(|last| last.is(&inputs));
        if values.len() < room {
            // Ahead of what is asked for: chunks may each want a little more than the one before.
            let room = room.max(values.len() * 2);
            let more = self.space.arena.bump().alloc_slice_fill_copy(room, Value::Undefined);
            let known = if same { fixed } else { 0 };
            values.iter().zip(more.iter_mut()).take(known).for_each(|(old, new)| *new = *old);
            values = more;
        } else if let (false, Some(fixed)) = (same, values.get_mut(..fixed)) {
            fixed.fill(Value::Undefined);
        }
        if !same {
            kept.bound.bind(&self.space.memory.bindings, &self.program, inputs, values);
        }
        values
    }

    /// The same, watched by `hooks`.
    ///
    /// # Errors
    /// As [`Evaluator::run`].
    #[inline]
    pub fn run_hooked<S: Semantics, H: Hooks>(
        &mut self,
        chunk: u32,
        inputs: Inputs<'r>,
        hooks: &mut H,
    ) -> Result<Answer<'r>> {
        let (program, space) = (self.program, self.space);
        let Some(chunk) = program.chunk(chunk).filter(|chunk| chunk.params == 0) else { return Err(no_chunk(chunk)) };
        let mut kept = self.kept.take().unwrap_or_else(|| space.memory.take(&program));
        let (fixed, frame) = (program.start().fixed, (chunk.slots + chunk.stack) as usize);
        let values = self.values(fixed, fixed + frame, inputs, &mut kept);
        if let Some(slots) = values.get_mut(fixed..fixed + chunk.slots as usize) {
            slots.fill(Value::Undefined);
        }
        let Kept { learnt, scratch, .. } = &mut *kept;
        scratch.clear();
        let cx = Cx::new(&space.arena, inputs, self.limits, self.capabilities, &space.caches);
        cx.set_budgets(self.budgets);
        let out = Output::new(scratch, self.limits.output_bytes);
        let mut machine: Machine<'r, '_, Trusting> = Machine::new(program, self.linked, cx, learnt, values, out);
        let outcome = machine.run_in_room::<S, H>(&chunk, hooks);
        let answer = Answer { value: machine.answer, errors: machine.noted() };
        self.budgets = machine.cx.budgets();
        self.metered = machine.cx.metered();
        (self.values, self.inputs) = (machine.values, Some(inputs));
        self.kept = Some(kept);
        outcome.map(|()| answer)
    }
}

/// The error of a chunk that is not there, or that is run by calls only.
#[cold]
fn no_chunk(chunk: u32) -> Box<Diagnostic> {
    Diagnostic::new(Code::CorruptProgram, format!("the program has no chunk {chunk} that can be run alone"))
}

impl Drop for Evaluator<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.space.memory.put(kept);
        }
    }
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}
