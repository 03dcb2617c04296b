//! Labels and jumps, and the blocks that use them: loops, captures, gathered values, protected expressions.
//!
//! Unreachable code is not emitted: code after a jump, a failure or a constant condition, up to a label with a jump to
//! it. Its effect on the stack is still counted, so languages need not handle it.

use super::Emitter;
use super::pending::Constant;
use crate::bytecode::{Handler, Literal, Op, Test};

/// A jump target. Jumps can name it before its position is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

/// The state of a label.
#[derive(Debug, Clone, Copy, Default)]
struct LabelState {
    /// The word that it marks.
    at: Option<u32>,
    /// An equivalent label, if this one is followed by nothing but a jump to it.
    alias: Option<Label>,
    /// `true` if a reachable jump leads to it.
    used: bool,
}

/// The label operand of a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Patch {
    /// The index of its word.
    at: usize,
    /// `true` if an opcode shares its word.
    in_first: bool,
    label: Label,
}

/// Labels and the jumps to them.
#[derive(Debug, Default)]
pub(super) struct Labels {
    targets: Vec<LabelState>,
    /// Used labels at the end of the code.
    pub bound: Vec<Label>,
    /// `true` if the code before `bound` continues there.
    flows: bool,
    patches: Vec<Patch>,
}

impl Labels {
    pub fn reserve(&mut self, bytes: usize) {
        self.targets.reserve(bytes / 40);
        self.patches.reserve(bytes / 80);
    }

    pub fn clear(&mut self) {
        self.targets.clear();
        self.bound.clear();
        self.patches.clear();
    }

    /// Follows aliases.
    fn resolve(&self, label: Label) -> Label {
        let mut target = label;
        while let Some(alias) = self.targets.get(target.0).and_then(|target| target.alias) {
            target = alias;
        }
        target
    }

    fn mark_used(&mut self, label: Label) {
        if let Some(target) = self.targets.get_mut(label.0) {
            target.used = true;
        }
    }
}

impl Emitter<'_> {
    /// Creates a label.
    pub fn new_label(&mut self) -> Label {
        self.labels.targets.push(LabelState::default());
        Label(self.labels.targets.len() - 1)
    }

    /// Binds `label` to the current position.
    pub fn bind(&mut self, label: Label) {
        self.flush();
        self.drop_jump_to(label);
        let here = self.here();
        let Some(target) = self.labels.targets.get_mut(label.0) else { return };
        target.at = Some(here);
        let used = target.used;
        if self.frame.dead && !used {
            return;
        }
        self.fence();
        self.forget_values();
        if used {
            if self.labels.bound.is_empty() {
                self.labels.flows = !self.frame.dead;
            }
            self.labels.bound.push(label);
            self.frame.dead = false;
        }
    }

    /// Removes a jump to the current position if it is the last instruction.
    fn drop_jump_to(&mut self, label: Label) {
        let Some(at) = self.len().checked_sub(1) else { return };
        let jump = self.frame.recent.last().is_some_and(|last| last.op == Op::Jump && last.at as usize == at);
        if jump && self.labels.patches.last() == Some(&Patch { at, in_first: true, label }) {
            let (here, height) = (self.place, self.height_now());
            self.labels.patches.pop();
            self.take_back();
            self.set_values(height);
            (self.place, self.frame.dead) = (here, false);
        }
    }

    /// Emits a jump to `label`. With a constant condition, it is unconditional or omitted.
    pub fn jump(&mut self, op: Op, label: Label) {
        let mut op = op;
        let last = self.pending.constants.last().filter(|_| self.optimise);
        if let (Op::JumpIf | Op::JumpUnless, Some(&(Constant::Bool(condition), _))) = (op, last) {
            self.pending.constants.pop();
            if condition != (op == Op::JumpIf) {
                return;
            }
            op = Op::Jump;
        }
        self.flush();
        if op == Op::Jump && !self.needs_jump(label) {
            self.frame.dead = true;
        } else if !self.fused_jump(op, label) {
            self.emit_jump(op, &[0], label);
        }
    }

    /// Jumps to `label` if the top value is `literal`. The value stays on the stack.
    pub fn jump_is(&mut self, literal: Literal, label: Label) {
        self.emit_jump(Op::JumpIs, &[literal as u32, 0], label);
    }

    /// Emits an instruction with `label` as its last operand.
    fn emit_jump(&mut self, op: Op, operands: &[u32], label: Label) {
        self.flush();
        if let (false, Some(nth)) = (self.frame.dead, op.info().label()) {
            self.labels.mark_used(label);
            self.labels.patches.push(Patch { at: self.len() + nth, in_first: nth == 0, label });
        }
        self.emit_now(op, operands);
    }

    /// Makes the labels bound here aliases of `label`. Returns `false` if a jump to it is no longer needed.
    fn needs_jump(&mut self, label: Label) -> bool {
        let labels = &mut self.labels;
        let target = labels.resolve(label);
        if self.frame.dead || labels.bound.is_empty() || labels.bound.contains(&target) {
            return true;
        }
        for bound in std::mem::take(&mut labels.bound) {
            if let Some(bound) = labels.targets.get_mut(bound.0) {
                bound.alias = Some(target);
            }
        }
        labels.mark_used(target);
        labels.flows
    }

    /// Fuses a jump with the preceding comparison of a path and a string, in languages with an instruction for it.
    fn fused_jump(&mut self, op: Op, label: Label) -> bool {
        if !self.optimise || !Op::JumpTest.info().dialects.contains(self.tables.parts.dialect) {
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
        let path = self.take_back(); // keep its position: the path is what can fail
        self.emit_jump(Op::JumpTest, &[path, string, test.operand(), 0], label);
        self.compares(here);
        self.place = here;
        true
    }

    /// Writes the positions of labels into the jumps.
    pub(super) fn patch_jumps(&mut self) {
        for Patch { at, in_first, label } in std::mem::take(&mut self.labels.patches) {
            let target = self.labels.targets.get(self.labels.resolve(label).0);
            let target = target.and_then(|target| target.at).unwrap_or(0);
            if let Some(word) = self.tables.parts.words.get_mut(at) {
                *word = if in_first { target << 8 | *word & 0xFF } else { target };
            }
        }
    }

    /// Opens a loop over the top value with `names` (1 or 2) slots starting at `slot`. Continues at `empty` if there
    /// are no items.
    pub fn begin_loop(&mut self, names: u32, slot: u32, empty: Label) -> LoopMark {
        self.emit_jump(Op::Iter, &[names, slot, 0], empty);
        self.frame.loops += 1;
        let (body, turn, end) = (self.new_label(), self.new_label(), self.new_label());
        self.bind(body);
        LoopMark { slot, body, turn, end }
    }

    /// Continues with the next item.
    pub fn continue_loop(&mut self, mark: LoopMark) {
        self.jump(Op::Jump, mark.turn);
    }

    /// Pops the top value. Continues with the next item unless it is true.
    pub fn continue_unless(&mut self, mark: LoopMark) {
        self.jump(Op::JumpUnless, mark.turn);
    }

    /// Leaves the loop.
    pub fn break_loop(&mut self, mark: LoopMark) {
        self.emit(Op::EndIter, &[]);
        self.jump(Op::Jump, mark.end);
    }

    /// Ends the loop: continues with the next item, or after the loop if there are none.
    pub fn end_loop(&mut self, mark: LoopMark) {
        self.bind(mark.turn);
        self.emit_jump(Op::Next, &[mark.slot, 0], mark.body);
        self.frame.loops = self.frame.loops.saturating_sub(1);
        self.bind(mark.end);
    }

    /// Begins to capture output.
    pub fn begin_capture(&mut self) {
        self.begin_block(Op::Capture);
    }

    /// Pushes the captured output as text.
    pub fn end_capture(&mut self) {
        self.end_block(Op::EndCapture);
    }

    /// Begins to gather values.
    pub fn begin_gather(&mut self) {
        self.begin_block(Op::Gather);
    }

    /// Pushes a list of the gathered values.
    pub fn end_gather(&mut self) {
        self.end_block(Op::EndGather);
    }

    /// Pushes a map of the gathered entries.
    pub fn end_entries(&mut self) {
        self.end_block(Op::EndEntries);
    }

    fn begin_block(&mut self, op: Op) {
        self.emit(op, &[]);
        self.frame.captures += 1;
    }

    fn end_block(&mut self, op: Op) {
        self.emit(op, &[]);
        self.frame.captures = self.frame.captures.saturating_sub(1);
    }

    /// Begins an expression whose errors become undefined.
    pub fn begin_protect(&mut self) -> ProtectMark {
        self.fence();
        if self.frame.dead {
            return ProtectMark(None);
        }
        let (from, height) = (self.here(), self.height_now());
        let (iters, captures) = (self.frame.loops, self.frame.captures);
        let handlers = &mut self.tables.parts.handlers;
        handlers.push(Handler { from, to: from, height, iters, captures }.row());
        ProtectMark(Some(handlers.len() - 1))
    }

    /// Ends an expression whose errors become undefined. It has pushed one value.
    pub fn end_protect(&mut self, mark: ProtectMark) {
        self.fence();
        self.forget_values();
        let to = self.here();
        if let Some(row) = mark.0.and_then(|row| self.tables.parts.handlers.get_mut(row)) {
            *row = Handler { to, ..Handler::of(*row) }.row();
            self.labels.bound.clear();
            self.frame.dead = false;
        }
    }

    /// Sets the stack height where two branches meet of which only one was counted.
    pub fn set_height(&mut self, height: u32) {
        self.fence();
        self.set_values(height);
    }

    /// Returns the height of the frame's stack.
    pub fn height(&mut self) -> u32 {
        self.flush_constants();
        self.height_now()
    }
}

/// An open loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopMark {
    slot: u32,
    body: Label,
    turn: Label,
    end: Label,
}

/// An open protected expression: its handler, if it is reachable.
#[derive(Debug, Clone, Copy)]
pub struct ProtectMark(Option<usize>);
