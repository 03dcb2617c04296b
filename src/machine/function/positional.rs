//! Positional parameters, with the types of a typed language.

use std::borrow::Cow;

use super::context::Cx;
use super::errors::Outcome;
use dropforge_value::{Type, Value};

/// The values that a parameter admits besides known, unmarked, non-null values of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admits(u8);

impl Admits {
    /// No others.
    pub const NONE: Self = Self(0);
    /// Null.
    pub const NULL: Self = Self(1);
    /// Unknown values. Otherwise the result is unknown, and the body does not run.
    pub const UNKNOWN: Self = Self(2);
    /// Values of unknown type. Otherwise the type of the result is unknown too.
    pub const DYNAMIC: Self = Self(4);
    /// Errors in the argument's expression. Before each such argument, the body gets the number of errors recorded
    /// before its evaluation.
    pub const ERRORS: Self = Self(16);
    /// A type expression. The body gets the type in a capsule.
    pub const TYPE: Self = Self(32);
    /// Marked values. Otherwise the marks are moved to the result.
    pub const MARKED: Self = Self(8);

    /// Returns the union of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if all of `other` are admitted.
    pub const fn include(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A positional parameter.
#[derive(Debug, Clone)]
pub struct PositionalParam {
    /// The name, for messages.
    pub name: Cow<'static, str>,
    /// The type that arguments are converted to. [`Type::Dynamic`] accepts any value.
    pub ty: Type<'static>,
    /// The values admitted besides those of its type.
    pub admits: Admits,
}

/// The type of a result, before the function runs.
#[derive(Debug, Clone, Copy)]
pub enum ResultType {
    /// A fixed type.
    Is(Type<'static>),
    /// The type of the body's result. The body runs with unknown arguments to determine it.
    OfBody,
    /// A type computed from the arguments, or [`Type::Dynamic`] if they do not determine it. Used only if an unknown
    /// argument keeps the body from running, so the body checks its arguments itself.
    Of(for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Type<'v>>),
}

/// The positional parameters of a function, and its result.
#[derive(Debug, Clone)]
pub struct Positional {
    /// The required parameters.
    pub params: Cow<'static, [PositionalParam]>,
    /// The parameter for all remaining arguments.
    pub rest: Option<PositionalParam>,
    /// The type of the result.
    pub result: ResultType,
    /// `true` if the result is never null. An unknown result is then known not to be null.
    pub not_null: bool,
}
