//! The effects of instructions on the facts.

use super::slots::{Fact, Held};
use super::walk::{Effect, FactState, FactWalk, Flow, split};
use crate::bytecode::code::Instruction;
use crate::bytecode::isa::{Control, Jumps, Op, Provenance};
use crate::bytecode::operands::{BinaryOp, Literal, Operand, Role, Test};
use crate::bytecode::rows::{ImportKind, Number};
use dropforge_value::Data;

/// Functions that only test for a value. The result is `true` if there is one, or with `false` if there is none.
const PRESENCE: [(ImportKind, &str, bool); 2] =
    [(ImportKind::Test, "defined", true), (ImportKind::Test, "undefined", false)];

/// Operations that look up a key which may be missing. The first of them tests for it.
const SELECTS: [&str; 3] = ["has", "select optional", "index optional"];

/// Operations that check the source of a finished loop.
const CHECKS: [&str; 3] = ["for tuple", "for object", "for rehearsal"];

impl<'w> FactWalk<'w, '_> {
    /// Applies an instruction to the facts.
    pub(super) fn step(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>, depth: usize) -> Flow<'w> {
        let operand = |kind| instruction.operand(kind).unwrap_or_default();
        let label = operand(Operand::Label);
        match instruction.op.info().jumps {
            Jumps::Never => self.straight(instruction, state, depth),
            Jumps::Always => Flow::To(label),
            Jumps::True => branch(self.condition(state), label, state),
            Jumps::False => branch(self.condition(state).map(|truth| !truth), label, state),
            Jumps::Test => self.jump_test(instruction, state),
            Jumps::Literal => jump_is(literal(operand(Operand::Lit)), label, state),
            Jumps::Present => self.jump_present(label, state),
            Jumps::Empty => {
                let over = state.stack.pop().unwrap_or_default();
                self.open(over, operand(Operand::Names), instruction.slots().start, label, state)
            }
            Jumps::More => Self::next(instruction.slots().start, label, state),
        }
    }

    /// Applies an instruction without a label.
    fn straight(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>, depth: usize) -> Flow<'w> {
        match instruction.op.info().control {
            Control::Call => match instruction.operand(Operand::Chunk) {
                Some(chunk) => return self.call_chunk(chunk, instruction, state, depth),
                None => return self.call_named(instruction, state, depth),
            },
            Control::Return | Control::Fail => return Flow::End,
            Control::MayCall => {
                self.call_any();
                self.use_popped(instruction, state);
            }
            Control::CloseLoop => drop(state.loops.pop()),
            _ => self.make(instruction, state),
        }
        Flow::Next
    }

    /// Makes the value of an instruction and puts it where the row says: on the stack, into slots, or to another place,
    /// which uses it as a whole.
    fn make(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) {
        let held = self.made(instruction, state);
        if instruction.op.info().pushes > 0 {
            state.stack.push(held);
        } else if instruction.slots_set().is_empty() {
            self.use_absent(held.fact, Effect::Given);
            self.use_whole(&held);
        } else {
            instruction.slots_set().for_each(|slot| state.slots.set(slot, held.clone()));
        }
    }

    /// Pops the operands of an instruction and returns the facts about its value.
    fn made(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Held<'w> {
        match instruction.op.info().provenance {
            Provenance::Nothing => {
                drop(self.popped(instruction, state));
                Held::default()
            }
            Provenance::Constant => Held::of(self.constant(instruction)),
            Provenance::Path | Provenance::OptionalPath => self.load(instruction, state),
            Provenance::Popped => state.stack.pop().unwrap_or_default(),
            Provenance::Converted => self.converted(instruction, state),
            Provenance::Computed => Held::of(self.computed(instruction, state)),
            Provenance::Call => self.call(instruction, state),
            Provenance::Names => {
                let scope = instruction.operand(Operand::Scope).unwrap_or_default();
                let shown = self.code.scope(scope);
                self.tree.everything |= shown.sees_inputs() || shown.sees_callers();
                self.expose(scope, state);
                Held::of(Fact::Present)
            }
            Provenance::Errors => Held::of(Fact::Mark(self.misses.len())),
            Provenance::Items
            | Provenance::SomeItems
            | Provenance::Fields
            | Provenance::Entry
            | Provenance::Entries => self.use_popped(instruction, state),
            Provenance::Text | Provenance::Gathered | Provenance::Item | Provenance::Answer => {
                self.use_popped(instruction, state)
            }
        }
    }

    /// Returns the fact about a constant.
    fn constant(&self, instruction: Instruction<'w>) -> Fact<'w> {
        match instruction.operands().next() {
            Some((Operand::Str, text)) => Fact::Str(self.code.str(text)),
            Some((Operand::Num, number)) => self.number(number),
            Some((Operand::Int, n)) => Fact::Int(i64::from((n << 8).cast_signed() >> 8)),
            Some((Operand::Lit, operand)) => literal(operand),
            // Slots that are unset.
            Some((Operand::SlotRun, _)) => Fact::Absent(None),
            _ => Fact::Unknown,
        }
    }

    /// Pops a value and converts it to a role.
    fn converted(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Held<'w> {
        let held = state.stack.pop().unwrap_or_default();
        if instruction.operand(Operand::Role) == Some(Role::Value as u32) {
            // The value itself, or an error.
            return Held { origin: None, ..held };
        }
        self.use_whole(&held);
        Held::of(held.fact)
    }

    /// Computes a value from those that are popped.
    fn computed(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Fact<'w> {
        if instruction.op == Op::Not {
            return self.condition(state).map_or(Fact::Unknown, |truth| Fact::Bool(!truth));
        }
        if matches!(instruction.op, Op::And | Op::Or) {
            return self.both(instruction, state);
        }
        match BinaryOp::of(instruction.op).filter(|op| op.compares()) {
            Some(op) => self.compare(op, state),
            // Its row says that there is a value.
            None => self.use_popped(instruction, state).fact,
        }
    }

    /// Pops the operands of an instruction.
    fn popped(&self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Vec<Held<'w>> {
        let first = instruction.operands().next().map_or(0, |(_, value)| value);
        let pops = self.code.pops(instruction.op.info(), first) as usize;
        state.stack.split_off(state.stack.len().saturating_sub(pops))
    }

    /// Pops the operands of an instruction, which are used as a whole, and returns the fact of a value that is there.
    fn use_popped(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Held<'w> {
        self.popped(instruction, state).iter().for_each(|held| self.use_whole(held));
        Held::of(Fact::Present)
    }

    /// Pops a value that is used as a whole.
    fn use_top(&mut self, state: &mut FactState<'w>) {
        if let Some(held) = state.stack.pop() {
            self.use_whole(&held);
        }
    }

    /// Pops a condition and returns its truth if it is known.
    fn condition(&mut self, state: &mut FactState<'w>) -> Option<bool> {
        let fact = state.stack.pop()?.fact;
        self.use_absent(fact, Effect::Condition);
        fact.truth()
    }

    fn number(&self, id: u32) -> Fact<'w> {
        match self.code.number(id) {
            Some(Number::Int(n)) => Fact::Int(n),
            _ => Fact::Present,
        }
    }

    fn compare(&mut self, op: BinaryOp, state: &mut FactState<'w>) -> Fact<'w> {
        let fact = |held: Option<&Held<'w>>| held.map_or(Fact::Unknown, |held| held.fact);
        let (b, a) = (fact(state.stack.last()), fact(state.stack.iter().nth_back(1)));
        self.use_top(state);
        self.use_top(state);
        self.compared(op, a, b).map_or(Fact::Unknown, Fact::Bool)
    }

    /// Combines two operands. The misses of both are dropped if one of them decides the result, which absorbs the errors
    /// of the other.
    fn both(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Fact<'w> {
        let (b, a) = (state.stack.pop().unwrap_or_default(), state.stack.pop().unwrap_or_default());
        let decides = instruction.op == Op::Or;
        let truths = [a.fact.truth(), b.fact.truth()];
        if truths.iter().any(|truth| truth.is_none_or(|truth| truth == decides))
            && let Some(Fact::Mark(mark)) = state.slots.get(instruction.slots().start).map(|held| held.fact)
        {
            self.excuse(mark);
        }
        self.use_whole(&a);
        self.use_whole(&b);
        match truths {
            [Some(truth), _] | [_, Some(truth)] if truth == decides => Fact::Bool(decides),
            [Some(_), Some(_)] => Fact::Bool(!decides),
            _ => Fact::Unknown,
        }
    }

    /// Drops the misses after the first `mark`, which the program handles.
    fn excuse(&mut self, mark: usize) {
        let excused = self.misses.split_off(mark.min(self.misses.len()));
        self.tested.extend(excused.iter().map(|miss| miss.path));
    }

    fn jump_test(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Flow<'w> {
        let operand = |kind| instruction.operand(kind).unwrap_or_default();
        let held = self.load(instruction, state);
        self.use_whole(&held);
        let fact = held.fact;
        let (string, test) = (Fact::Str(self.code.str(operand(Operand::Str))), Test::of(operand(Operand::Test)));
        let equal = self.compared(BinaryOp::Eq, fact, string);
        branch(equal.map(|equal| (equal != test.unequal) == test.wanted), operand(Operand::Label), state)
    }

    fn jump_present(&mut self, label: u32, state: &mut FactState<'w>) -> Flow<'w> {
        let present = state.stack.last().and_then(|held| held.fact.is_present());
        match present {
            Some(true) => Flow::To(label),
            Some(false) => {
                state.stack.pop();
                Flow::Next
            }
            None => {
                let other = split(state);
                state.stack.pop();
                Flow::Both(label, other)
            }
        }
    }

    fn call_chunk(
        &mut self,
        chunk: u32,
        instruction: Instruction<'w>,
        state: &mut FactState<'w>,
        depth: usize,
    ) -> Flow<'w> {
        let Some(chunk) = self.code.chunk(chunk) else { return Flow::End };
        self.expose(instruction.operand(Operand::Scope).unwrap_or_default(), state);
        let arguments = self.popped(instruction, state);
        arguments.iter().for_each(|held| self.use_absent(held.fact, Effect::Given));
        state.mass = self.follow(chunk, arguments, state.mass, depth + 1);
        if state.mass == 0 { Flow::End } else { Flow::Next }
    }

    /// Walks the chunk that a call by name runs, if the name is known. Otherwise it may be any.
    fn call_named(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>, depth: usize) -> Flow<'w> {
        let given = self.popped(instruction, state);
        given.iter().for_each(|held| self.use_absent(held.fact, Effect::Given));
        let mut given = given.into_iter();
        let name = given.next().unwrap_or_default();
        self.use_whole(&name);
        let Fact::Str(name) = name.fact.scalar() else {
            self.call_each(&given.collect::<Vec<_>>(), state.mass, depth);
            return Flow::Next;
        };
        // A name of no chunk is an error.
        let Some(chunk) = self.code.named_chunk(name).and_then(|id| self.code.chunk(id)) else { return Flow::End };
        state.mass = self.follow(chunk, given.take(chunk.params as usize).collect(), state.mass, depth + 1);
        if state.mass == 0 { Flow::End } else { Flow::Next }
    }

    /// Calls one of the named chunks with these arguments. What they read of them is read. The misses of the wrong ones do not
    /// count.
    fn call_each(&mut self, given: &[Held<'w>], mass: u64, depth: usize) {
        if self.dialect.has_inputs_in_named_chunks() || self.inputs.is_some() {
            self.call_any();
            return given.iter().for_each(|held| self.use_whole(held));
        }
        // A chunk that is called this way may itself call one this way.
        let known: Vec<_> = given.iter().map(|held| (held.nodes(), &held.parts)).collect();
        if !self.called_each.insert(format!("{known:?}")) {
            return;
        }
        let (misses, code) = (self.misses.len(), self.code);
        for chunk in code.named_chunks().filter_map(|(_, id)| code.chunk(id)) {
            let given = given.iter().take(chunk.params as usize).cloned().collect();
            self.follow(chunk, given, mass, depth + 1);
        }
        self.misses.truncate(misses);
    }

    /// Calls a template that may call every named chunk.
    fn call_any(&mut self) {
        self.tree.everything |= self.dialect.has_inputs_in_named_chunks();
    }

    /// Counts the values in a scope as read: they are looked up by name.
    fn expose(&mut self, scope: u32, state: &FactState<'w>) {
        for (_, root) in self.code.scope(scope).entries() {
            let held = self.root(root, state);
            self.use_whole(&held);
        }
    }

    /// Calls a function with the popped values.
    fn call(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Held<'w> {
        let arguments = self.popped(instruction, state);
        let import = self.code.import(instruction).and_then(|import| self.imports.get(import as usize));
        let (kind, name) = import.copied().unwrap_or((ImportKind::Function, ""));
        if let [Held { fact: Fact::Mark(_), .. }, condition, first, one, second, other] = arguments.as_slice()
            && let (Fact::Mark(first), Fact::Mark(second)) = (first.fact, second.fact)
            && kind == ImportKind::Intrinsic
        {
            self.use_whole(condition);
            let chosen = self.choose(condition.fact.truth(), [(first, one), (second, other)]);
            return Held::of(chosen);
        }
        let marks =
            arguments.iter().filter_map(|held| if let Fact::Mark(mark) = held.fact { Some(mark) } else { None });
        if let Some(mark) = marks.min() {
            self.excuse(mark);
        }
        if let [of, excess @ ..] = arguments.as_slice()
            && excess.iter().all(|held| matches!(held.fact, Fact::Absent(None)))
            && let Some((.., present)) = PRESENCE.iter().find(|(test, known, _)| (*test, *known) == (kind, name))
        {
            let fact = of.fact.is_present().map_or(Fact::Unknown, |is| Fact::Bool(is == *present));
            return Held::of(fact);
        }
        if let [of] = arguments.as_slice()
            && let Some(result) = self.checked(of, kind, instruction)
        {
            return result;
        }
        if let [of, Held { fact: Fact::Str(key), .. }] = arguments.as_slice()
            && kind == ImportKind::Intrinsic
            && SELECTS.contains(&name)
        {
            let nodes = self.children(of.nodes(), key);
            self.mark_whole(&nodes);
            self.use_parts(of);
            return Held::of(if name == SELECTS[0] { has(of.fact, key) } else { Fact::Unknown });
        }
        if kind == ImportKind::Intrinsic && CHECKS.contains(&name) {
            return Held::of(Fact::Unknown);
        }
        if kind == ImportKind::Intrinsic
            && let Some(held) = self.composed(name, &arguments)
        {
            return held;
        }
        for held in &arguments {
            self.use_whole(held);
            self.give_absent(held.fact);
        }
        Held::of(Fact::Unknown)
    }

    /// Chooses between two values by a condition. Each comes with the number of misses before it. Only those of the
    /// chosen value count.
    fn choose(&mut self, truth: Option<bool>, values: [(usize, &Held<'w>); 2]) -> Fact<'w> {
        let [(first, one), (second, other)] = values;
        self.use_whole(one);
        self.use_whole(other);
        match truth {
            Some(true) => {
                self.excuse(second);
                one.fact
            }
            Some(false) => {
                let kept = self.misses.split_off(second.min(self.misses.len()));
                self.excuse(first);
                self.misses.extend(kept);
                other.fact
            }
            None => {
                self.excuse(first);
                Fact::Unknown
            }
        }
    }

    /// Returns the result of an operation whose result goes on to a loop or a branch: it only checks its argument.
    fn checked(&self, of: &Held<'w>, kind: ImportKind, instruction: Instruction<'w>) -> Option<Held<'w>> {
        let next = self.code.instruction(instruction.end()).map(|next| next.op.info().jumps);
        match (next?, of.fact.scalar()) {
            _ if kind != ImportKind::Intrinsic => None,
            (Jumps::Empty, _) | (Jumps::True | Jumps::False, Fact::Bool(_)) => Some(of.clone()),
            (Jumps::True | Jumps::False, _) => Some(Held { fact: Fact::Unknown, ..of.clone() }),
            _ => None,
        }
    }
}

fn literal<'w>(operand: u32) -> Fact<'w> {
    match Literal::of(operand) {
        Literal::Undefined => Fact::Absent(None),
        Literal::Null => Fact::Null,
        Literal::False => Fact::Bool(false),
        Literal::True => Fact::Bool(true),
    }
}

/// Jumps if it is known, and otherwise both jumps and does not.
fn branch<'w>(jumps: Option<bool>, label: u32, state: &mut FactState<'w>) -> Flow<'w> {
    match jumps {
        Some(true) => Flow::To(label),
        Some(false) => Flow::Next,
        None => Flow::Both(label, split(state)),
    }
}

/// Jumps if the top value is a literal.
fn jump_is<'w>(literal: Fact<'w>, label: u32, state: &mut FactState<'w>) -> Flow<'w> {
    let top = state.stack.last().map_or(Fact::Unknown, |held| held.fact);
    let is = match (top.scalar(), literal) {
        (Fact::Bool(a), Fact::Bool(b)) => Some(a == b),
        _ => None,
    };
    branch(is, label, state)
}

/// Returns the result of a test for a key.
fn has<'w>(of: Fact<'w>, key: &str) -> Fact<'w> {
    match of {
        Fact::Data(Data::Map(map)) => Fact::Bool(map.contains_key(key)),
        _ => Fact::Unknown,
    }
}
