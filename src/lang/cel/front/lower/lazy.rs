//! Variables whose value is computed when they are first read, as the reference does for `cel.bind` and `cel.block`.
//!
//! Lowering knows at most positions if a variable has its value. Where it does not, the code tests the slot.

use std::collections::HashMap;

use super::Lower;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Name, Operator};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::Op;

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
