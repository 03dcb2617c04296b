//! Where expressions are evaluated.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::file::Compiled;
use super::{Faults, File};
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::hcl::Rules;
use crate::dialect::hcl::syntax::tree::ExprId;
use crate::function::{Budgets, Capabilities, Cx, Fault, Outcome, Wrong};
use crate::limits::Limits;
use crate::value::{Arena, Inputs, Type, Value};
use crate::vm::{Evaluator, Space};

/// Variables, the space that values live in, and one budget of steps and memory for all that is evaluated. Cheap to
/// clone.
///
/// A fresh context has no variables: naming one is an error that says so, and text in the JSON syntax is taken as it is
/// written. With variables, even none, text in the JSON syntax is a template.
#[derive(Debug, Clone)]
pub struct Context<'r> {
    shared: Rc<Shared<'r>>,
    literal: bool,
    base: Value<'r>,
    over: Value<'r>,
}

/// What a context and its children have together.
struct Shared<'r> {
    space: &'r Space,
    limits: &'r Limits,
    capabilities: Capabilities<'r>,
    budgets: Cell<Budgets>,
    /// Whether a limit was reached; that is said once.
    stopped: Cell<bool>,
    /// By the ids of their programs.
    evaluators: RefCell<HashMap<u64, Evaluator<'r>>>,
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}

impl<'r> Context<'r> {
    /// A context without variables, whose values live in `space`.
    pub fn new(space: &'r Space, limits: &'r Limits) -> Self {
        Self::with_capabilities(space, limits, Capabilities::NONE)
    }

    /// The same, where functions may reach what `capabilities` allow.
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

    /// The context with these variables in the place of all it had: a map.
    pub fn with_variables(&self, variables: Value<'r>) -> Self {
        Self { shared: self.shared.clone(), literal: false, base: variables, over: Value::Undefined }
    }

    /// The context without variables, where text in the JSON syntax is a template all the same.
    pub fn evaluating(&self) -> Self {
        Self { literal: false, ..self.clone() }
    }

    /// The context with these variables before those it has.
    pub fn child(&self, more: impl IntoIterator<Item = (&'r str, Value<'r>)>) -> Self {
        let mut entries: Vec<(&str, Value<'_>)> = self.over.as_map().into_iter().flat_map(|over| over.iter()).collect();
        entries.extend(more);
        Self { literal: false, over: self.arena().map(&entries), ..self.clone() }
    }

    /// The arena that values live in.
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

    /// Whether text in the JSON syntax is taken as it is written.
    pub(in crate::dialect::hcl) fn is_literal(&self) -> bool {
        self.literal
    }

    /// The value of an expression of a file.
    pub(super) fn run(&self, file: &'r File, id: ExprId, faults: &mut Faults) -> Value<'r> {
        self.answer(file.chunk(id), faults)
    }

    /// The value of an expression that is one of those of `compiled`.
    pub(in crate::dialect::hcl) fn run_compiled(
        &self,
        compiled: Result<Option<&'r Compiled>>,
        id: u32,
        faults: &mut Faults,
    ) -> Value<'r> {
        let found = compiled.map(|compiled| compiled.and_then(|compiled| Some((compiled, compiled.chunk(id)?))));
        self.answer(found, faults)
    }

    /// What a chunk answers with.
    fn answer(&self, found: Result<Option<(&'r Compiled, u32)>>, faults: &mut Faults) -> Value<'r> {
        let value = match found {
            Ok(found) => found.and_then(|(compiled, chunk)| self.run_chunk(compiled, chunk, faults)),
            Err(limit) => {
                self.stop(limit, faults);
                None
            }
        };
        value.unwrap_or_else(|| self.arena().faulty(Type::Dynamic))
    }

    fn run_chunk(&self, compiled: &'r Compiled, chunk: u32, faults: &mut Faults) -> Option<Value<'r>> {
        let shared = &*self.shared;
        if shared.stopped.get() {
            return None;
        }
        let mut evaluators = shared.evaluators.try_borrow_mut().ok()?;
        let Compiled { program, linked, .. } = compiled;
        let new = || Evaluator::new(shared.space, program, linked, shared.limits, shared.capabilities);
        let evaluator = evaluators.entry(program.id()).or_insert_with(new);
        evaluator.set_budgets(shared.budgets.get());
        let outcome = evaluator.run::<Rules>(chunk, self.variables());
        shared.budgets.set(evaluator.budgets());
        match outcome {
            Ok(answer) => {
                faults.extend(answer.errors);
                Some(answer.value)
            }
            Err(error) => {
                self.stop(error, faults);
                None
            }
        }
    }

    /// A limit was reached: nothing more is evaluated.
    pub(in crate::dialect::hcl) fn stop(&self, limit: Box<Diagnostic>, faults: &mut Faults) {
        if !self.shared.stopped.replace(true) {
            faults.push(limit);
        }
    }

    /// Works on values within the context's budgets.
    pub fn with_cx<T>(&self, work: impl FnOnce(&Cx<'r>) -> T) -> T {
        let shared = &*self.shared;
        let cx =
            Cx::new(shared.space.arena(), self.variables(), shared.limits, shared.capabilities, &shared.space.caches);
        cx.set_budgets(shared.budgets.get());
        let result = work(&cx);
        shared.budgets.set(cx.budgets());
        result
    }

    /// The same for what may fail: what does not fit is handed to `wrong`, a limit stops everything.
    pub(in crate::dialect::hcl) fn attempt<T>(
        &self,
        faults: &mut Faults,
        work: impl FnOnce(&Cx<'r>) -> Outcome<T>,
        wrong: impl FnOnce(&Wrong) -> Box<Diagnostic>,
    ) -> Option<T> {
        match self.with_cx(work) {
            Ok(value) => Some(value),
            Err(Fault::Wrong(what)) => {
                faults.push(wrong(&what));
                None
            }
            Err(Fault::Limit(limit)) => {
                self.stop(limit, faults);
                None
            }
        }
    }
}
