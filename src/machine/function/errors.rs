//! Errors of operations on values, and the notes of a run.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;

use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic};

/// The result of an operation on values.
pub type Outcome<T> = Result<T, Fault>;

/// An error of an operation on values.
#[derive(Debug, Clone)]
pub enum Fault {
    /// A limit of the render was reached. No handler absorbs it.
    Limit(Box<Diagnostic>),
    /// The values are invalid for the operation.
    Wrong(Box<Wrong>),
}

/// The invalid value and its path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wrong {
    /// One sentence without a capital letter or full stop: `a number is required`.
    pub message: String,
    /// The steps from the value to the invalid part, outermost first. Empty for the value itself.
    pub path: Vec<PathStep>,
    /// The index of the argument, if it is one of several.
    pub argument: Option<usize>,
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// An attribute of an object.
    Attr(String),
    /// A key of a map.
    Key(String),
    /// An index of a list or tuple.
    Index(i64),
    /// An element of a set.
    Element,
}

impl Fault {
    /// Creates an error about the values.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::Wrong(Box::new(Wrong { message: message.into(), ..Wrong::default() }))
    }

    /// Creates an error about one argument.
    pub fn argument(argument: usize, message: impl Into<String>) -> Self {
        Self::Wrong(Box::new(Wrong { message: message.into(), argument: Some(argument), ..Wrong::default() }))
    }

    /// Sets the invalid argument.
    pub fn of_argument(mut self, argument: usize) -> Self {
        if let Self::Wrong(wrong) = &mut self {
            wrong.argument = Some(argument);
        }
        self
    }

    /// Keeps only the message, after `prefix` and a colon.
    pub fn prefixed(self, prefix: &str) -> Self {
        match self {
            Self::Wrong(wrong) => Self::wrong(format!("{prefix}: {}", wrong.message)),
            limit => limit,
        }
    }

    /// Converts to an error of the running instruction.
    #[cold]
    pub fn into_error(self) -> Box<Diagnostic> {
        match self {
            Self::Limit(limit) => limit,
            Self::Wrong(wrong) => Diagnostic::new(Code::BadArgument, format!("{CULPRIT}: {}", wrong.message)),
        }
    }

    /// Adds the step from the enclosing value.
    pub fn within(mut self, step: PathStep) -> Self {
        if let Self::Wrong(wrong) = &mut self {
            wrong.path.insert(0, step);
        }
        self
    }
}

/// Returns the result of an operation, or `None` if the values are invalid for it.
///
/// # Errors
/// A limit of the render was reached.
pub fn fitting<T>(outcome: Outcome<T>) -> Result<Option<T>, Box<Diagnostic>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Fault::Limit(limit)) => Err(limit),
        Err(Fault::Wrong(_)) => Ok(None),
    }
}

impl PathStep {
    /// Returns the step to the element `at` of a list or tuple.
    pub fn index(at: usize) -> Self {
        Self::Index(i64::try_from(at).unwrap_or(i64::MAX))
    }
}

impl From<Box<Diagnostic>> for Fault {
    /// Converts the error of a limit, the only errors that budgets have.
    fn from(limit: Box<Diagnostic>) -> Self {
        Self::Limit(limit)
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Attr(name) => write!(f, ".{name}"),
            PathStep::Key(key) => write!(f, "[{key:?}]"),
            PathStep::Index(at) => write!(f, "[{at}]"),
            PathStep::Element => f.write_str("[...]"),
        }
    }
}

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
