//! Blocks: loops, captures, gathered values, protected expressions.

use super::labels::Label;
use super::state::Emitter;
use crate::bytecode::{Handler, Op};

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

impl Emitter<'_> {
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
