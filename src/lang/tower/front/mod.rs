//! From source to program: parsers, checks, lowering.

use dropforge_base::diagnostics::Diagnostic;
use dropforge_machine::compiler::{Compilation, Mark, Unit, compile_all};
use dropforge_machine::language::{Front, MarkRequest};

#[doc(hidden)]
pub mod check;
pub(crate) mod compile;
pub mod intent;
pub(crate) mod lower;
pub(crate) mod marks;
#[doc(hidden)]
pub mod syntax;

pub use compile::{compile, program};
pub use marks::marks;

/// The front end.
#[derive(Debug)]
pub(crate) struct TowerFront;

impl Front for TowerFront {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        marks(request.source, request.limits)
    }
}
