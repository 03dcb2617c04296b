//! Evaluation of parts of an expression.

use super::context::PartialContext;
use crate::lower::{LowerOptions, Part, compile_parts};
use crate::semantics::Rules;
use crate::syntax::tree::Tree;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::limits::Limits;
use dropforge_machine::function::{Budgets, Capabilities};
use dropforge_machine::vm::{Evaluator, Space};
use dropforge_value::Value;

/// Evaluates parts of an expression within one budget.
pub(super) struct Runner<'r> {
    pub tree: &'r Tree,
    pub context: PartialContext<'r>,
    pub space: &'r Space,
    pub limits: &'r Limits,
    /// The steps and memory left.
    budgets: Budgets,
}

impl<'r> Runner<'r> {
    pub fn new(tree: &'r Tree, context: PartialContext<'r>, space: &'r Space, limits: &'r Limits) -> Self {
        Self { tree, context, space, limits, budgets: Budgets::of(limits) }
    }

    /// Evaluates each part, and calls `each` with its result.
    ///
    /// # Errors
    /// Limits of the code's size.
    pub fn run(&mut self, parts: &[Part], mut each: impl FnMut(Result<Value<'_>>)) -> Result<()> {
        let PartialContext { registry, names, patterns, inputs, lenient } = self.context;
        let options = LowerOptions { lenient, ..LowerOptions::default() };
        let program = compile_parts(self.tree, registry, names, patterns, options, self.limits, parts)?;
        let linked = registry.link(program.imports())?;
        let mut evaluator = Evaluator::new(self.space, &program, &linked, self.limits, Capabilities::NONE);
        evaluator.set_budgets(self.budgets);
        for chunk in (0..).take(parts.len()) {
            each(evaluator.run::<Rules>(chunk, inputs).map(|answer| answer.value));
        }
        self.budgets = evaluator.budgets();
        Ok(())
    }

    /// Returns `true` if the expression has a value whatever the unknown attributes are.
    ///
    /// # Errors
    /// The error that it has whatever the unknown attributes are, or a limit that was reached.
    pub fn is_known(&mut self) -> Result<bool> {
        let mut outcome = Ok(false);
        let whole = Part { locals: Vec::new(), id: self.tree.root };
        self.run(&[whole], |answer| {
            outcome = match answer {
                Ok(_) => Ok(true),
                Err(error) if error.code == Code::UnknownAttribute => Ok(false),
                Err(error) => Err(error),
            }
        })?;
        outcome
    }
}
