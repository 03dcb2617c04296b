//! Control: labels and jumps, loops, expressions whose errors are absorbed.
//!
//! Code that nothing leads to is not emitted: behind a jump, a failure or a constant condition, until a label
//! comes by that a jump leads to. Its heights are counted all the same, so a language need not know.

use super::{Emitter, Label, LoopMark, Place, ProtectMark};
use crate::bytecode::{Handler, Literal, Op, Test};
use crate::compiler::fold::Constant;
use crate::compiler::tables::index;

impl Emitter<'_> {
    /// A label without a place.
    pub fn new_label(&mut self) -> Label {
        self.labels.push(Place::default());
        Label(self.labels.len() - 1)
    }

    /// Puts `label` here.
    pub fn bind(&mut self, label: Label) {
        self.flush();
        self.drop_jump_to(label);
        let Some(place) = self.labels.get_mut(label.0) else { return };
        place.at = Some(index(self.words.len()));
        let used = place.used;
        if self.open.dead && !used {
            return;
        }
        self.fence();
        self.forget_values();
        if used {
            if self.bound.is_empty() {
                self.flows = !self.open.dead;
            }
            self.bound.push(label);
            self.open.dead = false;
        }
    }

    /// Takes back a jump to here that is the last instruction.
    fn drop_jump_to(&mut self, label: Label) {
        let Some(at) = self.words.len().checked_sub(1) else { return };
        let jump = self.recent.last().is_some_and(|last| last.op == Op::Jump && last.at as usize == at);
        if jump && self.patches.last() == Some(&(at, true, label)) {
            let (here, height) = (self.place, index(self.values.len()));
            self.patches.pop();
            self.take_back();
            self.set_values(height);
            (self.place, self.open.dead) = (here, false);
        }
    }

    /// Emits a jump to `label`; where a constant decides, a jump that is always taken or none.
    pub fn jump(&mut self, op: Op, label: Label) {
        let mut op = op;
        let last = self.constants.last().filter(|_| self.optimise);
        if let (Op::JumpIf | Op::JumpUnless, Some(&(Constant::Bool(known), _))) = (op, last) {
            self.constants.pop();
            if known != (op == Op::JumpIf) {
                return;
            }
            op = Op::Jump;
        }
        self.flush();
        if op == Op::Jump && !self.leads_on(label) {
            self.open.dead = true;
        } else if !self.fused_jump(op, label) {
            self.leads(self.words.len(), true, label);
            self.emit(op, &[0]);
        }
    }

    /// The labels that stand here are as good as `label`, to which a jump is to be emitted. Whether that jump is
    /// still needed.
    fn leads_on(&mut self, label: Label) -> bool {
        let target = self.target(label);
        if self.open.dead || self.bound.is_empty() || self.bound.contains(&target) {
            return true;
        }
        for bound in std::mem::take(&mut self.bound) {
            if let Some(place) = self.labels.get_mut(bound.0) {
                place.alias = Some(target);
            }
        }
        self.use_label(target);
        self.flows
    }

    /// The label that `label` is as good as.
    pub(super) fn target(&self, label: Label) -> Label {
        let mut target = label;
        while let Some(alias) = self.labels.get(target.0).and_then(|place| place.alias) {
            target = alias;
        }
        target
    }

    fn use_label(&mut self, label: Label) {
        if let Some(place) = self.labels.get_mut(label.0) {
            place.used = true;
        }
    }

    /// Notes that the operand at `at` names `label`.
    fn leads(&mut self, at: usize, in_first: bool, label: Label) {
        if !self.open.dead {
            self.use_label(label);
            self.patches.push((at, in_first, label));
        }
    }

    /// Where a comparison of a path with a string decides, one instruction reads, compares and jumps, in languages
    /// that have it.
    fn fused_jump(&mut self, op: Op, label: Label) -> bool {
        if !self.optimise || !Op::JumpTest.info().dialects.contains(self.dialect) {
            return false;
        }
        let [Op::LoadPath, Op::Str, compared @ (Op::Eq | Op::Ne)] = self.recent() else { return false };
        if !matches!(op, Op::JumpIf | Op::JumpUnless) {
            return false;
        }
        let test = Test { unequal: compared == Op::Ne, wanted: op == Op::JumpIf };
        let here = self.place;
        self.take_back();
        let string = self.take_back();
        let path = self.take_back(); // its place remains: it is what may fail
        self.leads(self.words.len() + 3, false, label);
        self.words_of(Op::JumpTest, &[path, string, test.operand(), 0]);
        self.place = here;
        true
    }

    /// Opens a loop over the top of the stack with `names` (1 or 2) loop slots from `slot` on. Where there is
    /// nothing to loop over, the code goes on at `empty`.
    pub fn begin_loop(&mut self, names: u32, slot: u32, empty: Label) -> LoopMark {
        self.flush();
        self.leads(self.words.len() + 2, false, empty);
        self.emit(Op::Iter, &[names, slot, 0]);
        self.open.iters += 1;
        let (body, turn, end) = (self.new_label(), self.new_label(), self.new_label());
        self.bind(body);
        LoopMark { slot, body, turn, end }
    }

    /// Goes on at `label` where the top is `literal`; the top stays in both cases.
    pub fn jump_is(&mut self, literal: Literal, label: Label) {
        self.flush();
        self.leads(self.words.len() + 1, false, label);
        self.emit(Op::JumpIs, &[literal as u32, 0]);
    }

    /// Goes on with the next turn of the loop.
    pub fn continue_loop(&mut self, mark: LoopMark) {
        self.jump(Op::Jump, mark.turn);
    }

    /// The same where the top, which is taken, is not true.
    pub fn continue_unless(&mut self, mark: LoopMark) {
        self.jump(Op::JumpUnless, mark.turn);
    }

    /// Leaves the loop.
    pub fn break_loop(&mut self, mark: LoopMark) {
        self.emit(Op::EndIter, &[]);
        self.jump(Op::Jump, mark.end);
    }

    /// Ends the loop: goes on with the next turn, and puts here where the code goes on when there is none.
    pub fn end_loop(&mut self, mark: LoopMark) {
        self.bind(mark.turn);
        self.flush();
        self.leads(self.words.len() + 1, false, mark.body);
        self.emit(Op::Next, &[mark.slot, 0]);
        self.open.iters = self.open.iters.saturating_sub(1);
        self.bind(mark.end);
    }

    /// Begins an expression whose errors become undefined.
    pub fn begin_protect(&mut self) -> ProtectMark {
        self.fence();
        if self.open.dead {
            return ProtectMark(None);
        }
        let (from, height) = (index(self.words.len()), index(self.values.len()));
        let (iters, captures) = (self.open.iters, self.open.captures);
        self.handlers.push(Handler { from, to: from, height, iters, captures });
        ProtectMark(Some(self.handlers.len() - 1))
    }

    /// Ends an expression whose errors become undefined; it has pushed one value.
    pub fn end_protect(&mut self, mark: ProtectMark) {
        self.fence();
        self.forget_values();
        let to = index(self.words.len());
        if let Some(handler) = mark.0.and_then(|row| self.handlers.get_mut(row)) {
            handler.to = to;
            self.bound.clear();
            (self.open.dead, self.flows) = (false, true);
        }
    }

    /// Says how many values the stack holds here, where two branches meet of which only one was counted.
    pub fn set_height(&mut self, height: u32) {
        self.fence();
        self.set_values(height);
    }

    /// How many values the frame's part of the stack holds here.
    pub fn height(&mut self) -> u32 {
        self.flush_constants();
        index(self.values.len())
    }
}
