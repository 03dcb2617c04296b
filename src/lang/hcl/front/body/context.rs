//! Evaluation contexts.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::DiagnosticList;
use crate::Rules;
use crate::compile::Executable;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_machine::function::{Budgets, Capabilities, Cx, Fault, Outcome, Wrong};
use dropforge_machine::vm::{Evaluator, Space};
use dropforge_value::{Arena, Inputs, Type, Value};

/// Variables, the space of their values, and one budget of steps and memory for all evaluations. Cheap to clone.
///
/// A new context has no variables. Then naming a variable is an error, and strings of the JSON syntax are literal. With
/// variables, even an empty set of them, strings of the JSON syntax are templates.
#[derive(Debug, Clone)]
pub struct Context<'r> {
    shared: Rc<Shared<'r>>,
    literal: bool,
    base: Value<'r>,
    over: Value<'r>,
}

/// The state that a context shares with its children.
struct Shared<'r> {
    space: &'r Space,
    limits: &'r Limits,
    capabilities: Capabilities<'r>,
    budgets: Cell<Budgets>,
    /// `true` after a limit was reached, which is reported once.
    stopped: Cell<bool>,
    /// The evaluators by program id.
    evaluators: RefCell<HashMap<u64, Evaluator<'r>>>,
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}

impl<'r> Context<'r> {
    /// Creates a context without variables, whose values live in `space`.
    pub fn new(space: &'r Space, limits: &'r Limits) -> Self {
        Self::with_capabilities(space, limits, Capabilities::NONE)
    }

    /// Creates a context without variables, whose functions may use `capabilities`.
    pub fn with_capabilities(space: &'r Space, limits: &'r Limits, capabilities: Capabilities<'r>) -> Self {
        let shared = Shared {
            space,
            limits,
            capabilities,
            budgets: Cell::new(Budgets::of(limits)),
            stopped: Cell::new(false),
            evaluators: RefCell::default(),
        };
        Self { shared: Rc::new(shared), literal: true, base: Value::Undefined, over: Value::Undefined }
    }

    /// Returns the context with other variables, a map.
    pub fn with_variables(&self, variables: Value<'r>) -> Self {
        Self { shared: self.shared.clone(), literal: false, base: variables, over: Value::Undefined }
    }

    /// Returns the context with strings of the JSON syntax as templates.
    pub fn evaluating(&self) -> Self {
        Self { literal: false, ..self.clone() }
    }

    /// Returns the context with more variables, which hide those of the same name.
    pub fn child(&self, more: impl IntoIterator<Item = (&'r str, Value<'r>)>) -> Self {
        let mut entries: Vec<(&str, Value<'_>)> = self.over.as_map().into_iter().flat_map(|over| over.iter()).collect();
        entries.extend(more);
        Self { literal: false, over: self.arena().map(&entries), ..self.clone() }
    }

    /// The arena of the values.
    pub fn arena(&self) -> &'r Arena {
        self.shared.space.arena()
    }

    /// The limits.
    pub fn limits(&self) -> &'r Limits {
        self.shared.limits
    }

    /// The variables.
    pub fn variables(&self) -> Inputs<'r> {
        Inputs::layered(self.base, self.over)
    }

    /// Returns `true` if strings of the JSON syntax are literal.
    pub(super) fn is_literal(&self) -> bool {
        self.literal
    }

    /// Evaluates a chunk. Without one, the value is unknown.
    pub(super) fn run(
        &self,
        chunk: Result<Option<(&'r Executable, u32)>>,
        diagnostics: &mut DiagnosticList,
    ) -> Value<'r> {
        let value = match chunk {
            Ok(chunk) => chunk.and_then(|(executable, chunk)| self.run_chunk(executable, chunk, diagnostics)),
            Err(limit) => {
                self.stop(limit, diagnostics);
                None
            }
        };
        value.unwrap_or_else(|| self.arena().faulty(Type::Dynamic))
    }

    fn run_chunk(&self, executable: &'r Executable, chunk: u32, diagnostics: &mut DiagnosticList) -> Option<Value<'r>> {
        let shared = &*self.shared;
        if shared.stopped.get() {
            return None;
        }
        let mut evaluators = shared.evaluators.try_borrow_mut().ok()?;
        let evaluator = evaluators
            .entry(executable.program().id())
            .or_insert_with(|| executable.evaluator(shared.space, shared.limits, shared.capabilities));
        evaluator.set_budgets(shared.budgets.get());
        let outcome = evaluator.run::<Rules>(chunk, self.variables());
        shared.budgets.set(evaluator.budgets());
        let evaluation = outcome.map_err(|limit| self.stop(limit, diagnostics)).ok()?;
        diagnostics.extend(evaluation.errors);
        Some(evaluation.value)
    }

    /// Stops all evaluation after a limit was reached.
    pub fn stop(&self, limit: Box<Diagnostic>, diagnostics: &mut DiagnosticList) {
        if !self.shared.stopped.replace(true) {
            diagnostics.push(limit);
        }
    }

    /// Runs `work` on values within the budgets of the context.
    pub fn with_cx<T>(&self, work: impl FnOnce(&Cx<'r>) -> T) -> T {
        let Shared { space, limits, capabilities, budgets, .. } = &*self.shared;
        let cx = Cx::new(space.arena(), self.variables(), limits, *capabilities, &space.caches);
        cx.set_budgets(budgets.get());
        let result = work(&cx);
        budgets.set(cx.budgets());
        result
    }

    /// Runs `work` on values. `error` formats a fault of the values, and a limit stops all evaluation.
    pub fn attempt<T>(
        &self,
        diagnostics: &mut DiagnosticList,
        work: impl FnOnce(&Cx<'r>) -> Outcome<T>,
        error: impl FnOnce(&Wrong) -> Box<Diagnostic>,
    ) -> Option<T> {
        match self.with_cx(work) {
            Ok(value) => return Some(value),
            Err(Fault::Wrong(wrong)) => diagnostics.push(error(&wrong)),
            Err(Fault::Limit(limit)) => self.stop(limit, diagnostics),
        }
        None
    }
}
