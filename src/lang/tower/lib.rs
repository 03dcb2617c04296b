//! `tower`: `${scope.name}` substitution in tower-fleet intent files (tower-fleet/template/v1).
//!
//! A field is text with `${scope.name}` expressions. Nothing is evaluated, there are no defaults, and a missing value
//! is an error. Values are inserted unchanged (literal mode) or as one shell token (shell mode).
//!
//! | module | content |
//! |---|---|
//! | `compile` | the entry point: a field to a program |
//! | [`syntax`] | the text of a field to its tree |
//! | [`check`] | lints, and hazards of shell quoting |
//! | `lower` | a tree to bytecode |
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
mod mode;
mod scope;
mod semantics;

#[cfg(feature = "compile")]
pub use front::*;
pub use mode::RenderMode;
pub use scope::Scope;
#[doc(hidden)]
pub use semantics::Rules;

use dropforge_machine::bytecode::Dialect;
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
        Some(&TowerFront)
    }
}
