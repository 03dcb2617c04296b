//! One instruction at a time: computed if its operands are known, or else emitted.

use std::rc::Rc;

use smallvec::SmallVec;

use super::fold::Found;
use super::state::{Entry, Fixed, Instr, Joined, Kept, Pending, Recipe, Running, Step};
use super::walk::{GivenUp, Outcome, Walk};
use crate::bytecode::{BinaryOp, Control, Fails, Instruction, Op, Operand, PieceKind, Place, Role, Root, Test};
use crate::value::Value;
use crate::vm::Semantics;

impl<'v, S: Semantics> Walk<'v, S> {
    /// Takes the step of the current instruction.
    pub(super) fn step(&mut self) -> Outcome {
        let Some(instruction) = self.code.instruction(self.pc) else { return Err(GivenUp) };
        match self.computed(instruction) {
            Some(outcome) => outcome?,
            None => self.kept(instruction)?,
        }
        Ok(())
    }

    /// Continues with the next instruction.
    fn next(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
        self.pc = instruction.end();
        Some(Ok(()))
    }

    /// Takes a step that needs no code, or little. `None` if the instruction stays.
    fn computed(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
        let at = instruction.at;
        let operand = |kind| instruction.operand(kind).unwrap_or_default();
        let label = operand(Operand::Label);
        match instruction.op {
            // These have no code of their own.
            Op::Return => return Some(self.go(self.frame.chunk.end, at)),
            Op::Jump => return Some(self.go(label, at)),
            Op::Next if matches!(self.state.loops.last(), Some(Running::Unrolled(..))) => {
                return self.next_item(instruction);
            }
            Op::EndIter if matches!(self.state.loops.last(), Some(Running::Unrolled(..))) => {
                drop(self.state.loops.pop())
            }
            _ if self.is_verbatim() => return None,
            Op::Str | Op::Num | Op::Int | Op::Lit => self.constant_of(instruction)?,
            Op::Pop => {
                self.known_top(1)?;
                self.state.stack.pop();
            }
            Op::LoadPath | Op::PeekPath => self.read(instruction)?,
            Op::EmitPath | Op::TextPath => self.write_path(instruction)?,
            Op::Emit => {
                let value = self.known_top(1)?.pop()?.value;
                let text = self.text(value, operand(Operand::Mode), false)?;
                self.state.stack.pop();
                self.write(&text, PieceKind::Value, at);
            }
            Op::Text => self.write(self.code.str(operand(Operand::Str)), PieceKind::Text, at),
            Op::ClearSlots => self.clear(instruction),
            Op::Not => {
                let value = self.known_top(1)?.pop()?.value;
                let result = match value {
                    Value::Bool(b) => Value::Bool(!b),
                    value => self.quiet(S::not(&self.cx, value))?,
                };
                self.replace(1, result, instruction)?;
            }
            Op::Neg => {
                let value = self.known_top(1)?.pop()?.value;
                let result = self.quiet(S::negative(&self.cx, value))?;
                self.replace(1, result, instruction)?;
            }
            Op::As => {
                let value = self.known_top(1)?.pop()?.value;
                let result = self.quiet(S::in_role(&self.cx, value, Role::of(operand(Operand::Role))))?;
                self.replace(1, result, instruction)?;
            }
            Op::Join | Op::List => {
                let count = operand(Operand::Count);
                let values: Vec<_> = self.known_top(count)?.into_iter().map(|fixed| fixed.value).collect();
                let result =
                    if instruction.op == Op::Join { self.joined(&values) } else { self.quiet(self.cx.list(&values)) };
                self.replace(count, result?, instruction)?;
            }
            Op::Call | Op::CallMemo => {
                let site = self.code.call_site(operand(Operand::Site));
                let count = u32::try_from(site.params.len()).ok()?;
                let given: Vec<_> = self.known_top(count)?.into_iter().map(|fixed| fixed.value).collect();
                let result = self.called(site.import, site.params, &given)?;
                self.replace(count, result, instruction)?;
            }
            Op::JumpIf | Op::JumpUnless => {
                let value = self.known_top(1)?.pop()?.value;
                let truth = self.truth(value)?;
                self.state.stack.pop();
                return self.decided(truth == (instruction.op == Op::JumpIf), instruction);
            }
            Op::JumpTest => {
                let holds = self.test(instruction)?;
                return self.decided(holds, instruction);
            }
            Op::JumpIs => {
                let (value, wanted) = (self.known_top(1)?.pop()?.value, operand(Operand::Lit));
                let is = matches!(
                    (value, wanted),
                    (Value::Undefined, 0) | (Value::Null, 1) | (Value::Bool(false), 2) | (Value::Bool(true), 3)
                );
                return self.decided(is, instruction);
            }
            Op::JumpPresent => {
                let present = S::present(self.known_top(1)?.pop()?.value);
                if !present {
                    self.state.stack.pop();
                }
                return self.decided(present, instruction);
            }
            Op::Iter => return self.unroll(instruction),
            Op::Capture => self.state.texts.push(Pending { unopened: Some(at), ..Pending::default() }),
            Op::EndCapture => {
                self.state.texts.last().filter(|pending| pending.unopened.is_some())?;
                let text = self.quiet(self.cx.text(&self.state.texts.last()?.text))?;
                let fixed = self.constant(text, at)?;
                self.state.texts.pop();
                self.state.stack.push(Entry::Known(fixed));
            }
            Op::CallChunk if operand(Operand::Scope) == 0 => {
                let callee = self.code.chunk(operand(Operand::Chunk)).filter(|callee| self.is_inlinable(*callee))?;
                self.pc = instruction.end();
                return Some(self.inline(callee, at));
            }
            op => return self.computed_binary(op, instruction),
        }
        self.next(instruction)
    }

    fn computed_binary(&mut self, op: Op, instruction: Instruction<'v>) -> Option<Outcome> {
        const OPERATORS: [BinaryOp; 12] = [
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
            BinaryOp::Eq,
            BinaryOp::Ne,
            BinaryOp::Lt,
            BinaryOp::Le,
            BinaryOp::Gt,
            BinaryOp::Ge,
            BinaryOp::In,
        ];
        let op = OPERATORS.into_iter().find(|operator| operator.op() == op)?;
        let operands = self.known_top(2)?;
        let [a, b] = operands.as_slice() else { return None };
        let result = self.binary(op, a.value, b.value)?;
        self.replace(2, result, instruction)?;
        self.next(instruction)
    }

    /// Pushes a constant of the program.
    fn constant_of(&mut self, instruction: Instruction<'v>) -> Option<()> {
        let value = match instruction.op {
            Op::Str => Value::Str(self.code.texts().get(instruction.operand(Operand::Str)? as usize)?),
            Op::Num => match self.code.number(instruction.operand(Operand::Num)?)? {
                crate::bytecode::Number::Int(n) => Value::Int(n),
                crate::bytecode::Number::Float(n) => Value::Float(n),
            },
            Op::Int => Value::Int(i64::from((instruction.operand(Operand::Int)? << 8).cast_signed() >> 8)),
            _ => match instruction.operand(Operand::Lit)? {
                0 => Value::Undefined,
                1 => Value::Null,
                literal => Value::Bool(literal == 3),
            },
        };
        let words = SmallVec::from_vec(self.words(instruction));
        let recipe = Recipe::Constant(Instr { words, at: instruction.at });
        self.state.stack.push(Entry::Known(Fixed { value, recipe }));
        Some(())
    }

    /// Replaces the top `count` values, all known, by the result of an instruction.
    fn replace(&mut self, count: u32, value: Value<'v>, instruction: Instruction<'v>) -> Option<()> {
        let fixed = match self.constant(value, instruction.at) {
            Some(fixed) => fixed,
            None => {
                let mut code = Vec::new();
                for Fixed { recipe, .. } in self.known_top(count)? {
                    match recipe {
                        Recipe::Constant(instr) => code.push(instr),
                        Recipe::Code(more) => code.extend(more.iter().cloned()),
                        // The slot may change before the code runs.
                        Recipe::Slot(_) => return None,
                        other => code.extend(self.code_of(&other)),
                    }
                }
                code.push(Instr { words: SmallVec::from_vec(self.words(instruction)), at: instruction.at });
                Fixed { value, recipe: Recipe::Code(code.into()) }
            }
        };
        let left = self.state.stack.len().saturating_sub(count as usize);
        self.state.stack.truncate(left);
        self.state.stack.push(Entry::Known(fixed));
        Some(())
    }

    /// Pushes the value of a path.
    fn read(&mut self, instruction: Instruction<'v>) -> Option<()> {
        let path = self.code.path(instruction.operand(Operand::Path)?);
        let fixed = match self.find(&path) {
            Found::Value(fixed) => fixed,
            Found::Missing if instruction.op == Op::PeekPath => self.constant(Value::Undefined, instruction.at)?,
            Found::Missing | Found::Open => return None,
        };
        let left = self.state.stack.len().saturating_sub(path.indexes as usize);
        self.state.stack.truncate(left);
        self.state.stack.push(Entry::Known(fixed));
        Some(())
    }

    /// Writes the value of a path.
    fn write_path(&mut self, instruction: Instruction<'v>) -> Option<()> {
        let path = self.code.path(instruction.operand(Operand::Path)?);
        let Found::Value(fixed) = self.find(&path) else { return None };
        let text = self.text(fixed.value, instruction.operand(Operand::Mode)?, true)?;
        if let Some(before) = instruction.operand(Operand::Str) {
            self.write(self.code.str(before), PieceKind::Before, instruction.at);
        }
        let left = self.state.stack.len().saturating_sub(path.indexes as usize);
        self.state.stack.truncate(left);
        self.write(&text, PieceKind::Value, instruction.at);
        Some(())
    }

    fn clear(&mut self, instruction: Instruction<'v>) {
        for slot in self.slots_of(instruction) {
            if let Some(fixed) = self.constant(Value::Undefined, instruction.at) {
                self.store(slot, Entry::Known(fixed), instruction.at);
            }
        }
    }

    /// Compares the known value of a path with a string.
    fn test(&mut self, instruction: Instruction<'v>) -> Option<bool> {
        let path = self.code.path(instruction.operand(Operand::Path)?);
        let Found::Value(Fixed { value, .. }) = self.find(&path) else { return None };
        let test = Test::of(instruction.operand(Operand::Test)?);
        let string = self.code.texts().get(instruction.operand(Operand::Str)? as usize)?;
        let op = if test.unequal { BinaryOp::Ne } else { BinaryOp::Eq };
        let result = match value {
            Value::Str(text) => (text.as_str() == string.as_str()) != test.unequal,
            value => self.binary(op, value, Value::Str(string)).and_then(|result| self.truth(result))?,
        };
        let left = self.state.stack.len().saturating_sub(path.indexes as usize);
        self.state.stack.truncate(left);
        Some(result == test.wanted)
    }

    /// Continues at the label of an instruction if `jumps`.
    fn decided(&mut self, jumps: bool, instruction: Instruction<'v>) -> Option<Outcome> {
        if jumps {
            return Some(self.go(instruction.operand(Operand::Label)?, instruction.at));
        }
        self.next(instruction)
    }

    /// Begins an unrolled loop. `None` if the loop stays.
    fn unroll(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
        let (names, label) = (instruction.operand(Operand::Names)?, instruction.operand(Operand::Label)?);
        let over = self.known_top(1)?.pop()?;
        let items = self.items(&over, names)?;
        if items.is_empty() {
            self.state.stack.pop();
            return Some(self.go(label, instruction.at));
        }
        let body = (label - instruction.end()) as usize;
        if self.is_repeated() || self.out.is_full(body.saturating_mul(items.len() + 1)) || self.is_bound(instruction) {
            return None;
        }
        self.state.stack.pop();
        self.state.loops.push(Running::Unrolled(items, 0, instruction.end()));
        self.set_item(instruction);
        self.next(instruction)
    }

    /// Returns `true` if the body of a loop depends on the loop by more than the operands of its instructions.
    fn is_bound(&self, instruction: Instruction<'v>) -> bool {
        let (mut at, end) = (instruction.end(), instruction.operand(Operand::Label).unwrap_or(0));
        while at < end
            && let Some(inner) = self.code.instruction(at)
        {
            if self.is_by_name(inner) {
                return true;
            }
            at = inner.end();
        }
        false
    }

    /// Sets the slots of the innermost loop to its next item.
    fn set_item(&mut self, instruction: Instruction<'v>) {
        let Some(Running::Unrolled(items, begun, _)) = self.state.loops.last_mut() else { return };
        let item = items.get(*begun).cloned().unwrap_or_default();
        *begun += 1;
        let first = self.slots_of(instruction).start;
        for (slot, fixed) in (first..).zip(item) {
            self.store(slot, Entry::Known(fixed), instruction.at);
        }
    }

    /// Continues with the next item of an unrolled loop.
    fn next_item(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
        let Some(Running::Unrolled(items, begun, body)) = self.state.loops.last() else { return None };
        let body = *body;
        if *begun < items.len() {
            self.set_item(instruction);
            self.pc = body;
            return Some(Ok(()));
        }
        self.state.loops.pop();
        self.next(instruction)
    }

    /// Emits an instruction whose operands are not all known.
    fn kept(&mut self, instruction: Instruction<'v>) -> Outcome {
        let info = instruction.op.info();
        let pops = self.code.pops(info, instruction.operands().next().map_or(0, |(_, operand)| operand)) as usize;
        if instruction.op == Op::StoreSlot {
            if self.is_verbatim() {
                self.settle();
            }
            let slot = self.slots_of(instruction).start;
            let entry = self.state.stack.pop().ok_or(GivenUp)?;
            self.store(slot, entry, instruction.at);
            self.pc = instruction.end();
            return Ok(());
        }
        if instruction.op == Op::Iter {
            return self.keep_loop(instruction);
        }
        let words = self.rewritten(instruction)?;
        if pops > 0 || info.pushes > 0 {
            self.settle();
        }
        self.read_slots(instruction);
        if let Some(nth) = info.label() {
            return self.keep_branch(instruction, words, nth, pops);
        }
        self.keep_plain(instruction, words)?;
        let left = self.state.stack.len().checked_sub(pops).ok_or(GivenUp)?;
        self.state.stack.truncate(left);
        self.state.stack.extend(std::iter::repeat_n(Entry::Pushed, info.pushes.into()));
        if info.writes.contains(Place::Slots) {
            self.slots_of(instruction).for_each(|slot| self.open_slot(slot));
        }
        self.live = !info.control.ends();
        self.pc = instruction.end();
        Ok(())
    }

    /// Emits an instruction without a label.
    fn keep_plain(&mut self, instruction: Instruction<'v>, words: Vec<u32>) -> Outcome {
        let info = instruction.op.info();
        match (instruction.op, info.control) {
            (Op::EmitPath | Op::TextPath, _) => {
                self.keep_write(instruction, &words);
                return Ok(());
            }
            (Op::CallChunk, _) => {
                // A callee that sees the caller's names reads its slots.
                if instruction.operand(Operand::Scope) != Some(0) {
                    self.sync_all();
                }
                self.calls = true;
            }
            (Op::Scope, _) => self.sync_all(),
            (_, Control::CloseLoop) => drop(self.state.loops.pop()),
            (_, Control::OpenText) => {
                self.flush();
                self.state.texts.push(Pending::default());
            }
            (_, Control::OpenValues) => self.state.gatherings += 1,
            (_, Control::CloseValues) => self.state.gatherings = self.state.gatherings.saturating_sub(1),
            _ => {}
        }
        if info.fails != Fails::Never || info.control != Control::Plain {
            self.flush();
        }
        if info.control == Control::CloseText {
            self.state.texts.pop();
        }
        self.emit(&words, instruction.at);
        Ok(())
    }

    /// Writes the value of a path, with the pending text before it.
    fn keep_write(&mut self, instruction: Instruction<'v>, words: &[u32]) {
        let (at, mode) = (instruction.at, instruction.operand(Operand::Mode).unwrap_or(0));
        if let Some(before) = instruction.operand(Operand::Str) {
            self.write(self.code.str(before), PieceKind::Before, at);
        }
        let path = words.first().map_or(0, |word| word >> 8);
        match self.flush_before(self.program.place(at)) {
            Some(Joined { text, pieces }) => {
                let string = self.out.string(&text);
                self.out.details_of(at);
                self.out.pieces(&pieces);
                self.emit_quietly(&[Op::TextPath as u32 | path << 8, mode, string], at);
            }
            None => self.emit(&[Op::EmitPath as u32 | path << 8, mode], at),
        }
    }

    /// Emits an instruction with a label.
    fn keep_branch(&mut self, instruction: Instruction<'v>, words: Vec<u32>, nth: usize, pops: usize) -> Outcome {
        let info = instruction.op.info();
        if info.control == Control::NextItem {
            return self.keep_next(instruction, words, nth);
        }
        let label = instruction.operand(Operand::Label).ok_or(GivenUp)?;
        self.part(label);
        let word = self.out.here() as usize;
        self.emit(&words, instruction.at);
        let left = self.state.stack.len().checked_sub(pops).ok_or(GivenUp)?;
        self.state.stack.truncate(left);
        self.state.stack.extend(std::iter::repeat_n(Entry::Pushed, info.pushes.into()));
        self.edge(label, (word, nth), usize::from(info.control == Control::BranchWithTop))?;
        self.pc = instruction.end();
        Ok(())
    }

    /// Begins a loop that stays.
    fn keep_loop(&mut self, instruction: Instruction<'v>) -> Outcome {
        let label = instruction.operand(Operand::Label).ok_or(GivenUp)?;
        let before = self.snapshot();
        if self.is_verbatim() {
            self.sync_all();
        }
        let set = self.part(label);
        let words = self.rewritten(instruction)?;
        let word = self.out.here() as usize;
        self.emit(&words, instruction.at);
        self.state.stack.pop().ok_or(GivenUp)?;
        self.edge(label, (word, words.len() - 1), 0)?;
        set.iter().for_each(|slot| self.open_slot(*slot));
        let body = [instruction.end(), self.out.here()];
        self.state.loops.push(Running::Kept(Rc::new(Kept { at: instruction.at, body, before })));
        self.pc = instruction.end();
        Ok(())
    }

    /// Ends the turn of a loop that stays. If its body has grown, it is copied as it is instead.
    fn keep_next(&mut self, instruction: Instruction<'v>, mut words: Vec<u32>, nth: usize) -> Outcome {
        self.before_jump();
        let Some(Running::Kept(kept)) = self.state.loops.pop() else { return Err(GivenUp) };
        let [from, here] = kept.body;
        if self.out.here() - here > instruction.at - from && !self.is_verbatim() {
            self.back_to(&kept.before, kept.at);
            self.frame.verbatim_to = instruction.end();
            self.flush();
            return Ok(());
        }
        if let Some(word) = words.get_mut(nth) {
            *word = here;
        }
        self.emit(&words, instruction.at);
        self.pc = instruction.end();
        Ok(())
    }

    /// Stores the slots that an instruction reads.
    fn read_slots(&mut self, instruction: Instruction<'v>) {
        if instruction.op.info().reads.contains(Place::Slots) {
            self.slots_of(instruction).for_each(|slot| self.sync(slot));
        }
        if let Some(path) = instruction.operand(Operand::Path) {
            for root in self.code.path(path).roots() {
                if let Root::Slot(slot) = root {
                    self.sync(self.frame.base + slot);
                }
            }
        }
    }

    /// Returns the words of an instruction in the residual's frame, with the label of the original.
    fn rewritten(&mut self, instruction: Instruction<'v>) -> Outcome<Vec<u32>> {
        let mut words = self.words(instruction);
        for (nth, (kind, operand)) in instruction.operands().enumerate() {
            let new = match kind {
                Operand::Slot | Operand::SlotPair | Operand::SlotRun | Operand::LoopSlots => self.frame.base + operand,
                Operand::Path => self.rebased(operand)?,
                Operand::Scope if operand != 0 && self.frame.base > 0 => return Err(GivenUp),
                _ => continue,
            };
            if let Some(word) = words.get_mut(nth) {
                *word = if nth == 0 { *word & 0xFF | new << 8 } else { new };
            }
        }
        Ok(words)
    }

    /// Returns the offset of a path in the residual's frame and loops.
    fn rebased(&mut self, offset: u32) -> Outcome<u32> {
        let path = self.code.path(offset);
        let mut roots: SmallVec<[Root; 4]> = SmallVec::new();
        for root in path.roots() {
            roots.push(match root {
                Root::Slot(slot) => Root::Slot(self.frame.base + slot),
                Root::Loop(level, field) => {
                    let above = self.state.loops.iter().rev();
                    let nth = above.clone().nth(level as usize);
                    if !matches!(nth, Some(Running::Kept(_))) {
                        return Err(GivenUp);
                    }
                    let kept = above.take(level as usize).filter(|each| matches!(each, Running::Kept(_))).count();
                    Root::Loop(u32::try_from(kept).map_err(|_| GivenUp)?, field)
                }
                other => other,
            });
        }
        Ok(self.out.path(offset, &path, &roots))
    }

    /// Returns the code of a recipe that is a path.
    fn code_of(&mut self, recipe: &Recipe) -> Vec<Instr> {
        let at = self.pc;
        let instr = |word: u32| Instr { words: SmallVec::from_slice(&[word]), at };
        match recipe {
            Recipe::Input(global, steps) => {
                let indexes = steps.iter().filter_map(|step| match step {
                    Step::Index(nth) => Some(instr(Op::Int as u32 | nth << 8)),
                    Step::Attr(_) => None,
                });
                let mut code: Vec<_> = indexes.collect();
                code.push(instr(Op::LoadPath as u32 | self.out.input_path(*global, steps) << 8));
                code
            }
            Recipe::Slot(slot) => vec![instr(Op::LoadPath as u32 | self.out.slot_path(*slot) << 8)],
            Recipe::Constant(instr) => vec![instr.clone()],
            Recipe::Code(code) => code.to_vec(),
        }
    }
}
