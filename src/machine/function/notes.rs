//! Notes of a run: errors in languages whose errors are values, and facts that their loops need.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use dropforge_base::diagnostics::Diagnostic;

/// The part of the running instruction that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The whole instruction.
    Whole,
    /// An operand, an argument or a step, counted from 0.
    Part(u32),
    /// The first name of a path.
    Root,
}

/// A note.
#[derive(Debug, Clone)]
pub struct Note<'v> {
    /// The word of the instruction.
    pub at: usize,
    /// The content.
    pub what: Noted<'v>,
}

/// The content of a note.
#[derive(Debug, Clone)]
pub enum Noted<'v> {
    /// An error or a warning.
    Error(Box<Diagnostic>, Subject),
    /// A decision that depends on an unknown value.
    Unanswered,
    /// A decision that depends on a value with these marks.
    Marks(&'v [&'v str]),
}

/// The notes of a run, oldest first.
///
/// A language that may drop notes remembers their number, [`Notes::count`].
#[derive(Debug, Default)]
pub struct Notes<'v> {
    count: Cell<usize>,
    /// Allocated with the first note, because most runs have none. An `Rc`, although it is not shared: freeing it is a
    /// call rather than inline code in every run.
    list: OnceCell<Rc<RefCell<Vec<Note<'v>>>>>,
}

impl<'v> Notes<'v> {
    /// Returns the number of notes.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count.get()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Note<'v>>) -> R) -> R {
        let mut notes = self.list.get_or_init(Rc::default).borrow_mut();
        let result = change(&mut notes);
        self.count.set(notes.len());
        result
    }

    /// Adds a note.
    pub fn add(&self, note: Note<'v>) {
        self.change(|notes| notes.push(note));
    }

    /// Returns the word of the first decision that depends on an unknown value.
    pub(crate) fn first_unanswered(&self) -> Option<usize> {
        let notes = self.list.get()?.borrow();
        notes.iter().find(|note| matches!(note.what, Noted::Unanswered)).map(|note| note.at)
    }

    /// Removes the notes from index `from` on.
    pub fn take(&self, from: usize) -> Vec<Note<'v>> {
        if from >= self.count() { Vec::new() } else { self.change(|notes| notes.split_off(from)) }
    }

    /// Adds notes.
    pub fn put(&self, more: impl IntoIterator<Item = Note<'v>>) {
        more.into_iter().for_each(|note| self.add(note));
    }

    /// Returns `true` if there is an error among the notes `from..to`.
    pub fn has_error(&self, from: usize, to: usize) -> bool {
        let Some(notes) = self.list.get() else { return false };
        let notes = notes.borrow();
        let range = notes.get(from..to.min(notes.len())).unwrap_or(&[]);
        range.iter().any(|note| matches!(&note.what, Noted::Error(..)))
    }
}
