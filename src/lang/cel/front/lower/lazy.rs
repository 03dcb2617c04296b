//! Variables whose value is computed when they are first read, as the reference does for `cel.bind` and `cel.block`.
//!
//! Lowering knows at most positions if a variable has its value. Where it does not, the code tests the slot.
//!
//! Programs may be metered. Each step then adds its cost, even after an error: the reference continues after an error, evaluates
//! both operands, pays for the call, and takes all iterations of a loop.

use std::collections::HashMap;

use super::Lower;
use crate::cost::{Price, Rule};
use crate::syntax::tree::{Call, Expr, ExprId, Function, Name, Operator};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::Op;
use dropforge_machine::compiler::{Constant, ProtectMark};

/// The maximum number of nodes that the readings of a variable may add to a program. A larger value is computed where it
/// is bound.
const NODES: usize = 256;

/// The state of a variable's slot at a position of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotState {
    Unset,
    Set,
    Unclear,
}

/// A variable that is computed when it is first read.
pub(super) struct Lazy {
    slot: u32,
    value: ExprId,
    /// The number of local variables that its value sees.
    locals: usize,
    /// The values of `cel.block` that its value sees.
    block: HashMap<String, u32>,
    /// The number of nodes of its value, with those of the variables that it reads.
    nodes: usize,
    state: SlotState,
}

impl<'t> Lower<'_, 't> {
    /// Reserves a slot for the variable `name` of `readers`, and computes its value now or when it is first read.
    pub(super) fn bind(&mut self, name: Name, value: ExprId, readers: &[ExprId]) -> Result<u32> {
        let count = |readings, reader: &ExprId| readings + self.count(*reader, &|lower, id| lower.reads(id, name));
        let readings: usize = readers.iter().fold(0, count);
        let nodes = self.count(value, &Self::nodes_at);
        if matches!(self.tree.expr(value), Expr::Literal(_)) || readings > 1 && readings.saturating_mul(nodes) > NODES {
            self.value(value)?;
            return Ok(self.emitter.store());
        }
        let slot = self.emitter.take_slot();
        if readings > 1 && self.options.metered || self.is_branched(readers, readings) {
            self.emitter.undefined();
            self.emitter.op(Op::StoreSlot, &[slot]);
        }
        let (locals, block) = (self.locals.len(), self.block.clone());
        self.lazy.push(Lazy { slot, value, locals, block, nodes, state: SlotState::Unset });
        Ok(slot)
    }

    /// Returns `true` if code may run in which a variable with this number of `readings` is [unclear](SlotState::Unclear).
    fn is_branched(&self, readers: &[ExprId], readings: usize) -> bool {
        let branches = |lower: &Self, id: ExprId| match lower.tree.expr(id) {
            Expr::Comprehension(_) => 1,
            Expr::Call(Call { function: Function::Operator(operator), .. }) => {
                use Operator::{And, Conditional, Index, OptionalIndex, Or};
                usize::from(readings > 1 && matches!(operator, And | Or | Conditional | Index | OptionalIndex))
            }
            Expr::Call(Call { function: Function::Named(name), .. }) => {
                usize::from(matches!(lower.tree.name(name), "or" | "orValue" | "cel.@block"))
            }
            _ => 0,
        };
        readings > 0 && readers.iter().any(|reader| self.count(*reader, &branches) > 0)
    }

    /// Ends the scope of variables: all but the first `outer` lazy ones.
    pub(super) fn unbind(&mut self, outer: usize) {
        self.lazy.truncate(outer);
    }

    fn lazy_at(&self, slot: u32) -> Option<usize> {
        self.lazy.iter().rposition(|lazy| lazy.slot == slot)
    }

    /// Returns `true` if reading a slot may compute a value.
    pub(super) fn is_lazy(&self, slot: u32) -> bool {
        self.lazy_at(slot).is_some()
    }

    /// Emits code that computes the value of a slot, if it has none yet.
    pub(super) fn ensure(&mut self, slot: u32) -> Result<()> {
        let Some(at) = self.lazy_at(slot) else { return Ok(()) };
        let &Lazy { value, locals, state, ref block, .. } = &self.lazy[at];
        if state == SlotState::Set {
            return Ok(());
        }
        let block = std::mem::replace(&mut self.block, block.clone());
        let known = self.emitter.new_label();
        let before = self.states();
        if state == SlotState::Unclear {
            self.emitter.load_slot_or_nothing(slot);
            self.emitter.jump(Op::JumpPresent, known);
        }
        let inner = self.locals.split_off(locals.min(self.locals.len()));
        // Its value reads none of the variables bound after it, so a loop in it leaves them as they are.
        let later = self.lazy.split_off(at + 1);
        self.value(value)?;
        self.lazy.extend(later);
        self.locals.extend(inner);
        self.block = block;
        if state == SlotState::Unclear {
            self.emitter.bind(known);
            self.join(&before);
        }
        self.emitter.op(Op::StoreSlot, &[slot]);
        self.lazy[at].state = SlotState::Set;
        Ok(())
    }

    /// Returns the state of each lazy variable.
    pub(super) fn states(&self) -> Vec<SlotState> {
        self.lazy.iter().map(|lazy| lazy.state).collect()
    }

    /// Continues with other states, and returns the present ones.
    pub(super) fn replace_states(&mut self, states: &[SlotState]) -> Vec<SlotState> {
        let present = self.states();
        self.lazy.iter_mut().zip(states).for_each(|(lazy, state)| lazy.state = *state);
        present
    }

    /// Continues where two branches meet: this one, and one with these states.
    pub(super) fn join(&mut self, other: &[SlotState]) {
        for (lazy, other) in self.lazy.iter_mut().zip(other) {
            if lazy.state != *other {
                lazy.state = SlotState::Unclear;
            }
        }
    }

    /// Emits code that may not run, or not to its end.
    pub(super) fn sometimes<R>(&mut self, emit: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let before = self.states();
        let emitted = emit(self)?;
        self.join(&before);
        Ok(emitted)
    }

    /// Emits the body of a loop, which runs any number of times.
    pub(super) fn repeatedly<R>(&mut self, emit: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        for lazy in &mut self.lazy {
            if lazy.state == SlotState::Unset {
                lazy.state = SlotState::Unclear;
            }
        }
        self.sometimes(emit)
    }

    /// Adds up a number for each node of an expression.
    fn count(&self, root: ExprId, each: &dyn Fn(&Self, ExprId) -> usize) -> usize {
        let (mut sum, mut open) = (0_usize, vec![root]);
        while let Some(id) = open.pop() {
            sum = sum.saturating_add(each(self, id));
            self.tree.each_child(self.tree.expr(id), |child| open.push(child));
        }
        sum
    }

    fn reads(&self, id: ExprId, name: Name) -> usize {
        usize::from(matches!(self.tree.expr(id), Expr::Ident { name: read, rooted: false } if read == name))
    }

    /// Returns 1, or the number of nodes that the value of a lazy variable adds.
    fn nodes_at(&self, id: ExprId) -> usize {
        let Expr::Ident { name, rooted: false } = self.tree.expr(id) else { return 1 };
        let lazy = self.local(name).and_then(|slot| self.lazy_at(slot)).and_then(|at| self.lazy.get(at));
        lazy.map_or(1, |lazy| lazy.nodes)
    }
}

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
