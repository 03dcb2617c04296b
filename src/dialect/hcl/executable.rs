//! Linked programs and their evaluation.

use super::Rules;
use super::values::Outcome;
use super::values::copy::copied;
use crate::bytecode::Program;
use crate::diagnostics::{Diagnostic, Result};
use crate::function::{Capabilities, Cx, Fault, Linked, Registry};
use crate::limits::Limits;
use crate::value::{Inputs, Value};
use crate::vm::{Evaluation, Evaluator, Run, Space, evaluate};

/// A program with the functions it calls.
#[derive(Debug, Clone)]
pub(super) struct Executable {
    program: Program,
    linked: Linked,
}

impl Executable {
    /// Links a program.
    ///
    /// # Errors
    /// The registry has no function of a name that the program calls.
    pub fn new(program: Program, registry: &Registry) -> Result<Self> {
        let linked = registry.link(program.imports())?;
        Ok(Self { program, linked })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Creates an evaluator for any number of its chunks.
    pub fn evaluator<'r>(
        &'r self,
        space: &'r Space,
        limits: &'r Limits,
        capabilities: Capabilities<'r>,
    ) -> Evaluator<'r> {
        Evaluator::new(space, &self.program, &self.linked, limits, capabilities)
    }

    /// Evaluates the first chunk.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn evaluate<'r>(
        &'r self,
        space: &'r Space,
        inputs: Inputs<'r>,
        limits: &'r Limits,
        capabilities: Capabilities<'r>,
    ) -> Result<Evaluation<'r>> {
        let (program, linked) = (&self.program, &self.linked);
        evaluate::<Rules>(space, Run { program, linked, inputs, limits, capabilities, budgets: None })
    }

    /// Evaluates the first chunk within a function call: in its own space, with the remaining budgets of the run. The
    /// value is copied to the arena of `cx`.
    ///
    /// # Errors
    /// A limit was reached, or the first error of the evaluation.
    pub fn evaluate_nested<'v>(
        &self,
        cx: &Cx<'v>,
        variables: &[(&str, Value<'_>)],
        limits: &Limits,
        capabilities: Capabilities<'_>,
    ) -> Outcome<Value<'v>> {
        let space = Space::new();
        let inputs = Inputs::new(space.arena().map(variables));
        let mut evaluator = self.evaluator(&space, limits, capabilities);
        evaluator.set_budgets(cx.budgets());
        let answer = evaluator.run::<Rules>(0, inputs);
        cx.set_budgets(evaluator.budgets());
        let answer = answer?;
        match answer.errors.first() {
            Some(error) => Err(Fault::wrong(in_one_line(error))),
            None => copied(cx, answer.value),
        }
    }
}

/// Formats an error as the reason of another error.
fn in_one_line(error: &Diagnostic) -> String {
    let detail = error.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
    let place = error.primary().map(|label| format!(" ({}:{})", label.source.name(), label.position()));
    format!("{}{detail}{}", error.message, place.unwrap_or_default())
}
