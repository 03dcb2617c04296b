//! Why an operation on values has no result.

use std::fmt;

use crate::diagnostics::Diagnostic;

/// The result of an operation on values.
pub type Outcome<T> = Result<T, Fault>;

/// Why an operation on values has no result.
#[derive(Debug, Clone)]
pub enum Fault {
    /// A limit of the render was reached: nothing absorbs it.
    Limit(Box<Diagnostic>),
    /// The values do not fit the operation.
    Wrong(Box<Wrong>),
}

/// What does not fit, and where in the value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wrong {
    /// One sentence without capital letter and final stop: `a number is required`.
    pub message: String,
    /// The steps from the value to what does not fit, the outermost first; empty where it is the value itself.
    pub path: Vec<PathStep>,
    /// The index of the argument that does not fit, where it is one of several.
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
    /// The values do not fit, for this reason.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::Wrong(Box::new(Wrong { message: message.into(), ..Wrong::default() }))
    }

    /// The argument `argument` does not fit, for this reason.
    pub fn argument(argument: usize, message: impl Into<String>) -> Self {
        Self::Wrong(Box::new(Wrong { message: message.into(), argument: Some(argument), ..Wrong::default() }))
    }

    /// The fault of an element, seen from the value that the element is in.
    pub fn within(mut self, step: PathStep) -> Self {
        if let Self::Wrong(wrong) = &mut self {
            wrong.path.insert(0, step);
        }
        self
    }
}

impl From<Box<Diagnostic>> for Fault {
    /// Only limits come this way: what the budgets of a render say.
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
