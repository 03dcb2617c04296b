//! Spaces, and the state that they keep for programs between runs: inline caches, input positions.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::made::MadePrograms;
use crate::bytecode::Program;
use crate::function::{Budgets, Caches, Capabilities, Cx};
use dropforge_base::limits::{Deadline, Limits};
use dropforge_value::{Arena, Inputs, Map, Value};

/// An arena for the results of runs, with compiled regular expressions and the inline caches of programs. A space
/// belongs to one thread. Values in it live until it is dropped or [reset](Space::reset).
#[derive(Debug, Default)]
pub struct Space {
    /// The memory of a render.
    #[doc(hidden)]
    pub arena: Arena,
    /// Compiled patterns and schemas.
    #[doc(hidden)]
    pub caches: Caches,
    pub(super) memory: Memory,
    pub(super) made: MadePrograms,
    /// Ends all runs, in addition to their time limits.
    pub(super) deadline: Option<Arc<Deadline>>,
    /// The budgets that the last run had left.
    pub(super) left: Cell<Option<Budgets>>,
}

thread_local! {
    /// The space for evaluations without one.
    static SPACE: RefCell<Space> = RefCell::default();
}

impl Space {
    /// Creates an empty space.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `work` with the thread's space, which is empty.
    ///
    /// ```
    /// use dropforge::Space;
    /// let len = Space::of_thread(|space| space.arena().text("abc").as_str().map(str::len));
    /// assert_eq!(len, Some(3));
    /// ```
    #[doc(hidden)]
    pub fn of_thread<R>(work: impl FnOnce(&Self) -> R) -> R {
        SPACE.with(|space| match space.try_borrow_mut() {
            Ok(mut space) => {
                space.reset();
                work(&space)
            }
            // The space is in use by an enclosing evaluation.
            Err(_) => work(&Self::new()),
        })
    }

    /// Drops all values. Memory and the state of programs are kept, so a loop that resets between runs stops
    /// allocating.
    pub fn reset(&mut self) {
        self.made.release(&self.memory);
        self.arena.reset();
    }

    /// Returns the arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Returns a context for work outside a run, with full budgets and no inputs. It ends at the deadline of the runs.
    #[doc(hidden)]
    pub fn context<'s>(&'s self, limits: &'s Limits) -> Cx<'s> {
        let mut cx = Cx::new(&self.arena, Inputs::default(), limits, Capabilities::NONE, &self.caches);
        cx.set_deadline(self.deadline.as_deref());
        cx
    }
}

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
pub(super) struct ProgramState {
    program: u64,
    pub feedback: Feedback,
    pub bound: Bound,
    /// A buffer for text that is not output.
    pub scratch: String,
}

/// Observations of a program's runs that speed up later ones.
#[derive(Debug)]
pub(super) struct Feedback {
    #[doc(hidden)]
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

impl ProgramState {
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
    states: RefCell<Vec<Option<Box<ProgramState>>>>,
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
    pub(super) fn take(&self, program: &Program) -> Box<ProgramState> {
        let mut states = self.states.borrow_mut();
        let state = states.get_mut(index(program.id())).and_then(Option::take);
        match state.filter(|state| state.program == program.id()) {
            Some(state) => state,
            None => ProgramState::of(program),
        }
    }

    /// Keeps the state until the program runs again.
    #[inline(always)]
    pub(super) fn put(&self, state: Box<ProgramState>) {
        let mut states = self.states.borrow_mut();
        match states.get_mut(index(state.program)) {
            Some(free @ None) if state.scratch.capacity() <= SCRATCH => *free = Some(state),
            _ => Self::replace(&mut states, state),
        }
    }

    /// Stores a state that is new, replaces another or has a large scratch buffer.
    #[cold]
    fn replace(states: &mut Vec<Option<Box<ProgramState>>>, mut state: Box<ProgramState>) {
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

/// The shape ids of both layers, the overriding one first; [`NO_LAYER`] for a missing layer.
type ShapeIds = (u32, u32);

/// No shape has this id.
const NO_LAYER: u32 = u32::MAX;

/// The id shared by shapes without one of their own.
const ANONYMOUS: u32 = 0;

/// The position of an input: a layer, counted from 1 (0 for none), and an index in it.
type Position = (u32, u32);

/// Maximum number of bindings kept besides the last one of each program.
const BINDINGS: usize = 8192;

/// The positions of a program's inputs. Expressions have few of them.
type Positions = SmallVec<[Position; 4]>;

/// The positions of inputs, by program and layer shapes. Few clusters of a fleet have shapes of their own.
type Bindings = HashMap<(u64, ShapeIds), Positions>;

/// The positions of one program's inputs in its last run.
#[derive(Debug)]
pub(super) struct Bound {
    ids: ShapeIds,
    positions: Positions,
}

impl Default for Bound {
    fn default() -> Self {
        Self { ids: (ANONYMOUS, ANONYMOUS), positions: Positions::new() }
    }
}

impl Bound {
    /// Copies the program's top-level inputs to the front of `values`.
    #[inline]
    pub(super) fn bind<'r>(
        &mut self,
        bindings: &RefCell<Bindings>,
        program: &Program,
        inputs: Inputs<'r>,
        values: &mut [Value<'r>],
    ) {
        let layers = inputs.layers();
        let id = |layer: Option<&Map<'_>>| layer.map_or(NO_LAYER, Map::shape_id);
        let (over, base) = (id(layers[0]), id(layers[1]));
        let ids = (over, base);
        if ids != self.ids || over == ANONYMOUS || base == ANONYMOUS {
            self.find(bindings, program, layers, ids);
        }
        let positions = self.positions.as_slice();
        let Some(values) = values.get_mut(..positions.len()) else { return };
        for nth in 0..positions.len() {
            let (layer, at) = positions[nth];
            let layer = layers.get(layer.wrapping_sub(1) as usize).copied().flatten();
            values[nth] = layer.and_then(|map| map.values().get(at as usize)).copied().unwrap_or_default();
        }
    }

    #[inline(never)]
    fn find(&mut self, bindings: &RefCell<Bindings>, program: &Program, layers: [Option<&Map<'_>>; 2], ids: ShapeIds) {
        let code = program.code();
        let positions = || code.globals().iter().map(|&name| find(layers, code.str(name))).collect();
        // Most programs only see the shapes of their first run. Those are not worth keeping.
        let first = self.ids == (ANONYMOUS, ANONYMOUS);
        self.ids = ids;
        if first || ids.0 == ANONYMOUS || ids.1 == ANONYMOUS {
            self.positions = positions();
            return;
        }
        let mut bindings = bindings.borrow_mut();
        if bindings.len() >= BINDINGS {
            bindings.clear();
        }
        self.positions.clone_from(bindings.entry((code.id(), ids)).or_insert_with(positions));
    }
}

/// Finds the first layer with `name`.
fn find(layers: [Option<&Map<'_>>; 2], name: &str) -> Position {
    let found = (1..).zip(layers).find_map(|(layer, map)| Some((layer, map?.shape().find(name)?)));
    found.and_then(|(layer, at)| Some((layer, u32::try_from(at).ok()?))).unwrap_or((0, 0))
}
