//! Runs parts of an expression on the machine.

use super::facts::Known;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::cel::lower::{Part, compile_parts};
use crate::dialect::cel::semantics::Rules;
use crate::dialect::cel::syntax::tree::Tree;
use crate::function::{Budgets, Capabilities};
use crate::limits::Limits;
use crate::value::{Inputs, Value};
use crate::vm::{Evaluator, Space};

/// What runs parts, all of them within one budget.
pub(super) struct Runner<'r> {
    pub tree: &'r Tree,
    pub known: Known<'r>,
    pub space: &'r Space,
    pub inputs: Inputs<'r>,
    pub limits: &'r Limits,
    /// What is left of the steps and the memory.
    budgets: Budgets,
}

impl<'r> Runner<'r> {
    pub fn new(tree: &'r Tree, known: Known<'r>, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Self {
        Self { tree, known, space, inputs, limits, budgets: Budgets::of(limits) }
    }

    /// Runs each part and gives its answer to `each`.
    ///
    /// # Errors
    /// Limits of the code's size.
    pub fn run(&mut self, parts: &[Part], mut each: impl FnMut(Result<Value<'_>>)) -> Result<()> {
        let Known { registry, names, patterns, .. } = self.known;
        let program = compile_parts(self.tree, registry, names, patterns, self.limits, parts)?;
        let linked = registry.link(program.imports())?;
        let mut evaluator = Evaluator::new(self.space, &program, &linked, self.limits, Capabilities::NONE);
        evaluator.set_budgets(self.budgets);
        for chunk in (0..).take(parts.len()) {
            each(evaluator.run::<Rules>(chunk, self.inputs).map(|answer| answer.value));
        }
        self.budgets = evaluator.budgets();
        Ok(())
    }

    /// Whether the whole has a value that no unknown attribute matters to.
    ///
    /// # Errors
    /// The error that it has whatever the unknown attributes are; a limit that was reached.
    pub fn is_known(&mut self) -> Result<bool> {
        let mut outcome = Ok(false);
        let whole = Part { outer: Vec::new(), id: self.tree.root };
        self.run(&[whole], |answer| {
            outcome = match answer {
                Ok(_) => Ok(true),
                Err(error) if is_unknown(&error) => Ok(false),
                Err(error) => Err(error),
            }
        })?;
        outcome
    }
}

fn is_unknown(error: &Diagnostic) -> bool {
    error.code == Code::UnknownAttribute
}
