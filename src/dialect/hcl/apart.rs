//! Evaluation within a function: in a space of its own, with what is left of the budgets of the run.

use super::Rules;
use super::values::Outcome;
use super::values::copy::copied;
use crate::bytecode::Program;
use crate::diagnostics::Diagnostic;
use crate::function::{Capabilities, Cx, Fault, Linked};
use crate::limits::Limits;
use crate::value::{Inputs, Value};
use crate::vm::{Evaluator, Space};

/// The answer of a program's first chunk with these variables, copied to where the run's values are.
///
/// # Errors
/// A limit that was reached; the first error of the evaluation, as a reason.
pub(super) fn evaluate_apart<'v>(
    cx: &Cx<'v>,
    (program, linked): (&Program, &Linked),
    limits: &Limits,
    variables: &[(&str, Value<'_>)],
    capabilities: Capabilities<'_>,
) -> Outcome<Value<'v>> {
    let space = Space::new();
    let inputs = Inputs::new(space.arena().map(variables));
    let mut evaluator = Evaluator::new(&space, program, linked, limits, capabilities);
    evaluator.set_budgets(cx.budgets());
    let answer = evaluator.run::<Rules>(0, inputs);
    cx.set_budgets(evaluator.budgets());
    let answer = answer?;
    match answer.errors.first() {
        Some(error) => Err(Fault::wrong(said(error))),
        None => copied(cx, answer.value),
    }
}

/// An error as a reason.
fn said(error: &Diagnostic) -> String {
    let detail = error.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
    let place = error.primary().map(|label| format!(" ({}:{})", label.source.name(), label.position()));
    format!("{}{detail}{}", error.message, place.unwrap_or_default())
}
