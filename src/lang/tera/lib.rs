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
use dropforge_machine::language::{Language, Machine, MachineOf};
#[cfg(feature = "compile")]
use {
    dropforge_base::diagnostics::Diagnostic,
    dropforge_machine::compiler::{Compilation, Mark, Unit},
    dropforge_machine::language::MarkRequest,
};

/// The language.
#[derive(Debug)]
pub struct Tera;

impl Language for Tera {
    fn dialect(&self) -> Dialect {
        Dialect::Tera
    }

    fn machine(&self) -> &'static dyn Machine {
        &MachineOf::<Rules>::INSTANCE
    }

    fn registry(&self) -> Registry {
        registry()
    }

    fn plain(&self, all: &Registry) -> Registry {
        plain(all)
    }

    #[cfg(feature = "compile")]
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units)
    }

    #[cfg(feature = "compile")]
    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        marks(request.source, request.limits)
    }
}
