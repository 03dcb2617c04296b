//! Metered programs. Each step adds its cost, even after an error: the reference continues after an error, evaluates both
//! operands, pays for the call, and takes all iterations of a loop.

use super::Lower;
use crate::cost::{Price, Rule};
use crate::syntax::tree::{Expr, ExprId};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::Op;
use dropforge_machine::compiler::{Constant, ProtectMark};

impl<'t> Lower<'_, 't> {
    /// Adds to the cost.
    pub(super) fn meter(&mut self, cost: u64) {
        if self.options.metered && cost > 0 {
            self.emitter.op(Op::Meter, &[u32::try_from(cost).unwrap_or(u32::MAX)]);
        }
    }

    /// Adds the cost of the top `count` values.
    pub(super) fn measure(&mut self, rule: Rule, count: usize) {
        if self.options.metered {
            self.emitter.op(Op::Measure, &[rule as u32, u32::try_from(count).unwrap_or(u32::MAX)]);
        }
    }

    /// Returns the price of a call: that of its overload, if the checker found a single one.
    pub(super) fn price(&self, id: ExprId) -> Price {
        match self.options.checked.map(|checked| checked.overloads(id)) {
            Some([overload]) => Price::of(overload),
            _ => Price::CALL,
        }
    }

    /// Pushes operands, and emits a call that replaces them with its result.
    pub(super) fn priced(
        &mut self,
        id: ExprId,
        operands: &[ExprId],
        price: Price,
        call: impl FnOnce(&mut Self),
    ) -> Result<()> {
        if !self.options.metered {
            operands.iter().try_for_each(|&operand| self.value(operand))?;
            self.at(id);
            call(self);
            return Ok(());
        }
        let errors = self.operands(operands, price)?;
        self.at(id);
        if let Some(rule) = price.arguments {
            self.measure(rule, operands.len());
        }
        if price.result {
            self.call_with_result(operands.len(), errors, call);
        } else {
            self.raise(errors);
            call(self);
        }
        Ok(())
    }

    /// Pushes operands. If evaluation continues after an error of one, returns the slot with the number of errors before.
    fn operands(&mut self, operands: &[ExprId], price: Price) -> Result<Option<u32>> {
        let Some((&last, before)) = operands.split_last() else {
            self.meter(price.fixed);
            return Ok(None);
        };
        let measured = price.arguments.is_some();
        // With three or more operands, the first error ends the evaluation, and the call costs nothing.
        let all = operands.len() < 3;
        let goes_on = all && before.iter().any(|&id| self.may_fail(id)) && (measured || !self.is_free(last));
        let protects_last = (measured || goes_on) && self.may_fail(last);
        let errors = (goes_on || protects_last).then(|| self.emitter.mark());
        if all {
            self.meter(price.fixed);
        }
        for &operand in before {
            if goes_on && self.may_fail(operand) { self.protected(operand)? } else { self.value(operand)? }
        }
        if !all {
            self.meter(price.fixed);
        }
        if protects_last {
            self.protected(last)?
        } else {
            self.value(last)?
        }
        Ok(errors)
    }

    /// Calls a function with the top `count` values, and adds the size of its result, which is 1 for an error.
    fn call_with_result(&mut self, count: usize, errors: Option<u32>, call: impl FnOnce(&mut Self)) {
        let mut slots: Vec<_> = (0..count).map(|_| self.emitter.store()).collect();
        slots.reverse();
        let mark = errors.unwrap_or_else(|| self.emitter.mark());
        let protect = self.emitter.begin_protect();
        if errors.is_some() {
            self.emitter.op(Op::Raise, &[mark]);
        }
        slots.iter().for_each(|&slot| self.emitter.load_slot(slot));
        call(self);
        self.emitter.end_protect(protect);
        self.measure(Rule::Result, 1);
        self.raise(Some(mark));
        slots.into_iter().for_each(|slot| self.emitter.free(slot));
    }

    /// Raises the first error since the slot was marked, and frees the slot.
    pub(super) fn raise(&mut self, errors: Option<u32>) {
        if let Some(slot) = errors {
            self.emitter.op(Op::Raise, &[slot]);
            self.emitter.free(slot);
        }
    }

    /// Marks the start of a metered loop, which takes all iterations even after an error.
    pub(super) fn errors_of_iterations(&mut self) -> Option<u32> {
        self.options.metered.then(|| self.emitter.mark())
    }

    /// Begins an iteration whose errors are raised after the loop.
    pub(super) fn begin_iteration(&mut self, errors: Option<u32>) -> Option<ProtectMark> {
        errors.map(|_| self.emitter.begin_protect())
    }

    /// Ends such an iteration.
    pub(super) fn end_iteration(&mut self, iteration: Option<ProtectMark>) {
        if let Some(iteration) = iteration {
            self.emitter.constant(Constant::Null);
            self.emitter.end_protect(iteration);
            self.emitter.op(Op::Pop, &[]);
        }
    }

    /// Returns `true` if evaluation can fail.
    fn may_fail(&self, id: ExprId) -> bool {
        match self.tree.expr(id) {
            Expr::Literal(_) => false,
            Expr::Ident { name, rooted: false } => self.local(name).is_none_or(|slot| self.is_lazy(slot)),
            _ => true,
        }
    }

    /// Returns `true` if evaluation costs nothing.
    fn is_free(&self, id: ExprId) -> bool {
        matches!(self.tree.expr(id), Expr::Literal(_))
    }
}
