//! One instruction at a time: computed if its operands are known, or else emitted.

use smallvec::SmallVec;

use super::fold::PathValue;
use super::state::{Fixed, Instr, PendingText, Recipe, RunningLoop, StackEntry, ValueStep, same};
use super::walk::{GivenUp, Outcome, Specialiser};
use crate::bytecode::{BinaryOp, Instruction, Op, Operand, PieceKind, Provenance, Role, Test};
use dropforge_value::Value;

impl<'v> Specialiser<'v> {
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
    pub(super) fn next(&mut self, instruction: Instruction<'v>) -> Option<Outcome> {
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
            Op::Next if matches!(self.state.loops.last(), Some(RunningLoop::Unrolled(..))) => {
                return self.next_item(instruction);
            }
            Op::EndIter if matches!(self.state.loops.last(), Some(RunningLoop::Unrolled(..))) => {
                drop(self.state.loops.pop())
            }
            Op::Answer if self.frame.answers => {}
            _ if self.is_verbatim() => return None,
            Op::MarkSlot => self.mark(self.slots_of(instruction).start, at)?,
            Op::Raise if self.is_quiet_since(self.slots_of(instruction).start) => {}
            Op::And | Op::Or => {
                let result = self.logic(instruction)?;
                self.replace(2, result, instruction)?;
            }
            Op::Str | Op::Num | Op::Int | Op::Lit => self.constant_of(instruction)?,
            Op::Pop => {
                self.known_top(1)?;
                self.state.stack.pop();
            }
            Op::LoadPath | Op::PeekPath => match self.unroll_entries(instruction) {
                Some(outcome) => return Some(outcome),
                None => self.read(instruction)?,
            },
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
                    value => self.quiet(self.rules.not(&self.cx, value))?,
                };
                self.replace(1, result, instruction)?;
            }
            Op::Neg => {
                let value = self.known_top(1)?.pop()?.value;
                let result = self.quiet(self.rules.negative(&self.cx, value))?;
                self.replace(1, result, instruction)?;
            }
            Op::As => {
                let value = self.known_top(1)?.pop()?.value;
                let result = self.quiet(self.rules.in_role(&self.cx, value, Role::of(operand(Operand::Role))))?;
                self.replace(1, result, instruction)?;
            }
            Op::Join | Op::List | Op::ListSome => {
                let count = operand(Operand::Count);
                let values = self.known_values(count, instruction.op == Op::ListSome)?;
                let result =
                    if instruction.op == Op::Join { self.joined(&values) } else { self.quiet(self.cx.list(&values)) };
                self.replace(count, result?, instruction)?;
            }
            Op::Map | Op::MapSome => {
                let shape = self.code.shapes().get(operand(Operand::Keys) as usize)?.as_ref()?;
                let count = u32::try_from(shape.keys().len()).ok()?;
                let values = self.known_values(count, instruction.op == Op::MapSome)?;
                let map = self.quiet(self.cx.shaped_map(shape, &values))?;
                self.replace(count, Value::Map(map), instruction)?;
            }
            Op::Call | Op::CallMemo => {
                let site = self.code.call_site(operand(Operand::Site));
                let count = u32::try_from(site.params.len()).ok()?;
                let given = self.known_values(count, false)?;
                let result = self.called(site.import, site.params, &given)?;
                self.replace(count, result, instruction)?;
            }
            Op::Apply => {
                let count = operand(Operand::Count);
                let given = self.known_values(count, false)?;
                let result = self.applied(operand(Operand::Import), &given)?;
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
                let present = self.rules.present(self.known_top(1)?.pop()?.value);
                if !present {
                    self.state.stack.pop();
                }
                return self.decided(present, instruction);
            }
            Op::Iter => return self.unroll(instruction),
            Op::Capture => self.state.texts.push(PendingText { unopened: Some(at), ..PendingText::default() }),
            Op::EndCapture => {
                self.state.texts.last().filter(|pending| pending.unopened.is_some())?;
                let text = self.quiet(self.cx.text(&self.state.texts.last()?.text))?;
                let fixed = self.constant(text, at)?;
                self.state.texts.pop();
                self.state.stack.push(StackEntry::Known(fixed));
            }
            Op::CallChunk if operand(Operand::Scope) == 0 => {
                let callee = self.code.chunk(operand(Operand::Chunk)).filter(|callee| self.is_inlinable(*callee))?;
                self.pc = instruction.end();
                return Some(self.inline(callee, at));
            }
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::In => self.computed_binary(instruction)?,
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => self.computed_binary(instruction)?,
            // These always stay.
            Op::StoreSlot | Op::Scope | Op::Next | Op::EndIter | Op::CallChunk | Op::CallNamed | Op::CallMade => {
                return None;
            }
            Op::Fail | Op::Fault | Op::Mark | Op::Raise | Op::Meter | Op::Measure | Op::Answer | Op::Answered => {
                return None;
            }
            Op::Gather | Op::Keep | Op::KeepSome | Op::KeepEntry | Op::KeepEntries | Op::EndGather | Op::EndEntries => {
                return None;
            }
        }
        self.next(instruction)
    }

    fn computed_binary(&mut self, instruction: Instruction<'v>) -> Option<()> {
        let op = BinaryOp::of(instruction.op)?;
        let operands = self.known_top(2)?;
        let [a, b] = operands.as_slice() else { return None };
        let result = self.binary(op, a.value, b.value)?;
        self.replace(2, result, instruction)
    }

    /// Pushes a constant of the program.
    fn constant_of(&mut self, instruction: Instruction<'v>) -> Option<()> {
        let value = match instruction.operands().next()? {
            (Operand::Str, text) => Value::Str(self.code.texts().get(text as usize)?),
            (Operand::Num, number) => match self.code.number(number)? {
                crate::bytecode::Number::Int(n) => Value::Int(n),
                crate::bytecode::Number::Float(n) => Value::Float(n),
            },
            (Operand::Int, n) => Value::Int(i64::from((n << 8).cast_signed() >> 8)),
            (Operand::Lit, 0) => Value::Undefined,
            (Operand::Lit, 1) => Value::Null,
            (Operand::Lit, literal) => Value::Bool(literal == 3),
            _ => return None,
        };
        let words = SmallVec::from_vec(self.words(instruction));
        let recipe = Recipe::Constant(Instr { words, at: instruction.at });
        self.state.stack.push(StackEntry::Known(Fixed { value, recipe }));
        Some(())
    }

    /// Replaces the top `count` values, all known, by the result of an instruction.
    fn replace(&mut self, count: u32, value: Value<'v>, instruction: Instruction<'v>) -> Option<()> {
        let fixed = match self.constant(value, instruction.at) {
            Some(fixed) => fixed,
            None => {
                let operands = self.known_top(count)?;
                if let Some(operand) = operands.iter().find(|operand| same(operand.value, value)) {
                    return self.put(count, operand.clone());
                }
                let mut code = Vec::new();
                for Fixed { recipe, .. } in operands {
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
        self.put(count, fixed)
    }

    /// Replaces the top `count` values by a known one.
    fn put(&mut self, count: u32, fixed: Fixed<'v>) -> Option<()> {
        let left = self.state.stack.len().saturating_sub(count as usize);
        self.state.stack.truncate(left);
        self.state.stack.push(StackEntry::Known(fixed));
        Some(())
    }

    /// Pushes the value of a path.
    fn read(&mut self, instruction: Instruction<'v>) -> Option<()> {
        let path = self.code.path(instruction.operand(Operand::Path)?);
        let fixed = match self.find(&path) {
            PathValue::Value(fixed) => fixed,
            PathValue::Missing if instruction.op.info().provenance == Provenance::OptionalPath => {
                self.constant(Value::Undefined, instruction.at)?
            }
            PathValue::Missing | PathValue::Open => return None,
        };
        self.put(path.indexes, fixed)
    }

    /// Writes the value of a path.
    fn write_path(&mut self, instruction: Instruction<'v>) -> Option<()> {
        let path = self.code.path(instruction.operand(Operand::Path)?);
        let PathValue::Value(fixed) = self.find(&path) else { return None };
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
                self.store(slot, StackEntry::Known(fixed), instruction.at);
            }
        }
    }

    /// Compares the known value of a path with a string.
    fn test(&mut self, instruction: Instruction<'v>) -> Option<bool> {
        let path = self.code.path(instruction.operand(Operand::Path)?);
        let PathValue::Value(Fixed { value, .. }) = self.find(&path) else { return None };
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

    /// Returns the code of a recipe that is a path.
    fn code_of(&mut self, recipe: &Recipe) -> Vec<Instr> {
        let at = self.pc;
        let instr = |word: u32| Instr { words: SmallVec::from_slice(&[word]), at };
        match recipe {
            Recipe::Input(global, steps) => {
                let indexes = steps.iter().filter_map(|step| match step {
                    ValueStep::Index(nth) => Some(instr(Op::Int as u32 | nth << 8)),
                    ValueStep::Attr(_) => None,
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
