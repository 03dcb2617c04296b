//! `helm`: Go's text/template with the functions of Helm.
//!
//! [`syntax`] parses templates, `lower` turns a set of them into one program, `semantics` has the rules of the machine
//! that runs it, `values` the types of Go that values stand for, `print` their text, [`builtins`] the functions. [`chart`]
//! decides what comes before and after the templates of a chart.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

pub mod builtins;
pub mod chart;
mod compile;
mod error;
mod hints;
mod lower;
mod marks;
mod objects;
mod print;
mod semantics;
pub mod syntax;
mod trace;
pub mod values;

/// The input that is the data itself, where the data may be anything ([`Unit::any_data`](dropforge_machine::compiler::Unit::any_data)).
pub(crate) const DATA: &str = ".";

pub use builtins::{plain, registry};
pub use compile::{compile, compile_all, compile_chart};
pub use marks::marks;
pub use print::{finish, finish_all};
pub use semantics::Rules;
pub use trace::{explain, is_optional, merges_maps, parse_errors, values_read};

use dropforge_base::diagnostics::Diagnostic;
use dropforge_machine::bytecode::{Dialect, Program};
use dropforge_machine::compiler::{Compilation, Mark, Unit};
use dropforge_machine::function::Registry;
use dropforge_machine::language::{Front, InvalidOutput, Language, Machine, MachineOf, MarkRequest};

/// The language.
#[derive(Debug)]
pub struct Helm;

/// The machine. A static, so that its code is made in this package and not in those that ask for it.
static MACHINE: &dyn Machine = &MachineOf::<Rules>::INSTANCE;

impl Language for Helm {
    fn dialect(&self) -> Dialect {
        Dialect::Helm
    }

    fn machine(&self) -> &'static dyn Machine {
        MACHINE
    }

    fn has_only_floats(&self) -> bool {
        true
    }

    fn registry(&self) -> Registry {
        registry()
    }

    fn variant(&self, all: &Registry, _: &str) -> Registry {
        plain(all)
    }

    fn front(&self) -> Option<&'static dyn Front> {
        Some(&Helm)
    }

    fn finish(&self, program: &Program, out: &mut String, start: usize) {
        finish(program, out, start);
    }

    fn before_finish(&self, whole: &str, text: &str, at: usize) -> Option<usize> {
        print::with_no_values(whole, text, at)
    }

    fn output_fix(&self, invalid: &InvalidOutput<'_>) -> Option<String> {
        print::fix(invalid)
    }
}

impl Front for Helm {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        marks(request.source, request.registry, request.limits)
    }
}
