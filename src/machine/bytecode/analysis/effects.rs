//! The effects of instructions on the facts.

use super::held::{Fact, Held};
use super::walk::{CERTAIN, Effect, Flow, Miss, State, Walk, split};
use crate::bytecode::code::Instruction;
use crate::bytecode::isa::Op;
use crate::bytecode::operands::{Literal, Operand, Role, Test};
use crate::bytecode::rows::{ImportKind, Number};
use dropforge_value::Data;

/// Functions that only test for a value. The result is `true` if there is one, or with `false` if there is none.
const PRESENCE: [(ImportKind, &str, bool); 2] =
    [(ImportKind::Test, "defined", true), (ImportKind::Test, "undefined", false)];

/// Operations that look up a key which may be missing. The first of them tests for it.
const SELECTS: [&str; 3] = ["has", "select optional", "index optional"];

/// Operations that check the source of a finished loop.
const CHECKS: [&str; 3] = ["for tuple", "for object", "for rehearsal"];

/// A missing value fails or is allowed.
#[derive(Clone, Copy, PartialEq)]
enum Lookup {
    Required,
    Optional,
}

impl<'w> Walk<'w, '_> {
    /// Applies an instruction to the facts.
    pub(super) fn step(&mut self, instruction: Instruction<'w>, state: &mut State<'w>, depth: usize) -> Flow<'w> {
        let operand = |kind| instruction.operand(kind).unwrap_or_default();
        let label = || operand(Operand::Label);
        match instruction.op {
            Op::Str => push(state, Fact::Str(self.code.str(operand(Operand::Str)))),
            Op::Num => push(state, self.number(operand(Operand::Num))),
            Op::Int => push(state, Fact::Int(i64::from((operand(Operand::Int) << 8).cast_signed() >> 8))),
            Op::Lit => push(state, literal(operand(Operand::Lit))),
            Op::Mark => push(state, Fact::Mark(self.misses.len())),
            Op::MarkSlot => state.slots.set(operand(Operand::Slot), Held::of(Fact::Mark(self.misses.len()))),
            Op::LoadPath => self.load(instruction, state, Lookup::Required),
            Op::PeekPath => self.load(instruction, state, Lookup::Optional),
            Op::EmitPath | Op::TextPath => {
                self.load(instruction, state, Lookup::Required);
                self.use_top(state);
            }
            Op::Pop => drop(state.stack.pop()),
            Op::StoreSlot => {
                let held = state.stack.pop().unwrap_or_default();
                state.slots.set(operand(Operand::Slot), held);
            }
            Op::ClearSlots => {
                let (first, count) = (operand(Operand::SlotRun), operand(Operand::Count));
                (first..first.saturating_add(count))
                    .for_each(|slot| state.slots.set(slot, Held::of(Fact::Absent(None))));
            }
            Op::Not => {
                let truth = self.condition(state);
                push(state, truth.map_or(Fact::Unknown, |truth| Fact::Bool(!truth)));
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => self.compare(instruction.op, state),
            Op::And | Op::Or => self.both(instruction, state),
            Op::Jump => return Flow::To(label()),
            Op::JumpIf => return branch(self.condition(state), label(), state),
            Op::JumpUnless => return branch(self.condition(state).map(|truth| !truth), label(), state),
            Op::JumpTest => return self.jump_test(instruction, state),
            Op::JumpIs => return jump_is(literal(operand(Operand::Lit)), label(), state),
            Op::JumpPresent => return self.jump_present(label(), state),
            Op::Iter => {
                let over = state.stack.pop().unwrap_or_default();
                return self.open(over, operand(Operand::Names), operand(Operand::LoopSlots), label(), state);
            }
            Op::Next => return Self::next(operand(Operand::LoopSlots), label(), state),
            Op::EndIter => drop(state.loops.pop()),
            Op::CallChunk => return self.call_chunk(instruction, state, depth),
            Op::CallNamed => return self.call_named(instruction, state, depth),
            Op::CallMade => {
                self.call_any();
                self.other(instruction, state);
            }
            Op::Call | Op::CallMemo => {
                let site = self.code.call_site(operand(Operand::Site));
                self.call(site.import, site.params.len(), instruction, state);
            }
            Op::Apply => self.call(operand(Operand::Import), operand(Operand::Count) as usize, instruction, state),
            Op::Scope => {
                let scope = self.code.scope(operand(Operand::Scope));
                self.tree.everything |= scope.sees_inputs() || scope.sees_callers();
                self.expose(operand(Operand::Scope), state);
                push(state, Fact::Present);
            }
            // The value itself, or an error.
            Op::As if operand(Operand::Role) == Role::Value as u32 => {
                state.stack.iter_mut().next_back().into_iter().for_each(|held| held.origin = None);
            }
            Op::As => {
                let fact = state.stack.last().map_or(Fact::Unknown, |held| held.fact);
                self.use_top(state);
                push(state, fact);
            }
            Op::Fail => return Flow::End,
            _ => self.other(instruction, state),
        }
        Flow::Next
    }

    /// Applies an instruction that uses the values that it pops as a whole.
    fn other(&mut self, instruction: Instruction<'w>, state: &mut State<'w>) {
        let first = instruction.operands().next().map_or(0, |(_, value)| value);
        for _ in 0..self.code.pops(instruction.op.info(), first) {
            self.use_top(state);
        }
        (0..instruction.op.info().pushes).for_each(|_| push(state, Fact::Present));
    }

    /// Pops a value that is used as a whole.
    fn use_top(&mut self, state: &mut State<'w>) {
        if let Some(held) = state.stack.pop() {
            self.mark_whole(held.nodes());
        }
    }

    /// Pops a condition and returns its truth if it is known.
    fn condition(&mut self, state: &mut State<'w>) -> Option<bool> {
        let fact = state.stack.pop()?.fact;
        if let Fact::Absent(Some(at)) = fact {
            self.miss_at(at, state);
        }
        fact.truth()
    }

    /// Records that the path which the instruction at `at` looked up is a condition.
    fn miss_at(&mut self, at: u32, state: &State<'w>) {
        let Some(instruction) = self.code.instruction(at) else { return };
        let path = self.code.path(instruction.operand(Operand::Path).unwrap_or_default());
        if path.indexes > 0 {
            return;
        }
        if let (_, Some(lack)) = self.look_up(&path, &[], state) {
            let path = self.dialect.unmarked(self.code.str(path.name));
            self.miss(Miss { at, path, lack, effect: Effect::Condition });
        }
    }

    /// Pushes the facts about the value of a path.
    fn load(&mut self, instruction: Instruction<'w>, state: &mut State<'w>, lookup: Lookup) {
        let path = self.code.path(instruction.operand(Operand::Path).unwrap_or_default());
        let rest = state.stack.len().saturating_sub(path.indexes as usize);
        let indexes = state.stack.split_off(rest);
        let (mut held, lack) = self.look_up(&path, &indexes, state);
        held.origin = self.note_read(instruction.at, &path, state);
        indexes.iter().for_each(|index| self.mark_whole(index.nodes()));
        if let Fact::Mark(_) = held.fact {
            // Errors since a mark in a slot are raised later.
            held.fact = Fact::Present;
        }
        match lack {
            Some(_) if lookup == Lookup::Optional => held.fact = Fact::Absent(Some(instruction.at)),
            Some(lack) => {
                let name = self.code.str(path.name);
                let left = path.len().saturating_sub(lack.step.map_or(0, |step| step as usize + 1));
                let is_unset = lack.step.is_none() && lack.name.is_empty();
                let in_map = lack.parent.is_some() && !is_unset;
                let fails = state.mass == CERTAIN && self.dialect.fails_without(name, left, in_map);
                let effect = if fails { Effect::Fails } else { Effect::MayFail };
                if fails || !is_unset {
                    self.miss(Miss { at: instruction.at, path: self.dialect.unmarked(name), lack, effect });
                }
            }
            None => {}
        }
        state.stack.push(held);
    }

    fn number(&self, id: u32) -> Fact<'w> {
        match self.code.number(id) {
            Some(Number::Int(n)) => Fact::Int(n),
            _ => Fact::Present,
        }
    }

    fn compare(&mut self, op: Op, state: &mut State<'w>) {
        let fact = |held: Option<&Held<'w>>| held.map_or(Fact::Unknown, |held| held.fact);
        let (b, a) = (fact(state.stack.last()), fact(state.stack.iter().nth_back(1)));
        self.use_top(state);
        self.use_top(state);
        push(state, Fact::compare(op, a, b).map_or(Fact::Unknown, Fact::Bool));
    }

    /// Combines two operands. The misses of both are dropped if one of them decides the result, which absorbs the errors
    /// of the other.
    fn both(&mut self, instruction: Instruction<'w>, state: &mut State<'w>) {
        let (b, a) = (state.stack.pop().unwrap_or_default(), state.stack.pop().unwrap_or_default());
        let decides = instruction.op == Op::Or;
        let truths = [a.fact.truth(), b.fact.truth()];
        if truths.iter().any(|truth| truth.is_none_or(|truth| truth == decides)) {
            let slot = instruction.operand(Operand::SlotPair).unwrap_or_default();
            if let Some(Fact::Mark(mark)) = state.slots.get(slot).map(|held| held.fact) {
                self.excuse(mark);
            }
        }
        self.mark_whole(a.nodes());
        self.mark_whole(b.nodes());
        let fact = match truths {
            [Some(truth), _] | [_, Some(truth)] if truth == decides => Fact::Bool(decides),
            [Some(_), Some(_)] => Fact::Bool(!decides),
            _ => Fact::Unknown,
        };
        push(state, fact);
    }

    /// Drops the misses behind the first `mark`, which the program handles.
    fn excuse(&mut self, mark: usize) {
        let excused = self.misses.split_off(mark.min(self.misses.len()));
        self.tested.extend(excused.iter().map(|miss| miss.path));
    }

    fn jump_test(&mut self, instruction: Instruction<'w>, state: &mut State<'w>) -> Flow<'w> {
        let operand = |kind| instruction.operand(kind).unwrap_or_default();
        self.load(instruction, state, Lookup::Required);
        let fact = state.stack.last().map_or(Fact::Unknown, |held| held.fact);
        self.use_top(state);
        let (string, test) = (Fact::Str(self.code.str(operand(Operand::Str))), Test::of(operand(Operand::Test)));
        let equal = Fact::compare(Op::Eq, fact, string);
        branch(equal.map(|equal| (equal != test.unequal) == test.wanted), operand(Operand::Label), state)
    }

    fn jump_present(&mut self, label: u32, state: &mut State<'w>) -> Flow<'w> {
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

    fn call_chunk(&mut self, instruction: Instruction<'w>, state: &mut State<'w>, depth: usize) -> Flow<'w> {
        let Some(chunk) = instruction.operand(Operand::Chunk).and_then(|id| self.code.chunk(id)) else {
            return Flow::End;
        };
        self.expose(instruction.operand(Operand::Scope).unwrap_or_default(), state);
        let arguments = state.stack.split_off(state.stack.len().saturating_sub(chunk.params as usize));
        state.mass = self.chunk(chunk, arguments, state.mass, depth + 1);
        if state.mass == 0 { Flow::End } else { Flow::Next }
    }

    /// Walks the chunk that a call by name runs, if the name is known. Otherwise it may be any.
    fn call_named(&mut self, instruction: Instruction<'w>, state: &mut State<'w>, depth: usize) -> Flow<'w> {
        let count = instruction.operand(Operand::Count).unwrap_or_default() as usize;
        let mut given = state.stack.split_off(state.stack.len().saturating_sub(count)).into_iter();
        let name = given.next().unwrap_or_default();
        self.mark_whole(name.nodes());
        let Fact::Str(name) = name.fact.scalar() else {
            self.call_any();
            given.for_each(|held| self.mark_whole(held.nodes()));
            return Flow::Next;
        };
        // A name of no chunk is an error.
        let Some(chunk) = self.code.named_chunk(name).and_then(|id| self.code.chunk(id)) else { return Flow::End };
        state.mass = self.chunk(chunk, given.take(chunk.params as usize).collect(), state.mass, depth + 1);
        if state.mass == 0 { Flow::End } else { Flow::Next }
    }

    /// Calls a template that may call every named chunk.
    fn call_any(&mut self) {
        self.tree.everything |= self.dialect.has_inputs_in_named_chunks();
    }

    /// Counts the values in a scope as read: they are looked up by name.
    fn expose(&mut self, scope: u32, state: &State<'w>) {
        for (_, root) in self.code.scope(scope).entries() {
            let held = self.root(root, state);
            self.mark_whole(held.nodes());
        }
    }

    /// Calls a function with the topmost `count` values.
    fn call(&mut self, import: u32, count: usize, instruction: Instruction<'w>, state: &mut State<'w>) {
        let arguments = state.stack.split_off(state.stack.len().saturating_sub(count));
        let (kind, name) = self.imports.get(import as usize).copied().unwrap_or((ImportKind::Function, ""));
        if let [Held { fact: Fact::Mark(_), .. }, condition, first, one, second, other] = arguments.as_slice()
            && let (Fact::Mark(first), Fact::Mark(second)) = (first.fact, second.fact)
            && kind == ImportKind::Intrinsic
        {
            self.mark_whole(condition.nodes());
            let chosen = self.choose(condition.fact.truth(), [(first, one), (second, other)]);
            return push(state, chosen);
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
            return push(state, fact);
        }
        if let [of] = arguments.as_slice()
            && let Some(result) = self.converted(of, kind, instruction)
        {
            return state.stack.push(result);
        }
        if let [of, Held { fact: Fact::Str(key), .. }] = arguments.as_slice()
            && kind == ImportKind::Intrinsic
            && SELECTS.contains(&name)
        {
            let nodes = self.children(of.nodes(), key);
            self.mark_whole(&nodes);
            return push(state, if name == SELECTS[0] { has(of.fact, key) } else { Fact::Unknown });
        }
        if kind == ImportKind::Intrinsic && CHECKS.contains(&name) {
            return push(state, Fact::Unknown);
        }
        for held in &arguments {
            self.mark_whole(held.nodes());
            if let Fact::Absent(Some(at)) = held.fact
                && let Some(path) = self.code.instruction(at).and_then(|it| it.operand(Operand::Path))
            {
                self.tested.push(self.code.str(self.code.path(path).name));
            }
        }
        push(state, Fact::Unknown);
    }

    /// Chooses between two values by a condition. Each comes with the number of misses before it. Only those of the
    /// chosen value count.
    fn choose(&mut self, truth: Option<bool>, values: [(usize, &Held<'w>); 2]) -> Fact<'w> {
        let [(first, one), (second, other)] = values;
        self.mark_whole(one.nodes());
        self.mark_whole(other.nodes());
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
    fn converted(&self, of: &Held<'w>, kind: ImportKind, instruction: Instruction<'w>) -> Option<Held<'w>> {
        let next = self.code.instruction(instruction.end()).map(|next| next.op);
        match (next?, of.fact.scalar()) {
            _ if kind != ImportKind::Intrinsic => None,
            (Op::Iter, _) | (Op::JumpIf | Op::JumpUnless, Fact::Bool(_)) => Some(of.clone()),
            (Op::JumpIf | Op::JumpUnless, _) => Some(Held { fact: Fact::Unknown, ..of.clone() }),
            _ => None,
        }
    }
}

fn push<'w>(state: &mut State<'w>, fact: Fact<'w>) {
    state.stack.push(Held::of(fact));
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
fn branch<'w>(jumps: Option<bool>, label: u32, state: &mut State<'w>) -> Flow<'w> {
    match jumps {
        Some(true) => Flow::To(label),
        Some(false) => Flow::Next,
        None => Flow::Both(label, split(state)),
    }
}

/// Jumps if the top value is a literal.
fn jump_is<'w>(literal: Fact<'w>, label: u32, state: &mut State<'w>) -> Flow<'w> {
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
