//! A walk over a program that computes facts instead of values. It takes a branch only if the facts do not rule it out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::calls::Calls;
use super::lookup::Lack;
use super::slots::{Fact, Held, Origin, Slots};
use crate::bytecode::code::CodeView;
use crate::bytecode::header::Dialect;
use crate::bytecode::isa::{Control, Jumps};
use crate::bytecode::program::Program;
use crate::bytecode::rows::{ChunkInfo, Handler, ImportKind};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::read_paths::NodeId;
use dropforge_value::{Data, DataMap, ReadPaths};

/// Maximum number of steps of the analysis of a program. If it takes more, every path counts as read.
pub(super) const STEPS: u64 = 4_000_000;

/// Maximum depth of calls.
const CALLS: usize = 48;

/// Maximum number of misses of a walk, of which those of a loop may be many.
const MISSES: usize = 1 << 16;

/// The operation that reports an error together with all missing inputs. It follows a handler, unless there is a result.
const REPORT: (ImportKind, &str) = (ImportKind::Intrinsic, "missing inputs");

/// The mass of a state that is certainly reached. Each branch takes half of it.
pub(super) const CERTAIN: u64 = 1 << 63;

/// A walk over one program.
pub(super) struct FactWalk<'w, 't> {
    pub code: CodeView<'w>,
    pub dialect: Dialect,
    pub imports: Vec<(ImportKind, &'w str)>,
    /// Handlers that absorb errors, by their first word. Others report them in their own words.
    absorbers: Vec<Handler>,
    /// The index of the first absorber that does not begin before the latest step.
    absorber: usize,
    pub globals: Vec<Held<'w>>,
    /// The values of the inputs, if they are known.
    pub inputs: Option<&'w DataMap>,
    pub tree: &'t mut ReadPaths,
    pub misses: Vec<Miss<'w>>,
    /// What the paths lack that have no value, by the word of the instruction.
    pub lacks: HashMap<u32, Lack<'w>>,
    /// Paths that the program tests for presence, as written.
    pub tested: Vec<&'w str>,
    /// The paths that it looks up from one input, if they are recorded.
    pub reads: Option<BTreeSet<Read<'w>>>,
    /// The inputs that paths may begin at.
    pub begun: BTreeSet<&'w str>,
    /// What was given to all named chunks, because one of them was called by an unknown name.
    pub called_each: HashSet<String>,
    /// The calls that were followed.
    pub calls: Calls<'w>,
    /// `true` if the program may change maps.
    pub mutable: bool,
    /// The number of steps left.
    pub left: u64,
}

/// A path that a program looks up, and the word of the instruction.
pub(super) type Read<'w> = (Origin<'w>, u32);

/// A path without a value that a program looks up.
#[derive(Debug, Clone)]
pub struct Miss<'w> {
    /// The word of the instruction.
    pub at: u32,
    /// The path as written.
    pub path: &'w str,
    /// The step without a value.
    pub lack: Lack<'w>,
    /// The consequence.
    pub effect: Effect,
}

/// The consequence of a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The value of another variable or input of that name is read.
    Elsewhere,
    /// The path is a condition, which is false, or a loop goes over it, which has no items.
    Condition,
    /// An operation gets it, which may have an answer for it.
    Given,
    /// Rendering fails if it takes a branch whose condition is not known.
    MayFail,
    /// Rendering fails.
    Fails,
}

/// The facts before an instruction.
#[derive(Debug, Clone)]
pub(super) struct FactState<'w> {
    pub stack: Vec<Held<'w>>,
    pub slots: Slots<'w>,
    pub loops: Vec<OpenLoop<'w>>,
    pub mass: u64,
}

/// An open loop.
#[derive(Debug, Clone)]
pub(super) struct OpenLoop<'w> {
    items: LoopItems<'w>,
    at: usize,
    /// The number of its variables.
    names: u32,
}

#[derive(Debug, Clone)]
pub(super) enum LoopItems<'w> {
    List(&'w [Data]),
    Map(&'w DataMap),
    /// Unknown items. The body is walked twice, because it may use what an earlier item left behind.
    Some(Held<'w>),
}

/// The next instruction.
pub(super) enum Flow<'w> {
    Next,
    To(u32),
    /// The next one, and the one at the label with other facts.
    Both(u32, FactState<'w>),
    End,
}

impl<'w, 't> FactWalk<'w, 't> {
    pub fn new(program: &'w Program, tree: &'t mut ReadPaths, inputs: Option<&'w DataMap>, left: u64) -> Self {
        let code = program.code();
        let imports = program.imports().map(|import| (import.kind, import.name)).collect();
        let reports = program.imports().any(|import| (import.kind, import.name) == REPORT);
        let absorbs = |handler: &Handler| {
            !reports
                || code.instruction(handler.to).is_some_and(|instruction| instruction.op.info().jumps != Jumps::Present)
        };
        let mut absorbers: Vec<Handler> = program.handlers().filter(absorbs).collect();
        absorbers.small_sort_by_key(|handler| handler.from);
        let global = |&name: &u32| match inputs {
            Some(inputs) => Held::of(inputs.get(code.str(name)).map_or(Fact::Absent(None), Fact::Data)),
            None => {
                let node = tree.child(ReadPaths::ROOT, code.str(name));
                let origin = node.map(|node| Origin { node, or: Vec::new() }.into());
                Held { nodes: node.map(|node| [node].into()), origin, ..Held::default() }
            }
        };
        let globals = code.globals().iter().map(global).collect();
        let (misses, tested) = (Vec::new(), Vec::new());
        let dialect = program.dialect();
        Self {
            code,
            dialect,
            imports,
            absorbers,
            absorber: 0,
            globals,
            inputs,
            tree,
            misses,
            lacks: HashMap::new(),
            tested,
            reads: None,
            begun: BTreeSet::new(),
            called_each: HashSet::new(),
            calls: Calls::default(),
            mutable: program.start().mutable,
            left,
        }
    }

    /// Walks the whole program. Returns `false` if it took too many steps.
    pub fn run(&mut self) -> bool {
        if let Some(main) = self.code.chunk(0) {
            self.chunk(main, Vec::new(), CERTAIN, 0);
        }
        self.left > 0
    }

    /// Walks a chunk. Returns the mass of the states that leave it.
    pub fn chunk(&mut self, chunk: ChunkInfo, given: Vec<Held<'w>>, mass: u64, depth: usize) -> u64 {
        if depth > CALLS {
            self.left = 0;
        }
        let slots = Slots::new(given, chunk.slots as usize);
        let mut pending = BTreeMap::new();
        pending.insert(chunk.entry, FactState { stack: Vec::new(), slots, loops: Vec::new(), mass });
        let mut returned = 0u64;
        while let Some((at, state)) = pending.pop_first() {
            returned = returned.saturating_add(self.run_from(at, state, &mut pending, depth));
        }
        returned
    }

    /// Walks from `at` to the next instruction that another state waits for. Returns the mass that leaves the chunk.
    fn run_from(
        &mut self,
        mut at: u32,
        mut state: FactState<'w>,
        pending: &mut BTreeMap<u32, FactState<'w>>,
        depth: usize,
    ) -> u64 {
        loop {
            if pending.first_key_value().is_some_and(|(first, _)| *first <= at) {
                self.wait(at, state, pending);
                return 0;
            }
            let Some(instruction) = self.code.instruction(at).filter(|_| self.spend(1)) else { return 0 };
            if instruction.op.info().control == Control::Return {
                return state.mass;
            }
            self.enter_absorbers(at, &mut state, pending);
            let misses = self.misses.len();
            let flow = self.step(instruction, &mut state, depth);
            if self.absorb(at, misses, &mut state, pending) {
                return 0;
            }
            match flow {
                Flow::Next => at = instruction.end(),
                Flow::To(label) => at = label,
                Flow::Both(label, other) => {
                    self.wait(label, other, pending);
                    at = instruction.end();
                }
                Flow::End => return 0,
            }
        }
    }

    /// Adds a state that continues at `at`.
    fn wait(&mut self, at: u32, state: FactState<'w>, pending: &mut BTreeMap<u32, FactState<'w>>) {
        self.spend(1 + (state.slots.len() + state.stack.len()) as u64 / 8);
        let state = match pending.remove(&at) {
            Some(known) => self.merge(known, state),
            None => state,
        };
        pending.insert(at, state);
    }

    fn merge(&mut self, a: FactState<'w>, b: FactState<'w>) -> FactState<'w> {
        let mut lost = Vec::new();
        let stack = a.stack.into_iter().zip(b.stack).map(|(a, b)| a.or(b, &mut lost)).collect();
        let slots = a.slots.or(&b.slots, &mut lost);
        self.mark_whole(&lost);
        FactState { stack, slots, loops: a.loops, mass: a.mass.saturating_add(b.mass) }
    }

    /// Continues after each handler that begins at `at`, as if an error was absorbed.
    fn enter_absorbers(&mut self, at: u32, state: &mut FactState<'w>, pending: &mut BTreeMap<u32, FactState<'w>>) {
        let mut next = self.first_absorber(at);
        while let Some(handler) = self.absorbers.get(next).copied().filter(|handler| handler.from == at) {
            next += 1;
            let mut other = split(state);
            cut(&mut other, handler);
            self.wait(handler.to, other, pending);
        }
    }

    /// Returns the index of the first absorber that begins at `at` or later. Most steps are between the same two.
    fn first_absorber(&mut self, at: u32) -> usize {
        let is_before = |nth: usize| self.absorbers.get(nth).is_some_and(|handler| handler.from < at);
        let is_known = !is_before(self.absorber) && self.absorber.checked_sub(1).is_none_or(is_before);
        if !is_known {
            self.absorber = self.absorbers.partition_point(|handler| handler.from < at);
        }
        self.absorber
    }

    /// Continues after the innermost handler if the instruction at `at` certainly failed. The misses after the first
    /// `before` are absorbed.
    fn absorb(
        &mut self,
        at: u32,
        before: usize,
        state: &mut FactState<'w>,
        pending: &mut BTreeMap<u32, FactState<'w>>,
    ) -> bool {
        let may_fail = |miss: &Miss<'_>| !matches!(miss.effect, Effect::Condition | Effect::Given);
        if !self.misses.get(before..).is_some_and(|new| new.iter().any(may_fail)) {
            return false;
        }
        let covering = self.absorbers.iter().filter(|handler| (handler.from..handler.to).contains(&at));
        let Some(handler) = covering.max_by_key(|handler| handler.from).copied() else { return false };
        self.misses.truncate(before);
        let mut other = state.clone();
        cut(&mut other, handler);
        self.wait(handler.to, other, pending);
        true
    }

    /// Opens a loop over the value.
    pub(super) fn open(
        &mut self,
        over: Held<'w>,
        names: u32,
        slot: u32,
        label: u32,
        state: &mut FactState<'w>,
    ) -> Flow<'w> {
        self.use_parts(&over);
        let nodes = self.children(over.nodes(), ReadPaths::ITEM);
        let origin = over.origin.filter(|_| names == 1).and_then(|origin| {
            let node = self.tree.child(origin.node, ReadPaths::ITEM)?;
            Some(Origin { node, or: origin.or.clone() }.into())
        });
        let nodes = (!nodes.is_empty()).then(|| nodes.into());
        let item = Held { nodes, origin, ..Held::of(Fact::Present) };
        let items = match over.fact {
            Fact::Data(Data::List(items)) => LoopItems::List(items),
            Fact::Data(Data::Map(map)) if names == 2 => LoopItems::Map(map),
            _ => LoopItems::Some(item),
        };
        let is_nil = self.is_nil(over.fact);
        if is_nil {
            self.use_absent(over.fact, Effect::Condition);
        }
        let is_empty = match items {
            LoopItems::List(items) => items.is_empty(),
            LoopItems::Map(map) => map.is_empty(),
            LoopItems::Some(_) => is_nil,
        };
        if is_empty {
            return Flow::To(label);
        }
        let none = matches!(items, LoopItems::Some(_)).then(|| split(state));
        state.loops.push(OpenLoop { items, at: 0, names });
        set_item(slot, state);
        none.map_or(Flow::Next, |none| Flow::Both(label, none))
    }

    /// Continues a loop with its next item, or closes it.
    pub(super) fn next(slot: u32, label: u32, state: &mut FactState<'w>) -> Flow<'w> {
        let Some(running) = state.loops.last_mut() else { return Flow::End };
        running.at += 1;
        let length = match running.items {
            LoopItems::List(items) => items.len(),
            LoopItems::Map(map) => map.len(),
            LoopItems::Some(_) => 2,
        };
        if running.at >= length {
            state.loops.pop();
            return Flow::Next;
        }
        set_item(slot, state);
        Flow::To(label)
    }

    /// Counts everything below these nodes as read.
    pub fn mark_whole(&mut self, nodes: &[NodeId]) {
        nodes.iter().for_each(|node| self.tree.mark_whole(*node));
    }

    /// Counts everything in a value as read.
    pub fn use_whole(&mut self, held: &Held<'w>) {
        self.mark_whole(held.nodes());
        self.use_parts(held);
    }

    /// Counts everything in the values of a made map or list as read.
    pub fn use_parts(&mut self, held: &Held<'w>) {
        held.parts.iter().flat_map(|parts| parts.values()).for_each(|held| self.use_whole(held));
    }

    /// Records a miss.
    pub(super) fn miss(&mut self, miss: Miss<'w>) {
        if self.misses.len() < MISSES {
            self.misses.push(miss);
        }
    }

    fn spend(&mut self, steps: u64) -> bool {
        self.left = self.left.saturating_sub(steps);
        self.left > 0
    }
}

/// Puts the current item of the innermost loop into its slots.
fn set_item(slot: u32, state: &mut FactState<'_>) {
    let Some(OpenLoop { items, at, names }) = state.loops.last() else { return };
    let (key, item) = match items {
        LoopItems::List(items) => (Fact::Present, items.get(*at).map(|item| Held::of(Fact::Data(item)))),
        LoopItems::Map(map) => match map.get_index(*at) {
            Some((key, value)) => (Fact::Str(key), Some(Held::of(Fact::Data(value)))),
            None => (Fact::Unknown, None),
        },
        LoopItems::Some(item) => (Fact::Present, Some(item.clone())),
    };
    let (item, second) = (item.unwrap_or_default(), names.saturating_sub(1));
    if second > 0 {
        state.slots.set(slot, Held::of(key));
    }
    state.slots.set(slot + second, item);
}

/// Takes half of the mass of a state into a copy.
pub(super) fn split<'w>(state: &mut FactState<'w>) -> FactState<'w> {
    let mass = state.mass / 2;
    let other = FactState { mass, ..state.clone() };
    state.mass -= mass;
    other
}

/// Cuts the stacks as a handler does when it absorbs an error.
fn cut(state: &mut FactState<'_>, handler: Handler) {
    state.stack.truncate(handler.height as usize);
    state.loops.truncate(handler.iters as usize);
    state.stack.push(Held::of(Fact::Absent(None)));
}
