//! The loop: one arm for each instruction.

use super::access::Access;
use super::calls::steps;
use super::hooks::Hooks;
use super::machine::{Capture, Interpreter, literal};
use super::semantics::{Logic, Semantics};
use crate::bytecode::{BinaryOp, Op, Role, Test};
use dropforge_base::diagnostics::Result;
use dropforge_value::Value;

/// Returns the signed operand of [`Op::Int`].
#[inline(always)]
fn signed(operand: u32) -> i64 {
    i64::from((operand << 8).cast_signed() >> 8)
}

impl<'r, A: Access, S: Semantics + ?Sized> Interpreter<'r, '_, A, S> {
    /// Runs from the word `at` until the last chunk returns or an error occurs.
    pub(super) fn execute<H: Hooks>(&mut self, at: usize, hooks: &mut H) -> Result<()> {
        let mut words = self.program.words;
        let mut pc = at;
        loop {
            let word = A::at(words, pc);
            let op = A::op(word);
            hooks.contents(|| self.contents());
            let a = word >> 8;
            hooks.step(pc, op, || self.moment(op, a));
            self.cx.go(pc);
            if self.rules.probes() {
                self.probe(op, a)?;
            }
            pc += 1;
            // The next operand word.
            let mut operand = || {
                let word = A::at(words, pc);
                pc += 1;
                word
            };
            match op {
                Op::Str => self.push_string(a),
                Op::Num => self.push_number(a),
                Op::Int => self.push(Value::Int(signed(a))),
                Op::Lit => self.push(literal(a)),
                Op::Pop => drop(self.pop()),
                Op::LoadPath => match self.quick(a) {
                    Value::Undefined if self.push_looping(a) => {}
                    Value::Undefined => self.load_slow(a).map(|value| self.push(value))?,
                    value => self.push(value),
                },
                Op::PeekPath => match self.quick(a) {
                    Value::Undefined if self.push_looping(a) => {}
                    Value::Undefined => self.find_slow(a).map(|value| self.push(value))?,
                    value => self.push(value),
                },
                Op::EmitPath => {
                    let mode = operand();
                    self.write_path(a, mode)?;
                }
                Op::TextPath => {
                    let (mode, text) = (operand(), operand());
                    self.write_text(text)?;
                    self.write_path(a, mode)?;
                }
                Op::StoreSlot => {
                    let value = self.pop();
                    self.set_slot(a, value);
                }
                Op::ClearSlots => self.clear_slots(a, operand()),
                Op::Not => self.negate()?,
                Op::Add => self.binary(BinaryOp::Add)?,
                Op::Sub => self.binary(BinaryOp::Sub)?,
                Op::Mul => self.binary(BinaryOp::Mul)?,
                Op::Div => self.binary(BinaryOp::Div)?,
                Op::Rem => self.binary(BinaryOp::Rem)?,
                Op::Eq => self.binary(BinaryOp::Eq)?,
                Op::Ne => self.binary(BinaryOp::Ne)?,
                Op::Lt => self.binary(BinaryOp::Lt)?,
                Op::Le => self.binary(BinaryOp::Le)?,
                Op::Gt => self.binary(BinaryOp::Gt)?,
                Op::Ge => self.binary(BinaryOp::Ge)?,
                Op::In => self.binary(BinaryOp::In)?,
                Op::Join => pc = self.join::<H>(a, pc)?,
                Op::As => {
                    let value = self.pop();
                    self.push(self.rules.in_role(&self.cx, value, Role::of(a))?);
                }
                Op::List => self.list(a)?,
                Op::Map => self.map(a)?,
                Op::Scope => self.visible(a).map(|value| self.push(value))?,
                Op::Jump => pc = self.jump(pc, a as usize)?,
                Op::JumpIf => {
                    if self.pop_truth()? {
                        pc = self.jump(pc, a as usize)?;
                    }
                }
                Op::JumpUnless => {
                    if !self.pop_truth()? {
                        pc = self.jump(pc, a as usize)?;
                    }
                }
                Op::JumpTest => {
                    let (string, test, target) = (operand(), operand(), operand());
                    if self.passes(a, string, Test::of(test))? {
                        pc = self.jump(pc, target as usize)?;
                    }
                }
                Op::JumpIs => {
                    let target = operand();
                    if is_literal(A::at(self.values, self.top - 1), a) {
                        pc = self.jump(pc, target as usize)?;
                    }
                }
                Op::JumpPresent => {
                    let value = self.pop();
                    if self.rules.present(value) {
                        self.push(value);
                        pc = self.jump(pc, a as usize)?;
                    }
                }
                Op::Iter => {
                    let (slot, empty) = (operand(), operand());
                    if !self.iter(a, slot)? {
                        pc = self.jump(pc, empty as usize)?;
                    }
                }
                Op::Next => {
                    let body = operand();
                    if self.next(a)? {
                        pc = self.jump(pc, body as usize)?;
                    }
                }
                Op::EndIter => drop(self.loops.pop()),
                Op::Call => pc = self.call::<H>(a, pc)?,
                Op::CallMemo => self.call_memo(a, operand())?,
                Op::Apply => self.apply(a, operand())?,
                Op::CallChunk => {
                    let scope = operand();
                    pc = self.enter(a, scope, pc)?;
                }
                Op::Return => match self.leave() {
                    Some(back) => (pc, words) = (back, self.program.words),
                    None => return Ok(()),
                },
                Op::Fail => return Err(self.failure(a)),
                Op::Text => self.write_text(a)?,
                Op::Emit => {
                    self.top -= 1;
                    self.write_at(self.top, a)?;
                }
                Op::Capture => self.begin_capture(),
                Op::EndCapture => self.end_capture()?,
                Op::Neg => {
                    let value = self.pop();
                    self.push(self.rules.negative(&self.cx, value)?);
                }
                Op::Mark => self.push(Value::uint(self.cx.notes().count() as u64)),
                Op::MarkSlot => self.set_slot(a, Value::uint(self.cx.notes().count() as u64)),
                Op::And => self.logic(Logic::And, a)?,
                Op::Or => self.logic(Logic::Or, a)?,
                Op::Fault => {
                    let error = self.failure(a);
                    self.push(self.rules.fault(&self.cx, error)?);
                }
                Op::Gather => self.captures.push(Capture::Values(self.gathered.len())),
                Op::Keep => self.keep()?,
                Op::EndGather => self.end_gather()?,
                Op::Answer => self.result = self.pop(),
                Op::Answered => self.push(self.result),
                Op::ListSome => self.list_some(a)?,
                Op::MapSome => self.map_some(a)?,
                Op::KeepSome => self.keep_some()?,
                Op::KeepEntry => self.keep_entry(a)?,
                Op::KeepEntries => self.keep_entries(a)?,
                Op::EndEntries => self.end_entries()?,
                Op::Meter => self.cx.meter(a.into())?,
                Op::Measure => {
                    let count = operand();
                    self.measure(a, count)?;
                }
                Op::Raise => self.raise(a)?,
                Op::CallNamed => {
                    let delivery = operand();
                    (pc, words) = (self.call_named(a, delivery, pc)?, self.program.words);
                }
                Op::CallMade => {
                    let import = operand();
                    (pc, words) = (self.call_made(a, import, pc)?, self.program.words);
                }
            }
        }
    }

    /// Checks a jump. A backward jump costs as much as the code to repeat.
    #[inline]
    fn jump(&self, from: usize, to: usize) -> Result<usize> {
        if to < from {
            self.cx.spend(steps(from - to))?;
        }
        Ok(to)
    }

    #[inline]
    fn binary(&mut self, op: BinaryOp) -> Result<()> {
        let (a, b) = (A::borrow(self.values, self.top - 2), A::borrow(self.values, self.top - 1));
        if let Some(result) = self.rules.common(op, a, b) {
            self.top -= 2;
            self.push(result);
            return Ok(());
        }
        let (b, a) = (self.pop(), self.pop());
        let result = self.rules.binary(&self.cx, op, a, b)?;
        self.push(result);
        Ok(())
    }

    /// Charges the cost of the top `count` values by a rule of the language.
    #[inline(never)]
    fn measure(&self, rule: u32, count: u32) -> Result<()> {
        let cost = self.rules.measure(&self.cx, rule, self.topmost(count as usize))?;
        self.cx.meter(cost)
    }

    /// Combines the top two values; `slot` and the next one hold the numbers of errors before each.
    #[inline(always)]
    fn logic(&mut self, logic: Logic, slot: u32) -> Result<()> {
        let (b, a) = (self.pop(), self.pop());
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) if self.cx.notes().count() == 0 => self.push(Value::Bool(logic.of(a, b))),
            _ => self.logic_of_others(logic, [a, b], slot)?,
        }
        Ok(())
    }

    #[inline(never)]
    fn logic_of_others(&mut self, logic: Logic, operands: [Value<'r>; 2], slot: u32) -> Result<()> {
        let result = self.rules.logic(&self.cx, logic, operands, [self.slot(slot), self.slot(slot + 1)])?;
        self.push(result);
        Ok(())
    }

    /// Compares the value of the path at `path` with a string constant. Returns `true` if the test holds.
    #[inline]
    fn passes(&mut self, path: u32, string: u32, test: Test) -> Result<bool> {
        let value = self.load(path)?;
        if let Value::Str(text) = value {
            let equal = text.as_str() == self.text(string);
            return Ok((equal != test.unequal) == test.wanted);
        }
        let op = if test.unequal { BinaryOp::Ne } else { BinaryOp::Eq };
        let string = self.string(string);
        let result = self.rules.binary(&self.cx, op, value, string)?;
        Ok(self.rules.truth(&self.cx, result)? == test.wanted)
    }

    #[inline]
    fn negate(&mut self) -> Result<()> {
        let result = match self.pop() {
            Value::Bool(b) => Value::Bool(!b),
            value => self.rules.not(&self.cx, value)?,
        };
        self.push(result);
        Ok(())
    }

    #[inline]
    fn pop_truth(&mut self) -> Result<bool> {
        match self.pop() {
            Value::Bool(b) => Ok(b),
            value => self.rules.truth(&self.cx, value),
        }
    }
}

/// Returns `true` if a value is the [`Literal`](crate::bytecode::Literal) of an operand.
#[inline(always)]
fn is_literal(value: Value<'_>, operand: u32) -> bool {
    match (value, literal(operand)) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        _ => false,
    }
}
