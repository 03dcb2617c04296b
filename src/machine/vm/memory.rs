//! State that a space keeps for programs between runs: inline caches, input positions.

use std::cell::{Cell, RefCell};

use hashbrown::HashSet;

use super::inputs::{Bindings, Bound};
use crate::bytecode::Program;

/// An inline cache: a shape's id and the index of the key in it.
pub(super) type Cache = Cell<(u32, u32)>;

/// An unused inline cache. No shape has this id.
const COLD: (u32, u32) = (u32::MAX, 0);

/// The flag of the ids of shapes that changed maps have had: reads look for changes. No shape has an id so high.
pub(super) const CHANGED: u32 = 1 << 31;

/// Maximum number of such shapes to remember.
const SHAPES: usize = 1 << 10;

/// The index of a key that a shape does not have.
pub(super) const ABSENT: u32 = u32::MAX;

/// The state of one program. A run takes it and returns it.
#[derive(Debug)]
pub(super) struct State {
    program: u64,
    pub feedback: Feedback,
    pub bound: Bound,
    /// A buffer for text that is not output.
    pub scratch: String,
}

/// Observations of a program's runs that speed up later ones.
#[derive(Debug)]
pub(super) struct Feedback {
    pub caches: Box<[Cache]>,
    /// Further caches of the same steps, for a second shape. It may lack the key: then the index is [`ABSENT`].
    pub others: Box<[Cache]>,
    /// Shapes whose maps runs have changed. The caches know them by their flagged ids.
    changed: RefCell<HashSet<u32>>,
    /// Words where maps are gathered, each with the sorted key order of the last map.
    orders: RefCell<Vec<(usize, Vec<u32>)>>,
}

impl Feedback {
    /// Flags shapes in the caches. Those that an earlier run has flagged stay so, because runs resemble each other.
    pub(super) fn flag(&self, shapes: &[u32]) {
        let mut changed = self.changed.borrow_mut();
        if changed.len() >= SHAPES {
            changed.clear();
        }
        // Mostly one is new. A loop over each slice is far quicker than one over their chain.
        for id in shapes.iter().copied().filter(|id| changed.insert(*id)) {
            for caches in [&self.caches, &self.others] {
                for cache in caches.iter().filter(|cache| cache.get().0 == id) {
                    cache.set((id | CHANGED, cache.get().1));
                }
            }
        }
    }

    /// Returns `true` if the caches know a shape by its flagged id.
    pub(super) fn is_flagged(&self, id: u32) -> bool {
        self.changed.borrow().contains(&id)
    }

    /// Calls `work` with the key order last seen at the word `at`, which it updates.
    pub(super) fn with_order<R>(&self, at: usize, work: impl FnOnce(&mut Vec<u32>) -> R) -> R {
        let mut orders = self.orders.borrow_mut();
        if let Some((_, order)) = orders.iter_mut().find(|(place, _)| *place == at) {
            return work(order);
        }
        if orders.len() == ORDERS {
            orders.swap_remove(at % ORDERS);
        }
        let mut order = Vec::new();
        let result = work(&mut order);
        orders.push((at, order));
        result
    }
}

impl State {
    #[inline(never)]
    fn of(program: &Program) -> Box<Self> {
        let caches = || std::iter::repeat_n(Cell::new(COLD), program.start().caches).collect();
        Box::new(Self {
            program: program.id(),
            feedback: Feedback {
                caches: caches(),
                others: caches(),
                changed: RefCell::default(),
                orders: RefCell::default(),
            },
            bound: Bound::default(),
            scratch: String::new(),
        })
    }
}

/// Maximum number of key orders kept for a program.
const ORDERS: usize = 16;

/// Maximum number of programs whose state is kept.
const PROGRAMS: u64 = 1024;

/// Maximum size of a scratch buffer that is kept, in bytes.
const SCRATCH: usize = 4096;

/// The states of recently run programs.
///
/// A program's index is the low part of its id. Ids are consecutive, so programs used together have different indexes,
/// and the lookup needs no hash.
#[derive(Debug, Default)]
pub(super) struct Memory {
    states: RefCell<Vec<Option<Box<State>>>>,
    /// Input positions of programs.
    pub bindings: RefCell<Bindings>,
}

/// Returns the index of the program with this id.
fn index(program: u64) -> usize {
    usize::try_from(program % PROGRAMS).unwrap_or(0)
}

impl Memory {
    /// Takes the state of `program`, or a new one if there is none or it is in use.
    #[inline(always)]
    pub(super) fn take(&self, program: &Program) -> Box<State> {
        let mut states = self.states.borrow_mut();
        let state = states.get_mut(index(program.id())).and_then(Option::take);
        match state.filter(|state| state.program == program.id()) {
            Some(state) => state,
            None => State::of(program),
        }
    }

    /// Keeps the state until the program runs again.
    #[inline(always)]
    pub(super) fn put(&self, state: Box<State>) {
        let mut states = self.states.borrow_mut();
        match states.get_mut(index(state.program)) {
            Some(free @ None) if state.scratch.capacity() <= SCRATCH => *free = Some(state),
            _ => Self::replace(&mut states, state),
        }
    }

    /// Stores a state that is new, replaces another or has a large scratch buffer.
    #[cold]
    fn replace(states: &mut Vec<Option<Box<State>>>, mut state: Box<State>) {
        if state.scratch.capacity() > SCRATCH {
            state.scratch = String::new();
        }
        let index = index(state.program);
        if states.len() <= index {
            states.resize_with(index + 1, || None);
        }
        if let Some(slot) = states.get_mut(index) {
            *slot = Some(state);
        }
    }
}
