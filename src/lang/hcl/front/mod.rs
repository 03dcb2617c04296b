//! From source to program: parsers, checks, lowering.

use dropforge_base::diagnostics::Diagnostic;
use dropforge_machine::compiler::{Compilation, Mark, Unit, compile_all};
use dropforge_machine::language::{Front, MarkRequest};
use dropforge_machine::vm::Run;

pub mod body;
#[doc(hidden)]
pub mod check;
pub(crate) mod compile;
pub(crate) mod data_file;
pub mod decode;
pub mod edit;
pub(crate) mod expression;
pub mod format;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod lower;
pub(crate) mod marks;
#[doc(hidden)]
pub mod name_suggestion;
#[doc(hidden)]
pub mod syntax;
pub mod typeexpr;
#[doc(hidden)]
pub mod value_notes;
pub(crate) mod variables;

pub use compile::compile;
pub use data_file::{find_data, read_data};
pub use expression::Expression;
pub use marks::{config_marks, marks};
pub use variables::Variables;

/// The front end.
#[derive(Debug)]
pub(crate) struct HclFront;

impl Front for HclFront {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        Ok(marks(request.source, request.limits))
    }

    fn explain(&self, run: Run<'_>, error: &mut Box<Diagnostic>) {
        let Some(source) = run.program.sources().first() else { return };
        value_notes::explain_template(source, run.inputs, run.limits, std::slice::from_mut(error));
        value_notes::explain_template(source, run.inputs, run.limits, &mut error.also);
    }
}
