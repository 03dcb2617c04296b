//! Programs that are metered: what each step costs is added as it is taken, also where what it needs is an error. The
//! reference goes on there: it looks at both operands and pays for the call, and a loop takes all its turns.

use super::Lower;
use crate::bytecode::Op;
use crate::compiler::{Constant, ProtectMark};
use crate::diagnostics::Result;
use crate::dialect::cel::cost::{Price, Rule};
use crate::dialect::cel::syntax::tree::{Expr, ExprId};

impl<'t> Lower<'_, 't> {
    /// Adds to the cost.
    pub(super) fn meter(&mut self, cost: u64) {
        if self.how.metered && cost > 0 {
            self.emitter.op(Op::Meter, &[u32::try_from(cost).unwrap_or(u32::MAX)]);
        }
    }

    /// Adds what the topmost `count` values cost.
    pub(super) fn measure(&mut self, rule: Rule, count: usize) {
        if self.how.metered {
            self.emitter.op(Op::Measure, &[rule as u32, u32::try_from(count).unwrap_or(u32::MAX)]);
        }
    }

    /// What a call costs: by its overload, where it is known before anything runs which one it is.
    pub(super) fn price(&self, id: ExprId) -> Price {
        match self.how.checked.map(|checked| checked.overloads(id)) {
            Some([overload]) => Price::of(overload),
            _ => Price::CALL,
        }
    }

    /// Pushes operands, and emits with `call` what takes them and pushes an answer.
    pub(super) fn priced(
        &mut self,
        id: ExprId,
        operands: &[ExprId],
        price: Price,
        call: impl FnOnce(&mut Self),
    ) -> Result<()> {
        if !self.how.metered {
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
        if price.answer {
            self.with_answer(operands.len(), errors, call);
        } else {
            self.raise(errors);
            call(self);
        }
        Ok(())
    }

    /// Pushes operands; where it has to go on with an error in the place of one, the answer is the slot that says how
    /// many errors there were before.
    fn operands(&mut self, operands: &[ExprId], price: Price) -> Result<Option<u32>> {
        let Some((&last, before)) = operands.split_last() else {
            self.meter(price.fixed);
            return Ok(None);
        };
        let measured = price.arguments.is_some();
        // Where there are three or more, the first error is the end of it, and the call costs nothing.
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

    /// The call of a function whose answer's size counts, with the topmost `count` values; that of an error is 1.
    fn with_answer(&mut self, count: usize, errors: Option<u32>, call: impl FnOnce(&mut Self)) {
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
        self.measure(Rule::Answer, 1);
        self.raise(Some(mark));
        slots.into_iter().for_each(|slot| self.emitter.free(slot));
    }

    /// Raises the first error that was noted since the slot was marked, which is not needed any more.
    pub(super) fn raise(&mut self, errors: Option<u32>) {
        if let Some(slot) = errors {
            self.emitter.op(Op::Raise, &[slot]);
            self.emitter.free(slot);
        }
    }

    /// Where a loop has to take all its turns, also behind an error: a mark for the errors of its turns.
    pub(super) fn errors_of_turns(&mut self) -> Option<u32> {
        self.how.metered.then(|| self.emitter.mark())
    }

    /// Begins a turn whose errors are raised behind the loop.
    pub(super) fn begin_turn(&mut self, errors: Option<u32>) -> Option<ProtectMark> {
        errors.map(|_| self.emitter.begin_protect())
    }

    /// Ends such a turn.
    pub(super) fn end_turn(&mut self, turn: Option<ProtectMark>) {
        if let Some(turn) = turn {
            self.emitter.constant(Constant::Null);
            self.emitter.end_protect(turn);
            self.emitter.op(Op::Pop, &[]);
        }
    }

    /// Whether evaluating it may end in an error.
    fn may_fail(&self, id: ExprId) -> bool {
        match self.tree.expr(id) {
            Expr::Literal(_) => false,
            Expr::Ident { name, rooted: false } => self.local(name).is_none(),
            _ => true,
        }
    }

    /// Whether evaluating it costs nothing.
    fn is_free(&self, id: ExprId) -> bool {
        matches!(self.tree.expr(id), Expr::Literal(_))
    }
}
