//! Control: labels and jumps, loops, expressions whose errors are absorbed.

use super::{Emitter, Label, LoopMark, ProtectMark};
use crate::bytecode::{Handler, Op, Test};
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
        self.fence();
        self.forget_values();
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
        if !self.fused_jump(op, label) {
            self.patches.push((self.words.len(), true, label));
            self.emit(op, &[0]);
        }
    }

    /// Where a comparison of a path with a string decides, one instruction reads, compares and jumps.
    fn fused_jump(&mut self, op: Op, label: Label) -> bool {
        let [Op::LoadPath, Op::Str, compared @ (Op::Eq | Op::Ne)] = self.recent() else { return false };
        if !matches!(op, Op::JumpIf | Op::JumpUnless) {
            return false;
        }
        let test = Test { unequal: compared == Op::Ne, wanted: op == Op::JumpIf };
        let here = self.place;
        self.take_back();
        let string = self.take_back();
        let path = self.take_back(); // its place remains: it is what may fail
        self.patches.push((self.words.len() + 3, false, label));
        self.words_of(Op::JumpTest, &[path, string, test.operand(), 0]);
        self.place = here;
        true
    }

    /// Opens a loop over the top of the stack with `names` (1 or 2) loop slots from `slot` on. Where there is
    /// nothing to loop over, the code goes on at `empty`.
    pub fn begin_loop(&mut self, names: u32, slot: u32, empty: Label) -> LoopMark {
        self.flush();
        self.patches.push((self.words.len() + 2, false, empty));
        self.emit(Op::Iter, &[names, slot, 0]);
        self.open.iters += 1;
        let (body, turn, end) = (self.new_label(), self.new_label(), self.new_label());
        self.bind(body);
        LoopMark { slot, body, turn, end }
    }

    /// Goes on with the next turn of the loop.
    pub fn continue_loop(&mut self, mark: LoopMark) {
        self.jump(Op::Jump, mark.turn);
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
        self.patches.push((self.words.len() + 1, false, mark.body));
        self.emit(Op::Next, &[mark.slot, 0]);
        self.open.iters = self.open.iters.saturating_sub(1);
        self.bind(mark.end);
    }

    /// Begins an expression whose errors become undefined.
    pub fn begin_protect(&mut self) -> ProtectMark {
        self.fence();
        let open = &self.open;
        ProtectMark {
            from: index(self.words.len()),
            height: index(self.values.len()),
            iters: open.iters,
            captures: open.captures,
        }
    }

    /// Ends an expression whose errors become undefined; it has pushed one value.
    pub fn end_protect(&mut self, mark: ProtectMark) {
        self.fence();
        let to = index(self.words.len());
        let ProtectMark { from, height, iters, captures } = mark;
        self.handlers.push(Handler { from, to, target: to, height, iters, captures });
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
