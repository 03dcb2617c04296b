//! Control: labels and jumps, loops, expressions whose errors are absorbed.

use super::{Emitter, Label, LoopMark, ProtectMark};
use crate::bytecode::{Handler, Op};
use crate::compiler::fold::Constant;
use crate::compiler::tables::index;

impl Emitter<'_> {
    /// A label without a place.
    pub fn new_label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts `label` here.
    pub fn bind(&mut self, label: Label) {
        self.flush();
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = Some(index(self.words.len()));
        }
    }

    /// Emits a jump to `label`; where a constant decides, a jump that is always taken or none.
    pub fn jump(&mut self, op: Op, label: Label) {
        let mut op = op;
        if let (Op::JumpIf | Op::JumpUnless, Some(&(Constant::Bool(known), _))) = (op, self.constants.last()) {
            self.constants.pop();
            if known != (op == Op::JumpIf) {
                return;
            }
            op = Op::Jump;
        }
        self.flush();
        self.patches.push((self.words.len(), true, label));
        self.emit(op, &[0]);
    }

    /// Opens a loop over the top of the stack with `names` (1 or 2) loop slots from `slot` on. Where there is
    /// nothing to loop over, the code goes on at `empty`.
    pub fn begin_loop(&mut self, names: u32, slot: u32, empty: Label) -> LoopMark {
        self.flush();
        self.patches.push((self.words.len() + 1, false, empty));
        self.emit(Op::Iter, &[names, 0]);
        self.open.iters += 1;
        let (head, end) = (self.new_label(), self.new_label());
        self.bind(head);
        self.patches.push((self.words.len() + 1, false, end));
        self.emit(Op::Next, &[slot, 0]);
        LoopMark { head, end }
    }

    /// Goes on with the next turn of the loop.
    pub fn continue_loop(&mut self, mark: LoopMark) {
        self.jump(Op::Jump, mark.head);
    }

    /// Leaves the loop.
    pub fn break_loop(&mut self, mark: LoopMark) {
        self.emit(Op::EndIter, &[]);
        self.jump(Op::Jump, mark.end);
    }

    /// Ends the loop: goes on with the next turn, and puts here where the code goes on when there is none.
    pub fn end_loop(&mut self, mark: LoopMark) {
        self.jump(Op::Jump, mark.head);
        self.open.iters = self.open.iters.saturating_sub(1);
        self.bind(mark.end);
    }

    /// Begins an expression whose errors become undefined.
    pub fn begin_protect(&mut self) -> ProtectMark {
        self.flush();
        let open = &self.open;
        ProtectMark { from: index(self.words.len()), height: open.height, iters: open.iters, captures: open.captures }
    }

    /// Ends an expression whose errors become undefined; it has pushed one value.
    pub fn end_protect(&mut self, mark: ProtectMark) {
        self.flush();
        let to = index(self.words.len());
        let ProtectMark { from, height, iters, captures } = mark;
        self.handlers.push(Handler { from, to, target: to, height, iters, captures });
    }

    /// Says how many values the stack holds here, where two branches meet of which only one was counted.
    pub fn set_height(&mut self, height: u32) {
        self.flush();
        self.open.height = height;
    }

    /// How many values the frame's part of the stack holds here.
    pub fn height(&mut self) -> u32 {
        self.flush_constants();
        self.open.height
    }
}
