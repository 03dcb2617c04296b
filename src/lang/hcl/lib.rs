//! `hcl`: the native syntax, the JSON syntax and the information model of HCL, compatible with the reference
//! implementation.
//!
//! | module | contents |
//! |---|---|
//! | [`syntax`], [`json`] | lexers, parsers and trees of the two syntaxes |
//! | [`lower`] | trees to bytecode |
//! | [`values`] | the information model: operators, conversions, types |
//! | `evaluation`, `semantics`, `argument_gate` | evaluation whose errors are diagnostics beside a value |
//! | [`builtins`] | the functions |
//! | `compile`, [`Expression`] | the entrance: templates and expressions |
//! | [`body`], [`decode`], [`typeexpr`] | configurations by a schema, by a specification, and type expressions |
//! | [`check`] | errors that do not depend on data |
//! | `variables` | defaults, types and validation of `variable` blocks |
//! | [`edit`], [`format`](mod@format) | changing and formatting sources |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod argument_gate;
#[doc(hidden)]
pub mod builtins;
mod evaluation;
#[cfg(feature = "compile")]
mod front;
mod semantics;
#[cfg(test)]
mod test_support;
pub mod values;

#[doc(hidden)]
pub use argument_gate::invoke;
#[doc(hidden)]
pub use builtins::registry;
#[cfg(feature = "compile")]
pub use front::*;
#[doc(hidden)]
pub use semantics::Rules;

use dropforge_machine::bytecode::Dialect;
use dropforge_machine::function::Registry;
use dropforge_machine::language::{Language, Machine, MachineOf};
#[cfg(feature = "compile")]
use {
    dropforge_base::diagnostics::Diagnostic,
    dropforge_machine::compiler::{Compilation, Mark, Unit, compile_all},
    dropforge_machine::language::MarkRequest,
    dropforge_machine::vm::Run,
};

/// The language of templates and expressions.
#[derive(Debug)]
pub struct Hcl;

impl Language for Hcl {
    fn dialect(&self) -> Dialect {
        Dialect::Hcl
    }

    fn machine(&self) -> &'static dyn Machine {
        &MachineOf::<Rules>::INSTANCE
    }

    fn registry(&self) -> Registry {
        registry()
    }

    #[cfg(feature = "compile")]
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, compile)
    }

    #[cfg(feature = "compile")]
    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        Ok(marks(request.source, request.limits))
    }

    #[cfg(feature = "compile")]
    fn explain(&self, run: Run<'_>, error: &mut Box<Diagnostic>) {
        let Some(source) = run.program.sources().first() else { return };
        value_notes::explain_template(source, run.inputs, run.limits, std::slice::from_mut(error));
        value_notes::explain_template(source, run.inputs, run.limits, &mut error.also);
    }
}
