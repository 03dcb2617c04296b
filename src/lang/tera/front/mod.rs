//! From source to program: parsers, checks, lowering.

use crate::Tera;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_machine::compiler::{Compilation, Mark, Unit};
use dropforge_machine::language::{Front, MarkRequest};

pub(crate) mod compile;
pub(crate) mod hints;
pub(crate) mod lower;
pub(crate) mod marks;
pub mod syntax;

pub use compile::{compile, compile_all};
pub use marks::marks;
pub use syntax::parse;

impl Front for Tera {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        marks(request.source, request.limits)
    }
}
