//! `tera`: a drop-in for Tera 1.20.
//!
//! `compile` loads the templates that an entry reaches, [`syntax`] parses them, and `lower` turns them into one
//! program. `semantics` has the rules of the machine that runs it, [`builtins`] its filters, tests and functions.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod arithmetic;
pub mod builtins;
#[cfg(feature = "compile")]
mod front;
mod hints;
mod semantics;
#[cfg(all(test, feature = "compile"))]
mod tests;

pub use builtins::{plain, registry};
#[cfg(feature = "compile")]
pub use front::*;
pub use semantics::Rules;

use dropforge_machine::bytecode::Dialect;
use dropforge_machine::function::Registry;
use dropforge_machine::language::{InvalidOutput, Language, Machine, MachineOf};

/// The language.
#[derive(Debug)]
pub struct Tera;

/// The machine. A static, so that its code is made in this package and not in those that ask for it.
static MACHINE: &dyn Machine = &MachineOf::<Rules>::INSTANCE;

impl Language for Tera {
    fn dialect(&self) -> Dialect {
        Dialect::Tera
    }

    fn machine(&self) -> &'static dyn Machine {
        MACHINE
    }

    fn escapes_by_name(&self) -> bool {
        true
    }

    #[cfg(feature = "compile")]
    fn front(&self) -> Option<&'static dyn dropforge_machine::language::Front> {
        Some(&Tera)
    }

    fn registry(&self) -> Registry {
        registry()
    }

    fn output_fix(&self, invalid: &InvalidOutput<'_>) -> Option<String> {
        hints::output(invalid)
    }

    fn variant(&self, all: &Registry, _: &str) -> Registry {
        plain(all)
    }
}
