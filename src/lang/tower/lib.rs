//! `tower`: `${scope.name}` substitution in tower-fleet intent files (tower-fleet/template/v1).
//!
//! A field is text with `${scope.name}` expressions. Nothing is evaluated, there are no defaults, and a missing value
//! is an error. Values are inserted unchanged (literal mode) or as one shell token (shell mode).
//!
//! | module | content |
//! |---|---|
//! | `front` | the entry points: a field to a program, or to its names |
//! | [`syntax`] | the text of a field to its tree |
//! | [`check`] | lints, and hazards of shell quoting |
//! | `semantics` | the rules of the machine |
//! | [`error`] | error objects as defined by the specification |
//! | [`intent`] | whole intent definitions: fields, modes, parameters, steps and their outputs |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

pub mod error;
#[cfg(feature = "compile")]
mod front;
mod semantics;

#[cfg(feature = "compile")]
pub use front::*;
#[doc(hidden)]
pub use semantics::Rules;

use std::fmt;

use dropforge_machine::bytecode::{Dialect, EscapeMode};
use dropforge_machine::language::{Language, Machine, MachineOf};

/// The language.
#[derive(Debug)]
pub struct Tower;

/// The machine. A static, so that its code is made in this package and not in those that ask for it.
static MACHINE: &dyn Machine = &MachineOf::<Rules>::INSTANCE;

impl Language for Tower {
    fn dialect(&self) -> Dialect {
        Dialect::Tower
    }

    fn machine(&self) -> &'static dyn Machine {
        MACHINE
    }

    #[cfg(feature = "compile")]
    fn front(&self) -> Option<&'static dyn dropforge_machine::language::Front> {
        Some(&Tower)
    }
}

/// The way values are inserted into a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RenderMode {
    /// Unchanged.
    #[default]
    Literal,
    /// In single quotes, as one token of a shell command.
    Shell,
}

impl RenderMode {
    /// Every mode.
    pub const ALL: [RenderMode; 2] = [RenderMode::Literal, RenderMode::Shell];

    /// Returns the mode called `name` in an intent.
    pub fn from_name(name: &str) -> Option<RenderMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns the name of the mode in an intent.
    pub fn name(self) -> &'static str {
        match self {
            RenderMode::Literal => "literal",
            RenderMode::Shell => "shell",
        }
    }

    /// Returns the escape mode of instructions.
    pub fn escape_mode(self) -> EscapeMode {
        match self {
            RenderMode::Literal => EscapeMode::Plain,
            RenderMode::Shell => EscapeMode::Shell,
        }
    }
}

/// The first segment of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `params.<name>`: resolved parameters.
    Params,
    /// `context.<name>`: the captured execution context.
    Context,
    /// `steps.<id>.outputs.<name>`: outputs of completed steps.
    Steps,
    /// `facts.<name>`: runtime state.
    Facts,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Scope; 4] = [Scope::Params, Scope::Context, Scope::Steps, Scope::Facts];

    /// Returns the name of the scope.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Params => "params",
            Scope::Context => "context",
            Scope::Steps => "steps",
            Scope::Facts => "facts",
        }
    }

    /// Returns the scope called `name`.
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
