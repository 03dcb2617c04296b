//! What is kept of programs from run to run: what depends on the program, and where it found the inputs it was given.

use std::cell::{Cell, OnceCell, RefCell};

use super::bind::{Bindings, Bound};
use super::machine::{COLD, Cache};
use crate::bytecode::CodeView;
use crate::value::{Order, Text};

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
    /// The orders of the keys of the maps that it makes, by the offsets of the keys.
    orders: OnceCell<Box<[OnceCell<Option<Order>>]>>,
    /// Of each string constant whether it is a word, where the program makes maps: those are written, more often than
    /// not. Else nothing.
    words: Box<[Cell<Option<bool>>]>,
}

impl Learnt {
    /// The order of the keys at offset `at` of a table of `words`; `None` where there are no such keys.
    pub(super) fn order(&self, at: u32, words: usize, keys: &[Text<'_>]) -> Option<&Order> {
        let orders = self.orders.get_or_init(|| std::iter::repeat_with(OnceCell::new).take(words).collect());
        orders.get(at as usize)?.get_or_init(|| Order::of(keys)).as_ref()
    }

    /// The string constant `id`, which is `text`, with what is known of it.
    #[inline(always)]
    pub(super) fn text<'t>(&self, id: u32, text: Text<'t>) -> Text<'t> {
        let Some(known) = self.words.get(id as usize) else { return text };
        let word = known.get().unwrap_or_else(|| text.is_word());
        known.set(Some(word));
        text.known(word)
    }
}

impl Kept {
    fn of(program: &CodeView<'_>) -> Box<Self> {
        let words = if program.keys_words() == 0 { 0 } else { program.strings.len() };
        Box::new(Self {
            program: program.id(),
            learnt: Learnt {
                caches: std::iter::repeat_n(Cell::new(COLD), program.caches as usize).collect(),
                orders: OnceCell::new(),
                words: std::iter::repeat_n(Cell::new(None), words).collect(),
            },
            bound: Bound::default(),
            scratch: String::new(),
        })
    }
}

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
    #[inline]
    pub(super) fn take(&self, program: &CodeView<'_>) -> Box<Kept> {
        let mut places = self.places.borrow_mut();
        let kept = places.get_mut(place(program.id())).and_then(Option::take);
        match kept.filter(|kept| kept.program == program.id()) {
            Some(kept) => kept,
            None => Kept::of(program),
        }
    }

    /// Keeps this until the program runs again.
    #[inline]
    pub(super) fn put(&self, mut kept: Box<Kept>) {
        if kept.scratch.capacity() > SCRATCH {
            kept.scratch = String::new();
        }
        let (mut places, place) = (self.places.borrow_mut(), place(kept.program));
        if places.len() <= place {
            places.resize_with(place + 1, || None);
        }
        if let Some(free) = places.get_mut(place) {
            *free = Some(kept);
        }
    }
}
