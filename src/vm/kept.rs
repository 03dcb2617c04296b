//! What is kept of programs from run to run: what depends on the program, and where it found the inputs it was given.

use std::cell::{Cell, RefCell};

use super::bind::{Bindings, Bound};
use super::machine::{COLD, Cache};
use crate::bytecode::Program;

/// What is kept of one program while it does not run. Whoever runs it has it for that time, and gives it back.
#[derive(Debug)]
pub(super) struct Kept {
    program: u64,
    pub learnt: Learnt,
    pub bound: Bound,
    /// Room for text that is no output.
    pub scratch: String,
}

/// What runs of a program learn for those after them.
#[derive(Debug)]
pub(super) struct Learnt {
    pub caches: Box<[Cache]>,
    /// Words where maps are gathered, each with the order that the keys of the last one had.
    orders: RefCell<Vec<(usize, Vec<u32>)>>,
}

impl Learnt {
    /// Does `work` with the order that keys had the last time at the word `at`, which it keeps up to date.
    pub(super) fn with_order<R>(&self, at: usize, work: impl FnOnce(&mut Vec<u32>) -> R) -> R {
        let mut orders = self.orders.borrow_mut();
        if let Some((_, order)) = orders.iter_mut().find(|(place, _)| *place == at) {
            return work(order);
        }
        if orders.len() == GATHERED {
            orders.swap_remove(at % GATHERED);
        }
        let mut order = Vec::new();
        let answer = work(&mut order);
        orders.push((at, order));
        answer
    }
}

impl Kept {
    #[inline(never)]
    fn of(program: &Program) -> Box<Self> {
        Box::new(Self {
            program: program.id(),
            learnt: Learnt {
                caches: std::iter::repeat_n(Cell::new(COLD), program.start().caches).collect(),
                orders: RefCell::default(),
            },
            bound: Bound::default(),
            scratch: String::new(),
        })
    }
}

/// Of how many places where maps are gathered an order is kept.
const GATHERED: usize = 16;

/// How many programs something is kept of.
const PROGRAMS: u64 = 1024;

/// Bytes of scratch that are kept for each of them.
const SCRATCH: usize = 4096;

/// What is kept of the programs that ran last.
///
/// A program's place is the end of its id. Ids are given out one after the other, so programs that are used together
/// have places of their own, and finding one takes no hash.
#[derive(Debug, Default)]
pub(super) struct Memory {
    places: RefCell<Vec<Option<Box<Kept>>>>,
    /// Where programs found their inputs.
    pub bindings: RefCell<Bindings>,
}

/// The place of the program with this id.
fn place(program: u64) -> usize {
    usize::try_from(program % PROGRAMS).unwrap_or(0)
}

impl Memory {
    /// What is kept of `program`, or what a program begins with: where it runs already, too.
    #[inline(always)]
    pub(super) fn take(&self, program: &Program) -> Box<Kept> {
        let mut places = self.places.borrow_mut();
        let kept = places.get_mut(place(program.id())).and_then(Option::take);
        match kept.filter(|kept| kept.program == program.id()) {
            Some(kept) => kept,
            None => Kept::of(program),
        }
    }

    /// Keeps this until the program runs again.
    #[inline(always)]
    pub(super) fn put(&self, kept: Box<Kept>) {
        let mut places = self.places.borrow_mut();
        match places.get_mut(place(kept.program)) {
            Some(free @ None) if kept.scratch.capacity() <= SCRATCH => *free = Some(kept),
            _ => Self::put_anew(&mut places, kept),
        }
    }

    /// The same where there is no place for it yet, or one that is taken, or too much scratch to keep.
    #[cold]
    fn put_anew(places: &mut Vec<Option<Box<Kept>>>, mut kept: Box<Kept>) {
        if kept.scratch.capacity() > SCRATCH {
            kept.scratch = String::new();
        }
        let place = place(kept.program);
        if places.len() <= place {
            places.resize_with(place + 1, || None);
        }
        if let Some(free) = places.get_mut(place) {
            *free = Some(kept);
        }
    }
}
