//! What a run notes while it goes on: errors in languages whose errors are values, and what their loops must know.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::diagnostics::Diagnostic;

/// Which part of the running instruction's source an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// All of it.
    Whole,
    /// An operand, an argument or a step, counted from 0.
    Part(u32),
    /// The name that a path begins with.
    Root,
}

/// Something noted.
#[derive(Debug, Clone)]
pub struct Note<'v> {
    /// The word of the instruction that noted it.
    pub at: usize,
    /// What it is.
    pub what: Noted<'v>,
}

/// What was noted.
#[derive(Debug, Clone)]
pub enum Noted<'v> {
    /// An error (or a warning).
    Error(Box<Diagnostic>, Subject),
    /// A question had no answer yet, because a value is not known.
    Unanswered,
    /// A question's answer carried these marks.
    Marks(&'v [&'v str]),
}

/// The notes of a run, the oldest first.
///
/// A place in them is a number of notes: [`Notes::count`]. A language that may drop what was noted since a place
/// remembers that number.
#[derive(Debug, Default)]
pub struct Notes<'v> {
    count: Cell<usize>,
    /// Made with the first note, as most runs note nothing. Nobody else has a part of it: it is an `Rc` because freeing
    /// one is a call, and so no part of the code of every run.
    list: OnceCell<Rc<RefCell<Vec<Note<'v>>>>>,
}

impl<'v> Notes<'v> {
    /// How many there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// Changes them.
    fn change<R>(&self, change: impl FnOnce(&mut Vec<Note<'v>>) -> R) -> R {
        let mut notes = self.list.get_or_init(Rc::default).borrow_mut();
        let answer = change(&mut notes);
        self.count.set(notes.len());
        answer
    }

    /// Adds one.
    pub fn add(&self, note: Note<'v>) {
        self.change(|notes| notes.push(note));
    }

    /// The word of the first instruction whose question has no answer.
    pub(crate) fn first_unanswered(&self) -> Option<usize> {
        let notes = self.list.get()?.borrow();
        notes.iter().find(|note| matches!(note.what, Noted::Unanswered)).map(|note| note.at)
    }

    /// Takes those from place `from` on away.
    pub fn take(&self, from: usize) -> Vec<Note<'v>> {
        if from >= self.count() { Vec::new() } else { self.change(|notes| notes.split_off(from)) }
    }

    /// Adds these.
    pub fn put(&self, more: impl IntoIterator<Item = Note<'v>>) {
        more.into_iter().for_each(|note| self.add(note));
    }

    /// Whether there is an error among those from place `from` to before place `to`.
    pub fn has_error(&self, from: usize, to: usize) -> bool {
        let Some(notes) = self.list.get() else { return false };
        let notes = notes.borrow();
        let range = notes.get(from..to.min(notes.len())).unwrap_or(&[]);
        range.iter().any(|note| matches!(&note.what, Noted::Error(..)))
    }
}
