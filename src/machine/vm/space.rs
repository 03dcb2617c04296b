//! Spaces: the results of runs, and the state kept between runs.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::made::MadePrograms;
use super::memory::Memory;
use crate::function::{Caches, Capabilities, Cx};
use dropforge_base::limits::{Deadline, Limits};
use dropforge_value::{Arena, Inputs};

/// An arena for the results of runs, with compiled regular expressions and the inline caches of programs. A space
/// belongs to one thread. Values in it live until it is dropped or [reset](Space::reset).
#[derive(Debug, Default)]
pub struct Space {
    /// The memory of a render.
    pub arena: Arena,
    /// Compiled patterns and schemas.
    pub caches: Caches,
    pub(super) memory: Memory,
    pub(super) made: MadePrograms,
    /// Ends all runs, in addition to their time limits.
    pub(super) deadline: Option<Arc<Deadline>>,
    /// Bytes that the last run had left.
    pub(super) left: Cell<u64>,
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
    /// use dropforge::vm::Space;
    /// let len = Space::of_thread(|space| space.arena().text("abc").as_str().map(str::len));
    /// assert_eq!(len, Some(3));
    /// ```
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

    /// Returns a context for work outside a run, with full budgets and no inputs.
    pub fn context<'s>(&'s self, limits: &'s Limits) -> Cx<'s> {
        Cx::new(&self.arena, Inputs::default(), limits, Capabilities::NONE, &self.caches)
    }
}
